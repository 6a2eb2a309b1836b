"""Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

from ranksift.errors import InputError
from ranksift.files import display_name, read_bytes

if TYPE_CHECKING:
    import polars as pl


def read_parquet(
    source: str | os.PathLike[str], wanted: Callable[[list[str]], list[str]] = lambda names: names
) -> pl.DataFrame:
    """A Parquet file's columns, those that are ``wanted`` out of all names."""
    import polars as pl

    name, data = display_name(source), read_bytes(source)
    try:
        names = list(pl.read_parquet_schema(BytesIO(data)))
        return pl.read_parquet(BytesIO(data), columns=wanted(names))
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"not a readable Parquet file ({reason})", source=name, remedy="write it again") from None
