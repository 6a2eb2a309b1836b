"""The effect of rewarding lists that end on purpose (Liu et al. 2016, section 3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun, Unjudged
from ranksift.collection.judged_runs import Queries
from ranksift.collection.qrels import read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.evaluate import evaluate, ready_measures
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table
from ranksift.measures.classic import AP, RBP, RR
from ranksift.measures.cumulative import nDCG
from ranksift.measures.measure import TOLERANCE, Measure, PerQuery, flat
from ranksift.measures.names import MeasureLike
from ranksift.measures.truncation import AP_qwa, QuitWhileAhead, RBP_qwa, RR_qwa, nDCG_qwa
from ranksift.parameters import Kind, choice, function, optional, path, some, takes
from ranksift.plotting import drawing, legend
from ranksift.study.agreement import Correlation, correlation
from ranksift.study.query_types import on_queries
from ranksift.study.result import PerMeasure, Picture, Result
from ranksift.study.systems import system_levels
from ranksift.study.wording import counted, joined, percent

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


# Lists longer than this are counted by ranges of lengths.
_MOST_BARS = 40

#: A list as it came, or after the NIL rule.
When = Literal["before", "after"]


class Shown(QuitWhileAhead, abstract=True):
    """Documents of each list: before its first NIL (numerator), and all of them (denominator)."""

    @property
    def assumes_unit_gains(self) -> bool:
        """Gains do not count."""
        return False

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Length after and before the NIL rule; unjudged documents count."""
        cut = judged if self.nil is None else judged.cut_at_nil(self.nil)
        return PerQuery(cut.listed.astype(np.float64), judged.listed.astype(np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class Truncation(Result):
    """Results of :func:`truncation`.

    Attributes
    ----------
    scores
        Every run by the original and the modified measures.
    pairs
        (original, modified) of each pair of measures.
    correlation
        For each original measure, how similar the orders of systems are by it and by the modified one.
    before, after
        Length of every list as given, including NIL, and after the NIL rule: runs × queries.
    ended
        Which lists were ended on purpose: runs × queries.
    answerable
        Which queries have an answer.
    notes
        Caveats.
    """

    scores: Scores
    pairs: tuple[tuple[str, str], ...]
    correlation: PerMeasure[Correlation]
    before: Ints
    after: Ints
    ended: NDArray[np.bool_]
    answerable: NDArray[np.bool_]
    notes: tuple[str, ...]

    @property
    def nil_queries(self) -> int:
        """Number of queries that have no answer."""
        return int(np.count_nonzero(~self.answerable))

    @property
    def nil_accuracy(self) -> dict[str, float]:
        """The share of queries in which each run is right about whether there is an answer.

        A list says that there is no answer if it is empty, or has nothing before its first NIL.
        """
        return self._by_run((self.after == 0) == ~self.answerable)

    def _by_run(self, values: NDArray[np.bool_]) -> dict[str, float]:
        return dict(zip(self.scores.runs, values.mean(axis=1).tolist(), strict=True))

    def on_answerable(self) -> Truncation:
        """The same for only the queries that have an answer: what is left once the others are classified.

        Examples
        --------
        >>> qrels = {"q": {"a": 1, "b": 0}, "r": {"c": 0}}
        >>> runs = {"tells": {"q": {"a": 1}}, "guesses": {"q": {"b": 2, "a": 1}, "r": {"c": 1}}}
        >>> found = truncation(qrels, runs)
        >>> found.nil_accuracy, found.on_answerable().scores.mean_of("RR")
        ({'tells': 1.0, 'guesses': 0.5}, {'tells': 1.0, 'guesses': 0.5})
        """
        if not self.answerable.any():
            raise InputError("no query has an answer", remedy="look at all of them")
        kept = self.answerable
        scores = on_queries(self.scores, np.flatnonzero(kept).tolist())
        return _of(
            scores, self.pairs, self.before[:, kept], self.after[:, kept], self.ended[:, kept], kept[kept], self.notes
        )

    @property
    def tau(self) -> PerMeasure[float]:
        """Kendall's τ_a between the two orders of systems, by original measure (the paper's Table 3)."""
        return PerMeasure({m: c.tau for m, c in self.correlation.items()})

    @property
    def truncated(self) -> dict[str, float]:
        """The share of each run's lists that were ended on purpose."""
        return self._by_run(self.ended)

    @property
    def change(self) -> PerMeasure[Floats]:
        """The gain or loss of every run: the modified minus the original score, by original measure."""
        means = self.scores.aggregate()
        column = self.scores.column
        return PerMeasure({a: means[:, column(b)] - means[:, column(a)] for a, b in self.pairs})

    def lengths(self, when: When) -> dict[int, int]:
        """How many lists have each length, before or after the NIL rule (the paper's Figure 1)."""
        choice(*get_args(When)).check("lengths", when)
        counts = np.bincount((self.before if when == "before" else self.after).ravel())
        return {length: int(count) for length, count in enumerate(counts) if count}

    def _rows(self) -> Iterator[dict[str, Any]]:
        means, truncated, nil_accuracy = self.scores.aggregate(), self.truncated, self.nil_accuracy
        for a, b in self.pairs:
            one, two = means[:, self.scores.column(a)], means[:, self.scores.column(b)]
            for r, run in enumerate(self.scores.runs):
                yield {
                    "original": a,
                    "modified": b,
                    "run": run,
                    "truncated": truncated[run],
                    "nil_accuracy": nil_accuracy[run],
                    "original_score": float(one[r]),
                    "modified_score": float(two[r]),
                    "change": float(two[r] - one[r]),
                }

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per pair of measures and run."""
        import polars as pl

        return pl.DataFrame(list(self._rows()))

    def table(self) -> Table:
        """One row per run: how many lists end on purpose, nil accuracy, and its scores with its gain or loss."""
        names = {a: _short(a) for a, _ in self.pairs}
        change, means, nil_accuracy = self.change, self.scores.aggregate(), self.nil_accuracy
        rows = []
        for r, (run, share) in enumerate(self.truncated.items()):
            cells: list[Any] = [run, share, nil_accuracy[run]]
            for a in names:
                cells += [means[r, self.scores.column(a)], change[a][r]]
            rows.append(cells)
        columns = [Column("run"), Column("truncated", 1, "percent"), Column("nil accuracy", 1, "percent")]
        columns += [c for name in names.values() for c in (Column(name, 4), Column(f"{name}'-{name}", 4, signed=True))]
        n = len(self.scores.queries)
        size = f"{counted(len(self.scores.runs), 'run')}, {counted(n, 'query', 'queries')}"
        title = f"Truncation: {size}, {self.nil_queries} without an answer"
        notes = [f"{a} and {b}: {_words(self.correlation[a])}" for a, b in self.pairs]
        return Table(columns, rows, title=title, notes=[*notes, *self.notes])

    def plot(
        self, what: Literal["change", "scores", "lengths"] = "change", measure: MeasureLike | None = None
    ) -> Figure:
        """Scores before and after against the share of truncated lists, against each other, or lengths of lists."""
        choice("change", "scores", "lengths").check("plot", what)
        if what == "lengths":
            return self._plot_lengths()
        name = self.pairs[0][0] if measure is None else str(measure)
        original = self.scores.aggregate()[:, self.scores.column(name)]
        modified = original + self.change[name]
        if what == "scores":
            figure, axes = drawing(name, dict(self.pairs)[name], width=4.4, height=4.2)
            axes.scatter(original, modified, s=12, color="#0072B2")
            ends = [float(min(original.min(), modified.min())), float(max(original.max(), modified.max()))]
            axes.plot(ends, ends, color="0.4", linewidth=0.8)
            axes.set_aspect("equal", "datalim")
            return figure
        figure, axes = drawing("share of truncated lists", f"{name}, and as modified")
        share = np.array(list(self.truncated.values()))
        axes.vlines(share, original, modified, color="0.6", linewidth=0.8)
        axes.scatter(share, original, s=14, facecolors="white", edgecolors="#0072B2", label="original", zorder=3)
        axes.scatter(share, modified, s=14, color="#D55E00", label="modified", zorder=3)
        legend(axes)
        return figure

    def _plot_lengths(self) -> Figure:
        figure, axes = drawing("documents of a list", "lists")
        longest = int(self.before.max(initial=0))
        edges = np.linspace(0.0, longest, 26)
        for when, shift, colour in zip(get_args(When), (-0.2, 0.2), ("#0072B2", "#D55E00"), strict=True):
            lengths = self.lengths(when)
            if longest > _MOST_BARS:
                counts, _ = np.histogram(list(lengths), edges, weights=list(lengths.values()))
                dashes = "-" if shift < 0 else "--"
                axes.stairs(counts, edges, color=colour, linewidth=1.4, linestyle=dashes, label=when)
            else:
                axes.bar([x + shift for x in lengths], list(lengths.values()), 0.4, color=colour, label=when)
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The two scores of every run by each pair of measures, the effect of truncation on them, and lengths."""
        found = []
        for a, b in self.pairs:
            caption = f"Every run's score by {a} and by {b}: above the line the modified one is higher"
            found.append(Picture(f"scores by {_short(a)}", caption, self.plot("scores", a)))
            caption = f"Every run's score, original and modified, by its share of truncated lists: {a}"
            found.append(Picture(f"change of {_short(a)}", caption, self.plot("change", a)))
        return [*found, Picture("lengths", "Lengths of lists, before and after the NIL rule", self.plot("lengths"))]

    def reading(self) -> list[str]:
        """How many lists end on purpose, and the effect of rewarding that."""
        lists = counted(self.ended.size, "list")
        found = [
            f"Of {lists}, {percent(float(self.ended.mean()))} end on purpose; "
            f"{counted(self.nil_queries, 'query', 'queries')} {'has' if self.nil_queries == 1 else 'have'} no answer."
        ]
        if 0 < self.nil_queries < len(self.answerable):
            right = max(self.nil_accuracy.values())
            best = [run for run, share in self.nil_accuracy.items() if share == right]
            share = float(self.answerable.mean())
            found.append(
                f"{joined(best)} {'says' if len(best) == 1 else 'say'} best whether there is an answer, in "
                f"{percent(right)} of the queries; always giving the "
                f"same answer is right in {percent(max(share, 1 - share))}."
            )
        for a, b in self.pairs:
            gains, order = self.change[a], self.correlation[a]
            most, least = self.scores.runs[int(gains.argmax())], self.scores.runs[int(gains.argmin())]
            swapped = "" if np.isnan(order.tau) else f" The two order the runs with τ = {order.tau:.3f}."
            changed = f"{most} gains the most ({gains.max():+.3f}) and {least} the least ({gains.min():+.3f})"
            if flat(gains[:1], gains).all():  # so also one run alone
                changed = f"every run gains {gains[0]:+.3f}" if abs(gains[0]) > TOLERANCE else "no score changes"
            found.append(f"From {a} to {b}, {changed}.{swapped}")
        return found


# What is compared: a measure of original lists, and one of modified ones.
_PAIR = Kind("a pair", lambda value: isinstance(value, list | tuple) and len(value) == 2)


@takes(pairs=optional(some(_PAIR, "a list of pairs of measures")), progress=function(), cache=optional(path()))
def truncation(
    qrels: Any,
    runs: Any,
    *,
    nil: str | None = None,
    limit: int | None = None,
    pairs: Sequence[tuple[MeasureLike, MeasureLike]] | None = None,
    p: float = 0.5,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
) -> Truncation:
    """Score systems by measures that ignore where a list ends, and by measures that do not.

    Parameters
    ----------
    qrels, runs, gains, unjudged, queries, progress, cache
        As in :func:`evaluate`. Name the queries if some have no judged document at all.
    nil
        The document that means "no more answers". The original measures follow the rule of TREC 2001: it is the one
        relevant document of a query without answers, and irrelevant elsewhere. For the modified ones it ends the list.
    limit
        The largest number of documents in a list (Liu et al. 2016: 5): a list that reaches it without ``nil`` was not
        ended on purpose, and gets no terminal document. Without a limit, the measures count every list as ended on
        purpose; lists then count as truncated if they are shorter than the longest list that any run gives for the
        query.
    pairs
        (original, modified) measures; by default RR, nDCG, RBP and AP, each with its ``_qwa``.
    p
        The persistence of the default RBP.

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": 0}, "r": {"c": 0}}
    >>> runs = {"hedges": {"q": {"a": 3, "b": 2}, "r": {"c": 1, "NIL": 0.5}}, "stops": {"q": {"a": 1}, "r": {"NIL": 1}}}
    >>> found = truncation(qrels, runs, nil="NIL", limit=2)
    >>> found.truncated, found.lengths("before"), found.lengths("after")
    ({'hedges': 0.5, 'stops': 1.0}, {1: 2, 2: 2}, {0: 1, 1: 2, 2: 1})
    """
    given = _default_pairs(nil, limit, p) if pairs is None else pairs
    measured = [(_one(a), _one(b)) for a, b in given]
    shown = Shown(nil=nil)
    every = list(dict.fromkeys(m for both in measured for m in both))
    judgments, worth = read_qrels(qrels), Gains.of(gains)
    found = evaluate(
        judgments,
        runs,
        [*every, shown],
        gains=worth,
        unjudged=unjudged,
        queries=queries,
        progress=progress,
        cache=cache,
    )
    scores = replace(
        found,
        measures=found.measures[:-1],
        numerators=found.numerators[:, :, :-1],
        denominators=found.denominators[:, :, :-1],
    )
    after, before = (cube[:, :, -1].astype(np.int64) for cube in (found.numerators, found.denominators))
    # NIL is not a document: a full list stays full even if NIL is put into it.
    documents = before - (after < before)
    full = documents.max(axis=0) if limit is None else limit
    positive = judgments.pool_of(found.queries).count(lambda label: worth(label) > 0)
    longer = 0 if limit is None else int(np.count_nonzero(documents > limit))
    notes = _notes(scores, nil, before, after, longer, limit)
    tell(notes)
    return _of(
        scores,
        tuple((str(a), str(b)) for a, b in measured),
        before,
        after,
        (documents < full) | (after < before),
        np.asarray(positive > 0),
        (*found.notes, *notes),
    )


def _of(
    scores: Scores, pairs: tuple[tuple[str, str], ...], before: Ints, after: Ints,
    ended: NDArray[np.bool_], answerable: NDArray[np.bool_], notes: tuple[str, ...],
) -> Truncation:  # fmt: skip
    """What was found, with the correlation of the orders by every pair of measures."""
    order = {m: system_levels(scores, [scores.column(m)]) for pair in pairs for m in pair}
    alike = PerMeasure({a: _correlation(order[a], order[b]) for a, b in pairs})
    return Truncation(scores, pairs, alike, before, after, ended, answerable, notes)


def _default_pairs(nil: str | None, limit: int | None, p: float) -> list[tuple[MeasureLike, MeasureLike]]:
    return [
        (RR(nil=nil), RR_qwa(nil=nil, limit=limit)),
        (nDCG(nil=nil, k=limit), nDCG_qwa(nil=nil, limit=limit)),
        (RBP(p=p, nil=nil), RBP_qwa(p=p, nil=nil, limit=limit)),
        (AP(nil=nil), AP_qwa(nil=nil, limit=limit)),
    ]


def _one(measure: MeasureLike) -> Measure:
    found = ready_measures([measure])
    if len(found) != 1:
        raise InputError(f"{measure!s} is {len(found)} measures", remedy="give pairs as [(original, modified), ...]")
    return found[0]


def _correlation(one: Ints, two: Ints) -> Correlation:
    return correlation(one, two) if len(one) > 1 else Correlation(*[np.nan] * 5)


def _notes(
    scores: Scores, nil: str | None, before: Ints, after: Ints, longer: int, limit: int | None
) -> list[str]:  # fmt: skip
    notes = []
    if len(scores.runs) == 1:
        notes.append("one run has no order: tau is not a number")
    if nil is not None and (before == after).all():
        notes.append(f"no list holds the document {nil!r}")
    if longer:
        notes.append(f"lists of more than {limit} documents, the limit: {longer} of {before.size}")
    return notes


def _short(name: str) -> str:
    """The measure's word, for a heading."""
    return name.split("(")[0].split("@")[0]


def _words(found: Correlation) -> str:
    if np.isnan(found.tau):
        return "no order to compare"
    return f"tau {found.tau:.3f}, tau_b {found.tau_b:.3f}, {100 * found.swap_rate:.1f}% of pairs swapped"
