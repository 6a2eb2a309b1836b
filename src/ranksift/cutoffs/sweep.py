r"""A measure at every cut, exactly.

As the cut falls, documents enter the lists one after another, the highest score first. A query's value changes only
when one of its own enters. So the changes of all queries, sorted by score, add up to the measure at every cut: one
sort, one running sum, and no grid.

Where the cut is made on the ranking's own score, the r-th document of a list adds :math:`g\,/\,\log_2(r + 1)` to its
DCG, if r ≤ k. Where it is made on another score, a document enters in the middle and pushes others down; then the top k
of every list is kept up to date. Any other measure is taken of every list each time one of its documents has entered.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import nil_ids, ready_measures
from ranksift.measures.cumulative import discounted
from ranksift.measures.filtering import Empty, Fdocs, Hidden
from ranksift.measures.measure import Measure, PerQuery
from ranksift.measures.names import MeasureLike
from ranksift.parameters import read_by

#: Values this near are equal: of cuts with equal values the lowest is the best.
SAME = 1e-12

# Documents of partial lists that are judged at once.
_BLOCK = 1 << 21

# A list longer than this is gone through on its own.
_LONG = 1 << 12


def one_measure(measure: MeasureLike) -> Measure:
    """The measure that a rule is fitted to."""
    found = ready_measures(measure)
    if len(found) != 1:
        raise InputError(f"{measure!s} is {len(found)} measures", remedy="name one")
    if nil_ids(found):
        what = f"{found[0]} looks for a NIL document, which scores and labels do not have"
        raise InputError(what, remedy="leave nil out")
    return found[0]


#: What a rule can be fitted to.
MEASURE = read_by(one_measure, "a measure such as 'nDCG_f@3'")


@dataclass(frozen=True, eq=False)
class Sweep:
    """A measure of all lists as the cut falls.

    Attributes
    ----------
    lists, measure
        What is cut, and what is measured.
    order
        Documents in the order in which they enter: by score, highest first.
    score, query
        The scores and queries of the documents in that order.
    start
        Every query's numerator and denominator before anything has entered: 2 × queries.
    change
        What each document changes as it enters: 2 × documents, in the order of ``order``.
    """

    lists: Lists
    measure: Measure
    order: Ints
    score: Floats
    query: Ints
    start: Floats
    change: Floats

    @classmethod
    def of(cls, lists: Lists, measure: Measure) -> Sweep:
        """Let all documents enter."""
        start, change = changes(lists, measure)
        order = lists.falling
        return cls(lists, measure, order, lists.score[order], lists.query[order], start, change[:, order])

    @cached_property
    def last(self) -> Ints:
        """The last document to enter at each distinct score."""
        return np.flatnonzero(np.append(self.score[1:] != self.score[:-1], [True] * (len(self.score) > 0)))

    @cached_property
    def thresholds(self) -> Floats:
        """Every cut: +∞ drops all, each distinct score keeps what has it and what is above it."""
        return np.concatenate(([np.inf], self.score[self.last]))

    def values(self, weights: Floats | None = None) -> Floats:
        """The measure at each of the thresholds; a query of weight 2 counts twice."""
        weight = np.ones(len(self.lists)) if weights is None else weights
        start = self.start @ weight
        moving = self.change if weights is None else self.change * weight[self.query]
        # Long doubles, so that a million small changes add up to the last digit.
        totals = np.cumsum(moving, axis=1, dtype=np.longdouble)[:, self.last]
        top, bottom = (np.concatenate(([start[i]], start[i] + totals[i])) for i in (0, 1))
        if self.measure.aggregation == "mean":
            return np.asarray(top / weight.sum(), dtype=np.float64)
        if self.measure.aggregation == "sum":
            return np.asarray(top, dtype=np.float64)
        return self.measure.values(np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64))

    def best(self, values: Floats) -> int:
        """The best of the thresholds; of equals the lowest, which drops least."""
        return lowest_best(values if self.measure.higher_is_better else -values)

    def threshold(self, best: int) -> float:
        """A threshold by its number; the lowest is −∞: nothing is dropped, of no list."""
        return -np.inf if best == len(self.thresholds) - 1 else float(self.thresholds[best])

    def parts(self, threshold: float) -> tuple[Floats, Floats]:
        """Every query's numerator and denominator at a threshold."""
        entered = self.score >= threshold
        query = self.query[entered]
        top, bottom = (
            start + np.bincount(query, weights=change[entered], minlength=len(start))
            for start, change in zip(self.start, self.change, strict=True)
        )
        return top, bottom

    def per_query(self, threshold: float) -> Floats:
        """Every query's own value at a threshold."""
        return self.measure.values(*self.parts(threshold))

    def of_queries(self, chosen: Ints) -> Sweep:
        """The same sweep over some of the queries."""
        number = np.full(len(self.lists), -1)
        number[chosen] = np.arange(len(chosen))
        rows, _ = ragged.take(self.lists.offsets, chosen)
        place = np.empty(len(self.lists.score), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        own = number[self.query] >= 0
        return Sweep(
            self.lists.of_queries(chosen),
            self.measure,
            place[self.order[own]],
            self.score[own],
            number[self.query[own]],
            self.start[:, chosen],
            self.change[:, own],
        )

    def condensed(self, beside: Iterable[Sweep] = ()) -> Sweep:
        """The same values at fewer thresholds: each stands for all that have its value, and is the lowest of them.

        Documents that change nothing are left out: most of them, where only the top k counts. ``beside`` are sweeps of
        the same lists, in which they must change nothing either: condensed beside each other, sweeps have the same
        thresholds.
        """
        group = np.repeat(np.arange(len(self.last)), np.diff(self.last, prepend=-1))
        moves = (self.change != 0).any(axis=0)
        for other in beside:
            moves |= (other.change != 0).any(axis=0)
        moves[:1] = True  # what is above the first of them has the value of +∞
        moving = np.zeros(len(self.last), dtype=bool)
        moving[group[moves]] = True
        lowest = np.zeros(len(self.last), dtype=np.int64)
        lowest[moving] = np.append(np.flatnonzero(moving)[1:], len(moving)) - 1
        score = self.score[self.last][lowest[group[moves]]]
        return Sweep(
            self.lists, self.measure, self.order[moves], score, self.query[moves], self.start, self.change[:, moves]
        )

    def oracle(self) -> tuple[Floats, Floats]:
        """The best threshold of each query on its own, and its value there; of equals the lowest."""
        order = np.argsort(self.query, kind="stable")  # query after query, highest score first
        query, score, change = self.query[order], self.score[order], self.change[:, order]
        offsets = self.lists.offsets
        top, bottom = (
            start[query] + ragged.accumulate(np.add, part, offsets)
            for start, part in zip(self.start, change, strict=True)
        )
        sign = 1.0 if self.measure.higher_is_better else -1.0
        worth = sign * self.measure.values(top, bottom)
        inside = np.zeros(len(score), dtype=bool)
        inside[:-1] = (score[1:] == score[:-1]) & (query[1:] == query[:-1])
        worth[inside] = -np.inf  # some of the documents with this score have not entered yet
        nothing = sign * self.measure.values(*self.start)
        best = nothing.copy()
        np.maximum.at(best, query, worth)
        threshold = np.full(len(self.lists), np.inf)
        good = worth >= best[query] - SAME
        threshold[query[good]] = score[good]  # the last one counts: the lowest
        whole = self.lists.offsets[1:] - 1
        full = self.lists.lengths > 0
        keeps_all = np.zeros(len(self.lists), dtype=bool)
        keeps_all[full] = good[whole[full]]
        threshold[keeps_all | ~full] = -np.inf
        return threshold, sign * best


def changes(lists: Lists, measure: Measure) -> tuple[Floats, Floats]:
    """Every query's numerator and denominator before anything has entered, and what each document changes in them."""
    if type(measure).aggregate is not Measure.aggregate or type(measure).values is not Measure.values:
        raise InputError(
            f"{measure} is neither a mean of the queries' own values nor a ratio of sums", remedy="use another measure"
        )
    entry = entry_order(lists)
    line = measure.line(lists.pool, measure.gains or lists.gains)
    if line is not None:
        start, change = _cumulative(lists, measure, entry, *line)
    elif isinstance(measure, Fdocs) and measure.average == "micro":
        start, change = _forbidden_shown(lists, measure, entry)
    elif isinstance(measure, Hidden):
        start, change = _good_missing(lists, measure, entry)
    elif isinstance(measure, Empty):
        start, change = _left_empty(lists)
    else:
        start, change = _any_measure(lists, measure, entry)
    if not lists.cuts_from_the_end:  # changes are in the order of entry, query after query
        place = np.empty(len(entry), dtype=np.int64)
        place[entry] = np.arange(len(entry))
        change = change[:, place]
    return start, change


@dataclass(frozen=True)
class Swept:
    """Lists of which nothing is known but how some measures change: all that a threshold is chosen by."""

    sweeps: Mapping[Measure, Sweep]


def sweep_of(lists: Lists | Swept, measure: Measure) -> Sweep:
    """The sweep of a measure over lists, or the one that was made before."""
    return lists.sweeps[measure] if isinstance(lists, Swept) else Sweep.of(lists, measure)


def lowest_best(worth: Floats) -> int:
    """Where the highest worth is, of thresholds from the highest down; of equals the last, which drops least."""
    return int(np.flatnonzero(worth >= worth.max() - SAME)[-1])


def entry_order(lists: Lists) -> Ints:
    """Documents query after query, in the order in which they enter their list."""
    if lists.cuts_from_the_end:
        return np.arange(len(lists.score))
    return lists.falling[ragged.order_by(lists.query[lists.falling], len(lists))]


# -- DCG and its normalisations ------------------------------------------------------------------------------------


def _cumulative(lists: Lists, measure: Measure, entry: Ints, nothing: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """What documents change in DCG@k between its bounds."""
    gain = np.where(lists.judged, measure.gain(lists.label, lists.gains), 0.0)
    k = int(min(measure.k or np.inf, lists.lengths.max(initial=0)))
    if lists.cuts_from_the_end:
        shown = lists.rank <= k
        change = np.zeros(len(gain))
        change[shown] = discounted(gain[shown], lists.rank[shown], measure.base)
    else:
        change = entering(lists, gain, entry, discounted(np.ones(k), np.arange(1, k + 1), measure.base))
    start = np.stack([nothing, np.ones(len(lists))])
    return start, np.stack([change * scale[lists.query[entry]], np.zeros(len(change))])


def entering(lists: Lists, gain: Floats, entry: Ints, discount: Floats) -> Floats:
    """What each document changes in its list's discounted gain when it enters at its place, in the order of entry.

    ``discount`` has an entry for each of the ranks that count: the top k. Of each list the ranks and gains of its top k
    are kept. All lists take in their next document at once; a document that does not reach the top k changes nothing,
    and in long lists is not looked at.
    """
    k = len(discount)
    place = np.arange(len(gain)) - lists.offsets[:-1][lists.query]  # in the full list: what is before stays before
    change = np.zeros(len(gain))
    reaching = np.ones(len(gain), dtype=bool)
    for long in np.flatnonzero(lists.lengths > _LONG).tolist():
        its = slice(int(lists.offsets[long]), int(lists.offsets[long + 1]))
        reaching[its] = _reaching(place[entry[its]], k)
    at = np.flatnonzero(reaching)
    query = lists.query[entry[at]]
    # Step by step: the first document that reaches the top k in every list, then the second, …
    turn = ragged.positions(np.bincount(query, minlength=len(lists)))
    by_turn = np.argsort(turn, kind="stable")
    bounds = ragged.offsets_of(np.bincount(turn)) if len(turn) else np.zeros(1, dtype=np.int64)
    fall = np.append(np.diff(discount), -discount[k - 1])  # what a gain at rank i loses when it is pushed down
    places = np.full((len(lists), k + 1), np.iinfo(np.int64).max)
    gains = np.zeros((len(lists), k + 1))
    columns = np.arange(k)
    for i in range(len(bounds) - 1):
        some = at[by_turn[bounds[i] : bounds[i + 1]]]
        documents = entry[some]
        q, own, worth = lists.query[documents], place[documents], gain[documents]
        before = places[q, :k] < own[:, None]
        rank = before.sum(axis=1)
        inside = rank < k
        if not inside.all():
            q, own, worth, rank, before, some = (part[inside] for part in (q, own, worth, rank, before, some))
        pushed = gains[q, :k]
        change[some] = worth * discount[rank] + (np.where(before, 0.0, pushed) * fall).sum(axis=1)
        after = ~before & (columns != rank[:, None])
        source = np.where(after, columns - 1, columns)
        for table, new in ((places, own), (gains, worth)):
            moved = np.take_along_axis(table[q, :k], source, axis=1)
            moved[np.arange(len(q)), rank] = new
            table[q, :k] = moved
    return change


def _reaching(place: Ints, k: int) -> NDArray[np.bool_]:
    """Which documents of one list, as they enter, stand in its top k then."""
    reaching = np.zeros(len(place), dtype=bool)
    heap: list[int] = []  # the top k, the deepest of them first
    for i, own in enumerate(place.tolist()):
        if len(heap) < k:
            heapq.heappush(heap, -own)
            reaching[i] = True
        elif own < -heap[0]:
            heapq.heapreplace(heap, -own)
            reaching[i] = True
    return reaching


# -- what filtering did ---------------------------------------------------------------------------------------------


def _forbidden_shown(lists: Lists, measure: Fdocs, entry: Ints) -> tuple[Floats, Floats]:
    """What documents change in the numbers of forbidden ones and of all in the top k."""
    gains = measure.gains or lists.gains
    forbidden = (lists.judged & (gains(lists.label) < 0)).astype(np.float64)
    k = int(min(measure.k or np.inf, lists.lengths.max(initial=0)))
    among = ragged.positions(lists.lengths) < k  # of those that have entered their list
    top = forbidden * among if lists.cuts_from_the_end else entering(lists, forbidden, entry, np.ones(k))
    return np.zeros((2, len(lists))), np.stack([top, among.astype(np.float64)])


def _good_missing(lists: Lists, measure: Hidden, entry: Ints) -> tuple[Floats, Floats]:
    """What documents change in the number of good ones that are not in the list."""
    nothing = np.zeros(len(lists.score), dtype=bool)
    found = measure.per_query(lists.judged_by(nothing))
    good = lists.judged & measure.is_good((measure.gains or lists.gains)(lists.label))
    change = np.stack([-good[entry].astype(np.float64), np.zeros(len(entry))])
    return np.stack([found.numerator, found.numerator]), change


def _left_empty(lists: Lists) -> tuple[Floats, Floats]:
    """What documents change in the number of empty lists: the first to enter a list, one."""
    change = np.zeros((2, len(lists.score)))
    change[0, lists.offsets[:-1][lists.lengths > 0]] = -1.0
    return np.ones((2, len(lists))), change


# -- any other measure ---------------------------------------------------------------------------------------------


def _any_measure(lists: Lists, measure: Measure, entry: Ints) -> tuple[Floats, Floats]:
    """What documents change in a measure, from its values of every list with its first 0, 1, 2, … documents entered."""
    start = np.empty((2, len(lists)))
    change = np.empty((2, len(entry)))
    for first, last in _blocks(lists.lengths):
        part = lists.of_queries(np.arange(first, last))
        own = entry[lists.offsets[first] : lists.offsets[last]] - lists.offsets[first]
        for owner, count, states in _states(part, own):
            top, bottom = measure.per_query(states)
            if measure.aggregation == "mean":
                top, bottom = PerQuery(measure.values(top, bottom))
            values = np.stack([top, bottom])
            begins = count == 0
            start[:, first + owner[begins]] = values[:, begins]
            where = lists.offsets[first + owner[~begins]] + count[~begins] - 1
            change[:, where] = values[:, ~begins]
    inner = np.ones(len(entry), dtype=bool)
    inner[lists.offsets[:-1][lists.lengths > 0]] = False
    firsts = np.flatnonzero(~inner)
    values = change.copy()
    change[:, 1:] -= values[:, :-1]
    change[:, firsts] = values[:, firsts] - start[:, lists.query[entry[firsts]]]
    return start, change


def _blocks(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Stretches of queries whose partial lists hold about so many documents together."""
    cost = np.cumsum((lengths + 1) * (lengths + 2) // 2)
    first = 0
    while first < len(lengths):
        used = cost[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(cost, used + _BLOCK, side="right")))
        yield first, last
        first = last


def _states(lists: Lists, entry: Ints) -> Iterator[tuple[Ints, Ints, JudgedRun]]:
    """Every list with its first 0, 1, … n documents entered: its query, how many entered, and what measures see."""
    owner = np.repeat(np.arange(len(lists)), lists.lengths + 1)
    count = ragged.positions(lists.lengths + 1)
    # A list too long for one block comes in several.
    pieces = np.flatnonzero(np.diff(np.cumsum(count) // _BLOCK, prepend=-1))
    for begin, end in zip(pieces, np.append(pieces[1:], len(owner)), strict=True):
        whose, many = owner[begin:end], count[begin:end]
        state = np.repeat(np.arange(len(whose)), many)
        entered = ragged.positions(many)
        rows = entry[lists.offsets[whose[state]] + entered]
        if not lists.cuts_from_the_end:
            rows = rows[np.lexsort((rows, state))]
        rank = entered + 1
        seen = lists.judged[rows]
        pool = lists.pool.take(whose)
        shown = JudgedRun(
            pool, state[seen], rank[seen], lists.label[rows[seen]], rows[seen], many.astype(np.int64), lists.gains
        )
        yield whose, many, shown
