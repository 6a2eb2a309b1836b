"""Rankers on the folds of LETOR's collections, fitted on several processes at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples, Fold, together
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats
from ranksift.collection.run import Run
from ranksift.datasets import letor
from ranksift.learning.ranker import Ranker

NEEDS: tuple[str, ...] = ("letor4_mq2008", "letor4_mq2007_agg")
FOLDS = range(1, 6)
#: The rank of a document that is in no ranking: rankings of TREC end there.
BELOW_ALL = 1000

Given, Result = TypeVar("Given"), TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Collection:
    """A collection in its five folds: three parts to learn from, one to tune on and one to be judged on."""

    name: str
    folds: tuple[Fold, ...]

    @cached_property
    def whole(self) -> Examples:
        """The test queries of all folds: every query once."""
        return together([fold.test for fold in self.folds])

    @cached_property
    def qrels(self) -> Qrels:
        """The labels."""
        return self.whole.qrels()

    def with_labels(self, labels: Floats) -> Collection:
        """Other labels of the documents of :attr:`whole`."""
        own = dict(zip(self.whole.query_ids, np.split(labels, self.whole.offsets[1:-1]), strict=True))

        def labelled(part: Examples | None) -> Examples:
            assert part is not None  # every fold has its three parts
            return replace(part, labels=np.concatenate([own[query] for query in part.query_ids]))

        return Collection(self.name, tuple(Fold(*map(labelled, fold)) for fold in self.folds))

    def runs(self, scores: Mapping[str, Sequence[Floats]]) -> dict[str, Run]:
        """Runs of all queries, from scores of the documents of each fold's test set; ties go by the documents' ids."""
        return {name: self.whole.run(np.concatenate(of_folds), name=name) for name, of_folds in scores.items()}


def mq2008(data: Path) -> Collection:
    """MQ2008 with its 46 features."""
    return Collection("MQ2008", tuple(letor.mq2008(data / "letor4_mq2008", fold) for fold in FOLDS))


def mq2007(data: Path) -> Collection:
    """MQ2007 with its 21 input rankings as features."""
    folds = []
    for fold in FOLDS:
        parts = letor.mq2007_agg(data / "letor4_mq2007_agg", fold)
        folds.append(Fold(*(part.with_features(of_ranks(part.features)) for part in parts if part is not None)))
    return Collection("MQ2007", tuple(folds))


def of_ranks(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks as features: the higher the better, and first places further apart than late ones.

    >>> of_ranks(np.array([2.0, np.nan])).round(2).tolist()
    [-0.69, -6.91]
    """
    return -np.log(np.where(np.isnan(ranks), BELOW_ALL, ranks))


class Fit(NamedTuple):
    """A fitted ranker: its value on the validation fold, and its scores of the test documents."""

    value: float
    scores: Floats


class Task(NamedTuple):
    """Some rankers that are to learn from one fold."""

    fold: Fold
    rankers: Sequence[Ranker]


def fits(task: Task) -> list[Fit]:
    """Fit rankers to a fold."""
    found = []
    for ranker in task.rankers:
        ranker.fit(task.fold.train, task.fold.validation)
        found.append(Fit(ranker.value(task.fold.validation), ranker.scored(task.fold.test)))
    return found


def in_parallel(work: Callable[[Given], Result], tasks: Iterable[Given]) -> list[Result]:
    """What becomes of every task, each done by one thread of one process: how many there are changes nothing."""
    context = get_context("spawn")
    processes = min(8, os.cpu_count() or 1)
    with ProcessPoolExecutor(processes, context, initializer=_one_thread) as pool:
        return list(pool.map(work, tasks))


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    import ranksift.learning.methods  # noqa: F401 (only libraries that are loaded can be limited)

    threadpool_limits(1)
