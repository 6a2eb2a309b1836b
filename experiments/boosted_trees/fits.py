"""Every method on every fold, as it is given and as two rules choose its parameters, with several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import ranksift as rs
from experiments.boosted_trees.methods import METHODS, OURS
from experiments.learning import Collection, in_parallel, mq2008
from ranksift.collection.examples import Fold
from ranksift.collection.ragged import Floats
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import Paired, holm, t_test
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.tuning import Tuning, tune

MEASURE = "nDCG@10"
MEASURES = (MEASURE, "AP")
#: Of a search; the first of them is the ranker as it is given.
TRIALS = 8
SEEDS = 3
#: Standard errors by which a trial has to be better than the ranker as it is given, by the cautious rule.
MARGIN = 1.0

#: A ranker as it is given; with the parameters of the best trial; with those that are better by the margin; with those
#: of the best trial in a wider space.
How = Literal["given", "best", "cautious", "wide"]
GIVEN: How = "given"
BEST: How = "best"
CAUTIOUS: How = "cautious"
WIDE: How = "wide"
ALL: tuple[How, ...] = (GIVEN, BEST, CAUTIOUS, WIDE)


class Task(NamedTuple):
    """A method that is to learn from one fold, with one seed of the search and of the trees."""

    fold: Fold
    method: str
    seed: int
    trials: int = TRIALS


class Model(NamedTuple):
    """Scores of the test documents, and what the model is made of."""

    scores: Floats
    trees: int
    value: float  # on the validation fold


class Learned(NamedTuple):
    """The same method as it is given, with what two rules choose of one search, and with the best of another."""

    given: Model
    best: Model
    cautious: Model
    wide: Model
    params: Mapping[str, Any]  # of the best trial


def learned(task: Task) -> Learned:
    """Fit a method to a fold, and search for its parameters."""
    method = METHODS[task.method]
    own = method.ranker.clone().set_params(seed=task.seed)
    given = fitted(own, task.fold)
    if not method.space:
        return Learned(given, given, given, given, {})
    found = _searched(own, task, method.space)
    models = {0: given}
    rules = (found, replace(found, margin=MARGIN))
    for rule in rules:
        if rule.best.number not in models:
            models[rule.best.number] = fitted(rule.ranker, task.fold)
    best, cautious = (models[rule.best.number] for rule in rules)
    other = _searched(own, task, method.wide) if method.wide else None
    wide = given if other is None or not other.best.number else fitted(other.ranker, task.fold)
    return Learned(given, best, cautious, wide, found.best_params)


def _searched(ranker: Ranker, task: Task, space: SpaceLike) -> Tuning:
    train, validation, _ = task.fold
    return tune(ranker, train, validation, space=space, trials=task.trials, measure=MEASURE, seed=task.seed)


def fitted(ranker: Any, fold: Fold) -> Model:
    """Fit a ranker to a fold."""
    model = ranker.fit(fold.train, fold.validation)
    return Model(model.scored(fold.test), model.trees_, model.value(fold.validation, MEASURE))


class Difference(NamedTuple):
    """A method less another, its 95 % interval, and p after Holm's correction over all others."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """All methods, fitted.

    Attributes
    ----------
    found
        For each method, seed and fold.
    """

    collection: Collection
    found: Mapping[str, Sequence[Sequence[Learned]]]

    def methods(self, *, how: How) -> list[str]:
        """Those that are there in this way: some are not tuned, or not in the wide space."""
        return [
            name for name in self.found if how == GIVEN or (METHODS[name].wide if how == WIDE else METHODS[name].space)
        ]

    def ways(self, method: str) -> list[How]:
        """Those in which a method is there."""
        return [how for how in ALL if method in self.methods(how=how)]

    @property
    def seeds(self) -> int:
        """How many there are."""
        return len(next(iter(self.found.values())))

    def models(self, method: str, seed: int, how: How) -> list[Model]:
        """Those of all folds."""
        return [getattr(fold, how) for fold in self.found[method][seed]]

    @cached_property
    def _by_seed(self) -> dict[How, list[Scores]]:
        return {how: [self._judged(seed, how) for seed in range(self.seeds)] for how in ALL}

    def _judged(self, seed: int, how: How) -> Scores:
        runs = {method: [model.scores for model in self.models(method, seed, how)] for method in self.methods(how=how)}
        return rs.evaluate(self.collection.qrels, self.collection.runs(runs), list(MEASURES))

    def values(self, method: str, measure: str = MEASURE, *, how: How) -> Floats:
        """The measure of all queries, for each seed."""
        m = MEASURES.index(measure)
        return np.array([scores.values[scores.row(method), :, m].mean() for scores in self._by_seed[how]])

    def mean(self, method: str, measure: str = MEASURE, *, how: How) -> float:
        """Over seeds."""
        return float(self.values(method, measure, how=how).mean())

    def scores(self, *, how: How) -> Scores:
        """Of every query the mean over seeds."""
        cube = np.mean([scores.values for scores in self._by_seed[how]], axis=0)
        one = self._by_seed[how][0]
        return Scores.from_array(cube, runs=one.runs, queries=one.queries, measures=MEASURES)

    def ahead(self, ours: str = OURS, measure: str = MEASURE, *, how: How) -> dict[str, Difference]:
        """How far a method is ahead of each other one: paired t tests."""
        compared = rs.compare(self.scores(how=how), baseline=ours)
        m = compared.scores.column(measure)
        columns = (compared.difference, compared.high, compared.low, compared.corrected_p)
        found = ([float(column[i, m]) for column in columns] for i in range(len(compared.pairs)))
        return {
            other: Difference(-value, -high, -low, p)
            for (other, _), (value, high, low, p) in zip(compared.pairs, found, strict=True)
        }

    def tuned_or_not(self) -> dict[str, float]:
        """Of each method p of the difference between tuned and as given, after Holm's correction over methods."""
        names = self.methods(how=BEST)
        both = [
            scores.values[scores.row(n), :, 0]
            for scores in (self.scores(how=BEST), self.scores(how=GIVEN))
            for n in names
        ]
        tuned = np.arange(len(names))
        p = holm(t_test(Paired(np.array(both), tuned, tuned + len(names))).p)
        return dict(zip(names, p.tolist(), strict=True))

    def of_folds(self, method: str, *, how: How) -> Floats:
        """The measure on each fold's test queries, the mean over seeds."""
        scores = self.scores(how=how)
        row, place = scores.row(method), {query: i for i, query in enumerate(scores.queries)}
        return np.array(
            [
                scores.values[row, [place[query] for query in fold.test.query_ids], 0].mean()
                for fold in self.collection.folds
            ]
        )

    def trees(self, method: str, *, how: How) -> Floats:
        """How many, of every model."""
        return np.array([model.trees for s in range(self.seeds) for model in self.models(method, s, how)])

    def promised(self, method: str, *, how: How) -> float:
        """The measure on the validation folds."""
        found = [model.value for s in range(self.seeds) for model in self.models(method, s, how)]
        return float(np.mean(found))


def outcome(data: Path, methods: Sequence[str] = tuple(METHODS), seeds: int = SEEDS, trials: int = TRIALS) -> Outcome:
    """Fit and tune all methods."""
    collection = mq2008(data)
    tasks = [Task(fold, name, seed, trials) for name in methods for seed in range(seeds) for fold in collection.folds]
    # The slowest first, so that no process waits for the other at the end.
    done = in_parallel(learned, tasks[::-1])[::-1]
    size = len(collection.folds)
    rows = [done[i : i + size] for i in range(0, len(done), size)]
    return Outcome(collection, {name: rows[i * seeds : (i + 1) * seeds] for i, name in enumerate(methods)})
