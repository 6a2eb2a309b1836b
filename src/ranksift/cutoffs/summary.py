"""A fitted rule in short: what it does to the documents that it was fitted on, and what it would do to others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift.collection.lists import Lists
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate, held_out
from ranksift.cutoffs.risk import RiskCutoff
from ranksift.cutoffs.threshold import GlobalCutoff, Interval, one_measure
from ranksift.evaluation.table import Column, Table


@dataclass(frozen=True, eq=False)
class Summary:
    """Results of :func:`summarised`.

    Attributes
    ----------
    rule, measure
        The rule, and what it is judged by.
    fitted, keep_all, drop_all
        The measure on the documents that the rule was fitted on: with the rule, with everything shown, with nothing.
    expected
        The measure on queries that the rule was not fitted on, by cross-validation; None where there are too few.
    threshold, interval
        Of a rule with one threshold, and where it lies if queries are drawn anew.
    documents, dropped, queries, emptied
        Their numbers: all documents, those dropped, all queries, and those left without a document.
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

    def _rows(self) -> Iterator[tuple[str, Any]]:
        if self.threshold is not None:
            yield "threshold", _number(self.threshold)
        if self.interval is not None:
            yield (
                f"{self.interval.confidence:.0%} interval",
                f"{_number(self.interval.low)} to {_number(self.interval.high)}",
            )
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

    def table(self) -> Table:
        """Two columns, and the promise below."""
        notes = [f"keep: {self.rule.instruction}", f"promise: {self.rule.promise}", *self.rule.notes_]
        if self.expected is None:
            notes.append(f"fewer queries than {self.folds} folds: what new queries would give is not known")
        title = f"Cutoff: {self.rule.rule}, fitted to {self.queries:,} quer{'y' if self.queries == 1 else 'ies'}"
        return Table([Column("what"), Column("value", align="right")], self._rows(), title=title, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, for JSON; infinite ones as words."""
        interval = None if self.interval is None else [_json(self.interval.low), _json(self.interval.high)]
        return {
            "measure": self.measure,
            "fitted": self.fitted,
            "expected": self.expected,
            "keep_all": self.keep_all,
            "drop_all": self.drop_all,
            "threshold": None if self.threshold is None else _json(self.threshold),
            "interval": interval,
            "documents": self.documents,
            "dropped": self.dropped,
            "queries": self.queries,
            "emptied": self.emptied,
        }


def summarised(rule: Cutoff, lists: Lists, *, folds: int = 5, samples: int = 1000, seed: int = 0) -> Summary:
    """Sum up a rule that was just fitted.

    Parameters
    ----------
    rule, lists
        Fitted, and what it was fitted on.
    folds, seed
        Of the cross-validation.
    samples
        How often queries are drawn anew for the interval of a threshold; 0: not at all.

    Examples
    --------
    >>> lists = Lists.from_arrays([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> found = summarised(GlobalCutoff("nDCG_f@3").fit_lists(lists), lists, folds=2)
    >>> found.fitted, found.dropped, found.emptied
    (1.0, 2, 0)
    """
    measure = one_measure(rule.natural_measure)
    kept = rule.keep_lists(lists)
    everything = np.ones(len(lists.score), dtype=bool)
    fitted, keep_all, drop_all = (aggregate(measure, lists, k) for k in (kept, everything, ~everything))
    queries = len(lists)
    left = np.bincount(lists.query[kept], minlength=queries)
    expected = None
    if 2 <= folds <= queries:
        expected = aggregate(measure, lists, held_out(rule, lists, folds, seed))
    interval = None
    if isinstance(rule, GlobalCutoff) and samples and queries > 1:
        interval = rule.interval(lists, samples, seed)
    return Summary(
        rule=rule,
        measure=str(measure),
        fitted=fitted,
        keep_all=keep_all,
        drop_all=drop_all,
        expected=expected,
        folds=folds,
        threshold=vars(rule).get("threshold_"),
        interval=interval,
        documents=len(lists.score),
        dropped=int((~kept).sum()),
        queries=queries,
        emptied=int(((left == 0) & (lists.lengths > 0)).sum()),
    )


def _number(value: float) -> str:
    if np.isinf(value):
        return "-∞ (nothing is dropped)" if value < 0 else "+∞ (everything is dropped)"
    return f"{value:.6g}"


def _json(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)
