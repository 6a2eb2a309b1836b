"""JSON lines: one object per row, the names of a table's columns as keys."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ranksift.collection._engine.grouping import Grouped, OnDuplicate
from ranksift.collection._engine.python_values import ids_of, numbers_of
from ranksift.collection._engine.rows import Rows, collect
from ranksift.collection.readers.column_names import Columns, find_columns
from ranksift.errors import InputError
from ranksift.files import NOTHING_RETRIEVED, display_name, read_text

_CHUNK = 1 << 20  # bytes whose lines are Python objects at the same time
_BLANKS = " \t\r"
_TWO = re.compile(r"\}\s*,\s*\{")
_COLON = ord(":")
_BEFORE_COLON = tuple(b'" \t\r')  # of a key; in a text it may be anything
_ONCE = "give every key once"
# A table of objects that share few keys would be mostly holes, and larger than any memory.
_EMPTY_CELLS, _TIMES_FULL = 1 << 20, 64


def read_jsonl(
    source: str | os.PathLike[str], noun: str, on_duplicate: OnDuplicate, columns: Columns = None
) -> tuple[Grouped, bool]:
    """Read objects, one per line; blank lines and comments (``#``) do not count."""
    layout = f'{{"query_id": "q1", "doc_id": "d1", "{noun}": 1}}'
    if_empty = NOTHING_RETRIEVED if noun == "score" else f"write each line as: {layout}"
    reader = _Reader(display_name(source), read_text(source, if_empty=if_empty), layout)
    rows = reader.rows
    return collect(lambda work: map(work, rows(noun, columns)), len(reader.data), reader.fail, noun, on_duplicate)


class Records(NamedTuple):
    """Objects of any keys: all keys, a column of values for each (None if an object lacks it), and their lines."""

    names: list[str]
    columns: list[list[Any]]
    lines: list[int]


def read_records(source: str | os.PathLike[str], bad: list[InputError] | None = None) -> Records:
    """Read objects, one per line; a damaged line is refused, or reported in ``bad`` if that is given."""
    layout = '{"query_id": "q1", "query": "…", "doc_id": "d1", "doc": "…", "label": 1}'
    reader = _Reader(display_name(source), read_text(source, if_empty=f"write each line as: {layout}"), layout, bad)
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    for some, places, _ in reader.pieces():
        records += some
        lines += places
    names = list(dict.fromkeys(key for record in records for key in record))
    if len(names) * len(records) > _EMPTY_CELLS + _TIMES_FULL * sum(map(len, records)):
        raise reader.fail(lines[0], f"objects of {len(names):,} different keys", "give all objects the same keys")
    return Records(names, [[record.get(name) for record in records] for name in names], lines)


@dataclass(frozen=True)
class _Reader:
    name: str
    data: bytes
    layout: str
    bad: list[InputError] | None = None

    def fail(self, line: int, what: str, remedy: str = "") -> InputError:
        return InputError(what, source=self.name, line=line, remedy=remedy or f"write each line as: {self.layout}")

    def rows(self, noun: str, columns: Columns = None) -> Iterator[Rows]:
        keys: list[str] = []  # the first object says under which names the three columns stand
        for records, places, size in self.pieces():
            if records and not keys:
                names = list(records[0])
                keys = [names[c] for c in find_columns(names, noun, columns, source=self.name, line=places[0])]
            yield self._rows(records, places, keys, noun, size)

    def pieces(self) -> Iterator[tuple[list[dict[str, Any]], list[int], int]]:
        """Objects of some lines, the numbers of the lines, and how many bytes all of them take."""
        at, number = 0, 1
        while at < len(self.data):
            end = self.data.find(b"\n", at + _CHUNK) + 1 or len(self.data)
            data = self.data[at:end]
            lines = [line.strip(_BLANKS) for line in data.decode().split("\n")]
            places = [n for n, line in enumerate(lines, number) if line and line[0] != "#"]
            texts = [lines[n - number] for n in places]
            records = _objects(texts, data)
            if not records:
                read = [(n, self._record(n, text)) for n, text in zip(places, texts, strict=True)]
                places = [n for n, record in read if record is not None]
                records = [record for _, record in read if record is not None]
            yield records, places, end - at
            at, number = end, number + len(lines) - 1

    def _record(self, line: int, text: str) -> dict[str, Any] | None:
        """An object; None if it is damaged, which is reported."""
        try:
            return self._read(line, text)
        except InputError as error:
            if self.bad is None:
                raise
            self.bad.append(error)
            return None

    def _read(self, line: int, text: str) -> dict[str, Any]:
        try:
            record = _DECODER.decode(text)
        except _DoubledKeyError as error:
            raise self.fail(line, f"the key {error.args[0][:40]!r} occurs twice in this object", _ONCE) from None
        except ValueError as error:
            raise self.fail(line, f"not JSON ({getattr(error, 'msg', 'a number of too many digits')})") from None
        except RecursionError:
            raise self.fail(line, "not a flat object") from None
        if not isinstance(record, dict):
            raise self.fail(line, f"not an object but a {type(record).__name__}")
        return record

    def _rows(self, records: list[dict[str, Any]], places: list[int], keys: list[str], noun: str, size: int) -> Rows:
        def fail(row: int, what: str, remedy: str = "") -> InputError:
            return self.fail(places[row], what, remedy)

        def column(key: str) -> list[Any]:
            try:
                return [record[key] for record in records]
            except KeyError:
                row = next(row for row, record in enumerate(records) if key not in record)
                raise fail(row, f"no {key!r} in this object") from None

        queries, docs, values = map(column, keys) if keys else ([], [], [])
        numbers, whole = numbers_of(values, noun, fail)
        ids = ids_of(queries, "query", fail), ids_of(docs, "document", fail)
        return Rows(*ids, numbers, whole, np.array(places, dtype=np.int64), size)


def _objects(lines: list[str], data: bytes) -> list[dict[str, Any]] | None:
    """The objects of all lines of ``data`` at once; ``None`` where it is not certain that every line is one object.

    Lines begin and end like objects. If none has a brace, a comma and a brace in a row, none holds two
    objects; if then there are as many objects as lines, none holds less than one.
    """
    if any(line[0] != "{" or line[-1] != "}" for line in lines) or _TWO.search("\n".join(lines)):
        return None
    together = f"[{','.join(lines)}]"
    try:
        records: list[Any] = json.loads(together)
        if len(records) != len(lines) or any(type(record) is not dict for record in records):
            return None
        if _possible_keys(data) > sum(map(len, records)):  # a key twice, an object in an object, or a mere text
            _DECODER.decode(together)
    except (ValueError, RecursionError):
        return None
    return records


def _possible_keys(data: bytes) -> int:
    """Colons that may follow a key: no fewer than there are keys."""
    text = np.frombuffer(data, dtype=np.uint8)
    before = text[np.flatnonzero(text[1:] == _COLON)]
    return sum(int(np.count_nonzero(before == byte)) for byte in _BEFORE_COLON)


class _DoubledKeyError(ValueError):
    """An object has a key twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _DoubledKeyError(next(key for key in keys if keys.count(key) > 1))
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)
