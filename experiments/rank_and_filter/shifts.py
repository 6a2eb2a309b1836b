"""Calibration where label shares shift between training and use, held-out queries are few, and labels are rare."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.learning import in_parallel
from experiments.rank_and_filter.made_up import LABELS, made_up
from experiments.rank_and_filter.rows import AT_0, JOINT, NOTHING, OPTIMAL, K, rows
from experiments.rank_and_filter.settings import FORBIDDEN
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import RankSiftWarning
from ranksift.learning.expected_gain import expected_shares
from ranksift.learning.judged_documents import JudgedDocuments

#: Added to the log-odds of being forbidden, in validation and test: from rare to nearly all.
SHIFTS = (-3.0, -1.5, 0.0, 1.5)
#: Queries for validation; 0: none, so that nobody can know of the shift.
HELD_OUT = (0, 20, 200)
#: Lists to learn from, for the test, and their length.
LISTS, TESTED, LENGTH = 600, 4_000, 10
SEEDS = 5
BEST = "known chances"
SHOWN = (JOINT, OPTIMAL, AT_0)


class Task(NamedTuple):
    """A shift, so many queries for validation, and a seed."""

    shift: float
    held_out: int
    seed: int


def values(task: Task) -> dict[str, float]:
    """nDCG_f of each ranker after a shift; and the share of forbidden documents."""
    train = made_up(LISTS, LENGTH, 300 + task.seed).examples
    validation = made_up(max(task.held_out, 1), LENGTH, 400 + task.seed, shift=task.shift).examples
    test = made_up(TESTED, LENGTH, 7, shift=task.shift)
    best = expected_shares(test.chances, Gains.of(FORBIDDEN)(LABELS), test.examples.offsets, K)
    found = {
        "forbidden": float((test.examples.labels < 0).mean()),
        NOTHING: _value(test.examples, best, np.zeros(len(best), dtype=bool)),
        BEST: _value(test.examples, best, best >= 0),
    }
    for name in SHOWN:
        if not task.held_out and name == AT_0:
            continue  # its number of trees is chosen on a validation set
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            model = rows()[name].ranker(FORBIDDEN, task.seed).fit(train, validation if task.held_out else None)
        judged = model.judged(test.examples)
        assert judged.kept is not None
        found[name] = _value(test.examples, judged.scores, judged.kept)
    return found


def _value(test: Examples, scores: Floats, kept: Any) -> float:
    lists = JudgedDocuments(test, scores, None).lists(FORBIDDEN)
    return aggregate(one_measure(f"nDCG_f@{K}"), lists, kept[lists.row])


def after_shifts(folder: Path) -> dict[str, Any]:
    """Means over seeds, by shift and number of validation queries."""
    tasks = [Task(shift, held_out, seed) for shift in SHIFTS for held_out in HELD_OUT for seed in range(SEEDS)]
    found = in_parallel(values, tasks)
    told: dict[str, Any] = {}
    for shift in SHIFTS:
        for held_out in HELD_OUT:
            own = [of for task, of in zip(tasks, found, strict=True) if task[:2] == (shift, held_out)]
            told[f"{shift:g}, {held_out}"] = {name: float(np.mean([of[name] for of in own])) for name in own[0]}
    return told
