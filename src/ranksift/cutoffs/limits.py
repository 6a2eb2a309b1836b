"""Limits that a cut must keep, written as ``Empty<=0.1 GoodFiltered<=0.3``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ranksift.cutoffs.sweep import one_measure
from ranksift.errors import InputError
from ranksift.evaluation.requirements import Requirement, parse_requirements
from ranksift.measures.measure import Measure
from ranksift.parameters import is_number, read_by

#: Limits, a text of them, or what measures may be at most; None: there are none.
LimitsLike: TypeAlias = "Limits | str | Sequence[str] | Mapping[str, float] | None"

_FORM = "write limits as 'Empty<=0.1 GoodFiltered<=0.3'"


@dataclass(frozen=True)
class Limits:
    """Upper and lower limits of measures.

    Examples
    --------
    >>> print(Limits.of("Empty <= .1, R@10>=0.5"))
    Empty<=0.1 R@10>=0.5
    >>> print(Limits.of({"Fdocs@3": 0.02}))
    Fdocs@3<=0.02
    """

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def of(cls, given: LimitsLike) -> Limits:
        """Limits from a text, from several texts, from a mapping of measures to upper limits, or from limits."""
        if given is None or isinstance(given, Limits):
            return given or cls()
        if isinstance(given, Mapping):
            found = [_at_most(measure, limit) for measure, limit in given.items()]
        elif isinstance(given, str) or (isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)):
            found = parse_requirements(given, _FORM)
        else:
            raise InputError(f"{given!r} is not a text of limits", remedy=_FORM)
        if not found:
            raise InputError("no limit is given", remedy=_FORM)
        for limit in found:
            one_measure(limit.measure)
            if limit.operator not in ("<=", ">="):
                raise InputError(f"the limit {limit} has {limit.operator}", remedy="use <= or >=")
        return cls(tuple(found))

    @property
    def measures(self) -> list[Measure]:
        """What is limited."""
        return [limit.measure for limit in self.requirements]

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements)

    def __len__(self) -> int:
        return len(self.requirements)

    def __str__(self) -> str:
        return " ".join(map(str, self.requirements))


def _at_most(measure: str, limit: float) -> Requirement:
    if not is_number(limit):
        raise InputError(f"the limit {limit!r} of {measure} is not a number", remedy=_FORM)
    return Requirement(one_measure(measure), "<=", float(limit))


#: What a rule's limits may be.
LIMITS = read_by(Limits.of, "limits such as 'Empty<=0.1 GoodFiltered<=0.3'")
