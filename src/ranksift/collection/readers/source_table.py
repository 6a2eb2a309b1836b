"""A table of any columns, read whole: comma or tab separated text, JSON lines, Parquet, or a frame."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, Protocol

from ranksift.collection._engine import rows
from ranksift.collection._engine.lines import Columns
from ranksift.collection._engine.python_values import Fail, is_missing
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers import delimited, frames
from ranksift.collection.readers.column_names import check_separator, is_number
from ranksift.collection.readers.formats import JSON_LINES, SEPARATORS, kind
from ranksift.collection.readers.jsonl import Records, read_records
from ranksift.collection.readers.parquet import read_parquet
from ranksift.errors import InputError
from ranksift.files import STANDARD, display_name, reading

_NUMBER = "write a number such as 0.25 into every cell"


class Cells(Protocol):
    """The columns of a table, by their positions."""

    def ids(self, column: int, noun: str, fail: Fail) -> list[str]:
        """A column of ids."""

    def numbers(self, column: int, noun: str, fail: Fail, gaps: bool) -> Floats:
        """A column of finite numbers; NaN in the ``gaps``, where there may be any."""

    def objects(self, column: int) -> Sequence[object]:
        """A column as it is, texts as ``str``."""

    def take(self, rows: Ints) -> Cells:
        """Some of the rows."""


@dataclass(frozen=True)
class SourceTable:
    """Names of the columns, and each column as ids or as numbers.

    Attributes
    ----------
    names
        The names of the columns, without surrounding blanks.
    height
        Rows below the header.
    source, line
        The file, and the line of its header; nothing for a frame.
    fail
        Makes the error for a row: it names the line of a text, else the number of the row, counted from 1.

    Examples
    --------
    >>> import polars as pl
    >>> table = read_source_table(pl.DataFrame({"topic": [51, 52], "bm25": [0.25, 0.5]}))
    >>> table.names, table.ids(0, "query"), table.numbers(1, "score").tolist()
    (('topic', 'bm25'), ['51', '52'], [0.25, 0.5])
    """

    names: tuple[str, ...]
    height: int
    source: str | None
    line: int | None
    fail: Fail
    cells: Cells

    def ids(self, column: int, noun: str) -> list[str]:
        """A column of ids."""
        return self.cells.ids(column, noun, self._fail_in(column, f"give every row a {noun}"))

    def numbers(self, column: int, noun: str, *, gaps: bool = False, remedy: str = _NUMBER) -> Floats:
        """A column of finite numbers; where there may be ``gaps``, NaN stands for an empty cell, NULL, NA and NaN."""
        return self.cells.numbers(column, noun, self._fail_in(column, remedy), gaps)

    def holds_words(self, column: int) -> bool:
        """Whether a column has text in every row, and no number."""
        return all(isinstance(cell, str) and not is_number(cell) for cell in self.cells.objects(column))

    def holds_numbers_only(self, column: int) -> bool:
        """Whether every cell that is not empty is a number: in a text, or where that is known, of its kind."""
        known = [cell for cell in self.cells.objects(column) if not is_missing(cell) and cell != ""]
        texts = isinstance(self.cells, _TextCells)
        return bool(known) and all(
            texts and is_number(cell) if isinstance(cell, str) else isinstance(cell, Number) for cell in known
        )

    def take(self, rows: Ints) -> SourceTable:
        """Some of the rows; an error still names the place of a row in the source."""

        def fail(row: int, what: str, remedy: str) -> InputError:
            return self.fail(int(rows[row]), what, remedy)

        return replace(self, height=len(rows), fail=fail, cells=self.cells.take(rows))

    def wrong(self, what: str, remedy: str) -> InputError:
        """Make the error for the table as a whole: it names the header."""
        return InputError(what, source=self.source, line=self.line, remedy=remedy)

    def _fail_in(self, column: int, remedy: str) -> Fail:
        name = self.names[column]
        return lambda row, what, _: self.fail(row, f"column {name[:40]!r}: {what}", remedy)


def read_source_table(source: Any, bad: list[InputError] | None = None) -> SourceTable:
    """Read a path (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``; ``-`` is CSV from standard input), or a frame.

    Damaged lines are refused, or left out and reported in ``bad`` if that is given.
    """
    if not isinstance(source, str | os.PathLike):
        if not hasattr(type(source), "columns") and not hasattr(source, "__arrow_c_stream__"):
            raise InputError(
                f"cannot read a table from a {type(source).__name__}",
                remedy="give a path, or a polars or pandas frame",
            )
        return _of_frame(source, None)
    suffix = ".csv" if os.fspath(source) == STANDARD else kind(source)
    if suffix in SEPARATORS:
        return _of_text(source, SEPARATORS[suffix], bad)
    if suffix in (".parquet", ".pq"):
        return _of_frame(read_parquet(source), display_name(source))
    if suffix in JSON_LINES:
        return _of_records(display_name(source), read_records(source, bad))
    raise InputError(
        f"a table is not read from {suffix or 'a file without a suffix'}",
        source=display_name(source),
        remedy="give .csv, .tsv, .jsonl or .parquet (.csv.gz and .tsv.zst too)",
    )


@dataclass(frozen=True)
class _TextCells:
    columns: Columns

    def ids(self, column: int, noun: str, fail: Fail) -> list[str]:
        delimited.check_ids(self.columns, column, noun, fail)
        return rows.ids_in(self.columns, column).tolist()

    def numbers(self, column: int, noun: str, fail: Fail, gaps: bool) -> Floats:
        return rows.numbers_in(self.columns, column, noun, fail, gaps=gaps)[0]

    def objects(self, column: int) -> Sequence[object]:
        return rows.ids_in(self.columns, column).tolist()

    def take(self, rows: Ints) -> _TextCells:
        sides = ({c: where[rows] for c, where in side.items()} for side in (self.columns.starts, self.columns.ends))
        return _TextCells(Columns(self.columns.block, *sides))


@dataclass(frozen=True)
class _FrameCells:
    column: Callable[[int], frames.Column]

    def ids(self, column: int, noun: str, fail: Fail) -> list[str]:
        return frames.ids_in(self.column(column), noun, fail).tolist()

    def numbers(self, column: int, noun: str, fail: Fail, gaps: bool) -> Floats:
        return frames.numbers_in(self.column(column), noun, fail, gaps=gaps)[0]

    def objects(self, column: int) -> Sequence[object]:
        return list(self.column(column))

    def take(self, rows: Ints) -> _FrameCells:
        def column(c: int) -> frames.Column:
            whole = self.column(c)
            return [whole[row] for row in rows.tolist()] if isinstance(whole, list) else whole.gather(rows)

        return _FrameCells(column)


def _of_text(source: str | os.PathLike[str], separator: str, bad: list[InputError] | None) -> SourceTable:
    with reading(source, if_empty="give a header line and at least one row") as opened:
        text = opened.held()
    names, text.start = delimited.read_header(text, separator)
    line = 1 + text.lines_before(text.start - 1)
    if not names:
        raise InputError("no header line", source=text.name, line=line, remedy="name the columns in the first line")
    try:
        columns = delimited.split_columns(text, separator, len(names), bad)
    except InputError:
        check_separator(names, source=text.name, line=line)  # where that is wrong, what lines hold says little
        raise
    return SourceTable(_stripped(names), len(columns), text.name, line, columns.fail, _TextCells(columns))


def _of_records(source: str, records: Records) -> SourceTable:
    def fail(row: int, what: str, remedy: str) -> InputError:
        return InputError(what, source=source, line=records.lines[row], remedy=remedy)

    cells = _FrameCells(records.columns.__getitem__)
    return SourceTable(_stripped(records.names), len(records.lines), source, None, fail, cells)


def _of_frame(frame: Any, source: str | None) -> SourceTable:
    names, column = frames.columns_of(_with_index(frame))

    def fail(row: int, what: str, remedy: str) -> InputError:
        return InputError(f"row {row + 1}: {what}", source=source, remedy=remedy)

    height = len(column(0)) if names else 0
    return SourceTable(_stripped(names), height, source, None, fail, _FrameCells(column))


def _with_index(frame: Any) -> Any:
    """A pandas frame with its index as columns in front, where that is more than a count of rows."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(frame, pandas.DataFrame):
        return frame
    index = frame.index
    if all(name is None for name in index.names) and (isinstance(index, pandas.RangeIndex) or index.nlevels > 1):
        return frame
    levels = index.to_frame(index=False).set_axis(["" if name is None else name for name in index.names], axis=1)
    return pandas.concat([levels, frame.reset_index(drop=True)], axis=1)


def _stripped(names: Sequence[object]) -> tuple[str, ...]:
    return tuple("" if name is None else str(name).strip() for name in names)
