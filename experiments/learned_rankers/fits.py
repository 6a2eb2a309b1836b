"""The learners on every fold of both collections, as the systems that the paper's measures are studied with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from experiments.bounds.letor import Collection as Systems
from experiments.bounds.readings import Measured
from experiments.learned_rankers.methods import METHODS
from experiments.learning import in_parallel, mq2007, mq2008
from ranksift.collection.examples import Fold
from ranksift.collection.ragged import Floats
from ranksift.learning.tuning import tune

SEED = 0


class Task(NamedTuple):
    """A method that is to learn from one fold."""

    fold: Fold
    method: str


def scores(task: Task) -> Floats:
    """Scores of the test documents of a fold."""
    ranker, _, space = METHODS[task.method]
    fold = task.fold
    return tune(ranker, fold.train, fold.validation, space=space, seed=SEED).fit().scored(fold.test)


def measured(data: Path, methods: Sequence[str] = tuple(METHODS)) -> list[Measured]:
    """MQ2008 and MQ2007 with the learners as their systems."""
    collections = [mq2008(data), mq2007(data)]
    done = iter(in_parallel(scores, [Task(f, m) for c in collections for m in methods for f in c.folds]))
    found = []
    for collection in collections:
        runs = collection.runs({method: [next(done) for _ in collection.folds] for method in methods})
        found.append(Measured.of(Systems(collection.name, collection.qrels, runs, {}, ())))
    return found
