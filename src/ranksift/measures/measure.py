"""What a measure is: a value that can be printed, compared and parsed, and a function of :class:`JudgedRun`."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, dataclass, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.parameters import (
    declared,
    documented,
    integer,
    is_integer,
    is_number,
    number,
    optional,
    parameter,
    read_by,
    word,
)

#: Two bounds nearer than this are the same bound: nothing can be normalised between them.
TOLERANCE = 1e-12

#: The deepest k: no list is longer, and 64 bits hold it.
MOST = 10**18


def k_parameter() -> Any:
    """Declare ``k``."""
    return parameter(None, optional(integer(1, MOST)), "The rank at which the measure stops; None for the whole list.")


def gains_parameter(meaning: str = "The gains of labels; None for those of the whole evaluation.") -> Any:
    """Declare ``gains``."""
    return parameter(None, optional(read_by(Gains.of, "gains such as 'exp' or {-2: -10}")), meaning)


#: What a NIL document is to measures that do not see where a list ends.
TREC_2001 = """The id of a document that means "no answer": it is the one relevant document of a query without
an answer, and irrelevant elsewhere (TREC 2001)."""


def base_parameter() -> Any:
    """Declare ``base``."""
    return parameter(
        None,
        optional(number(above=1), example=2),
        """Järvelin and Kekäläinen's b: gains are divided by the logarithm of their rank to this base,
        and those above rank b are not divided. None: divided by log2(rank + 1).""",
    )


def nil_parameter(meaning: str) -> Any:
    """Declare ``nil``."""
    return parameter(None, optional(word("a document id"), example="NIL"), meaning)


#: Every measure by its name, filled as the families are imported.
CATALOGUE: dict[str, type[Measure]] = {}


class _Parts(NamedTuple):
    numerator: Floats
    denominator: Floats


class PerQuery(_Parts):
    """A measure's values: a numerator and a denominator for each query; if none is given, it is 1.

    Examples
    --------
    >>> PerQuery(np.array([0.5, 0.25])).denominator.tolist()
    [1.0, 1.0]
    """

    __slots__ = ()

    def __new__(cls, numerator: Floats, denominator: Floats | None = None) -> Self:
        """Put a denominator of 1 under a plain value."""
        return super().__new__(cls, numerator, np.ones(len(numerator)) if denominator is None else denominator)


def _declare_what_everyone_asks_for(cls: type[Measure]) -> None:
    """Let a plain ``k: int | None = None`` be what ``k_parameter()`` declares, and so with ``gains`` and ``nil``."""
    usual = {"k": k_parameter(), "gains": gains_parameter(), "nil": nil_parameter(TREC_2001)}
    for name in usual.keys() & inspect.get_annotations(cls).keys():
        default = cls.__dict__.get(name, MISSING)
        if not isinstance(default, Field):
            usual[name].default = default
            setattr(cls, name, usual[name])


def _refuse_former_signatures(cls: type[Measure]) -> None:
    """Say what to write where a measure is as measures were before they took the pool."""
    for name in {"degenerate", "complaint"} & cls.__dict__.keys():
        if cls.__dict__[name].__code__.co_argcount != 3:
            raise InputError(
                f"{cls.__name__}.{name} takes the judgments alone", remedy=f"write def {name}(self, pool, gains)"
            )


@dataclass(frozen=True, repr=False)
class Measure:
    """The base class of all measures.

    A measure is a frozen dataclass. Its fields are its parameters; a field ``k`` is set by ``@``. A
    subclass that is not abstract gets a name, its class name, and enters the catalogue.

    Every measure has the attributes ``k``, ``gains``, ``base`` and ``nil``; if it has no such parameter, the value is
    None. What depends on the judgments alone (:meth:`bounds`, :meth:`degenerate`, :meth:`complaint`, …) is a function
    of the pool and of the gains that count, which are the measure's own where it has them: ``measure.gains or gains``.

    Class attributes
    ----------------
    family
        The section of the catalogue in which the measure is listed.
    paper
        The source of the measure.
    aggregation
        ``"mean"`` over queries, ``"micro"`` (ratio of sums), ``"sum"`` or ``"geometric"`` (mean, of GMAP).
    shown
        Parameters that are always printed, even at their default.
    needs_k
        Whether ``@k`` is required.
    higher_is_better
        False for costs such as Fdocs.
    about_forbidden
        Whether it is meaningless if no document is forbidden.
    """

    family: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    aggregation: ClassVar[Literal["mean", "micro", "sum", "geometric"]] = "mean"
    shown: ClassVar[tuple[str, ...]] = ()
    needs_k: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True
    about_forbidden: ClassVar[bool] = False

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _declare_what_everyone_asks_for(cls)
        _refuse_former_signatures(cls)
        documented(cls)
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
        if not self.takes("k"):
            raise InputError(f"{self.name} does not take @k", remedy=f"write {self.name} without it")
        return replace(self, k=k)  # type: ignore[call-arg]

    def __post_init__(self) -> None:
        for name, (spec, default) in declared(type(self)).items():
            value = getattr(self, name)
            try:
                spec.kind.check(name, value, default)
            except InputError as error:
                if name == "k":
                    what = f"{self.name}@{value}: k is not a positive integer"
                    raise InputError(what, remedy=f"write {self.name}@10") from None
                raise InputError(f"{self.name}: {error}") from None
            if name == "gains" and value is not None:
                object.__setattr__(self, name, Gains.of(value))
            elif is_number(value):
                object.__setattr__(self, name, _shortest(value))
            elif isinstance(value, np.bool_):
                object.__setattr__(self, name, bool(value))

    @property
    def name(self) -> str:
        """The name of the measure, without parameters."""
        return type(self).__name__

    def __str__(self) -> str:
        inside = []
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "k" and f.repr and (value != f.default or f.name in self.shown):
                inside.append(f"{f.name}={_shown(value)}")
        k = self.k if self.takes("k") else None
        parameters = f"({', '.join(inside)})" if inside else ""
        return f"{self.name}{parameters}{'' if k is None else f'@{k}'}"

    def __repr__(self) -> str:
        return str(self)

    # -- what others may ask for; a parameter of the same name takes its place -----------------------------

    @property
    def k(self) -> int | None:
        """The rank at which the measure stops; None for the whole list."""
        return None

    @property
    def gains(self) -> Gains | None:
        """The measure's own gains, which take precedence over those of the evaluation."""
        return None

    @property
    def base(self) -> float | None:
        """The base of Järvelin and Kekäläinen's discount; None if the measure has another discount, or none."""
        return None

    @property
    def nil(self) -> str | None:
        """The document id that means "no answer"."""
        return None

    @classmethod
    def takes(cls, parameter: str) -> bool:
        """Whether the measure has a parameter with this name."""
        return parameter in cls.__dataclass_fields__

    def at_level(self, rel: float) -> Measure:
        """The same measure with another smallest relevant label, if it has such a parameter at its default.

        >>> from ranksift import AP, UL2, nDCG
        >>> [measure.at_level(2) for measure in (AP, AP(rel=3), UL2(AP), nDCG)]
        [AP(rel=2), AP(rel=3), UL2(AP(rel=2)), nDCG]
        """
        plain = self.takes("rel") and self.gains is None and self.rel == 1  # type: ignore[attr-defined]
        return self(rel=rel) if plain else self

    def gain(self, labels: Floats, gains: Gains) -> Floats:
        """The gain that the measure gives to a label."""
        return (self.gains or gains)(labels)

    def worth(self, labels: Floats, gains: Gains) -> Floats:
        """The worth of a label to the measure, for finding the ideal order; 0 if the measure ignores it.

        Examples
        --------
        >>> from ranksift import AP, nDCG_f
        >>> (nDCG_f @ 5).worth(np.array([-2.0, 0.0, 1.0, 2.0]), Gains.of({2: 7})).tolist()
        [0.0, 0.0, 1.0, 7.0]
        >>> AP(rel=2).worth(np.array([-2.0, 0.0, 1.0, 2.0]), Gains.of({2: 7})).tolist()
        [0.0, 0.0, 0.0, 1.0]
        """
        return np.maximum(self.gain(labels, gains) if self.takes("gains") else labels, 0.0)

    # -- the function ----------------------------------------------------------------------------------

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Value of every query, as numerator and denominator."""
        raise NotImplementedError

    def contributions(self, judged: JudgedRun) -> Floats | None:
        """What each entry adds to the query's value for an empty list; None if the value is not such a sum."""
        return None

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

    # -- what the judgments alone say ----------------------------------------------------------------------

    def complaint(self, pool: Pool, gains: Gains) -> str | None:
        """Which of the measure's assumptions the labels violate, in words; None if none."""
        return None

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries in which the measure cannot distinguish any two rankings (``None``: there are none)."""
        return None

    def bounds(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats] | None:
        """The DCG that maps to 0 and the DCG that maps to 1 in each query; None if it is not a normalised DCG."""
        return None

    def line(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats] | None:
        """Each query's value for a DCG of 0, and what a DCG of 1 adds to it; None if the value is not linear in DCG."""
        return None

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
    """Divide, with 0 if the normalisation is degenerate."""
    out: Floats = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=~degenerate)
    return out


def _shortest(value: Any) -> int | float:
    """2.0 as 2, so that equal measures have one name."""
    return int(value) if is_integer(value) or (abs(value) < 1e15 and value == int(value)) else float(value)


def _shown(value: Any) -> str:
    if isinstance(value, Gains | Measure):
        return str(value)
    if isinstance(value, str) and value.isprintable() and not set(value) & {'"', "\\"}:
        return f'"{value}"'
    return repr(value)
