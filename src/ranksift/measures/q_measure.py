"""Sakai's Q-measure: average precision for graded labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Ints
from ranksift.measures.classic import over
from ranksift.measures.cumulative import positive
from ranksift.measures.measure import TREC_2001, Measure, PerQuery, gains_parameter, k_parameter, nil_parameter
from ranksift.parameters import number, parameter

SAKAI = "Sakai: New performance metrics based on multigrade relevance: their application to question answering, 2004"


@dataclass(frozen=True, repr=False)
class Q(Measure):
    r"""Q-measure: precision blended with cumulated gain, averaged over the documents of gain > 0.

    .. math:: Q@k = \frac{1}{R} \sum_{i=1}^{k} [g_i > 0] \frac{\beta \, cg(i) + |\{j \le i : g_j > 0\}|}
                                                          {\beta \, cg_I(i) + i}

    R is the number of documents of gain > 0, cg the cumulated gain of the list (negative gains as 0) and cg_I that of
    the ideal one. With ``beta=0`` it is average precision. ``nil`` makes it suitable for questions without an answer:
    for these, the ideal list is then a single NIL document with gain 1.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels = {"q": {"a": 2, "b": 1}, "no answer": {"c": 0}}
    >>> run = {"q": {"b": 3, "a": 2}, "no answer": {"c": 2, "NIL": 1}}
    >>> evaluate(qrels, run, ['Q(nil="NIL")']).values.round(3).tolist()
    [[[0.833], [0.667]]]
    """

    family = "classic"
    paper = SAKAI

    k: int | None = k_parameter()
    beta: float = parameter(1.0, number(least=0), "The weight of cumulated gain relative to precision.")
    gains: Gains | None = gains_parameter()
    nil: str | None = nil_parameter(TREC_2001)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Sum of the blended ratios of the answers found, over all answers."""
        pool, gains = judged.pool, self.gains or judged.gains
        nil_rank = np.zeros(len(judged), dtype=np.int64)
        if self.nil is not None:
            judged, nil_rank = judged.ranks_with_nil(self.nil)
        gain = positive(judged.gain(gains))
        at_best = ragged.accumulate(np.add, positive(pool.best_first(gains)), pool.offsets)
        last = np.minimum(judged.rank, pool.size[judged.query])  # the ideal list gains nothing beyond the pool
        cumulated, ideal = judged.running(np.add, gain), at_best[pool.offsets[judged.query] + last - 1]
        found = judged.running(np.add, (gain > 0).astype(np.float64))
        blended = (self.beta * cumulated + found) / (self.beta * ideal + judged.rank)
        depth = self.k or np.inf
        answers = self._answers(pool, gains)
        value = over(judged.sum(np.where((gain > 0) & (judged.rank <= depth), blended, 0.0)), answers)
        right = (answers == 0) & (nil_rank > 0) & (nil_rank <= depth)
        return PerQuery(np.where(right, (self.beta + 1.0) / (self.beta + np.maximum(nil_rank, 1)), value))

    def _answers(self, pool: Pool, gains: Gains) -> Ints:
        return pool.count(lambda label: gains(label) > 0)

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries without a document of positive gain; with ``nil`` none, because NIL can still be right or missing."""
        return self._answers(pool, self.gains or gains) == 0 if self.nil is None else None
