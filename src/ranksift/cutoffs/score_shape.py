"""The shape of a score list: what is known about a query before any of its documents is judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import folds_of
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints


@dataclass(frozen=True, eq=False)
class Shape:
    """What the scores of each query look like, one number per query; of a list without documents all are 0.

    Attributes
    ----------
    offsets
        Query i owns the scores ``offsets[i]`` to ``offsets[i + 1]``.
    score
        Query after query, the highest first.

    Examples
    --------
    >>> shape = Shape.of(Lists.from_arrays([9.0, 5.0, 4.0, 2.0], None, ["q", "q", "q", "r"]))
    >>> shape.top.tolist(), shape.lead.tolist(), shape.flat.tolist()
    ([9.0, 2.0], [4.0, 0.0], [False, True])
    """

    offsets: Ints
    score: Floats

    @classmethod
    def of(cls, lists: Lists) -> Shape:
        """The shape of the scores that lists are cut on."""
        if lists.cuts_from_the_end:
            return cls(lists.offsets, lists.score)
        return cls(lists.offsets, lists.score[np.lexsort((-lists.score, lists.query))])

    @cached_property
    def size(self) -> Ints:
        """Documents."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each score."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @cached_property
    def count(self) -> Floats:
        """The logarithm of the number of documents."""
        return np.log(np.maximum(self.size, 1))

    @cached_property
    def top(self) -> Floats:
        """The highest score."""
        return self._at(self.offsets[:-1])

    @cached_property
    def bottom(self) -> Floats:
        """The lowest score."""
        return self._at(self.offsets[1:] - 1)

    @cached_property
    def flat(self) -> NDArray[np.bool_]:
        """Whether all scores are equal: one document, or several that are all the same."""
        return np.asarray(self.top == self.bottom)

    @cached_property
    def mean(self) -> Floats:
        """The mean score."""
        mean = self._sum(self.score) / np.maximum(self.size, 1)
        return np.where(self.flat, self.top, mean)  # to the last digit

    @cached_property
    def deviation(self) -> Floats:
        """The standard deviation of the scores."""
        # Squares of shares of the largest distance neither overflow nor vanish.
        largest = np.maximum(self.top - self.mean, self.mean - self.bottom)
        away = (self.score - self.mean[self.query]) / np.where(largest > 0, largest, 1.0)[self.query]
        return largest * np.sqrt(self._sum(away * away) / np.maximum(self.size, 1))

    @cached_property
    def lead(self) -> Floats:
        """How far the first score is above the second; of one document 0."""
        lead = np.zeros(len(self.size))
        several = self.size > 1
        first = self.offsets[:-1][several]
        lead[several] = self.score[first] - self.score[first + 1]
        return lead

    @cached_property
    def gap(self) -> Floats:
        """The largest fall from one score to the next; of one document 0."""
        gap = np.zeros(len(self.size))
        inside = self.query[1:] == self.query[:-1]
        np.maximum.at(gap, self.query[1:][inside], (self.score[:-1] - self.score[1:])[inside])
        return gap

    @cached_property
    def slope(self) -> Floats:
        """By how much scores fall from rank to rank: minus the least-squares slope on the rank; of one document 0."""
        rank = ragged.positions(self.size) - (self.size[self.query] - 1) / 2.0
        below = self._sum(rank * rank)
        steep: Floats = np.divide(
            -self._sum(rank * (self.score - self.mean[self.query])), below, out=np.zeros(len(below)), where=below > 0
        )
        return steep

    def features(self, names: tuple[str, ...]) -> Floats:
        """Some of :data:`FEATURES`, one row per query."""
        columns = [getattr(self, name) for name in names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.size), 0))

    def folds(self, folds: int, seed: int) -> Ints:
        """A fold for each query; drawn among queries as they look, so that the order of queries plays no part."""
        alike = np.lexsort((*self.features(tuple(FEATURES)).T, self.size))
        fold = np.empty(len(alike), dtype=np.int64)
        fold[alike] = folds_of(len(alike), min(folds, len(alike)), seed)
        return fold

    def _at(self, where: Ints) -> Floats:
        found = np.zeros(len(self.size))
        full = self.size > 0
        found[full] = self.score[where[full]]
        return found

    def _sum(self, values: Floats) -> Floats:
        return ragged.sums(values, self.query, len(self.size))


#: What a rule can learn from, with what it is.
FEATURES = {
    "count": "the natural logarithm of the number of documents",
    "top": "the highest score",
    "mean": "the mean score",
    "deviation": "the standard deviation of the scores (n in the denominator)",
    "lead": "the first score less the second (of one document 0)",
    "gap": "the largest fall from one score to the next (of one document 0)",
    "slope": "minus the least-squares slope of the score on the rank (of one document 0)",
}
