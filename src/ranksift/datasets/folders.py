"""Files of a collection, in the folder that a user names."""

from __future__ import annotations

import os
from pathlib import Path

from ranksift.errors import InputError

_SUFFIXES = ("", ".gz", ".zst")


def file_in(folder: Path, *names: str, remedy: str) -> Path:
    """The file of the first of these names that is there, plain or compressed."""
    paths = (folder / f"{name}{suffix}" for name in names for suffix in _SUFFIXES)
    # A name that is too long for the system is not there either.
    found = next((path for path in paths if os.path.isfile(path)), None)
    if found is None:
        raise InputError(f"there is no {names[0]}", source=str(folder), remedy=remedy)
    return found
