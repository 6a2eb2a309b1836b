"""Which settings of trees are good: ``python -m experiments.boosted_trees.settings``.

Drawn from a wide space, and asked without the test part of a fold; the page shows what came out, and searches where
they were good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.boosted_trees.defaults import mean_and_error, of_queries, rotations
from experiments.boosted_trees.fits import MEASURE
from experiments.boosted_trees.measured import Gain, keep
from experiments.boosted_trees.methods import METHODS, OURS, PEERS, WIDE_LEAVES, WIDE_RATES, wide_space_of
from experiments.learning import in_parallel, mq2007, mq2008
from ranksift.collection.examples import Fold
from ranksift.collection.ragged import Floats
from ranksift.learning.search_space import Space, with_parameters
from ranksift.learning.validation import cross_validated

#: Settings of each method, with the one that is given, which has so many seeds.
SETTINGS, SEEDS = 25, 4
#: Quarters of the wide space.
QUARTERS: Mapping[str, tuple[float, ...]] = {
    name: tuple(float(f"{edge:.2g}") for edge in np.geomspace(*ends, 5))
    for name, ends in {"leaves": WIDE_LEAVES, "learning_rate": WIDE_RATES}.items()
}


class Task(NamedTuple):
    """A method that is to learn from one fold with some settings."""

    fold: Fold
    method: str
    settings: Sequence[Mapping[str, Any]]


def values(task: Task) -> Floats:
    """The measure of each judged query (columns) for each setting; the first is the mean over several seeds."""
    ranker = METHODS[task.method].ranker
    given, *others = task.settings
    tried = [with_parameters(ranker.clone().set_params(seed=seed), given) for seed in range(SEEDS)]
    tried += [with_parameters(ranker.clone().set_params(seed=seed), each) for seed, each in enumerate(others)]
    found = cross_validated({str(i): each for i, each in enumerate(tried)}, [task.fold], MEASURE).values[:, :, 0]
    return np.vstack([found[:SEEDS].mean(axis=0), found[SEEDS:]])


def leaves(params: Mapping[str, Any]) -> int:
    """Of a tree; one of CatBoost's has all that its depth allows."""
    return int(params["leaves"]) if "leaves" in params else 2 ** int(params["depth"])


def worth(method: str, folds: Sequence[Fold]) -> Iterator[tuple[str, str, Gain]]:
    """What settings of each quarter add to the one that is given, on the mean."""
    ranker = METHODS[method].ranker
    candidates = Space.of(wide_space_of(method), ranker).candidates(ranker, SETTINGS, 0)
    found = of_queries(folds, in_parallel(values, [Task(fold, method, candidates) for fold in folds]))
    added = found[:, 1:] - found[:, :1]
    for name, edges in QUARTERS.items():
        own = np.array([leaves(each) if name == "leaves" else each[name] for each in candidates[1:]])
        quarter = np.clip(np.searchsorted(edges, own, side="right") - 1, 0, len(edges) - 2)
        for i, (low, high) in enumerate(pairwise(edges)):
            of_quarter = added[:, quarter == i]
            if of_quarter.size:
                yield name, f"{low:g} to {high:g}", mean_and_error(of_quarter.mean(axis=1))
    yield "all", "", mean_and_error(added.mean(axis=1))


def measured(data: Path) -> dict[str, dict[str, dict[str, dict[str, Gain]]]]:
    """By collection, method, parameter and quarter."""
    folds = {"MQ2008": rotations(mq2008(data)), "MQ2007": rotations(mq2007(data))[::2]}
    found: dict[str, dict[str, dict[str, dict[str, Gain]]]] = {}
    for name, methods in {"MQ2008": (OURS, *PEERS), "MQ2007": (OURS,)}.items():
        for method in methods:
            own = found.setdefault(name, {}).setdefault(method, {})
            for parameter, quarter, gain in worth(method, folds[name]):
                own.setdefault(parameter, {})[quarter] = gain
                print(f"{name}, {method}: {parameter} {quarter} {gain.value:+.4f}, error {gain.error:.4f}", flush=True)
    return found


if __name__ == "__main__":
    keep("settings", measured)
