"""The share of documents that is shown, by the length of lists whose documents have the same chances."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.learning import in_parallel
from experiments.rank_and_filter.made_up import LABELS, made_up
from experiments.rank_and_filter.rows import AT_0, JOINT, OPTIMAL, K, rows
from experiments.rank_and_filter.settings import FORBIDDEN
from ranksift.collection.gains import Gains
from ranksift.errors import RankSiftWarning
from ranksift.learning.expected_gain import expected_shares

LENGTHS = (1, 3, 10, 30, 100, 300, 1000)
SEEDS = 3
#: Documents to learn from, for validation and for the test.
DOCUMENTS = (12_000, 6_000, 12_000)
BEST = "best possible"
SHOWN = (JOINT, OPTIMAL, AT_0)


class Task(NamedTuple):
    """Lists of one length."""

    length: int
    seed: int


def shown(task: Task) -> dict[str, Any]:
    """The share shown at a cut at 0 by each ranker, and which cut the check on held-out queries would choose."""
    parts = [
        made_up(max(n // task.length, 2), task.length, 1000 * (part + 1) + task.seed)
        for part, n in enumerate(DOCUMENTS)
    ]
    train, validation, test = (part.examples for part in parts)
    best = expected_shares(parts[-1].chances, Gains.of(FORBIDDEN)(LABELS), test.offsets, K)
    found: dict[str, Any] = {BEST: float((best >= 0).mean())}
    for name in SHOWN:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            model = rows()[name].ranker(FORBIDDEN, task.seed).fit(train, validation)
        found[name] = float((model.score(test) >= 0).mean())
        if "cut" in model.card_:
            found[f"{name}, chosen"] = model.card_["cut"]["chosen"]
    return found


def shown_by_length(folder: Path) -> dict[str, Any]:
    """Of each length: shares as means over seeds, and the cuts that were chosen."""
    tasks = [Task(length, seed) for length in LENGTHS for seed in range(SEEDS)]
    found = in_parallel(shown, tasks)
    told: dict[str, Any] = {}
    for length in LENGTHS:
        own = [of for task, of in zip(tasks, found, strict=True) if task.length == length]
        told[str(length)] = {
            name: [of[name] for of in own] if isinstance(value, str) else float(np.mean([of[name] for of in own]))
            for name, value in own[0].items()
        }
    return told
