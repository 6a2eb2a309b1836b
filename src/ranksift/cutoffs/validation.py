"""What rules give on queries that they were not fitted on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.errors import InputError
from ranksift.collection.ragged import Ints
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.lists import Lists
from ranksift.measures.measure import Measure


def aggregate(measure: Measure, lists: Lists, kept: NDArray[np.bool_]) -> float:
    """A measure over all queries, with only some documents shown."""
    found = measure.per_query(lists.judged_by(kept))
    bottom = np.ones(len(found.numerator)) if found.denominator is None else found.denominator
    return float(measure.aggregate(found.numerator, bottom))


def folds_of(queries: int, folds: int, seed: int) -> Ints:
    """The fold of each query, drawn by the seed."""
    if not 2 <= folds <= queries:
        raise InputError(f"{folds} folds of {queries} queries", remedy=f"give between 2 and {queries} folds")
    fold = np.empty(queries, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(queries)] = np.arange(queries) % folds
    return fold


def held_out(rule: Cutoff, lists: Lists, folds: int, seed: int) -> NDArray[np.bool_]:
    """What a rule keeps of each fold of the queries when it is fitted to the others."""
    fold = folds_of(len(lists), folds, seed)
    kept = np.zeros(len(lists.score), dtype=bool)
    for f in range(folds):
        others, own = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        part = rule.clone().fit_lists(lists.of_queries(others)).keep_lists(lists.of_queries(own))
        kept[np.flatnonzero(fold[lists.query] == f)] = part
    return kept
