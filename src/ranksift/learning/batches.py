"""Queries in batches, their documents side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Ints


class Padded(NamedTuple):
    """Lists as rows: where each document lies among those of the batch, and which cells hold one."""

    places: Ints
    mask: NDArray[np.bool_]


class Batch(NamedTuple):
    """The documents of some queries, and their lists in groups of about the same length."""

    rows: Ints
    groups: tuple[Padded, ...]
    queries: int


def batches(offsets: Ints, size: int | None, draw: np.random.Generator) -> Iterator[Batch]:
    """All queries that have documents, in random order, ``size`` at a time; None: all at once, as they come."""
    chosen = np.flatnonzero(np.diff(offsets) > 0)
    if size is None or size >= len(chosen):
        yield batch_of(offsets, chosen)
        return
    shuffled = draw.permutation(chosen)
    for start in range(0, len(shuffled), size):
        yield batch_of(offsets, shuffled[start : start + size])


def batch_of(offsets: Ints, queries: Ints) -> Batch:
    """A batch of these queries. Lists are padded with others of their size, so that padding at most doubles the data.

    >>> batch = batch_of(np.array([0, 1, 2, 5]), np.array([2, 0, 1]))
    >>> batch.rows.tolist(), [group.places.tolist() for group in batch.groups]
    ([2, 3, 4, 0, 1], [[[3], [4]], [[0, 1, 2]]])
    """
    rows, starts = ragged.take(offsets, queries)
    lengths = np.diff(starts)
    size = np.frexp(lengths.astype(np.float64))[1]  # bit length: lists of 4..7 together, 8..15, …
    groups = []
    for bits in ragged.distinct(size[lengths > 0]):
        lists = np.flatnonzero((size == bits) & (lengths > 0))
        place = np.arange(lengths[lists].max())
        mask = place < lengths[lists, None]
        groups.append(Padded(np.where(mask, starts[lists, None] + place, 0), mask))
    return Batch(rows, tuple(groups), len(queries))
