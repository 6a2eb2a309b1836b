"""Every method on every fold of both collections, by every kind of labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ranksift as rs
from experiments.learning import Collection, Fit, Task, fits, in_parallel, mq2007, mq2008
from experiments.top_k.methods import FAMILIES, FOCUSED, MEASURE, METHODS, candidates
from experiments.top_k.truths import TRUTHS, K, Truth
from ranksift.evaluation.compare import Comparison
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import holm

MEASURES = (*(f"kNDCG@{k}" for k in range(1, K + 1)), "kERR")
#: What is tested.
TESTED = (MEASURE, "kERR")
#: What is drawn over β, as in the paper's figures.
CURVES = ("kNDCG@5", *TESTED)


class Difference(NamedTuple):
    """A Focused method less one of its parents, by one measure; p is corrected for all such comparisons."""

    focused: str
    parent: str
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class Learned:
    """A collection with one kind of labels, and what was learned: for each method and fold a fit of each candidate."""

    collection: Collection
    truth: Truth
    found: dict[str, list[list[Fit]]]

    def best(self, method: str) -> list[int]:
        """In each fold the candidate that is best on the validation queries.

        The curve over β needs a model for every β, so that all of them are there: nothing is left to search.
        """
        return [int(np.argmax([fit.value for fit in fold])) for fold in self.found[method]]

    def betas(self, method: str) -> list[float]:
        """The β of each fold."""
        return [self.truth.betas[i] for i in self.best(method)]

    @cached_property
    def scores(self) -> Scores:
        """All queries by all measures; the runs are the methods, tuned."""
        return self._scores({method: self.best(method) for method in self.found}, MEASURES)

    @cached_property
    def curves(self) -> dict[str, Scores]:
        """For each Focused method: the runs are the method with each β in all folds."""
        return {method: self._curve(method) for method in FOCUSED}

    def _curve(self, method: str) -> Scores:
        folds = range(len(self.collection.folds))
        runs = {
            f"{beta:g}": [self.found[method][fold][i].scores for fold in folds]
            for i, beta in enumerate(self.truth.betas)
        }
        return rs.evaluate(self.collection.qrels, self.collection.runs(runs), list(CURVES))

    def _scores(self, chosen: dict[str, list[int]], measures: Iterable[str]) -> Scores:
        runs = {
            method: [fold[i].scores for fold, i in zip(self.found[method], best, strict=True)]
            for method, best in chosen.items()
        }
        return rs.evaluate(self.collection.qrels, self.collection.runs(runs), list(measures))

    def mean(self, method: str, measure: str) -> float:
        """Of a tuned method."""
        return float(self.scores.values[self.scores.row(method), :, self.scores.column(measure)].mean())

    @cached_property
    def _compared(self) -> Comparison:
        return rs.compare(self.scores, correction="none")

    def differences(self, measure: str) -> list[Difference]:
        """Every Focused method less each of its parents: paired t tests, corrected together."""
        compared = self._compared
        column = self.scores.column(measure)
        planned = [(family.focused, parent) for family in FAMILIES for parent in family.parents]
        rows = []
        for focused, parent in planned:
            sign = 1.0 if (focused, parent) in compared.pairs else -1.0
            row = compared.pairs.index((focused, parent) if sign > 0 else (parent, focused))
            ends = sorted((sign * compared.low[row, column], sign * compared.high[row, column]))
            rows.append((sign * compared.difference[row, column], *ends, compared.p[row, column]))
        corrected = holm(np.array([row[-1] for row in rows]))
        return [
            Difference(*pair, *map(float, row[:3]), float(p))
            for pair, row, p in zip(planned, rows, corrected, strict=True)
        ]

    def told(self) -> dict[str, Any]:
        """What pages say of the tuned methods; letters name those that are significantly worse."""
        compared = rs.compare(self.scores)

        def worse(method: str, measure: str) -> str:
            return "".join(compared.letters[other] for other in compared.better_than(method, measure))

        return {
            "collection": self.collection.name,
            "truth": self.truth.name,
            "letters": {method: compared.letters[method] for method in self.found},
            "means": {method: {m: self.mean(method, m) for m in MEASURES} for method in self.found},
            "worse": {method: {m: worse(method, m) for m in MEASURES} for method in self.found},
            "differences": {measure: [one._asdict() for one in self.differences(measure)] for measure in TESTED},
        }

    def over_beta(self) -> dict[str, Any]:
        """What pages say of β: all that were tried, those of the folds, and test values over them."""
        return {
            "tried": self.truth.betas,
            "betas": {method: self.betas(method) for method in FOCUSED},
            "curves": {
                method: {m: scores.aggregate()[:, scores.column(m)] for m in CURVES}
                for method, scores in self.curves.items()
            },
        }


def learned(data: Path, methods: Sequence[str] = tuple(METHODS), truths: Sequence[Truth] = TRUTHS) -> list[Learned]:
    """Fit all methods; the first of the results are those of the first kind of labels."""
    collections = [mq2008(data), mq2007(data)]
    labelled = [(truth, truth.of(data, collection)) for truth in truths for collection in collections]
    tasks = [
        Task(fold, candidates(method, truth.betas))
        for truth, collection in labelled
        for method in methods
        for fold in collection.folds
    ]
    done = iter(in_parallel(fits, tasks))
    return [
        Learned(collection, truth, {method: [next(done) for _ in collection.folds] for method in methods})
        for truth, collection in labelled
    ]
