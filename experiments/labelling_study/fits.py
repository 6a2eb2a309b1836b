"""The paper's ten methods, trained on what the tools gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import ranksift as rs
from experiments.labelling_study.documents import in_folds
from experiments.labelling_study.study import K
from experiments.learning import Task, fits, in_parallel
from experiments.top_k.fits import TESTED, Learned
from experiments.top_k.methods import METHODS, candidates
from experiments.top_k.truths import FEW, GRADED, Truth
from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import holm

#: Labels that come from the log, not from a function of the collection.
TOP_K = Truth("top k", lambda data, collection: collection.whole.labels, FEW)
Labels = dict[str, dict[str, float]]
ALPHA = 0.05


class Less(NamedTuple):
    """A mean difference with half of its 95 % interval, and p of a paired t test."""

    value: float
    half: float
    p: float


@dataclass(frozen=True, eq=False)
class Trained:
    """What was learned from the labels of both tools, in the paper's order: grades, then the top k."""

    graded: Learned
    top_k: Learned
    #: Position labels of the true order.
    truth: Labels

    @cached_property
    def by_truth(self) -> tuple[Scores, Scores]:
        """Both by what the hidden utilities say: the rankings are the same, the judgments are the truth."""
        found = []
        for learned in (self.graded, self.top_k):
            chosen = {
                method: [fold[i].scores for fold, i in zip(learned.found[method], learned.best(method), strict=True)]
                for method in learned.found
            }
            found.append(rs.evaluate(self.truth, learned.collection.runs(chosen), list(TESTED)))
        return found[0], found[1]

    def difference(self, method: str, measure: str) -> Less:
        """By the truth: trained on the top k less trained on grades."""
        from scipy.stats import t

        graded, top = (s.values[s.row(method), :, s.column(measure)] for s in self.by_truth)
        apart = top - graded
        error, free = float(np.std(apart, ddof=1) / np.sqrt(len(apart))), len(apart) - 1
        value = float(apart.mean())
        return Less(value, float(t.ppf(0.975, free)) * error, float(2 * t.sf(abs(value) / error, free)))

    def significant(self, measure: str, sign: int) -> list[str]:
        """Methods that are better (or worse) with the top k, by paired t tests with Holm's correction."""
        methods = list(self.graded.found)
        found = [self.difference(method, measure) for method in methods]
        corrected = holm(np.array([one.p for one in found]))
        return [m for m, one, p in zip(methods, found, corrected, strict=True) if p <= ALPHA and sign * one.value > 0]

    def told(self) -> dict[str, Any]:
        """What the page says of it by the truth."""
        return {
            "methods": {
                method: {measure: self._told(method, measure) for measure in TESTED} for method in self.graded.found
            },
            "better": self.significant(TESTED[0], 1),
            "worse": self.significant(TESTED[0], -1),
        }

    def _told(self, method: str, measure: str) -> dict[str, float]:
        graded, top_k = (float(s.values[s.row(method), :, s.column(measure)].mean()) for s in self.by_truth)
        return {"graded": graded, "top k": top_k, **self.difference(method, measure)._asdict()}


def trained(
    examples: Examples, utilities: Labels, pairs: Labels, grades: Labels, methods: Sequence[str] = tuple(METHODS)
) -> Trained:
    """Fit all methods to both kinds of labels, in five folds."""
    collections = [in_folds(examples, grades, "graded study"), in_folds(examples, pairs, "top-k study")]
    tasks = [Task(fold, candidates(method, FEW)) for one in collections for method in methods for fold in one.folds]
    done = iter(in_parallel(fits, tasks))
    learned = [
        Learned(one, truth, {method: [next(done) for _ in one.folds] for method in methods})
        for one, truth in zip(collections, (GRADED, TOP_K), strict=True)
    ]
    return Trained(learned[0], learned[1], true_labels(utilities))


def true_labels(utilities: Labels) -> Labels:
    """Position labels of the true order of each query.

    >>> true_labels({"q": {"a": 0.1, "b": 0.7}})
    {'q': {'b': 10.0, 'a': 9.0}}
    """
    return {
        query: {doc: float(max(K - i, 0)) for i, doc in enumerate(sorted(own, key=lambda doc: -own[doc]))}
        for query, own in utilities.items()
    }


def found_of_the_top(labels: Labels, utilities: Labels) -> Floats:
    """Of each query the share of the true top k that has a label above 0, where ties at the edge count in part."""
    shares = []
    for query, own in utilities.items():
        best = sorted(own, key=lambda doc: -own[doc])[:K]
        ordered = sorted(labels[query].values(), reverse=True)
        edge = ordered[min(K, len(ordered)) - 1]
        above = sum(value > edge for value in ordered)
        at_edge = sum(value == edge for value in ordered)
        part = (K - above) / at_edge
        shares.append(sum(1.0 if labels[query][d] > edge else part * (labels[query][d] == edge) for d in best) / K)
    return np.array(shares)


def kappa_ndcg_of(labels: Labels, truth: Labels) -> float:
    """κ-NDCG@10 of the labels themselves as a ranking, by the truth; ties go by document id."""
    scores = rs.evaluate(truth, {query: dict(own) for query, own in labels.items()}, ["kNDCG@10"])
    return float(scores.aggregate()[0, 0])
