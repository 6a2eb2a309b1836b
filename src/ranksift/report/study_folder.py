"""The folder of a study: files for people, and a list with the sum of each, so that nothing else is ever touched.

All files are written to the disk in a hidden folder first. Then they change places with those of a former study by
renaming, which needs no room: the old page goes first and the new one comes last, so a page is there only beside the
files it was made with. Whatever fails meanwhile is undone. A process that is killed between two renames leaves a folder
without a page, and a list that names the files of both studies; the next study clears up.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ranksift.errors import InputError
from ranksift.files import SUM, content_sum, flush_to_disk, is_old, left_of, take_lock, unfinished_name

#: The page, and the list of all files that a study wrote.
PAGE, MANIFEST = "index.html", "study.json"

# What the list says: the sum of each file, and those of a study whose place is being taken.
_FILES, _FORMER = "files", "former"

# What is in the hidden folder beside new files: former ones, and lists. "~" is in no name of a study's file.
_LOCK, _ASIDE = "~lock", "~former-{}"
_BEFORE, _MEANWHILE, _AGAIN = "~before", "~meanwhile", "~again"

_STAGE = "study"


def check_folder(folder: str | Path) -> None:
    """Refuse a folder that no study can be written into, before it is made."""
    folder = Path(folder)
    try:
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            wrong = "is not a folder" if there == folder else f"cannot be made ({there} is not a folder)"
            raise InputError(wrong, source=str(folder), remedy="name another one")
        if not os.access(there, os.W_OK | os.X_OK):
            raise InputError("cannot be written to", source=str(there), remedy="name another folder")
        _refuse_to_lose(folder, [PAGE], _known(folder))
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", source=str(folder), remedy="name another one") from None


def write_files(folder: Path, about: Mapping[str, Any], files: Mapping[str, bytes]) -> list[Path]:
    """Put the files of a study instead of those of a former one, all or none; the list of them is written too.

    Parameters
    ----------
    folder
        The folder of the study; it is created if it does not exist.
    about
        What the list says beside the names.
    files
        Contents by name, the page last.
    """
    try:
        with _made(folder), _stage(folder) as stage:
            for name, content in files.items():
                _write(stage / name, content)
            with _alone(folder):
                _replace_former(folder, stage, about, files)
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        raise InputError(what, source=str(folder), remedy="make room, or name another folder") from None
    return [folder / name for name in (MANIFEST, *files)]


# -- whose a file is ---------------------------------------------------------------------------------------------------


def _known(folder: Path) -> dict[str, set[str]]:
    """The files that the list of a former study names, with the sums that they may have."""
    path = folder / MANIFEST
    if not os.path.lexists(path):
        return {}
    try:
        if not _is_plain(path):
            raise ValueError
        held = path.read_bytes()
        listed = json.loads(held)
        if isinstance(listed[_FILES], list):
            raise InputError(
                "is of an earlier version, which kept no sums of its files",
                source=str(path),
                remedy="remove that study yourself, or name another folder",
            )
        if held != _listed({name: value for name, value in listed.items() if name != SUM}):
            raise _changed(path)
        found: dict[str, set[str]] = {}
        for name, known in (*listed[_FILES].items(), *listed.get(_FORMER, {}).items()):
            if name == Path(name).name != MANIFEST:
                found.setdefault(name, set()).add(known)
    except InputError:
        raise
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise _of_a_stranger(path) from None
    return found


def _refuse_to_lose(folder: Path, names: Iterable[str], known: Mapping[str, set[str]]) -> None:
    """Refuse a folder in which a file has a name of the study's, and is not as a study wrote it."""
    for name in dict.fromkeys((*names, *known)):
        path = folder / name
        if not os.path.lexists(path):
            continue
        if name not in known or not _is_plain(path):
            raise _of_a_stranger(path)
        if _sum_of(path) not in known[name]:
            raise _changed(path)


def _of_a_stranger(path: Path) -> InputError:
    return InputError("already exists, and no study wrote it", source=str(path), remedy="name another folder")


def _changed(path: Path) -> InputError:
    remedy = "move it away, or name another folder"
    return InputError("was changed since a study wrote it", source=str(path), remedy=remedy)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _listed(about: Mapping[str, Any]) -> bytes:
    """The list, with its own sum: one that was changed by hand says nothing of what may be removed."""
    text = json.dumps({**about, SUM: content_sum(about)}, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "backslashreplace")  # names of files may hold what is not text


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- how it is written -------------------------------------------------------------------------------------------------


def _replace_former(folder: Path, stage: Path, about: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Write the lists, and let what is in the hidden folder take its place."""
    known = _known(folder)
    _refuse_to_lose(folder, files, known)
    former = {name: _sum_of(folder / name) for name in known if os.path.lexists(folder / name)}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    for name in (_MEANWHILE, _AGAIN):
        _write(stage / name, _listed({**about, _FILES: sums, _FORMER: former}))
    _write(stage / MANIFEST, _listed({**about, _FILES: sums}))
    if (folder / MANIFEST).exists():
        _write(stage / _BEFORE, (folder / MANIFEST).read_bytes())
    for name in (MANIFEST, *files):
        if (folder / name).exists():
            (stage / name).chmod(stat.S_IMODE((folder / name).stat().st_mode))
    _switch(folder, stage, list(former), list(files))


def _switch(folder: Path, stage: Path, former: list[str], files: list[str]) -> None:
    """Let new files take the place of former ones; where that fails, put everything back."""
    listed = folder / MANIFEST
    aside = [(folder / name, stage / _ASIDE.format(name)) for name in sorted(former, key=lambda name: name != PAGE)]
    there = bool(aside) and aside[0][0].name == PAGE
    back = (stage / _BEFORE, listed) if listed.exists() else (listed, stage / _BEFORE)
    steps = [(old, new, (new, old)) for old, new in aside]
    steps.insert(there, (stage / _MEANWHILE, listed, back))
    steps += [(stage / name, folder / name, (folder / name, stage / name)) for name in files if name != PAGE]
    steps.append((stage / MANIFEST, listed, (stage / _AGAIN, listed)))
    steps.append((stage / PAGE, folder / PAGE, (folder / PAGE, stage / PAGE)))
    undo: list[tuple[Path, Path]] = []
    try:
        for source, target, reverse in steps:
            undo.append(reverse)
            os.replace(source, target)
    except BaseException:
        for source, target in reversed(undo):
            if source.exists():
                os.replace(source, target)
        raise


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder; where nothing can be put into it, it is removed again."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with suppress(OSError):
            for path in missing:
                path.rmdir()
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let studies that end at the same time change a folder one after another, where the system can lock it."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            import fcntl

            opened = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, opened)
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A hidden folder for new files, locked and in the end removed, as is what killed processes left of theirs."""
    stage = folder / unfinished_name(_STAGE)
    try:
        with ExitStack() as held:
            with _alone(folder):
                for left, here in left_of(folder / _STAGE, folders=True):
                    with suppress(OSError):
                        _remove_if_left(left, here)
                stage.mkdir()
                take_lock(held.enter_context((stage / _LOCK).open("xb")))
            yield stage
            with suppress(OSError):  # the study is there; what is left of this folder the next one removes
                _remove(stage)
    except BaseException:
        with suppress(OSError):
            if not any(stage.glob(_ASIDE.format("*"))):  # else a file could not be put back
                _remove(stage)
        raise


def _remove_if_left(stage: Path, here: bool) -> None:
    try:
        with (stage / _LOCK).open("r+b") as lock:
            locked = take_lock(lock)
            if (locked and here) or (locked is not False and is_old(stage)):
                _remove(stage)
    except FileNotFoundError:  # it was killed before it began to write, or when all was removed
        stage.rmdir()


def _remove(stage: Path) -> None:
    """Remove a hidden folder with its files, the lock last."""
    for path in sorted(stage.iterdir(), key=lambda path: path.name == _LOCK):
        path.unlink()
    stage.rmdir()


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        flush_to_disk(file)
