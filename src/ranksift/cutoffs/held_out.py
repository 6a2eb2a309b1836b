"""What rules give on queries that they were not fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import folds_of
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Ints
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.measures.measure import Measure


def overall(measure: Measure, judged: JudgedRun) -> float:
    """A measure over all queries of a run."""
    return float(measure.aggregate(*measure.per_query(judged)))


def aggregate(measure: Measure, lists: Lists, kept: NDArray[np.bool_]) -> float:
    """A measure over all queries, with only some documents shown."""
    return overall(measure, lists.judged_by(kept))


class Split(NamedTuple):
    """Lists to fit to, others to judge by, and where the documents of the latter stand among all."""

    others: Lists
    own: Lists
    documents: Ints


def splits(lists: Lists, folds: int, seed: int) -> Iterator[Split]:
    """Each fold of the queries, and the others. A number that makes no folds is refused now, and not by the first."""
    fold = folds_of(len(lists), folds, seed)

    def split(f: int) -> Split:
        others, own = (lists.of_queries(np.flatnonzero(chosen)) for chosen in (fold != f, fold == f))
        return Split(others, own, np.flatnonzero(fold[lists.query] == f))

    return map(split, range(folds))


def held_out(rule: Cutoff, lists: Lists, folds: int, seed: int) -> NDArray[np.bool_]:
    """What a rule keeps of each fold of the queries when it is fitted to the others."""
    kept = np.zeros(len(lists.score), dtype=bool)
    for others, own, documents in splits(lists, folds, seed):
        kept[documents] = rule.clone().fit_lists(others).keep_lists(own)
    return kept
