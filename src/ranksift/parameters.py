"""Parameters in scikit-learn's manner: given to the constructor, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

import numpy as np

from ranksift.errors import InputError


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or isinstance(value, float | np.floating)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


# What a parameter may be, by its annotation; others are each class's own matter.
_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("an integer", _is_integer),
    "int | None": ("an integer or none", lambda value: value is None or _is_integer(value)),
    "float": ("a number", _is_number),
    "float | None": ("a number or none", lambda value: value is None or _is_number(value)),
    "float | Sequence[float]": (
        "a number, or a list of numbers",
        lambda value: _is_number(value) or (_is_list(value) and all(map(_is_number, value))),
    ),
    "bool": ("true or false", lambda value: isinstance(value, bool | np.bool_)),
    "str": ("a word", lambda value: isinstance(value, str)),
    "tuple[int, ...]": ("a list of integers", lambda value: _is_list(value) and all(map(_is_integer, value))),
}

# What arrays hold.
_MOST = 2**63


def _words_of(kind: type[Any]) -> dict[str, tuple[Any, ...]]:
    """Of the parameters that are one of a few words: which."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, hint in get_type_hints(kind).items():
        parts = (hint, *get_args(hint))
        words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
        if words:
            found[name] = (*words, *([None] if NoneType in parts else []))
    return found


class Parameterised:
    """A dataclass whose fields are its parameters."""

    def check_parameters(self) -> None:
        """Refuse parameters that are not what they should be, as a word in the place of a number."""
        words = _words_of(type(self))
        for parameter in fields(self):  # type: ignore[arg-type]
            name, value = parameter.name, getattr(self, parameter.name)
            what, fits = _KINDS.get(str(parameter.type), ("", bool))
            if what and not fits(value):
                raise InputError(f"{name}={value!r} is not {what}", remedy=f"give {what}")
            if what and _is_integer(value) and not -_MOST <= value < _MOST:
                raise InputError(f"{name}={str(value)[:20]}… is too large", remedy="give a smaller number")
            if name in words and not (isinstance(value, str | None) and value in words[name]):
                *others, last = (repr(word) for word in words[name] if word is not None)
                raise InputError(f"{name}={value!r} is unknown", remedy=f"use {', '.join(others)} or {last}")
            if name == "seed" and value < 0:
                raise InputError(f"seed={value} is negative", remedy="give 0, or any positive integer")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; what was learned stays until the next fit."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}", remedy=f"it has: {', '.join(known) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """The same with nothing learned."""
        return type(self)(**self.get_params())


def plain(value: Any) -> Any:
    """A value as JSON can hold it; an infinite number is a word that ``float`` reads.

    >>> plain({"t": np.float64("-inf"), "w": np.array([1.0, 2.0])})
    {'t': '-inf', 'w': [1.0, 2.0]}
    """
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
