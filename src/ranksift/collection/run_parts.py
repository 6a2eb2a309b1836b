"""A run that is larger than the memory that it may take: whole queries, one part after another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from ranksift.collection._engine.grouping import OnDuplicate, by_rank
from ranksift.collection._engine.parts import Chunk, NotInPartsError, NotTogetherError, Parts
from ranksift.collection.ragged import Ints
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import Run, read_run
from ranksift.files import STANDARD, display_name, size_of
from ranksift.parameters import Kind, is_integer

# What a part takes of the memory: rows are gathered, hashed, ranked and joined, and blocks behind them are parsed.
_SHARE = 32
_MOST = 1 << 26  # bytes of text in a part: larger ones are not faster

# How many times its size a file may take that is read whole: a text whose rows stand in random order takes five.
_WHOLE = {".gz": 25, ".zst": 25, ".zstd": 25, ".parquet": 15, ".pq": 15}
_WHOLE_TEXT = 5


def _is_size(value: Any) -> bool:
    return (is_integer(value) and value > 0) or (isinstance(value, str) and bool(size_of(value)))


#: What a limit of memory may be.
MEMORY = Kind("a number of bytes, or a text such as '2GB' or '500MB'", _is_size, example="2GB")


class Taker(Protocol):
    """Who takes the parts of a run."""

    def take(self, run: Run, number: Ints) -> None:
        """Take all rows of some queries, each with a number: by it they come in the order of the file."""


T = TypeVar("T", bound=Taker)


class Taken(NamedTuple):
    """What is to be said of a run when all of its parts were taken."""

    name: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class RunParts:
    """A run in a file, some whole queries at a time.

    Parameters
    ----------
    source, name, on_duplicate, columns
        As in :func:`read_run`.
    memory
        How many bytes its rows may take.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "bm25.run")
    >>> read_run({"q1": {"d1": 2.0}, "q2": {"d3": 1.0}}).save(path)
    >>> class Sizes(list):
    ...     def take(self, run, number):
    ...         self.append(len(run))
    >>> RunParts(path, memory=64).feed(Sizes)
    ([1, 1], Taken(name='bm25', notes=()))
    """

    source: str | os.PathLike[str]
    name: str | None = None
    on_duplicate: OnDuplicate = "error"
    columns: Columns = None
    memory: int = 1 << 30

    def feed(self, begin: Callable[[], T]) -> tuple[T, Taken]:
        """Hand all parts to a taker: to another one, from the beginning, where a query turns out to come back."""
        from ranksift.collection.readers.formats import source_of, stem

        notes: tuple[str, ...] = ()
        try:
            with source_of(self.source, "score", self.columns) as source:
                parts = Parts(source, self.on_duplicate, part_of(self.memory) // source.unit or 1)
                try:
                    taker = self._handed(begin(), parts.as_they_stand())
                except NotTogetherError:
                    taker = self._handed(begin(), parts.brought_together())
                    notes = (
                        f"{display_name(self.source)!r}: the rows of a query are not adjacent, so they were "
                        "sorted on disk",
                    )
                tag = source.tag() or "stdin"
        except NotInPartsError:
            run, taker = read_run(self.source, on_duplicate=self.on_duplicate, columns=self.columns), begin()
            taker.take(run, np.arange(len(run.query_ids)))
            tag = run.name
        name = tag if os.fspath(self.source) == STANDARD else stem(self.source)
        return taker, Taken(name if self.name is None else self.name, notes)

    def _handed(self, taker: T, chunks: Iterator[Chunk]) -> T:
        for rows, number in chunks:
            taker.take(Run(by_rank(rows)), number)
        return taker


def part_of(memory: int) -> int:
    """How many bytes of text are held at once."""
    return max(1, min(memory // _SHARE, _MOST))


def memory_for(source: Any, memory: int | str | None, times: int = 1) -> int | None:
    """How many bytes the rows of a run may take; None if it is read whole.

    That is where it is no file, or where it takes less than ``memory``; without a limit, half of what is free. What is
    done with the rows may take several ``times`` what an evaluation takes.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    limit = _free() // 2 if memory is None else size_of(memory) if isinstance(memory, str) else int(memory)
    if os.fspath(source) == STANDARD:
        return limit if memory is not None else None
    return limit if limit is not None and times * bytes_of(source) > limit else None


def bytes_of(source: str | os.PathLike[str]) -> int:
    """How many bytes of memory a file may take that is read whole; 0 if it cannot be read, and its reader says why.

    >>> bytes_of(os.devnull)
    0
    """
    with suppress(OSError, ValueError):
        return os.path.getsize(source) * _WHOLE.get(os.path.splitext(source)[1].lower(), _WHOLE_TEXT)
    return 0


def _free() -> int:
    """Bytes of unused memory, as far as the system reports them; otherwise a gigabyte."""
    free = 1 << 30
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))) << 10
    with suppress(OSError, ValueError):  # a container may have less
        limit, used = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current"))
        free = min(free, max(limit - used, 1))
    return free
