"""Bytes in and bytes out: plain, gzip and zstd files, standard input; writes that appear whole or not at all."""

from __future__ import annotations

import errno
import io
import math
import os
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ranksift.errors import InputError
from ranksift.parameters import path as path_kind

Bytes = NDArray[np.uint8]

#: What every function here takes for a place.
PATH = path_kind()

#: Bytes that must follow the last one that counts, so that eight can always be loaded at once.
PADDING = 8

#: The name that stands for standard input or output.
STANDARD = "-"

_PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_BOM = b"\xef\xbb\xbf"
_NEWLINE = 10
_LONGEST_HEADER = 1 << 16
_PIECE = 1 << 20
_PACKED_PIECE = 1 << 16  # what follows a frame is copied for each: thousands of small ones may stand in a piece

# What a system says of a place that holds no more.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Where a JSON document holds the sum of what else it says.
SUM = "sum"

#: The environment variable that says how many bytes a compressed file may unpack to, and a stream may have.
UNPACKED_VARIABLE = "RANKSIFT_MAX_UNPACKED"
# A genuine run packs to a fifth or a thirtieth of its size, a bomb to a thousandth. A gigabyte fits into memory anyway;
# it is a run of twenty million lines, more than most people ever pipe into a command.
_ALWAYS_ALLOWED = 1 << 30
_TIMES_PACKED = 100
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}

# The digits of any integer of 64 bits, and a sign.
_LONGEST_INTEGER = 20
#: What to do about a run of no bytes.
NOTHING_RETRIEVED = "a run that filters everything needs at least one comment line (# nothing retrieved)"


def display_name(source: str | os.PathLike[str]) -> str:
    """What to call a source in a message."""
    PATH.check("path", source)
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
def reading(
    source: str | os.PathLike[str], *, if_empty: str = NOTHING_RETRIEVED, on_disk: bool = False
) -> Iterator[Text]:
    """Open a text source: a path (``.gz`` and ``.zst`` are decompressed) or ``"-"`` for standard input.

    ``if_empty`` is what to do about a file of no bytes. What is decompressed or comes from a pipe is held in memory, or
    ``on_disk``, in a temporary file.
    """
    with _opened(source, on_disk) as text:
        yield _without_mark(text, if_empty)


def read_bytes(source: str | os.PathLike[str]) -> bytes:
    """Read a source that is not text."""
    with _opened(source) as data:
        return data.whole()


def read_text(source: str | os.PathLike[str], *, if_empty: str = NOTHING_RETRIEVED) -> bytes:
    """Read a text source whole, checked to be UTF-8, without a byte order mark; ``if_empty`` as in :func:`reading`."""
    with reading(source, if_empty=if_empty) as text:
        data = text.whole()
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(text, error.start, data[error.start]) from None
        return data


def first_line(source: str | os.PathLike[str]) -> bytes:
    """The first line that is not blank, at most 64 kB of it; nothing if the source cannot be read.

    (Reading it will then give the reason.)
    """
    path = Path(source)
    try:
        if not path.is_file():  # what is taken out of a pipe is gone
            return b""
        with path.open("rb") as file:
            head = bytes(_gathered(_unpacked(file, path.suffix.lower()), _LONGEST_HEADER)[:_LONGEST_HEADER])
    except Exception:
        return b""
    return head.removeprefix(_BOM).lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")


def read_whole(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a small file that has an end; refuse a pipe, which may wait for ever, a device, and more bytes than most.

    What else the system says of it is an :class:`OSError`.
    """
    PATH.check("path", path)
    with open(path, "rb", opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            remedy = "write its contents to a file, and name that file"
            raise InputError("is not a regular file", source=os.fspath(path), remedy=remedy)
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"is larger than {most:,} bytes", source=os.fspath(path), remedy="name another file")
    return data


def _at_once(path: str, flags: int) -> int:
    """Open a file, or a pipe without waiting for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def parse_json(data: bytes) -> Any:
    """Read JSON as this library writes it; a :class:`ValueError` says what is in the way.

    A key that stands twice, a number that no array holds, half a character (unless it stands for a byte of a file's
    name) and a hundred lists inside each other are not what it writes: whoever reads on would find something else than
    a person who looks at the file.

    >>> parse_json(b'{"k": 3, "k": 5}')
    Traceback (most recent call last):
    ValueError: 'k' occurs twice
    """
    import json  # not needed to evaluate

    try:
        found = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_without_doubles,
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=_whole_number,
        )
        # A byte of a file's name that is not UTF-8 is kept as the half character that Python gives it.
        json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return found


def with_sum(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with its sum behind the first key, where the line can be deleted and JSON remains."""
    (first, value), *rest = document.items()
    return {first: value, SUM: None} | dict(rest) | {SUM: content_sum(document)}


def content_sum(document: Mapping[str, Any]) -> str:
    """The SHA-256 of what a JSON document says, whatever its blanks and its own sum.

    >>> document = with_sum({"format": "example", "k": 3})
    >>> document["sum"] == content_sum(document) != content_sum({**document, "k": 8})
    True
    """
    import hashlib
    import json

    said = {key: value for key, value in document.items() if key != SUM}
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def check_sum(document: Mapping[str, Any], source: str, remedy: str) -> None:
    """Refuse a document that says something else than when its sum was made; one without a sum is taken as it is."""
    if SUM in document and document[SUM] != content_sum(document):
        raise InputError("was changed since it was saved", source=source, remedy=remedy)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} occurs twice")
        found[key] = value
    return found


def _finite(word: str) -> float:
    value = float(word)
    if not np.isfinite(value):
        raise ValueError(f"{word[:40]} is not a finite number")
    return value


def _whole_number(word: str) -> int:
    if len(word) > _LONGEST_INTEGER:
        raise ValueError(f"{word[:20]}… is too large a number")
    return int(word)


def not_utf8(text: Text, position: int, byte: int) -> InputError:
    """The error for a byte that is not UTF-8."""
    return text.fail(position, f"byte {byte:#04x} is not UTF-8", "save the file as UTF-8")


@contextmanager
def _opened(source: str | os.PathLike[str], on_disk: bool = False) -> Iterator[Text]:
    name = display_name(source)
    with ExitStack() as stack:
        try:
            text = _open(source, name, stack, _on_disk if on_disk and hasattr(os, "preadv") else _in_memory)
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
        try:
            yield text
        except MemoryError:
            raise InputError("does not fit into memory", source=name, remedy="read a part of it") from None
        if text.state() != state:  # half of it may be old, and the rest new
            raise InputError("the file changed while it was read", source=name, remedy="read it again")


def _open(source: str | os.PathLike[str], name: str, stack: ExitStack, held: _Held) -> Text:
    if os.fspath(source) == STANDARD:
        if sys.stdin is None:
            raise InputError("standard input is closed", source=name, remedy="name a file")
        return held(name, _whole_stream(sys.stdin.buffer, name), stack)
    path = Path(source)
    if path.is_dir():
        raise InputError("this is a directory", source=name, remedy="name a file")
    file = stack.enter_context(path.open("rb", buffering=0))
    status = os.fstat(file.fileno())
    regular = stat.S_ISREG(status.st_mode)
    suffix = path.suffix.lower()
    if suffix in _PACKED:
        if regular:
            return held(name, _whole_unpacked(file, suffix, status.st_size, name), stack)
        packed = b"".join(_whole_stream(file, name))
        return held(name, _whole_unpacked(io.BytesIO(packed), suffix, len(packed), name), stack)
    if not regular:
        return held(name, _whole_stream(file, name), stack)
    if not hasattr(os, "preadv"):  # Windows
        return held(name, [file.read()], stack)
    return Text(name, None, file.fileno(), 0, status.st_size)


def _whole_stream(file: BinaryIO, name: str) -> Iterator[bytes]:
    """All bytes of a pipe or a device, if they end, piece by piece."""
    limit = unpacked_limit(0)
    yield from _limited(iter(lambda: file.read(_PIECE), b""), limit, f"a stream of more than {limit:,} bytes", name)


def _whole_unpacked(file: BinaryIO, suffix: str, size: int, name: str) -> Iterator[bytes]:
    """What a compressed file of ``size`` bytes holds: a small one may hold more than fits into any memory."""
    limit = unpacked_limit(size)
    pieces = _limited(_unpacked(file, suffix), limit, f"{size:,} bytes unpack to more than {limit:,}", name)
    while True:  # what is done with a piece may fail in ways of its own
        try:
            piece = next(pieces, None)
        except (OSError, EOFError, zlib.error) as error:
            what = f"damaged {_PACKED[suffix]} data ({error})"
            raise InputError(what, source=name, remedy="fetch it again") from None
        if piece is None:
            return
        yield piece


def _limited(pieces: Iterator[bytes], limit: float, what: str, name: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise beyond_limit(what, name)
        yield piece


def _gathered(pieces: Iterator[bytes], limit: float) -> bytearray:
    """All pieces, or as many as exceed the limit."""
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > limit:
            break
    return data


def _unpacked(file: BinaryIO, suffix: str) -> Iterator[bytes]:
    """The bytes of a file, decompressed where its suffix says so, piece by piece."""
    if suffix not in _PACKED:
        yield from iter(lambda: file.read(_PIECE), b"")
    elif suffix == ".gz":
        import gzip

        unpacking = gzip.GzipFile(fileobj=file)
        yield from iter(lambda: unpacking.read(_PIECE), b"")
    else:
        yield from _zstd_frames(file)


def _zstd_frames(file: BinaryIO) -> Iterator[bytes]:
    """Frame after frame; what follows the last one must be a frame too (``ZstdFile`` would pass over it in silence)."""
    zstd = _zstd()
    frame = zstd.ZstdDecompressor()
    while True:
        packed = b""
        if frame.eof:
            packed = frame.unused_data or file.read(_PACKED_PIECE)
            if not packed:
                return
            frame = zstd.ZstdDecompressor()
        elif frame.needs_input:
            packed = file.read(_PACKED_PIECE)
            if not packed:
                raise EOFError("the data ends within a frame")
        try:
            yield frame.decompress(packed, _PIECE)
        except zstd.ZstdError as error:
            raise EOFError(str(error)) from None


def beyond_limit(what: str, name: str) -> InputError:
    """The error for more bytes than :func:`unpacked_limit` allows."""
    remedy = f"if you trust it, set {UNPACKED_VARIABLE} to a size such as 20G, or to none"
    return InputError(what, source=name, remedy=remedy)


def unpacked_limit(packed: int) -> float:
    """How many bytes ``packed`` ones may unpack to; infinity where the user sets no limit.

    Examples
    --------
    >>> unpacked_limit(1000) == 2**30, unpacked_limit(2**30) == 100 * 2**30
    (True, True)
    """
    asked = os.environ.get(UNPACKED_VARIABLE, "").strip()
    if not asked:
        return max(_ALWAYS_ALLOWED, _TIMES_PACKED * packed)
    if asked.upper() == "NONE":
        return math.inf
    size = size_of(asked)
    if size is None:
        raise InputError(
            f"{UNPACKED_VARIABLE}={os.environ[UNPACKED_VARIABLE]!r} is not a size",
            remedy="write a number of bytes such as 500M or 20G, or none",
        )
    return size


def size_of(text: str) -> int | None:
    """A number of bytes as people write it; None if it is not one.

    >>> size_of("20G") == 20 * 2**30, size_of("512 MB") == 512 * 2**20, size_of("a lot")
    (True, True, None)
    """
    size = re.fullmatch("([0-9]{1,18}) ?([KMG]?)B?", text.strip().upper(), re.ASCII)
    return None if size is None else int(size[1]) << _UNITS[size[2]]


# Makes a text of the pieces of a stream; what it opens is closed with the stack.
_Held: TypeAlias = Callable[[str, Iterable[bytes], ExitStack], "Text"]


def _in_memory(name: str, pieces: Iterable[bytes], stack: ExitStack) -> Text:
    data = bytearray()
    for piece in pieces:
        data += piece
    size = len(data)
    data += bytes(PADDING)
    return Text(name, np.frombuffer(data, dtype=np.uint8), -1, 0, size)


def _on_disk(name: str, pieces: Iterable[bytes], stack: ExitStack) -> Text:
    from ranksift.spool import Spool

    spool = stack.enter_context(Spool())
    for piece in pieces:
        spool.append(piece)
    return Text(name, None, spool.fileno(), 0, spool.size)


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
    PATH.check("path", target)
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
        full = error.errno in _FULL or os.strerror(errno.ENOSPC) in reason  # libraries give no number
        remedy = "make room, or write to another place" if full else "check the folder"
        raise InputError(f"cannot be written ({reason})", source=str(path), remedy=remedy) from None


def _is_stream(path: Path) -> bool:
    """Whether this is a pipe, a device or an open file, which must stay what it is."""
    opened = str(path) in ("/dev/stdout", "/dev/stderr") or str(path.parent) in ("/dev/fd", "/proc/self/fd")
    return opened or (path.exists() and not path.is_file() and not path.is_dir())


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path``, or of what that links to, once it is written."""
    path = Path(os.path.realpath(path))
    remove_unfinished(path)
    with ExitStack() as lock:
        file = _begun(path, lock)
        part = Path(file.name)
        try:
            with file:
                yield file
                flush_to_disk(file)
            if path.is_file():
                part.chmod(stat.S_IMODE(path.stat().st_mode))
            os.replace(part, path)
        finally:
            with suppress(OSError):  # it is gone
                part.unlink(missing_ok=True)


def flush_to_disk(file: IO[bytes]) -> None:
    """Write what the system still holds of a file: a name must not arrive on the disk before its bytes."""
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # a file system that cannot
            raise


# -- what is being written, and what killed processes left of it -------------------------------------------------------
# A writing process holds a lock on the hidden file that it writes to, and the system drops the lock with the process,
# however that ends. So what can be locked was left behind. If there are no locks, or none that other machines see,
# age decides.


def unfinished_name(name: str) -> str:
    """A new hidden name for what will be called ``name``: short enough for any name that a file system allows."""
    return f".{shortened_name(name)}.{_machine()}-{os.urandom(8).hex()}.part"


def remove_unfinished(path: Path) -> None:
    """Remove what killed processes left of a file; what another process is writing stays."""
    for part, here in left_of(path):
        with suppress(OSError), part.open("r+b") as file:
            locked = take_lock(file)
            if (locked and here) or (locked is not False and is_old(part)):
                part.unlink()


def left_of(path: Path, *, folders: bool = False) -> list[tuple[Path, bool]]:
    """Files (or folders) with a hidden name for ``path``, and whether this machine made them."""
    # The form with digits only is that of earlier versions, which locked nothing.
    form = re.compile(rf"\.{re.escape(shortened_name(path.name))}\.(?:([0-9a-f]{{8}})-[0-9a-f]{{16}}|\d+)\.part")
    found = []
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            match = form.fullmatch(entry.name)
            if match and (entry.is_dir if folders else entry.is_file)(follow_symlinks=False):
                found.append((Path(entry), match[1] == _machine()))
    return found


def shortened_name(name: str, most: int = 100) -> str:
    """A name of at most so many bytes: its own, or its beginning and a number that distinguishes it."""
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    return f"{encoded[: most - 9].decode(errors='ignore')}-{zlib.crc32(encoded):08x}"


def take_lock(file: IO[bytes]) -> bool | None:
    """Lock an open file: whether it is ours now, or None if there are no locks."""
    try:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def is_old(path: Path) -> bool:
    """Whether a file has not been changed for a day."""
    return time.time() - path.stat().st_mtime > 86_400


def _begun(path: Path, lock: ExitStack) -> BinaryIO:
    """A new file beside ``path``, locked until ``lock`` is left."""
    while True:
        file = path.with_name(unfinished_name(path.name)).open("xb")
        locked = take_lock(file)
        if locked is not False and os.path.exists(file.name):
            if locked:  # and stays so when the file is closed, until it has its name
                lock.callback(os.close, os.dup(file.fileno()))
            return file
        file.close()  # another process removed it as a leftover before it was locked


def _machine() -> str:
    """What stands for this machine: another one may not see its locks on a shared file system."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"{zlib.crc32(os.fsencode(name)):08x}"


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
