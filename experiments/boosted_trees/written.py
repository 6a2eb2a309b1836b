"""Numbers that commands of their own print, and that the page shows as they are written down here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: ``python -m experiments.boosted_trees.seconds``: seconds of a processor for a fit to fold 1, on a small machine.
SECONDS: Mapping[str, float] = {
    "LambdaMART": 0.88,
    "LambdaMART, context": 1.25,
    "LambdaMART-f": 2.12,
    "LightGBM lambdarank": 1.45,
    "XGBoost rank:ndcg": 1.18,
    "CatBoost YetiRank": 4.20,
    "LightGBM lambdarank, context": 1.90,
    "XGBoost rank:ndcg, context": 1.90,
    "CatBoost YetiRank, context": 6.19,
}


class Gain(NamedTuple):
    """What a variant adds to nDCG@10, and the standard error over folds."""

    value: float
    error: float


#: ``python -m experiments.boosted_trees.stopping``: over a LambdaMART that nDCG@10 stops.
STOPPING: Mapping[str, Mapping[str, Gain]] = {
    "MQ2008": {"loss": Gain(0.0002, 0.0004), "loss, context": Gain(0.0016, 0.0011)},
    "MQ2007": {"loss": Gain(0.0016, 0.0005), "loss, context": Gain(0.0010, 0.0015)},
}
