"""Qrels and runs as tables with named columns: CSV, TSV, Parquet, JSON lines, and frames."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from ranksift.collection._engine.grouping import Grouped, OnDuplicate
from ranksift.collection.readers import frames
from ranksift.collection.readers.column_names import find_columns, is_header
from ranksift.collection.readers.delimited import read_separated
from ranksift.collection.readers.formats import kind
from ranksift.collection.readers.frames import frame_of
from ranksift.collection.readers.jsonl import read_jsonl
from ranksift.errors import InputError
from ranksift.files import display_name, first_line, read_bytes, reading, writing

if TYPE_CHECKING:
    import polars as pl

    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

__all__ = [
    "SEPARATORS",
    "frame_of",
    "has_header",
    "read_file",
    "read_frame",
    "read_parquet",
    "write_file",
    "write_frame",
]

#: What stands between the fields of a text table.
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def read_file(source: str | os.PathLike[str], noun: str, on_duplicate: OnDuplicate) -> tuple[Grouped, bool]:
    """Rows of a table, and whether every value in it is an integer; ``noun`` is ``"label"`` or ``"score"``."""
    suffix = kind(source)
    if suffix in SEPARATORS:
        with reading(source) as text:
            rows, whole = read_separated(text, SEPARATORS[suffix], noun, on_duplicate)
    elif suffix in (".jsonl", ".ndjson"):
        rows, whole = read_jsonl(source, noun, on_duplicate)
    else:
        name = display_name(source)
        frame = read_parquet(source, lambda names: [names[c] for c in find_columns(names, noun, source=name)])
        rows, whole = frames.read_frame(frame, noun, on_duplicate, name)
    return _judgments_in(rows, noun, display_name(source)), whole


def read_frame(frame: Any, noun: str, on_duplicate: OnDuplicate) -> tuple[Grouped, bool]:
    """Rows of a polars or pandas frame, or of another that can be taken as Arrow."""
    rows, whole = frames.read_frame(frame, noun, on_duplicate)
    return _judgments_in(rows, noun, None), whole


def has_header(path: str | os.PathLike[str]) -> bool:
    """Whether the first line of a tab separated file names columns (if not, it is TREC's format)."""
    if not os.path.isfile(path):  # what is taken out of a pipe is gone: its suffix must do
        return True
    fields = first_line(path).decode("utf-8", "replace").split("\t")
    return is_header([field.strip().strip('"') for field in fields])


def write_file(table: Qrels | Run, target: str | os.PathLike[str]) -> None:
    """Write the frame of qrels or of a run in the format that the suffix names."""
    write_frame(table.to_frame(), target)


def write_frame(frame: pl.DataFrame, target: str | os.PathLike[str]) -> None:
    """Write a frame with the columns query_id and doc_id in the format that the suffix names."""
    suffix = kind(target)
    with writing(target) as file:
        if suffix in SEPARATORS:
            ids = frame.select("query_id", "doc_id")
            # Blanks at the edge of an id are part of it only in quotation marks.
            edge = any(ids[c].str.contains(r"^[\x00-\x20]|[\x00-\x20]$").any() for c in ids.columns)
            quotes: Literal["non_numeric", "necessary"] = "non_numeric" if edge else "necessary"
            frame.write_csv(file, separator=SEPARATORS[suffix], quote_style=quotes)
        elif suffix in (".jsonl", ".ndjson"):
            if frame.height:
                frame.write_ndjson(file)
            else:
                file.write(b"# nothing retrieved\n")
        else:
            frame.write_parquet(file)


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


def _judgments_in(rows: Grouped, noun: str, source: str | None) -> Grouped:
    if noun == "label" and not len(rows.values):
        raise InputError("no judgment in it", source=source or "qrels", remedy="give at least one row")
    return rows
