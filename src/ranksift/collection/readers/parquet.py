"""Parquet files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING

from ranksift.collection.readers import parquet_check
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
        with _CHECKING:
            columns = _readable(data, wanted, name)
        return _read(data, columns)
    except parquet_check.DamagedError as error:
        raise InputError(f"not a readable Parquet file ({error})", source=name, remedy="write it again") from None


def _readable(data: bytes, wanted: Callable[[list[str]], list[str]], name: str) -> list[str]:
    """The wanted columns, which another process was able to read; where there is no limit, files are trusted."""
    limit = unpacked_limit(len(data))
    checker = None if math.isinf(limit) else parquet_check.checker()
    if checker is None:
        return wanted(_read(data, []).columns)
    columns: list[str] | None = None
    try:
        names = checker.names(data, int(limit))
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
