"""Numbers that commands of their own print, and that the page shows as they are written down here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: ``python -m experiments.boosted_trees.seconds``: seconds of a processor for a fit to fold 1, on a small machine.
SECONDS: Mapping[str, float] = {
    "LambdaMART": 0.61,
    "LambdaMART, three models": 1.83,
    "LambdaMART, context": 0.83,
    "LambdaMART-f": 1.10,
    "LightGBM lambdarank": 1.10,
    "XGBoost rank:ndcg": 1.38,
    "CatBoost YetiRank": 4.22,
    "LightGBM lambdarank, context": 1.63,
    "XGBoost rank:ndcg, context": 1.76,
    "CatBoost YetiRank, context": 6.05,
}


class Gain(NamedTuple):
    """What is added to nDCG@10, and the standard error over queries."""

    value: float
    error: float


#: ``python -m experiments.boosted_trees.defaults``: each over the one before, the first over LightGBM's lambdarank.
DEFAULTS: Mapping[str, Mapping[str, Gain]] = {
    "MQ2008": {
        "lambdas": Gain(0.0018, 0.0013),
        "loss": Gain(0.0011, 0.0007),
        "draws": Gain(0.0014, 0.0010),
        "context": Gain(-0.0000, 0.0009),
        "together": Gain(0.0043, 0.0013),
    },
    "MQ2007": {
        "lambdas": Gain(-0.0019, 0.0013),
        "loss": Gain(0.0020, 0.0007),
        "draws": Gain(0.0014, 0.0013),
        "context": Gain(0.0002, 0.0015),
        "together": Gain(0.0015, 0.0012),
    },
}
