"""Numbers of few digits, as other pages keep them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Digits that are kept: enough for any number of a page.
_DIGITS = 6


def rounded(found: Any) -> Any:
    """The same with numbers of few digits.

    >>> rounded({"a": [1 / 3, 2e-9, 2]})
    {'a': [0.333333, 2e-09, 2]}
    """
    if isinstance(found, Mapping):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    return float(f"{found:.{_DIGITS}g}") if isinstance(found, float) else found
