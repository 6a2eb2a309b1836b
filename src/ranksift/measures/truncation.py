"""Measures for lists that end on purpose (Liu et al. 2016).

A terminal document is appended to each list. Its gain is the share of all gain that the list has
collected, or 1 if there is nothing to collect, so stopping in time is rewarded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.measures.classic import persistence
from ranksift.measures.cumulative import discounted, positive
from ranksift.measures.measure import Measure, PerQuery, gains_parameter, k_parameter, nil_parameter, ratio
from ranksift.parameters import choice, integer, optional, parameter

PAPER_2 = "Liu, Moffat, Baldwin, Zhang: Quit while ahead: evaluating truncated rankings, 2016"
C_AT_1 = "Peñas, Rodrigo: A simple measure to assess non-response, 2011"


class Ended(NamedTuple):
    """Lists with their terminal documents."""

    judged: JudgedRun
    gain: Floats
    """Gain of each entry, negative ones as 0."""
    length: Ints
    """d, the documents of each list."""
    total: Floats
    """R, the gain of each query's pool."""
    terminal: Floats
    """r_t, the gain of the terminal document; 0 if there is none."""
    stopped: NDArray[np.bool_]
    """Where the list ended on purpose, so that there is a terminal document."""
    ideal: Floats
    """Gains of the pool, best first."""


@dataclass(frozen=True, repr=False)
class QuitWhileAhead(Measure, abstract=True):
    """A measure of lists with a terminal document."""

    family = "truncation"
    paper = PAPER_2

    limit: int | None = parameter(
        None,
        optional(integer(1), example=5),
        """The length of the longest list allowed. A list that reaches it without NIL was cut off, not ended on purpose,
        and gets no terminal document. This is decided before unjudged documents are dropped.""",
    )
    nil: str | None = nil_parameter(
        """The id of a document that means "no more answers": the list ends there (the paper's Table 2). This
        is decided before unjudged documents are dropped."""
    )
    scale: str | None = parameter(
        None, optional(choice("max")), "'max' divides gains by the largest one of the collection."
    )
    gains: Gains | None = gains_parameter()

    def ended(self, judged: JudgedRun) -> Ended:
        """Append the terminal documents."""
        stopped = np.ones(len(judged), dtype=bool) if self.limit is None else judged.listed < self.limit
        if self.nil is not None:
            stopped = stopped | (judged.nil[self.nil] > 0)
            judged = judged.cut_at_nil(self.nil)
        gains = self.gains or judged.gains
        scale = (judged.pool.largest_gain(gains) or 1.0) if self.scale == "max" else 1.0
        gain = positive(judged.gain(gains)) / scale
        best = positive(judged.pool.best_first(gains)) / scale
        total = judged.pool.sum(best)
        share = np.where(total > 0, ratio(judged.sum(gain), total, total <= 0), 1.0)
        return Ended(judged, gain, judged.length, total, np.where(stopped, share, 0.0), stopped, best)

    def complaint(self, pool: Pool, gains: Gains) -> str | None:
        """A word of warning where gains exceed 1, which the paper's measures do not foresee."""
        most = pool.largest_gain(gains)
        if self.scale == "max" or most <= 1 or not self.assumes_unit_gains:
            return None
        return f'gains up to {most:g}, but [0, 1] is assumed: values may exceed 1; scale="max" divides by the largest'

    @property
    def assumes_unit_gains(self) -> bool:
        """Whether gains above 1 can push the value above 1."""
        return True


class RR_qwa(QuitWhileAhead):
    r"""Reciprocal rank of the first relevant document, or of the list's end if nothing is relevant (RR').

    .. math:: RR' = \frac{1}{\min\{i : r_i > 0\}}; \quad \frac{1}{d+1} \text{ where } R = 0

    Examples
    --------
    >>> from ranksift import evaluate
    >>> run = {"q": {"a": 2, "b": 1}}
    >>> evaluate({"q": {"a": 0}}, run, ["RR_qwa"]).mean_of("RR_qwa")
    0.3333333333333333
    """

    @property
    def assumes_unit_gains(self) -> bool:
        """Only the first relevant rank counts."""
        return False

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """1 / rank of the first gain, the terminal document's included."""
        e = self.ended(judged)
        first = np.full(len(judged), np.inf)
        hit = e.gain > 0
        np.minimum.at(first, e.judged.query[hit], e.judged.rank[hit])
        end = np.where(e.terminal > 0, e.length + 1.0, np.inf)
        return PerQuery(1.0 / np.minimum(first, end))


@dataclass(frozen=True, repr=False)
class P_qwa(QuitWhileAhead):
    r"""Precision of the list with its terminal document at rank d + 1.

    .. math:: P'@k = \frac{1}{k} \sum_{i=1}^{\min(k, d+1)} r_i, \quad r_{d+1} = r_t

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 2}}, ["P_qwa@2"]).mean_of("P_qwa@2")
    0.75
    """

    needs_k = True

    k: int | None = k_parameter()

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Gain in the top k, the terminal document's included, over k."""
        e = self.ended(judged)
        k = self.k or 1
        found = e.judged.sum(e.gain * (e.judged.rank <= k))
        return PerQuery((found + e.terminal * (e.length + 1 <= k)) / k)


@dataclass(frozen=True, repr=False)
class RBP_qwa(QuitWhileAhead):
    r"""Rank-biased precision in which every rank after the end has the terminal gain (RBP').

    .. math:: RBP' = (1-p) \sum_{i=1}^{d} r_i \, p^{i-1} + r_t \, p^d

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> evaluate(qrels, {"q": {"a": 3, "b": 2}}, ["RBP_qwa(p=0.5)"]).mean_of("RBP_qwa(p=0.5)")
    0.9166666666666666
    """

    shown = ("p",)

    p: float = persistence(0.5)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Weighted gain plus the residual's share."""
        e = self.ended(judged)
        inside = (1.0 - self.p) * e.judged.sum(e.gain * self.p ** (e.judged.rank - 1.0))
        return PerQuery(inside + e.terminal * self.p ** e.length.astype(np.float64))


class nDCG_qwa(QuitWhileAhead):
    r"""nDCG of the list with its terminal document, to depth d + 1 (NDCG').

    .. math:: NDCG' = \frac{DCG@(d+1)\langle r_1, \dots, r_d, r_t \rangle}{DCG_I@(d+1)}

    The ideal list has an additional gain of 1 after the positive ones if there are fewer than d + 1 of them.
    Without a terminal document it is nDCG@d, or 0 if there is nothing to find.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> run = {"q": {"a": 3, "x": 2, "b": 1}}
    >>> round(evaluate(qrels, run, ["nDCG_qwa"]).mean_of("nDCG_qwa"), 3)
    0.698
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """DCG of the extended list over that of the extended ideal."""
        e = self.ended(judged)
        pool = judged.pool
        depth = e.length + e.stopped
        value = e.judged.sum(discounted(e.gain, e.judged.rank)) + discounted(e.terminal, e.length + 1)
        at_best = pool.sum(np.where(pool.position <= depth[pool.query], discounted(e.ideal, pool.position), 0.0))
        answers = pool.sum(e.ideal > 0)
        at_best += np.where(
            e.stopped & (answers < depth), discounted(np.ones(len(pool)), answers.astype(np.int64) + 1), 0.0
        )
        return PerQuery(ratio(value, at_best, at_best <= 0))


class AP_qwa(QuitWhileAhead):
    r"""Average precision of the list with its terminal document (AP').

    .. math:: AP' = \frac{1}{R+1} \sum_{i=1}^{d+1} r_i \frac{\sum_{j \le i} r_j}{i}, \quad r_{d+1} = r_t

    Without a terminal document it is AP over R, or 0 if there is nothing to find.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    >>> round(evaluate(qrels, {"q": {"a": 3, "b": 2}}, ["AP_qwa"]).mean_of("AP_qwa"), 3)
    0.648
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Graded precisions at each gain, the terminal document's included."""
        e = self.ended(judged)
        so_far = e.judged.running(np.add, e.gain)
        value = e.judged.sum(e.gain * so_far / e.judged.rank)
        value += e.terminal * (e.judged.sum(e.gain) + e.terminal) / (e.length + 1)
        bottom = e.total + e.stopped
        return PerQuery(ratio(value, bottom, bottom <= 0))


@dataclass(frozen=True, repr=False)
class c_at_1(Measure):
    r"""Accuracy of first answers if not answering is better than a wrong answer (c@1).

    .. math:: c@1 = \frac{1}{n} \left(n_{ac} + n_u \frac{n_{ac}}{n}\right)

    A query counts 1 if the first document has gain > 0, and 0 if it has not. If the list is empty, it counts
    the share of correct answers among all queries.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 1}, "r": {"b": 1}}
    >>> evaluate(qrels, {"q": {"a": 1}}, ["c_at_1"]).mean_of("c_at_1")
    0.75
    """

    family = "truncation"
    paper = C_AT_1

    nil: str | None = nil_parameter('The id of a document that means "no answer": the list ends there.')
    gains: Gains | None = gains_parameter()

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Correct (numerator) and answered (denominator)."""
        if self.nil is not None:
            judged = judged.cut_at_nil(self.nil)
        correct = judged.sum((judged.rank == 1) & (judged.gain(self.gains) > 0))
        return PerQuery(correct, (judged.length > 0).astype(np.float64))

    def values(self, numerator: Floats, denominator: Floats) -> Floats:
        """1, 0, or the share of correct answers."""
        share = numerator.mean(axis=-1, keepdims=True)
        return np.where(denominator > 0, numerator, share)
