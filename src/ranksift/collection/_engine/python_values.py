"""Python values, checked one by one, to columns of ids and of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real

import numpy as np

from ranksift.collection._engine.grouping import Floats
from ranksift.collection._engine.ids import Ids
from ranksift.errors import InputError

#: Makes the error for a row: what is wrong, what to do.
Fail = Callable[[int, str, str], InputError]


def ids_of(values: Sequence[object], noun: str, fail: Fail) -> Ids:
    """Ids from strings, or from integers by their decimal digits.

    Examples
    --------
    >>> ids_of(["007", 7], "query", lambda row, what, remedy: InputError(what)).tolist()
    ['007', '7']
    """
    if set(map(type, values)) <= {str}:
        strings: Sequence[str] = values  # type: ignore[assignment]
    else:
        strings = [id_of(value, noun, row, fail) for row, value in enumerate(values)]
    try:
        encoded = [s.encode() for s in strings]
    except UnicodeEncodeError:
        row = next(r for r, s in enumerate(strings) if any("\ud800" <= c <= "\udfff" for c in s))
        raise fail(row, f"{noun} id {strings[row]!r} is not valid text", "repair its encoding") from None
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    if len(lengths) and not lengths.all():
        raise fail(int(np.argmin(lengths)), f"the {noun} id is empty", "give every query and document an id")
    return Ids.from_packed(b"".join(encoded), lengths)


def id_of(value: object, noun: str, row: int, fail: Fail) -> str:
    """A single id."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        try:
            return str(value)
        except ValueError:  # Python writes out no integer of more than 4300 digits
            raise fail(row, f"{noun} id {_shown(value)} is too long", "write ids as strings") from None
    if is_missing(value):
        raise fail(row, f"the {noun} id is missing", "give every query and document an id")
    raise fail(row, f"{noun} id {_shown(value)} is a {type(value).__name__}", "write ids as strings (or whole numbers)")


def numbers_of(values: Sequence[object], noun: str, fail: Fail) -> tuple[Floats, bool]:
    """Finite numbers, and whether all of them are integers (``True`` and ``False`` count as 1 and 0).

    Examples
    --------
    >>> numbers_of([1, True, -2], "label", lambda row, what, remedy: InputError(what))
    (array([ 1.,  1., -2.]), True)
    """
    kinds = set(map(type, values))
    if not kinds <= {int, float, bool}:
        values = [_number(value, noun, row, fail) for row, value in enumerate(values)]
        kinds = set(map(type, values))
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        row = next(r for r, v in enumerate(values) if isinstance(v, int) and abs(v) >= 2**1024 - 2**970)
        raise fail(row, f"{noun} {_shown(values[row])} is too large", "keep it below 1.8e308") from None
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise fail(row, f"{noun} {numbers[row]} is not finite", f"give every document a finite {noun}")
    return numbers, float not in kinds


def _number(value: object, noun: str, row: int, fail: Fail) -> int | float:
    from decimal import Decimal  # which takes a millisecond, and evaluating TREC files never comes here

    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, Real | Decimal):
        try:
            return float(value)
        except OverflowError:
            raise fail(row, f"{noun} {_shown(value)} is too large", "keep it below 1.8e308") from None
        except ValueError:  # a NaN that Python's decimals refuse to pass on
            raise fail(row, f"{noun} {value} is not finite", f"give every document a finite {noun}") from None
    if is_missing(value):
        raise fail(row, f"the {noun} is missing", f"give every document a {noun}")
    raise fail(row, f"{noun} {_shown(value)} is not a number", f"give a number as {noun}")


def is_missing(value: object) -> bool:
    """Whether this stands for nothing: ``None``, NaN, pandas' NA and NaT."""
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _shown(value: object) -> str:
    if isinstance(value, int) and abs(value) >= 10**40:
        return "of more than 40 digits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
