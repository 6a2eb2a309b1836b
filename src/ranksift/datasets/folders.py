"""Files of a collection, in the folder that a user names."""

from __future__ import annotations

from pathlib import Path

from ranksift.errors import InputError

_SUFFIXES = ("", ".gz", ".zst")


def file_in(folder: Path, *names: str, remedy: str) -> Path:
    """The file of the first of these names that is there, plain or compressed."""
    paths = (folder / f"{name}{suffix}" for name in names for suffix in _SUFFIXES)
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        raise InputError(f"there is no {names[0]}", source=str(folder), remedy=remedy)
    return found
