"""Discounted cumulative gain and its normalisations, with negative gains."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.measures.measure import (
    TREC_2001,
    Measure,
    PerQuery,
    base_parameter,
    flat,
    gains_parameter,
    k_parameter,
    nil_parameter,
    ratio,
)

PAPER_1 = "Carmel, Cohen, Ingber, Kravi: IR evaluation and learning in the presence of forbidden documents, 2022"
PAPER_4 = "Gienapp, Fröbe, Hagen, Potthast: The impact of negative relevance judgments on NDCG, 2020"
JARVELIN = "Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002"


def discounted(gain: Floats, rank: Ints, base: float | None = None) -> Floats:
    """Gain divided by the discount log2(rank + 1); with a base, by that logarithm of the rank once it exceeds 1.

    >>> discounted(np.ones(4), np.arange(1, 5), base=2).round(3).tolist()
    [1.0, 1.0, 0.631, 0.5]
    """
    return gain / (np.log2(rank + 1) if base is None else np.maximum(np.log2(rank) / np.log2(base), 1.0))


def positive(gain: Floats) -> Floats:
    """Negative gains as 0."""
    return np.maximum(gain, 0.0)


def negative(gain: Floats) -> Floats:
    """Positive gains as 0."""
    return np.minimum(gain, 0.0)


def dcg_of_list(judged: JudgedRun, gain: Floats, k: int | None, base: float | None = None) -> Floats:
    """DCG@k of each list, for the gain of each entry."""
    value = discounted(gain, judged.rank, base)
    return judged.sum(value if k is None else np.where(judged.rank <= k, value, 0.0))


def dcg_of_pool(pool: Pool, gain: Floats, k: int | None, base: float | None = None) -> Floats:
    """DCG@k of each pool, in the order of ``gain``."""
    value = discounted(gain, pool.position, base)
    return pool.sum(value if k is None else np.where(pool.position <= k, value, 0.0))


def ideal(pool: Pool, gains: Gains, k: int | None, base: float | None = None) -> Floats:
    """I_k: the highest DCG@k of all orders of the whole pool."""
    return dcg_of_pool(pool, pool.best_first(gains), k, base)


def worst(pool: Pool, gains: Gains, k: int | None, base: float | None = None) -> Floats:
    """W_k: the lowest DCG@k of all orders of the whole pool."""
    return dcg_of_pool(pool, pool.worst_first(gains), k, base)


def ideal_sublist(pool: Pool, gains: Gains, k: int | None, base: float | None = None) -> Floats:
    """I_kf: the highest DCG@k of all sublists; it leaves out every forbidden document."""
    return dcg_of_pool(pool, positive(pool.best_first(gains)), k, base)


def worst_sublist(pool: Pool, gains: Gains, k: int | None, base: float | None = None) -> Floats:
    """W_kf: the lowest DCG@k of all sublists; it leaves out every document of positive gain."""
    return dcg_of_pool(pool, negative(pool.worst_first(gains)), k, base)


@dataclass(frozen=True, repr=False)
class Cumulative(Measure, abstract=True):
    """A measure made of DCG@k."""

    family = "cumulative"

    k: int | None = k_parameter()
    gains: Gains | None = gains_parameter()
    base: float | None = base_parameter()

    def dcg(self, judged: JudgedRun) -> Floats:
        """DCG@k of each list."""
        return dcg_of_list(judged, self.gain(judged.label, judged.gains), self.k, self.base)

    def contributions(self, judged: JudgedRun) -> Floats | None:
        """The discounted gain of each entry in the top k, on the scale of the value."""
        line = self.line(judged.pool, self.gains or judged.gains)
        if line is None:
            return None
        value = discounted(self.gain(judged.label, judged.gains), judged.rank, self.base)
        return np.where(judged.rank <= (self.k or np.inf), value, 0.0) * line[1][judged.query]


class Normalised(Cumulative, abstract=True):
    """DCG@k between two bounds, which are 0 and 1."""

    def bounds(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """What maps to 0 and what maps to 1."""
        raise NotImplementedError

    def line(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats] | None:
        """Where the bounds are, and 1 over their distance."""
        if self.nil is not None:
            return None
        lower, upper = self.bounds(pool, gains)
        slope = ratio(np.ones(len(lower)), upper - lower, flat(lower, upper))
        return -lower * slope, slope

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """DCG@k of each list between its bounds."""
        lower, upper = self.bounds(judged.pool, self.gains or judged.gains)
        return PerQuery(ratio(self.dcg(judged) - lower, upper - lower, flat(lower, upper)))

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries whose bounds coincide."""
        return flat(*self.bounds(pool, gains))


class DCG(Cumulative):
    r"""Discounted cumulative gain; negative gains count.

    .. math:: DCG@k = \sum_{i=1}^{k} \frac{g_i}{\log_2(i+1)}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"b": 2, "a": 1}}, ["DCG@2"]).mean_of("DCG@2")
    0.261859...

    Järvelin and Kekäläinen's own discount, which begins at rank b:

    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"b": 2, "a": 1}}, ["DCG(base=2)@2"]).mean_of("DCG(base=2)@2")
    1.0
    """

    paper = JARVELIN

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """DCG@k of each list."""
        return PerQuery(self.dcg(judged))

    def line(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """0 and 1: nothing is normalised."""
        return np.zeros(len(pool)), np.ones(len(pool))

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """Mean gain (negative ones as 0) times the discounts of the first min(k, n) ranks."""
        n = np.maximum(pool.size, 1)
        mean = pool.sum(positive(gains(pool.labels))) / n
        return dcg_of_pool(pool, mean[pool.query], self.k, self.base)

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """I_k with negative gains as 0."""
        return ideal_sublist(pool, gains, self.k, self.base)


@dataclass(frozen=True, repr=False)
class nDCG(Normalised):
    r"""Normalised DCG with negative gains counted as 0: trec_eval's values with linear gains.

    .. math:: nDCG@k = \frac{\sum_{i=1}^{k} \max(0, g_i) / \log_2(i+1)}{I_k}

    ``nDCG_0`` is another name for it (Gienapp et al. 2020).

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"b": 2, "a": 1}}, ["nDCG@2"]).mean_of("nDCG@2")
    0.630929...
    """

    paper = JARVELIN

    nil: str | None = nil_parameter(TREC_2001)
    alias: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alias not in ("", "nDCG_0"):
            raise InputError(f"{self.alias!r} is not another name for nDCG", remedy="write nDCG or nDCG_0")

    @property
    def name(self) -> str:
        """``nDCG``, or the other name under which it was requested."""
        return self.alias or "nDCG"

    def gain(self, labels: Floats, gains: Gains) -> Floats:
        """The gain, negative ones as 0."""
        return positive(super().gain(labels, gains))

    def bounds(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """0 and the ideal order."""
        return np.zeros(len(pool)), ideal_sublist(pool, gains, self.k, self.base)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """nDCG@k; with ``nil``, a NIL document is the one answer (gain 1) of a query that has none."""
        if self.nil is None:
            return super().per_query(judged)
        shifted, nil_rank = judged.ranks_with_nil(self.nil)
        value = super().per_query(shifted).numerator
        gain = positive((self.gains or judged.gains)(judged.pool.labels))
        right = (judged.pool.sum(gain) == 0) & (nil_rank > 0)
        right &= nil_rank <= (self.k or nil_rank)
        found = discounted(np.ones(len(nil_rank)), np.maximum(nil_rank, 1), self.base)
        return PerQuery(np.where(right, found, value))

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries without a good document; with ``nil`` none, because NIL can still be right or missing."""
        return super().degenerate(pool, gains) if self.nil is None else None

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """E[DCG@k] over the ideal DCG@k."""
        lower, upper = self.bounds(pool, gains)
        return ratio(DCG(k=self.k, base=self.base).expectation(pool, gains), upper, flat(lower, upper))

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """1, or 0 if nothing is relevant."""
        return (~flat(*self.bounds(pool, gains))).astype(np.float64)


class nDCG_org(Normalised):
    r"""nDCG with negative gains counted in both parts: unbounded (NDCG_org of Gienapp et al. 2020).

    .. math:: nDCG_{org}@k = \frac{DCG@k}{I_k} \quad (0 \text{ where } I_k = 0)

    It can fall below 0, and if the ideal itself is negative, a worse list scores higher, even above 1.
    The other normalisations repair this flaw.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"b": 2}}, ["nDCG_org@2"]).mean_of("nDCG_org@2")
    -0.730422...
    """

    about_forbidden = True
    paper = PAPER_4

    def bounds(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """0 and the ideal order of the whole pool."""
        return np.zeros(len(pool)), ideal(pool, gains, self.k, self.base)


class nDCG_min(Normalised):
    r"""nDCG between the worst and the best order of the whole pool (Gienapp et al. 2020).

    .. math:: nDCG_{min}@k = \frac{DCG@k - W_k}{I_k - W_k} \quad (0 \text{ where } I_k = W_k)

    It is bounded if the whole pool is ranked, but not if documents may be left out: see ``UBQ``.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"a": 2, "b": 1}}, ["nDCG_min@2"]).mean_of("nDCG_min@2")
    1.0
    >>> evaluate({"q": {"a": 2, "b": -1}}, {"q": {"a": 2}}, ["nDCG_min@2"]).mean_of("nDCG_min@2")
    1.569837...
    """

    about_forbidden = True
    paper = PAPER_4

    def bounds(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """W_k and I_k."""
        return worst(pool, gains, self.k, self.base), ideal(pool, gains, self.k, self.base)


class nDCG_f(Normalised):
    r"""nDCG for lists that may leave documents out: between the worst and the best sublist (Carmel et al. 2022, Eq. 3).

    .. math:: nDCG_f@k = \frac{DCG@k - W_{k,f}}{I_{k,f} - W_{k,f}} \quad (0 \text{ where both are equal})

    The ideal sublist holds every document of gain >= 0, the worst one every document of gain <= 0, so
    the value is in [0, 1] whatever is filtered. The empty list scores 1 if all documents are forbidden.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 2, "b": -1}}
    >>> evaluate(qrels, {"q": {"a": 2}}, ["nDCG_f@2"]).mean_of("nDCG_f@2")
    1.0
    >>> evaluate(qrels, {"q": {"a": 2, "b": 1}}, ["nDCG_f@2"]).mean_of("nDCG_f@2")
    0.789690...
    """

    about_forbidden = True
    paper = PAPER_1

    def bounds(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """W_kf and I_kf."""
        return worst_sublist(pool, gains, self.k, self.base), ideal_sublist(pool, gains, self.k, self.base)
