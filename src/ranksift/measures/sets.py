"""Lists without regard to their order: the relevant documents that they contain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranksift.collection.judged_run import JudgedRun
from ranksift.measures.classic import Binary, over
from ranksift.measures.measure import PerQuery, ratio
from ranksift.parameters import number, parameter

RIJSBERGEN = "van Rijsbergen: Information Retrieval, 2nd ed., 1979"


class NumRelRet(Binary):
    r"""Relevant documents retrieved; the aggregate is the sum.

    .. math:: NumRelRet = |\{i : l_i \ge rel\}|

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 3, "x": 2}}, ["NumRelRet"]).mean_of("NumRelRet")
    1.0
    """

    aggregation = "sum"

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Hits of each list."""
        hits = self.hits(judged)
        return PerQuery(hits.sum(np.ones(len(hits.rank))))


@dataclass(frozen=True, repr=False)
class SetF(Binary):
    r"""The F measure of a list as a set: the harmonic mean of its precision and its recall, weighted by ``beta``.

    .. math:: SetF = \frac{(1 + \beta^2) \, P \, R}{\beta^2 P + R}

    P and R are computed over the whole list, as ``SetP`` and ``SetR``. trec_eval's ``set_F`` uses the default, 1.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 3, "x": 2, "y": 1}}, ["SetF"]).mean_of("SetF")
    0.4
    """

    paper = RIJSBERGEN

    beta: float = parameter(1, number(above=0), "How much more recall counts than precision: 2 means twice as much.")

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The harmonic mean of found / shown and found / relevant."""
        hits = self.hits(judged)
        found = hits.sum(np.ones(len(hits.rank)))
        precision, recall = over(found, hits.length), over(found, hits.relevant)
        weight = float(self.beta) ** 2
        return PerQuery(ratio((1 + weight) * precision * recall, weight * precision + recall, found == 0))
