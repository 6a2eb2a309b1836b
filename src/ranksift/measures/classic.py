"""The classic measures, with trec_eval's values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.measures.measure import TREC_2001, Measure, PerQuery, gains_parameter, k_parameter, nil_parameter, ratio
from ranksift.parameters import choice, either, flag, number, optional, parameter

TREC_EVAL = "trec_eval (Buckley, Voorhees)"
MOFFAT_ZOBEL = "Moffat, Zobel: Rank-biased precision for measurement of retrieval effectiveness, 2008"
CHAPELLE = "Chapelle, Metzler, Zhang, Grinspan: Expected reciprocal rank for graded relevance, 2009"


#: The AP that a query has at least in a geometric mean, as in trec_eval.
LEAST_AP = 1e-5


class Hits(NamedTuple):
    """The relevant documents retrieved: query and rank of each, and its number within its query (from 1)."""

    query: Ints
    rank: Ints
    nth: Ints
    relevant: Ints
    """Relevant documents of each query, retrieved or not."""
    length: Ints
    """Documents of each list, NIL included where it counts."""

    def sum(self, values: NDArray[np.generic]) -> Floats:
        """Sum over each query's hits."""
        return ragged.sums(values, self.query, len(self.relevant))

    def within(self, k: int | None) -> NDArray[np.bool_]:
        """Which hits are in the top k."""
        return np.ones(len(self.rank), dtype=bool) if k is None else self.rank <= k

    def first(self, k: int | None) -> NDArray[np.bool_]:
        """Which hits are the first of their query, in the top k."""
        return np.where(self.nth == 1, self.within(k), False)


@dataclass(frozen=True, repr=False)
class Binary(Measure, abstract=True):
    """A measure of which documents are relevant: those with label >= ``rel``."""

    family = "classic"
    paper = TREC_EVAL

    rel: float = parameter(1, number(), "The smallest label that counts as relevant.")

    def worth(self, labels: Floats, gains: Gains) -> Floats:
        """1 for the smallest relevant label, more for larger ones; the gain where it has gains of its own."""
        if self.gains is not None:
            return super().worth(labels, gains)
        return np.where(labels >= self.rel, labels - self.rel + 1.0, 0.0)

    def relevant(self, pool: Pool) -> Ints:
        """Relevant documents of each query."""
        return pool.count(lambda label: label >= self.rel)

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries without a relevant document; with ``nil`` none, because NIL can still be right or missing."""
        return pool.count(lambda label: self.worth(label, gains) > 0) == 0 if self.nil is None else None

    def hits(self, judged: JudgedRun) -> Hits:
        """Relevant documents retrieved.

        With a ``nil`` parameter, the NIL document is the one relevant document of a query that has none
        (the TREC 2001 rule), and irrelevant elsewhere.
        """
        relevant = self.relevant(judged.pool)
        nil_rank = None
        if self.nil is not None:
            judged, nil_rank = judged.ranks_with_nil(self.nil)
        hit = judged.label >= self.rel
        query, rank = judged.query[hit], judged.rank[hit]
        if nil_rank is not None:
            unanswerable = relevant == 0
            found = np.flatnonzero(unanswerable & (nil_rank > 0))
            order = np.argsort(np.concatenate((query, found)), kind="stable")
            query = np.concatenate((query, found))[order]
            rank = np.concatenate((rank, nil_rank[found]))[order]
            relevant = np.where(unanswerable, 1, relevant)
        nth = ragged.positions(np.bincount(query, minlength=len(judged))) + 1
        return Hits(query, rank, nth, relevant, judged.length)

    def share(self, pool: Pool) -> Floats:
        """The share of each query's pool that is relevant."""
        return self.relevant(pool) / np.maximum(pool.size, 1)


class SumOfHits(Binary, abstract=True):
    """A measure to which each relevant document retrieved adds something."""

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """What each hit adds, before the division."""
        raise NotImplementedError

    def divisor(self, hits: Hits) -> Ints:
        """What the sum of each query is divided by: its relevant documents."""
        return hits.relevant

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The sum over the hits, divided."""
        hits = self.hits(judged)
        return PerQuery(over(hits.sum(self.credit(hits)), self.divisor(hits)))

    def contributions(self, judged: JudgedRun) -> Floats | None:
        """The share of each hit in its query's sum; None with ``nil``, where a document without label may be a hit."""
        if self.nil is not None:
            return None
        hits, out = self.hits(judged), np.zeros(len(judged.label))
        out[judged.label >= self.rel] = over(self.credit(hits), self.divisor(hits)[hits.query])
        return out


def over(numerator: NDArray[np.generic], count: Ints) -> Floats:
    """Divide by a count, with 0 if it is 0."""
    return ratio(numerator.astype(np.float64), count.astype(np.float64), count == 0)


def depth(pool: Pool, k: int | None) -> Ints:
    """How many ranks of the top k a ranking of the whole pool fills."""
    return pool.size if k is None else np.minimum(pool.size, k)


def unseen(pool: Pool, relevant: Ints) -> Floats:
    """For each position of each pool the chance that a random ranking shows nothing relevant down to it."""
    before = pool.position - 1
    left = pool.size[pool.query] - before
    return ragged.accumulate(np.multiply, np.maximum(left - relevant[pool.query], 0) / left, pool.offsets)


def persistence(default: float) -> Any:
    """Declare ``p``."""
    return parameter(default, number(above=0, below=1), "The probability that the user continues to the next rank.")


@dataclass(frozen=True, repr=False)
class P(SumOfHits):
    r"""Precision: the share of the top k that is relevant; without k, of the whole list.

    .. math:: P@k = \frac{1}{k} \sum_{i=1}^{k} [l_i \ge rel]

    The divisor is k even for shorter lists.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 2, "b": 1}}, ["P@5"]).mean_of("P@5")
    0.2
    """

    k: int | None = k_parameter()
    nil: str | None = nil_parameter(TREC_2001)

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """1 in the top k."""
        return hits.within(self.k)

    def divisor(self, hits: Hits) -> Ints:
        """k, or the list's length."""
        return hits.length if self.k is None else np.full(len(hits.length), self.k)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """The relevant share of the pool, times the ranks it fills over k."""
        return self.share(pool) * (1.0 if self.k is None else depth(pool, self.k) / self.k)

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """min(k, R) / k."""
        return self.share(pool) if self.k is None else np.minimum(self.relevant(pool), self.k) / self.k


@dataclass(frozen=True, repr=False)
class R(SumOfHits):
    r"""Recall: the share of the relevant documents that are in the top k.

    .. math:: R@k = \frac{1}{R} \sum_{i=1}^{k} [l_i \ge rel]

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "c": 2}}, {"q": {"a": 2, "b": 1}}, ["R@10"]).mean_of("R@10")
    0.5
    """

    k: int | None = k_parameter()

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """1 in the top k."""
        return hits.within(self.k)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """The share of the pool that the top k shows."""
        return over(depth(pool, self.k) * (self.relevant(pool) > 0), pool.size)

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """min(k, R) / R."""
        relevant = self.relevant(pool)
        return over(np.minimum(relevant, relevant if self.k is None else self.k).astype(float), relevant)


@dataclass(frozen=True, repr=False)
class AP(SumOfHits):
    r"""Average precision: precision at each relevant document in the top k, averaged over all relevant documents.

    .. math:: AP@k = \frac{1}{R} \sum_{i=1}^{k} [l_i \ge rel] \, P@i

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "c": 1}}, {"q": {"b": 3, "a": 2, "c": 1}}, ["AP"]).mean_of("AP")
    0.5833333333333333
    """

    k: int | None = k_parameter()
    nil: str | None = nil_parameter(TREC_2001)

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """The precision at the n-th hit, n / rank, in the top k."""
        return np.where(hits.within(self.k), hits.nth / hits.rank, 0.0)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """The exact expected sum of precisions over R."""
        relevant = self.relevant(pool)
        return over(expected_sum_of_precisions(pool, relevant, self.k), relevant)

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """min(k, R) / R."""
        return R(rel=self.rel, k=self.k).perfection(pool, gains)


def expected_sum_of_precisions(pool: Pool, relevant: Ints, k: int | None) -> Floats:
    r"""Expected sum of precisions of a random ranking: sum over i of (p/i)(1 + (i-1)(R-1)/(n-1)).

    Rank i is relevant with probability p = R/n, and then each of the i - 1 ranks above it with (R-1)/(n-1).
    """
    i, n, r = pool.position, pool.size[pool.query], relevant[pool.query]
    others = (i - 1) * (r - 1) / np.maximum(n - 1, 1)
    term = r / n / i * (1.0 + others)
    return pool.sum(term if k is None else np.where(i <= k, term, 0.0))


class GMAP(Binary):
    r"""Geometric mean of average precision: queries with a low AP count more than in the mean.

    .. math:: GMAP = \exp\left(\frac{1}{|Q|} \sum_q \log \max(10^{-5}, AP_q)\right)

    The value of a single query is its AP. As in trec_eval, an AP below 0.00001 counts as 0.00001.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1}, "r": {"x": 2, "b": 1}}
    >>> evaluate(qrels, run, ["GMAP"]).mean_of("GMAP")
    0.7071...
    """

    aggregation = "geometric"

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """AP."""
        return AP(rel=self.rel).per_query(judged)

    def contributions(self, judged: JudgedRun) -> Floats | None:
        """Those to AP."""
        return AP(rel=self.rel).contributions(judged)

    def aggregate(self, numerator: Floats, denominator: Floats) -> Floats:
        """The mean of logarithms."""
        values = np.maximum(self.values(numerator, denominator), LEAST_AP)
        return np.asarray(np.exp(np.log(values).mean(axis=-1)))


class infAP(Binary):
    r"""Inferred average precision: an estimate of AP from a pool of which only a random part was judged.

    .. math:: infAP = \frac{1}{R} \sum_{i : l_i \ge rel} \left(\frac{1}{i} + \frac{d_i}{i} \cdot
              \frac{r_i + \epsilon}{r_i + n_i + 2 \epsilon}\right)

    Above rank i, r_i documents are relevant, n_i are judged irrelevant (their label is at least 0 and below ``rel``),
    and d_i are in the pool: these, and documents with a negative label, which here marks documents in the pool that
    were not judged. ε is 0.00001.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 1, "b": 0, "c": -1, "d": 1}}
    >>> evaluate(qrels, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}, ["infAP"]).mean_of("infAP")
    0.8125
    """

    paper = "Yilmaz, Aslam: Estimating average precision with incomplete and imperfect judgments, 2006"

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The expected precision above each hit, averaged as in AP."""
        hit = judged.label >= self.rel
        irrelevant = (judged.label >= 0) & ~hit
        relevant_above = judged.running(np.add, hit.astype(np.float64)) - hit
        irrelevant_above = judged.running(np.add, irrelevant.astype(np.float64)) - irrelevant
        pooled_above = judged.running(np.add, np.ones(len(hit))) - 1.0
        share = (relevant_above + 1e-5) / (relevant_above + irrelevant_above + 2e-5)
        expected = (1.0 + pooled_above * share) / judged.rank
        return PerQuery(over(judged.sum(np.where(hit, expected, 0.0)), self.relevant(judged.pool)))


@dataclass(frozen=True, repr=False)
class RR(SumOfHits):
    r"""Reciprocal rank of the first relevant document; 0 if none is in the top k.

    .. math:: RR@k = \frac{1}{\min\{i \le k : l_i \ge rel\}}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"b": 3, "a": 2}}, ["RR"]).mean_of("RR")
    0.5
    """

    k: int | None = k_parameter()
    nil: str | None = nil_parameter(TREC_2001)

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """1 / rank of the first hit, in the top k."""
        return np.where(hits.first(self.k), 1.0 / hits.rank, 0.0)

    def divisor(self, hits: Hits) -> Ints:
        """1."""
        return np.ones_like(hits.relevant)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """Sum over i of 1/i times the chance that the first relevant document is at i."""
        after = unseen(pool, self.relevant(pool))
        before = np.where(pool.position == 1, 1.0, np.roll(after, 1))
        term = (before - after) / pool.position
        return pool.sum(term if self.k is None else np.where(pool.position <= self.k, term, 0.0))

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """1 if anything is relevant."""
        return (self.relevant(pool) > 0).astype(np.float64)


class Rprec(SumOfHits):
    r"""R-precision: precision at rank R, the number of relevant documents.

    .. math:: Rprec = P@R

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "c": 1}}, {"q": {"b": 3, "a": 2, "c": 1}}, ["Rprec"]).mean_of("Rprec")
    0.5
    """

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """1 in the top R."""
        return hits.rank <= hits.relevant[hits.query]


class Bpref(Binary):
    r"""Binary preference: how rarely judged irrelevant documents are ranked above relevant ones.

    .. math:: Bpref = \frac{1}{R} \sum_{r} \left(1 - \frac{\min(n_r, R)}{\min(N, R)}\right)

    The sum is over the relevant documents retrieved; n_r documents judged irrelevant are above r, and N are judged
    irrelevant in all. Unjudged documents and negative labels are skipped, as in trec_eval.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}, ["Bpref"]).mean_of("Bpref")
    0.5
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Mean over the relevant documents of what stands above them."""
        relevant = self.relevant(judged.pool)
        irrelevant = judged.pool.count(lambda label: (label >= 0) & (label < self.rel))
        hit = judged.label >= self.rel
        above = judged.running(np.add, ((judged.label >= 0) & ~hit).astype(np.float64))
        most = np.minimum(irrelevant, relevant)[judged.query]
        lost = np.minimum(above, relevant[judged.query]) / np.maximum(most, 1)
        return PerQuery(over(judged.sum(np.where(hit, 1.0 - lost, 0.0)), relevant))


@dataclass(frozen=True, repr=False)
class Success(SumOfHits):
    r"""1 if there is a relevant document in the top k.

    .. math:: Success@k = [\exists i \le k : l_i \ge rel]

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"b": 3, "a": 2}}, ["Success@1"]).mean_of("Success@1")
    0.0
    """

    k: int | None = k_parameter()

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """1 for the first hit, in the top k."""
        return hits.first(self.k)

    def divisor(self, hits: Hits) -> Ints:
        """1."""
        return np.ones_like(hits.relevant)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """One minus the chance that the first min(k, n) ranks are all irrelevant."""
        last = pool.position == depth(pool, self.k)[pool.query]
        return pool.sum(np.where(last, 1.0 - unseen(pool, self.relevant(pool)), 0.0))

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """1 if anything is relevant."""
        return (self.relevant(pool) > 0).astype(np.float64)


@dataclass(frozen=True, repr=False)
class RBP(SumOfHits):
    r"""Rank-biased precision: the expected gain of a user who continues to the next rank with probability p.

    .. math:: RBP = (1-p) \sum_{i \ge 1} r_i \, p^{i-1}

    It is binary (label >= ``rel``) unless it has gains.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> run = {"q": {"b": 3, "a": 2}}
    >>> evaluate({"q": {"a": 1}}, run, ["RBP(p=0.5)"]).mean_of("RBP(p=0.5)")
    0.25
    >>> evaluate({"q": {"a": 1}}, run, ["RBP(p=0.5, residual=True)"]).mean_of("RBP(p=0.5, residual=True)")
    0.75
    """

    paper = MOFFAT_ZOBEL
    shown = ("p",)

    p: float = persistence(0.8)
    k: int | None = k_parameter()
    gains: Gains | None = gains_parameter("Makes it graded: each gain (negative ones as 0) divided by the largest.")
    over: str = parameter(
        "collection",
        choice("collection", "query"),
        "Where the largest gain is looked up: in the 'collection' or, as in trec_eval, in each 'query' separately.",
    )
    residual: bool = parameter(
        False,
        flag(),
        """Compute the residual instead: the weight of all ranks that are unjudged or beyond the list, by
        which the value could still grow.""",
    )
    nil: str | None = nil_parameter(TREC_2001)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Weighted sum over the hits, or over all entries where it is graded."""
        if self.residual:
            return PerQuery(1.0 - self._known(judged))
        return super().per_query(judged) if self.gains is None else PerQuery(self._graded(judged))

    def credit(self, hits: Hits) -> NDArray[np.generic]:
        """The weight of its rank, in the top k."""
        return self.weight(hits.rank, hits.within(self.k))

    def divisor(self, hits: Hits) -> Ints:
        """1."""
        return np.ones_like(hits.relevant)

    def contributions(self, judged: JudgedRun) -> Floats | None:
        """The weight of each hit, or the weighted gain of each entry; None for the residual and with ``nil``."""
        if self.residual or self.nil is not None:
            return None
        return super().contributions(judged) if self.gains is None else self._weighted(judged)

    def weight(self, rank: Ints, inside: NDArray[np.bool_]) -> Floats:
        """(1 - p) p^(rank - 1) of the ranks that count."""
        return np.where(inside, (1.0 - self.p) * self.p ** (rank - 1.0), 0.0)

    def _known(self, judged: JudgedRun) -> Floats:
        """Weight of the ranks whose gain is known: that of a NIL document always is."""
        nil_rank = np.zeros(len(judged), dtype=np.int64)
        if self.nil is not None:
            judged, nil_rank = judged.ranks_with_nil(self.nil)
        depth = self.k or np.inf
        nil = self.weight(nil_rank, (nil_rank > 0) & (nil_rank <= depth))
        return judged.sum(self.weight(judged.rank, judged.rank <= depth)) + nil

    def _weighted(self, judged: JudgedRun) -> Floats:
        gain = np.maximum(judged.gain(self.gains), 0.0) / self._most(judged.pool)[judged.query]
        return gain * self.weight(judged.rank, judged.rank <= (self.k or np.inf))

    def _graded(self, judged: JudgedRun) -> Floats:
        assert self.gains is not None
        nil_rank = None
        if self.nil is not None:
            judged, nil_rank = judged.ranks_with_nil(self.nil)
        value = judged.sum(self._weighted(judged))
        if nil_rank is not None:
            answers = judged.pool.sum(np.maximum(self.gains(judged.pool.labels), 0.0))
            right = (answers == 0) & (nil_rank > 0) & (nil_rank <= (self.k or np.inf))
            value = np.where(right, self.weight(nil_rank, right), value)
        return value

    def _most(self, pool: Pool) -> Floats:
        """The gain that counts 1 in each query."""
        assert self.gains is not None
        most = np.zeros(len(pool))
        if self.over == "query":
            np.maximum.at(most, pool.query, self.gains(pool.labels))
        else:
            most[:] = pool.largest_gain(self.gains)
        return np.where(most > 0, most, 1.0)

    def expectation(self, pool: Pool, gains: Gains) -> Floats | None:
        """The relevant share of the pool times the weight of the ranks it fills."""
        if self.gains is not None or self.residual:
            return None
        return self.share(pool) * (1.0 - self.p ** depth(pool, self.k))

    def perfection(self, pool: Pool, gains: Gains) -> Floats | None:
        """The weight of the first min(k, R) ranks."""
        if self.gains is not None or self.residual:
            return None
        relevant = self.relevant(pool)
        return np.asarray(1.0 - self.p ** np.minimum(relevant, relevant if self.k is None else self.k))


def cascade(judged: JudgedRun, satisfaction: Floats, k: int | None) -> Floats:
    r"""Each entry's part in the expected reciprocal rank of the user's stop: R_i / i times all (1 - R_j) above it."""
    value = _stops(satisfaction, judged.offsets) / judged.rank
    return value if k is None else np.where(judged.rank <= k, value, 0.0)


def perfect_cascade(pool: Pool, satisfaction: Floats, k: int | None) -> Floats:
    """The cascade of each pool's best order: that by satisfaction, as no swap of two neighbours there gains."""
    best = satisfaction[np.lexsort((-satisfaction, pool.query))]
    value = _stops(best, pool.offsets) / pool.position
    return pool.sum(value if k is None else np.where(pool.position <= k, value, 0.0))


def _stops(satisfaction: Floats, offsets: Ints) -> Floats:
    """The chance that the user stops at each entry, and at none above it."""
    stay = ragged.accumulate(np.multiply, 1.0 - satisfaction, offsets)
    first = np.zeros(len(stay), dtype=bool)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    return np.where(first, 1.0, np.roll(stay, 1)) * satisfaction


def expected_cascade(pool: Pool, satisfaction: Floats, k: int | None) -> Floats:
    r"""Expected cascade of a random order of each pool: sum over r of (ē_{r-1} - ē_r) / r.

    ē_r = e_r(1 - R) / C(n, r) is the mean, over all sets of r documents, of the product of 1 - R: the chance that a
    random order's user goes on behind rank r. The elementary symmetric sums themselves overflow, and the difference of
    two means cancels. So both the chance to see rank r, ē_{r-1}, and the chance to stop there, ē_{r-1} - ē_r, are
    built up from one document more at a time. A document that is put into a random place among m is at rank r with
    probability 1/m, above it with (r - 1)/m and below it with (m - r)/m. All terms are positive: nothing cancels.
    """
    out = np.zeros(len(pool))
    ranks = depth(pool, k)
    can_stop = satisfaction > 0
    stops = ragged.counts(can_stop, pool.query, len(pool))
    first = ragged.offsets_of(stops)
    stopping = satisfaction[can_stop]
    for alike in ragged.of_about_one_length(np.where(stops > 0, ranks, 0)):
        queries = alike[np.argsort(-stops[alike], kind="stable")]  # those that still have a document stand in front
        at_once = max(1, _CELLS // int(ranks[queries].max()))
        for some in (queries[i : i + at_once] for i in range(0, len(queries), at_once)):
            r = np.arange(1.0, ranks[some].max() + 1)
            # If no user stops at some documents, every rank that they can fill is seen.
            seen = (r <= (pool.size - stops)[some, None] + 1).astype(np.float64)
            stop = np.zeros_like(seen)
            for j in range(int(stops[some[0]])):
                there = np.count_nonzero(stops[some] > j)
                here = some[:there]
                chance = stopping[first[here] + j][:, None]
                m = (pool.size - stops)[here, None] + j + 1.0
                above = (r[1:] - 1.0) * (1.0 - chance)
                stop[:there] = (m - r) * stop[:there] + chance * seen[:there] + _behind(above, stop[:there])
                seen[:there] = (m - r + 1.0) * seen[:there] + _behind(above, seen[:there])
                stop[:there] /= m
                seen[:there] /= m
            # Rank after rank: the sum must not depend on how long the longest list is.
            out[some] = np.cumsum(np.where(r <= ranks[some, None], stop / r, 0.0), axis=1)[:, -1]
    return out


#: Numbers of a matrix of queries and ranks that are held at once.
_CELLS = 2**21


def _behind(weight: Floats, chance: Floats) -> Floats:
    """Weighted chances of the rank before; nothing is before the first."""
    return np.pad(weight * chance[:, :-1], ((0, 0), (1, 0)))


@dataclass(frozen=True, repr=False)
class ERR(Measure):
    r"""Expected reciprocal rank: the user stops at a document with probability (2^label - 1) / 2^max.

    .. math:: ERR@k = \sum_{i=1}^{k} \frac{R_i}{i} \prod_{j<i} (1 - R_j), \quad
              R_i = \frac{2^{\max(0, l_i)} - 1}{2^{max\_grade}}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 3, "a": 2}}, ["ERR@10"]).mean_of("ERR@10")
    0.25
    """

    family = "classic"
    paper = CHAPELLE

    k: int | None = k_parameter()
    max_grade: float | str | None = parameter(
        None,
        optional(either(number(above=0), choice("query")), example=4),
        """The largest grade: None for the largest label of the collection, a number (gdeval uses 4), or 'query' for the
        largest label of each query.""",
    )

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The cascade of satisfied users."""
        return PerQuery(judged.sum(self.contributions(judged)))

    def contributions(self, judged: JudgedRun) -> Floats:
        """The chance that the user stops at each entry, over its rank."""
        return cascade(judged, self.satisfaction(judged.label, judged.query, judged.pool), self.k)

    def satisfaction(self, labels: Floats, query: Ints, pool: Pool) -> Floats:
        """The probability with which the user stops at documents of these labels, each of its query."""
        if self.max_grade == "query":
            most = largest_label(pool)[query]
        else:
            grade = pool.largest_label if self.max_grade is None else float(self.max_grade)
            if pool.largest_label > grade:
                raise InputError(
                    f"label {pool.largest_label:g} is above {self}'s largest grade {grade:g}",
                    remedy="raise max_grade",
                )
            most = np.full(len(labels), grade)
        return satisfaction(np.maximum(labels, 0.0), most)

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries without a positive label."""
        return np.asarray(largest_label(pool) == 0)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """The expected cascade of a random order."""
        return expected_cascade(pool, self.satisfaction(pool.labels, pool.query, pool), self.k)

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """The cascade of the order by label."""
        return perfect_cascade(pool, self.satisfaction(pool.labels, pool.query, pool), self.k)


def satisfaction(label: Floats, most: Floats) -> Floats:
    """(2^label - 1) / 2^most, without overflow."""
    return np.exp2(label - most) - np.exp2(-most)


def largest_label(pool: Pool) -> Floats:
    """Each query's largest label, 0 if none is positive."""
    out = np.zeros(len(pool))
    np.maximum.at(out, pool.query, pool.labels)
    return out


class NumRet(Measure):
    r"""Documents retrieved (after dropping unjudged ones, if they are dropped); the aggregate is the sum.

    .. math:: NumRet = |list|

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"b": 3, "a": 2}}, ["NumRet"]).mean_of("NumRet")
    2.0
    """

    family = "classic"
    paper = TREC_EVAL
    aggregation = "sum"

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Length of each list."""
        return PerQuery(judged.length.astype(np.float64))


class NumRel(Binary):
    r"""Relevant documents judged; the aggregate is the sum.

    .. math:: NumRel = |\{d : l_d \ge rel\}|

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": -2}}, {"q": {}}, ["NumRel"]).mean_of("NumRel")
    1.0
    """

    aggregation = "sum"

    def degenerate(self, pool: Pool, gains: Gains) -> None:
        """None: it does not look at rankings at all."""

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Relevant documents of each pool."""
        return PerQuery(self.relevant(judged.pool).astype(np.float64))
