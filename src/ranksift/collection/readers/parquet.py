"""Parquet files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING

from ranksift.collection._engine.parts import Source
from ranksift.collection.readers import parquet_check
from ranksift.collection.readers.column_names import Columns as Called
from ranksift.collection.readers.column_names import find_columns
from ranksift.collection.readers.frames import frame_source
from ranksift.errors import InputError
from ranksift.files import beyond_limit, display_name, read_bytes, unpacked_limit

if TYPE_CHECKING:
    import polars as pl

_CHECKING = Lock()


def read_parquet(
    source: str | os.PathLike[str], wanted: Callable[[list[str]], list[str]] = lambda names: names
) -> pl.DataFrame:
    """A Parquet file's columns, those that are ``wanted`` out of all names."""
    name, data = display_name(source), read_bytes(source)
    try:
        columns = _readable(len(data), lambda checker, limit: checker.names(data, limit), wanted, name)
        return _read(data, wanted(_read(data, []).columns) if columns is None else columns)
    except parquet_check.DamagedError as error:
        raise _damaged(error, name) from None


@contextmanager
def parquet_source(source: str | os.PathLike[str], noun: str, called: Called = None) -> Iterator[Source]:
    """A table that is read some rows at a time."""
    path, name = os.path.abspath(os.fspath(source)), display_name(source)
    before = _state(path, name)

    def wanted(names: list[str]) -> list[str]:
        return [names[c] for c in find_columns(names, noun, called, source=name)]

    def batches() -> Iterator[pl.DataFrame]:
        import polars as pl

        try:
            yield from parquet_check.batches(path, columns)
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise parquet_check.DamagedError(str(error).partition("\n")[0]) from None

    try:
        readable = _readable(before[0], lambda checker, limit: checker.names_at(path, before[0], limit), wanted, name)
        columns = wanted(parquet_check.names(path)) if readable is None else readable
        yield frame_source(batches, parquet_check.height(path), noun, name)
    except parquet_check.DamagedError as error:
        raise _damaged(error, name) from None
    if _state(path, name) != before:
        raise InputError("the file changed while it was read", source=name, remedy="read it again")


def _damaged(error: parquet_check.DamagedError, name: str) -> InputError:
    return InputError(f"not a readable Parquet file ({error})", source=name, remedy="write it again")


def _state(path: str, name: str) -> tuple[int, int]:
    """Size and last change of a file."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=name, remedy="check the file") from None
    return status.st_size, status.st_mtime_ns


def _readable(
    size: int,
    names_by: Callable[[parquet_check.Checker, int], list[str]],
    wanted: Callable[[list[str]], list[str]],
    name: str,
) -> list[str] | None:
    """The wanted columns, which another process was able to read; None where files are trusted: there is no limit."""
    limit = unpacked_limit(size)
    with _CHECKING:
        checker = None if math.isinf(limit) else parquet_check.checker()
        if checker is None:
            return None
        columns: list[str] | None = None
        try:
            names = names_by(checker, int(limit))
            try:
                columns = wanted(names)
            finally:
                rows = checker.rows(columns)
        except Exception:
            raise
        except BaseException:  # such as an interrupt: its next answer would be to the last question
            checker.end()
            raise
    if parquet_check.bytes_of(rows, len(columns)) > limit:
        raise beyond_limit(f"{rows:,} rows of {len(columns):,} columns unpack to more than {limit:,} bytes", name)
    return columns


def _read(data: bytes, columns: list[str]) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(BytesIO(data), columns=columns) if columns else pl.read_parquet(BytesIO(data), n_rows=0)
    except (Exception, pl.exceptions.PanicException) as error:
        raise parquet_check.DamagedError(str(error).partition("\n")[0]) from None
