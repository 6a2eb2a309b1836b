"""Sorting and adding up many lists at once, again and again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Floats, Ints


class ListOrder:
    """Sorts or adds up lists that lie one after another in a flat array; what their lengths tell is made once.

    Lists of about the same length are the rows of a matrix. Its rows sort many times faster than all entries do by list
    and value.

    Examples
    --------
    >>> ListOrder(np.array([0, 2, 5])).falling(np.array([[1.0, 2.0, 5.0, 5.0, 9.0]])).tolist()
    [[1, 0, 4, 2, 3]]
    >>> ListOrder(np.array([0, 2, 5])).running(np.array([1.0, 2.0, 5.0, 5.0, 9.0])).tolist()
    [1.0, 3.0, 5.0, 10.0, 19.0]
    """

    def __init__(self, offsets: Ints) -> None:
        lengths = np.diff(offsets)
        self._blocks: list[tuple[Ints, Ints, Ints]] = []
        for lists in ragged.of_about_one_length(lengths):
            place = np.arange(int(lengths[lists].max()))
            real = place < lengths[lists, None]
            entries = np.where(real, offsets[lists, None] + place, offsets[-1])  # the last is one past the end
            self._blocks.append((entries, np.flatnonzero(real), entries[real]))

    def falling(self, values: NDArray[np.floating]) -> Ints:
        """For each row of values the entries of every list by falling value, equals as they come."""
        out = np.empty(values.shape, dtype=np.int64)
        keys = np.concatenate((-values, np.full((len(values), 1), np.inf)), axis=1)
        for entries, real, rows in self._blocks:
            order = np.argsort(keys[:, entries], axis=-1, kind="stable") + entries[:, :1]
            out[:, rows] = order.reshape(len(values), -1)[:, real]
        return out

    def running(self, values: Floats) -> Floats:
        """Running sum inside each list; every list is summed on its own, as :func:`ragged.accumulate` does it."""
        out = np.empty(len(values))
        padded = np.append(values, 0.0)
        for entries, real, rows in self._blocks:
            out[rows] = np.cumsum(padded[entries], axis=1).ravel()[real]
        return out
