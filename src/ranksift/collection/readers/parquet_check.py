"""A process that reads Parquet files to see whether they can be read.

At a damaged file polars may panic, with text on the terminal, or ask for more memory than there is, which ends the
process. So another one, which can be spared, reads every file first: its standard error goes nowhere, and its memory is
limited. Reading is a small part of what is done with a file; to hand over the columns would take as long as to read
them again.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from ranksift.files import UNPACKED_VARIABLE

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")

# What reading takes: the columns and their pages, and what polars needs for its threads. It must stay well below what
# the process has that reads the file in the end.
_TIMES_COLUMNS = 2
_BESIDE = 1 << 29
_CELL = 8  # bytes of a number; a text takes more
_PIPE = 1 << 20
_ROWS = 1 << 18  # of a large file that are read at once


class DamagedError(Exception):
    """The file cannot be read; the text says why."""


class Checker:
    """The process, seen from the one that asks it. It takes one file after another, because its start takes 0.2 s."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ranksift.collection.readers.parquet_check"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._answers: IO[bytes] = self._process.stdout
        with suppress(ImportError, AttributeError, OSError):  # larger pipes are faster, if there are any
            import fcntl

            fcntl.fcntl(self._requests, fcntl.F_SETPIPE_SZ, _PIPE)

    @property
    def lives(self) -> bool:
        """Whether this very process may ask it."""
        return self._owner == os.getpid() and self._process.poll() is None

    def is_ready(self) -> bool:
        """Wait until it takes requests; False if it cannot, as in a program that is not Python's own."""
        return self._answers.readline() == b"ready\n"

    def names(self, data: bytes, limit: int) -> list[str]:
        """The names of the columns of a file that may unpack to ``limit`` bytes."""
        found: list[str] = self._ask({"size": len(data), "limit": limit}, data)["names"]
        return found

    def names_at(self, path: str, size: int, limit: int) -> list[str]:
        """As :meth:`names`, of a file of this size that is not held in memory: it is read some rows at a time."""
        found: list[str] = self._ask({"path": path, "size": 0, "file": size, "limit": limit})["names"]
        return found

    def rows(self, columns: list[str] | None) -> int:
        """How many rows these columns of the file have, all of which were read unless they are beyond the limit.

        ``None`` instead of columns ends the work on the file.
        """
        found: int = self._ask(columns)["rows"]
        return found

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(OSError, ValueError):  # of what could not be sent
            self._requests.close()
        self._answers.close()
        self._process.wait()

    def _ask(self, request: Any, data: bytes = b"") -> dict[str, Any]:
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.write(data)
            self._requests.flush()
            line = self._answers.readline()
        except OSError:
            line = b""
        if not line:
            self.end()
            raise DamagedError(f"its reader ended: it is damaged, or takes more memory than {UNPACKED_VARIABLE} allows")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise DamagedError(answer["error"])
        return answer


_running: list[Checker] = []


def checker() -> Checker | None:
    """The process that checks files for this one; ``None`` where none can be started."""
    if _running and _running[0].lives:
        return _running[0]
    _running.clear()
    if getattr(sys, "frozen", False) or not sys.executable:  # the program itself would be started again
        return None
    try:
        _running.append(Checker())
    except OSError:
        return None
    import polars  # noqa: F401  (both processes load it at the same time)

    if _running[0].is_ready():
        return _running[0]
    _running.pop().end()
    return None


@atexit.register
def end_checker() -> None:
    """End the process, if there is one."""
    if _running and _running[0].lives:
        _running.pop().end()


# -- what the process itself does ------------------------------------------------------------------------


def main() -> None:
    """Answer requests, lines of JSON, until there are no more."""
    import polars as pl

    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(b"ready\n")
    answers.flush()
    while head := requests.readline():
        asked = json.loads(head)
        limit, data = asked["limit"], requests.read(asked["size"])
        _limit_memory(limit, asked.get("file", len(data)))
        try:
            path: str | None = asked.get("path")
            _answer(answers, {"names": list(pl.read_parquet_schema(io.BytesIO(data))) if path is None else names(path)})
            columns = json.loads(requests.readline())
            rows = 0
            if columns is not None:
                lazy = pl.scan_parquet(io.BytesIO(data)) if path is None else scan(path)
                rows = lazy.select(pl.len()).collect().item()
                if bytes_of(rows, len(columns)) <= limit:
                    if path is None:
                        pl.read_parquet(io.BytesIO(data), columns=columns)
                    else:
                        for _ in batches(path, columns):
                            pass
            answer: dict[str, Any] = {"rows": rows}
        except (Exception, pl.exceptions.PanicException) as error:
            answer = {"error": str(error).partition("\n")[0]}
        del data
        _answer(answers, answer)


def bytes_of(rows: int, columns: int) -> int:
    """What columns take in memory, at least."""
    return rows * columns * _CELL


def scan(path: str) -> pl.LazyFrame:
    """A file of this very name."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def names(path: str) -> list[str]:
    """The names of the columns of a file."""
    return _said(lambda: list(scan(path).collect_schema()))


def height(path: str) -> int:
    """How many rows a file has."""
    import polars as pl

    return _said(lambda: int(scan(path).select(pl.len()).collect().item()))


def _said(ask: Callable[[], T]) -> T:
    import polars as pl

    try:
        return ask()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DamagedError(str(error).partition("\n")[0]) from None


def batches(path: str, columns: list[str]) -> Iterator[pl.DataFrame]:
    """The columns of a file, some rows at a time, in order."""
    chosen = scan(path).select(columns)
    if hasattr(chosen, "collect_batches"):
        yield from chosen.collect_batches(chunk_size=_ROWS, maintain_order=True)
        return
    for start in range(0, height(path), _ROWS):  # polars before 1.34
        yield chosen.slice(start, _ROWS).collect()


def _answer(answers: IO[bytes], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _limit_memory(limit: int, size: int) -> None:
    """Let the process have what a file of ``size`` bytes may unpack to, if the system allows that."""
    with suppress(ImportError, OSError, ValueError, OverflowError):  # Linux can
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        wanted = now + size + _TIMES_COLUMNS * limit + _BESIDE
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


if __name__ == "__main__":
    main()
