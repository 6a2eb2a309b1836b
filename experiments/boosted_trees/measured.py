"""Numbers that the page shows and does not compute, as they take long or differ from machine to machine.

Commands of their own measure them, and keep them beside this file.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from experiments.publish import ROOT, data_folder
from ranksift.errors import RankSiftWarning
from ranksift.files import writing

FILE = Path(__file__).with_name("measured.json")


class Gain(NamedTuple):
    """What is added to nDCG@10, and the standard error over queries."""

    value: float
    error: float


def _kept() -> Any:
    return json.loads(FILE.read_text("utf-8"))


def seconds() -> dict[str, float]:
    """``python -m experiments.boosted_trees.seconds``: of a processor, for a fit to fold 1, on a small machine."""
    return dict(_kept()["seconds"])


def defaults() -> dict[str, dict[str, Gain]]:
    """``python -m experiments.boosted_trees.defaults``: each over the one before, the first over LightGBM's lambdarank.

    By collection.
    """
    return {
        name: {step: Gain(*gain) for step, gain in of_steps.items()} for name, of_steps in _kept()["defaults"].items()
    }


def settings() -> dict[tuple[str, str], dict[tuple[str, str], Gain]]:
    """``python -m experiments.boosted_trees.settings``: what settings of a wide space add to the given one.

    By collection and method, and by parameter and quarter of its range; "all" are those of the whole space.
    """
    return {
        (name, method): {
            (parameter, quarter): Gain(*gain) for parameter, of in parts.items() for quarter, gain in of.items()
        }
        for name, methods in _kept()["settings"].items()
        for method, parts in methods.items()
    }


def keep(part: str, measure: Callable[[Path], Mapping[str, Any]]) -> None:
    """Measure a part, and put it in the place of what is there."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)
        found = measure(data_folder())
    text = json.dumps({**_kept(), part: found}, indent=1)
    with writing(FILE) as out:
        out.write(f"{text}\n".encode())
    print(FILE.relative_to(ROOT))
