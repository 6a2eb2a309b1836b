r"""Lambdas: what trees are fitted to, round after round, so that a measure rises.

A pair of documents of one query counts by what their swap, as they are ranked now, does to nDCG_f; a document on its
own by what showing it does to nDCG_f. A query's normaliser is one factor of both,

.. math:: w = \frac{1}{I_{k,f} - W_{k,f}}

which is 0 if nothing can be gained. It is what sets nDCG_f apart from DCG: a forbidden document is worth −10 against
2 of a good one, yet if there is one document, showing a forbidden one costs just what hiding a good one costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import LINEAR
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import InputError
from ranksift.learning.batches import some_at_a_time
from ranksift.learning.sorted_lists import ListOrder
from ranksift.measures.cumulative import DCG, discounted, nDCG, nDCG_f
from ranksift.measures.measure import flat, ratio
from ranksift.measures.names import MeasureLike

#: Pairs are taken of which one document, at least, is among this many first ones, as LightGBM does.
DEPTH = 30

# Cells that are worked on at once: few enough to stay near the processor.
_TOGETHER = 1 << 16

# Pairs that are kept, of some 50 bytes each.
_KEPT = 1 << 23

# Pairs of validation queries that a loss is computed of, and how many of a query at least.
_DRAWN, _OF_A_QUERY = 1 << 19, 10

# Measures whose changes by swaps and by a stop are written down here.
_OF_SWAPS = (nDCG_f, nDCG, DCG)

Halves = NDArray[np.float32]


class Target(NamedTuple):
    """What is made as high as possible: DCG@k, normalised as nDCG_f is, or as it is; k None: of the whole list."""

    k: int | None
    normalised: bool


def target_of(measure: MeasureLike, otherwise: str = "") -> Target:
    """What a measure asks of a method that ranks and filters; nDCG is taken as nDCG_f, and others are refused.

    Parameters
    ----------
    measure
        nDCG_f, nDCG or DCG, with a k or without. Gains are the ranker's.
    otherwise
        What else can be done, for the error.

    Examples
    --------
    >>> target_of("nDCG@3"), target_of("DCG")
    (Target(k=3, normalised=True), Target(k=None, normalised=False))
    >>> target_of("AP")
    Traceback (most recent call last):
    ranksift.errors.InputError: measure=AP cannot be used for ranking and cutting; use nDCG_f@10 or DCG@10
    >>> target_of("nDCG_f(base=2)@3")
    Traceback (most recent call last):
    ranksift.errors.InputError: measure=nDCG_f(base=2)@3 has a discount of its own; write the measure without base
    """
    found = one_measure(measure)
    if not isinstance(found, _OF_SWAPS):
        raise InputError(
            f"measure={found} cannot be used for ranking and cutting", remedy=f"use nDCG_f@10 or DCG@10{otherwise}"
        )
    if found.gains is not None:
        raise InputError(f"measure={found} has gains of its own", remedy="give them to the ranker, as its gains")
    if found.base is not None:
        raise InputError(f"measure={found} has a discount of its own", remedy="write the measure without base")
    return Target(found.k, not isinstance(found, DCG))


def has_target(measure: MeasureLike) -> bool:
    """Whether a measure is of a kind that :func:`target_of` takes."""
    return isinstance(one_measure(measure), _OF_SWAPS)


class Lambdas(NamedTuple):
    """For each document: the gradient of the loss, and its curvature."""

    gradient: Floats
    curvature: Floats


class Swaps:
    r"""The loss of LambdaRank with nDCG_f's weights, and its derivatives.

    .. math:: L = \sum_{g_u > g_v} w\,(g_u - g_v) \left| \frac{1}{D(r_u)} - \frac{1}{D(r_v)} \right|
        \log\big(1 + e^{-(s_u - s_v)}\big), \quad D(r) = \log_2(1 + r)

    Weights, including their dependence on the ranks r, are constants in the derivatives. Everything is computed in 32
    bits, which is what trees use.

    Ranks are those of the scores. On training documents these are too good: what should be learned next is what is
    wrong in lists of other queries. With ``draws``, the weights are means over rankings that are drawn again for each
    call, according to the confidence of the scores: the first document of a ranking with a probability proportional to
    :math:`e^s`, the next one of those that are left, and so on (Plackett and Luce). YetiRank (Gulin, Kuralenok, Pavlov:
    Winning the transfer learning track of Yahoo!'s learning to rank challenge, 2011) draws rankings too.

    Parameters
    ----------
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    gain
        Of each document.
    k
        The k of the normaliser; None: the whole list. Ranks below k still count here: the documents there may rise.
    depth
        See :data:`DEPTH`.
    normalised
        False: changes of DCG, w = 1.
    draws
        The number of rankings that are drawn; 0: ranks are those of the scores.
    seed
        The seed of the drawn rankings.

    Examples
    --------
    >>> swaps = Swaps(np.array([0, 2]), np.array([1.0, -1.0]))
    >>> swaps(np.array([0.0, 0.0])).gradient.round(3).tolist()  # 2 (1 - 0.6309) / 2 · ½
    [-0.185, 0.185]
    """

    def __init__(
        self,
        offsets: Ints,
        gain: Floats,
        k: int | None = None,
        depth: int = DEPTH,
        *,
        normalised: bool = True,
        draws: int = 0,
        seed: int = 0,
    ) -> None:
        self.slope = slope_of(offsets, gain, k) if normalised else np.ones(len(offsets) - 1)
        self._depth, self._draws, self._draw = depth, draws, np.random.default_rng(seed)
        self._order = ListOrder(offsets)
        lengths = np.diff(offsets)
        place = ragged.positions(lengths)
        self._first = place < depth
        self._discount = _discounts(int(lengths.max(initial=0))).astype(np.float32)[place]
        lower = _Lower(offsets, gain)
        # What a swap is about, in 32 bits: above the lowest gain of the list, so that 24 bits are kept of how far apart
        # gains are, and not of how large.
        self._gain = ((gain - lower.lowest) * np.repeat(self.slope, lengths)).astype(np.float32)
        # Of two ways to the same sums the shorter one: pairs of different gains one by one, if there are at most
        # half as many of them as there are of one of the first documents with any; as many as memory should hold.
        pairs = np.where(self.slope > 0, lower.pairs, 0)
        few = 2 * pairs <= np.minimum(lengths, depth) * lengths
        few &= np.cumsum(np.where(few, pairs, 0)) <= _KEPT
        self._pairs = _EachPair(lower, few & (pairs > 0), self._gain, some_are_long=bool((lengths > depth).any()))
        self._lists = list(
            some_at_a_time(offsets, np.flatnonzero(~few), lambda size: min(depth, size) * size, _TOGETHER)
        )

    def __call__(self, scores: Floats) -> Lambdas:
        """Gradient and curvature at some scores."""
        # e to the power of a large difference gives the right 0; what is drawn as 0 comes first.
        with np.errstate(over="ignore", divide="ignore"):
            near = scores.astype(np.float32)
            by = near[None]
            if self._draws:  # by scores with Gumbel's noise
                by = near - np.log(self._draw.standard_exponential((self._draws, len(near)), dtype=np.float32))
            orders = self._order.falling(by)
            shown, first = np.empty_like(by), np.empty(by.shape, dtype=bool)
            for i, order in enumerate(orders):
                shown[i, order], first[i, order] = self._discount, self._first
            found = self._pairs(near, shown, first)
            for order, worth in zip(orders, shown, strict=True):
                for lists in self._lists:
                    place = order[lists.places]
                    own = self._of_lists(near[place], self._gain[place], worth[place], lists.mask)
                    found[:, place[lists.mask]] += own[:, lists.mask] / np.float32(len(orders))
        return Lambdas(*found.astype(np.float64))

    def _of_lists(self, s: Halves, g: Halves, shown: Halves, mask: NDArray[np.bool_]) -> Halves:
        """Sums over pairs of one of the first documents (rows) with any (columns)."""
        first = min(self._depth, s.shape[1])
        better = g[:, :first, None] - g[:, None, :]
        pull = s[:, :first, None] - s[:, None, :]
        pull *= np.sign(better)
        np.exp(pull, out=pull)
        pull += 1.0
        np.reciprocal(pull, out=pull)  # 1 / (1 + exp(how far the better one is ahead))
        change = shown[:, :first, None] - shown[:, None, :]
        np.abs(change, out=change)
        change *= better
        change *= mask[:, None, :]
        out = np.empty((2, *s.shape), dtype=np.float32)
        change *= pull
        out[0, :, :first] = -change.sum(axis=2)
        out[0, :, first:] = change[:, :, first:].sum(axis=1)
        np.abs(change, out=change)
        np.subtract(1.0, pull, out=pull)
        change *= pull
        out[1, :, :first] = change.sum(axis=2)
        out[1, :, first:] = change[:, :, first:].sum(axis=1)
        return out


class PairLoss:
    r"""How well scores tell the better one of two documents, of validation queries: the loss that stops LambdaMART.

    .. math:: \frac{1}{|Q|} \sum_{q \in Q} \frac{\sum_{g_u > g_v} (g_u - g_v) \log\big(1 + e^{-(s_u - s_v)}\big)}
        {\sum_{g_u > g_v} (g_u - g_v)}

    over the queries with several gains. No rank is in it, so that it changes smoothly from tree to tree, where nDCG
    jumps with every swap near the top. Of many or long lists, pairs are drawn: a part of them tells
    what all would.

    Examples
    --------
    >>> loss = PairLoss(np.array([0, 2]), np.array([1.0, 0.0]))
    >>> round(loss(np.array([0.0, 0.0])), 3), round(loss(np.array([1.0, 0.0])), 3)  # ln 2, ln(1 + 1/e)
    (0.693, 0.313)
    """

    def __init__(self, offsets: Ints, gain: Floats) -> None:
        lower = _Lower(offsets, gain)
        some = lower.pairs > 0
        drawn = lower.better_worse(some, max(_DRAWN // max(int(some.sum()), 1), _OF_A_QUERY))
        self._better, self._worse = drawn.better, drawn.worse
        ahead = drawn.stands_for * (gain[drawn.better] - gain[drawn.worse])
        query = lower.query[drawn.better]
        self._weight = ahead / ragged.sums(ahead, query, len(some))[query] / max(int(some.sum()), 1)

    def __call__(self, scores: Floats) -> float:
        """The loss of some scores."""
        behind = scores[self._worse] - scores[self._better]
        # log(1 + exp(behind)), several times as fast as logaddexp
        return float(self._weight @ (np.maximum(behind, 0.0) + np.log1p(np.exp(-np.abs(behind)))))


def _discounts(size: int) -> Floats:
    return discounted(np.ones(size), np.arange(1, size + 1))


def worth_of_showing(offsets: Ints, gain: Floats, k: int | None = None, *, normalised: bool = True) -> Floats:
    """What showing each document at rank 1 adds to nDCG_f@k: g / (I − W); or to DCG, if not normalised.

    Examples
    --------
    Alone, a good document wins the query and a forbidden one loses it, whatever the gains:

    >>> worth_of_showing(np.array([0, 1, 2]), np.array([2.0, -10.0])).tolist()
    [1.0, -1.0]
    """
    return gain * np.repeat(slope_of(offsets, gain, k), np.diff(offsets)) if normalised else gain


def slope_of(offsets: Ints, gain: Floats, k: int | None = None) -> Floats:
    """For each query, what a DCG of 1 adds to nDCG_f@k: 1 / (I − W), 0 if both are equal."""
    lower, upper = nDCG_f(k=k).bounds(Pool.of(offsets, gain), LINEAR)
    return ratio(np.ones(len(lower)), upper - lower, flat(lower, upper))


class _Drawn(NamedTuple):
    """Pairs of documents, and how many pairs each of them stands for."""

    better: Ints
    worse: Ints
    stands_for: Floats


class _Lower:
    """For each document, those of its query with a lower gain.

    Attributes
    ----------
    query
        Of each document.
    lowest
        For each document the lowest gain of its query.
    pairs
        For each query, how many pairs have different gains.
    """

    def __init__(self, offsets: Ints, gain: Floats) -> None:
        lengths = np.diff(offsets)
        self.query = np.repeat(np.arange(len(lengths)), lengths)
        # With the documents of a query by rising gain, those that are lower are the ones before the first of equals.
        self._order = np.lexsort((gain, self.query))
        self._start = offsets[self.query]
        rising = gain[self._order]
        place = np.arange(len(gain))
        new = place == self._start
        new[1:] |= rising[1:] > rising[:-1]
        self._count = np.maximum.accumulate(np.where(new, place, 0)) - self._start
        self.lowest = rising[self._start]
        self.pairs = ragged.sums(self._count, self.query, len(lengths)).astype(np.int64)

    def better_worse(self, of: NDArray[np.bool_], most: int | None = None) -> _Drawn:
        """The pairs of some queries; with ``most``, about as many of each query, drawn, always the same ones."""
        count = np.where(of[self.query], self._count, 0)
        taken = count
        if most is not None:
            share = np.minimum(1.0, most / np.maximum(self.pairs, 1))
            taken = np.ceil(count * share[self.query]).astype(np.int64)
        better = np.repeat(np.arange(len(count)), taken)
        before = ragged.positions(taken)
        drawn = np.flatnonzero((taken < count)[better])
        before[drawn] = np.random.default_rng(0).integers(count[better[drawn]])
        worse = self._start[better] + before
        return _Drawn(self._order[better], self._order[worse], (count / np.maximum(taken, 1))[better])


class _EachPair:
    """Pairs of different gains, one by one."""

    def __init__(self, lower: _Lower, of: NDArray[np.bool_], gain: Halves, *, some_are_long: bool) -> None:
        from scipy.sparse import csr_array

        self._better, self._worse, _ = lower.better_worse(of)
        self._ahead = gain[self._better] - gain[self._worse]
        self._some_are_long = some_are_long
        count = len(self._better)
        side = np.repeat(np.array([-1.0, 1.0], dtype=np.float32), count)
        ends = (np.concatenate((self._better, self._worse)), np.tile(np.arange(count), 2))
        # Documents × pairs: the gradient falls at the better one, and rises at the other.
        self._sides = csr_array((side, tuple(end.astype(np.int32) for end in ends)), shape=(len(gain), count))
        self._ends = csr_array((np.abs(side), self._sides.indices, self._sides.indptr), shape=self._sides.shape)

    def __call__(self, s: Halves, shown: Halves, first: NDArray[np.bool_]) -> Halves:
        """At some scores, where ranks of several rankings (rows) are worth something, and are among the first."""
        pull = s[self._better]
        pull -= s[self._worse]
        np.exp(pull, out=pull)
        pull += 1.0
        np.reciprocal(pull, out=pull)
        change = np.zeros_like(pull)
        for worth, is_first in zip(shown, first, strict=True):
            own = worth[self._better]
            own -= worth[self._worse]
            np.abs(own, out=own)
            if self._some_are_long:
                own *= is_first[self._better] | is_first[self._worse]
            change += own
        change *= self._ahead
        change /= np.float32(len(shown))
        change *= pull
        np.subtract(1.0, pull, out=pull)
        pull *= change
        return np.stack([self._sides @ change, self._ends @ pull])
