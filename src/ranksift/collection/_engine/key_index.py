"""Finding the rows of one table among those of another, by 64-bit keys of (query, document)."""

from __future__ import annotations

import numpy as np

from ranksift.collection._engine.grouping import Grouped, over_batches
from ranksift.collection._engine.ids import Hashes, Ints


class KeyIndex:
    """Find which rows of a table have one of a few keys: by a table of their top bits first, then by bisection."""

    def __init__(self, keys: Hashes) -> None:
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        self._bits = min(24, max(16, len(keys).bit_length() + 4))
        self._table = np.zeros(1 << self._bits, dtype=bool)
        self._table[self._keys >> np.uint64(64 - self._bits)] = True

    @property
    def ambiguous(self) -> bool:
        """Whether two keys are equal (by chance they never are)."""
        return bool((self._keys[1:] == self._keys[:-1]).any())

    def find(self, table: Grouped) -> tuple[Ints, Ints]:
        """Rows of ``table`` whose key is in the index, and their positions in it."""
        nothing = np.zeros(0, dtype=np.int64)
        found = over_batches(lambda batch: self._find(table, *batch), table.offsets)
        rows, positions = zip((nothing, nothing), *found, strict=True)
        return np.concatenate(rows), np.concatenate(positions)

    def _find(self, table: Grouped, first: int, last: int) -> tuple[Ints, Ints]:
        keys = table.keys(first, last)
        rows = np.flatnonzero(self._table[keys >> np.uint64(64 - self._bits)])
        wanted = keys[rows]
        if len(rows) > 1 << 12:  # bisection is fast when its needles come in order
            order = np.argsort(wanted)
            rows, wanted = rows[order], wanted[order]
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        hit = self._keys[at] == wanted
        rows, at = rows[hit], at[hit]
        if (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows)
            rows, at = rows[order], at[order]
        return rows + int(table.offsets[first]), self._order[at]
