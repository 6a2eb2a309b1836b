"""The eight learners of Karmaker and Feng 2022, in the order of their tables, and what of them is tuned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from ranksift.learning.methods import (
    AdaRank,
    CoordinateAscent,
    L2LogisticRegression,
    LambdaMART,
    ListNet,
    RandomForests,
    RankBoost,
    RankNet,
)
from ranksift.learning.ranker import Ranker


class Method(NamedTuple):
    """A ranker, its name in the paper's tables, and parameters that are chosen on the validation fold."""

    ranker: Ranker
    printed: str
    space: Mapping[str, Sequence[Any]] = {}

    @property
    def settings(self) -> int:
        """How many are tried: all combinations, that of the ranker as it is given among them."""
        return prod(map(len, self.space.values()))


#: What AdaRank and coordinate ascent have to tune: rounds, sweeps and starts are chosen on the validation fold anyway.
SCALES = {"scaling": ["standard", "query"]}
METHODS = {
    "AdaRank": Method(AdaRank(gains="exp", scaling="standard"), "ARank", SCALES),
    "ListNet": Method(ListNet(gains="exp"), "LNet", {"learning_rate": [0.005, 0.02, 0.05], "l2": [0.0, 0.01]}),
    "RankBoost": Method(RankBoost(gains="exp"), "RBoost", {"thresholds": [10, 20, 30, 50, 100, 300]}),
    "Random Forests": Method(
        RandomForests(gains="exp"), "RF", {"min_documents": [5, 20, 80], "feature_share": [0.3, 0.5]}
    ),
    "RankNet": Method(RankNet(gains="exp"), "RNet", {"hidden": [(10,), (32,)], "learning_rate": [0.005, 0.02, 0.05]}),
    "Coordinate Ascent": Method(CoordinateAscent(gains="exp", scaling="standard"), "CA", SCALES),
    "L2 logistic regression": Method(
        L2LogisticRegression(gains="exp"), "L2LR", {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
    ),
    "LambdaMART": Method(LambdaMART(gains="exp"), "LMART", {"leaves": [7, 15, 31], "learning_rate": [0.05, 0.1]}),
}
