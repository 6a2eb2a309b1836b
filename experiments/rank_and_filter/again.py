"""Ours fitted again with the first seed, beside what was kept: ``python -m experiments.rank_and_filter.again``.

All fits take more than an hour of two processors, and versions of RankSift follow each other faster. This says in
minutes whether what the page shows of ours is still what they come to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from experiments.experiment import data_folder
from experiments.learning import in_parallel
from experiments.rank_and_filter import EXPERIMENT
from experiments.rank_and_filter.measure import Task, judged, values_of
from experiments.rank_and_filter.rows import JOINT, MEASURES, OPTIMAL
from experiments.rank_and_filter.settings import SEEDS


class Again(NamedTuple):
    """A ranker in a setting, and how far its measures are from those that were kept, at most."""

    setting: str
    name: str
    apart: float


def again(folder: Path, task: Task) -> list[Again]:
    """Fit rankers once more."""
    found = []
    for (setting, name), own in judged(folder, task).items():
        kept = EXPERIMENT.kept["settings"][setting]["rows"][name]["values"]
        before = [kept[measure][task.seed] for measure in MEASURES]
        apart = max(abs(one - other) for one, other in zip(values_of(own), before, strict=True))
        found.append(Again(setting, name, apart))
    return found


def ours_again(folder: Path, wanted: Iterable[str]) -> Iterator[Again]:
    """Ours, in all settings of some sources of data."""
    for source in wanted:
        tasks = [Task(source, (name,), 0) for name in (JOINT, OPTIMAL)]
        yield from (one for of_task in in_parallel(partial(again, folder), tasks) for one in of_task)


if __name__ == "__main__":
    for one in ours_again(data_folder(), sys.argv[1:] or SEEDS):
        print(f"{one.setting}, {one.name}: {one.apart:.1e}", flush=True)
