"""A fitted rule in short: what it does to the documents that it was fitted on, and what it would do to others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ranksift.collection.gains import ZERO_AS_FORBIDDEN
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.cutoff import NOTHING_FORBIDDEN, Cutoff, in_words
from ranksift.cutoffs.held_out import held_out
from ranksift.cutoffs.limits import Limits
from ranksift.cutoffs.risk import RiskCutoff
from ranksift.cutoffs.sweep import SAME, Swept
from ranksift.cutoffs.threshold import GlobalCutoff, Interval, one_measure
from ranksift.cutoffs.tradeoff import with_costs
from ranksift.errors import InputError
from ranksift.evaluation.compare import compare
from ranksift.evaluation.printed import Printed
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table
from ranksift.measures.measure import Measure
from ranksift.parameters import samples_of

T = TypeVar("T")


class Cost(NamedTuple):
    """The effect of filtering, on the documents that a rule was fitted on and on other queries (or None)."""

    fitted: float
    expected: float | None


class Advantage(NamedTuple):
    """How much better a rule is than everything shown, on queries that it was not fitted on.

    ``better`` is 1 if it is significantly better, −1 if significantly worse, and 0 if neither.
    """

    difference: float
    low: float
    high: float
    p: float
    better: int


@dataclass(frozen=True, eq=False)
class Summary(Printed):
    """Results of :func:`summarised`.

    Attributes
    ----------
    rule, measure
        The rule, and the measure that it is judged by.
    fitted, keep_all, drop_all
        The measure on the documents that the rule was fitted on: with the rule, with everything shown, and with nothing
        shown.
    expected
        The measure on queries that the rule was not fitted on, by cross-validation; None if there are too few.
    threshold, interval
        The threshold, for rules with only one, and its interval if queries are resampled.
    documents, dropped, queries, emptied
        The numbers of all documents, of dropped ones, of all queries, and of those left without a document.
    costs
        Further measures by name: those that are limited, and Fdocs, GoodFiltered and Empty.
    kept
        For each fold, whether its queries keep the limits; empty if there are no limits.
    unknown
        The reasons why something is not known, as sentences.
    advantage
        The comparison with showing everything, on queries that the rule was not fitted on; None if there are too few.
    """

    rule: Cutoff
    measure: str
    fitted: float
    keep_all: float
    drop_all: float
    expected: float | None
    folds: int
    threshold: float | None
    interval: Interval | None
    documents: int
    dropped: int
    queries: int
    emptied: int
    costs: Mapping[str, Cost]
    kept: tuple[bool, ...]
    unknown: tuple[str, ...]
    advantage: Advantage | None

    @property
    def limits(self) -> Limits:
        """The limits that the rule keeps."""
        return limits_of(self.rule)

    def _rows(self) -> Iterator[tuple[str, Any]]:
        if self.threshold is not None:
            yield "threshold", in_words(self.threshold)
        if self.interval is not None:
            ends = dict.fromkeys([in_words(self.interval.low), in_words(self.interval.high)])
            yield f"{self.interval.confidence:.0%} interval", " to ".join(ends)
        yield (
            "documents dropped",
            f"{self.dropped:,} of {self.documents:,} ({self.dropped / max(1, self.documents):.1%})",
        )
        yield "queries left empty", f"{self.emptied:,} of {self.queries:,} ({self.emptied / max(1, self.queries):.1%})"
        if isinstance(self.rule, RiskCutoff):
            known = self.rule.fitted_on_["risk"]
            yield "risk", f"{self.rule.risk_:.4f}"
            yield f"risk, compared with {self.rule.alpha:g}", f"{self.rule.bound_:.4f}"
            yield "risk, everything shown", f"{known['keep_all']:.4f}"
        yield self.measure, f"{self.fitted:.4f}"
        if self.expected is not None:
            yield f"{self.measure}, new queries ({self.folds} folds)", f"{self.expected:.4f}"
        yield f"{self.measure}, everything shown", f"{self.keep_all:.4f}"
        yield f"{self.measure}, nothing shown", f"{self.drop_all:.4f}"
        for name, cost in self.costs.items():
            yield name, f"{cost.fitted:.4f}"
            if cost.expected is not None:
                yield f"{name}, new queries ({self.folds} folds)", f"{cost.expected:.4f}"

    def table(self) -> Table:
        """Two columns, and the promise below."""
        notes = [
            f"keep: {self.rule.instruction}",
            f"promise: {self.rule.promise}",
            *self._limits_kept(),
            *self.notes,
        ]
        notes += self.unknown
        title = f"Cutoff: {self.rule.rule}, fitted to {self.queries:,} quer{'y' if self.queries == 1 else 'ies'}"
        return Table([Column("what"), Column("value", align="right")], self._rows(), title=title, notes=notes)

    def parts(self) -> tuple[Table | str, ...]:
        """What is printed: the numbers, and what they mean."""
        return self.table(), f"{self.headline}. {self.verdict}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Those of the rule, without what the verdict says."""
        said = NOTHING_FORBIDDEN if self.nothing_to_gain else None
        return tuple(note for note in self.rule.notes_ if said is None or not note.startswith(said))

    @property
    def nothing_to_gain(self) -> bool:
        """Whether nothing is forbidden, and the rule does not raise the measure.

        By scores other than those of the ranking it can: what is useless makes room for what is relevant.
        """
        nothing_forbidden = self.rule.fitted_on_["forbidden"] == 0 and one_measure(self.measure).about_forbidden
        return nothing_forbidden and self._sign * (self.fitted - self.keep_all) <= SAME

    @property
    def _sign(self) -> int:
        return 1 if one_measure(self.measure).higher_is_better else -1

    @property
    def _same(self) -> bool:
        """Whether no query that the rule was not fitted on has another value than with everything shown."""
        return self.advantage is not None and self.advantage[:3] == (0.0, 0.0, 0.0)

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        if self.nothing_to_gain:
            return "There is nothing to gain"
        if self.advantage is None:
            return "It is not known whether the cutoff is worth it"
        if self._shows_too_much:
            return "It is better to show nothing"
        if self._same:
            return f"The cutoff does not change {self.measure}"
        if not self.dropped:
            return "The cutoff drops nothing"
        return {1: "The cutoff is worth it", -1: "The cutoff is not worth it"}.get(
            self.advantage.better, "It is not clear whether the cutoff is worth it"
        )

    @property
    def verdict(self) -> str:
        """Whether the rule beats everything shown on queries that it was not fitted on, and by how much."""
        if self.nothing_to_gain:
            hint = f"; {ZERO_AS_FORBIDDEN}" if any(ZERO_AS_FORBIDDEN in note for note in self.rule.notes_) else ""
            return f"No label is forbidden, and this cutoff does not raise {self.measure}{hint}."
        found = self.advantage
        if found is None or self.expected is None:
            return "Its effect on queries that it was not fitted on is not known."
        written = Column("", signed=True).written
        p = Column("", style="p").written(found.p)
        evidence = (
            f"{written(found.difference)} (95% interval {written(found.low)} to {written(found.high)}, "
            f"p {p if p[0] == '<' else f'= {p}'})"
        )
        if self._shows_too_much:
            return (
                f"On new queries {self.measure} is {self.expected:.4f} with the cutoff, {self.keep_all:.4f} with "
                f"everything shown and {self.drop_all:.4f} with nothing shown: this score does not separate good "
                "from forbidden documents well enough for these gains."
            )
        if self._same:
            dropped = "" if self.dropped else " The cutoff drops nothing."
            return f"On every new query it is the same with the cutoff as with everything shown.{dropped}"
        if not self.dropped:
            return (
                f"Fitted to all of these queries, it shows everything. Fitted to some of them, it changes "
                f"{self.measure} on the others by {evidence}."
            )
        if found.better > 0:
            return f"On new queries it beats showing everything by {evidence} in {self.measure}."
        if found.better < 0:
            return f"On new queries it is worse than showing everything: {evidence} in {self.measure}."
        return (
            f"On new queries it differs from showing everything by {evidence} in {self.measure}, which may be chance: "
            "label more queries to find out."
        )

    @property
    def _shows_too_much(self) -> bool:
        """Whether nothing shown is better than everything shown, and on new queries no worse than the rule."""
        if self.expected is None or self.limits:  # who limits what is hidden does not want nothing shown
            return False
        nothing, everything, rule = (self._sign * value for value in (self.drop_all, self.keep_all, self.expected))
        return nothing > everything + SAME and nothing >= rule - SAME

    def _limits_kept(self) -> Iterator[str]:
        """What became of the limits, in words."""
        if not self.limits:
            return
        said = "their values on other queries are not known"
        if self.kept:
            came_to = ((limit, self._on_new_queries(str(limit.measure))) for limit in self.limits)
            values = ", ".join(f"{r.measure} {value:.4f} ({r.checked(value).verdict})" for r, value in came_to)
            kept = f"all were kept in {sum(self.kept)} of {len(self.kept)} folds"
            said = f"on new queries the values were {values}, and {kept}"
        yield f"limits: kept on the documents that it was fitted on; {said}"

    def _on_new_queries(self, measure: str) -> float:
        value = self.expected if measure == self.measure else self.costs[measure].expected
        assert value is not None
        return value

    def to_dict(self) -> dict[str, Any]:
        """The numbers, for JSON; infinite ones as words."""
        interval = None if self.interval is None else [_json(self.interval.low), _json(self.interval.high)]
        return {
            "measure": self.measure,
            "fitted": self.fitted,
            "expected": self.expected,
            "keep_all": self.keep_all,
            "drop_all": self.drop_all,
            "verdict": f"{self.headline}. {self.verdict}",
            "advantage": None if self.advantage is None else self.advantage._asdict(),
            "threshold": None if self.threshold is None else _json(self.threshold),
            "interval": interval,
            "documents": self.documents,
            "dropped": self.dropped,
            "queries": self.queries,
            "emptied": self.emptied,
            "costs": {name: cost._asdict() for name, cost in self.costs.items()},
            "limits": [str(limit) for limit in self.limits],
            "limits_kept_in_folds": list(self.kept),
        }


def summarised(rule: Cutoff, lists: Lists, *, folds: int = 5, samples: int = 1000, seed: int = 0) -> Summary:
    """Summarise a rule that was just fitted.

    Parameters
    ----------
    rule, lists
        Fitted, and what it was fitted on.
    folds, seed
        The settings of the cross-validation.
    samples
        How many times queries are resampled for the interval of a threshold; 0: no interval.

    Examples
    --------
    >>> lists = Lists.from_arrays([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> found = summarised(GlobalCutoff("nDCG_f@3").fit_lists(lists), lists, folds=2)
    >>> found.fitted, found.dropped, found.emptied
    (1.0, 2, 0)
    """
    if samples:
        samples_of(width=1).check("samples", samples, 1000)
    kept = rule.keep_lists(lists)
    masks = {"kept": kept, "everything": np.ones(len(kept), dtype=bool), "nothing": np.zeros(len(kept), dtype=bool)}
    found = beyond(rule, lists, len(lists), folds, samples, seed, lambda: held_out(rule, lists, folds, seed))
    if found.new is not None:
        masks["new"] = found.new
    left = np.bincount(lists.query[kept], minlength=len(lists))
    return summary_of(
        rule,
        lambda cut, measure: measure.per_query(lists.judged_by(masks[cut])),
        found,
        folds=folds,
        queries=len(lists),
        documents=len(kept),
        dropped=int((~kept).sum()),
        emptied=int(((left == 0) & (lists.lengths > 0)).sum()),
    )


class Beyond(NamedTuple, Generic[T]):
    """What is known of a rule on other queries than those that it was fitted on.

    ``new`` is what it keeps of each query when it is fitted to others; None if there are too few.
    """

    new: T | None
    interval: Interval | None
    kept_in_folds: tuple[bool, ...]
    unknown: tuple[str, ...]


def beyond(
    rule: Cutoff,
    lists: Lists | Swept,
    queries: int,
    folds: int,
    samples: int,
    seed: int,
    hold_out: Callable[[], T],
) -> Beyond[T]:
    """See what a rule does to queries that it was not fitted on; ``hold_out`` fits it to the others of each fold."""
    limits = limits_of(rule)
    new, interval = None, None
    kept_in_folds: tuple[bool, ...] = ()
    unknown = []
    if not 2 <= folds <= queries:
        unknown.append(f"fewer queries than {folds} folds: the value on new queries is not known")
    else:
        try:
            new = hold_out()
            if isinstance(rule, GlobalCutoff) and limits:
                kept_in_folds = rule.cross_validated(lists, folds, seed).kept
        except InputError as error:
            if not limits:
                raise
            unknown.append(f"the value on new queries is not known: without one of the {folds} folds {error}")
    if isinstance(rule, GlobalCutoff) and samples and queries > 1:
        try:
            interval = rule.interval(lists, samples, seed)
        except InputError as error:
            unknown.append(f"the interval is not known: {error}")
    return Beyond(new, interval, kept_in_folds, tuple(unknown))


def summary_of(
    rule: Cutoff,
    values: Callable[[str, Measure], tuple[Floats, Floats]],
    found: Beyond[Any],
    *,
    folds: int,
    queries: int,
    documents: int,
    dropped: int,
    emptied: int,
) -> Summary:
    """Put a summary together.

    ``values`` are those of a measure, a numerator and a denominator for each query, when what is shown is what the rule
    "kept", what it keeps of "new" queries, "everything" or "nothing".
    """
    measure = one_measure(rule.natural_measure)

    def aggregate(measure: Measure, cut: str) -> float:
        return float(measure.aggregate(*values(cut, measure)))

    new = found.new is not None
    costs = {
        str(cost): Cost(aggregate(cost, "kept"), aggregate(cost, "new") if new else None)
        for cost in with_costs(measure, limits_of(rule).measures)[1:]
    }
    return Summary(
        rule=rule,
        measure=str(measure),
        fitted=aggregate(measure, "kept"),
        keep_all=aggregate(measure, "everything"),
        drop_all=aggregate(measure, "nothing"),
        expected=aggregate(measure, "new") if new else None,
        folds=folds,
        threshold=vars(rule).get("threshold_"),
        interval=found.interval,
        documents=documents,
        dropped=dropped,
        queries=queries,
        emptied=emptied,
        costs=costs,
        kept=found.kept_in_folds,
        unknown=found.unknown,
        advantage=_advantage(measure, values("everything", measure), values("new", measure))
        if new and queries >= 2
        else None,
    )


def limits_of(rule: Cutoff) -> Limits:
    """What a rule keeps to."""
    return rule.limits if isinstance(rule, GlobalCutoff) else Limits()


def _advantage(measure: Measure, everything: tuple[Floats, Floats], kept: tuple[Floats, Floats]) -> Advantage:
    """What is kept against everything shown, query by query."""
    top, bottom = zip(everything, kept, strict=True)
    scores = Scores(
        ("everything shown", "cutoff"),
        tuple(map(str, range(len(everything[0])))),
        (measure,),
        np.stack(top)[:, :, None],
        np.stack(bottom)[:, :, None],
    )
    found = compare(scores, "everything shown")
    sign = 1 if measure.higher_is_better else -1
    significant = bool(found.significant[0, 0])
    difference, low, high, p = (float(part[0, 0]) for part in (found.difference, found.low, found.high, found.p))
    return Advantage(difference, low, high, p, sign * int(np.sign(difference)) if significant else 0)


def _json(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)
