"""The judged documents of every query: what a ranking could at best, at worst and on average have shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pool:
    """Labels of the judged documents, query after query.

    Parameters
    ----------
    offsets
        Query i owns ``labels[offsets[i]:offsets[i + 1]]``.
    labels
        One label per judged document.
    largest_label
        The largest label of the whole collection, whatever queries this pool holds (0 if there is none).
    all_labels
        Distinct labels of the whole collection.
    """

    offsets: Ints
    labels: Floats
    all_labels: Floats
    _sorted: dict[Gains, Floats] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, offsets: Ints, labels: Floats) -> Pool:
        """Make a pool that is the whole collection."""
        return cls(offsets, labels, ragged.distinct(labels))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def largest_label(self) -> float:
        """The largest label of the collection, 0 if there is none."""
        return float(self.all_labels.max(initial=0.0))

    def largest_gain(self, gains: Gains) -> float:
        """The largest gain of the collection, 0 if none is positive."""
        return float(gains(self.all_labels).max(initial=0.0))

    @cached_property
    def size(self) -> Ints:
        """Judged documents of each query."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each judged document."""
        return np.repeat(np.arange(len(self)), self.size)

    @cached_property
    def position(self) -> Ints:
        """1, 2, 3, … inside each query: the rank a document has when the pool is sorted."""
        return ragged.positions(self.size) + 1

    def best_first(self, gains: Gains) -> Floats:
        """Gains of each query's documents, highest first."""
        if gains not in self._sorted:
            value = gains(self.labels)
            # Labels are few: sorting by their number is faster than by the gains themselves.
            distinct = ragged.distinct(value)
            falling = len(distinct) - 1 - np.searchsorted(distinct, value)
            order = ragged.order_by(falling, len(distinct))
            self._sorted[gains] = value[order[ragged.order_by(self.query[order], len(self))]]
        return self._sorted[gains]

    def worst_first(self, gains: Gains) -> Floats:
        """Gains of each query's documents, lowest first."""
        best = self.best_first(gains)
        mirror = (self.offsets[:-1] + self.offsets[1:])[self.query] - 1 - np.arange(len(best))
        return np.asarray(best[mirror])

    def sum(self, values: NDArray[np.generic]) -> Floats:
        """Sum over each query's documents."""
        return ragged.sums(values, self.query, len(self))

    def count(self, relevant: Callable[[Floats], NDArray[np.bool_]]) -> Ints:
        """Documents of each query whose label satisfies ``relevant``."""
        return ragged.counts(relevant(self.labels), self.query, len(self))

    def take(self, queries: Ints) -> Pool:
        """The pool of some queries; a query -1 has no judged document."""
        offsets = np.append(self.offsets, self.offsets[-1])  # list -1 is the empty one at the end
        rows, new = ragged.take(offsets, queries)
        ready = {gains: best[rows] for gains, best in self._sorted.items()}
        return Pool(new, self.labels[rows], self.all_labels, ready)
