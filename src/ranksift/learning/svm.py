"""Support vector machines for ranking: convex losses of orders, minimised by cutting planes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.objective import stopping_value
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.sorted_lists import ListOrder
from ranksift.learning.topk import BETAS, OF_THE_TOP, SHARE, TOP, Focus
from ranksift.learning.weighted_sum import WeightedSum
from ranksift.parameters import choice, either, number, parameter, several

Mask = NDArray[np.bool_]

# Weights of the two terms of an objective that is computed in 53 bits.
_MOST_C = 1e9
_A_C = number(least=1 / _MOST_C, most=_MOST_C)

# Pairs that are looked at at once, and that are kept ready, of some 60 bytes each.
_TOGETHER, _KEPT = 1 << 21, 1 << 23


class Violation(NamedTuple):
    """What is most wrong with scores: a plane below the risk, ``coefficients @ scores + loss``, that touches it."""

    coefficients: Floats
    loss: float

    def value(self, scores: Floats) -> float:
        """The risk of the scores that it is of."""
        return float(self.coefficients @ scores + self.loss)


#: A convex risk of scores: what is most wrong with them.
Risk = Callable[[Floats], Violation]


@dataclass(eq=False)
class MaxMargin(WeightedSum, abstract=True):
    """The base class of :class:`RankSVM`, :class:`SVMMAP` and :class:`FocusedSVM`: min ½ ‖w‖² + C R(w), R convex.

    R is the maximum of many planes. Those that matter are found one by one, each where the ones before are minimal
    (Joachims, Finley, Yu: Cutting-plane training of structural SVMs, 2009), until no w can be better by more than
    ``tolerance``. The planes do not depend on C, so more values of it cost little more.

    Attributes
    ----------
    C_
        The C that was used.
    optimum_
        The value of the objective, a bound below which nothing lies, and the number of planes (after fitting only).
    """

    C: float | Sequence[float] = parameter(
        1.0,
        either(_A_C, several(_A_C, "a list of such numbers", least=1)),
        """The larger, the more an error costs. If several values are given, the one that is best on validation
        examples is used.""",
    )
    tolerance: float = parameter(
        1e-3, number(above=0, below=1), "The relative distance from the optimum at which it may stop."
    )

    def _risk(self, examples: Examples) -> Risk:
        raise NotImplementedError

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        choices = self._choices()
        risk = self._risk(examples)
        held_out = None if validation is None else stopping_value(validation, self.measure, self.gains)
        planes, best = CuttingPlanes(examples.features), -np.inf
        for C in choices:
            optimum = planes.minimum(risk, C, self.tolerance)
            value = 0.0
            if len(choices) > 1 and validation is not None and held_out is not None:
                value = held_out(validation.features @ optimum.weights)
            if value > best:
                best, self.weights_, self.C_, self.optimum_ = value, optimum.weights, C, optimum

    def check_alone(self) -> None:
        """Refuse several values of C: nothing tells which is best."""
        choices = len(self._choices())
        if choices > 1:
            raise InputError(f"{choices} values of C, and no validation examples", remedy="give some, or a single C")

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """C, over five powers of ten."""
        return {"C": (1e-2, 1e3, "log")}

    def _choices(self) -> list[float]:
        return sorted(map(float, self.C if isinstance(self.C, Sequence | np.ndarray) else [self.C]))

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {"weights": self.weights_, "C": np.array([self.C_])}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.weights_, self.C_ = state["weights"], float(state["C"][0])


@dataclass(eq=False)
class RankSVM(MaxMargin):
    r"""RankSVM: the better document of a pair should score higher by a margin of 1.

    .. math:: \min_w \tfrac12 \|w\|^2 + \frac{C}{|Q|} \sum_q \frac{1}{|P_q|} \sum_{(u, v) \in P_q}
        \max(0, 1 - w^\top x_u + w^\top x_v)

    P_q are the pairs of a query with different gains. Every query has the same weight, however many pairs it has (Cao
    et al.: Adapting ranking SVM to document retrieval, 2006). Pairs are not listed: with few different gains, a single
    sort shows which of them are too close (Joachims: Training linear SVMs in linear time, 2006). The method is of
    Joachims: Optimizing search engines using clickthrough data, 2002.

    Examples
    --------
    >>> from ranksift.collection.examples import Examples
    >>> examples = Examples.from_arrays([[0.0], [1.0]], [0, 1], ["q", "q"])
    >>> RankSVM(C=100, scaling="none").fit(examples).weights_.round(6).tolist()
    [1.0]
    """

    def _risk(self, examples: Examples) -> Risk:
        return PairwiseHinge(Contests.of_all_pairs(Gains.of(self.gains)(examples.labels), examples.query))


@dataclass(eq=False)
class SVMMAP(MaxMargin):
    r"""SVM-MAP: an order of low average precision should score much less than the right one.

    .. math:: \min_w \tfrac12 \|w\|^2 + \frac{C}{|Q|} \sum_q
        \max_z \big(1 - AP(z) + w^\top \Psi(z) - w^\top \Psi(z^*)\big), \quad
        \Psi(z) = \frac{1}{|R||N|} \sum_{u \in R, v \in N} \pm (x_u - x_v)

    R are the documents of positive gain and N the others; the sign is + if z has u before v. The maximum over all
    orders is exact: documents of each kind stand by score, and each document of N has its own best place among R. Yue,
    Finley, Radlinski, Joachims: A support vector method for optimizing average precision, 2007.

    Examples
    --------
    >>> from ranksift.collection.examples import Examples
    >>> examples = Examples.from_arrays([[0.0], [1.0]], [0, 1], ["q", "q"])
    >>> SVMMAP(C=100, scaling="none").fit(examples).weights_.round(6).tolist()  # 1 - AP = ½ for a margin of 2 w
    [0.25]
    """

    def _risk(self, examples: Examples) -> Risk:
        worth = Gains.of(self.gains)(examples.labels) > 0
        return AveragePrecision(Contests.between([(worth, ~worth)], examples.query))


@dataclass(eq=False)
class FocusedSVM(MaxMargin):
    r"""FocusedSVM: SVM-MAP for the order of the top k, RankSVM between them and the rest (Niu et al. 2012).

    .. math:: \min_w \tfrac12 \|w\|^2
        + \frac{C}{|Q|} \sum_q \big(\beta L_{list}(T_q) + (1 - \beta) L_{pair}(T_q, F_q)\big)

    T are the top k documents of a query with position labels y from k down to 1, and F the others. L_pair is the mean
    of :math:`\max(0, 1 - y_u (w^\top x_u - w^\top x_v))` over u in T and v in F.

    The paper's L_list is that of SVM-MAP inside T. All documents of T are relevant, so AP is 1 whatever the order. Here
    it is the mean over j = 1, …, k - 1 of that loss with the first j documents of T as relevant and the rest of T as
    not relevant: the order of T counts, and most of all its top. ``listwise="top"`` takes all of T as relevant and F as
    not relevant, like SVM-MAP. Both losses are means, so β means the same for short and long lists.

    Examples
    --------
    >>> from ranksift.collection.examples import Examples
    >>> x = [[0.9, 0.2], [0.8, 0.9], [0.1, 0.5], [0.0, 0.4]]
    >>> examples = Examples.from_arrays(x, [2, 1, 0, 0], ["q"] * 4)
    >>> FocusedSVM(k=2).fit(examples).score(examples).argsort()[::-1].tolist()
    [0, 1, 2, 3]
    """

    k: int = parameter(10, TOP, OF_THE_TOP)
    beta: float = parameter(0.5, SHARE, "β: 1 uses only the listwise loss, 0 only the pairs.")
    listwise: Literal["order", "top"] = parameter(
        "order", choice("order", "top"), "The listwise loss: of the order of T, or of T before F."
    )

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """C and β."""
        return {**super().natural_space(stopped), "beta": BETAS}

    def _risk(self, examples: Examples) -> Risk:
        focus = Focus.on(examples, self.k, self.beta, self.gains, self.seed)
        y, top = focus.truth, focus.top
        against_the_rest = Contests.between([(top, ~top)], examples.query)
        order = Contests.between([(y > j, top & (y <= j)) for j in np.unique(y[top])[:-1]], examples.query)
        pairwise = PairwiseHinge(against_the_rest, slopes=y)
        listwise = AveragePrecision(order if self.listwise == "order" else against_the_rest)

        def both(scores: Floats) -> Violation:
            of_list, of_pairs = listwise(scores), pairwise(scores)
            return Violation(
                self.beta * of_list.coefficients + (1 - self.beta) * of_pairs.coefficients,
                self.beta * of_list.loss + (1 - self.beta) * of_pairs.loss,
            )

        return both


# -- risks ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Contests:
    """Lists of documents of one query, some of which should stand before the others.

    Attributes
    ----------
    documents, better
        List after list: the documents, and whether each is one of the better ones.
    offsets
        Where lists begin.
    query
        Of each list.
    """

    documents: Ints
    better: Mask
    offsets: Ints
    query: Ints

    @classmethod
    def between(cls, sides: Sequence[tuple[Mask, Mask]], query: Ints) -> Contests:
        """For every query and every pair of masks (better, worse) a list, if there are documents of both.

        >>> better = np.array([True, False, False])
        >>> Contests.between([(better, ~better)], np.array([0, 0, 1])).documents.tolist()
        [0, 1]
        """
        documents, betters, owners, lengths = [], [], [], []
        count = int(query.max(initial=-1)) + 1
        for better, worse in sides:
            both = (np.bincount(query[better], minlength=count) > 0) & (np.bincount(query[worse], minlength=count) > 0)
            chosen = np.flatnonzero((better | worse) & both[query])
            documents.append(chosen)
            betters.append(better[chosen])
            owners.append(np.flatnonzero(both))
            lengths.append(np.bincount(query[chosen], minlength=count)[both])
        if not documents:
            nothing = np.zeros(0, dtype=np.int64)
            return cls(nothing, nothing.astype(bool), np.zeros(1, dtype=np.int64), nothing)
        return cls(
            np.concatenate(documents),
            np.concatenate(betters),
            ragged.offsets_of(np.concatenate(lengths)),
            np.concatenate(owners),
        )

    @classmethod
    def of_all_pairs(cls, gains: Floats, query: Ints) -> Contests:
        """All pairs of a query with different gains: each gain's documents against all better ones."""
        order = np.lexsort((gains, query))
        new_query, new_gain = (np.diff(values[order], prepend=np.nan) != 0 for values in (query, gains))
        distinct = np.cumsum(new_query | new_gain)
        level = np.empty(len(gains), dtype=np.int64)
        level[order] = distinct - np.maximum.accumulate(np.where(new_query, distinct, 0))
        return cls.between([(level > j, level == j) for j in range(int(level.max(initial=0)))], query)

    def __len__(self) -> int:
        return len(self.query)

    def of_lists(self, start: int, stop: int) -> Contests:
        """Those from one list up to another."""
        first, last = self.offsets[start], self.offsets[stop]
        offsets = self.offsets[start : stop + 1] - first
        return Contests(self.documents[first:last], self.better[first:last], offsets, self.query[start:stop])

    @property
    def own_list(self) -> Ints:
        """The list of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def shares(self, of_each: Floats) -> Floats:
        """The weight of one unit of each list, where the units of every query together weigh the same, and all 1."""
        totals = np.bincount(self.query, of_each)
        return np.asarray(1.0 / (totals[self.query] * max(1, int((totals > 0).sum()))))


class PairwiseHinge:
    """The mean of max(0, 1 - slope (s_u - s_v)) over pairs (u better than v) of each query, and then over queries.

    Parameters
    ----------
    contests
        Whose pairs they are.
    slopes
        The slope of each document as the better one; 1 by default.

    Examples
    --------
    >>> hinge = PairwiseHinge(Contests.of_all_pairs(np.array([1.0, 0.0, 0.0]), np.array([0, 0, 0])))
    >>> scores = np.array([1.0, 0.5, -1.0])
    >>> hinge(scores).value(scores)  # (0.5 + 0) / 2
    0.25
    """

    def __init__(self, contests: Contests, slopes: Floats | None = None) -> None:
        self._documents, self._better = contests.documents, contests.better
        self._slope = np.where(self._better, 1.0 if slopes is None else slopes[self._documents], 0.0)
        self._margin = np.divide(1.0, self._slope, out=np.zeros(len(self._slope)), where=self._better)
        self._order = ListOrder(contests.offsets)
        self._list, self._starts = contests.own_list, contests.offsets[:-1]
        better = np.bincount(self._list, self._better, minlength=len(contests))
        pairs = better * (np.diff(contests.offsets) - better)
        self._share = contests.shares(pairs)[self._list]
        self._slopes = np.bincount(self._list, self._slope, minlength=len(contests))

    def __call__(self, scores: Floats) -> Violation:
        """Which pairs are too near, all together."""
        keys = scores[self._documents] - self._margin
        order = self._order.falling(keys[None])[0]
        better, slope = self._better[order], self._slope[order]
        # v costs something under u where s_v > s_u - 1/slope: where v comes first in this order.
        worse_before = self._running(~better)
        slope_after = self._slopes[self._list] - self._running(slope)
        too_near = np.where(better, worse_before, 0.0) * self._share
        pull = np.where(better, -slope * too_near, slope_after * self._share)
        coefficients = ragged.sums(pull, self._documents[order], len(scores))
        return Violation(coefficients, float(too_near.sum()))

    def _running(self, values: NDArray[np.generic]) -> Floats:
        """Sum of each list down to an entry; slopes are whole numbers, so that one running sum is exact."""
        total = np.cumsum(values, dtype=np.float64)
        before = np.concatenate(([0.0], total))[self._starts]
        return np.asarray(total - before[self._list])


class AveragePrecision:
    r"""The mean over lists of the most that 1 - AP(z) + s(z) - s(z*) can be for an order z.

    .. math:: s(z) = \frac{1}{|R||N|} \sum_{u \in R, v \in N} \pm (s_u - s_v)

    Let u_1, …, u_r be the better documents R of a list by falling score, and v_1, …, v_m the others. The worst order
    has the same two orders in it (Yue et al., 2007). Putting v_j before u_i too adds (i/(i + j - 1) - i/(i + j)) / r
    to the loss and -2 (s(u_i) - s(v_j)) / (r m) to the score, whatever the other v do. Each v_j goes where its sum
    over u_i, …, u_r is largest.

    That looks at all pairs of R and N. What is made ready for a call is kept for so many of them as memory should hold,
    and of the other lists it is made again, some of them at a time.
    """

    def __init__(self, contests: Contests) -> None:
        better = np.bincount(contests.own_list, contests.better, minlength=len(contests)).astype(np.int64)
        pairs = np.cumsum(better * (np.diff(contests.offsets) - better))
        new = np.flatnonzero(np.diff((pairs - 1) // _TOGETHER)) + 1
        self._contests, self._weight = contests, contests.shares(np.ones(len(contests)))
        self._parts = [part for part in np.split(np.arange(len(contests)), new) if len(part)]
        self._kept = [self._orders(part) for part in self._parts if pairs[part[-1]] <= _KEPT]

    def _orders(self, part: Ints) -> _Orders:
        return _Orders(self._contests.of_lists(part[0], part[-1] + 1), self._weight[part])

    def __call__(self, scores: Floats) -> Violation:
        """The order that is most wrong, list by list."""
        coefficients, loss = np.zeros(len(scores)), 0.0
        for n, part in enumerate(self._parts):
            worst = (self._kept[n] if n < len(self._kept) else self._orders(part))(scores)
            coefficients += worst.coefficients
            loss += worst.loss
        return Violation(coefficients, loss)


class _Orders:
    """All orders of some lists, which weigh something each."""

    def __init__(self, contests: Contests, weight: Floats) -> None:
        better, worse = np.flatnonzero(contests.better), np.flatnonzero(~contests.better)
        self._relevant, self._others = contests.documents[better], contests.documents[worse]
        r, m = (np.bincount(contests.own_list[side], minlength=len(contests)) for side in (better, worse))
        self._of_relevant, self._of_others = ListOrder(ragged.offsets_of(r)), ListOrder(ragged.offsets_of(m))
        self._list, self._list_of_relevant = contests.own_list[worse], contests.own_list[better]
        self._nth = ragged.positions(r) + 1
        self._r, self._weight = r, weight
        # All (v_j, u_i), for each v_j from the lowest u_i up.
        each = r[self._list]
        self._offsets = ragged.offsets_of(each)
        self._upwards = ListOrder(self._offsets)
        self._v = np.repeat(np.arange(len(worse)), each)
        up = ragged.positions(each)
        i = np.repeat(each, each) - up
        j = (ragged.positions(m) + 1)[self._v]
        self._u = ragged.offsets_of(r)[self._list][self._v] + i - 1
        self._price = (i / (i + j - 1) - i / (i + j)) / np.repeat(each, each)
        self._unit = 2.0 / (r * m)

    def __call__(self, scores: Floats) -> Violation:
        relevant = self._relevant[self._of_relevant.falling(scores[None, self._relevant])[0]]
        others = self._others[self._of_others.falling(scores[None, self._others])[0]]
        unit = self._unit[self._list]
        ahead = scores[relevant][self._u] - scores[others][self._v]
        gained = self._upwards.running(self._price - unit[self._v] * ahead)
        passed = self._best_lengths(gained)
        # passed: how many relevant documents v_j stands before; above: how many others stand before u_i.
        above = self._others_above(passed)
        average = ragged.sums(self._nth / (self._nth + above), self._list_of_relevant, len(self._r)) / self._r
        pull = self._weight[self._list] * unit * passed
        push = -self._weight[self._list_of_relevant] * self._unit[self._list_of_relevant] * above
        coefficients = ragged.sums(pull, others, len(scores)) + ragged.sums(push, relevant, len(scores))
        return Violation(coefficients, float(self._weight @ (1.0 - average)))

    def _best_lengths(self, gained: Floats) -> Ints:
        """How many terms of each running sum to take for the most; none where all sums are negative."""
        if not len(gained):
            return np.zeros(len(self._offsets) - 1, dtype=np.int64)
        highest = np.maximum.reduceat(gained, self._offsets[:-1])
        at = np.flatnonzero(gained == highest[self._v])
        first = at[np.searchsorted(at, self._offsets[:-1])]
        return np.where(highest > 0, first - self._offsets[:-1] + 1, 0)

    def _others_above(self, passed: Ints) -> Ints:
        """For each relevant document, by falling score, how many others stand before it."""
        starts = ragged.offsets_of(self._r)
        # v_j stands before the last `passed` relevant ones: one more from the first of these on.
        first = starts[self._list] + self._r[self._list] - passed
        new = np.bincount(first[passed > 0], minlength=int(starts[-1]))
        total = np.cumsum(new)
        before = np.concatenate(([0], total))[starts[:-1]]
        return np.asarray(total - before[self._list_of_relevant])


# -- the solver ---------------------------------------------------------------------------------------------------


class Optimum(NamedTuple):
    """The minimum of ½ ‖w‖² + C R(w).

    Attributes
    ----------
    weights
        w.
    value
        The value of the objective there.
    bound
        Nothing is lower.
    planes
        How many it took.
    """

    weights: Floats
    value: float
    bound: float
    planes: int


class CuttingPlanes:
    """A convex risk, known by planes below it: R(w) >= slope · w + offset, and R >= 0.

    Examples
    --------
    >>> hinge = PairwiseHinge(Contests.of_all_pairs(np.array([1.0, 0.0]), np.array([0, 0])))
    >>> optimum = CuttingPlanes(np.array([[1.0], [0.0]])).minimum(hinge, C=10)
    >>> optimum.weights.round(6).tolist(), round(optimum.value, 6), optimum.planes
    ([1.0], 0.5, 2)
    """

    #: More planes than it ever took; with that many, a solution is not near.
    most = 3000
    #: A plane that has not mattered for so many rounds is forgotten.
    idle = 50

    def __init__(self, features: NDArray[np.float64]) -> None:
        self._features = features
        self._slopes = np.zeros((1, features.shape[1]))
        self._offsets = np.zeros(1)
        self._products = np.zeros((1, 1))
        self._alphas = np.ones(1)
        self._unused = np.zeros(1, dtype=np.int64)

    def minimum(self, risk: Risk, C: float, tolerance: float = 1e-3) -> Optimum:
        """The w with the lowest ½ ‖w‖² + C R(w), up to a share of that."""
        best = Optimum(np.zeros(self._features.shape[1]), np.inf, 0.0, 0)
        for planes in range(1, self.most + 1):
            weights, bound = self._lowest(C)
            scores = self._features @ weights
            found = risk(scores)
            value = 0.5 * float(weights @ weights) + C * found.value(scores)
            if value < best.value:
                best = best._replace(weights=weights, value=value)
            best = best._replace(bound=bound, planes=planes)
            if best.value - bound <= tolerance * best.value:
                return best
            self._add(found.coefficients @ self._features, found.loss)
        share = 1 - best.bound / best.value
        warnings.warn(
            f"C={C:g}: stopped after {self.most} planes, up to {share:.1%} above the minimum; use a smaller C, or a "
            "larger tolerance",
            RankSiftWarning,
            stacklevel=2,
        )
        return best

    def _add(self, slope: Floats, offset: float) -> None:
        kept = np.flatnonzero(self._unused <= self.idle)
        slopes = np.vstack((self._slopes[kept], slope))
        products = np.empty((len(slopes), len(slopes)))
        products[:-1, :-1] = self._products[np.ix_(kept, kept)]
        products[-1] = products[:, -1] = slopes @ slope
        self._slopes, self._products = slopes, products
        self._offsets = np.append(self._offsets[kept], offset)
        self._alphas = np.append(self._alphas[kept], 0.0)
        self._unused = np.append(self._unused[kept], 0)

    def _lowest(self, C: float) -> tuple[Floats, float]:
        """The w that is lowest over the planes, and the value there.

        In the dual, α >= 0 with sum C: w is minus the slopes weighted by α. Planes enter and leave one at a time (an
        active set), from the α of the round before.
        """
        alphas = self._alphas * (C / self._alphas.sum())
        used = alphas > 0
        for _ in range(100 + 2 * len(alphas)):
            chosen = np.flatnonzero(used)
            held = alphas[chosen]
            wanted, level = self._balanced(chosen, held, C)
            if (wanted < 0).any():
                room = np.divide(held, held - wanted, out=np.full(len(held), np.inf), where=wanted < 0)
                moved = held + room.min() * (wanted - held)
                moved[room <= room.min()] = 0.0
                alphas[chosen] = np.maximum(moved, 0.0)
                used = alphas > 0
                if room.min() <= 0:  # what came in goes out again: all that is left is rounding
                    break
                continue
            alphas[chosen] = wanted
            slack = self._products @ alphas - self._offsets + level
            slack[used] = 0.0
            if slack.min() < -1e-12 * max(1.0, abs(level)):
                used[slack.argmin()] = True
            elif np.abs(wanted - held).max() <= 1e-9 * C:
                break
        self._alphas = alphas
        self._unused = np.where(alphas > 0, 0, self._unused + 1)
        self._unused[0] = 0  # R >= 0 stays
        weights = -alphas @ self._slopes
        return weights, float(self._offsets @ alphas - 0.5 * weights @ weights)

    def _balanced(self, chosen: Ints, held: Floats, C: float) -> tuple[Floats, float]:
        """The α of the chosen planes at which all of them are equally high, and how high that is.

        Planes may depend on each other, and then α is not unique. It stays near what it was; that costs nothing, as
        it is exact where α no longer moves.
        """
        n = len(chosen)
        products = self._products[np.ix_(chosen, chosen)]
        scale = float(products.diagonal().max()) or 1.0
        near = 1e-14 * scale
        system = np.full((n + 1, n + 1), scale)  # the sum of α, in units of the products
        system[:n, :n] = products + near * np.eye(n)
        system[n, n] = 0.0
        solved = np.linalg.solve(system, np.append(self._offsets[chosen] + near * held, C * scale))
        return solved[:n], float(solved[n] * scale)
