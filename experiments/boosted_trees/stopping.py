"""What LambdaMART should stop by: ``python -m experiments.boosted_trees.stopping``.

It is asked without the test part of a fold; the page shows what came out.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.boosted_trees.fits import MEASURE
from experiments.boosted_trees.methods import SPACE, TREES
from experiments.boosted_trees.written import Gain
from experiments.learning import Collection, in_parallel, mq2007, mq2008
from experiments.publish import data_folder
from ranksift.collection.errors import RankSiftWarning
from ranksift.collection.examples import Fold, together
from ranksift.collection.ragged import Floats
from ranksift.learning.space import Space, with_parameters
from ranksift.learning.trees import LambdaMART

SEED = 0
#: Settings of the trees, drawn from the page's space, on each collection.
SETTINGS = {"MQ2008": 12, "MQ2007": 4}
#: What is compared: the first is the baseline.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "measure": {"stop_by": "measure"},
    "loss": {"stop_by": "loss"},
    "loss, context": {"stop_by": "loss", "context": True},
}


class Task(NamedTuple):
    """Trees of one setting that are to learn from one fold."""

    fold: Fold
    params: Mapping[str, Any]


def values(task: Task) -> list[float]:
    """The measure of each variant on the fold's judged queries."""
    found = []
    for variant in VARIANTS.values():
        ranker = with_parameters(LambdaMART(trees=TREES, seed=SEED), {**task.params, **variant})
        found.append(ranker.fit(task.fold.train, task.fold.validation).value(task.fold.test, MEASURE))
    return found


def rotations(collection: Collection) -> list[Fold]:
    """Of each fold the four parts that are not its test part: two to learn from, one to stop by, one to judge on."""
    parts, found = [fold.test for fold in collection.folds], []
    for out in range(len(parts)):
        four = [part for i, part in enumerate(parts) if i != out]
        for i in (0, 2):
            judged, stop, *others = np.roll(np.arange(4), -i).tolist()
            found.append(Fold(together([four[other] for other in others]), four[stop], four[judged]))
    return found


def gains(folds: Sequence[Fold], settings: int) -> dict[str, Gain]:
    """What the variants add, over some settings and all folds."""
    candidates = Space.of(SPACE, LambdaMART()).candidates(LambdaMART(), settings, SEED)
    tasks = [Task(fold, params) for fold in folds for params in candidates]
    found = np.array(in_parallel(values, tasks)).reshape(len(folds), settings, len(VARIANTS)).mean(axis=1)
    return {name: _gain(found[:, i] - found[:, 0]) for i, name in enumerate(VARIANTS) if i}


def _gain(of_folds: Floats) -> Gain:
    return Gain(float(of_folds.mean()), float(of_folds.std(ddof=1) / np.sqrt(len(of_folds))))


def main(data: Path) -> None:
    """Compute and print."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folds = {"MQ2008": rotations(mq2008(data)), "MQ2007": list(mq2007(data).folds)}
    for name, parts in folds.items():
        for variant, gain in gains(parts, SETTINGS[name]).items():
            print(f"{name}: {variant} {gain.value:+.4f}, standard error {gain.error:.4f}")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)
        main(data_folder())
