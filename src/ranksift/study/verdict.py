"""Is a filter worth it: what it removed, what that did to the scores, and above which penalty it pays.

A list's DCG is linear in the penalty of forbidden documents, and so are the bounds of the measures made of it. Two
values tell a query's score at every penalty, and the penalty at which a filter breaks even is found by bisection, for
all queries and for every bootstrap sample of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import ZERO_AS_FORBIDDEN, Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import JudgedRuns, Queries, distinct_names, run_sources
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.run import OnDuplicate, Run, read_run
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.compare import TESTS, Comparison, TestName, compare
from ranksift.evaluation.evaluate import nil_ids, ready_measures, scores_of
from ranksift.evaluation.significance import ROUNDING, resamples
from ranksift.evaluation.table import Column, Table
from ranksift.measures.cumulative import DCG, Cumulative, nDCG
from ranksift.measures.measure import Measure, flat
from ranksift.measures.names import MeasureLike
from ranksift.parameters import integer, number, samples_of
from ranksift.plotting import drawing, legend, shown, styles
from ranksift.study.result import Picture, Result
from ranksift.study.wording import counted, percent

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

#: What a document is: its gain is negative, 0 or positive, or nobody judged it.
KINDS = ("forbidden", "harmless", "relevant", "unjudged")

#: The largest penalty at which a filter is looked at, and the smallest.
LARGEST_PENALTY, SMALLEST_PENALTY = 1000.0, 0.001

# The penalties between which the sign of a difference is searched for, and the size below which there is no difference.
_GRID = np.geomspace(SMALLEST_PENALTY, LARGEST_PENALTY, 241)
_NOISE = 1e-13


@dataclass(frozen=True)
class Removed:
    """What became of the documents of one kind.

    Attributes
    ----------
    kind
        ``"forbidden"``, ``"harmless"``, ``"relevant"`` or ``"unjudged"``.
    listed, removed
        In the base's lists, and those of them that the filtered lists do not have.
    top, removed_from_top
        The same of the base's top k.
    top_after
        In the filtered run's top k, where documents from below have moved up.
    """

    kind: str
    listed: int
    removed: int
    top: int
    removed_from_top: int
    top_after: int


@dataclass(frozen=True)
class QueryEffect:
    """What a filter did to a query: the scores before and after, and what it removed from the base's top k."""

    query_id: str
    before: float
    after: float
    difference: float
    forbidden: int
    harmless: int
    relevant: int
    unjudged: int


class BreakEven(NamedTuple):
    """The penalty above which the filtered run has the higher mean, up to the largest one tried.

    Attributes
    ----------
    penalty
        0 if it has the higher mean at every penalty, infinite if it does not have it even at the largest.
    low, high
        Bootstrap interval over queries.
    yours
        The penalty given by the gains.
    """

    penalty: float
    low: float
    high: float
    yours: float


@dataclass(frozen=True)
class FilterVerdict:
    """One filtered run.

    Attributes
    ----------
    run
        Its name.
    removed
        The removed documents by kind.
    before, after, difference, low, high, p, corrected_p
        The measure's mean, and the test of the difference.
    outcome
        ``"worth it"`` and ``"harmful"`` if the difference is significant, ``"undecided"`` if it is not, ``"no effect"``
        if the score of every query is the same.
    ordinary_difference, ordinary_p
        The same for the companion measure, which ignores forbidden documents; the p value is corrected. None if
        there is none.
    break_even
        None if it is not known how the measure depends on the penalty, or if nothing is forbidden.
    queries
        Every query, starting with the one that gained most.
    """

    run: str
    removed: tuple[Removed, ...]
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    corrected_p: float
    outcome: Literal["worth it", "harmful", "undecided", "no effect"]
    ordinary_difference: float | None
    ordinary_p: float | None
    break_even: BreakEven | None
    queries: tuple[QueryEffect, ...]

    def of(self, kind: str) -> Removed:
        """What happened to the documents of one kind."""
        return self.removed[KINDS.index(kind)]

    def helped(self, most: int = 5) -> tuple[QueryEffect, ...]:
        """The queries that gained most."""
        return tuple(q for q in self.queries[:most] if q.difference > 0)

    def hurt(self, most: int = 5) -> tuple[QueryEffect, ...]:
        """The queries that lost most."""
        return tuple(q for q in self.queries[: -most - 1 : -1] if q.difference < 0)


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(Result):
    """Results of :func:`verdict`.

    Attributes
    ----------
    base
        The run that was filtered.
    measure, companion
        The measure, and nDCG at the same depth (None if the measure is nDCG itself).
    k
        The depth of the measure; None is the whole list.
    filters
        Each filtered run.
    comparison
        All filtered runs against the base, by both measures.
    curves
        Penalties, and the difference of each filtered run to the base at each of them (filters × penalties); empty if
        there is no break-even.
    unit
        The unit of a break-even: ``"penalty"``, or ``"times the penalties"`` if forbidden labels have several gains.
    notes
        Caveats.
    """

    base: str
    measure: str
    companion: str | None
    k: int | None
    filters: tuple[FilterVerdict, ...]
    comparison: Comparison
    curves: tuple[Floats, Floats]
    unit: str
    notes: tuple[str, ...]

    @property
    def _top(self) -> str:
        return "lists" if self.k is None else f"top {self.k}"

    # -- words -------------------------------------------------------------------------------------------

    def sentence(self, found: FilterVerdict) -> str:
        """The verdict on a filtered run in one sentence."""
        return f"{headline(found)}: {self.change(found)}."

    def change(self, found: FilterVerdict) -> str:
        """The effect of a filtered run on the measure, in numbers."""
        n = counted(len(found.queries), "query", "queries")
        if found.outcome == "no effect":
            return f"{self.measure} is the same in each of {n}"
        several = len(self.filters) > 1
        correction = f" after Holm's correction for {len(self.filters)} filters" if several else ""
        p = Column("", style="p").written(found.corrected_p)
        interval = f"{'uncorrected ' if several else ''}{100 * self.comparison.confidence:g}% interval"
        return (
            f"{self.measure} goes from {found.before:.4f} to {found.after:.4f} ({found.difference:+.4f}, "
            f"{interval} {found.low:+.4f} to {found.high:+.4f}, p {'' if p[0] == '<' else '= '}{p}"
            f"{correction}, {n})"
        )

    def why(self, found: FilterVerdict) -> list[str]:
        """The reasons for the verdict on a filtered run, as sentences."""
        of = {kind: found.of(kind) for kind in KINDS}
        lines = [
            f"From the {self._top} of {self.base} it removes {_of(of['forbidden'], 'forbidden')}, "
            f"{_of(of['relevant'], 'relevant')}, {_of(of['harmless'], 'harmless')} and "
            f"{_of(of['unjudged'], 'unjudged')} documents."
        ]
        if found.ordinary_difference is not None and found.ordinary_p is not None:
            p = Column("", style="p").written(found.ordinary_p)
            lines.append(
                f"{self.companion}, for which a forbidden document is merely useless, changes by "
                f"{found.ordinary_difference:+.4f} (p {'' if p[0] == '<' else '= '}{p})."
            )
        if found.break_even is not None:
            lines.append(self._breaks_even(found, found.break_even))
        return lines

    def _breaks_even(self, found: FilterVerdict, at: BreakEven) -> str:
        single = self.unit == "penalty"

        def written(x: float) -> str:
            return f"beyond {LARGEST_PENALTY:,.0f}" if np.isinf(x) else f"{x:.3g}"

        yours = f"yours is {at.yours:g}" if single else "1 is yours"
        thing = "penalty" if single else "multiple of your penalties"
        ends = written(at.low), written(at.high)
        between = f"is {ends[0]}" if ends[0] == ends[1] else f"reaches from {ends[0]} to {ends[1]}"
        interval = f"the {100 * self.comparison.confidence:g}% interval of the break-even {between}; {yours}"
        if np.isnan(at.penalty):
            return f"No {thing} makes a difference to it."
        if at.penalty == 0.0:
            return f"It pays at every {thing}, however small ({interval})."
        if np.isinf(at.penalty):
            where = self._pays_below(found)
            if where is None:
                return f"It does not pay at any {thing} up to {LARGEST_PENALTY:,.0f} ({interval})."
            return f"It pays only below a {thing} of {where:.3g}: it lets forbidden documents move up ({interval})."
        return f"It pays above a {thing} of {written(at.penalty)} ({interval})."

    def _pays_below(self, found: FilterVerdict) -> float | None:
        """The last penalty at which a filter pays that does not pay at the largest; None if it never does."""
        penalties, differences = self.curves
        pays = np.flatnonzero(differences[self.filters.index(found)] > _NOISE)
        return float(penalties[pays[-1]]) if len(pays) else None

    def _pays_from(self, found: FilterVerdict) -> str | None:
        """The break-even in a cell of a table."""
        at = found.break_even
        if at is None or np.isnan(at.penalty):
            return None
        if np.isinf(at.penalty):
            below = self._pays_below(found)
            return "never" if below is None else f"only below {below:.3g}"
        return "always" if at.penalty == 0.0 else f"{at.penalty:.3g}"

    def sentences(self) -> list[str]:
        """The verdict on every filtered run, as sentences."""
        return [self.sentence(found) for found in self.filters]

    def reading(self) -> list[str]:
        """The verdict on every filtered run, and the reasons for it."""
        return [line for found in self.filters for line in (self.sentence(found), *self.why(found))]

    def __repr__(self) -> str:
        """The answers in short."""
        return f"<Verdict: {', '.join(f'{found.run} {found.outcome}' for found in self.filters)}, by {self.measure}>"

    # -- tables ------------------------------------------------------------------------------------------

    def table(self) -> Table:
        """One row per filtered run: the difference, what it removed, the break-even and the verdict."""
        companion = [] if self.companion is None else [Column(self.companion, signed=True), Column("p", 4, "p")]
        columns = [
            Column("run"), Column(self.measure, signed=True), Column("p", 4, "p"), *companion,
            Column("forbidden removed", align="right"), Column("relevant removed", align="right"),
            Column("pays from", align="right"), Column("verdict"),
        ]  # fmt: skip
        rows = []
        for found in self.filters:
            ordinary = [] if self.companion is None else [found.ordinary_difference, found.ordinary_p]
            of = found.of("forbidden"), found.of("relevant")
            rows.append([
                found.run, found.difference, found.corrected_p, *ordinary,
                *(f"{one.removed_from_top} of {one.top}" for one in of),
                self._pays_from(found), found.outcome,
            ])  # fmt: skip
        corrected = ", corrected after Holm" if len(self.filters) > 1 else ""
        notes = [
            f"Differences to {self.base}; documents of its {self._top}; p: {TESTS[self.comparison.test]}{corrected}.",
            *([] if self.unit == "penalty" else ["pays from: as a multiple of the penalties given"]),
            *self.notes,
        ]
        return Table(columns, rows, title=f"Filters of {self.base}", notes=notes)

    def removals(self, found: FilterVerdict) -> Table:
        """What a filtered run removed, by kind."""
        top = "list" if self.k is None else f"top {self.k}"
        columns: list[Column | str] = ["documents", "listed", "removed", Column("share", 1, "percent")]
        if self.k is not None:
            columns += [f"in {top}", "removed from it", Column("share", 1, "percent"), f"in {top} now"]
        rows = []
        for one in found.removed:
            row: list[Any] = [one.kind, one.listed, one.removed, one.removed / one.listed if one.listed else None]
            if self.k is not None:
                share = one.removed_from_top / one.top if one.top else None
                row += [one.top, one.removed_from_top, share, one.top_after]
            rows.append(row)
        return Table(columns, rows, title=f"What {found.run} removed from {self.base}")

    def effects(self, found: FilterVerdict, most: int = 5) -> Table:
        """The queries that a filtered run helped most, and those that it hurt most."""
        columns: list[Column | str] = [
            "query", Column(f"{self.measure} before"), "after", Column("difference", signed=True),
            *(f"{kind} removed" for kind in KINDS),
        ]  # fmt: skip
        shown_ = [*found.helped(most), *reversed(found.hurt(most))]
        rows: list[list[Any]] = [
            [q.query_id, q.before, q.after, q.difference, q.forbidden, q.harmless, q.relevant, q.unjudged]
            for q in shown_
        ]
        gained = sum(q.difference > 0 for q in found.queries)
        lost = sum(q.difference < 0 for q in found.queries)
        note = (
            f"{gained} gained, {lost} lost, {len(found.queries) - gained - lost} stayed; removed: from the {self._top}"
        )
        return Table(columns, rows, title=f"Queries that {found.run} helped and hurt most", notes=[note])

    def parts(self) -> tuple[Table | str, ...]:
        """What is printed: the verdict and its reasons, and the tables behind them."""
        out: list[Table | str] = []
        for found in self.filters:
            out += [self.sentence(found), "\n".join(self.why(found)), self.removals(found), self.effects(found)]
        if len(self.filters) > 1:
            return self.table(), *out
        return *out, *(f"Note: {note}." for note in self.notes)

    # -- data --------------------------------------------------------------------------------------------

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per filtered run and query."""
        import polars as pl

        return pl.DataFrame([{"run": f.run, **asdict(q)} for f in self.filters for q in f.queries])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON: an infinite break-even is None, and ``pays`` says which kind it is.

        ``"from"`` a penalty on, ``"always"``, ``"never"``, only ``"below"`` one, or ``"indifferent"`` to all.
        """
        return {
            "base": self.base,
            "measure": self.measure,
            "companion": self.companion,
            "k": self.k,
            "test": self.comparison.test,
            "alpha": self.comparison.alpha,
            "queries": len(self.comparison.scores.queries),
            "break_even_unit": self.unit,
            "filters": [self._as_dict(found) for found in self.filters],
            "notes": list(self.notes),
        }

    def _as_dict(self, found: FilterVerdict) -> dict[str, Any]:
        row = {**asdict(found), "sentence": self.sentence(found), "why": self.why(found)}
        if found.break_even is not None:
            at = found.break_even
            never = "never" if self._pays_below(found) is None else "below"
            pays = {0.0: "always", np.inf: never}.get(at.penalty, "from")
            numbers = {name: float(x) if np.isfinite(x) else None for name, x in at._asdict().items()}
            row["break_even"] = {"pays": "indifferent" if np.isnan(at.penalty) else pays, **numbers}
        return row

    def plot(self) -> Figure:
        """The difference of every filtered run to the base, by the penalty of forbidden documents."""
        penalties, differences = self.curves
        if not len(penalties):
            raise InputError(
                f"{self.measure} does not depend on the penalty here", remedy="use nDCG_f, with a forbidden label"
            )
        x = "penalty of forbidden documents" if self.unit == "penalty" else "multiple of the penalties"
        figure, axes = drawing(x, f"{self.measure}: difference to {self.base}")
        for found, values, style in zip(self.filters, differences, styles(), strict=False):
            axes.plot(penalties, values, label=shown(found.run), **{**style, "marker": ""})
            at = found.break_even
            if at is not None and 0 < at.penalty < np.inf:
                axes.scatter([at.penalty], [0.0], s=22, color=style["color"], zorder=4)
                right = min(at.high, penalties[-1])
                axes.plot([max(at.low, penalties[0]), right], [0.0, 0.0], color=style["color"], linewidth=4, alpha=0.35)
        axes.axhline(0.0, color="0.3", linewidth=0.8)
        yours = {found.break_even.yours for found in self.filters if found.break_even is not None}
        for one in yours:
            axes.axvline(one, color="0.3", linewidth=0.8, linestyle=":")
        axes.set_xscale("log")
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The differences by penalty."""
        if not len(self.curves[0]):
            return []
        caption = (
            f"{self.measure} of every filtered run less that of {self.base}, by penalty; dotted: your penalty; "
            "a dot where a filter breaks even, with its interval"
        )
        return [Picture("break-even", caption, self.plot())]


def verdict(
    qrels: Any,
    base: Any,
    filtered: Any,
    measure: MeasureLike = "nDCG_f@10",
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    on_duplicate: OnDuplicate = "error",
    test: TestName = "t",
    alpha: float = 0.05,
    samples: int = 2000,
    seed: int = 0,
) -> Verdict:
    """Say whether a filter is worth it: a run against the same run with documents removed.

    Parameters
    ----------
    qrels, gains, unjudged, on_duplicate
        As in :func:`evaluate`. Documents of negative gain are forbidden.
    base
        The run before filtering.
    filtered
        The run after filtering; or several, as a list or ``{name: run}``.
    measure
        The measure that decides. DCG, nDCG_org, nDCG_min and nDCG_f have a break-even penalty; others have a verdict
        without one.
    queries
        As in :func:`evaluate`; ``"run"`` means the queries that the base answers.
    test, alpha
        The settings of the test of the difference to the base, as in :func:`compare`; with several filtered runs p is
        corrected by Holm's method.
    samples, seed
        The settings of the bootstrap interval of the break-even penalty, and of tests that draw samples.

    Examples
    --------
    >>> qrels = {"q": {"good": 1, "bad": -10}, "r": {"fine": 1}, "s": {"fair": 1, "spam": -10}}
    >>> full = {"q": {"bad": 2, "good": 1}, "r": {"fine": 1}, "s": {"fair": 2, "spam": 1}}
    >>> kept = {"q": {"good": 1}, "r": {}, "s": {"fair": 2}}
    >>> found = verdict(qrels, full, {"filter": kept})
    >>> [(one.kind, one.removed, one.listed) for one in found.filters[0].removed]
    [('forbidden', 2, 2), ('harmless', 0, 0), ('relevant', 1, 3), ('unjudged', 0, 0)]
    >>> found.filters[0].outcome, round(found.filters[0].break_even.penalty, 2)
    ('undecided', 1.0)
    """
    chosen = _deciding(measure)
    number(above=0, below=1).check("alpha", alpha, 0.05)
    samples_of(width=1).check("samples", samples, 2000)
    integer(0).check("seed", seed, 0)
    judgments = read_qrels(qrels, on_duplicate=on_duplicate)
    runs = _read(base, filtered, on_duplicate)
    first = runs[0]
    given = JudgedRuns.of(
        judgments,
        runs,
        gains=gains,
        unjudged=unjudged,
        queries=_answered(judgments, first) if isinstance(queries, str) and queries == "run" else queries,
        nil=nil_ids([chosen]),
        keep=True,
    )
    worth = chosen.gains or given.gains
    rank_base = chosen.base if isinstance(chosen, Cumulative) else nDCG().base
    companion = None if isinstance(chosen, nDCG) else nDCG(k=chosen.k, gains=chosen.gains, base=rank_base)
    scores = scores_of(given, [chosen, *([] if companion is None else [companion])])
    for note in scores.notes:
        warnings.warn(note, RankSiftWarning, stacklevel=2)
    comparison = compare(scores, first.name, test, "holm", samples=samples, seed=seed, alpha=alpha)
    penalised = _Penalised.of(chosen, worth, given)
    rows = [_Rows.of(given, run, worth, chosen.k) for run in runs]
    filters: list[FilterVerdict] = []
    notes = [] if (worth(given.pool.all_labels) < 0).any() else [NOTHING_FORBIDDEN]
    for f, run in enumerate(runs[1:], 1):
        there, here = first.common_rows(run)
        stays = np.zeros(len(first), dtype=bool)
        stays[here] = True
        notes += _no_filter(first, run, there, here)
        at = None
        if penalised is not None:
            at = penalised.break_even(f, scores.drawing_order, samples, seed, comparison.confidence)
        filters.append(_found(comparison, f, _removed(rows[0], stays, rows[f]), rows[0].lost(stays), at))
    return Verdict(
        base=first.name,
        measure=str(chosen),
        companion=None if companion is None else str(companion),
        k=chosen.k,
        filters=tuple(filters),
        comparison=comparison,
        curves=(np.zeros(0), np.zeros((len(filters), 0))) if penalised is None else penalised.curves(),
        unit="penalty" if penalised is None else penalised.unit,
        notes=tuple(notes),
    )


#: What is said where no label has a negative gain.
NOTHING_FORBIDDEN = f"no judged document is forbidden, so the penalty has no effect; {ZERO_AS_FORBIDDEN}"


def _deciding(measure: MeasureLike) -> Measure:
    found = ready_measures([measure])
    if len(found) != 1 or found[0].aggregation != "mean" or not found[0].higher_is_better:
        raise InputError(
            f"{measure!s} cannot decide whether a filter is worth it",
            remedy="use one measure that is a mean over queries and better when higher, such as nDCG_f@10",
        )
    return found[0]


def _read(base: Any, filtered: Any, on_duplicate: OnDuplicate) -> list[Run]:
    """The base, and what was made of it; all names are distinct."""
    before, after = run_sources(base), run_sources(filtered)
    if len(before) != 1:
        raise InputError(f"the base is {len(before)} runs", remedy="give the one run that was filtered")
    sources = [*before, *after]
    runs = [read_run(source, name=name, on_duplicate=on_duplicate) for source, name in sources]
    names = distinct_names([run.name for run in runs], [source for source, _ in sources])
    return [run.named(name) for run, name in zip(runs, names, strict=True)]


def _answered(qrels: Qrels, run: Run) -> list[str]:
    """The judged queries that a run answers."""
    answered = set(np.array(run.query_ids, dtype=object)[run.lengths > 0].tolist())
    found = [query for query in qrels.query_ids if query in answered]
    if not found:
        raise InputError(f"run {run.name!r} answers no judged query", remedy="use queries='qrels'")
    return found


def _no_filter(base: Run, run: Run, there: Ints, here: Ints) -> Iterator[str]:
    """What a filter does not do: add documents, or change the order of those that stay."""
    added = len(run) - len(there)
    if added:
        swapped = "; if the two are swapped, give the run before filtering first" if len(there) == len(base) else ""
        extra = f"{run.name} lists {counted(added, 'document')} that {base.name} does not"
        yield f"{extra}: it does more than filter{swapped}"
    owner = np.searchsorted(run.offsets, there, side="right")
    moved = len(np.unique(owner[1:][(owner[1:] == owner[:-1]) & (here[1:] < here[:-1])]))
    if moved:
        queries = counted(moved, "query", "queries")
        order = f"{run.name} changes the order of {base.name} in {queries}"
        yield f"{order}: the difference does not come from the filter alone"


@dataclass(frozen=True, eq=False)
class _Rows:
    """The documents of a run: the query of each (-1 if it does not count), its kind, whether it is in the top k."""

    queries: int
    query: Ints
    kind: Ints
    top: NDArray[np.bool_]

    @classmethod
    def of(cls, given: JudgedRuns, run: Run, gains: Gains, k: int | None) -> _Rows:
        """Look every document of the run up in the judgments."""
        kind = np.full(len(run), KINDS.index("unjudged"))
        rows, judgments = given.qrels.common_rows(run)
        gain = gains(given.qrels.labels[judgments])
        kind[rows] = np.select([gain < 0, gain == 0], [0, 1], 2)
        number = {query: i for i, query in enumerate(given.queries)}
        of_run = np.array([number.get(query, -1) for query in run.query_ids], dtype=np.int64)
        # Where unjudged documents are dropped, the ranks of the others close up.
        counts = np.ones(len(run), dtype=np.int64) if given.unjudged == "zero" else (kind < 3).astype(np.int64)
        before = np.concatenate([[0], np.cumsum(counts)])
        rank = before[1:] - np.repeat(before[run.offsets[:-1]], run.lengths)
        top = (counts > 0) & (rank <= (np.inf if k is None else k))
        return cls(len(given.queries), np.repeat(of_run, run.lengths), kind, top)

    def count(self, mask: NDArray[np.bool_] | bool = True) -> Ints:
        """Documents of each query and kind."""
        cell = (self.query * len(KINDS) + self.kind)[(self.query >= 0) & mask]
        return np.bincount(cell, minlength=self.queries * len(KINDS)).reshape(self.queries, len(KINDS))

    def lost(self, stays: NDArray[np.bool_]) -> Ints:
        """Documents of each query and kind that do not stay in the top k."""
        return self.count(self.top & ~stays)


def _removed(base: _Rows, stays: NDArray[np.bool_], filtered: _Rows) -> tuple[Removed, ...]:
    counts = base.count(), base.count(~stays), base.count(base.top), base.lost(stays), filtered.count(filtered.top)
    totals = np.stack([count.sum(axis=0) for count in counts], axis=1).tolist()
    return tuple(Removed(kind, *row) for kind, row in zip(KINDS, totals, strict=True))


def _found(
    comparison: Comparison, f: int, removed: tuple[Removed, ...], lost: Ints, at: BreakEven | None
) -> FilterVerdict:
    """What the comparison says of run number ``f``, the base being number 0."""
    scores, c = comparison.scores, f - 1
    before, after = scores.values[0, :, 0], scores.values[f, :, 0]
    difference = np.where(np.abs(after - before) <= ROUNDING * np.abs(after), 0.0, after - before)
    same = not difference.any()
    towards = {1: "worth it", -1: "harmful"}.get(int(comparison.better[c, 0]), "undecided")
    outcome: Any = "no effect" if same else towards if comparison.significant[c, 0] else "undecided"
    ordinary = len(scores.measures) > 1
    order = np.lexsort((np.arange(len(difference)), -difference))
    effects = zip(
        np.array(scores.queries, dtype=object)[order].tolist(),
        *(column[order].tolist() for column in (before, after, difference)),
        *lost[order].T.tolist(),
        strict=True,
    )
    return FilterVerdict(
        run=scores.runs[f],
        removed=removed,
        before=float(comparison.means[0, 0]),
        after=float(comparison.means[f, 0]),
        difference=float(comparison.difference[c, 0]),
        low=float(comparison.low[c, 0]),
        high=float(comparison.high[c, 0]),
        p=float(comparison.p[c, 0]),
        corrected_p=float(comparison.corrected_p[c, 0]),
        outcome=outcome,
        ordinary_difference=float(comparison.difference[c, 1]) if ordinary else None,
        ordinary_p=float(comparison.corrected_p[c, 1]) if ordinary else None,
        break_even=at,
        queries=tuple(QueryEffect(*effect) for effect in effects),
    )


@dataclass(frozen=True, eq=False)
class _Penalised:
    """Every query's score as a function of the penalty x: (fixed − slope x − lower) / (c + d x).

    Attributes
    ----------
    fixed, slope
        The parts of the DCG of each list: runs × queries.
    c, d
        The parts of the distance between the measure's bounds, per query. The lower bound is the same for all runs.
    unit, yours
        What x is, and where it stands with the gains as they are.
    """

    fixed: Floats
    slope: Floats
    c: Floats
    d: Floats
    unit: str
    yours: float

    @classmethod
    def of(cls, measure: Measure, gains: Gains, given: JudgedRuns) -> _Penalised | None:
        """None if the measure is not known to be of that form, or nothing is forbidden."""
        if not isinstance(measure, Cumulative) or isinstance(measure, nDCG) or measure.nil is not None:
            return None
        labels = given.pool.all_labels
        forbidden = {float(x): float(g) for x, g in zip(labels, gains(labels), strict=True) if g < 0}
        if not forbidden:
            return None
        single = len(set(forbidden.values())) == 1
        rate = {label: -1.0 if single else gain for label, gain in forbidden.items()}

        def gains_at(x: float) -> Gains:
            swept = {label: x * one for label, one in rate.items()}
            return Gains(gains.curve, tuple(sorted({**dict(gains.overrides), **swept}.items())))

        dcg = scores_of(given, [DCG(k=measure.k, gains=gains_at(x), base=measure.base) for x in (0.0, 1.0)]).values
        widths = []
        for x in (0.0, 1.0):
            bounds = measure.bounds(given.pool, gains_at(x))
            widths.append(np.ones(len(given.queries)) if bounds is None else bounds[1] - bounds[0])
        c, d = widths[0], widths[1] - widths[0]
        if (c * (c + d * LARGEST_PENALTY) < 0).any():  # nDCG_org: the normaliser passes 0
            return None
        yours = -next(iter(forbidden.values())) if single else 1.0
        return cls(
            dcg[:, :, 0], dcg[:, :, 0] - dcg[:, :, 1], c, d, "penalty" if single else "times the penalties", yours
        )

    def difference(self, f: int, x: Floats) -> Floats:
        """What each query's score in run ``f`` is above that in run 0, at each penalty: penalties × queries."""
        at = x[:, None]
        width = self.c + self.d * at
        top = self.fixed[f] - self.fixed[0] - at * (self.slope[f] - self.slope[0])
        nothing = flat(np.zeros_like(width), width)
        return np.where(nothing, 0.0, top / np.where(nothing, 1.0, width))

    def curves(self) -> tuple[Floats, Floats]:
        """Penalties, and the mean difference of every run but the first at each."""
        return _GRID, np.stack([self.difference(f, _GRID).mean(axis=1) for f in range(1, len(self.fixed))])

    def break_even(self, f: int, order: Ints, samples: int, seed: int, confidence: float) -> BreakEven:
        """From which penalty on run ``f`` is above run 0, with its bootstrap interval."""
        n = len(order)
        found = self._from(f, np.ones((1, n)))[0]
        drawn = []
        for times in resamples(n, samples, seed):
            weights = np.empty_like(times)
            weights[:, order] = times
            drawn.append(self._from(f, weights))
        known = np.concatenate(drawn)
        known = known[~np.isnan(known)]
        tail = (1.0 - confidence) / 2.0
        ends = np.quantile(known, [tail, 1.0 - tail], method="inverted_cdf") if len(known) else [np.nan, np.nan]
        return BreakEven(float(found), float(ends[0]), float(ends[1]), self.yours)

    def _from(self, f: int, weights: Floats) -> Floats:
        """The same of each weighting of the queries: NaN if nothing makes a difference."""
        mean = weights @ self.difference(f, _GRID).T / weights.sum(axis=1, keepdims=True)
        behind = mean < -_NOISE
        last = len(_GRID) - 1 - np.argmax(behind[:, ::-1], axis=1)
        out = np.where(behind[:, -1], np.inf, 0.0)
        out[(np.abs(mean) <= _NOISE).all(axis=1)] = np.nan
        turn = np.flatnonzero(behind.any(axis=1) & ~behind[:, -1])
        low, high = _GRID[last[turn]], _GRID[np.minimum(last[turn] + 1, len(_GRID) - 1)]
        while len(turn) and float((high / low).max()) > 1.0 + 1e-12:
            middle = (low + high) / 2.0
            value = np.einsum("iq,iq->i", weights[turn], self.difference(f, middle))
            low, high = np.where(value < 0, middle, low), np.where(value < 0, high, middle)
        out[turn] = high
        return out


def headline(found: FilterVerdict) -> str:
    """The verdict in a few words."""
    return {
        "worth it": f"{found.run} is worth it",
        "harmful": f"{found.run} does harm",
        "undecided": f"Whether {found.run} is worth it cannot be decided from these queries",
        "no effect": f"{found.run} makes no difference",
    }[found.outcome]


def _of(one: Removed, kind: str) -> str:
    """How many documents of a kind were removed.

    >>> _of(Removed("relevant", 9, 2, 4, 1, 3), "relevant")
    '1 of 4 relevant (25.0%)'
    """
    share = f" ({percent(one.removed_from_top / one.top)})" if one.top else ""
    return f"{one.removed_from_top:,} of {one.top:,} {kind}{share}"
