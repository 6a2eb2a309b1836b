"""Effects of filtering: forbidden documents shown, good ones dropped, and where nDCG_min loses its bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats
from ranksift.measures.cumulative import PAPER_1, dcg_of_list, ideal, nDCG_f, worst
from ranksift.measures.measure import (
    TOLERANCE,
    Measure,
    PerQuery,
    base_parameter,
    flat,
    gains_parameter,
    k_parameter,
    ratio,
)
from ranksift.parameters import choice, parameter


class Filtering(Measure, abstract=True):
    """A measure of filtering."""

    family = "filtering"
    paper = PAPER_1


@dataclass(frozen=True, repr=False)
class Fdocs(Filtering):
    r"""Forbidden documents (gain < 0) as a share of what the top k shows, over all queries together.

    .. math:: Fdocs@k = \frac{\sum_q |\{i \le k : g_i < 0\}|}{\sum_q \min(k, |list_q|)}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": -2}}, {"q": {"b": 3, "a": 2}}, ["Fdocs@3"]).mean_of("Fdocs@3")
    0.5
    """

    aggregation = "micro"
    about_forbidden = True
    higher_is_better = False

    k: int | None = k_parameter()
    average: str = parameter(
        "micro",
        choice("micro", "macro"),
        "'micro': one ratio over all queries together; 'macro': the mean of the shares of each query.",
    )
    gains: Gains | None = gains_parameter()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.average == "macro":
            object.__setattr__(self, "aggregation", "mean")

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Forbidden documents shown, and documents shown."""
        inside = judged.rank <= (self.k or np.inf)
        forbidden = judged.sum((judged.gain(self.gains) < 0) & inside)
        shown = np.minimum(judged.length, self.k or judged.length).astype(np.float64)
        if self.average == "macro":
            return PerQuery(ratio(forbidden, shown, shown == 0))
        return PerQuery(forbidden, shown)


@dataclass(frozen=True, repr=False)
class Hidden(Filtering, abstract=True):
    """Documents of a kind that are missing from the list, as a share of all of this kind, over all queries together."""

    aggregation = "micro"
    higher_is_better = False

    gains: Gains | None = gains_parameter()

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Those that are missing, and all of them."""
        gains = self.gains or judged.gains
        there = judged.pool.count(lambda label: self.is_good(gains(label))).astype(np.float64)
        return PerQuery(there - judged.count(self.is_good(judged.gain(gains))), there)

    def is_good(self, gain: Floats) -> NDArray[np.bool_]:
        """Which gains are those of such documents."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class GoodFiltered(Hidden):
    r"""Good documents that are missing from the list, as a share of all good ones, over all queries together.

    .. math:: GoodFiltered = \frac{\sum_q |\{d \in R_q : g_d \ge 0, d \notin list_q\}|}
              {\sum_q |\{d \in R_q : g_d \ge 0\}|}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": -2, "c": 0}}, {"q": {"b": 3, "a": 2}}, ["GoodFiltered"]).mean_of("GoodFiltered")
    0.5
    """

    good: str = parameter(
        "nonnegative",
        choice("nonnegative", "positive"),
        "Which documents are good: those of gain >= 0, or only those of gain > 0.",
    )

    def is_good(self, gain: Floats) -> NDArray[np.bool_]:
        """Which gains are those of good documents."""
        return gain > 0 if self.good == "positive" else gain >= 0


class RelevantFiltered(Hidden):
    r"""Relevant documents (gain > 0) that are missing from the list, as a share of all, over all queries together.

    .. math:: RelevantFiltered = \frac{\sum_q |\{d \in R_q : g_d > 0, d \notin list_q\}|}
              {\sum_q |\{d \in R_q : g_d > 0\}|}

    ``GoodFiltered`` also counts documents of gain 0.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels, run = {"q": {"a": 1, "b": -2, "c": 0, "d": 2}}, {"q": {"b": 3, "a": 2}}
    >>> evaluate(qrels, run, ["RelevantFiltered"]).mean_of("RelevantFiltered")
    0.5
    """

    def is_good(self, gain: Floats) -> NDArray[np.bool_]:
        """Gains above 0."""
        return gain > 0


class Empty(Filtering):
    r"""1 if nothing is shown; the mean is the share of queries left empty.

    .. math:: Empty = [|list| = 0]

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 3}}, ["Empty"]).mean_of("Empty")
    0.5
    """

    higher_is_better = False

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Whether each list is empty."""
        return PerQuery((judged.length == 0).astype(np.float64))


@dataclass(frozen=True, repr=False)
class Difficulty(Filtering):
    r"""How much a query needs filtering: nDCG_f@k of the empty list.

    .. math:: Difficulty@k = \frac{-W_{k,f}}{I_{k,f} - W_{k,f}}

    A list that scores below this value shows more bad than good content, so showing nothing would be better. It
    does not depend on the run.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": -3}}, {"q": {"a": 3}}, ["Difficulty@5"]).mean_of("Difficulty@5")
    0.75
    """

    about_forbidden = True
    higher_is_better = False

    k: int | None = k_parameter()
    gains: Gains | None = gains_parameter()
    base: float | None = base_parameter()

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """nDCG_f of nothing."""
        lower, upper = nDCG_f(k=self.k, base=self.base).bounds(judged.pool, self.gains or judged.gains)
        return PerQuery(ratio(-lower, upper - lower, flat(lower, upper)))

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries with gains of 0 only."""
        return flat(*nDCG_f(k=self.k, base=self.base).bounds(pool, gains))


@dataclass(frozen=True, repr=False)
class Unbounded(Filtering, abstract=True):
    """Queries in which nDCG_min leaves [0, 1] because documents were left out."""

    about_forbidden = True
    higher_is_better = False

    k: int | None = k_parameter()
    gains: Gains | None = gains_parameter()
    base: float | None = base_parameter()

    def deviations(self, judged: JudgedRun) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Where DCG@k is above the ideal order of the whole pool, and where below the worst one."""
        gains = self.gains or judged.gains
        dcg = dcg_of_list(judged, judged.gain(gains), self.k, self.base)
        low, high = (end(judged.pool, gains, self.k, self.base) for end in (worst, ideal))
        slack = TOLERANCE * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        return dcg > high + slack, dcg < low - slack


class UBQ(Unbounded):
    r"""Unbounded query: 1 if nDCG_min@k is outside [0, 1].

    .. math:: UBQ@k = [DCG@k > I_k \text{ or } DCG@k < W_k]

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"a": 3}}, ["UBQ@2"]).mean_of("UBQ@2")
    1.0
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Either deviation."""
        above, below = self.deviations(judged)
        return PerQuery((above | below).astype(np.float64))


class UBQ_over(Unbounded):
    r"""1 if DCG@k is above the ideal order of the whole pool (nDCG_min@k > 1).

    .. math:: UBQ_{over}@k = [DCG@k > I_k]

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"a": 3}}, ["UBQ_over@2"]).mean_of("UBQ_over@2")
    1.0
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Above the ideal."""
        return PerQuery(self.deviations(judged)[0].astype(np.float64))


class UBQ_under(Unbounded):
    r"""1 if DCG@k is below the worst order of the whole pool (nDCG_min@k < 0).

    .. math:: UBQ_{under}@k = [DCG@k < W_k]

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"b": 3}}, ["UBQ_under@2"]).mean_of("UBQ_under@2")
    1.0
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Below the worst."""
        return PerQuery(self.deviations(judged)[1].astype(np.float64))
