"""Where a task stands: what its strategy asks, or which of a few given pairs is still open."""

from __future__ import annotations

from collections.abc import Sequence

from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Task
from ranksift.labelling.strategies import strategy
from ranksift.labelling.strategies.strategy import State


def task_state(task: Task, items: Sequence[str], log: Sequence[Judgment]) -> State:
    """The state of a task after a log; ``items`` are those of its query, best prior first.

    Examples
    --------
    >>> from datetime import datetime
    >>> task = Task("key", "q", 1, "pairs", "verify", "tournament", 10, 0, False, (("a", "b"),), True, False, 0,
    ...             datetime(2026, 3, 5))
    >>> task_state(task, ["a", "b", "c"], []).question
    Question(left='a', right='b')
    """
    if task.tool == "grades":
        asked = {item for pair in task.pairs for item in pair}  # a document to settle is a pair of itself
        return strategy("grades", k=task.k, seed=task.seed).state([i for i in items if not asked or i in asked], log)
    if task.pairs:
        return strategy("pairs", k=task.k, seed=task.seed, pairs=task.pairs).state(items, log)
    return strategy(task.strategy, k=task.k, seed=task.seed).state(items, log)
