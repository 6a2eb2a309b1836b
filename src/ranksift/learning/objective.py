"""A measure of the same documents under many scores: what boosting, line searches and early stopping ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.lists import Lists
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.sweep import Sweep
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import ready_measures
from ranksift.learning.sorted_lists import ListOrder
from ranksift.measures.cumulative import DCG, nDCG_f
from ranksift.measures.measure import PerQuery
from ranksift.measures.names import MeasureLike

#: Documents that are ranked at once: many score vectors share one call, in little memory.
TOGETHER = 1 << 21


class Objective:
    """A measure of rankings of some examples, the higher the better: of a cost it is the negative.

    Equal scores count as the worst order of their documents. In the order of a file, a feature that says nothing
    could look perfect, as some files list the best documents first.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.0], [0.0]], [1, 0], ["q", "q"])
    >>> objective = Objective(examples, "P@1")
    >>> objective(np.array([2.0, 1.0])), objective(np.array([1.0, 1.0]))
    (1.0, 0.0)
    >>> objective.of_each(np.array([[2.0, 1.0], [1.0, 2.0]])).tolist()
    [1.0, 0.0]
    """

    def __init__(self, examples: Examples, measure: MeasureLike, gains: GainsLike = "linear") -> None:
        found = ready_measures(measure)
        if len(found) != 1:
            raise InputError(f"{measure!s} is {len(found)} measures", remedy="name one")
        self.measure = found[0]
        self.gains = Gains.of(gains)
        self._sign = 1.0 if self.measure.higher_is_better else -1.0
        self.worst_first = np.lexsort((self.gains(examples.labels), examples.query))
        self._labels = examples.labels[self.worst_first]
        self._lengths = examples.lengths
        self._order = ListOrder(examples.offsets)
        self._copies = lru_cache(maxsize=4)(self._repeated)

    def __call__(self, scores: Floats) -> float:
        """The measure of all queries."""
        return float(self.of_each(scores[None])[0])

    def of_each(self, scores: NDArray[np.float64]) -> Floats:
        """The measure of all queries for each row of scores."""
        return self._sign * self.measure.aggregate(*self._parts(scores))

    def per_query(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of each query (columns) for each row of scores."""
        return self._sign * self.measure.values(*self._parts(scores))

    def _parts(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        step = max(1, TOGETHER // max(1, scores.shape[1]))
        parts = [self._judged(scores[i : i + step]) for i in range(0, len(scores), step)]
        shape = (len(scores), len(self._lengths))
        top = np.concatenate([part.numerator for part in parts]).reshape(shape)
        return top, np.concatenate([part.denominator for part in parts]).reshape(shape)

    def _judged(self, scores: NDArray[np.float64]) -> PerQuery:
        pool, query, rank = self._copies(len(scores))
        order = self._order.falling(scores[:, self.worst_first])
        return self.measure.per_query(
            JudgedRun(pool, query, rank, self._labels[order].ravel(), order.ravel(), pool.size, self.gains)
        )

    def _repeated(self, times: int) -> tuple[Pool, Ints, Ints]:
        lengths = np.tile(self._lengths, times)
        pool = Pool(ragged.offsets_of(lengths), np.tile(self._labels, times), ragged.distinct(self._labels))
        return pool, pool.query, pool.position


def stopping_value(validation: Examples, measure: MeasureLike, gains: GainsLike) -> Callable[[Floats], float]:
    """What early stopping goes by, of the scores of validation documents; the higher the better.

    For nDCG_f and DCG, if some gains are negative, it is the value with the best threshold: these measures are of
    lists that leave documents out, and in a list that leaves none out most of the value is beyond any ranking's reach.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.0], [0.0]], [1, -10], ["q", "r"])
    >>> value = stopping_value(examples, "nDCG_f@3", "linear")
    >>> value(np.array([2.0, 1.0])), value(np.array([1.0, 2.0]))
    (1.0, 0.5)
    """
    objective = Objective(validation, measure, gains)
    forbidden = bool((objective.gains(validation.labels) < 0).any())
    if not forbidden or not isinstance(objective.measure, nDCG_f | DCG):
        return objective

    def with_best_cut(scores: Floats) -> float:
        first = objective.worst_first  # equal scores count as the worst order here too
        lists = Lists.from_arrays(scores[first], validation.labels[first], validation.query[first], gains=gains)
        return float(Sweep.of(lists, objective.measure).values().max())

    return with_best_cut


class Rounds:
    """How many rounds to keep: those up to the best on validation examples, or all if there are none.

    Parameters
    ----------
    value
        The value of the scores of validation examples; None if there are none.
    features
        The features of the validation examples.
    patience
        Rounds without a new best after which it is over.
    """

    def __init__(self, value: Callable[[Floats], float] | None, features: NDArray[np.float64], patience: int) -> None:
        self.best = 0
        self._taken, self._best = 0, -np.inf
        self._value, self._features, self._patience = value, features, patience
        self._scores = np.zeros(len(features))

    @classmethod
    def of(cls, validation: Examples | None, measure: MeasureLike, gains: GainsLike, patience: int) -> Rounds:
        """The rounds as some validation examples see them."""
        if validation is None:
            return cls(None, np.zeros((0, 0)), patience)
        return cls(stopping_value(validation, measure, gains), validation.features, patience)

    def are_over(self, added: Callable[[NDArray[np.float64]], Floats]) -> bool:
        """Take a round, which adds something to the scores of documents."""
        self._taken += 1
        if self._value is None:
            self.best = self._taken
            return False
        self._scores += added(self._features)
        value = self._value(self._scores)
        if value > self._best:
            self.best, self._best = self._taken, value
        return self._taken - self.best >= self._patience


def with_several_gains(examples: Examples, gains: GainsLike) -> Examples:
    """The queries in which one document is worth more than another: all that a ranking can be learned from."""
    gain = Gains.of(gains)(examples.labels)
    starts = examples.offsets[:-1]
    filled = np.flatnonzero(examples.lengths > 0)
    if not len(filled):
        return examples
    differ = np.maximum.reduceat(gain, starts[filled]) > np.minimum.reduceat(gain, starts[filled])
    return examples if differ.all() and len(filled) == len(starts) else examples.of_queries(filled[differ])
