"""Comma and tab separated text, split into columns a block of lines at a time.

A field that starts with a quotation mark ends with one; between them may stand separators, newlines, and
quotation marks written twice. The parity of the marks before a byte shows whether it is inside.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import Grouped, OnDuplicate
from ranksift.collection._engine.ids import Ints
from ranksift.collection._engine.lines import Block, Columns, over_blocks
from ranksift.collection._engine.parts import NotInPartsError, Source
from ranksift.collection._engine.python_values import Fail
from ranksift.collection._engine.rows import Rows, collect, collect_text
from ranksift.collection.readers.column_names import Columns as Called
from ranksift.collection.readers.column_names import find_columns
from ranksift.errors import InputError
from ranksift.files import PADDING, Bytes, Text

_NEWLINE, _RETURN, _BLANK, _MARK = 10, 13, 32, 34
_LONGEST_HEADER = 1 << 16


def read_delimited(
    text: Text, separator: str, noun: str, on_duplicate: OnDuplicate, called: Called = None
) -> tuple[Grouped, bool]:
    """Read a table with a header line; ``noun`` is what it holds, a label or a score."""
    layout, rows_of = _layout_of(text, separator, noun, called)
    try:
        return collect_text(text, lambda block: rows_of(layout.columns(block)), noun, on_duplicate)
    except _QuotationMarkError:  # a newline need not end a line: take the text as one block
        rows = rows_of(layout.columns(_whole(text), marks_allowed=True))
        return collect(lambda work: [work(rows)], rows.size, text.fail, noun, on_duplicate)


def delimited_source(text: Text, separator: str, noun: str, called: Called = None) -> Source:
    """A table with a header line that is read some rows at a time; one with quotation marks is not."""
    layout, rows_of = _layout_of(text, separator, noun, called)

    def over(work: Callable[[Rows], Any]) -> Iterator[Any]:
        return over_blocks(lambda block: work(rows_of(layout.columns(block))), text)

    return Source(over, text.end - text.start, text.fail, noun)


def _layout_of(text: Text, separator: str, noun: str, called: Called) -> tuple[Layout, Callable[[Columns], Rows]]:
    """How lines look, by the header, and what makes rows of their columns; the text begins below the header then."""
    names, text.start = read_header(text, separator)
    header = 1 + text.lines_before(text.start - 1)
    query, doc, value = find_columns(names, noun, called, source=text.name, line=header)

    def rows_of(columns: Columns) -> Rows:
        for c, what in ((query, "query"), (doc, "document")):
            check_ids(columns, c, what, columns.fail)
        return Rows.of(columns, query, doc, value, noun)

    return Layout(ord(separator), len(names), (query, doc, value)), rows_of


def split_columns(text: Text, separator: str, count: int, bad: list[InputError] | None = None) -> Columns:
    """All columns below the header, as one block; lines of another number of fields go to ``bad``, if that is given."""
    return Layout(ord(separator), count, tuple(range(count)), bad).columns(_whole(text), marks_allowed=True)


def read_header(text: Text, separator: str) -> tuple[list[str], int]:
    """Names of the columns, and where the lines below them start."""
    upto = min(text.start + _LONGEST_HEADER, text.end)
    scratch: Bytes = np.empty(_LONGEST_HEADER + PADDING, dtype=np.uint8)
    head = text.piece(text.start, upto, scratch)[: upto - text.start].tobytes()
    blank = len(head) - len(head.lstrip(b"\r\n"))
    line, newline, _ = head[blank:].partition(b"\n")
    end = text.start + blank + len(line) + len(newline)
    if not newline and end < text.end:
        raise text.fail(end, "a header of more than 64 kB", "is this a table with a header line?")
    try:
        fields = next(csv.reader([line.rstrip(b"\r").decode()], delimiter=separator, strict=True), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise text.fail(end - 1, f"the header cannot be read ({error})", "write names of columns into it") from None
    return fields, end


class _QuotationMarkError(NotInPartsError):
    """A quotation mark where lines are read block by block."""


@dataclass(frozen=True)
class Layout:
    """How the lines of a table look: the separating byte, how many fields, and which are wanted.

    Other lines are refused, or left out and reported in ``bad``.
    """

    separator: int
    count: int
    wanted: tuple[int, ...]
    bad: list[InputError] | None = None

    def columns(self, block: Block, *, marks_allowed: bool = False) -> Columns:
        """Split a block of lines."""
        block.check_utf8()
        text = block.bytes[: block.size]
        marked = text == _MARK
        marks = np.flatnonzero(marked)
        if len(marks) and not marks_allowed:
            raise _QuotationMarkError
        edge = (text == self.separator) | (text == _NEWLINE)
        if len(marks):
            inside = (np.cumsum(marked, dtype=np.uint8) & 1).view(bool)  # parity survives the wrapping at 256
            self._check_marks(block, marks, inside[marks])
            edge &= ~inside
        starts, ends = self._fields(block, np.flatnonzero(edge))
        columns = Columns(block, {}, {})
        for c in self.wanted:
            columns.starts[c], columns.ends[c] = starts[:, c], ends[:, c]
            if len(marks):
                _unquote(columns, c, marks)
        return columns

    def _fields(self, block: Block, edges: Ints) -> tuple[Ints, Ints]:
        """Where the fields of each line start and end, one row per line; blank lines are left out."""
        text, count = block.bytes, self.count
        starts = np.zeros(len(edges), dtype=np.int64)
        starts[1:] = edges[:-1] + 1
        newline = text[edges] == _NEWLINE
        last = np.flatnonzero(newline)
        ends = edges.copy()
        ends[last] -= (ends[last] > starts[last]) & (text[ends[last] - 1] == _RETURN)
        if len(edges) == count * len(last) and newline[count - 1 :: count].all():
            return starts.reshape(-1, count), ends.reshape(-1, count)
        fields = np.diff(last, prepend=-1)
        blank = (fields == 1) & (starts[last] == ends[last])
        wrong = (fields != count) & ~blank
        for line in np.flatnonzero(wrong).tolist():
            n = int(fields[line])
            error = block.fail(
                int(starts[last[line] - n + 1]),
                f"{n} field{'s' * (n != 1)} where the header has {count}",
                "give every line as many fields as the header",
            )
            if self.bad is None:
                raise error
            self.bad.append(error)
        keep = np.repeat(~(blank | wrong), fields)
        return starts[keep].reshape(-1, count), ends[keep].reshape(-1, count)

    def _check_marks(self, block: Block, marks: Ints, opens: NDArray[np.bool_]) -> None:
        """Refuse quotation marks that neither start nor end a field nor come in pairs inside one."""
        text = block.bytes
        before = np.where(marks > 0, text[marks - 1], _NEWLINE)
        after = text[marks + 1]
        after = np.where((after == _RETURN) & (text[marks + 2] == _NEWLINE), _NEWLINE, after)
        starting = opens & ((before == self.separator) | (before == _NEWLINE))
        stray = opens & ~starting & (before != _MARK)
        ending = (after == self.separator) | (after == _NEWLINE) | (after == _MARK)
        bad = np.flatnonzero(stray | ~(opens | ending))
        if len(bad) and stray[bad[0]]:
            raise block.fail(
                int(marks[bad[0]]), "a quotation mark inside a field", 'write it twice, and the field in "…"'
            )
        if len(bad) or opens[-1]:
            upto = int(bad[0]) if len(bad) else len(marks)
            opening = int(np.flatnonzero(starting[:upto])[-1])
            raise block.fail(
                int(marks[opening]), "a quoted field has no closing quotation mark", 'end it with ", then a separator'
            )


def _unquote(columns: Columns, c: int, marks: Ints) -> None:
    """Take the quotation marks off the fields of a column."""
    text = columns.block.bytes
    starts, ends = columns.starts[c], columns.ends[c]
    quoted: NDArray[np.bool_] = (ends > starts) & (text[starts] == _MARK)
    starts, ends = starts + quoted, ends - quoted
    pairs = quoted & (np.searchsorted(marks, ends) > np.searchsorted(marks, starts))
    for row in np.flatnonzero(pairs).tolist():
        field = text[starts[row] : ends[row]].tobytes().replace(b'""', b'"')
        text[starts[row] : starts[row] + len(field)] = np.frombuffer(field, dtype=np.uint8)
        ends[row] = starts[row] + len(field)
    columns.starts[c], columns.ends[c] = starts, ends


def check_ids(columns: Columns, c: int, what: str, fail: Fail) -> None:
    """Refuse ids that are missing, and those with a blank at the edge that no quotation mark shows to be meant."""
    text, starts, ends = columns.block.bytes, columns.starts[c], columns.ends[c]
    empty = starts == ends
    if empty.any():
        raise fail(int(np.argmax(empty)), f"the {what} id is missing", "give every query and document an id")
    quoted = (starts > 0) & (text[starts - 1] == _MARK)
    blank = ~quoted & ((text[starts] <= _BLANK) | (text[ends - 1] <= _BLANK))
    if blank.any():
        row = int(np.argmax(blank))
        shown = columns.token(c, row)[:40].decode("utf-8", "replace")
        raise fail(row, f"a blank at the edge of {what} id {shown!r}", 'remove it, or write the id in "…"')


def _whole(text: Text) -> Block:
    """All lines as one block, in memory of its own."""
    data = text.whole()
    data += b"\n" * (data[-1:] != b"\n")
    padded: Bytes = np.zeros(len(data) + PADDING, dtype=np.uint8)
    padded[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return Block(text, text.start, len(data), padded)
