"""What section 4.1 of Niu and others (2012) prints, and what can be made of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ranksift.collection.ragged import Floats
from ranksift.labelling.agreement import chi_square

#: Table 1: seconds per judgment, minutes per query, judgments per query.
TABLE_1 = {"pairs": (5.51, 13.13, 142.76), "grades": (13.87, 11.78, 50.0)}
#: Tables 2 and 3: what another assessor says (columns), given what one says (rows); A>B, A~B, A<B.
TABLE_2 = np.array([[0.6749, 0.2766, 0.0485], [0.1138, 0.8198, 0.0664], [0.1047, 0.3779, 0.5174]])
TABLE_3 = np.array([[0.6272, 0.2913, 0.0815], [0.2825, 0.5232, 0.1944], [0.1534, 0.3826, 0.4640]])
#: Agreement of all pairs and of those without ties.
PAIRS, GRADES = (0.745, 0.897), (0.547, 0.831)
#: χ² between the two tools: of all pairs, and without ties.
CHI_SQUARES = (420.7, 28.5)
#: All pairs of 50 documents of 50 queries.
EVERY_PAIR = 50 * 50 * 49 // 2


def shares(table: Floats, overall: float, untied: float) -> Floats:
    """How often the first assessor says A>B, A~B and A<B: what gives a table both of its printed agreements.

    >>> shares(TABLE_2, *PAIRS).round(2).tolist()
    [0.22, 0.64, 0.14]
    """
    kept = [table[0, 0] - untied * (table[0, 0] + table[0, 2]), 0.0, table[2, 2] - untied * (table[2, 2] + table[2, 0])]
    return np.asarray(np.linalg.solve(np.array([np.ones(3), np.diag(table), kept]), [1.0, overall, 0.0]))


def untied_share(table: Floats, share: Floats) -> float:
    """Of all pairs those on which both have a preference."""
    return float(share[0] * (table[0, 0] + table[0, 2]) + share[2] * (table[2, 0] + table[2, 2]))


class Counts(NamedTuple):
    """How many pairs two assessors must have judged for the printed χ² to come out, and the χ² without ties then."""

    pairs: float
    inferred: float
    untied: float


def counts(inferred: float, overall: tuple[float, float] = (PAIRS[0], GRADES[0])) -> Counts:
    """From the number of inferred pairs and the printed χ² of all pairs."""
    one, two = overall

    def less(pairs: float) -> float:
        return _chi(pairs, one, inferred, two) - CHI_SQUARES[0]

    pairs = float(brentq(less, 10.0, 1e7))
    kept = [untied_share(t, shares(t, *p)) for t, p in ((TABLE_2, PAIRS), (TABLE_3, GRADES))]
    return Counts(pairs, inferred, _chi(pairs * kept[0], PAIRS[1], inferred * kept[1], GRADES[1]))


def fitting() -> Counts:
    """The numbers of pairs with which both printed χ² come out."""
    return counts(float(brentq(lambda n: counts(n).untied - CHI_SQUARES[1], 3000.0, EVERY_PAIR)))


def _chi(n: float, share: float, m: float, other: float) -> float:
    return chi_square((n * share, n * (1 - share)), (m * other, m * (1 - other)))[0]
