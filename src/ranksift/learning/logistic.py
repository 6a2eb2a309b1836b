"""Logistic regression of whether a document is worth showing (Karmaker and Feng 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.weighted_sum import WeightedSum
from ranksift.parameters import number, parameter


@dataclass(eq=False)
class L2LogisticRegression(WeightedSum):
    r"""A linear model of the probability that a gain is positive, with small weights: L2LR in Karmaker and Feng 2022.

    .. math:: \min_w \tfrac{1}{2} \|w\|^2 + C \sum_d BCE\big(\sigma(w^\top x_d + b), [g_d > 0]\big)

    All documents count the same, whatever their query, and all positive gains, whatever their grade. If features are
    comparable only within a query, as on the web, ``scaling="query"`` is better than the usual scale. The score is
    :math:`w^\top x + b`, 0 at a probability of ½. The optimum is found by scikit-learn, so there is no randomness and
    no early stopping.

    Attributes
    ----------
    weights_, intercept_
        w and b, for features on the model's scale.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.2], [0.7]], [0, 1, -1, 2], ["q", "q", "r", "r"])
    >>> L2LogisticRegression(C=10).fit(examples).score(examples).round(1).tolist()
    [-2.9, 3.5, -2.1, 1.9]
    """

    needs = ("sklearn",)

    C: float = parameter(1.0, number(above=0), "The larger, the weaker the penalty on the weights.")

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """C, over six powers of ten."""
        return {"C": (1e-4, 1e2, "log")}

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        from sklearn.linear_model import LogisticRegression

        x, worth = examples.features, Gains.of(self.gains)(examples.labels) > 0
        if worth.all() or not worth.any() or not x.shape[1]:
            # Nothing to tell apart.
            self.weights_, self.intercept_ = np.zeros(x.shape[1]), 0.0
            return
        model = LogisticRegression(C=self.C, solver="newton-cholesky", tol=1e-8, max_iter=1000).fit(x, worth)
        self.weights_, self.intercept_ = model.coef_[0], float(model.intercept_[0])

    def _score(self, features: NDArray[np.float64]) -> Floats:
        return super()._score(features) + self.intercept_

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {**super()._state(), "intercept": np.array([self.intercept_])}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self.intercept_ = float(state["intercept"][0])
