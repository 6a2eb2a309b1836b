"""Baselines (Carmel et al. 2022): nothing shown, everything shown, random order, and the oracle, which knows labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.sweep import Sweep
from ranksift.cutoffs.threshold import MEASURE, one_measure
from ranksift.errors import InputError
from ranksift.measures.cumulative import discounted
from ranksift.measures.filtering import Empty, Fdocs, GoodFiltered
from ranksift.measures.measure import Measure, PerQuery, ratio
from ranksift.measures.names import MeasureLike
from ranksift.parameters import number, parameter

#: Random orders that are averaged where the expected value has no closed form.
SHUFFLES = 100


@dataclass(eq=False)
class FilterAll(Cutoff):
    """Show nothing: a measure then shows how much there is to filter.

    Examples
    --------
    >>> FilterAll().fit([0.9, 0.4], [1, -1], ["q", "r"]).keep([0.8, 0.5]).tolist()
    [False, False]
    """

    rule: ClassVar[str] = "filter-all"

    def _learn(self, lists: Lists) -> None:
        pass

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return np.zeros(len(lists.score), dtype=bool)

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return "false"

    @property
    def promise(self) -> str:
        """What the rule promises for other queries."""
        return "no forbidden document is shown, and no other"


@dataclass(eq=False)
class RankOnly(Cutoff):
    """Show everything, as it is ranked.

    Examples
    --------
    >>> RankOnly().fit([0.9, 0.4], [1, -1], ["q", "r"]).keep([0.8, 0.5]).tolist()
    [True, True]
    """

    rule: ClassVar[str] = "rank-only"

    def _learn(self, lists: Lists) -> None:
        pass

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return np.ones(len(lists.score), dtype=bool)

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return "true"

    @property
    def promise(self) -> str:
        """What the rule promises for other queries."""
        return "nothing is dropped"


@dataclass(eq=False)
class FixedCutoff(Cutoff):
    """Keep documents with a score of at least a given threshold.

    Examples
    --------
    >>> FixedCutoff(0.5).fit([0.9, 0.4], [1, -1], ["q", "r"]).keep([0.8, 0.5, 0.4]).tolist()
    [True, True, False]
    """

    rule: ClassVar[str] = "fixed"
    learned: ClassVar[tuple[str, ...]] = ("threshold_",)

    threshold: float = parameter(0.0, number(), "The lowest score that is kept.")

    def _learn(self, lists: Lists) -> None:
        self.threshold_ = float(self.threshold)

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return lists.score >= self.threshold_

    def thresholds(self, lists: Lists) -> Floats:
        """The same for every query."""
        return np.full(len(lists), self.threshold_)

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return "score >= float(threshold)"

    @property
    def promise(self) -> str:
        """What the rule promises for other queries."""
        return "none: the threshold was chosen by hand"


@dataclass(eq=False)
class Oracle(Cutoff):
    """The best threshold for each query, found with its labels: an upper bound for all rules on these scores.

    It is not a rule that can be used, so it is not saved.

    Examples
    --------
    >>> lists = Lists.from_arrays([0.9, 0.4, 0.3, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> Oracle("nDCG_f@3").fit_lists(lists).keep_lists(lists).tolist()
    [True, False, True, False]
    """

    measure: MeasureLike = parameter("nDCG_f@3", MEASURE, "What each threshold maximises in its query.")

    def _learn(self, lists: Lists) -> None:
        pass

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return lists.score >= self.thresholds(lists)[lists.query]

    def thresholds(self, lists: Lists) -> Floats:
        """The best threshold of each query; of equal ones the lowest."""
        if not len(lists.pool.labels):
            raise InputError("the oracle cuts by labels, but there are none", remedy="use a rule")
        return Sweep.of(lists, one_measure(self.measure)).oracle()[0]

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        raise InputError("the oracle cuts by labels: it is not a rule that can be used", remedy="fit another")


@dataclass(frozen=True, eq=False)
class FilterOnly:
    """What a rule keeps, in random order: what filtering gives without ranking.

    Carmel et al. 2022 shuffle once. Here a measure is its expected value over all orders: exact for DCG, its
    normalisations and for the measures of filtering, for others the mean of 100 random orders.

    Attributes
    ----------
    cutoff
        The rule.
    seed
        The seed of the random orders, if there are any.

    Examples
    --------
    >>> lists = Lists.from_arrays([0.9, 0.4], [0, 1], ["q", "q"])
    >>> FilterOnly(RankOnly()).expected(one_measure("DCG@1"), lists, np.array([True, True])).numerator.tolist()
    [0.5]
    """

    cutoff: Cutoff
    seed: int = 0

    def expected(self, measure: Measure, lists: Lists, kept: NDArray[np.bool_]) -> PerQuery:
        """Each query's numerator and denominator when the documents kept are shown in random order."""
        judged = lists.judged_by(kept)
        length = judged.length.astype(np.float64)
        if isinstance(measure, GoodFiltered | Empty):
            return measure.per_query(judged)
        if isinstance(measure, Fdocs):
            forbidden = measure(k=None).per_query(judged).numerator
            if measure.average == "macro":
                return PerQuery(forbidden)
            shown = np.minimum(length, measure.k or np.inf)
            return PerQuery(forbidden * ratio(shown, length, length == 0), shown)
        line = measure.line(lists.pool, measure.gains or lists.gains)
        if line is not None:
            mean = ratio(judged.sum(measure.gain(judged.label, judged.gains)), length, length == 0)
            depth = np.minimum(judged.length, measure.k or np.inf).astype(np.int64)
            ranks = np.arange(1, depth.max(initial=0) + 1)
            discounts = np.cumsum(discounted(np.ones(len(ranks)), ranks, measure.base))
            at_zero, slope = line
            return PerQuery(at_zero + slope * mean * np.append(0.0, discounts)[depth])
        return self._sampled(measure, lists, kept)

    def _sampled(self, measure: Measure, lists: Lists, kept: NDArray[np.bool_]) -> PerQuery:
        draw = np.random.default_rng(self.seed)
        total = np.zeros((2, len(lists)))
        for _ in range(SHUFFLES):
            order = np.lexsort((draw.random(len(lists.score)), lists.query))
            top, bottom = measure.per_query(lists.judged_by(kept, order))
            if measure.aggregation == "mean":
                top, bottom = PerQuery(measure.values(top, bottom))
            total += np.stack([top, bottom])
        return PerQuery(*(total / SHUFFLES))
