"""JSON lines: one object a row, with the names of a table's columns as keys."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from ranksift.collection.errors import InputError
from ranksift.collection.files import Text
from ranksift.collection.grouped import Grouped, OnDuplicate
from ranksift.collection.header import find_columns
from ranksift.collection.lines import Block, over_blocks
from ranksift.collection.rows import Rows, collect, over_text
from ranksift.collection.values import ids_of, numbers_of

_EXAMPLE = '{"query_id": "q1", "doc_id": "d1", "%s": 1}'


def read_jsonl(text: Text, noun: str, on_duplicate: OnDuplicate) -> tuple[Grouped, bool]:
    """Read objects, one a line; blank lines and comments (``#``) do not count."""
    keys: list[str] = []

    def parse(block: Block) -> Rows:
        block.check_utf8()
        lines, places = _lines(block)
        records = _records(block, lines, places, noun)
        if records and not keys:
            names = list(records[0])
            line = 1 + text.lines_before(int(places[0]))
            keys.extend(names[c] for c in find_columns(names, noun, source=text.name, line=line))
        return _rows(text, records, places, keys, noun)

    return collect(over_text(text, parse), text.fail, noun, on_duplicate)
