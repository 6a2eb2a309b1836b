"""Systems as a measure sees them: their scores, and the order that these put them in."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ranksift.collection.ragged import Floats, Ints
from ranksift.evaluation.compare import higher_is_better
from ranksift.evaluation.scores import Scores
from ranksift.study.preconditions import ROUNDING


def without_k(measure: object) -> str:
    """A measure's name without its k: what all measures have in common that differ in nothing else.

    >>> without_k("nDCG@10"), without_k("UL1(nDCG@10)")
    ('nDCG', 'UL1(nDCG@10)')
    """
    return re.sub(r"@\d+$", "", str(measure))


def families(scores: Scores, over_k: bool) -> dict[str, list[int]]:
    """Columns of the measures that count as one: each on its own, or all that differ in nothing but k.

    >>> scores = Scores.from_array([[[1, 2, 3]]], runs="a", queries="q", measures=["AP", "nDCG@5", "nDCG@10"])
    >>> families(scores, over_k=True)
    {'AP': [0], 'nDCG': [1, 2]}
    """
    found: dict[str, list[int]] = {}
    for column, measure in enumerate(scores.measures):
        name = without_k(measure) if over_k else str(measure)
        found.setdefault(name, []).append(column)
    return found


def system_scores(scores: Scores, columns: Sequence[int]) -> Floats:
    """Each system's score by a family of measures: the mean of their aggregates."""
    each = (scores.aggregate_of(m, scores.numerators[:, :, m], scores.denominators[:, :, m]) for m in columns)
    return np.asarray(np.mean(list(each), axis=0))


def system_levels(scores: Scores, columns: Sequence[int]) -> Ints:
    """The place of each system by a family of measures, where costs are better when they are lower."""
    worth = system_scores(scores, columns)
    return levels(worth if higher_is_better(scores.measures[columns[0]]) else -worth)


def levels(worth: Floats) -> Ints:
    """The place of each system in the order of its worth: the worst have level 0, equals the same level.

    Systems that rounding alone sets apart are equals.

    >>> levels(np.array([0.5, 0.1 + 0.2, 0.9, 0.3])).tolist()
    [1, 0, 2, 0]
    """
    order = np.argsort(worth, kind="stable")
    steps = np.diff(worth[order]) > ROUNDING * np.abs(worth).max(initial=0.0)
    out = np.empty(len(worth), dtype=np.int64)
    out[order] = np.concatenate(([0], np.cumsum(steps)))
    return out
