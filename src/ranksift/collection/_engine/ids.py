"""Columns of identifiers, kept as bytes in one buffer so that seven million of them cost no Python objects."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ranksift.files import PADDING, Bytes

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_U = np.uint64
_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=_U)
_MIX_1 = _U(0x9E3779B97F4A7C15)
_MIX_2 = _U(0xBF58476D1CE4E5B9)
_SHIFT = _U(32)
_WORDS = 512  # beyond so many words identifiers are few, and taken one by one
_SORTED_WORDS = 32


def loads(buffer: Bytes) -> Hashes:
    """View ``buffer`` as the (overlapping, little-endian) 8-byte words that start at each of its bytes."""
    return np.ndarray((max(len(buffer) - 7, 0),), dtype="<u8", buffer=buffer, strides=(1,))


class Ids(Sequence[str]):
    """An immutable column of identifiers.

    Parameters
    ----------
    buffer
        UTF-8 bytes with at least :data:`PADDING` bytes after the last identifier.
    starts, lengths
        Where each identifier begins in ``buffer`` and how many bytes it has.

    Examples
    --------
    >>> ids = Ids.from_strings(["d1", "d22", "d1"])
    >>> ids[1], len(ids), ids.tolist()
    ('d22', 3, ['d1', 'd22', 'd1'])
    >>> codes, first = ids.factorize()
    >>> codes.tolist(), first.tolist()
    ([0, 1, 0], [0, 1])
    """

    __slots__ = ("buffer", "lengths", "_starts", "_table")

    def __init__(
        self,
        buffer: Bytes,
        starts: NDArray[np.integer] | None,
        lengths: NDArray[np.integer],
        table: Hashes | None = None,
    ) -> None:
        self.buffer = buffer
        self.lengths = lengths
        self._starts = starts
        self._table = table

    @classmethod
    def from_table(cls, flat: Hashes, width: int, lengths: NDArray[np.integer]) -> Ids:
        """Take identifiers that lie in equal numbers of 8-byte words, one word of padding behind them all."""
        table = flat[: len(lengths) * width].reshape(len(lengths), width)
        return cls(flat.view(np.uint8), None, lengths, table)

    @property
    def starts(self) -> NDArray[np.integer]:
        """Where each identifier begins in the buffer."""
        if self._starts is None:  # one after another, all of the same width: no need to remember
            assert self._table is not None
            n, width = self._table.shape
            self._starts = np.arange(n, dtype=_offset_type(8 * width * n)) * (8 * width)
        return self._starts

    @property
    def table(self) -> Hashes | None:
        """The words of every identifier, a row each, where the buffer is made of them."""
        return self._table

    def compact(self) -> Ids:
        """The same identifiers in a buffer of their own, so that the one they came from can go."""
        n, width = len(self), self.words()
        # A few long ones would blow up the table.
        if width > _WORDS or 8 * width * n > 4 * int(self.lengths.sum()) + 16 * n:
            return Ids.from_packed(self.packed(), self.lengths)
        flat = np.empty(n * width + 1, dtype=_U)
        for j in range(width):
            flat[j:-1:width] = self.word(j)
        flat[-1] = 0
        return Ids.from_table(flat, width, self.lengths)

    def copy(self) -> Ids:
        """Rows of their own (they may be put in another order), the bytes are shared."""
        return Ids(self.buffer, self.starts.copy(), self.lengths.copy())

    @classmethod
    def concatenate(cls, columns: Sequence[Ids]) -> Ids:
        """Join columns, bytes and all."""
        if len(columns) == 1:
            return columns[0]
        sizes = [len(c.buffer) for c in columns]
        at = np.concatenate(([0], np.cumsum(sizes)))
        kind = _offset_type(int(at[-1]))
        starts = np.concatenate([c.starts.astype(kind) + kind(a) for c, a in zip(columns, at.tolist(), strict=False)])
        lengths = np.concatenate([c.lengths for c in columns])
        return cls(np.concatenate([c.buffer for c in columns]), starts, lengths)

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> Ids:
        """Pack Python strings."""
        encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls.from_packed(b"".join(encoded), lengths)

    @classmethod
    def from_packed(cls, packed: bytes, lengths: NDArray[np.integer]) -> Ids:
        """Take identifiers that lie one after another in ``packed``."""
        buffer = np.frombuffer(packed + bytes(PADDING), dtype=np.uint8)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        return cls(buffer, starts, lengths.astype(np.int64, copy=False))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        if isinstance(i, slice):
            lo, hi, step = i.indices(len(self))
            if self._table is None or step != 1:
                return Ids(self.buffer, self.starts[i], self.lengths[i])
            width = 8 * self._table.shape[1]
            return Ids(self.buffer[lo * width : hi * width + PADDING], None, self.lengths[i], self._table[i])
        if self._starts is None:
            return self.take(np.array([i], dtype=np.int64) % len(self))[0]
        start = int(self.starts[i])
        return str(memoryview(self.buffer)[start : start + int(self.lengths[i])], "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"<{len(self)} ids>"

    def take(self, rows: NDArray[np.integer]) -> Ids:
        """Select rows; the bytes are shared."""
        if self._starts is None and self._table is not None:
            return Ids(self.buffer, rows.astype(np.int64) * (8 * self._table.shape[1]), self.lengths[rows])
        return Ids(self.buffer, self.starts[rows], self.lengths[rows])

    def tolist(self) -> list[str]:
        """Python strings."""
        view = memoryview(self.buffer)
        spans = zip(self.starts.tolist(), self.lengths.tolist(), strict=True)
        return [str(view[s : s + n], "utf-8", "surrogatepass") for s, n in spans]

    def packed(self, separator: bytes = b"") -> bytes:
        """Join all identifiers into one byte string, each followed by ``separator``."""
        width = self.lengths.astype(np.int64) + len(separator)
        out = np.empty(int(width.sum()), dtype=np.uint8)
        ends = np.cumsum(width)
        for j, byte in enumerate(separator):
            out[ends - len(separator) + j] = byte
        step = 1 << 20  # rows at a time: the index array below is eight bytes for every byte copied
        for lo in range(0, len(self), step):
            n = self.lengths[lo : lo + step].astype(np.int64)
            within = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
            target = ends[lo : lo + step] - width[lo : lo + step]
            source = self.starts[lo : lo + step].astype(np.int64)
            out[np.repeat(target, n) + within] = self.buffer[np.repeat(source, n) + within]
        return out.tobytes()

    def word(self, j: int) -> Hashes:
        """Bytes 8j to 8j+7 of every identifier as a little-endian number, zero past its end."""
        if self._table is not None:
            return self._table[:, j] if j < self._table.shape[1] else np.zeros(len(self), dtype=_U)
        lengths, at = self.lengths.astype(np.int64, copy=False), self.starts
        if j:  # past the end of a short identifier there may be no buffer left
            lengths = np.maximum(lengths - 8 * j, 0)
            at = np.minimum(at.astype(np.int64, copy=False) + 8 * j, len(self.buffer) - 8)
        word = loads(self.buffer)[at]
        shortest = int(lengths.min(initial=8))
        if shortest < 8:
            word &= _KEEP[shortest] if shortest == lengths.max() else _KEEP[np.minimum(lengths, 8)]
        return np.asarray(word)

    def words(self) -> int:
        """How many 8-byte words the longest identifier has."""
        return -(-int(self.lengths.max(initial=0)) // 8)

    def hashes(self, seed: Hashes | None = None) -> Hashes:
        """Hash every identifier to 64 bits; ``seed`` (one per identifier) turns it into the hash of a pair.

        Equal identifiers have equal hashes whatever column they stand in. The reverse is checked
        by callers that rely on it (:meth:`same`), so a collision can cost time, but never gives a wrong number.
        """
        h = self.lengths.astype(_U) * _MIX_1
        if seed is not None:
            h ^= seed
        for j in range(min(self.words(), _WORDS)):
            active = self.lengths > 8 * j
            if active.all():
                h ^= self.word(j)
                h *= _MIX_2
                h ^= h >> _SHIFT
            else:
                rows = np.flatnonzero(active)
                part = (h[rows] ^ self.take(rows).word(j)) * _MIX_2
                h[rows] = part ^ (part >> _SHIFT)
        if long := self._long():
            h[long] = (h[long] ^ np.array([zlib.crc32(self._bytes(row)) for row in long], dtype=_U)) * _MIX_2
        return h

    def same(self, other: Ids) -> NDArray[np.bool_]:
        """Compare row by row with another column of the same length, exactly."""
        equal = np.asarray(self.lengths == other.lengths)
        for j in range(min(self.words(), other.words(), _WORDS)):
            equal &= self.word(j) == other.word(j)
        for row in self._long():
            equal[row] = equal[row] and self._bytes(row) == other._bytes(row)
        return equal

    def changes(self) -> NDArray[np.bool_]:
        """Whether each row but the first differs from the one before it."""
        change = np.asarray(self.lengths[1:] != self.lengths[:-1])
        for j in range(min(self.words(), _WORDS)):
            word = self.word(j)
            change |= word[1:] != word[:-1]
        for row in self._long():
            if row and not change[row - 1]:
                change[row - 1] = self._bytes(row) != self._bytes(row - 1)
        return change

    def _long(self) -> list[int]:
        if self.words() <= _WORDS:
            return []
        return np.flatnonzero(self.lengths > 8 * _WORDS).tolist()

    def _bytes(self, row: int) -> bytes:
        start = int(self.starts[row])
        return self.buffer[start : start + int(self.lengths[row])].tobytes()

    def factorize(self, hashes: Hashes | None = None) -> tuple[Ints, Ints]:
        """Number the distinct identifiers in order of appearance.

        Returns
        -------
        codes
            For every row the number of its identifier.
        first
            For every number the row in which it appears first.
        """
        h = self.hashes() if hashes is None else hashes
        unique, first = _unique_first(h)
        codes = _lookup(unique, h)
        if not self.same(self.take(first[codes])).all():  # two identifiers share a hash
            return self._factorize_by_dict()
        appearance = np.argsort(first, kind="stable")
        number = np.empty(len(first), dtype=np.int64)
        number[appearance] = np.arange(len(first))
        return number[codes], first[appearance]

    def _factorize_by_dict(self) -> tuple[Ints, Ints]:
        seen: dict[str, int] = {}
        codes = [seen.setdefault(s, len(seen)) for s in self.tolist()]
        all_codes = np.array(codes, dtype=np.int64)
        return all_codes, np.unique(all_codes, return_index=True)[1]

    def descending(self, groups: Ints) -> Ints:
        """Order rows by group, and inside a group by identifier, last in byte order first."""
        if self.words() > _SORTED_WORDS:
            return self._descending_by_bytes(groups)
        keys = [~self.word(j).byteswap() for j in reversed(range(self.words()))]
        # A missing word is 0 and sorts below any byte, so a prefix is the smaller one, as in strcmp.
        order = np.lexsort((*keys, groups))
        equal = np.ones(max(len(self) - 1, 0), dtype=bool)
        for key in (*keys, groups):
            equal &= key[order[1:]] == key[order[:-1]]
        if equal.any():  # the same but for zero bytes at the end
            order = np.lexsort((-self.lengths.astype(np.int64), *keys, groups))
        return order.astype(np.int64, copy=False)

    def _descending_by_bytes(self, groups: Ints) -> Ints:
        names = [self._bytes(row) for row in range(len(self))]
        order = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), dtype=np.int64)
        return order[np.argsort(groups[order], kind="stable")]


def _offset_type(size: int) -> type[np.integer]:
    """Four bytes where they suffice to point into ``size`` bytes."""
    return np.uint32 if size < 1 << 32 else np.int64


def _unique_first(h: Hashes) -> tuple[Hashes, Ints]:
    """Distinct hashes in ascending order, with a row in which each first appears."""
    if len(h) <= 1 << 16:
        unique, first = np.unique(h, return_index=True)
        return unique, first.astype(np.int64, copy=False)
    ordered = np.sort(h)
    keep = np.ones(len(h), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=keep[1:])
    unique = ordered[keep]
    first = np.full(len(unique), len(h), dtype=np.int64)
    codes = _lookup(unique, h)
    # Written back to front, the first appearance is the last one written.
    first[codes[::-1]] = np.arange(len(h) - 1, -1, -1)
    return unique, first


def _lookup(ordered: Hashes, needles: Hashes) -> Ints:
    """Positions of ``needles`` (all present) in ``ordered``, through a table of the top bits."""
    if len(needles) < 1 << 14 or len(ordered) > 1 << 20:
        return np.searchsorted(ordered, needles).astype(np.int64, copy=False)
    bits = min(22, max(12, len(ordered).bit_length() + 6))
    shift = _U(64 - bits)
    slot = ordered >> shift
    table = np.zeros(1 << bits, dtype=np.int32)
    table[slot] = np.arange(len(ordered), dtype=np.int32)
    found = table[needles >> shift].astype(np.int64)
    wrong = np.flatnonzero(ordered[found] != needles)
    found[wrong] = np.searchsorted(ordered, needles[wrong])
    return np.asarray(found)
