"""Judgments and runs in several files, where many processes take part: each query goes to one of so many buckets.

One process reads some of the files and hands out a piece for each bucket; another one gathers the pieces of a bucket,
where all rows of its queries come together, wherever they stood.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import OnDuplicate, by_rank
from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.parts import Clash as Clash
from ranksift.collection._engine.parts import NotInPartsError, Parts, Source, chunk_of, refuse, scatter
from ranksift.collection.qrels import Qrels, read_qrels, refuse_large_label
from ranksift.collection.ragged import Ints
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.readers.formats import source_of, stem
from ranksift.collection.run import Run, read_run
from ranksift.collection.run_parts import bytes_of, part_of
from ranksift.errors import InputError
from ranksift.spool import Place, Spool

#: Rows of the queries of one bucket, as arrays that any process can take.
Piece: TypeAlias = list[list[NDArray[Any]]]

# Queries are numbered by their file, and within it: so many may a file have.
_QUERIES = 1 << 40


def shards_of(source: Any) -> tuple[str, ...]:
    """The files of a table: one, or those of a folder or of a pattern such as ``runs/bm25-*.parquet``, by their names.

    In a folder, hidden files and files that tools such as Spark leave beside their parts (``_SUCCESS``, parts without a
    byte) are not part of the table.

    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("part-1.run", "part-0.run", "_SUCCESS"):
    ...     _ = (folder / name).write_text("q Q0 d 1 1.0 t")
    >>> [Path(file).name for file in shards_of(folder)]
    ['part-0.run', 'part-1.run']
    """
    if not isinstance(source, str | os.PathLike):
        what = f"a {type(source).__name__} is not a file that all machines can read"
        raise InputError(what, remedy="name a file, a folder of files or a pattern")
    path = os.fspath(source)
    if os.path.isdir(path):
        entries = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and entry.name[0] not in "._")
        files = [entry for entry in entries if os.path.getsize(entry)]
    elif glob.has_magic(path) and not os.path.exists(path):
        files = sorted(filter(os.path.isfile, glob.glob(path)))
    else:
        return (os.path.abspath(path),)
    if not files:
        raise InputError("there is no such file", source=path, remedy="name a file, a folder of files or a pattern")
    return tuple(map(os.path.abspath, files))


def name_of(source: str | os.PathLike[str]) -> str:
    """What a run in one or several files is called.

    >>> name_of("runs/bm25.run.gz"), name_of("runs/bm25/"), name_of("runs/bm25-*.parquet")
    ('bm25', 'bm25', 'bm25')
    """
    path = os.fspath(source).rstrip("/")
    if glob.has_magic(path) and not os.path.exists(path):
        return stem(path).partition("*")[0].partition("?")[0].partition("[")[0].rstrip("-_.") or "run"
    return os.path.basename(path) if os.path.isdir(path) else stem(path)


def groups_of(files: Sequence[str], size: int) -> list[list[tuple[int, str]]]:
    """Files with their numbers, as many of them together as take ``size`` bytes of memory.

    >>> groups_of(["/no/a", "/no/b"], 1)
    [[(0, '/no/a'), (1, '/no/b')]]
    """
    groups: list[list[tuple[int, str]]] = [[]]
    held = 0
    for number, file in enumerate(files):
        own = bytes_of(file)
        if groups[-1] and held + own > size:
            groups.append([])
            held = 0
        groups[-1].append((number, file))
        held += own
    return groups


def scattered(
    files: Sequence[tuple[int, str]], noun: str, on_duplicate: OnDuplicate, columns: Columns, memory: int, count: int
) -> Iterator[Piece]:
    """What some files have of the queries of each bucket; ``noun`` is what they hold, a label or a score."""
    with Spool() as spool:
        places: list[list[list[Place]]] = [[] for _ in range(count)]
        for number, file in files:
            first = number * _QUERIES
            try:
                with source_of(file, noun, columns) as source:
                    parts = Parts(source, on_duplicate, part_of(memory) // source.unit or 1)
                    if not parts.scatter(spool, places, first):
                        source.refuse_blank()
            except NotInPartsError:
                read = read_run if noun == "score" else read_qrels
                scatter(read(file, on_duplicate=on_duplicate, columns=columns).rows, first, spool, places)
        for written in places:
            yield [list(map(spool.read, each)) for each in written]


def gathered_qrels(pieces: Sequence[Piece], on_duplicate: OnDuplicate, name: str) -> tuple[Qrels, Ints, list[Clash]]:
    """The judgments of a bucket, and by which numbers its queries come; or what documents are judged twice."""
    clashes: list[Clash] = []
    rows, number = chunk_of((each for piece in pieces for each in piece), on_duplicate, "label", clashes)
    refuse_large_label(rows, name)
    return Qrels(rows, False, name), number, clashes


def gathered_run(pieces: Sequence[Piece], on_duplicate: OnDuplicate) -> tuple[Run, Ints, list[Clash]]:
    """The lists of a bucket, and by which numbers its queries come; or what documents are listed twice."""
    clashes: list[Clash] = []
    rows, number = chunk_of((each for piece in pieces for each in piece), on_duplicate, "score", clashes)
    return Run(by_rank(rows)), number, clashes


def id_hashes(ids: Sequence[str]) -> NDArray[np.uint64]:
    """A number for each id, by which ids of many files are distinguished without keeping them.

    >>> one, same, other = id_hashes(["q1", "q1", "q2"]).tolist()
    >>> one == same, one == other
    (True, False)
    """
    return Ids.from_strings(ids).hashes()


def refuse_twice(clashes: Sequence[Clash], files: Sequence[str], noun: str, columns: Columns, name: str) -> None:
    """Complain of the first document that stands in the files twice; they are read once more for its line."""

    def sources() -> Iterator[Source]:
        for file in files:
            with ExitStack() as open_files:
                try:
                    source = open_files.enter_context(source_of(file, noun, columns))
                except NotInPartsError:
                    continue
                yield source

    if clashes:
        refuse(clashes, sources())
        raise InputError(clashes[0].what, source=name, remedy=clashes[0].remedy)
