"""What may go into a database: both kinds accept the same, and refuse the same in one line."""

from __future__ import annotations

import math
from collections.abc import Collection
from contextlib import suppress
from typing import Any
from unicodedata import category

from ranksift.errors import InputError

# An index entry of PostgreSQL has at most 2,704 bytes; two of these fit.
_LONGEST_ID = 1_000
# A row of PostgreSQL has at most a gigabyte, and so has a text of SQLite.
_LONGEST_TEXT = 100_000_000
# They turn the direction of writing, or nothing is seen of them at all.
_UNSEEN = frozenset("\u200b\u2060\ufeff\u00ad\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def check_id(what: str, value: str) -> None:
    """Refuse what cannot be an id."""
    check_text(what, value, _LONGEST_ID)
    if not value.strip():
        raise InputError(f"{what} is empty", remedy="give one")


def check_name(what: str, value: str) -> None:
    """Refuse what cannot be the name of a person: readers must see what it is."""
    check_id(what, value)
    # Other marks of this kind belong to names: Persian ones are written with joiners.
    hidden = next((c for c in value if category(c) in ("Cc", "Zl", "Zp") or c in _UNSEEN), None)
    if hidden is not None or value != value.strip():
        which = (
            "a space at its beginning or end" if hidden is None else f"an invisible character ({ascii(hidden)[1:-1]})"
        )
        raise InputError(f"{what} {value.strip()!r} has {which}", remedy="remove it")


def check_text(what: str, value: str, most: int = _LONGEST_TEXT) -> None:
    """Refuse a text that one of the databases cannot hold."""
    if not isinstance(value, str):
        raise InputError(f"{what} is {value!r}, not a text", remedy="write it as a text")
    if "\0" in value:
        raise InputError(f"{what} has a NUL character", remedy="remove it")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        half = f"{value[error.start]!a}"[1:-1]
        raise InputError(f"{what} has half a character ({half})", remedy="save it as UTF-8") from None
    if size > most:
        raise InputError(f"{what} has {size:,} bytes, but only {most:,} are allowed", remedy="shorten it")


def check_number(what: str, value: Any, least: int, most: int = 2**31 - 1) -> None:
    """Refuse what is not a whole number, or not in its range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{what} is {value!r}", remedy=f"give a whole number from {least:,} to {most:,}")


def check_real(what: str, value: Any, least: float = -math.inf) -> None:
    """Refuse what is not a finite number."""
    number = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):  # a whole number that no float can hold
            number = float(value)
    if not math.isfinite(number) or number < least:
        raise InputError(
            f"{what} is {value!r}", remedy="give a number" + (f" of at least {least}" if least == 0 else "")
        )


def check_choice(what: str, value: Any, choices: Collection[Any]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise InputError(f"{what} is {value!r}", remedy=f"use one of {', '.join(str(one) for one in choices)}")
