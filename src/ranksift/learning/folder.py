"""The folder that a model is saved in: its card, and what the card says of the other files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import EEXIST, ENOENT, ENOTEMPTY
from pathlib import Path
from typing import Any

from ranksift.errors import InputError
from ranksift.learning.libraries import require

#: What a model's card begins with; the number changes when older programs could not read it.
FORMAT = "ranksift-model-1"
#: What every card says; the rest is said of one model, as its data.
ALWAYS = ("format", "ranksift", "model", "parameters", "feature_names", "cutoff", "files")
CARD, WEIGHTS, CUTOFF = "model.json", "weights.safetensors", "cutoff.json"

#: The folder of a workshop in which a model is made.
NEW = "new"
# The one whose place it takes; and a workshop's suffix.
_OLD, _PART = "old", ".part"
#: Another process put a model there, or took it away: how often that may happen.
TRIES = 100
_MEANWHILE = (EEXIST, ENOENT, ENOTEMPTY)


def place_for_a_model(folder: str | os.PathLike[str]) -> Path:
    """A folder that a model can be saved into: refused before anything is learned, rather than after.

    Of a link it is the folder that it leads to. It is new, empty, or a model's with nothing else in it.
    """
    require("saving a model", "safetensors")
    target = Path(folder)
    try:
        if target.exists():
            _check_nothing_is_lost(target)
        if target.name in ("", ".."):
            raise InputError("is no name of a folder", source=str(target), remedy="name a new one, as model")
        target = target.resolve() if target.is_symlink() else target
        new = [parent for parent in target.parents if not parent.exists()]
        try:
            with workshop(target):
                pass
        finally:
            for parent in new:  # nothing may come of it; but somebody else may have put something there
                with suppress(OSError):
                    parent.rmdir()
    except OSError as error:
        raise cannot_be_written(target, error) from None
    return target


def _check_nothing_is_lost(target: Path) -> None:
    """Refuse to replace what is no model, and a model's folder into which somebody put something."""
    no_model = InputError("is there already, and is no model", source=str(target), remedy="name another folder")
    if not target.is_dir():
        raise no_model
    there = sorted(entry.name for entry in target.iterdir())
    try:
        known = {CARD, *card_of(target)["files"]} if there else set()
    except (InputError, KeyError, TypeError):
        raise no_model from None
    other = next((name for name in there if name not in known), None)
    if other is not None:
        what = f"holds {other!r} beside a model, which would be lost"
        raise InputError(what, source=str(target), remedy="move it away, or name another folder")


@contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """A hidden folder beside a model in which it is made. It is removed at the end, whatever happens.

    A process that is killed leaves it. So it is locked while it is in use, and what is there without a lock is removed
    by whoever saves the model next. Folders that lead to it are made.
    """
    for more in range(TRIES, -1, -1):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            clear_up(target)
            made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_PART, dir=target.parent))
        except (FileNotFoundError, FileExistsError):  # another process tried a place there, and took the folder away
            if not more:
                raise
            continue
        with _locked(made, wait=True):
            if not made.exists():  # another one cleared it up before it was locked
                continue
            try:
                (made / NEW).mkdir()
                yield made
            finally:
                _leave(made, target)
            return


def clear_up(target: Path) -> None:
    """Remove what killed processes left beside a model, and bring back the model that one of them had put aside."""
    shape = re.compile(rf"\.{re.escape(target.name)}\.\w+{re.escape(_PART)}")
    for left in [entry for entry in target.parent.iterdir() if shape.fullmatch(entry.name) and entry.is_dir()]:
        with _locked(left) as free:
            if free:
                _leave(left, target)


def _leave(made: Path, target: Path) -> None:
    """Remove a workshop; a model that was put aside, and has no other in its place, comes back."""
    aside = made / _OLD
    if aside.exists() and not target.exists():
        with suppress(OSError):
            aside.rename(target)
    if target.exists() or not aside.exists():
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder, at most as long as this process lives; False where another one has, or there are no locks."""
    try:
        import fcntl

        held = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows
        yield False
        return
    try:
        fcntl.flock(held, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        free = True
    except OSError:
        free = False
    try:
        yield free
    finally:
        os.close(held)


def put_in_place(made: Path, target: Path) -> None:
    """Let the new folder of a workshop take the name of a model, and the place of one that was there.

    That one goes as a whole too. Of two that are put in place at the same time, the second one stays.
    """
    aside = made / _OLD
    for more in range(TRIES, -1, -1):
        try:
            if target.exists():
                shutil.rmtree(aside, ignore_errors=True)
                target.rename(aside)
            (made / NEW).rename(target)
            return
        except OSError as error:
            if not more or error.errno not in _MEANWHILE:
                raise


def cannot_be_written(target: Path, error: OSError) -> InputError:
    """What to say where a model cannot be saved."""
    return InputError(
        f"cannot be written ({error.strerror or error})", source=str(target), remedy="name another folder, or make room"
    )


def which_folder(target: Path) -> tuple[int, ...] | None:
    """What tells a model's folder from another one that took its name; None where there is none for a while."""
    for more in (True, False):
        try:
            found = target.stat()
            return found.st_dev, found.st_ino, found.st_ctime_ns
        except (OSError, ValueError):
            time.sleep(0.02 * more)  # between one that goes and one that comes
    return None


def card_of(target: Path) -> dict[str, Any]:
    """The card of a saved model."""
    if not target.is_dir():
        with suppress(OSError):
            clear_up(target)  # it may have been put aside
    if not target.is_dir():
        raise InputError("is no folder of a model", source=str(target), remedy="name what ranksift train wrote")
    try:
        card = json.loads((target / CARD).read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"has no {CARD}", source=str(target), remedy="name a folder that ranksift train wrote"
        ) from None
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, source=str(target / CARD), remedy="check its permissions") from None
    except (RecursionError, ValueError) as error:
        raise InputError(f"is not JSON ({error})", source=str(target / CARD), remedy="train the model anew") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError("is no model of this version", source=str(target / CARD), remedy="train it anew")
    return card


def check_files(target: Path, files: Mapping[str, str | None]) -> None:
    """Refuse a model of which a file is missing, or is not as it was saved."""
    for name, known in files.items():
        if Path(name).name != name:
            what = f"names {name!r}, which is not in this folder"
            raise InputError(what, source=str(target / CARD), remedy="train the model anew")
        if not (target / name).is_file():
            raise InputError(
                f"has no {name}", source=str(target), remedy="copy the whole folder, or train the model anew"
            )
        if known is not None and file_sum(target / name) != known:
            raise InputError(
                "is not as it was saved", source=str(target / name), remedy="copy the folder again, or train anew"
            )


def file_sum(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
