"""Queries in batches, their documents side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Ints

#: Pairs of documents of one query that a batch may have: a loss of pairs takes some 20 bytes for each.
MOST_PAIRS = 1 << 24


class Padded(NamedTuple):
    """Lists as rows: where each document lies among those of the batch, and which cells hold one."""

    places: Ints
    mask: NDArray[np.bool_]


class Batch(NamedTuple):
    """The documents of some queries, and their lists in groups of about the same length."""

    rows: Ints
    groups: tuple[Padded, ...]
    queries: int


def batches(
    offsets: Ints, size: int | None, draw: np.random.Generator, most: int = MOST_PAIRS
) -> Iterator[tuple[Batch, ...]]:
    """All queries that have documents, in random order, ``size`` at a time; None: all at once, as they come.

    What comes at a time is one batch, or several where lists are long: of about ``most`` pairs of documents each, and
    of one query at least.
    """
    chosen = np.flatnonzero(np.diff(offsets) > 0)
    if size is None or size >= len(chosen):
        yield _in_pieces(offsets, chosen, most)
        return
    shuffled = draw.permutation(chosen)
    for start in range(0, len(shuffled), size):
        yield _in_pieces(offsets, shuffled[start : start + size], most)


def _in_pieces(offsets: Ints, queries: Ints, most: int) -> tuple[Batch, ...]:
    pairs = np.cumsum(np.diff(offsets)[queries] ** 2)
    starts = np.flatnonzero(np.diff((pairs - 1) // most, prepend=0))
    return tuple(batch_of(offsets, piece) for piece in np.split(queries, starts) if len(piece))


def batch_of(offsets: Ints, queries: Ints) -> Batch:
    """A batch of these queries. Lists are padded with others of their size, so that padding at most doubles the data.

    >>> batch = batch_of(np.array([0, 1, 2, 5]), np.array([2, 0, 1]))
    >>> batch.rows.tolist(), [group.places.tolist() for group in batch.groups]
    ([2, 3, 4, 0, 1], [[[3], [4]], [[0, 1, 2]]])
    """
    rows, starts = ragged.take(offsets, queries)
    lengths = np.diff(starts)
    groups = []
    for lists in ragged.of_about_one_length(lengths):
        place = np.arange(lengths[lists].max())
        mask = place < lengths[lists, None]
        groups.append(Padded(np.where(mask, starts[lists, None] + place, 0), mask))
    return Batch(rows, tuple(groups), len(queries))


def some_at_a_time(offsets: Ints, queries: Ints, cells: Callable[[int], int], most: int) -> Iterator[Padded]:
    """The lists of these queries, of about the same length together, a few at a time; places are rows of the examples.

    Parameters
    ----------
    offsets
        Query i owns the rows ``offsets[i]`` to ``offsets[i + 1]``.
    queries
        Those without documents are left out.
    cells
        What the work on one list takes, of its length with padding.
    most
        Cells that are worked on at once; one list comes whatever it takes.

    Examples
    --------
    >>> lists = some_at_a_time(np.array([0, 2, 2, 4, 6]), np.arange(4), cells=lambda size: size * size, most=8)
    >>> [some.places.tolist() for some in lists]
    [[[0, 1], [2, 3]], [[4, 5]]]
    """
    batch = batch_of(offsets, queries)
    for group in batch.groups:
        step = max(1, most // cells(group.mask.shape[1]))
        for i in range(0, len(group.mask), step):
            yield Padded(batch.rows[group.places[i : i + step]], group.mask[i : i + step])
