"""What became of a printed table, number by number."""

from __future__ import annotations

VERDICTS = ("reproduced", "explained", "refuted", "out of reach")


def verdicts(numbers: int, *, reproduced: int = 0, explained: int = 0, refuted: int = 0) -> dict[str, int]:
    """How many of a table's numbers are reproduced, explained and refuted; the others are out of reach.

    A number is *reproduced* if it follows to the printed digits from public data, from a definition, or from other
    tables of the paper; *explained* where another rule than the written one gives it, and that rule is named; *refuted*
    where it cannot be right beside data, formula or other numbers of the paper; and *out of reach* where the data, the
    systems or the people are not available.

    >>> verdicts(8, reproduced=3, refuted=1)
    {'numbers': 8, 'reproduced': 3, 'explained': 0, 'refuted': 1, 'out of reach': 4}
    """
    counts = reproduced, explained, refuted, numbers - reproduced - explained - refuted
    return {"numbers": numbers, **dict(zip(VERDICTS, counts, strict=True))}


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
