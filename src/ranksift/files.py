"""Bytes in and bytes out: plain, gzip and zstd files, standard input; writes that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ranksift.errors import InputError

Bytes = NDArray[np.uint8]

#: Bytes that must follow the last one that counts, so that eight can always be loaded at once.
PADDING = 8

#: The name that stands for standard input or output.
STANDARD = "-"

_BOM = b"\xef\xbb\xbf"
_NEWLINE = 10
_LONGEST_HEADER = 1 << 16
_COMMENT = "a run that filters everything needs at least a comment line (# nothing retrieved)"


def display_name(source: str | os.PathLike[str]) -> str:
    """What to call a source in a message."""
    return "<stdin>" if os.fspath(source) == STANDARD else os.fspath(source)


class Text:
    """The bytes of a text source, read piece by piece: from memory, or from a file as they are needed.

    A large file is never held whole: its pieces are copied into a buffer that each worker keeps, which
    spares the memory and the time that the system takes to hand it out.

    Attributes
    ----------
    name
        What to call the source in a message.
    start, end
        The bytes that count (a byte order mark does not).
    """

    def __init__(self, name: str, data: Bytes | None, file: int, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self.end = end
        self._data = data
        self._file = file

    def piece(self, start: int, end: int, scratch: Bytes) -> Bytes:
        """Bytes ``start`` to ``end``, with padding behind: in ``scratch`` if they must be read."""
        size = end - start
        if self._data is not None:
            return self._data[start : end + PADDING]
        view, got = memoryview(scratch), 0
        while got < size:
            n = os.preadv(self._file, [view[got:size]], start + got)
            if not n:
                raise InputError("the file shrank while it was read", source=self.name, remedy="read it again")
            got += n
        scratch[size : size + PADDING] = 0
        return scratch[: size + PADDING]

    def lines_before(self, position: int) -> int:
        """Newlines before a byte: how an error finds its line number."""
        count, at, step = 0, 0, 1 << 20
        scratch: Bytes = np.empty(step + PADDING, dtype=np.uint8)
        while at < position:
            upto = min(at + step, position)
            count += int(np.count_nonzero(self.piece(at, upto, scratch)[: upto - at] == _NEWLINE))
            at = upto
        return count

    def fail(self, position: int, what: str, remedy: str) -> InputError:
        """Make the error that names the line in which a byte stands."""
        return InputError(what, source=self.name, line=1 + self.lines_before(position), remedy=remedy)

    def state(self) -> tuple[int, int] | None:
        """Size and last change of a file, nothing for what is in memory."""
        if self._file < 0:
            return None
        status = os.fstat(self._file)
        return status.st_size, status.st_mtime_ns

    def held(self) -> Text:
        """The same text in memory: errors can be made from it after its file is closed."""
        scratch: Bytes = np.empty(self.end + PADDING, dtype=np.uint8)
        return Text(self.name, self.piece(0, self.end, scratch), -1, self.start, self.end)

    def whole(self) -> bytes:
        """All bytes that count."""
        scratch: Bytes = np.empty(self.end - self.start + PADDING, dtype=np.uint8)
        return self.piece(self.start, self.end, scratch)[: self.end - self.start].tobytes()


@contextmanager
def reading(source: str | os.PathLike[str], *, if_empty: str = _COMMENT) -> Iterator[Text]:
    """Open a text source: a path (``.gz`` and ``.zst`` are decompressed) or ``"-"`` for standard input.

    ``if_empty`` is what to do about a file of no bytes.
    """
    with _opened(source) as text:
        yield _without_mark(text, if_empty)


def read_bytes(source: str | os.PathLike[str]) -> bytes:
    """Read a source that is no text."""
    with _opened(source) as data:
        return data.whole()


def read_text(source: str | os.PathLike[str]) -> bytes:
    """Read a text source whole, checked to be UTF-8, without a byte order mark."""
    with reading(source) as text:
        data = text.whole()
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(text, error.start, data[error.start]) from None
        return data


def first_line(source: str | os.PathLike[str]) -> bytes:
    """The first line that is not blank, at most 64 kB of it; nothing where the source cannot be read.

    (Whoever goes on to read it will say why.)
    """
    path = Path(source)
    try:
        with ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            suffix = path.suffix.lower()
            if suffix == ".gz":
                import gzip

                head = stack.enter_context(gzip.GzipFile(fileobj=file)).read(_LONGEST_HEADER)
            elif suffix in (".zst", ".zstd"):
                head = stack.enter_context(_zstd().ZstdFile(file)).read(_LONGEST_HEADER)
            else:
                head = file.read(_LONGEST_HEADER)
    except Exception:
        return b""
    return head.removeprefix(_BOM).lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")


def not_utf8(text: Text, position: int, byte: int) -> InputError:
    """The error for a byte that is not UTF-8."""
    return text.fail(position, f"byte {byte:#04x} is not UTF-8", "save the file as UTF-8")


@contextmanager
def _opened(source: str | os.PathLike[str]) -> Iterator[Text]:
    name = display_name(source)
    with ExitStack() as stack:
        try:
            text = _open(source, name, stack)
        except FileNotFoundError:
            raise InputError("no such file", source=name, remedy="check the path") from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot be read ({reason})", source=name, remedy="check the file") from None
        except InputError:
            raise
        except ValueError:
            raise InputError("not a usable path", source=repr(name), remedy="check the path") from None
        state = text.state()
        yield text
        if text.state() != state:  # half of it may be old, and the rest new
            raise InputError("the file changed while it was read", source=name, remedy="read it again")


def _open(source: str | os.PathLike[str], name: str, stack: ExitStack) -> Text:
    if os.fspath(source) == STANDARD:
        if sys.stdin is None:
            raise InputError("standard input is closed", source=name, remedy="name a file")
        return _in_memory(name, sys.stdin.buffer.read())
    path = Path(source)
    if path.is_dir():
        raise InputError("this is a directory", source=name, remedy="name a file")
    file = stack.enter_context(path.open("rb", buffering=0))
    suffix = path.suffix.lower()
    if suffix == ".gz":
        import gzip

        try:
            return _in_memory(name, gzip.decompress(file.read()))
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"damaged gzip data ({error})", source=name, remedy="fetch it again") from None
    if suffix in (".zst", ".zstd"):
        zstd = _zstd()
        try:
            return _in_memory(name, zstd.decompress(file.read()))
        except zstd.ZstdError as error:
            raise InputError(f"damaged zstd data ({error})", source=name, remedy="fetch it again") from None
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or not hasattr(os, "preadv"):  # a pipe; Windows
        return _in_memory(name, file.read())
    return Text(name, None, file.fileno(), 0, status.st_size)


def _in_memory(name: str, data: bytes) -> Text:
    padded = np.frombuffer(data + bytes(PADDING), dtype=np.uint8)
    return Text(name, padded, -1, 0, len(data))


def _without_mark(text: Text, if_empty: str) -> Text:
    """Skip a byte order mark; refuse what is plainly no UTF-8 text."""
    head = text.piece(0, min(3, text.end), np.empty(3 + PADDING, dtype=np.uint8))[: min(3, text.end)].tobytes()
    if head == _BOM:
        text.start = 3
    if text.start == text.end:
        raise InputError("the file is empty", source=text.name, remedy=if_empty)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("this is UTF-16 text", source=text.name, line=1, remedy="save it as UTF-8")
    return text


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


@contextmanager
def writing(target: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open ``target`` for writing, compressed by its suffix; it appears only once everything is written."""
    if os.fspath(target) == STANDARD:
        if sys.stdout is None:
            raise InputError("standard output is closed", source="<stdout>", remedy="name a file")
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot be written ({reason})", source="<stdout>", remedy="make room") from None
        return
    path = Path(target)
    if not path.name or "\0" in str(path):
        raise InputError("not a usable path", source=repr(str(target)), remedy="name a file")
    try:
        with ExitStack() as stack:
            file = stack.enter_context(path.open("ab") if _is_stream(path) else _replacing(path))
            yield _compressing(file, path.suffix.lower(), stack)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", source=str(path), remedy="check the folder") from None


def _is_stream(path: Path) -> bool:
    """Whether this is a pipe, a device or an open file, which must stay what it is."""
    opened = str(path) in ("/dev/stdout", "/dev/stderr") or str(path.parent) in ("/dev/fd", "/proc/self/fd")
    return opened or (path.exists() and not path.is_file() and not path.is_dir())


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path``, or of what that links to, once it is written."""
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        if path.is_file():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
    finally:
        with suppress(OSError):  # it is gone, or never was
            part.unlink(missing_ok=True)


def _compressing(file: BinaryIO, suffix: str, stack: ExitStack) -> IO[bytes]:
    if suffix == ".gz":
        import gzip

        # No time stamp and no name inside: the same data gives the same bytes.
        packed: Any = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
        opened: IO[bytes] = packed
        return opened
    if suffix in (".zst", ".zstd"):
        opened = stack.enter_context(_zstd().ZstdFile(file, "wb"))
        return opened
    return file
