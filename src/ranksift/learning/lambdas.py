r"""Lambdas: what trees are fitted to, round after round, so that a measure rises.

A pair of documents of one query counts by what their swap, as they are ranked now, does to nDCG_f; a document on its
own by what it does to nDCG_f to be shown. A query's normaliser is one factor of both,

.. math:: w = \frac{1}{I_{k,f} - W_{k,f}}

which is 0 where nothing can be gained. It is what sets nDCG_f apart from DCG: a forbidden document is worth −10 against
2 of a good one, yet where there is one document, showing a forbidden one costs just what hiding a good one costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.errors import InputError
from ranksift.collection.gains import LINEAR
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.learning.batches import batch_of
from ranksift.learning.list_order import ListOrder
from ranksift.measures.cumulative import discounted, nDCG_f

#: Pairs are taken of which one document, at least, is among this many first ones, as LightGBM does.
DEPTH = 30

#: What a document meets when it crosses the cut: no other document, or the list as it is ranked now.
Stop = Literal["alone", "list"]

# Cells that are worked on at once: few enough to stay near the processor.
_TOGETHER = 1 << 16

# Pairs of validation queries that a loss is computed of, and the fewest of a query.
_PAIRS, _OF_A_QUERY = 1 << 22, 1000

Halves = NDArray[np.float32]


class Lambdas(NamedTuple):
    """Of each document: the gradient of the loss, and its curvature."""

    gradient: Floats
    curvature: Floats


class _Lists(NamedTuple):
    """Lists of about the same length as rows; ``mask`` is true where there is a document."""

    places: Ints
    mask: NDArray[np.bool_]
    weight: Halves  # the query's normaliser; 0 where there is no document


class Swaps:
    r"""The loss of LambdaRank with nDCG_f's weights, and its derivatives.

    .. math:: L = \sum_{g_u > g_v} w\,(g_u - g_v) \left| \frac{1}{D(r_u)} - \frac{1}{D(r_v)} \right|
        \log\big(1 + e^{-(s_u - s_v)}\big), \quad D(r) = \log_2(1 + r)

    Weights, also as they depend on the ranks r, are constants of the derivatives. All of it is computed in 32 bits,
    which is what trees take.

    Parameters
    ----------
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    gain
        Of each document.
    k
        Of the normaliser; None: the whole list. Ranks below k count here all the same: what stands there now may rise.
    depth
        See :data:`DEPTH`.
    normalised
        False: changes of DCG, w = 1.

    Examples
    --------
    >>> swaps = Swaps(np.array([0, 2]), np.array([1.0, -1.0]))
    >>> swaps(np.array([0.0, 0.0])).gradient.round(3).tolist()  # 2 (1 - 0.6309) / 2 · ½
    [-0.185, 0.185]
    """

    def __init__(
        self, offsets: Ints, gain: Floats, k: int | None = None, depth: int = DEPTH, *, normalised: bool = True
    ) -> None:
        self.slope = slope_of(offsets, gain, k) if normalised else np.ones(len(offsets) - 1)
        self._gain, self._depth = gain.astype(np.float32), depth
        self._order = ListOrder(offsets)
        lengths = np.diff(offsets)
        place = ragged.positions(lengths)
        self._first = place < depth
        self._discount = _discounts(int(lengths.max(initial=0))).astype(np.float32)[place]
        # Of two ways to the same sums the shorter one: pairs of different gains one by one, where there are at most
        # half as many of them as there are of one of the first documents with any.
        few = (lengths <= depth) | (2 * _above_lowest(offsets, gain)[1] <= depth)
        self._pairs = _EachPair(offsets, gain, np.where(few, self.slope, 0.0), lengths.max(initial=0) > depth)
        self._lists = list(_in_lists(offsets, np.where(few, 0.0, self.slope), depth))

    def __call__(self, scores: Floats, cut: float = -np.inf) -> Lambdas:
        """Gradient and curvature at some scores; what lies below the cut is not shown, so that its rank is worth 0."""
        near = scores.astype(np.float32)
        order = self._order.falling(near[None])[0]
        shown, first = np.empty_like(near), np.empty(len(near), dtype=bool)
        shown[order], first[order] = self._discount, self._first
        shown *= near >= cut
        with np.errstate(over="ignore"):  # of e to the power of a large difference, which gives the right 0
            found = self._pairs(near, shown, first)
            for lists in self._lists:
                place = order[lists.places]
                own = self._of_lists(near[place], self._gain[place], shown[place], lists.weight)
                found[:, place[lists.mask]] = own[:, lists.mask]
        return Lambdas(*found.astype(np.float64))

    def _of_lists(self, s: Halves, g: Halves, shown: Halves, weight: Halves) -> Halves:
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
        change *= weight[:, None, :]
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


class Stops:
    r"""The loss of a document that stands on the wrong side of the cut at score 0, and its derivatives.

    .. math:: L = \sum_d |\Delta_d| \log\big(1 + e^{-\operatorname{sign}(\Delta_d)\, s_d}\big)

    where Δ is the change of nDCG_f when the document is shown. Its optimum at some features is the logarithm of what is
    gained by showing such documents, over what is lost; it is 0 where showing and hiding come to the same.

    Parameters
    ----------
    stop
        ``"alone"``: Δ as in an empty list, :math:`w g_d`. ``"list"``: Δ in the list of documents with a score of at
        least 0 as it is ranked now, that is, with its discount, and with what it pushes down. Exact as this is, it
        misleads: on training documents, forbidden ones soon stand at the end of lists, where letting them in costs
        little.
    offsets, gain, k, normalised
        As for :class:`Swaps`.

    Examples
    --------
    >>> stops = Stops(np.array([0, 1, 2]), np.array([2.0, -10.0]))
    >>> stops(np.array([0.0, 0.0])).gradient.tolist()  # each may win or lose a whole query
    [-0.5, 0.5]
    """

    def __init__(
        self, offsets: Ints, gain: Floats, k: int | None = None, stop: Stop = "alone", *, normalised: bool = True
    ) -> None:
        if stop not in ("alone", "list"):
            raise InputError(f"stop={stop!r} is unknown", remedy="use 'alone' or 'list'")
        self._k, self._stop = k, stop
        self.slope = slope_of(offsets, gain, k) if normalised else np.ones(len(offsets) - 1)
        self.alone = gain * np.repeat(self.slope, np.diff(offsets))
        self._gain, self._order = gain, ListOrder(offsets)
        self._lists = [] if stop == "alone" else list(_in_lists(offsets, self.slope, 1))

    def __call__(self, scores: Floats) -> Lambdas:
        """Gradient and curvature at some scores."""
        change = self.changes(scores)
        with np.errstate(over="ignore"):
            wrong = 1.0 / (1.0 + np.exp(np.sign(change) * scores))
        return Lambdas(-change * wrong, np.abs(change) * wrong * (1.0 - wrong))

    def changes(self, scores: Floats) -> Floats:
        """What it does to nDCG_f@k to show each document."""
        if self._stop == "alone":
            return self.alone
        found = np.zeros(len(scores))
        order = self._order.falling(scores[None])[0]
        for lists in self._lists:
            place = order[lists.places]
            kept = (scores[place] >= 0) & lists.mask
            gain, size = self._gain[place], place.shape[1]
            worth = _discounts(size + 1)
            worth[self._k or size + 1 :] = 0.0
            # What follows a document moves up by one rank when it goes.
            follow = np.where(kept, gain * (np.append(0.0, worth[: size - 1]) - worth[:size]), 0.0)
            rest = np.cumsum(follow[:, ::-1], axis=1)[:, ::-1] - follow
            end = worth[kept.sum(axis=1)][:, None]
            change = np.where(kept, gain * worth[:size] - rest, gain * end) * lists.weight
            found[place[lists.mask]] = change[lists.mask]
        return found


class Pairs:
    r"""How well scores tell the better one of two documents, of validation queries: the loss that stops LambdaMART.

    .. math:: \frac{1}{|Q|} \sum_{q \in Q} \frac{\sum_{g_u > g_v} (g_u - g_v) \log\big(1 + e^{-(s_u - s_v)}\big)}
        {\sum_{g_u > g_v} (g_u - g_v)}

    over the queries with several gains. No rank is in it, so that it changes smoothly from tree to tree, where nDCG
    jumps with every swap near the top. Of many or long lists, pairs are drawn: some thousand tell what all would.

    Examples
    --------
    >>> pairs = Pairs(np.array([0, 2]), np.array([1.0, 0.0]))
    >>> round(pairs(np.array([0.0, 0.0])), 3), round(pairs(np.array([1.0, 0.0])), 3)  # ln 2, ln(1 + 1/e)
    (0.693, 0.313)
    """

    def __init__(self, offsets: Ints, gain: Floats) -> None:
        count = len(offsets) - 1
        most = max(_PAIRS // max(count, 1), _OF_A_QUERY)
        self._better, self._worse = better_worse(offsets, gain, np.ones(count, dtype=bool), most)
        query = np.repeat(np.arange(count), np.diff(offsets))[self._better]
        ahead = gain[self._better] - gain[self._worse]
        whole = ragged.sums(ahead, query, count)
        self._weight = ahead / whole[query] / max(int(np.count_nonzero(whole)), 1)

    def __call__(self, scores: Floats) -> float:
        """The loss of some scores."""
        return float(self._weight @ np.logaddexp(0.0, scores[self._worse] - scores[self._better]))


def _discounts(size: int) -> Floats:
    return discounted(np.ones(size), np.arange(1, size + 1))


def slope_of(offsets: Ints, gain: Floats, k: int | None = None) -> Floats:
    """Of each query what a DCG of 1 adds to nDCG_f@k: 1 / (I − W), 0 where both are equal."""
    return nDCG_f(k=k).line(Pool.of(offsets, gain), LINEAR)[1]


def _in_lists(offsets: Ints, slope: Floats, first: int) -> Iterator[_Lists]:
    """Queries in which something can be gained, a few at a time."""
    lengths = np.diff(offsets)
    chosen = np.flatnonzero((slope > 0) & (lengths > 0))
    batch = batch_of(offsets, chosen)
    number = np.repeat(chosen, lengths[chosen])  # the query of each of the batch's rows
    for group in batch.groups:
        size = group.mask.shape[1]
        step = max(1, _TOGETHER // (min(first, size) * size))
        for i in range(0, len(group.mask), step):
            inside, mask = group.places[i : i + step], group.mask[i : i + step]
            weight = np.where(mask, slope[number[inside]], 0.0).astype(np.float32)
            yield _Lists(batch.rows[inside], mask, weight)


class _EachPair:
    """Pairs of different gains, one by one."""

    def __init__(self, offsets: Ints, gain: Floats, slope: Floats, some_are_long: bool) -> None:
        from scipy.sparse import csr_array

        self._better, self._worse = better_worse(offsets, gain, slope > 0)
        query = np.repeat(np.arange(len(slope)), np.diff(offsets))[self._better]
        self._weight = ((gain[self._better] - gain[self._worse]) * slope[query]).astype(np.float32)
        self._some_are_long = some_are_long
        count = len(self._better)
        side = np.repeat(np.array([-1.0, 1.0], dtype=np.float32), count)
        ends = (np.concatenate((self._better, self._worse)), np.tile(np.arange(count), 2))
        # Documents × pairs: the gradient falls at the better one, and rises at the other.
        self._slope = csr_array((side, ends), shape=(len(gain), count))
        self._size = abs(self._slope)

    def __call__(self, s: Halves, shown: Halves, first: NDArray[np.bool_]) -> Halves:
        pull = s[self._better]
        pull -= s[self._worse]
        np.exp(pull, out=pull)
        pull += 1.0
        np.reciprocal(pull, out=pull)
        change = shown[self._better]
        change -= shown[self._worse]
        np.abs(change, out=change)
        change *= self._weight
        if self._some_are_long:
            change *= first[self._better] | first[self._worse]
        change *= pull
        np.subtract(1.0, pull, out=pull)
        pull *= change
        return np.stack([self._slope @ change, self._size @ pull])


def better_worse(offsets: Ints, gain: Floats, of: NDArray[np.bool_], most: int | None = None) -> tuple[Ints, Ints]:
    """Pairs of documents of one query, for some queries, of which the first has the higher gain.

    With ``most``, of a query with more of them each better document is paired with others that are drawn, always the
    same ones.

    >>> [places.tolist() for places in better_worse(np.array([0, 3]), np.array([0.0, 2.0, 1.0]), np.array([True]))]
    [[1, 1, 2], [0, 2, 0]]
    """
    lengths = np.diff(offsets)
    query = np.repeat(np.arange(len(lengths)), lengths)
    above, count = _above_lowest(offsets, gain)
    others = lengths if most is None else np.minimum(lengths, -(-most // np.maximum(count, 1)))
    start = np.flatnonzero(above & of[query])
    better = start.repeat(others[query[start]])
    own = query[better]
    other = ragged.positions(others[query[start]])
    drawn = np.flatnonzero((others < lengths)[own])
    other[drawn] = np.random.default_rng(0).integers(lengths[own[drawn]])
    worse = offsets[own] + other
    right = gain[better] > gain[worse]
    return better[right], worse[right]


def _above_lowest(offsets: Ints, gain: Floats) -> tuple[NDArray[np.bool_], Ints]:
    """Which documents have a higher gain than another one of their query, and how many of each query."""
    lengths = np.diff(offsets)
    filled = lengths > 0
    lowest = np.zeros(len(lengths))
    if filled.any():
        lowest[filled] = np.minimum.reduceat(gain, offsets[:-1][filled])
    query = np.repeat(np.arange(len(lengths)), lengths)
    above = gain > lowest[query]
    return above, ragged.counts(above, query, len(lengths))
