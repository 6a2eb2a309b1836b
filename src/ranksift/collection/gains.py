"""The gain function, ``ls`` in Carmel et al. 2022 and ``g`` in Gienapp et al. 2020."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection import ragged
from ranksift.errors import InputError


@dataclass(frozen=True)
class Gains:
    """A gain for every label: linear (the label itself) or exponential (2^label - 1), with exceptions.

    A document whose label has a negative gain is forbidden.

    Parameters
    ----------
    curve
        ``"linear"`` or ``"exp"``.
    overrides
        Pairs (label, gain) that take precedence over the curve.

    Examples
    --------
    >>> Gains.of({-2: -10})([-2, 0, 3]).tolist()
    [-10.0, 0.0, 3.0]
    >>> Gains.of("exp")([0, 1, 3]).tolist()
    [0.0, 1.0, 7.0]
    >>> str(Gains.of("-2=-10")), str(Gains.of("exp"))
    ('{-2:-10}', '"exp"')
    """

    curve: Literal["linear", "exp"] = "linear"
    overrides: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, spec: GainsLike) -> Gains:
        """Make gains from ``"linear"``, ``"exp"``, a mapping, or the command line's ``"-2=-10,4=8"``."""
        if isinstance(spec, Gains):
            return spec
        if isinstance(spec, Mapping):
            return cls(overrides=_pairs(spec.items()))
        if not isinstance(spec, str):
            raise InputError(
                f"gains {spec!r} are not understood", remedy="use 'linear', 'exp' or a mapping such as {-2: -10}"
            )
        curve: Literal["linear", "exp"] = "linear"
        pairs: list[tuple[str, str]] = []
        for word in filter(None, re.split(r"[\s,;]+", re.sub(r"\s*([=:])\s*", r"\1", spec.strip().strip("{}")))):
            match = re.fullmatch(r"([^=:]+)[=:]([^=:]+)", word)
            if match:
                pairs.append((match[1], match[2]))
            elif word in ("linear", "exp"):
                curve = "linear" if word == "linear" else "exp"
            else:
                raise InputError(
                    f"gains {spec!r} are not understood at {word!r}",
                    remedy="use linear, exp or label=gain, such as -2=-10",
                )
        return cls(curve, _pairs(pairs))

    def __call__(self, labels: ArrayLike) -> NDArray[np.float64]:
        """Gains of ``labels``."""
        given = np.asarray(labels, dtype=np.float64)
        if self.curve == "exp":
            with np.errstate(over="ignore"):
                gains = np.exp2(given) - 1.0
        else:
            gains = given.copy() if self.overrides else given
        for label, gain in self.overrides:
            gains[given == label] = gain
        sane = np.abs(gains) <= LARGEST
        if not sane.all():
            worst = given[~sane][0]
            raise InputError(
                f"the gain of label {worst:g} is too large to add up",
                remedy="use linear gains or map it: {label: gain}",
            )
        return gains

    def unused(self, labels: ArrayLike) -> str:
        """A note about labels that are given a gain but are not among ``labels``; nothing if there are none.

        >>> Gains.of({-2: -10}).unused([0, 1])
        'gains name the label -2, which no judged document has (the labels are 0, 1)'
        """
        there = ragged.distinct(np.asarray(labels, dtype=np.float64).ravel())
        absent = [label for label, _ in self.overrides if label not in there]
        if not absent or not len(there):
            return ""
        known = ", ".join(map(_number, there[:10].tolist())) + (", …" if len(there) > 10 else "")
        return f"gains name the label {_number(absent[0])}, which no judged document has (the labels are {known})"

    def __str__(self) -> str:
        inside = ",".join(f"{_number(label)}:{_number(gain)}" for label, gain in self.overrides)
        if not self.overrides:
            return f'"{self.curve}"'
        return f"{{{inside}}}" if self.curve == "linear" else f'"exp,{inside.replace(":", "=")}"'


#: Anything that :meth:`Gains.of` understands.
GainsLike: TypeAlias = "Gains | str | Mapping[float, float]"

LINEAR = Gains()

#: What to do if labels are 0 and 1, and nothing says that 0 is worse than useless.
ZERO_AS_FORBIDDEN = 'if 0 means "must not be shown", use gains={0: -1}'

#: The largest gain: sums and products of gains stay finite, so that no measure is 0 because its ideal overflowed.
LARGEST = 1e100


def _pairs(items) -> tuple[tuple[float, float], ...]:  # type: ignore[no-untyped-def]
    pairs: dict[float, float] = {}
    for label, gain in items:
        try:
            key, value = float(label), float(gain)
        except OverflowError:
            raise InputError("a label or a gain is too large", remedy="keep it below 1.8e308") from None
        except (TypeError, ValueError):
            raise InputError(f"gain {label}={gain} is not a pair of numbers", remedy="write -2=-10") from None
        if not (np.isfinite(key) and np.isfinite(value)):
            raise InputError(f"gain {label}={gain} is not finite", remedy="use finite numbers")
        if pairs.get(key, value) != value:
            raise InputError(f"label {label} is given two gains", remedy="give each label one gain")
        pairs[key] = value
    return tuple(sorted(pairs.items()))


def _number(x: float) -> str:
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)
