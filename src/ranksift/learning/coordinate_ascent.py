"""Coordinate ascent: any measure, climbed one weight at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats, Ints
from ranksift.learning.objective import Objective, stopping_value, with_several_gains
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.weighted_sum import WeightedSum
from ranksift.parameters import integer, number, parameter

#: How far a weight may move in one step, either way, where the sizes of all weights sum to 1.
STEPS = 0.001 * 2.0 ** np.arange(12)


@dataclass(eq=False)
class CoordinateAscent(WeightedSum):
    r"""Coordinate ascent: the weights of a sum of features that make ``measure`` itself as high as possible.

    .. math:: w_k \leftarrow \arg\max_{w_k} E\Big(\sum_k w_k x_k\Big), \quad \sum_k |w_k| = 1

    A sweep takes the features in a random order and gives each one the best of many weights: 0, and steps of 0.001,
    0.002, 0.004, … up to 2 in both directions, all tried at once. A start ends when a sweep gains too little, and the
    best start is kept. Measures have many local maxima: several starts help. Metzler, Croft: Linear feature-based
    models for information retrieval, 2007.

    Attributes
    ----------
    value_
        The measure of the chosen weights (after fitting only): on the validation examples if they are given, otherwise
        on the training queries whose documents have different gains. For a cost it is the negative.

    Examples
    --------
    >>> from ranksift.collection.examples import Examples
    >>> x = [[3, 1], [2, 3], [1, 2], [0, 0]]
    >>> examples = Examples.from_arrays(x, [1, 2, 0, 0], ["q"] * 4)
    >>> CoordinateAscent(restarts=1).fit(examples).score(examples).argsort()[::-1].tolist()
    [1, 0, 2, 3]
    """

    restarts: int = parameter(
        5, integer(1), "The number of starts; the first has equal weights, the others have random weights."
    )
    sweeps: int = parameter(25, integer(1), "The largest number of sweeps of each start.")
    tolerance: float = parameter(1e-3, number(), "A start ends after a sweep that gains less.")

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The scale of features, because steps are steps of weights; and when a start ends."""
        return {"scaling": [None, "query"], "tolerance": [1e-2, 1e-3, 1e-4]}

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        training = with_several_gains(examples, self.gains)
        objective = Objective(training, self.measure, self.gains)
        held_out = None if validation is None else stopping_value(validation, self.measure, self.gains)
        draw = np.random.default_rng(self.seed)
        useful = _useful(training)
        self.weights_, self.value_ = np.zeros(len(examples.feature_names)), -np.inf
        for start in range(self.restarts if len(useful) else 0):
            weights = np.zeros(len(examples.feature_names))
            weights[useful] = draw.normal(size=len(useful)) if start else 1.0
            for reached, value in self._sweeps(weights / np.abs(weights).sum(), training, objective, useful, draw):
                if validation is not None and held_out is not None:
                    value = held_out(validation.features @ reached)
                if value > self.value_:
                    self.weights_, self.value_ = reached.copy(), value

    def _sweeps(
        self, weights: Floats, training: Examples, objective: Objective, useful: Ints, draw: np.random.Generator
    ) -> Iterator[tuple[Floats, float]]:
        """The weights after each sweep, and their value."""
        value = objective(training.features @ weights)
        for _ in range(self.sweeps):
            before = value
            for feature in draw.permutation(useful):
                weights, value = _line_search(weights, value, int(feature), training, objective)
            yield weights, value
            if value - before < self.tolerance:
                return


def _line_search(
    weights: Floats, value: float, feature: int, training: Examples, objective: Objective
) -> tuple[Floats, float]:
    """The best of many weights of one feature, where it is better than the one it has."""
    tried = np.concatenate((weights[feature] + STEPS, weights[feature] - STEPS, [0.0]))
    moved = weights.copy()
    moved[feature] = 0.0
    # Without the feature and with it: at a weight of 0, documents that others do not tell apart are equal.
    values = objective.of_each(training.features @ moved + tried[:, None] * training.features[:, feature])
    moved[feature] = tried[values.argmax()]
    size = np.abs(moved).sum()
    if not values.max() > value or not size > 0:
        return weights, value
    moved /= size
    reached = objective(training.features @ moved)  # of these weights as they are: rounding can part equal documents
    return (moved, reached) if reached > value else (weights, value)


def _useful(examples: Examples) -> Ints:
    """Features that tell some documents of one query apart."""
    starts = examples.offsets[:-1][examples.lengths > 0]
    if not len(starts):
        return np.zeros(0, dtype=np.int64)
    low, high = (op.reduceat(examples.features, starts, axis=0) for op in (np.minimum, np.maximum))
    return np.flatnonzero((high > low).any(axis=0))
