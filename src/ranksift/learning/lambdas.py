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
from ranksift.measures.cumulative import discounted, nDCG_f

#: Pairs are taken of which one document, at least, is among this many first ones, as LightGBM does.
DEPTH = 30

#: What a document meets when it crosses the cut: no other document, or the list as it is ranked now.
Stop = Literal["alone", "list"]

# Cells that are worked on at once: few enough to stay near the processor.
_TOGETHER = 1 << 16

Halves = NDArray[np.float32]


class Lambdas(NamedTuple):
    """Of each document: the gradient of the loss, and its curvature."""

    gradient: Floats
    curvature: Floats


class _Lists(NamedTuple):
    """Lists of about the same length as rows; ``mask`` is true where there is a document."""

    places: Ints
    mask: NDArray[np.bool_]
    gain: Halves
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
        self._count, self._depth = len(gain), depth
        self.slope = slope_of(offsets, gain, k) if normalised else np.ones(len(offsets) - 1)
        self._lists = list(_in_lists(offsets, gain, self.slope, depth, several=True))

    def __call__(self, scores: Floats, cut: float = -np.inf) -> Lambdas:
        """Gradient and curvature at some scores; what lies below the cut is not shown, so that its rank is worth 0."""
        found = np.zeros((2, self._count), dtype=np.float32)
        near = scores.astype(np.float32)
        with np.errstate(over="ignore"):  # of e to the power of a large difference, which gives the right 0
            for lists in self._lists:
                place, s, g = _ranked(lists, near)
                shown = _discounts(s.shape[1]).astype(np.float32) * (s >= cut)
                found[:, place[lists.mask]] = self._of_lists(s, g, shown, lists.weight)[:, lists.mask]
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
        self._lists = [] if stop == "alone" else list(_in_lists(offsets, gain, self.slope, 1, several=False))

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
        for lists in self._lists:
            place, s, gain = _ranked(lists, scores)
            kept = (s >= 0) & lists.mask
            size = s.shape[1]
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
    jumps with every swap near the top.

    Examples
    --------
    >>> pairs = Pairs(np.array([0, 2]), np.array([1.0, 0.0]))
    >>> round(pairs(np.array([0.0, 0.0])), 3), round(pairs(np.array([1.0, 0.0])), 3)  # ln 2, ln(1 + 1/e)
    (0.693, 0.313)
    """

    def __init__(self, offsets: Ints, gain: Floats) -> None:
        better, worse, weight = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
        queries = 0
        for lists in _in_lists(offsets, gain, np.ones(len(offsets) - 1), len(gain), several=True):
            both = lists.mask[:, :, None] & lists.mask[:, None, :]
            ahead = np.where(both, np.maximum(lists.gain[:, :, None] - lists.gain[:, None, :], 0.0), 0.0)
            row, u, v = np.nonzero(ahead)
            better.append(lists.places[row, u])
            worse.append(lists.places[row, v])
            weight.append((ahead / ahead.sum(axis=(1, 2), keepdims=True))[row, u, v])
            queries += len(ahead)
        self._better, self._worse = np.concatenate(better), np.concatenate(worse)
        self._weight = np.concatenate(weight) / max(queries, 1)

    def __call__(self, scores: Floats) -> float:
        """The loss of some scores."""
        return float(self._weight @ np.logaddexp(0.0, scores[self._worse] - scores[self._better]))


def _discounts(size: int) -> Floats:
    return discounted(np.ones(size), np.arange(1, size + 1))


def slope_of(offsets: Ints, gain: Floats, k: int | None = None) -> Floats:
    """Of each query what a DCG of 1 adds to nDCG_f@k: 1 / (I − W), 0 where both are equal."""
    return nDCG_f(k=k).line(Pool.of(offsets, gain), LINEAR)[1]


def _in_lists(offsets: Ints, gain: Floats, slope: Floats, first: int, *, several: bool) -> Iterator[_Lists]:
    """Queries in which something can be gained (with ``several``, by another order), a few at a time."""
    lengths = np.diff(offsets)
    chosen = np.flatnonzero((slope > 0) & (lengths > 0))
    if several and len(chosen):
        rows, starts = ragged.take(offsets, chosen)
        own = gain[rows]
        chosen = chosen[np.maximum.reduceat(own, starts[:-1]) > np.minimum.reduceat(own, starts[:-1])]
    batch = batch_of(offsets, chosen)
    number = np.repeat(chosen, lengths[chosen])  # the query of each of the batch's rows
    for group in batch.groups:
        size = group.mask.shape[1]
        step = max(1, _TOGETHER // (min(first, size) * size))
        for i in range(0, len(group.mask), step):
            inside, mask = group.places[i : i + step], group.mask[i : i + step]
            places = batch.rows[inside]
            weight = np.where(mask, slope[number[inside]], 0.0).astype(np.float32)
            yield _Lists(places, mask, np.where(mask, gain[places], 0.0).astype(np.float32), weight)


def _ranked(lists: _Lists, scores: NDArray[np.floating]) -> tuple[Ints, NDArray[np.floating], Halves]:
    """Places, scores and gains in rank order; equal scores as they come, and what is no document last."""
    s = np.where(lists.mask, scores[lists.places], -np.inf).astype(scores.dtype)
    order = np.argsort(-s, axis=1, kind="stable")
    order += s.shape[1] * np.arange(len(s))[:, None]  # of all lists, one after another
    return lists.places.ravel()[order], np.where(lists.mask, s.ravel()[order], 0), lists.gain.ravel()[order]
