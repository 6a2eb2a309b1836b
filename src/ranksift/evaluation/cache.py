"""Values of runs kept on disk, so that an interrupted evaluation of many large runs can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ranksift import __version__
from ranksift.collection.qrels import Qrels
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import RunValues
from ranksift.files import remove_unfinished, writing

# A kept run, or what a process that was killed left of one.
_KEPT = re.compile(r"([0-9a-f]{32}\.npz)|\.([0-9a-f]{32}\.npz)\.[0-9a-f-]+\.part")


class Cache:
    """A folder of values of runs, one file per run.

    A file counts for the same judgments, the same settings, the same version of RankSift, and a run of the same path
    and the same bytes: computing their checksum takes a fifth of the time of their evaluation. Values that cannot be
    read are computed again.
    """

    def __init__(self, folder: str | os.PathLike[str], qrels: Qrels, settings: Sequence[Any]) -> None:
        self.folder = Path(folder)
        self._about = hashlib.sha256(repr((__version__, _digest(qrels), *settings)).encode())

    def values(self, source: Any, name: str | None, compute: Callable[[], RunValues]) -> RunValues:
        """The values of a run: the kept ones, or computed ones, which are then kept if the run is a file."""
        if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
            return compute()
        try:
            before = _state(source)
            with open(source, "rb") as file:
                run = os.path.abspath(source), name, hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return compute()  # which says why it cannot be read
        key = self._about.copy()
        key.update(repr(run).encode())
        path = self.folder / f"{key.hexdigest()[:32]}.npz"
        kept = _read(path)
        if kept is None:
            kept = compute()
            if _state(source) == before:  # else it may be another run that was evaluated
                self._make_folder()
                _write(path, kept)
        return kept

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = f"cannot be made ({error.strerror})"
            raise InputError(reason, source=str(self.folder), remedy="name another folder") from None


def forget(folder: str | os.PathLike[str]) -> None:
    """Remove the values that were kept in a folder, and the folder if nothing else is in it."""
    kept = 0
    with suppress(OSError):  # what is left does no harm
        for path in sorted(Path(folder).iterdir()):
            match = _KEPT.fullmatch(path.name)
            if match and match[2]:
                remove_unfinished(path.with_name(match[2]))
            elif match and _read(path) is not None:
                path.unlink(missing_ok=True)
            kept += match is not None
        if kept:
            Path(folder).rmdir()


def _state(source: str | os.PathLike[str]) -> tuple[int, ...]:
    """What differs if a file was changed or replaced in the meantime; nothing if it is gone."""
    try:
        status = os.stat(source)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _digest(qrels: Qrels) -> str:
    """A digest of the judgments."""
    parts = (
        "\0".join(qrels.query_ids).encode("utf-8", "surrogateescape"),
        qrels.offsets.tobytes(),
        "\0".join(qrels.docs.tolist()).encode("utf-8", "surrogateescape"),
        qrels.labels.tobytes(),
    )
    return hashlib.sha256(b"\1".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _write(path: Path, values: RunValues) -> None:
    words = {"kept": path.stem, "name": values.name, "notes": list(values.notes)}
    with writing(path) as file:
        np.savez(
            file,
            words=np.frombuffer(json.dumps(words).encode(), dtype=np.uint8),
            numerators=values.numerators,
            denominators=values.denominators,
            answered=values.answered,
        )


def _read(path: Path) -> RunValues | None:
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            words = json.loads(file["words"].tobytes())
            if words["kept"] != path.stem:  # a file from elsewhere, or of another run
                return None
            numerators, denominators, answered = (file[name] for name in ("numerators", "denominators", "answered"))
            return RunValues(words["name"], numerators, denominators, answered, words["notes"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile):
        return None
