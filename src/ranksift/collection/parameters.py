"""Parameters in scikit-learn's manner: given to the constructor, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self

import numpy as np

from ranksift.collection.errors import InputError


class Parameterised:
    """A dataclass whose fields are its parameters."""

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
