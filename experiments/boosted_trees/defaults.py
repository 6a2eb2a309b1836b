"""What LambdaMART does by default, and what that adds: ``python -m experiments.boosted_trees.defaults``.

It is asked without the test part of a fold; the page shows what came out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.boosted_trees.fits import MEASURE
from experiments.boosted_trees.measured import Gain, keep
from experiments.boosted_trees.methods import OURS, STEP, TREES, wide_space_of
from experiments.learning import Collection, in_parallel, mq2007, mq2008
from experiments.peers import LightGBM
from ranksift.collection.examples import Fold, together
from ranksift.collection.ragged import Floats
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import Space, with_parameters
from ranksift.learning.trees import LambdaMART
from ranksift.learning.validation import cross_validated

SEED = 0
#: Settings of the trees, drawn from the page's space, on each collection.
SETTINGS = {"MQ2008": 12, "MQ2007": 4}
#: What is compared, step by step: LightGBM's lambdarank with the number of trees that is best by the measure; our
#: lambdas, of the ranking by score; stopped by a loss; with rankings that are drawn; and with the list's features.
STEPS: Mapping[str, Ranker] = {
    "lambdarank": LightGBM(trees=TREES, step=STEP, seed=SEED),
    "lambdas": LambdaMART(trees=TREES, draws=0, stop_by="measure", seed=SEED),
    "loss": LambdaMART(trees=TREES, draws=0, seed=SEED),
    "draws": LambdaMART(trees=TREES, seed=SEED),
    "context": LambdaMART(trees=TREES, context=True, seed=SEED),
}
#: LambdaMART as it comes, less lambdarank.
TOGETHER, DEFAULT = "together", list(STEPS).index("draws")


class Task(NamedTuple):
    """Trees of one setting that are to learn from one fold."""

    fold: Fold
    params: Mapping[str, Any]


def values(task: Task) -> Floats:
    """The measure of each judged query (columns) for each step."""
    rankers = {name: with_parameters(ranker, task.params) for name, ranker in STEPS.items()}
    return cross_validated(rankers, [task.fold], MEASURE).values[:, :, 0]


def rotations(collection: Collection) -> list[Fold]:
    """Of each fold the four parts that are not its test part: two to learn from, one to stop by, one to judge on."""
    parts, found = [fold.test for fold in collection.folds], []
    for out in range(len(parts)):
        four = [part for i, part in enumerate(parts) if i != out]
        for i in (out % 4, (out + 2) % 4):  # so that each part is judged on twice
            judged, stop, *others = np.roll(np.arange(4), -i).tolist()
            found.append(Fold(together([four[other] for other in others]), four[stop], four[judged]))
    return found


def of_queries(folds: Sequence[Fold], values: Sequence[Floats]) -> Floats:
    """Of every query (rows) the mean of what is said of it: rows of values are columns here, their queries a fold's."""
    found: dict[str, list[Floats]] = {}
    for fold, own in zip(folds, values, strict=True):
        for query, value in zip(fold.test.query_ids, own.T, strict=True):
            found.setdefault(query, []).append(value)
    return np.array([np.mean(each, axis=0) for each in found.values()])


def mean_and_error(added: Floats) -> Gain:
    """Of what each query gains, to four digits."""
    return Gain(round(float(added.mean()), 4), round(float(added.std(ddof=1) / np.sqrt(len(added))), 4))


def gains(folds: Sequence[Fold], settings: int) -> dict[str, Gain]:
    """What each step adds to the one before it, and those to the default together, over all folds and some settings."""
    space = Space.of(wide_space_of(OURS), LambdaMART())
    candidates = space.candidates(LambdaMART(), settings, SEED)
    tasks = [Task(fold, params) for fold in folds for params in candidates]
    found = of_queries([task.fold for task in tasks], in_parallel(values, tasks))
    added = {name: mean_and_error(own) for name, own in zip(list(STEPS)[1:], np.diff(found).T, strict=True)}
    return {**added, TOGETHER: mean_and_error(found[:, DEFAULT] - found[:, 0])}


def measured(data: Path) -> dict[str, dict[str, Gain]]:
    """By collection and step."""
    folds = {"MQ2008": rotations(mq2008(data)), "MQ2007": rotations(mq2007(data))[::2]}
    found = {}
    for name, parts in folds.items():
        found[name] = gains(parts, SETTINGS[name])
        for step, gain in found[name].items():
            print(f"{name}: {step} {gain.value:+.4f}, standard error {gain.error:.4f}", flush=True)
    return found


if __name__ == "__main__":
    keep("defaults", measured)
