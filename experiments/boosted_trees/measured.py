"""How a part is measured and kept: by a command of its own, as they take long or differ from machine to machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from experiments.boosted_trees import EXPERIMENT
from experiments.experiment import data_folder
from ranksift.errors import RankSiftWarning


class Gain(NamedTuple):
    """What is added to nDCG@10, and the standard error over queries."""

    value: float
    error: float


def keep(part: str, measure: Callable[[Path], Mapping[str, Any]]) -> None:
    """Measure a part, and put it in the place of what is there."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)  # about queries in which nothing is relevant
        EXPERIMENT.keep({part: measure(data_folder())})
    print(f"{part}: measured")
