"""The eight learners of paper 3, in the order of its tables, and what of them is tuned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


METHODS = {
    "AdaRank": Method(AdaRank(gains="exp"), "ARank"),
    "ListNet": Method(ListNet(gains="exp"), "LNet", {"learning_rate": [0.005, 0.02]}),
    "RankBoost": Method(RankBoost(gains="exp"), "RBoost"),
    "Random Forests": Method(RandomForests(gains="exp"), "RF", {"min_documents": [5, 20, 80]}),
    "RankNet": Method(RankNet(gains="exp"), "RNet", {"hidden": [(10,), (32,)]}),
    "Coordinate Ascent": Method(CoordinateAscent(gains="exp"), "CA"),
    "L2 logistic regression": Method(L2LogisticRegression(gains="exp"), "L2LR", {"C": [0.001, 0.01, 0.1, 1.0]}),
    "LambdaMART": Method(LambdaMART(gains="exp"), "LMART", {"leaves": [7, 15, 31], "learning_rate": [0.05, 0.1]}),
}
