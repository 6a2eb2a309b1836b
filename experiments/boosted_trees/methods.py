"""Who is compared, and where the parameters of each are searched."""

from __future__ import annotations

from typing import NamedTuple

from experiments.peers import CatBoost, LightGBM, XGBoost
from ranksift.learning.ranker import Ranker
from ranksift.learning.space import SpaceLike
from ranksift.learning.trees import LambdaMART, LambdaMARTf

#: The most trees of a model, and of how many a number of trees is a multiple where libraries are asked.
TREES, STEP = 200, 5

_TREES: SpaceLike = {
    "learning_rate": (0.03, 0.2, "log"),
    "l2": (0.1, 100.0, "log"),
    "feature_share": (0.3, 1.0),
}
#: As of LightGBM. The others have the same in their own words.
SPACE: SpaceLike = {"leaves": (4, 64, "log"), "min_documents": (5, 200, "log"), **_TREES}


class Method(NamedTuple):
    """A ranker and its space; one without a space is not tuned."""

    ranker: Ranker
    space: SpaceLike
    ours: bool = False


OURS, BAGGED, CONTEXT, JOINT = "LambdaMART", "LambdaMART, three models", "LambdaMART, context", "LambdaMART-f"
LIGHTGBM, XGBOOST, CATBOOST = "LightGBM lambdarank", "XGBoost rank:ndcg", "CatBoost YetiRank"

_LIGHTGBM = LightGBM(trees=TREES, step=STEP)
# Gains are those of nDCG, that is, linear.
_XGBOOST = XGBoost(trees=TREES, step=STEP, options={"ndcg_exp_gain": False, "min_child_weight": 1.0})
_CATBOOST = CatBoost(trees=TREES, step=STEP)

METHODS = {
    OURS: Method(LambdaMART(trees=TREES), SPACE, True),
    BAGGED: Method(LambdaMART(trees=TREES, models=3), SPACE, True),
    CONTEXT: Method(LambdaMART(trees=TREES, context=True), SPACE, True),
    JOINT: Method(LambdaMARTf(trees=TREES), SPACE, True),
    LIGHTGBM: Method(_LIGHTGBM, SPACE),
    # The size of its leaves is bounded by a sum of curvatures.
    XGBOOST: Method(_XGBOOST, {"leaves": SPACE["leaves"], "options.min_child_weight": (0.25, 10.0, "log"), **_TREES}),
    # Its trees ask the same question of all nodes of a depth: 4 to 64 leaves, and no least number of documents.
    CATBOOST: Method(_CATBOOST, {"depth": (2, 6), **_TREES}),
    # What libraries make of the columns that our trees add to see the list.
    f"{LIGHTGBM}, context": Method(_LIGHTGBM.clone().set_params(context=True), {}),
    f"{XGBOOST}, context": Method(_XGBOOST.clone().set_params(context=True), {}),
    f"{CATBOOST}, context": Method(_CATBOOST.clone().set_params(context=True), {}),
}

#: The libraries as they are.
PEERS = (LIGHTGBM, XGBOOST, CATBOOST)
