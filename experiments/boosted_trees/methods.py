"""Who is compared, and where the parameters of each are searched."""

from __future__ import annotations

from typing import NamedTuple

from experiments.peers import CatBoost, LightGBM, XGBoost
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.trees import LambdaMART, LambdaMARTf

#: The most trees of a model, and of how many a number of trees is a multiple where libraries are asked.
TREES, STEP = 200, 5

OURS, BAGGED, CONTEXT, JOINT = "LambdaMART", "LambdaMART, three models", "LambdaMART, context", "LambdaMART-f"
LIGHTGBM, XGBOOST, CATBOOST = "LightGBM lambdarank", "XGBoost rank:ndcg", "CatBoost YetiRank"

#: Where the size of trees and the step from one to the next are searched, and where they were searched at first:
#: :mod:`~experiments.boosted_trees.settings` asks what they are worth there.
LEAVES, RATES = (4, 16), (0.03, 0.1)
WIDE_LEAVES, WIDE_RATES = (4, 64), (0.03, 0.2)


def space_of(method: str, leaves: tuple[int, int] = LEAVES, rates: tuple[float, float] = RATES) -> SpaceLike:
    """The space of a method: the same of all libraries, each in its own words."""
    shared: SpaceLike = {
        "learning_rate": (*rates, "log"),
        "l2": (0.1, 100.0, "log"),
        "feature_share": (0.3, 1.0),
    }
    if method == CATBOOST:
        # Its trees ask the same question of all nodes of a depth, and have no least number of documents.
        return {"depth": (leaves[0].bit_length() - 1, leaves[1].bit_length() - 1), **shared}
    # The size of XGBoost's leaves is bounded by a sum of curvatures.
    small = (
        {"options.min_child_weight": (0.25, 10.0, "log")} if method == XGBOOST else {"min_documents": (5, 200, "log")}
    )
    return {"leaves": (*leaves, "log"), **small, **shared}


def wide_space_of(method: str) -> SpaceLike:
    """The space that was searched at first."""
    return space_of(method, WIDE_LEAVES, WIDE_RATES)


#: That of our trees, and of LightGBM's.
SPACE = space_of(OURS)


class Method(NamedTuple):
    """A ranker and its space; one without a space is not tuned."""

    ranker: Ranker
    space: SpaceLike
    ours: bool = False
    wide: SpaceLike | None = None  # searched too


_LIGHTGBM = LightGBM(trees=TREES, step=STEP)
# Gains are those of nDCG, that is, linear.
_XGBOOST = XGBoost(trees=TREES, step=STEP, options={"ndcg_exp_gain": False, "min_child_weight": 1.0})
_CATBOOST = CatBoost(trees=TREES, step=STEP)

METHODS = {
    OURS: Method(LambdaMART(trees=TREES), SPACE, True, wide_space_of(OURS)),
    BAGGED: Method(LambdaMART(trees=TREES, models=3), SPACE, True, wide_space_of(OURS)),
    CONTEXT: Method(LambdaMART(trees=TREES, context=True), SPACE, True),
    JOINT: Method(LambdaMARTf(trees=TREES), SPACE, True),
    LIGHTGBM: Method(_LIGHTGBM, SPACE, wide=wide_space_of(LIGHTGBM)),
    XGBOOST: Method(_XGBOOST, space_of(XGBOOST), wide=wide_space_of(XGBOOST)),
    CATBOOST: Method(_CATBOOST, space_of(CATBOOST), wide=wide_space_of(CATBOOST)),
    # What libraries make of the columns that our trees add to see the list.
    f"{LIGHTGBM}, context": Method(_LIGHTGBM.clone().set_params(context=True), {}),
    f"{XGBOOST}, context": Method(_XGBOOST.clone().set_params(context=True), {}),
    f"{CATBOOST}, context": Method(_CATBOOST.clone().set_params(context=True), {}),
}

#: The libraries as they are.
PEERS = (LIGHTGBM, XGBOOST, CATBOOST)
