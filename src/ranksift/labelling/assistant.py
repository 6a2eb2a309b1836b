"""The tasks in which proposals of a model are shown: a random half, so that the other half shows their effect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ranksift.labelling.agreement import INDEPENDENT
from ranksift.labelling.records import NewTask, Query, Task


def with_proposals(
    tasks: Iterable[NewTask], queries: Iterable[Query], *, existing: Iterable[Task] = (), seed: int = 0
) -> list[NewTask]:
    """Show proposals in the tasks of a random half of the queries that have some.

    All assessors of a query see its proposals, or none of them does: so their agreement is known with proposals and
    without. :func:`ranksift.labelling.proposals.effect` compares the halves. Tasks that verify or settle something show
    none.

    Parameters
    ----------
    tasks
        To be assigned.
    queries
        The queries, with their documents.
    existing
        Tasks of the project: a query stays in its half.
    seed
        The seed of the draw.

    Examples
    --------
    >>> from ranksift.labelling.records import Item
    >>> queries = [Query(f"q{i}", "A vet?", items=(Item("d", "Buy", proposed_forbidden=True),)) for i in range(8)]
    >>> sum(task.with_proposals for task in with_proposals([NewTask(q.query_id, 1, "pairs") for q in queries], queries))
    4
    """
    proposed = {query.query_id for query in queries if any(item.proposed_forbidden for item in query.items)}
    half: dict[str, bool] = {}
    for task in existing:
        if task.query_id in proposed and task.purpose in INDEPENDENT:  # others never show any
            half[task.query_id] = half.get(task.query_id, False) or task.with_proposals
    given, random = list(tasks), np.random.default_rng(seed)
    new = list(dict.fromkeys(task.query_id for task in given if task.query_id in proposed - half.keys()))
    random.shuffle(new)
    # Of an odd number, the half that is behind gets one more.
    shown = sum(half.values())
    behind = shown < len(half) - shown or (2 * shown == len(half) and bool(random.integers(2)))
    half |= {query: (place % 2 == 0) == behind for place, query in enumerate(new)}
    return [
        replace(task, with_proposals=task.purpose in INDEPENDENT and half.get(task.query_id, False)) for task in given
    ]
