"""What became of a printed table, number by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.markdown import table

VERDICTS = ("reproduced", "explained", "refuted", "out of reach")


@dataclass(frozen=True)
class Printed:
    """A printed table: how many of its numbers are reproduced, explained, refuted and out of reach, and what follows.

    A number is *reproduced* if it follows to the printed digits from public data, from a definition, or from other
    tables of the paper; *explained* where another rule than the written one gives it, and that rule is named; *refuted*
    where it cannot be right beside data, formula or other numbers of the paper; and *out of reach* where the data, the
    systems or the people are not available.
    """

    table: str
    what: str
    follows: str
    reproduced: int = 0
    explained: int = 0
    refuted: int = 0
    out_of_reach: int = 0

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """How many numbers have each verdict."""
        return self.reproduced, self.explained, self.refuted, self.out_of_reach

    @property
    def numbers(self) -> int:
        """How many numbers the table has."""
        return sum(self.counts)


def total(rows: Iterable[Printed]) -> tuple[int, ...]:
    """How many numbers of some tables have each verdict."""
    return tuple(map(sum, zip(*(row.counts for row in rows), strict=True)))


def verdicts(rows: Sequence[Printed]) -> str:
    """A table of tables."""
    head = ["table", "what it prints", "what follows", "numbers", *VERDICTS]
    return table(
        head,
        [
            [row.table, row.what, row.follows, str(row.numbers), *(str(n) if n else "" for n in row.counts)]
            for row in rows
        ],
        words=3,
    )


# -- printed digits ------------------------------------------------------------------------------------


def step(printed: float) -> float:
    """One unit of the last printed digit.

    >>> step(0.928), step(97.63)
    (0.001, 0.01)
    """
    return float(10.0 ** -len(repr(printed).partition(".")[2]))


def fits(low: float, high: float, printed: float) -> bool:
    """Whether a value in a range, rounded or cut off, is printed so.

    >>> fits(13 / 14, 13 / 14, 0.928), fits(13 / 14, 13 / 14, 0.929), fits(13 / 14, 13 / 14, 0.927)
    (True, True, False)
    """
    unit, tiny = step(printed), 1e-9
    return low < printed + unit - tiny and high >= printed - unit / 2 - tiny
