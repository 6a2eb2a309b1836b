"""Which reader and which writer: by the type of the source and the suffix of a path."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ranksift.collection._engine.grouping import Grouped, OnDuplicate, by_rank
from ranksift.collection.readers import trec
from ranksift.errors import InputError
from ranksift.files import STANDARD, display_name

if TYPE_CHECKING:
    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

_COMPRESSED = (".gz", ".zst", ".zstd")
#: Suffixes of tables.
TABLES = (".csv", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson")
_PLAIN = (".run", ".runs", ".res", ".trec", ".txt", ".qrels", ".qrel", ".tab")


def load_qrels(source: Any, on_duplicate: OnDuplicate) -> tuple[Grouped, bool, str]:
    """Rows of a source of judgments, whether all labels are integers, and its name."""
    if isinstance(source, str | os.PathLike):
        if not _is_table(source):
            rows, whole = trec.scan_qrels(source, on_duplicate)
            return rows, whole, display_name(source)
        from ranksift.collection.readers import tables

        rows, whole = tables.read_file(source, "label", on_duplicate)
        return rows, whole, display_name(source)
    if isinstance(source, Mapping):
        from ranksift.collection.readers import dicts

        rows, whole = dicts.rows_of(source, "label")
        return rows, whole, "qrels"
    from ranksift.collection.readers import tables

    rows, whole = tables.read_frame(source, "label", on_duplicate)
    return rows, whole, "qrels"


def load_run(source: Any, on_duplicate: OnDuplicate) -> tuple[Grouped, str]:
    """Rows of a source of rankings, in rank order, and a name for the run."""
    if isinstance(source, str | os.PathLike):
        if not _is_table(source):
            rows, tag = trec.scan_run(source, on_duplicate)
            return rows, (tag or "stdin") if os.fspath(source) == STANDARD else stem(source)
        from ranksift.collection.readers import tables

        rows, _ = tables.read_file(source, "score", on_duplicate)
        return by_rank(rows), stem(source)
    if isinstance(source, Mapping):
        from ranksift.collection.readers import dicts

        rows, _ = dicts.rows_of(source, "score")
        return by_rank(rows), "run"
    from ranksift.collection.readers import tables

    rows, _ = tables.read_frame(source, "score", on_duplicate)
    return by_rank(rows), "run"


def save(table: Qrels | Run, target: str | os.PathLike[str]) -> None:
    """Write qrels or a run in the format that the suffix names."""
    from ranksift.collection.qrels import Qrels

    if os.fspath(target) != STANDARD and kind(target) in TABLES:
        from ranksift.collection.readers import tables

        tables.write_file(table, target)
    elif isinstance(table, Qrels):
        trec.write_trec_qrels(table, target)
    else:
        trec.write_trec_run(table, target)


def kind(path: str | os.PathLike[str]) -> str:
    """The suffix that tells the format, compression aside.

    >>> kind("runs/bm25.csv.gz"), kind("bm25.run")
    ('.csv', '.run')
    """
    name = PurePath(path)
    if name.suffix.lower() in _COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower()


def stem(path: str | os.PathLike[str]) -> str:
    """A file's name without the suffixes that tell format and compression.

    >>> stem("runs/bm25+rm3.v1.run.gz")
    'bm25+rm3.v1'
    """
    name = PurePath(path)
    for known in (_COMPRESSED, TABLES + _PLAIN):
        if name.suffix.lower() in known and name.stem:
            name = name.with_suffix("")
    # Names of files are bytes; those of runs go into frames, which hold text.
    return os.fsencode(name.name).decode("utf-8", "backslashreplace")


def _is_table(source: str | os.PathLike[str]) -> bool:
    if os.fspath(source) == STANDARD:
        return False
    suffix = kind(source)
    if suffix != ".tsv":
        return suffix in TABLES
    from ranksift.collection.readers import tables

    return tables.has_header(source)  # MS MARCO's qrels.tsv is TREC's format, BEIR's has a header


def unsupported(source: object) -> InputError:
    """The error for a source of an unknown type."""
    return InputError(
        f"cannot read a {type(source).__name__}",
        remedy="give a path, a polars or pandas frame, or {query: {document: number}}",
    )
