"""JSON lines: one object a row, the names of a table's columns as keys."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift.collection.errors import InputError
from ranksift.collection.files import display_name, read_text
from ranksift.collection.grouped import Grouped, OnDuplicate
from ranksift.collection.header import find_columns
from ranksift.collection.rows import Rows, collect
from ranksift.collection.values import ids_of, numbers_of

_CHUNK = 1 << 20  # bytes whose lines are Python objects at the same time


def read_jsonl(source: str | os.PathLike[str], noun: str, on_duplicate: OnDuplicate) -> tuple[Grouped, bool]:
    """Read objects, one a line; blank lines and comments (``#``) do not count."""
    reader = _Reader(display_name(source), read_text(source), noun)
    return collect(lambda work: map(work, reader.rows()), len(reader.data), reader.fail, noun, on_duplicate)


@dataclass(frozen=True)
class _Reader:
    name: str
    data: bytes
    noun: str

    def fail(self, line: int, what: str, remedy: str = "") -> InputError:
        example = f'write each line as: {{"query_id": "q1", "doc_id": "d1", "{self.noun}": 1}}'
        return InputError(what, source=self.name, line=line, remedy=remedy or example)

    def rows(self) -> Iterator[Rows]:
        keys: list[str] = []  # the first object says under which names the three columns stand
        at, number = 0, 1
        while at < len(self.data):
            end = self.data.find(b"\n", at + _CHUNK) + 1 or len(self.data)
            lines = self.data[at:end].decode().split("\n")
            records = {n: self._record(n, line) for n, line in enumerate(lines, number) if _counts(line)}
            if records and not keys:
                first = next(iter(records))
                names = list(records[first])
                keys = [names[c] for c in find_columns(names, self.noun, source=self.name, line=first)]
            yield self._rows(records, keys, end - at)
            at, number = end, number + len(lines) - 1

    def _record(self, line: int, text: str) -> dict[str, Any]:
        try:
            record = json.loads(text)
        except ValueError as error:
            raise self.fail(line, f"not JSON ({getattr(error, 'msg', 'a number of too many digits')})") from None
        except RecursionError:
            raise self.fail(line, "not a flat object") from None
        if not isinstance(record, dict):
            raise self.fail(line, f"not an object but a {type(record).__name__}")
        return record

    def _rows(self, records: dict[int, dict[str, Any]], keys: list[str], size: int) -> Rows:
        for line, record in records.items():
            for key in keys:
                if key not in record:
                    raise self.fail(line, f"no {key!r} in this object")
        lines = list(records)

        def fail(row: int, what: str, remedy: str) -> InputError:
            return self.fail(lines[row], what, remedy)

        queries, docs, values = ([r[key] for r in records.values()] for key in keys) if keys else ([], [], [])
        numbers, whole = numbers_of(values, self.noun, fail)
        ids = ids_of(queries, "query", fail), ids_of(docs, "document", fail)
        return Rows(*ids, numbers, whole, np.array(lines, dtype=np.int64), size)


def _counts(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#")
