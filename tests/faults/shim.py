"""Counts the steps by which a process changes files below a folder, and lets one of them go wrong."""

from __future__ import annotations

import builtins
import errno
import functools
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

#: What may happen at a step: the process is killed; the disk is full; the system lets nobody write any more.
KILL, FULL, READ_ONLY = "kill", "full", "read-only"
FAULTS = (KILL, FULL, READ_ONLY)

# Steps that a full disk refuses. Renaming and removing need no room; that they too may be refused is tried one by one.
_NEED_ROOM = {"create", "write", "fsync", "mkdir"}
_STEPS = ("rename", "replace", "remove", "unlink", "mkdir", "rmdir", "chmod", "utime", "truncate", "link", "symlink")


class Shim:
    """The steps so far.

    Parameters
    ----------
    folder
        Only what is below it counts.
    fault, at
        What happens at which step, from 0; None: nothing.
    """

    def __init__(self, folder: str | os.PathLike[str], fault: str | None = None, at: int = -1) -> None:
        self.folder = os.path.realpath(folder) + os.sep
        self.fault, self.at = fault, at
        self.steps: list[tuple[str, str]] = []
        self._files: dict[int, str] = {}  # what is open, by its number

    def install(self) -> None:
        """Count from now on, in this process."""
        for name in _STEPS:
            setattr(os, name, self._counting(name, getattr(os, name)))
        real_open, real_fsync = os.open, os.fsync

        def numbered(path: Any, flags: int, *rest: Any, **more: Any) -> int:
            if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                self.step("open" if os.path.exists(path) else "create", path)
            opened = real_open(path, flags, *rest, **more)
            self._files[opened] = self.below(path)
            return opened

        def fsync(file: Any) -> None:
            number = file if isinstance(file, int) else file.fileno()
            if path := self._files.get(number):
                self.step("fsync", path)
            real_fsync(file)

        os.open, os.fsync = numbered, fsync
        builtins.open = io.open = functools.partial(self._open, builtins.open)  # type: ignore[assignment]

    def below(self, path: Any) -> str:
        """The path in the folder; nothing for what is elsewhere."""
        if isinstance(path, int):
            return ""
        text = os.fsdecode(os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path)))
        return text.removeprefix(self.folder) if text.startswith(self.folder) else ""

    def step(self, what: str, path: Any, half: Callable[[], Any] = lambda: None) -> Any:
        """Count a step; where it is the one that goes wrong, it does. A write gets half of it done before."""
        inside = path if what in ("write", "fsync") else self.below(path)
        if not inside:
            return None
        number = len(self.steps)
        self.steps.append((what, inside))
        if number == self.at and self.fault == KILL:
            half()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self.at and self.fault == FULL and what == "write":
            return half()  # the system says how much it took; the rest is refused
        if number == self.at or (number > self.at >= 0 and (self.fault == READ_ONLY or what in _NEED_ROOM)):
            _refuse(errno.EROFS if self.fault == READ_ONLY else errno.ENOSPC, inside)
        return None

    def _counting(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(path: Any, *rest: Any, **more: Any) -> Any:
            self.step(name, path)
            return real(path, *rest, **more)

        return counted

    def _open(
        self,
        real: Any,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        if not set(mode) & set("wxa+") or not self.below(file):
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        self.step("open" if os.path.exists(file) else "create", file)
        raw = _Counted(self, file, mode.replace("b", "").replace("t", ""), opener)
        self._files[raw.fileno()] = self.below(file)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)


class _Counted(io.FileIO):
    """An open file whose writes are steps."""

    def __init__(self, shim: Shim, file: Any, mode: str, opener: Any) -> None:
        super().__init__(os.fspath(file), mode, opener=opener)
        self._shim, self._path = shim, shim.below(file)

    def write(self, data: Any) -> Any:
        """Write as much as the disk takes."""
        view = memoryview(data).cast("B")
        real = super().write
        done = self._shim.step("write", self._path, lambda: real(view[: max(1, len(view) // 2)]))
        return real(view) if done is None else done

    def close(self) -> None:
        """Forget the number, which another file may get."""
        if not self.closed:
            self._shim._files.pop(self.fileno(), None)
        super().close()


def _refuse(number: int, path: str) -> NoReturn:
    raise OSError(number, os.strerror(number), str(Path(path)))
