"""Rows of (query, document, value) brought together by query: the common ground of qrels and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.ids import Hashes, Ids, Ints
from ranksift.collection._engine.lines import usable_cores
from ranksift.errors import InputError

Floats = NDArray[np.float64]
OnDuplicate = Literal["error", "first", "best"]

_BATCH = 1 << 16  # rows that are sorted together: they and their keys stay in the cache
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """Consecutive rows of a source. The query is kept once for each stretch of rows that share it."""

    heads: Ints
    head_ids: Ids
    head_hashes: Hashes
    docs: Ids
    values: Floats

    @classmethod
    def of(cls, queries: Ids, docs: Ids, values: Floats) -> Part:
        """Take one query, document and value per row."""
        heads = np.flatnonzero(np.concatenate((np.ones(min(len(docs), 1), dtype=bool), queries.changes())))
        head_ids = queries.take(heads).compact()
        return cls(heads, head_ids, head_ids.hashes(), docs, values)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Documents of every query: query i owns the rows ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    query_ids
        The queries, in order of first appearance.
    offsets
        One more than there are queries.
    docs
        Document ids, one per row.
    values
        Scores or labels, one per row.
    """

    query_ids: tuple[str, ...]
    offsets: Ints
    docs: Ids
    values: Floats

    @property
    def lengths(self) -> Ints:
        """Rows of each query."""
        return np.diff(self.offsets)

    def take(self, rows: NDArray[np.integer], offsets: Ints | None = None) -> Grouped:
        """Reorder rows within their queries, or (with new ``offsets``) drop some."""
        return Grouped(
            self.query_ids,
            self.offsets if offsets is None else offsets,
            self.docs.take(rows),
            self.values[rows],
        )

    @cached_property
    def query_hashes(self) -> Hashes:
        """A 64-bit hash of each query."""
        return Ids.from_strings(self.query_ids).hashes()

    def keys(self, first: int, last: int) -> Hashes:
        """A 64-bit hash of (query, document) for each row of the queries ``first`` to ``last``.

        They are made when they are needed: that takes less time than memory to keep them in.
        """
        lo, hi = int(self.offsets[first]), int(self.offsets[last])
        seed = np.repeat(self.query_hashes[first:last], np.diff(self.offsets[first : last + 1]))
        docs: Ids = self.docs[lo:hi]
        return docs.hashes(seed)

    def query_of(self, row: int) -> str:
        """The query that a row belongs to."""
        return self.query_ids[int(np.searchsorted(self.offsets, row, side="right")) - 1]


class Gathering:
    """Rows that come part by part, copied into columns that grow with them.

    The columns are sized by the first parts, so that memory is asked for once: on many machines fresh
    memory costs more time than the work done in it.

    Parameters
    ----------
    size
        The size of the whole source, in the unit in which :meth:`add` gets the size of a part.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._seen = 0
        self._rows = 0
        self._values: Floats = np.empty(0)
        self._lengths: NDArray[Any] = np.empty(0, dtype=np.uint8)
        self._words: Hashes = np.empty(0, dtype=np.uint64)
        self._width = -1  # words of a document id; 0 if they do not lie in words of one number
        self._docs: list[Ids] = []
        self._heads: list[Ints] = []
        self._head_ids: list[Ids] = []
        self._head_hashes: list[Hashes] = []

    def add(self, part: Part, size: int) -> None:
        """Take the next part."""
        self._seen += size
        lo, hi = self._rows, self._rows + len(part.values)
        self._add_docs(part.docs, lo, hi)
        self._values = self._room(self._values, lo, hi)
        self._values[lo:hi] = part.values
        self._heads.append(part.heads + lo)
        self._head_ids.append(part.head_ids)
        self._head_hashes.append(part.head_hashes)
        self._rows = hi

    def _room(self, column: NDArray[Any], used: int, needed: int, width: int = 1) -> NDArray[Any]:
        if needed * width < len(column):  # one place more than the rows need: ids have a word of padding behind them
            return column
        expected = int(1.02 * needed * max(self._size, self._seen) / max(self._seen, 1)) + 64
        larger = np.empty(max(expected, needed) * width + 1, dtype=column.dtype)
        larger[: used * width] = column[: used * width]
        return larger

    def _add_docs(self, docs: Ids, lo: int, hi: int) -> None:
        if lo == hi:
            return
        width = 0 if docs.table is None else docs.table.shape[1]
        if self._width < 0:
            self._width = width
            self._lengths = self._lengths.astype(np.uint8 if 8 * width < 256 else np.uint32)
        if self._width and not 0 < width <= self._width:
            if lo:
                self._docs.append(self._table_of(lo))
            self._width = 0
        if not self._width:
            self._docs.append(docs)
            return
        self._lengths = self._room(self._lengths, lo, hi)
        self._words = self._room(self._words, lo, hi, self._width)
        self._lengths[lo:hi] = docs.lengths
        assert docs.table is not None
        target = self._words[lo * self._width : hi * self._width].reshape(hi - lo, self._width)
        target[:, :width] = docs.table
        target[:, width:] = 0

    def _table_of(self, rows: int) -> Ids:
        end = rows * self._width
        self._words[end] = 0
        return Ids.from_table(self._words[: end + 1], self._width, self._lengths[:rows])

    def grouped(self) -> Grouped:
        """Bring the rows of each query together, keeping their order."""
        n = self._rows
        if not n:
            return Grouped((), np.zeros(1, dtype=np.int64), Ids.from_strings([]), np.zeros(0))
        docs = self._table_of(n) if self._width else Ids.concatenate(self._docs).copy()
        heads = np.concatenate(self._heads)
        head_ids = Ids.concatenate(self._head_ids)
        codes, first = head_ids.factorize(np.concatenate(self._head_hashes))
        stretch = np.diff(heads, append=n)
        count = np.bincount(codes, weights=stretch, minlength=len(first)).astype(np.int64)
        offsets = np.concatenate(([0], np.cumsum(count)))
        names = tuple(head_ids.take(first).tolist())
        grouped = Grouped(names, offsets, docs, self._values[:n])
        if (codes[1:] >= codes[:-1]).all():
            return grouped
        return grouped.take(_stable_order(np.repeat(codes, stretch), len(first)))


def group(parts: Sequence[Part]) -> Grouped:
    """Bring the rows of each query together, keeping their order."""
    gathering = Gathering(sum(len(p.values) for p in parts))
    for part in parts:
        gathering.add(part, len(part.values))
    return gathering.grouped()


def _stable_order(codes: Ints, count: int) -> Ints:
    """Stable argsort of small integers; numpy sorts 16 bits by radix, so wider ones go in two passes."""
    low = np.argsort((codes & 0xFFFF).astype(np.uint16), kind="stable")
    if count <= 1 << 16:
        return low
    high = (codes >> 16)[low]
    if count <= 1 << 32:
        return low[np.argsort(high.astype(np.uint16), kind="stable")]
    return low[np.argsort(high, kind="stable")]


def batches(offsets: Ints, size: int = _BATCH) -> Iterator[tuple[int, int]]:
    """Cut the queries into stretches of at most ``size`` rows, or of one query that has more."""
    query, last = 0, len(offsets) - 1
    while query < last:
        upto = int(np.searchsorted(offsets, offsets[query] + size, side="right")) - 1
        upto = min(max(upto, query + 1), last)
        yield query, upto
        query = upto


def over_batches(work: Callable[[tuple[int, int]], T], offsets: Ints) -> list[T]:
    """Apply ``work`` to every batch of queries, on all cores when there is much to do."""
    cores = usable_cores()
    if int(offsets[-1]) < 4 * _BATCH or cores == 1:
        return [work(b) for b in batches(offsets)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, batches(offsets)))


def local_codes(offsets: Ints, lo: int, hi: int) -> Ints:
    """For each row of the queries ``lo`` to ``hi`` the number of its query, counted from 0."""
    return np.repeat(np.arange(hi - lo), np.diff(offsets[lo : hi + 1]))


def without_duplicates(
    rows: Grouped,
    policy: OnDuplicate,
    fail: Callable[[int, str, str], InputError],
    conflict: Callable[[float, float], tuple[str, str]],
) -> Grouped:
    """Refuse, or resolve, documents that a query lists more than once.

    Parameters
    ----------
    policy
        ``"error"``, ``"first"`` (keep the first row) or ``"best"`` (keep the one of highest value).
    fail
        Makes the error for a row.
    conflict
        Words for two values of the same document: what is wrong, what to do.
    """
    if policy not in get_args(OnDuplicate):
        raise InputError(f"on_duplicate={policy!r} is unknown", remedy="use 'error', 'first' or 'best'")

    def repeated(batch: tuple[int, int]) -> Ints:
        return _repeated(rows.keys(*batch)) + int(rows.offsets[batch[0]])

    suspects = np.concatenate([np.zeros(0, dtype=np.int64), *over_batches(repeated, rows.offsets)])
    if not len(suspects):
        return rows
    # From here on a Python loop: there are few of these, or the input is broken anyway.
    kept: dict[tuple[int, str], int] = {}
    drop: list[int] = []
    owner = np.searchsorted(rows.offsets, suspects, side="right") - 1
    found = zip(owner.tolist(), rows.docs.take(suspects).tolist(), suspects.tolist(), strict=True)
    clashes: list[tuple[int, int]] = []
    for query, doc, row in found:
        other = kept.setdefault((query, doc), row)
        if other == row:
            continue
        clashes.append((row, other))
        if policy == "best" and rows.values[row] > rows.values[other]:
            kept[query, doc], other = row, other
            drop.append(other)
        else:
            drop.append(row)
    if not drop:
        return rows  # only hashes collided
    if policy == "error":
        # The clash that a reader of the file meets first.
        row, other = min(clashes, key=lambda pair: int(rows.docs.starts[pair[0]]))
        what, remedy = conflict(float(rows.values[other]), float(rows.values[row]))
        raise fail(row, f"document {rows.docs[row]!r} is listed twice for query {rows.query_of(row)!r}{what}", remedy)
    keep = np.ones(len(rows.values), dtype=bool)
    keep[drop] = False
    counts = np.add.reduceat(keep, rows.offsets[:-1], dtype=np.int64)
    return rows.take(np.flatnonzero(keep), np.concatenate(([0], np.cumsum(counts))))


def _repeated(keys: Hashes) -> Ints:
    """Rows of keys that occur more than once (or none).

    Each key writes its row into a table at some of its bits. One that finds another row there lost its
    place: either to the same key, or it goes on to the next round with other bits. Two or three rounds
    leave nothing, at a fraction of what sorting costs.
    """
    rows = np.arange(len(keys), dtype=np.uint16 if len(keys) <= 1 << 16 else np.int32)
    left = keys
    for shift in (46, 28, 10):
        slot = (left >> np.uint64(shift)).astype(np.int64)
        if shift < 46:
            slot &= (1 << 18) - 1
        table = np.empty(1 << 18, dtype=rows.dtype)
        table[slot] = rows
        winner = table[slot]
        lost = winner != rows
        if not lost.any():
            return np.zeros(0, dtype=np.int64)
        rows, left = rows[lost], left[lost]
        if (left == keys[winner[lost]]).any():
            break
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(keys, twice))


def by_rank(rows: Grouped) -> Grouped:
    """Order the documents of each query by value, highest first; ties by document id, last first (trec_eval)."""

    def put_in_order(batch: tuple[int, int]) -> bool:
        order = _rank_batch(rows, *batch)
        if order is None:
            return False
        lo, hi = int(rows.offsets[batch[0]]), int(rows.offsets[batch[1]])
        for column in columns:
            column[lo:hi] = column[order]  # the rows were made for this run: nothing else uses them yet
        return True

    docs = rows.docs
    columns = [rows.values, docs.lengths, docs.starts if docs.table is None else docs.table]
    over_batches(put_in_order, rows.offsets)
    return rows


def _rank_batch(rows: Grouped, first: int, last: int) -> Ints | None:
    """Rows of some queries in rank order, ``None`` where they stand in it already."""
    lo, hi = int(rows.offsets[first]), int(rows.offsets[last])
    scores = rows.values[lo:hi]
    inside = np.ones(max(hi - lo - 1, 0), dtype=bool)  # does a row's query go on in the next row?
    inside[rows.offsets[first + 1 : last] - lo - 1] = False
    order: Ints | None = None
    if (inside & (scores[1:] > scores[:-1])).any():
        codes = local_codes(rows.offsets, first, last)
        order = np.argsort(-scores)
        order = order[_stable_order(codes[order], last - first)]
        scores = scores[order]
    tied = inside & (scores[1:] == scores[:-1])
    if tied.any():
        order = _break_ties(rows.docs, lo, order, tied)
    return None if order is None else order + lo


def _break_ties(docs: Ids, lo: int, order: Ints | None, tied: NDArray[np.bool_]) -> Ints | None:
    member = np.concatenate((tied, [False]))
    member[1:] |= tied
    places = np.flatnonzero(member)  # ranks that share their score with a neighbour
    starts = np.concatenate(([True], ~tied))[places]
    rows = places if order is None else order[places]
    better = docs.take(rows + lo).descending(np.cumsum(starts))
    if order is None:
        if (better[1:] > better[:-1]).all():
            return None
        order = np.arange(len(member))
    order = order.copy()
    order[places] = rows[better]
    return order
