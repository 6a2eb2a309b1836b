"""Rows of a source that does not fit into memory, some whole queries at a time.

Where the rows of every query stand together, the source is read once, in its order. Else they are brought together on
the disk: each query belongs to one of as many buckets as are needed for one of them to fit into memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import Gathering, Grouped, OnDuplicate, Part, without_duplicates
from ranksift.collection._engine.ids import Hashes, Ids, Ints
from ranksift.collection._engine.rows import Over, conflict_of, part_of
from ranksift.collection.ragged import offsets_of, take
from ranksift.errors import InputError
from ranksift.spool import Place, Spool


@dataclass(frozen=True)
class Source:
    """A table as it stands in a file.

    Attributes
    ----------
    over
        Applies a function to all of its rows, some at a time, in order.
    size
        The size of the whole source, in the unit of the sizes of rows.
    fail
        Makes the error for a place.
    noun
        The kind of the values: a label or a score.
    refuse_blank
        Raises the error for a source without a row, if that is an error.
    unit
        How many bytes of text a unit of the size stands for, about.
    tag
        The name that the table gives itself, once it has been read.
    """

    over: Over
    size: int
    fail: Callable[[int, str, str], InputError]
    noun: str
    refuse_blank: Callable[[], None] = lambda: None
    unit: int = 1
    tag: Callable[[], str | None] = lambda: None


class Chunk(NamedTuple):
    """All rows of some queries, and a number for each query: by it they come in the order of the source."""

    rows: Grouped
    number: Ints


class NotInPartsError(Exception):
    """The source can only be read whole."""


class NotTogetherError(Exception):
    """A query comes back further down."""


class Clash(NamedTuple):
    """A document that is listed twice, and the message about it, once its line is known."""

    query: str
    doc: str
    what: str
    remedy: str


class _ClashError(InputError):
    def __init__(self, clash: Clash) -> None:
        super().__init__(clash.what, remedy=clash.remedy)
        self.clash = clash


@dataclass(frozen=True)
class Parts:
    """A source, some whole queries at a time.

    Errors are those of a source that is read whole, and come in the same order: a line that cannot be read first,
    wherever it stands, then the first document that is listed twice. So both methods read to the end before they
    complain of documents.

    Parameters
    ----------
    source
        The table.
    on_duplicate
        As in :func:`without_duplicates`.
    most
        How much of the source is held at once, in its unit; a query that has more is held whole.
    """

    source: Source
    on_duplicate: OnDuplicate
    most: int

    def as_they_stand(self) -> Iterator[Chunk]:
        """Queries in the order of the source; :class:`NotTogetherError` where a query comes back."""
        clashes: list[Clash] = []
        seen: Hashes = np.zeros(0, dtype=np.uint64)
        count = 0
        for rows in self._stretches():
            hashes = np.sort(rows.query_hashes)
            at = np.searchsorted(seen, hashes)
            if (seen[np.minimum(at, len(seen) - 1)] == hashes).any() if len(seen) else False:
                raise NotTogetherError
            seen = np.insert(seen, at, hashes)
            number = np.arange(count, count + len(rows.query_ids))
            count += len(number)
            yield from checked(rows, number, self.on_duplicate, self.source.noun, clashes)
        self.finish(count, clashes)

    def brought_together(self) -> Iterator[Chunk]:
        """Queries in any order, wherever their rows stand."""
        with Spool() as spool:
            buckets = self.scattered(spool, buckets_for(self.source.size, self.most))
            yield from buckets
            buckets.finish()

    def scattered(self, spool: Spool, count: int) -> Buckets:
        """All rows in a temporary file, those of a query in the same one of so many buckets."""
        places: list[list[list[Place]]] = [[] for _ in range(count)]
        self.scatter(spool, places)
        return Buckets(self, spool, places)

    def scatter(self, spool: Spool, places: list[list[list[Place]]], first: int = 0) -> int:
        """Write all rows to their buckets; the queries are numbered from ``first`` on, and counted."""
        queries = 0
        for rows in self._stretches():
            scatter(rows, first + queries, spool, places)
            queries += len(rows.query_ids)
        return queries

    def _stretches(self) -> Iterator[Grouped]:
        """Stretches of the source that end where a query does."""
        waiting: deque[tuple[Part, int]] = deque()
        held = 0
        for part, _, size in self.source.over(part_of):
            waiting.append((part, size))
            held += size
            if held >= self.most:
                last = _last_query(waiting)
                if len(last) < len(waiting) or last[0][1]:
                    rest = _cut(waiting, last)
                    yield _grouped(waiting)
                    waiting, held = rest, sum(size for _, size in rest)
        if any(len(part.values) for part, _ in waiting):
            yield _grouped(waiting)

    def finish(self, queries: int, clashes: Sequence[Clash]) -> None:
        """Report errors that were found on the way."""
        if not queries:
            self.source.refuse_blank()
        if clashes:
            refuse(clashes, [self.source])
            raise self.source.fail(0, "the source changed while it was read", "read it again")


def checked(rows: Grouped, number: Ints, on_duplicate: OnDuplicate, noun: str, clashes: list[Clash]) -> Iterator[Chunk]:
    """Rows in which each query lists each document once; otherwise no rows, and the error is noted."""

    def fail(row: int, what: str, remedy: str) -> InputError:
        return _ClashError(Clash(rows.query_of(row), rows.docs[row], what, remedy))

    try:
        rows = without_duplicates(rows, on_duplicate, fail, conflict_of(noun))
    except _ClashError as error:
        clashes.append(error.clash)
    else:
        yield Chunk(rows, number)


def refuse(clashes: Sequence[Clash], sources: Iterable[Source]) -> None:
    """Report the first document that is listed twice in these sources, one after another."""
    pairs = [(Ids.from_strings([clash.query]), Ids.from_strings([clash.doc])) for clash in clashes]
    seen = [0] * len(pairs)
    for source in sources:
        found = list(source.over(lambda rows: [rows.where(*pair) for pair in pairs]))
        places = [np.concatenate(each) for each in zip(*found, strict=True)] or [np.zeros(0, dtype=np.int64)] * len(
            seen
        )
        again = {i: int(at[1 - seen[i]]) for i, at in enumerate(places) if seen[i] < 2 <= seen[i] + len(at)}
        if again:
            first = min(again, key=lambda i: again[i])
            raise source.fail(again[first], clashes[first].what, clashes[first].remedy)
        seen = [before + len(at) for before, at in zip(seen, places, strict=True)]


class Buckets:
    """A source on the disk: iterated over, it gives the rows of one bucket after another.

    :meth:`finish` reports errors, after all buckets were read.
    """

    def __init__(self, parts: Parts, spool: Spool, places: list[list[list[Place]]]) -> None:
        self._parts, self._spool, self._places = parts, spool, places
        self._clashes: dict[int, list[Clash]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Chunk]:
        return (self.chunk(bucket) for bucket, places in enumerate(self._places) if places)

    def chunk(self, bucket: int) -> Chunk:
        """The queries of a bucket; none where a document is listed twice."""
        clashes = self._clashes[bucket] = []
        written = (list(map(self._spool.read, places)) for places in self._places[bucket])
        return chunk_of(written, self._parts.on_duplicate, self._parts.source.noun, clashes)

    def finish(self) -> None:
        """Report a source without rows, and documents that are listed twice."""
        self._parts.finish(sum(map(len, self._places)), list(chain.from_iterable(self._clashes.values())))


def chunk_of(
    written: Iterable[Sequence[NDArray[Any]]], on_duplicate: OnDuplicate, noun: str, clashes: list[Clash]
) -> Chunk:
    """The queries of a bucket, as :func:`scatter` wrote them; none where a document is listed twice."""
    rows, number = _gathered(written)
    return next(checked(rows, number, on_duplicate, noun, clashes), Chunk(_grouped([]), number[:0]))


def buckets_for(size: int, most: int) -> int:
    """How many buckets a source needs for each of them to be about half as large as the most that is held at once."""
    return max(1, -(-2 * size // most))


def bucket_of(hashes: Hashes, count: int) -> Ints:
    """The bucket of each query."""
    return ((hashes >> np.uint64(20)) % np.uint64(count)).astype(np.int64)


def _last_query(waiting: Iterable[tuple[Part, int]]) -> list[tuple[int, int]]:
    """Where the last query begins in the last parts: as many as it reaches over, with the row in each."""
    last: list[tuple[int, int]] = []
    own = None
    for part, _ in reversed(list(waiting)):
        if not len(part.heads):
            last.append((0, 0))
            continue
        if own is not None and part.head_hashes[-1] != own:
            break
        own = part.head_hashes[-1]
        last.append((len(part.heads) - 1, int(part.heads[-1])))
        if len(part.heads) > 1:
            break
    return last[::-1]


def _cut(waiting: deque[tuple[Part, int]], last: list[tuple[int, int]]) -> deque[tuple[Part, int]]:
    """Take the last query off the parts that wait."""
    rest: deque[tuple[Part, int]] = deque()
    for head, row in reversed(last):
        part, size = waiting.pop()
        own = size - size * row // max(len(part.values), 1)
        rest.appendleft((_rows_of(part, head, len(part.heads), row, len(part.values)), own))
        if row:
            waiting.append((_rows_of(part, 0, head, 0, row), size - own))
    return rest


def _rows_of(part: Part, head: int, end: int, row: int, upto: int) -> Part:
    """Some stretches of a part."""
    ids = part.head_ids[head:end]
    return Part(part.heads[head:end] - row, ids, part.head_hashes[head:end], part.docs[row:upto], part.values[row:upto])


def _grouped(parts: Iterable[tuple[Part, int]]) -> Grouped:
    listed = [(part, size) for part, size in parts if len(part.values)]
    gathering = Gathering(sum(size for _, size in listed))
    for part, size in listed:
        gathering.add(part, size)
    return gathering.grouped()


def scatter(rows: Grouped, first: int, spool: Spool, places: list[list[list[Place]]]) -> None:
    """Write the rows of each query to its bucket; the queries are numbered from ``first`` on."""
    bucket = bucket_of(rows.query_hashes, len(places))
    order = np.argsort(bucket, kind="stable")
    bounds = np.searchsorted(bucket[order], np.arange(len(places) + 1))
    ids = Ids.from_strings(rows.query_ids)
    for b, (lo, hi) in enumerate(pairwise(bounds.tolist())):
        if lo == hi:
            continue
        queries = np.sort(order[lo:hi])
        wanted, _ = take(rows.offsets, queries)
        docs, own = rows.docs.take(wanted).compact(), ids.take(queries)
        words = docs.table if docs.table is not None else np.frombuffer(docs.packed(), dtype=np.uint8)
        written = [queries + first, own.lengths, np.frombuffer(own.packed(), dtype=np.uint8), rows.lengths[queries]]
        places[b].append(spool.write([*written, docs.lengths, words, rows.values[wanted]]))


def _gathered(bucket: Iterable[Sequence[NDArray[Any]]]) -> tuple[Grouped, Ints]:
    """The rows of a bucket, and the number of each of its queries."""
    parts: list[tuple[Part, int]] = []
    earliest: dict[str, int] = {}
    for written in bucket:
        number, id_lengths, packed, counts, lengths, words, values = written
        ids = Ids.from_packed(packed.tobytes(), id_lengths)
        for name, own in zip(ids.tolist(), number.tolist(), strict=True):
            earliest.setdefault(name, own)
        if words.dtype == np.uint8:
            docs = Ids.from_packed(words.tobytes(), lengths)
        else:
            docs = Ids.from_table(np.append(words.ravel(), np.uint64(0)), words.shape[1], lengths)
        parts.append((Part(offsets_of(counts)[:-1], ids, ids.hashes(), docs, values), len(values)))
    rows = _grouped(parts)
    return rows, np.array([earliest[name] for name in rows.query_ids], dtype=np.int64)
