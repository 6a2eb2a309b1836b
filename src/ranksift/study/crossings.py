r"""The penalties at which two systems swap.

A list's DCG is linear in the penalty x of forbidden documents. So are a measure's bounds, between the penalties at
which a swept label becomes worse than one that is not swept. A query's score is then a ratio of linear functions, and
two systems differ by

.. math:: D(x) = \frac{1}{n} \sum_q \frac{a_q + b_q x}{c_q + d_q x}

Every term's derivative is monotone, so that its values at the ends of an interval bound it inside, and their sums
bound the derivative of D. Intervals are halved until D has no zero there, or is monotone, or the interval is narrower
than the tolerance. No swap is missed, unless two systems swap and swap back within the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.measures.measure import TOLERANCE, flat

#: A difference of two mean scores this small is rounding.
NOISE = 1e-13

# Numbers that are worked on at once.
_BLOCK = 1 << 19


class Normaliser(NamedTuple):
    """What scores are divided by, c + d · penalty, and where it is 0 throughout."""

    c: Floats
    d: Floats
    dead: NDArray[np.bool_]

    def at(self, segment: int | Ints) -> Normaliser:
        """After these breaks."""
        return Normaliser(self.c[segment], self.d[segment], self.dead[segment])


@dataclass(frozen=True, eq=False)
class Curves:
    """Scores of systems as functions of the penalty.

    Attributes
    ----------
    fixed, slope
        A list's DCG is fixed − penalty · slope: runs × queries.
    breaks
        The penalties between which the bounds are linear: the ends of the sweep, and what is between them.
    lower, upper
        The measure's bounds at each break: breaks × queries.
    """

    fixed: Floats
    slope: Floats
    breaks: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(
        cls, fixed: Floats, slope: Floats, breaks: Floats, bounds: Callable[[float], tuple[Floats, Floats]]
    ) -> Curves:
        """Take the bounds at every break."""
        lower, upper = zip(*(bounds(x) for x in breaks.tolist()), strict=True)
        return cls(fixed, slope, breaks, np.stack(lower), np.stack(upper))

    @cached_property
    def _zero(self) -> NDArray[np.bool_]:
        """Where the normaliser is 0: breaks × queries."""
        return flat(self.lower, self.upper)

    @cached_property
    def _normaliser(self) -> Normaliser:
        """From each break to the next: breaks × queries."""
        width = self.upper - self.lower
        d = np.diff(width, axis=0) / np.diff(self.breaks)[:, None]
        return Normaliser(width[:-1] - d * self.breaks[:-1, None], d, self._zero[:-1] & self._zero[1:])

    def poles(self) -> Ints:
        """Queries whose normaliser passes 0 while what it divides does not: their scores are not finite there."""
        width = self.upper - self.lower
        passes = (width[:-1] * width[1:] < 0) & ~self._zero[:-1] & ~self._zero[1:]
        over_lower = np.abs(self.fixed[:, None] - self.breaks[:, None] * self.slope[:, None] - self.lower).max(axis=0)
        touches = self._zero & (over_lower > 1e-9 * (1.0 + np.abs(self.lower) + np.abs(self.upper)))
        # A normaliser that is 0 throughout leaves a score of 0.
        return np.flatnonzero((passes.any(axis=0) | touches.any(axis=0)) & ~self._zero.all(axis=0))

    def segment(self, penalty: Floats) -> Ints:
        """The break after which each penalty lies."""
        at = np.searchsorted(self.breaks, penalty, side="right") - 1
        return np.clip(at, 0, len(self.breaks) - 2).astype(np.int64)

    def scores(self, penalty: float) -> Floats:
        """The mean score of every run; a query whose normaliser is 0 there has its limit from the right."""
        s = int(self.segment(np.array([penalty]))[0])
        c, d, dead = self._normaliser.at(s)
        start, stop = self.breaks[s], self.breaks[s + 1]
        rise = (self.lower[s + 1] - self.lower[s]) / (stop - start)
        top = self.fixed - penalty * self.slope - self.lower[s] - rise * (penalty - start)
        return np.asarray(_ratios(top, -self.slope - rise, c + d * penalty, d, dead).mean(axis=1))

    def difference(self, one: Ints, two: Ints, penalty: Floats, segment: Ints) -> tuple[Floats, Floats]:
        """D of each pair of runs, and every query's share of its derivative (pairs × queries)."""
        c, d, dead = self._normaliser.at(segment)
        a, b, x = self.fixed[one] - self.fixed[two], self.slope[two] - self.slope[one], penalty[:, None]
        bottom = c + d * x
        vanishes = dead | (np.abs(bottom) <= TOLERANCE)
        # Where top and bottom vanish together their ratio is constant.
        rate = np.where(vanishes, 0.0, (b * c - a * d) / np.where(vanishes, 1.0, bottom) ** 2)
        return np.asarray(_ratios(a + b * x, b, bottom, d, dead).mean(axis=1)), rate


def _ratios(top: Floats, top_slope: Floats, bottom: Floats, bottom_slope: Floats, dead: NDArray[np.bool_]) -> Floats:
    """Top over bottom; where both are 0 the ratio of their slopes, and 0 if the bottom is 0 throughout."""
    vanishes = dead | (np.abs(bottom) <= TOLERANCE)
    steep = vanishes & ~dead & (bottom_slope != 0)
    limit = np.where(steep, top_slope / np.where(steep, bottom_slope, 1.0), 0.0)
    return np.where(vanishes, limit, top / np.where(vanishes, 1.0, bottom))


class Crossing(NamedTuple):
    """A penalty at which a run, by its number, overtakes another."""

    penalty: float
    overtaken: int
    overtaking: int


class Cells(NamedTuple):
    """Intervals of the penalty, each of one pair of runs and between two breaks."""

    one: Ints
    two: Ints
    segment: Ints
    low: Floats
    high: Floats

    def at(self, index: Any) -> Cells:
        """Some of them."""
        return Cells(*(column[index] for column in self))

    @classmethod
    def together(cls, parts: list[Cells]) -> Cells:
        """All intervals of all parts."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def halves(self) -> Cells:
        """Both halves of every interval."""
        middle = (self.low + self.high) / 2.0
        return Cells.together([self._replace(high=middle), self._replace(low=middle)])


def crossings(curves: Curves, tolerance: float) -> list[Crossing]:
    """All penalties inside the sweep at which two runs swap, smallest first, each to within ``tolerance``."""
    runs = len(curves.fixed)
    cells, signs = _settled(curves, tolerance)
    order = np.lexsort((cells.low, cells.two, cells.one))
    # From left to right through the ends of each pair's intervals: a swap lies between two of opposite sign.
    pair = np.repeat(cells.one[order] * runs + cells.two[order], 2)
    x, sign = np.stack([cells.low[order], cells.high[order]], axis=1).ravel(), signs[order].ravel()
    pair, x, sign = pair[sign != 0], x[sign != 0], sign[sign != 0]
    turn = np.flatnonzero((pair[1:] == pair[:-1]) & (sign[1:] != sign[:-1]))
    one, two, before = pair[turn] // runs, pair[turn] % runs, sign[turn]
    at = _bisected(curves, one, two, before, x[turn], x[turn + 1], tolerance)
    ahead, behind = np.where(before > 0, one, two), np.where(before > 0, two, one)
    order = np.lexsort((two, one, at))
    found = zip(at[order].tolist(), ahead[order].tolist(), behind[order].tolist(), strict=True)
    return [Crossing(*swap) for swap in found]


def _settled(curves: Curves, tolerance: float) -> tuple[Cells, Ints]:
    """Intervals in each of which D has one zero at most, and the signs of D at their ends."""
    one, two = np.triu_indices(len(curves.fixed), 1)
    stretches = len(curves.breaks) - 1
    segment = np.repeat(np.arange(stretches), len(one))
    ends = curves.breaks[segment], curves.breaks[segment + 1]
    left = Cells(np.tile(one, stretches), np.tile(two, stretches), segment, *ends)
    done: list[Cells] = []
    signs: list[Ints] = []
    while len(left.one):
        undone = []
        for some in _blocks(curves, len(left.one)):
            cells = left.at(some)
            settled, sign = _judged(curves, cells, tolerance)
            done.append(cells.at(settled))
            signs.append(sign[settled])
            undone.append(cells.at(~settled))
        left = Cells.together(undone).halves()
    return Cells.together(done), np.concatenate(signs)


def _judged(curves: Curves, cells: Cells, tolerance: float) -> tuple[NDArray[np.bool_], Ints]:
    """Which intervals need not be halved, and the signs of D at the ends of each, 0 if it is rounding."""
    one, two, segment, low, high = cells
    (left, left_rate), (right, right_rate) = (curves.difference(one, two, x, segment) for x in (low, high))
    middle, _ = curves.difference(one, two, (low + high) / 2.0, segment)
    slowest = np.minimum(left_rate, right_rate).mean(axis=1)
    fastest = np.maximum(left_rate, right_rate).mean(axis=1)
    reach = np.maximum(np.abs(slowest), np.abs(fastest)) * (high - low) / 2.0
    zero_free, all_zero = np.abs(middle) > reach + NOISE, np.abs(middle) + reach <= NOISE
    monotone = (slowest > 0) | (fastest < 0)
    ends = np.stack([left, right], axis=1)
    signs = np.where(np.abs(ends) <= NOISE, 0, np.sign(ends)).astype(np.int64)
    return zero_free | all_zero | monotone | (high - low <= tolerance), signs


def _bisected(
    curves: Curves, one: Ints, two: Ints, before: Ints, low: Floats, high: Floats, tolerance: float
) -> Floats:
    """The zero of D between two penalties, for each pair; ``before`` is its sign at the lower one."""
    while len(low) and float((high - low).max()) > tolerance:
        middle = (low + high) / 2.0
        value = np.empty(len(middle))
        for some in _blocks(curves, len(middle)):
            at = middle[some]
            value[some], _ = curves.difference(one[some], two[some], at, curves.segment(at))
        earlier = np.sign(value) == before
        low, high = np.where(earlier, middle, low), np.where(earlier, high, middle)
    return (low + high) / 2.0


def _blocks(curves: Curves, count: int) -> list[slice]:
    step = max(1, _BLOCK // max(1, curves.fixed.shape[1]))
    return [slice(start, start + step) for start in range(0, count, step)]
