"""Bytes in and bytes out: plain, gzip and zstd files, standard input; writes that appear whole or not at all."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ranksift.collection.errors import InputError
from ranksift.collection.ids import PADDING, Bytes

#: The name that stands for standard input or output.
STANDARD = "-"


def display_name(source: str | os.PathLike[str]) -> str:
    """What to call a source in a message."""
    return "<stdin>" if os.fspath(source) == STANDARD else os.fspath(source)


def read_text(source: str | os.PathLike[str]) -> tuple[Bytes, int]:
    """Read a text file whole: UTF-8 checked, byte order mark removed, a final newline added where missing.

    Returns
    -------
    text, size
        The bytes, with padding behind the first ``size`` of them.
    """
    name = display_name(source)
    text, size = _read(source, name)
    start = 3 if size >= 3 and text[:3].tobytes() == b"\xef\xbb\xbf" else 0
    if start:
        text, size = text[start:], size - start
    if size == 0:
        raise InputError(
            "the file is empty",
            source=name,
            remedy="a run that filters everything needs at least a comment line (# nothing retrieved)",
        )
    if text[0] in (0xFE, 0xFF) and text[1] in (0xFE, 0xFF):
        raise InputError("this is UTF-16 text", source=name, line=1, remedy="save it as UTF-8")
    if text[size - 1] != 10:
        text[size] = 10
        size += 1
    _check_utf8(text, size, name)
    return text, size


def _read(source: str | os.PathLike[str], name: str) -> tuple[Bytes, int]:
    if os.fspath(source) == STANDARD:
        return _padded(sys.stdin.buffer.read())
    path = Path(source)
    try:
        if path.is_dir():
            raise InputError("this is a directory", source=name, remedy="name a file")
        with open(path, "rb", buffering=0) as file:
            return _decompressed(file, path, name)
    except FileNotFoundError:
        raise InputError("no such file", source=name, remedy="check the path") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be read ({reason})", source=name, remedy="check the file") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("not a usable path", source=repr(name), remedy="check the path") from None


def _decompressed(file: BinaryIO, path: Path, name: str) -> tuple[Bytes, int]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        import gzip

        try:
            return _padded(gzip.decompress(file.read()))
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"damaged gzip data ({error})", source=name, remedy="fetch it again") from None
    if suffix in (".zst", ".zstd"):
        zstd = _zstd()
        try:
            return _padded(zstd.decompress(file.read()))
        except zstd.ZstdError as error:
            raise InputError(f"damaged zstd data ({error})", source=name, remedy="fetch it again") from None
    return _read_plain(file)


def _read_plain(file: BinaryIO) -> tuple[Bytes, int]:
    expected = os.fstat(file.fileno()).st_size
    text: Bytes = np.empty(expected + PADDING + 1, dtype=np.uint8)
    view, size = memoryview(text), 0
    while size < expected:
        got = file.readinto(view[size:expected])  # type: ignore[attr-defined]
        if not got:
            break
        size += got
    more = file.read()  # a pipe has no size, and a file may have grown meanwhile
    if more:
        return _padded(text[:size].tobytes() + more)
    text[size:] = 0
    return text, size


def _padded(data: bytes) -> tuple[Bytes, int]:
    text: Bytes = np.zeros(len(data) + PADDING + 1, dtype=np.uint8)
    text[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    return text, len(data)


def _check_utf8(text: Bytes, size: int, name: str) -> None:
    if int(text[:size].max()) < 128:
        return
    try:
        str(memoryview(text)[:size], "utf-8")
    except UnicodeDecodeError as error:
        line = 1 + int(np.count_nonzero(text[: error.start] == 10))
        raise InputError(
            f"byte {text[error.start]:#04x} is not UTF-8", source=name, line=line, remedy="save the file as UTF-8"
        ) from None


def _zstd():  # type: ignore[no-untyped-def]
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


@contextmanager
def writing(target: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open ``target`` for writing, compressed by its suffix; it appears only once everything is written."""
    if os.fspath(target) == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _compressing(part, path.suffix.lower()) as file:
            yield file
        os.replace(part, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", source=str(path), remedy="check the folder") from None
    finally:
        part.unlink(missing_ok=True)


def _compressing(part: Path, suffix: str) -> BinaryIO:
    if suffix == ".gz":
        import gzip

        # No time stamp and no name inside: the same data gives the same bytes.
        return gzip.GzipFile(filename="", mode="wb", fileobj=open(part, "wb"), mtime=0)  # type: ignore[return-value]  # noqa: SIM115
    if suffix in (".zst", ".zstd"):
        return _zstd().ZstdFile(part, "wb")  # type: ignore[no-any-return, no-untyped-call]
    return open(part, "wb")
