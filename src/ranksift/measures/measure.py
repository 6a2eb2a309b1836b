"""What a measure is: a value that can be printed, compared and parsed, and a function of :class:`JudgedRun`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError

#: Two bounds nearer than this are the same bound: nothing can be normalised between them.
TOLERANCE = 1e-12

#: The deepest k: no list is longer, and 64 bits hold it.
MOST = 10**18

#: Every measure by its name, filled as the families are imported.
CATALOGUE: dict[str, type[Measure]] = {}


class PerQuery(NamedTuple):
    """A measure's values: a numerator for each query, and a denominator where it is not 1."""

    numerator: Floats
    denominator: Floats | None = None


@dataclass(frozen=True, repr=False)
class Measure:
    """The common ground of all measures.

    A measure is a frozen dataclass. Its fields are its parameters; a field ``k`` is set by ``@``. A
    subclass that is not abstract gets a name, its class name, and enters the catalogue.

    Class attributes
    ----------------
    family
        The room of the catalogue it stands in.
    paper
        Where it comes from.
    aggregation
        ``"mean"`` over queries, ``"micro"`` (ratio of sums) or ``"sum"``.
    shown
        Parameters that are always printed, also at their default.
    needs_k
        Whether ``@k`` is required.
    higher_is_better
        False for costs such as Fdocs.
    """

    family: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    aggregation: ClassVar[Literal["mean", "micro", "sum"]] = "mean"
    shown: ClassVar[tuple[str, ...]] = ()
    needs_k: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not abstract:
            CATALOGUE[cls.__name__] = cls

    # -- the value -----------------------------------------------------------------------------------

    def __call__(self, *unnamed: Any, **parameters: Any) -> Self:
        """The same measure with other parameters."""
        if unnamed:
            raise InputError(f"{self.name}: parameter {unnamed[0]!r} has no name", remedy="write it as name=value")
        known = {f.name for f in fields(self)}
        for name in parameters:
            if name not in known:
                choice = ", ".join(sorted(f.name for f in fields(self) if f.repr)) or "none"
                raise InputError(f"{self.name} has no parameter {name!r}", remedy=f"its parameters are: {choice}")
        return replace(self, **parameters)

    def __matmul__(self, k: int) -> Self:
        """The measure of the top k."""
        if "k" not in {f.name for f in fields(self)}:
            raise InputError(f"{self.name} takes no @k", remedy=f"write {self.name} without it")
        return replace(self, k=k)  # type: ignore[call-arg]

    def __post_init__(self) -> None:
        k = getattr(self, "k", None)
        if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= MOST):
            raise InputError(f"{self.name}@{k}: k is not a positive integer", remedy=f"write {self.name}@10")
        nil = getattr(self, "nil", None)
        if nil is not None and (not isinstance(nil, str) or not nil):
            raise InputError(f"{self.name}(nil={nil!r}): not a document id", remedy='write nil="NIL"')
        gains = getattr(self, "gains", None)
        if gains is not None:
            object.__setattr__(self, "gains", Gains.of(gains))

    @property
    def name(self) -> str:
        """The word that names the measure, without parameters."""
        return type(self).__name__

    def __str__(self) -> str:
        inside = []
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "k" and f.repr and (value != f.default or f.name in self.shown):
                inside.append(f"{f.name}={_shown(value)}")
        k = getattr(self, "k", None)
        parameters = f"({', '.join(inside)})" if inside else ""
        return f"{self.name}{parameters}{'' if k is None else f'@{k}'}"

    def __repr__(self) -> str:
        return str(self)

    # -- the function ----------------------------------------------------------------------------------

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Value of every query, as numerator and denominator."""
        raise NotImplementedError

    def values(self, numerator: Floats, denominator: Floats) -> Floats:
        """Each query's own value, from what :meth:`per_query` gave (queries on the last axis)."""
        out: Floats = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
        return out

    def aggregate(self, numerator: Floats, denominator: Floats) -> Floats:
        """One value for all queries (on the last axis)."""
        if self.aggregation == "sum":
            return np.asarray(numerator.sum(axis=-1))
        if self.aggregation == "micro":
            top, bottom = np.asarray(numerator.sum(axis=-1)), np.asarray(denominator.sum(axis=-1))
            return self.values(top, bottom)
        return np.asarray(self.values(numerator, denominator).mean(axis=-1))

    def degenerate(self, judged: JudgedRun) -> NDArray[np.bool_] | None:
        """Queries in which the measure cannot tell any two rankings apart (``None``: there are none)."""
        return None

    # -- what a random and a perfect ranking get, where that has a closed form -----------------------------

    def expectation(self, pool: Pool, gains: Gains) -> Floats | None:
        """Expected value of a random ranking of each query's pool."""
        return None

    def perfection(self, pool: Pool, gains: Gains) -> Floats | None:
        """Value of a perfect ranking of each query's pool."""
        return None


def flat(lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Where two bounds are the same up to rounding."""
    scale = np.maximum(1.0, np.maximum(np.abs(lower), np.abs(upper)))
    return np.abs(upper - lower) <= TOLERANCE * scale


def ratio(numerator: Floats, denominator: Floats, degenerate: NDArray[np.bool_]) -> Floats:
    """Divide, with 0 where the normalisation is degenerate."""
    out: Floats = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=~degenerate)
    return out


def check_number(measure: Measure, parameter: str, example: str) -> None:
    """Refuse a parameter that is not a finite number; keep 2.0 as 2, so that equal measures have one name."""
    value = getattr(measure, parameter)
    known = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not known or not abs(value) <= sys.float_info.max:
        raise InputError(f"{measure.name}({parameter}={value!r}) is not a number", remedy=f"write {example}")
    whole = abs(value) < 1e15 and value == int(value)
    object.__setattr__(measure, parameter, int(value) if whole else float(value))


def _shown(value: Any) -> str:
    if isinstance(value, Gains | Measure):
        return str(value)
    if isinstance(value, str) and value.isprintable() and not set(value) & {'"', "\\"}:
        return f'"{value}"'
    return repr(value)
