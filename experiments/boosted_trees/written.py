"""Numbers that commands of their own print, and that the page shows as they are written down here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

#: ``python -m experiments.boosted_trees.seconds``: seconds of a processor for a fit to fold 1, on a small machine.
SECONDS: Mapping[str, float] = {
    "LambdaMART": 0.58,
    "LambdaMART, three models": 1.78,
    "LambdaMART, context": 0.73,
    "LambdaMART-f": 0.96,
    "LightGBM lambdarank": 0.97,
    "XGBoost rank:ndcg": 1.04,
    "CatBoost YetiRank": 3.96,
    "LightGBM lambdarank, context": 1.40,
    "XGBoost rank:ndcg, context": 1.59,
    "CatBoost YetiRank, context": 5.21,
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
        "lambdas": Gain(0.0014, 0.0013),
        "loss": Gain(0.0009, 0.0006),
        "draws": Gain(0.0017, 0.0012),
        "context": Gain(-0.0005, 0.0015),
        "together": Gain(0.0040, 0.0012),
    },
}

#: ``python -m experiments.boosted_trees.settings``: what settings of each quarter of a wide space add to the one that
#: is given, on the mean; and all of them.
SETTINGS: Mapping[tuple[str, str], Mapping[tuple[str, str], Gain]] = {
    ("MQ2008", "LambdaMART"): {
        ("leaves", "4 to 8"): Gain(0.0019, 0.0014),
        ("leaves", "8 to 16"): Gain(-0.0007, 0.0010),
        ("leaves", "16 to 32"): Gain(-0.0023, 0.0014),
        ("leaves", "32 to 64"): Gain(-0.0063, 0.0013),
        ("learning_rate", "0.03 to 0.048"): Gain(-0.0012, 0.0010),
        ("learning_rate", "0.048 to 0.077"): Gain(0.0005, 0.0011),
        ("learning_rate", "0.077 to 0.12"): Gain(-0.0008, 0.0011),
        ("learning_rate", "0.12 to 0.2"): Gain(-0.0041, 0.0013),
        ("all", ""): Gain(-0.0015, 0.0010),
    },
    ("MQ2008", "LightGBM lambdarank"): {
        ("leaves", "4 to 8"): Gain(-0.0003, 0.0015),
        ("leaves", "8 to 16"): Gain(-0.0004, 0.0012),
        ("leaves", "16 to 32"): Gain(-0.0010, 0.0014),
        ("leaves", "32 to 64"): Gain(-0.0057, 0.0015),
        ("learning_rate", "0.03 to 0.048"): Gain(0.0004, 0.0012),
        ("learning_rate", "0.048 to 0.077"): Gain(0.0002, 0.0013),
        ("learning_rate", "0.077 to 0.12"): Gain(-0.0015, 0.0013),
        ("learning_rate", "0.12 to 0.2"): Gain(-0.0051, 0.0014),
        ("all", ""): Gain(-0.0016, 0.0011),
    },
    ("MQ2008", "XGBoost rank:ndcg"): {
        ("leaves", "4 to 8"): Gain(0.0002, 0.0016),
        ("leaves", "8 to 16"): Gain(-0.0023, 0.0010),
        ("leaves", "16 to 32"): Gain(-0.0036, 0.0012),
        ("leaves", "32 to 64"): Gain(-0.0046, 0.0015),
        ("learning_rate", "0.03 to 0.048"): Gain(-0.0013, 0.0012),
        ("learning_rate", "0.048 to 0.077"): Gain(-0.0016, 0.0012),
        ("learning_rate", "0.077 to 0.12"): Gain(-0.0030, 0.0012),
        ("learning_rate", "0.12 to 0.2"): Gain(-0.0037, 0.0013),
        ("all", ""): Gain(-0.0024, 0.0010),
    },
    ("MQ2008", "CatBoost YetiRank"): {
        ("leaves", "4 to 8"): Gain(-0.0007, 0.0016),
        ("leaves", "8 to 16"): Gain(-0.0005, 0.0017),
        ("leaves", "16 to 32"): Gain(-0.0003, 0.0010),
        ("leaves", "32 to 64"): Gain(-0.0016, 0.0013),
        ("learning_rate", "0.03 to 0.048"): Gain(-0.0008, 0.0013),
        ("learning_rate", "0.048 to 0.077"): Gain(-0.0007, 0.0010),
        ("learning_rate", "0.077 to 0.12"): Gain(0.0007, 0.0016),
        ("learning_rate", "0.12 to 0.2"): Gain(-0.0014, 0.0014),
        ("all", ""): Gain(-0.0009, 0.0012),
    },
    ("MQ2007", "LambdaMART"): {
        ("leaves", "4 to 8"): Gain(0.0015, 0.0011),
        ("leaves", "8 to 16"): Gain(-0.0008, 0.0008),
        ("leaves", "16 to 32"): Gain(-0.0020, 0.0009),
        ("leaves", "32 to 64"): Gain(-0.0082, 0.0012),
        ("learning_rate", "0.03 to 0.048"): Gain(-0.0009, 0.0008),
        ("learning_rate", "0.048 to 0.077"): Gain(0.0010, 0.0009),
        ("learning_rate", "0.077 to 0.12"): Gain(-0.0015, 0.0009),
        ("learning_rate", "0.12 to 0.2"): Gain(-0.0060, 0.0010),
        ("all", ""): Gain(-0.0020, 0.0007),
    },
}
