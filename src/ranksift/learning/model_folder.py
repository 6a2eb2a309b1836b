"""The folder of a saved model: a card, and a subfolder with the files of the version that the card names.

    model/model.json
    model/version-5f0c3e9a81d2b764/weights.safetensors, cutoff.json, trees.txt, …

Saving writes a separate version, and then replaces the card, which the system does in one step. So there is
nothing to lock and nothing to try again: a reader finds the old model or the new one, a process that is killed leaves
one of them, and of processes that save at the same time the last one stays. Versions that no card names are removed by
a later save, once they have been left alone for a minute: who has just read the card of one can still open its files.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from ranksift.errors import InputError
from ranksift.files import check_sum, parse_json, read_whole, with_sum
from ranksift.learning.libraries import require

#: What a model's card begins with; the number changes when older programs could not read it.
FORMAT = "ranksift-model-2"
# Until then the files stood beside the card.
_FLAT = "ranksift-model-1"

CARD = "model.json"
#: What a card says of its folder: the subfolder, its files with their sums, and files of a flat model that was here.
VERSION, FILES, REPLACED = "version", "files", "replaced"

#: Seconds after which a version that no card names is removed.
GRACE = 60.0

# Bytes. A card holds names of features and the trials of a search. A file may hold the weights of many networks: twenty
# of MiniLM take 2 GB.
_LARGEST_CARD, _LARGEST_FILE = 64_000_000, 16_000_000_000

_NAME = re.compile(r"version-[0-9a-f]{16}")
# The first file of a version: what else is the model's own. Nothing that it does not name is ever removed.
_CONTENTS = "contents.json"


def place_for_a_model(folder: str | os.PathLike[str]) -> Path:
    """A folder that a model can be saved into: refused before anything is learned, rather than after.

    It is new, empty, or a model's with nothing else in it. Of a link it is the folder that it leads to.
    """
    require("saving a model", "safetensors")
    target = _checked(folder)
    try:
        # Nothing is made but in a folder that is there: another process may be about to use what would be removed.
        # Where the system can do that, the file has no name, so that a process that is killed leaves nothing.
        nearest = next(place for place in (target, *target.parents) if os.path.lexists(place))
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _cannot_be_written(target, error) from None
    return target


def write_model(
    folder: str | os.PathLike[str], card: Mapping[str, Any], files: Mapping[str, bytes], editable: Collection[str] = ()
) -> None:
    """Save a model: the files in a new version, then the card that names it.

    Parameters
    ----------
    folder
        As :func:`place_for_a_model` takes it.
    card
        What it says of the model.
    files
        The contents by name.
    editable
        Files that a person may change: their sums are not checked when they are read.
    """
    target = _checked(folder)
    large = next((name for name, content in files.items() if len(content) > _LARGEST_FILE), None)
    if large is not None:
        what = f"{large} would be larger than {_LARGEST_FILE:,} bytes, and could not be read"
        raise InputError(what, source=str(target), remedy="make a smaller model")
    try:
        target.mkdir(parents=True, exist_ok=True)
        new = _new_version(target)
        try:
            _write(new / _CONTENTS, json.dumps([*files, CARD]).encode())
            for name, content in files.items():
                _write(new / name, content)
            before = _card_if_any(target)
            sums = {name: None if name in editable else _sum(content) for name, content in files.items()}
            flat = {n: known for n, known in sorted(_beside(before).items()) if _is_as_saved(target / n, known)}
            full = {"format": FORMAT, **card, VERSION: new.name, FILES: sums, **({REPLACED: flat} if flat else {})}
            text = json.dumps(with_sum(full), ensure_ascii=False, indent=2) + "\n"
            _write(new / CARD, text.encode("utf-8", "backslashreplace"))  # a file may have any bytes as name
            _flush(new)
            now = (new / CARD).stat().st_mtime  # by the clock of the file system
            for name in _beside(before) if before.get("format") == _FLAT else _version(before):
                with suppress(OSError):
                    os.utime(target / name)  # its minute begins now
            os.replace(new / CARD, target / CARD)
        except BaseException:
            with suppress(InputError, OSError):
                if new.name not in _version(_card_if_any(target)):
                    _remove_version(new)
            raise
        _flush(target)
        _clear_up(target, now - GRACE)
    except OSError as error:
        raise _cannot_be_written(target, error) from None


def read_card(target: Path) -> dict[str, Any]:
    """The card of a saved model."""
    if not os.path.isdir(target):  # nor where the name is too long for one
        # Programs before versions had put a model aside for a moment when they replaced it.
        aside = next(target.parent.glob(f".{glob.escape(target.name)}.*.part/old"), None)
        remedy = (
            "name what ranksift train wrote" if aside is None else f"rename {aside}, which a killed process left behind"
        )
        raise InputError("is not a folder of a model", source=str(target), remedy=remedy)
    try:
        card = parse_json(read_whole(target / CARD, _LARGEST_CARD))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            f"has no {CARD}", source=str(target), remedy="name a folder that ranksift train wrote"
        ) from None
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, source=str(target / CARD), remedy="check its permissions") from None
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=str(target / CARD), remedy="train the model again") from None
    if not isinstance(card, dict) or card.get("format") not in (FORMAT, _FLAT):
        raise InputError("is not a model of this version", source=str(target / CARD), remedy="train it again")
    check_sum(card, str(target / CARD), "copy the folder again, or train again")
    return card


def files_at(target: Path, card: Mapping[str, Any]) -> Path:
    """Where the files of a model are: in the version that its card names."""
    if card["format"] == _FLAT:
        return target
    version = card.get(VERSION)
    if not isinstance(version, str) or not _NAME.fullmatch(version):
        raise _elsewhere(target, version)
    return target / version


def read_files(target: Path, card: Mapping[str, Any]) -> dict[str, bytes]:
    """The files that a card names; refused where one is missing, or was changed since it was saved."""
    place = files_at(target, card)
    listed = card.get(FILES)
    if not isinstance(listed, dict) or not all(known is None or isinstance(known, str) for known in listed.values()):
        raise InputError(
            "is damaged (it does not list its files)", source=str(target / CARD), remedy="train the model again"
        )
    with ExitStack() as stack:
        # All are opened before the first is read: an open file can be read to its end even if it is removed.
        opened = {name: stack.enter_context(_opened(target, place, name)) for name in listed}
        large = next((name for name, file in opened.items() if os.fstat(file.fileno()).st_size > _LARGEST_FILE), None)
        if large is not None:
            what = f"is larger than {_LARGEST_FILE:,} bytes"
            raise InputError(what, source=str(place / large), remedy="copy the folder again, or train again")
        found = {name: file.read() for name, file in opened.items()}
    for name, known in card[FILES].items():
        if known is not None and _sum(found[name]) != known:
            raise InputError(
                "was changed since it was saved",
                source=str(place / name),
                remedy="copy the folder again, or train again",
            )
    return found


def _opened(target: Path, place: Path, name: str) -> BinaryIO:
    if not _is_plain(name):
        raise _elsewhere(target, name)
    try:
        if (place / name).is_file():  # a pipe would wait for ever
            return (place / name).open("rb")
    except FileNotFoundError:
        pass
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, source=str(place / name), remedy="check its permissions") from None
    raise InputError(f"has no {name}", source=str(target), remedy="copy the whole folder, or train the model again")


def _elsewhere(target: Path, name: Any) -> InputError:
    what = f"names {name!r}, which is not in this folder"
    return InputError(what, source=str(target / CARD), remedy="train the model again")


# -- what is there -----------------------------------------------------------------------------------------------------


def _checked(folder: str | os.PathLike[str]) -> Path:
    """The folder to save into, if nothing is there but a model."""
    target = Path(folder)
    try:
        if target.exists():
            _check_nothing_is_lost(target)
        if target.name in ("", ".."):
            raise InputError("is not a name of a folder", source=str(target), remedy="give a new one, such as model")
        return target.resolve() if target.is_symlink() else target
    except OSError as error:
        raise _cannot_be_written(target, error) from None


def _check_nothing_is_lost(target: Path) -> None:
    """Refuse to save over what is not a model, and into a model's folder that holds other files."""
    not_a_model = InputError("already exists, and is not a model", source=str(target), remedy="name another folder")
    if not target.is_dir():
        raise not_a_model
    try:
        # The card first: what it names may be removed meanwhile, and nothing can come that is not a version.
        card = _card_if_any(target)
        own, versions = {CARD, *_beside(card)}, _version(card)
        files = {f"{version}/{name}" for version in versions for name in (*card[FILES], _CONTENTS)}
    except (AttributeError, InputError, KeyError, TypeError):
        raise not_a_model from None
    other = [name for name in _names_in(target) if name not in own and not _is_version(target / name)]
    other += [name for version in versions for name in _names_in(target, version) if name not in files]
    if other and not card:
        raise not_a_model
    if other:
        what = f"holds {other[0]!r}, which is not part of the model"
        raise InputError(what, source=str(target), remedy="move it away, or name another folder")


def _card_if_any(target: Path) -> dict[str, Any]:
    return read_card(target) if os.path.lexists(target / CARD) else {}


def _beside(card: Mapping[str, Any]) -> dict[str, str | None]:
    """The files beside a card with their sums, of a flat model that it is of, or took the place of."""
    files: Mapping[str, str | None] = card.get(FILES if card.get("format") == _FLAT else REPLACED, {})
    return {name: known for name, known in files.items() if _is_plain(name)}


def _version(card: Mapping[str, Any]) -> list[str]:
    """The name of the version that a card names, if it does."""
    return [card[VERSION]] if card.get("format") == FORMAT and _NAME.fullmatch(card[VERSION]) else []


def _is_version(path: Path) -> bool:
    """Whether a folder is a version that was saved here, or what a killed process began one with."""
    if not _NAME.fullmatch(path.name) or path.is_symlink():
        return False
    try:
        # That file is the first to come and the last to go, while others look on.
        return not any(path.iterdir()) or (path / _CONTENTS).is_file() or not any(path.iterdir())
    except OSError:
        return not os.path.lexists(path)  # another process has removed it


def _is_plain(name: Any) -> bool:
    """Whether a name is that of a file in the folder itself."""
    return isinstance(name, str) and name not in ("", ".", "..") and Path(name).name == name


def _is_as_saved(path: Path, known: str | None) -> bool:
    """Whether a file beside a card is the model's: as it was saved, or one that a person may change."""
    return path.is_file() and (path.name == "cutoff.json" if known is None else _sum(path.read_bytes()) == known)


def _names_in(target: Path, version: str = "") -> list[str]:
    with suppress(FileNotFoundError):
        return sorted(entry.relative_to(target).as_posix() for entry in (target / version).iterdir())
    return []


def _clear_up(target: Path, before: float) -> None:
    """Remove versions that no card names, and files of a flat model, if they have been left alone for long enough."""
    with suppress(AttributeError, InputError, OSError):
        card = _card_if_any(target)  # another process may have replaced it again
        needed = _version(card)
        for path in [target / name for name in _names_in(target) if name not in needed]:
            with suppress(OSError):  # another process removes it too
                if _is_version(path) and not any(p.stat().st_mtime >= before for p in chain([path], path.rglob("*"))):
                    # Under another name first: a saver that was held up must not put a card in place that names half.
                    _remove_version(path.rename(target / _version_name()))
        for path, known in ((target / name, known) for name, known in _beside(card).items()):
            with suppress(OSError):
                if _is_as_saved(path, known) and path.stat().st_mtime < before:
                    path.unlink()


def _remove_version(version: Path) -> None:
    """Remove what a version says is its own; where something else is in it, that stays, and the folder with it."""
    with suppress(OSError, ValueError):
        names = json.loads((version / _CONTENTS).read_text("utf-8")) if (version / _CONTENTS).is_file() else []
        for name in (*filter(_is_plain, names), _CONTENTS):
            (version / name).unlink(missing_ok=True)
        version.rmdir()


# -- how it is written ---------------------------------------------------------------------------------------------


def _new_version(target: Path) -> Path:
    new = target / _version_name()
    new.mkdir()
    return new


def _version_name() -> str:
    return f"version-{secrets.token_hex(8)}"


def _write(path: Path, content: bytes) -> None:
    """Write a file, to the disk: a card must not arrive there before the files that it names."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    """Write the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _cannot_be_written(target: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot be written ({error.strerror or error})", source=str(target), remedy="name another folder, or make room"
    )
