"""Precision by recall: the highest precision of a list that has found a given share of the relevant documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.ragged import Floats
from ranksift.measures.classic import Binary, Hits
from ranksift.measures.measure import PerQuery
from ranksift.parameters import number, parameter

#: The levels of recall of the usual curve.
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def best_from(hits: Hits, recall: float) -> Floats:
    """The highest precision of each list at a rank where it has found a share of all relevant documents, or later."""
    # As in trec_eval 10: the number of documents nearest to the share, up at a half.
    needed = np.floor(recall * hits.relevant + 0.5)
    precision = np.where(hits.nth >= needed[hits.query], hits.nth / hits.rank, 0.0)
    best = np.zeros(len(hits.relevant))
    np.maximum.at(best, hits.query, precision)
    return best


@dataclass(frozen=True, repr=False)
class IPrec(Binary):
    r"""Interpolated precision: the highest precision at any rank at which the list has reached a recall.

    .. math:: IPrec = \max_{i : R@i \ge recall} P@i

    The recall is rounded to a whole number of documents, as in trec_eval 10; older versions, and pytrec_eval,
    round up from 0.1 of a document. A list that does not reach it scores 0. ``IPrec@0.5`` is ``IPrec(recall=0.5)``.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 9, "a": 8, "b": 7}}
    >>> evaluate(qrels, run, ["IPrec@0.5"]).mean_of("IPrec(recall=0.5)")
    0.666...
    """

    shown = ("recall",)

    recall: float = parameter(0.5, number(least=0, most=1), "The share of the relevant documents that is found.")

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The maximum from there on."""
        return PerQuery(best_from(self.hits(judged), self.recall))


class AP_11pt(Binary):
    r"""Eleven-point average precision: the mean of the interpolated precision at recall 0, 0.1, …, 1.

    .. math:: AP_{11pt} = \frac{1}{11} \sum_{r \in \{0, 0.1, \dots, 1\}} IPrec_r

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"x": 9, "a": 8}}, ["AP_11pt"]).mean_of("AP_11pt")
    0.5
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The mean over the levels of recall."""
        hits = self.hits(judged)
        # Added one after another: numpy's own sum goes another way if there is a single query.
        total = sum((best_from(hits, level) for level in LEVELS), np.zeros(len(hits.relevant)))
        return PerQuery(total / len(LEVELS))
