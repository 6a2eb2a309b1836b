"""Rankers whose score is a weighted sum of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats
from ranksift.learning.ranker import Ranker


@dataclass(eq=False)
class WeightedSum(Ranker, abstract=True):
    """The common ground of linear rankers.

    Attributes
    ----------
    weights_
        One a feature, for features on the ranker's scale.
    """

    def _score(self, features: NDArray[np.float64]) -> Floats:
        return np.asarray(features @ self.weights_)

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {"weights": self.weights_}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.weights_: Floats = state["weights"]
