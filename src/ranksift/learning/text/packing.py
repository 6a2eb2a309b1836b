"""Sequences packed end to end: no token of a batch is padding, but for a few that make shapes repeat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Ints
from ranksift.learning.text.tokens import Tokens

# Sequences whose attention is computed together differ by at most this factor in length. Attention is a few percent of
# the work, so that a little padding there costs less than many small calls.
_ABOUT_ONE_LENGTH = 1.25

# Shapes in one octave of sizes: at most 1/32 of a batch is padding.
_SHAPES = 32
_SEQUENCES = 32


class Group(NamedTuple):
    """Sequences of a batch whose attention is computed together.

    Attributes
    ----------
    first, last
        Their tokens, which lie together.
    places
        Sequences × length: of each cell the token in the batch, any if there is none; None if all sequences have
        the same length, so that they lie as a rectangle already.
    mask
        Which cells hold a token.
    length
        The longest.
    """

    first: int
    last: int
    length: int
    places: Ints | None
    mask: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class Packed:
    """A batch of sequences, one after another.

    Attributes
    ----------
    ids, types, positions, owner
        For each token: its id, whether it is of the second type, its place in its sequence, and which sequence that is.
    starts
        Sequence i owns the tokens ``starts[i]`` to ``starts[i + 1]``.
    longest
        No sequence is longer.
    back
        Where in the batch the sequence of each row stands that was asked for.
    """

    ids: NDArray[np.int32]
    types: NDArray[np.int32]
    positions: NDArray[np.int32]
    owner: NDArray[np.int32]
    starts: NDArray[np.int32]
    longest: int
    back: Ints

    @property
    def shape(self) -> tuple[int, int, int]:
        """Tokens, sequences, and the longest: batches of one shape take the same work."""
        return len(self.ids), len(self.starts) - 1, self.longest

    def groups(self) -> tuple[Group, ...]:
        """Sequences of about the same length together; as they are sorted, each group lies together."""
        return groups_of(self.starts.astype(np.int64))


def groups_of(starts: Ints) -> tuple[Group, ...]:
    """Neighbours of about the same length together.

    >>> [(group.first, group.last, group.length) for group in groups_of(np.array([0, 2, 4, 14, 25]))]
    [(0, 4, 2), (4, 25, 11)]
    """
    lengths = np.diff(starts)
    found = []
    i = 0
    while i < len(lengths):
        low = high = int(lengths[i])
        j = i + 1
        while j < len(lengths):
            low, high = min(low, int(lengths[j])), max(high, int(lengths[j]))
            if high > _ABOUT_ONE_LENGTH * low:
                break
            j += 1
        n = lengths[i:j]
        if n.max():
            place = np.arange(n.max())
            mask = place < n[:, None]
            even = bool(mask.all())
            places = None if even else np.where(mask, starts[i:j, None] + place, starts[i])
            found.append(Group(int(starts[i]), int(starts[j]), int(n.max()), places, None if even else mask))
        i = j
    return tuple(found)


def pack(tokens: Tokens, rows: Ints, *, few_shapes: bool = False, longest: int | None = None) -> Packed:
    """A batch of some rows, sorted by length.

    Parameters
    ----------
    tokens, rows
        The texts, and which of them.
    few_shapes
        Add sequences of padding, so that batches of about the same size have the same shape, and so that one compiled
        or recorded step does for all of them.
    longest
        No shorter than the longest sequence; None: that.

    Examples
    --------
    >>> from ranksift.learning.text.tokens import Cut
    >>> two = Tokens(np.arange(5, dtype=np.int32), np.array([0, 3, 5]), np.array([2, 2]), Cut(2, 0, 5, 0, 0))
    >>> batch = pack(two, np.array([0, 1]))
    >>> batch.ids.tolist(), batch.starts.tolist(), batch.positions.tolist(), batch.types.tolist()
    ([3, 4, 0, 1, 2], [0, 2, 5], [0, 1, 0, 1, 2], [0, 0, 0, 0, 1])
    >>> batch.back.tolist()
    [1, 0]
    """
    rows = np.asarray(rows, dtype=np.int64)
    order = np.argsort(tokens.lengths[rows], kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    chosen = rows[order]
    where, starts = ragged.take(tokens.offsets, chosen)
    lengths = np.diff(starts)
    longest = max(int(lengths.max(initial=1)), longest or 1)
    ids, second = tokens.ids[where], tokens.second[chosen]
    if few_shapes:
        size, count = int(starts[-1]), len(lengths)
        total = rounded_up(size)
        padding = np.full(-(-(total - size) // longest), longest, dtype=np.int64)
        if len(padding):
            padding[-1] = total - size - longest * (len(padding) - 1)
        spare = -(-(count + len(padding)) // _SEQUENCES) * _SEQUENCES - count - len(padding)
        lengths = np.concatenate((lengths, padding, np.zeros(spare, dtype=np.int64)))
        second = np.concatenate((second, lengths[count:]))
        ids = np.concatenate((ids, np.zeros(total - size, dtype=np.int32)))
        starts = ragged.offsets_of(lengths)
    positions = ragged.positions(lengths)
    return Packed(
        ids=ids,
        types=(positions >= np.repeat(second, lengths)).astype(np.int32),
        positions=positions.astype(np.int32),
        owner=np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        starts=starts.astype(np.int32),
        longest=longest,
        back=back,
    )


def rounded_up(size: int) -> int:
    """A size that batches share: at most one thirty-second more, and a multiple of 64.

    >>> rounded_up(16_400), rounded_up(100)
    (16896, 128)
    """
    step = max(64, (1 << max(0, size - 1).bit_length()) // (2 * _SHAPES))
    return -(-size // step) * step


def by_length(lengths: Ints, budget: int) -> Iterator[Ints]:
    """All rows, those of about the same length together, at most ``budget`` tokens at a time; long ones come first.

    What comes first takes the most memory, so that too little of it is noticed at once.

    >>> [rows.tolist() for rows in by_length(np.array([2, 9, 3, 8]), 11)]
    [[1], [3, 2], [0]]
    """
    order = np.argsort(-lengths, kind="stable")
    yield from (order[part] for part in under_budget(lengths[order], budget))


def under_budget(sizes: Ints, budget: int) -> Iterator[slice]:
    """Neighbours together while their sizes sum up to at most ``budget``; one alone may be larger.

    >>> list(under_budget(np.array([3, 4, 9, 1]), 8))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start, total = 0, 0
    for i, size in enumerate(sizes.tolist()):
        if total + size > budget and i > start:
            yield slice(start, i)
            start, total = i, 0
        total += size
    if start < len(sizes):
        yield slice(start, len(sizes))
