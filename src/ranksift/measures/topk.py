"""Measures for an ordered top k as ground truth (Niu et al. 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.measures.classic import ERR, largest_label, satisfaction
from ranksift.measures.cumulative import dcg_of_list, dcg_of_pool
from ranksift.measures.measure import Measure, PerQuery, flat, k_parameter, ratio
from ranksift.parameters import integer

PAPER_5 = "Niu, Guo, Lan, Cheng: Top-k learning to rank: labeling, ranking and evaluation, 2012"


def topk_labels(order: Sequence[str], k: int) -> dict[str, int]:
    """Labels of an ordered list: k for the first document, then k - 1, …, 1, and 0 after the k-th.

    Examples
    --------
    >>> topk_labels(["d7", "d2", "d5", "d1"], k=2)
    {'d7': 2, 'd2': 1, 'd5': 0, 'd1': 0}
    """
    integer(1).check("k", k, 10)
    if not isinstance(order, Sequence | np.ndarray):  # a text is a sequence too, of documents with one letter
        what = f"the order is {type(order).__name__}, and not a list of documents"
        raise InputError(what, remedy='write ["d7", "d2"], the best first')
    try:
        labels = {doc: max(k - place, 0) for place, doc in enumerate(order)}
    except TypeError:
        raise InputError("a document of the order has no id", remedy="name documents by strings") from None
    if len(labels) < len(order):
        twice = next(d for i, d in enumerate(order) if d in order[:i])
        raise InputError(f"document {twice!r} occurs twice in the order", remedy="name each document once")
    return labels


@dataclass(frozen=True, repr=False)
class kNDCG(Measure):
    r"""κ-NDCG: nDCG with gains 2^y - 1 on the position labels y of an ordered top k; ``gains`` do not apply.

    .. math:: \kappa NDCG@l = \frac{1}{N'_l} \sum_{j=1}^{l} \frac{2^{y_j} - 1}{\log_2(1 + j)}

    Examples
    --------
    >>> from ranksift import evaluate, topk_labels
    >>> qrels = {"q": topk_labels(["a", "b", "c"], k=2)}
    >>> evaluate(qrels, {"q": {"a": 3, "b": 2, "c": 1}}, ["kNDCG@2"]).mean_of("kNDCG@2")
    1.0
    """

    family = "topk"
    paper = PAPER_5

    k: int | None = k_parameter()

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """DCG over its ideal, both scaled by 2^-y_max so that long orders do not overflow."""
        pool, most = judged.pool, largest_label(judged.pool)
        gain = satisfaction(np.maximum(judged.label, 0.0), most[judged.query])
        best = np.maximum(pool.labels, 0.0)[np.lexsort((-pool.labels, pool.query))]
        ideal = dcg_of_pool(pool, satisfaction(best, most[pool.query]), self.k)
        return PerQuery(ratio(dcg_of_list(judged, gain, self.k), ideal, ideal <= 0))

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries without a positive label."""
        most = largest_label(pool)
        return flat(np.zeros(len(most)), most)


class kERR(Measure):
    r"""κ-ERR: expected reciprocal rank on the position labels of an ordered top k; ``gains`` do not apply.

    .. math:: \kappa ERR = \sum_{s} \frac{R_s}{s} \prod_{t<s} (1 - R_t), \quad R_s = \frac{2^{y_s} - 1}{2^{y_{max}}}

    y_max is the query's largest label. (The paper prints 1/n but means 1/s.)

    Examples
    --------
    >>> from ranksift import evaluate, topk_labels
    >>> qrels = {"q": topk_labels(["a", "b", "c"], k=2)}
    >>> evaluate(qrels, {"q": {"a": 3, "b": 2, "c": 1}}, ["kERR"]).mean_of("kERR")
    0.78125
    """

    family = "topk"
    paper = PAPER_5

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The cascade with each query's own largest label."""
        return _BY_QUERY.per_query(judged)

    def contributions(self, judged: JudgedRun) -> Floats:
        """Those of ERR."""
        return _BY_QUERY.contributions(judged)

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries without a positive label."""
        return _BY_QUERY.degenerate(pool, gains)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """That of ERR."""
        return _BY_QUERY.expectation(pool, gains)

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """That of ERR."""
        return _BY_QUERY.perfection(pool, gains)


#: κ-ERR is ERR with each query's own largest label as the largest grade.
_BY_QUERY = ERR(max_grade="query")
