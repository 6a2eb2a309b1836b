"""Frames of polars, of pandas and of whatever speaks Arrow: read into rows, and made of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ranksift.collection._engine.grouping import Floats, Grouped, OnDuplicate
from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.parts import Source
from ranksift.collection._engine.python_values import Fail, ids_of, is_missing, numbers_of
from ranksift.collection._engine.rows import Rows, collect
from ranksift.collection.readers.column_names import Columns, find_columns
from ranksift.collection.readers.formats import unsupported
from ranksift.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    Column = pl.Series | list[Any]

_STEP = 1 << 20  # rows whose ids are copied together
_ROW = 40  # bytes that a row takes, about


def read_frame(
    frame: Any, noun: str, on_duplicate: OnDuplicate, source: str | None = None, columns: Columns = None
) -> tuple[Grouped, bool]:
    """Read the rows of a frame; an error names the row, counted from 1."""
    names, column = columns_of(frame)

    def fail(row: int, what: str, remedy: str) -> InputError:
        return InputError(f"row {row + 1}: {what}", source=source, remedy=remedy)

    query, doc, value = find_columns(names, noun, columns, source=source)
    queries, docs = ids_in(column(query), "query", fail), ids_in(column(doc), "document", fail)
    values, whole = numbers_in(column(value), noun, fail)
    rows = Rows(queries, docs, values, whole, np.arange(len(values)), len(values))
    return collect(lambda work: [work(rows)], rows.size, fail, noun, on_duplicate)


def frame_source(
    frames: Callable[[], Iterator[pl.DataFrame]], height: int, noun: str, source: str | None = None
) -> Source:
    """A table of so many rows that comes in several frames; their columns are the query, the document and the value."""

    def fail(row: int, what: str, remedy: str) -> InputError:
        return InputError(f"row {row + 1}: {what}", source=source, remedy=remedy)

    def pieces() -> Iterator[tuple[int, pl.DataFrame]]:
        start = 0
        for frame in frames():
            yield start, frame
            start += frame.height

    def parsed(column: int, start: int, frame: pl.DataFrame) -> Any:
        def fail_here(row: int, what: str, remedy: str) -> InputError:
            return fail(start + row, what, remedy)

        given = frame.to_series(column)
        if column == 2:
            return numbers_in(given, noun, fail_here)
        return ids_in(given, ("query", "document")[column], fail_here)

    def over(work: Callable[[Rows], Any]) -> Iterator[Any]:
        for start, frame in pieces():
            try:
                queries, docs, (values, whole) = (parsed(column, start, frame) for column in range(3))
            except InputError:  # as in a frame that is read whole, the first wrong column comes first
                for column in range(3):
                    for piece in pieces():
                        parsed(column, *piece)
                raise
            places = np.arange(start, start + frame.height)
            yield work(Rows(queries, docs, values, whole, places, frame.height))

    return Source(over, height, fail, noun, unit=_ROW)


def frame_of(rows: Grouped, noun: str, whole: bool = False) -> pl.DataFrame:
    """A polars frame of query_id, doc_id and ``noun``; the last as integers where all are ``whole``.

    Examples
    --------
    >>> from ranksift.collection.qrels import read_qrels
    >>> read_qrels({"q1": {"d1": 2, "d9": -2}}).to_frame().rows()
    [('q1', 'd1', 2), ('q1', 'd9', -2)]
    """
    import polars as pl

    queries = pl.Series("query_id", rows.query_ids, dtype=pl.String)
    number = np.repeat(np.arange(len(rows.query_ids)), rows.lengths)
    values = rows.values.astype(np.int64) if whole else rows.values
    return pl.DataFrame([queries.gather(number), _strings("doc_id", rows.docs), pl.Series(noun, values)])


def as_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """The frame in pandas, by way of numpy and Python values: polars' own conversion takes pyarrow.

    >>> import polars as pl
    >>> as_pandas(pl.DataFrame({"run": ["a", "b"], "AP": [0.5, None]}))["AP"].tolist()
    [0.5, nan]
    """
    try:
        import pandas as pd
    except ImportError:
        raise InputError("pandas is not installed", remedy="pip install pandas") from None

    def values(column: pl.Series) -> Any:
        plain = column.null_count() == 0 and (column.dtype.is_numeric() or str(column.dtype) == "Boolean")
        return column.to_numpy() if plain else column.to_list()

    return pd.DataFrame({column.name: values(column) for column in frame}, columns=frame.columns)


def _strings(name: str, ids: Ids) -> pl.Series:
    import polars as pl

    pieces = [pl.Series(name, [], dtype=pl.String)]
    for lo in range(0, len(ids), _STEP):
        some = ids[lo : lo + _STEP]
        lines = some.packed(b"\n")[:-1]
        if lines.count(b"\n") == len(some) - 1:
            pieces.append(pl.Series(name, [lines.decode()]).str.split("\n").explode())
        else:  # an id with a newline in it
            pieces.append(pl.Series(name, some.tolist()))
    return pl.concat(pieces)


def columns_of(frame: Any) -> tuple[Sequence[object], Callable[[int], Column]]:
    """Names of a frame's columns, and how to get at one."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return list(frame.columns), lambda c: _of_pandas(frame.iloc[:, c])
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        try:
            frame = frame.collect()
        except pl.exceptions.PolarsError as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"the lazy frame cannot be collected ({reason})", remedy="collect it first") from None
    elif not isinstance(frame, pl.DataFrame):
        if not hasattr(frame, "__arrow_c_stream__"):
            raise unsupported(frame)
        try:
            frame = pl.DataFrame(frame)
        except Exception:  # a stream of something else than columns
            raise unsupported(frame) from None
    return frame.columns, frame.to_series


def _of_pandas(column: Any) -> Column:
    """A column as polars has it, or as Python objects; pyarrow is needed only where pandas uses it itself."""
    import polars as pl

    kind = column.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iufb":
        native = {"i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}[kind.kind]
        return pl.Series(column.to_numpy().astype(native))
    if getattr(kind, "storage", None) == "pyarrow" or hasattr(kind, "pyarrow_dtype"):
        return pl.Series(column.array.__arrow_array__())
    return column.astype(object).tolist()  # type: ignore[no-any-return]


def ids_in(column: Column, noun: str, fail: Fail) -> Ids:
    """The ids of a column."""
    import polars as pl

    if isinstance(column, list):
        return ids_of(column, noun, fail)
    kind = column.dtype
    if kind == pl.Object:
        return ids_of(column.to_list(), noun, fail)
    if column.null_count():
        raise fail(_first(column.is_null()), f"the {noun} id is missing", "give every query and document an id")
    if len(column) and not (kind.is_integer() or kind in (pl.String, pl.Categorical, pl.Enum)):
        raise fail(0, f"{noun} id {column[0]!r} is a {kind}", "convert the column to strings or integers")
    column = column.cast(pl.String)
    lengths = column.str.len_bytes()
    if (lengths == 0).any():
        raise fail(_first(lengths == 0), f"the {noun} id is empty", "give every query and document an id")
    # A text in polars holds at most 4 GB, so not all ids at once.
    pieces = [column.slice(lo, _STEP).str.join("").item().encode() for lo in range(0, len(column), _STEP)]
    return Ids.from_packed(b"".join(pieces), lengths.to_numpy().astype(np.int64))


def numbers_in(column: Column, noun: str, fail: Fail, *, gaps: bool = False) -> tuple[Floats, bool]:
    """The numbers of a column, every one of them finite, and whether it holds integers; NaN in ``gaps``, if allowed."""
    import polars as pl

    if gaps:
        return _with_gaps(column, noun, fail)
    if isinstance(column, list):
        return numbers_of(column, noun, fail)
    kind = column.dtype
    if kind == pl.Object or kind.is_decimal():  # polars' own conversion of decimals may round twice
        numbers, whole = numbers_of(column.to_list(), noun, fail)
        return numbers, whole or getattr(kind, "scale", None) == 0
    if column.null_count():
        raise fail(_first(column.is_null()), f"the {noun} is missing", f"give every document a {noun}")
    if len(column) and not (kind.is_numeric() or kind == pl.Boolean):
        raise fail(0, f"{noun} {column[0]!r} is a {kind}, not a number", "convert the column")
    values = column.cast(pl.Float64).to_numpy()
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise fail(row, f"{noun} {values[row]} is not finite", f"give every document a finite {noun}")
    return values, not kind.is_float()


def _with_gaps(column: Column, noun: str, fail: Fail) -> tuple[Floats, bool]:
    import polars as pl

    if isinstance(column, list) or column.dtype == pl.Object:
        missing = np.fromiter(map(is_missing, column), dtype=bool, count=len(column))
        filled: Column = [0 if gap else value for gap, value in zip(missing.tolist(), column, strict=True)]
    else:
        absent = column.is_null()
        if column.dtype.is_float():
            absent |= column.is_nan().fill_null(True)
        missing = absent.to_numpy()
        if missing.all():
            return np.full(len(column), np.nan), True
        some = column.filter(~absent)[0]
        filled = column.zip_with(~absent, pl.Series([some], dtype=column.dtype).new_from_index(0, len(column)))
    values, whole = numbers_in(filled, noun, fail)
    return np.where(missing, np.nan, values), whole


def _first(mask: pl.Series) -> int:
    return int(mask.arg_max() or 0)
