"""Requirements on measures, as people write them: ``nDCG_f@10>=0.8``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.measures.measure import TOLERANCE, Measure
from ranksift.measures.names import parse_measure
from ranksift.parameters import some, word

Operator = Literal["<=", ">=", "<", ">", "=="]

#: How a requirement is written.
FORM = "write a measure, one of <= >= < > == and a number, such as nDCG_f@10>=0.8"

# A measure holds no operator outside of brackets; a limit ends at a blank, a comma or a semicolon.
_REQUIREMENT = re.compile(
    r"(?P<measure>[^<>=\s,;]+)\s*(?P<operator><=|>=|==|<|>)\s*(?P<limit>[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)(?=[\s,;]|$)"
)


@dataclass(frozen=True)
class Requirement:
    """A requirement on a measure.

    Examples
    --------
    >>> Requirement(parse_measure("Fdocs@3"), "<=", 0.25).checked(0.75).verdict
    'missed by 0.5'
    """

    measure: Measure
    operator: Operator
    limit: float

    def __str__(self) -> str:
        return f"{self.measure}{self.operator}{self.limit:.15g}"

    def margins(self, values: ArrayLike) -> Floats:
        """How far values are on the right side of the limit; negative if they are on the wrong side."""
        above: Floats = np.asarray(values, dtype=np.float64) - self.limit
        if self.operator == "==":
            return -np.abs(above)
        return above if self.operator in (">=", ">") else -above

    def met(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which values meet it; within 1e-12 of the limit a value is the limit."""
        least = TOLERANCE if self.operator in ("<", ">") else -TOLERANCE
        margins = self.margins(values)
        return margins > least if least > 0 else margins >= least

    def checked(self, value: float) -> CheckedRequirement:
        """The requirement checked for a value."""
        margin, passed = float(self.margins(value)), bool(self.met(value))
        return CheckedRequirement(str(self.measure), self.operator, self.limit, value, margin, passed)


@dataclass(frozen=True)
class CheckedRequirement:
    """A requirement and its result; ``margin`` is negative if it is missed."""

    measure: str
    operator: Operator
    limit: float
    value: float
    margin: float
    passed: bool

    @property
    def verdict(self) -> str:
        """``met``, or by how much it is missed."""
        if self.passed:
            return "met"
        return "missed: it is the limit" if abs(self.margin) <= TOLERANCE else f"missed by {abs(self.margin):.4g}"


def parse_requirements(text: str | Iterable[str], form: str = FORM) -> list[Requirement]:
    """Requirements from one string, with blanks, commas or semicolons between them, or from several strings.

    ``form`` is what an error says about how to write them.

    Examples
    --------
    >>> [str(r) for r in parse_requirements("nDCG_f(gains={-2:-10})@10 >= 0.8, Fdocs@3<.02")]
    ['nDCG_f(gains={-2:-10})@10>=0.8', 'Fdocs@3<0.02']
    """
    if not isinstance(text, str):
        some(word("a requirement"), "a text or a list of texts").check("require", text)
        return [r for one in text for r in parse_requirements(one, form)]
    # What stands in brackets belongs to a measure: blank it out, at the same length, and look at the rest.
    outline = _outline(text)
    found, at = [], 0
    while outline[at:].strip(" \t\r\n,;"):
        at += len(outline[at:]) - len(outline[at:].lstrip(" \t\r\n,;"))
        match = _REQUIREMENT.match(outline, at)
        if not match:
            raise InputError(f"requirement {text[at:].strip()!r} is not understood", remedy=form)
        measure = parse_measure(text[slice(*match.span("measure"))])
        limit = float(match["limit"])
        if not math.isfinite(limit):
            raise InputError(f"the limit {match['limit'][:40]} is too large", remedy=form)
        found.append(Requirement(measure, match["operator"], limit))  # type: ignore[arg-type]
        at = match.end()
    return found


def _outline(text: str) -> str:
    """The text with an underscore for everything in brackets.

    >>> _outline('RR(nil="a)<")@5<1')
    'RR___________@5<1'
    """
    out, depth, quote = "", 0, ""
    for c in text:
        was_inside = depth > 0
        if quote:
            quote = "" if c == quote else quote
        elif was_inside and c in "\"'":
            quote = c
        else:
            depth += (c in "({[") - (c in ")}]")
        out += "_" if was_inside or depth > 0 else c
    return out
