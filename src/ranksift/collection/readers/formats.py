"""Which reader and which writer: by the type of the source and the suffix of a path."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from ranksift.collection._engine.grouping import Grouped, OnDuplicate, by_rank
from ranksift.collection._engine.parts import NotInPartsError, Source
from ranksift.collection.readers import trec
from ranksift.collection.readers.column_names import Columns, checked, find_columns, is_header
from ranksift.errors import InputError
from ranksift.files import NOTHING_RETRIEVED, PATH, STANDARD, display_name, first_line, reading, writing

if TYPE_CHECKING:
    import polars as pl

    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

#: Suffixes of packed files.
COMPRESSED = (".gz", ".zst", ".zstd")
#: Suffixes of tables.
TABLES = (".csv", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson")
#: What stands between the fields of a text table.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
#: Suffixes of files with one JSON object per line.
JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_LETOR_LINE = re.compile(rb"\s*[^\s,]+\s+qid:\S")
_PLAIN = (".run", ".runs", ".res", ".trec", ".txt", ".qrels", ".qrel", ".tab")


def load_qrels(source: Any, on_duplicate: OnDuplicate, columns: Columns = None) -> tuple[Grouped, bool, str]:
    """Rows of a source of judgments, whether all labels are integers, and its name."""
    name = display_name(source) if isinstance(source, str | os.PathLike) else "qrels"
    if isinstance(source, str | os.PathLike) and begins_like_letor(source):
        from ranksift.collection.examples import read_examples

        labels = read_examples(source).qrels()
        return labels.rows, labels.whole, name
    if isinstance(source, str | os.PathLike) and not _is_table(source, columns):
        return *trec.scan_qrels(source, on_duplicate), name
    rows, whole = _load(source, "label", on_duplicate, columns)
    if not len(rows.values) and not isinstance(source, Mapping):
        raise InputError("no judgment in it", source=name, remedy="give at least one row")
    return rows, whole, name


def load_run(source: Any, on_duplicate: OnDuplicate, columns: Columns = None) -> tuple[Grouped, str]:
    """Rows of a source of rankings, in rank order, and a name for the run."""
    name = stem(source) if isinstance(source, str | os.PathLike) else "run"
    if isinstance(source, str | os.PathLike) and not _is_table(source, columns):
        rows, tag = trec.scan_run(source, on_duplicate)
        return rows, (tag or "stdin") if os.fspath(source) == STANDARD else name
    return by_rank(_load(source, "score", on_duplicate, columns)[0]), name


def tag_of(source: str | os.PathLike[str]) -> str | None:
    """What a run calls itself, where it is a TREC file that says so in its first line."""
    return None if os.fspath(source) == STANDARD or _is_table(source) else trec.tag_of(source)


def _load(source: Any, noun: str, on_duplicate: OnDuplicate, columns: Columns) -> tuple[Grouped, bool]:
    """Rows of a table, a dict or a frame, and whether every value is an integer; ``noun`` is what the values are."""
    if isinstance(source, Mapping):
        from ranksift.collection.readers import dicts

        return dicts.rows_of(source, noun)
    from ranksift.collection.readers import frames

    if not isinstance(source, str | os.PathLike):
        return frames.read_frame(source, noun, on_duplicate, columns=columns)
    suffix, name = kind(source), display_name(source)
    if suffix in SEPARATORS:
        from ranksift.collection.readers.delimited import read_delimited

        row = "give a header line and at least one row"
        with reading(source, if_empty=NOTHING_RETRIEVED if noun == "score" else row) as text:
            return read_delimited(text, SEPARATORS[suffix], noun, on_duplicate, columns)
    if suffix in JSON_LINES:
        from ranksift.collection.readers.jsonl import read_jsonl

        return read_jsonl(source, noun, on_duplicate, columns)
    from ranksift.collection.readers.parquet import read_parquet

    frame = read_parquet(source, lambda names: [names[c] for c in find_columns(names, noun, columns, source=name)])
    return frames.read_frame(frame, noun, on_duplicate, name, columns)


@contextmanager
def source_of(source: Any, noun: str, columns: Columns = None) -> Iterator[Source]:
    """A file that is read some rows at a time; :class:`NotInPartsError` where it must be read whole.

    ``noun`` is what it holds, a label or a score.
    """
    if not isinstance(source, str | os.PathLike) or (noun == "label" and begins_like_letor(source)):
        raise NotInPartsError
    if not _is_table(source, columns):
        with trec.trec_source(source, noun) as found:
            yield found
        return
    suffix = kind(source)
    if suffix in SEPARATORS:
        from ranksift.collection.readers.delimited import delimited_source

        with reading(source, on_disk=True) as text:
            yield delimited_source(text, SEPARATORS[suffix], noun, columns)
    elif PurePath(source).suffix.lower() in _PARQUET:
        from ranksift.collection.readers.parquet import parquet_source

        with parquet_source(source, noun, columns) as found:
            yield found
    else:
        raise NotInPartsError


def save(table: Qrels | Run, target: str | os.PathLike[str]) -> None:
    """Write qrels or a run in the format that the suffix names."""
    from ranksift.collection.qrels import Qrels

    if kind(target) in TABLES and os.fspath(target) != STANDARD:
        save_frame(table.to_frame(), target)
    elif isinstance(table, Qrels):
        trec.write_trec_qrels(table, target)
    else:
        trec.write_trec_run(table, target)


def save_runs(name: str, runs: Iterable[Run], target: str | os.PathLike[str]) -> None:
    """Write parts of a run, queries of their own in each, as :func:`save` writes the whole.

    In TREC's format each part is written as it comes; of a table all are held.
    """
    if kind(target) in TABLES and os.fspath(target) != STANDARD:
        import polars as pl

        from ranksift.collection.run import read_run

        save_frame(pl.concat([read_run({}).to_frame(), *(run.to_frame() for run in runs)]), target)
        return
    with writing(target) as file:
        written = 0
        for run in runs:
            for lines in trec.trec_lines(run):
                written += file.write(lines)
        if not written:
            file.write(trec.nothing_retrieved(name))


def save_frame(frame: pl.DataFrame, target: str | os.PathLike[str]) -> None:
    """Write a frame with the columns query_id and doc_id in the format that the suffix names."""
    suffix = kind(target)
    with writing(target) as file:
        if suffix in SEPARATORS:
            ids = frame.select("query_id", "doc_id")
            # Blanks at the edge of an id are part of it only in quotation marks.
            edge = any(ids[c].str.contains(r"^[\x00-\x20]|[\x00-\x20]$").any() for c in ids.columns)
            quotes: Literal["non_numeric", "necessary"] = "non_numeric" if edge else "necessary"
            frame.write_csv(file, separator=SEPARATORS[suffix], quote_style=quotes)
        elif suffix in JSON_LINES:
            if frame.height:
                frame.write_ndjson(file)
            else:
                file.write(b"# nothing retrieved\n")
        else:
            packed = io.BytesIO()  # written to a file, polars hides a full disk in an error of its own
            frame.write_parquet(packed)
            file.write(packed.getbuffer())


def kind(path: str | os.PathLike[str]) -> str:
    """The suffix that gives the format, without that of compression.

    >>> kind("runs/bm25.csv.gz"), kind("bm25.run")
    ('.csv', '.run')
    """
    PATH.check("path", path)
    name = PurePath(path)
    if name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return name.suffix.lower()


def stem(path: str | os.PathLike[str]) -> str:
    """A file's name without the suffixes of format and compression.

    >>> stem("runs/bm25+rm3.v1.run.gz")
    'bm25+rm3.v1'
    """
    PATH.check("path", path)
    name = PurePath(path)
    for known in (COMPRESSED, TABLES + _PLAIN):
        if name.suffix.lower() in known and name.stem:
            name = name.with_suffix("")
    # Names of files are bytes; those of runs go into frames, which hold text.
    return os.fsencode(name.name).decode("utf-8", "backslashreplace")


def begins_like_letor(source: str | os.PathLike[str]) -> bool:
    """Whether the first line of a file is an example of LETOR's: a label, and a query behind ``qid:``."""
    return os.fspath(source) != STANDARD and _LETOR_LINE.match(first_line(source)) is not None


def _is_table(source: str | os.PathLike[str], columns: Columns = None) -> bool:
    if os.fspath(source) == STANDARD:
        return False
    suffix = kind(source)
    # MS MARCO's qrels.tsv is TREC's format, BEIR's has a header
    return _has_header(source, columns) if suffix == ".tsv" else suffix in TABLES


def _has_header(path: str | os.PathLike[str], columns: Columns = None) -> bool:
    """Whether the first line of a tab separated file names columns (if not, it is TREC's format)."""
    if not os.path.isfile(path):  # what is taken out of a pipe is gone: its suffix must do
        return True
    fields = first_line(path).decode("utf-8", "replace").split("\t")
    names = [field.strip().strip('"') for field in fields]
    return is_header(names) or not set(checked(columns).values()).isdisjoint(names)


def unsupported(source: object) -> InputError:
    """The error for a source of an unknown type."""
    return InputError(
        f"cannot read a {type(source).__name__}",
        remedy="give a path, a polars or pandas frame, or {query: {document: number}}",
    )
