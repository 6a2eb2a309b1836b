"""The folder that a model is saved in: its card, and what the card says of the other files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ranksift.collection.errors import InputError
from ranksift.learning.libraries import require

#: What a model's card begins with; the number changes when older programs could not read it.
FORMAT = "ranksift-model-1"
#: What every card says; the rest is said of one model, as its data.
ALWAYS = ("format", "ranksift", "model", "parameters", "feature_names", "cutoff", "files")
CARD, WEIGHTS, CUTOFF = "model.json", "weights.safetensors", "cutoff.json"


def place_for_a_model(folder: str | os.PathLike[str]) -> Path:
    """A folder that a model can be saved into: refused before anything is learned, rather than after."""
    require("saving a model", "safetensors")
    target = Path(folder)
    try:
        if target.exists() and not (target / CARD).is_file() and (not target.is_dir() or any(target.iterdir())):
            raise InputError("is there already, and is no model", source=str(target), remedy="name another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        new_folder(target).rmdir()
    except OSError as error:
        raise cannot_be_written(target, error) from None
    return target


def new_folder(target: Path) -> Path:
    """Where a model is made before it gets its name."""
    made = target.with_name(f".{target.name}.{os.getpid()}.part")
    shutil.rmtree(made, ignore_errors=True)  # of a process that was killed long ago
    made.mkdir()
    return made


def put_in_place(made: Path, target: Path) -> None:
    """Let a finished folder take the name of a model, and the place of one that was there.

    That one goes as a whole too: it is renamed before it is removed.
    """
    former = made.with_suffix(".old")
    if target.exists():
        shutil.rmtree(former, ignore_errors=True)
        target.rename(former)
    try:
        made.rename(target)
    except OSError:
        if former.exists():
            former.rename(target)
        raise
    shutil.rmtree(former, ignore_errors=True)


def cannot_be_written(target: Path, error: OSError) -> InputError:
    """What to say where a model cannot be saved."""
    return InputError(
        f"cannot be written ({error.strerror or error})", source=str(target), remedy="name another folder, or make room"
    )


def card_of(target: Path) -> dict[str, Any]:
    """The card of a saved model."""
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
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", source=str(target / CARD), remedy="train the model anew") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise InputError("is no model of this version", source=str(target / CARD), remedy="train it anew")
    return card


def check_files(target: Path, files: Mapping[str, str | None]) -> None:
    """Refuse a model of which a file is missing, or is not as it was saved."""
    for name, known in files.items():
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
