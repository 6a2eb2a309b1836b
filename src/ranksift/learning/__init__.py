"""Rankers from features: the methods of papers 1, 3 and 5, and ones that rank and filter together."""

import os
from importlib import import_module
from typing import Any

# Idle threads of two libraries that spin while they wait for each other can be fifty times slower than one.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Where each public name lives. Nothing is imported before it is asked for.
_HOME = {
    "Ranker": "ranker",
    "load": "ranker",
    "LinearRanker": "networks",
    "MLPRanker": "networks",
    "RankNet": "networks",
    "ListNet": "networks",
    "TopKListMLE": "networks",
    "FocusedNet": "networks",
    "L2LogisticRegression": "logistic",
    "RankBoost": "boosting",
    "AdaRank": "boosting",
    "FocusedBoost": "boosting",
    "CoordinateAscent": "coordinate_ascent",
    "RankSVM": "svm",
    "SVMMAP": "svm",
    "FocusedSVM": "svm",
    "LambdaMART": "trees",
    "RandomForests": "trees",
    "BoostedTrees": "trees",
    "LambdaMARTf": "trees",
    "ExpectedGainRanker": "optimal",
    "expected_shares": "optimal",
    "topk_truth": "topk",
    "three_way": "validation",
    "cross_validated": "validation",
    "tune": "tuning",
    "Tuning": "tuning",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ranksift.learning' has no attribute {name!r}")
    value = getattr(import_module(f"ranksift.learning.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
