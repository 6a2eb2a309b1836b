"""Boosting for ranking: many weak rankers, each chosen for what the ones before it got wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.learning.objective import Objective, Rounds, with_several_gains
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.topk import BETAS, OF_THE_TOP, SHARE, TOP, Focus
from ranksift.learning.weighted_sum import WeightedSum
from ranksift.parameters import integer, parameter

#: A loss or an edge below this is rounding: nothing is left to learn.
LEAST = 1e-12


_ROUNDS = "The largest number of weak rankers."
_PATIENCE = """With validation examples: rounds without a new best before it stops. The rounds up to the best are
kept."""


@dataclass(eq=False)
class RankBoost(Ranker):
    r"""RankBoost: thresholds on features, weighted so that pairs in the wrong order become fewer.

    .. math:: f(d) = \sum_t \alpha_t [x_{k_t}(d) > \theta_t], \quad
        \min_f \sum_{q} \sum_{g(u) > g(v)} e^{f(v) - f(u)}

    Each round takes the feature and the threshold with the largest edge r, the share of the pairs' weight in the right
    order minus that in the wrong one, and gives it the weight ½ ln((1 + r) / (1 - r)). Pairs are all documents of one
    query with different gains. They are never listed, as their weights are products of one factor per document. A
    missing value is not above any threshold. Freund, Iyer, Schapire, Singer: An efficient boosting algorithm for
    combining preferences, 2003.

    Attributes
    ----------
    features_, thresholds_, alphas_
        For each round: the feature's number, the threshold and its weight, negative if low values are good.

    Examples
    --------
    The second feature orders both pairs, the first feature only one:

    >>> from ranksift.collection.examples import Examples
    >>> examples = Examples.from_arrays([[0, 1], [0, 0], [1, 1], [0, 0]], [1, 0, 1, 0], ["p", "p", "q", "q"])
    >>> model = RankBoost(rounds=1).fit(examples)
    >>> model.features_.tolist(), model.thresholds_.tolist()
    ([1], [0.0])
    """

    natural_scaling = "none"
    takes_missing = True

    rounds: int = parameter(300, integer(1), _ROUNDS)
    thresholds: int = parameter(
        30, integer(1), "The number of thresholds per feature, at its distinct values or their quantiles."
    )
    patience: int = parameter(50, integer(1), _PATIENCE)

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """Thresholds, and the number of rounds if there is no early stopping."""
        rounds = {} if stopped else {"rounds": (20, 1000, "log")}
        return {"thresholds": [10, 30, 100, 300], **rounds}

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        stumps = Stumps(examples.features, self.thresholds)
        pairs = Pairs(Gains.of(self.gains)(examples.labels), examples.query)
        rounds = Rounds.of(validation, self.measure, self.gains, self.patience)
        steps: list[Stump] = []
        scores = np.zeros(len(examples))
        while len(steps) < self.rounds:
            potential, loss = pairs.potential(scores)
            feature, threshold, edge = stumps.best(potential)
            if loss <= LEAST or abs(edge) <= LEAST:
                break
            step = Stump(feature, threshold, alpha_of(edge))
            steps.append(step)
            scores += step.of(examples.features)
            if rounds.are_over(step.of):
                break
        kept = steps[: rounds.best]
        self.features_ = np.array([step.feature for step in kept], dtype=np.int64)
        self.thresholds_ = np.array([step.threshold for step in kept], dtype=np.float64)
        self.alphas_ = np.array([step.alpha for step in kept], dtype=np.float64)

    def _score(self, features: NDArray[np.float64]) -> Floats:
        scores = np.zeros(len(features))
        for feature in ragged.distinct(self.features_):
            own = self.features_ == feature
            order = np.argsort(self.thresholds_[own], kind="stable")
            steps = np.concatenate(([0.0], np.cumsum(self.alphas_[own][order])))
            scores += steps[np.searchsorted(self.thresholds_[own][order], _at_least(features[:, feature]))]
        return scores

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {"features": self.features_, "thresholds": self.thresholds_, "alphas": self.alphas_}

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.features_, self.thresholds_, self.alphas_ = state["features"], state["thresholds"], state["alphas"]


class Stump(NamedTuple):
    """A round of RankBoost: what is added where a feature is above a threshold."""

    feature: int
    threshold: float
    alpha: float

    def of(self, features: NDArray[np.float64]) -> Floats:
        """What it adds to the scores of documents."""
        return np.asarray(self.alpha * (features[:, self.feature] > self.threshold))


class Pairs:
    """The pairs of documents of one query with different gains, and their weights e^{f(worse) - f(better)}.

    Documents of one query and gain form a level. The weight of a pair is a product of two factors, so sums over the
    levels below and above a document tell all its pairs together.

    Examples
    --------
    >>> pairs = Pairs(np.array([2.0, 1.0, 0.0]), np.array([0, 0, 0]))
    >>> pairs.count
    3
    >>> (pairs.potential(np.zeros(3))[0] * 3).tolist()
    [2.0, 0.0, -2.0]
    """

    def __init__(self, gains: Floats, query: Ints) -> None:
        worst_first = np.lexsort((gains, query))
        new_level = _first(query) | _first(gains[worst_first])  # the documents of a query stand together
        self._level = np.empty(len(query), dtype=np.int64)
        self._level[worst_first] = np.cumsum(new_level) - 1
        self._offsets = ragged.offsets_of(np.bincount(query[new_level]))
        self._starts = np.flatnonzero(_first(query))
        self._own = np.cumsum(_first(query)) - 1
        size = np.bincount(self._level).astype(np.float64)
        self.count = int((size * _before(size, self._offsets)).sum())

    def potential(self, scores: Floats) -> tuple[Floats, float]:
        """For each document the weight of its pairs as the better one, less that as the worse one; the mean weight.

        The mean is of weights as they are. The others are shares: all pairs together weigh 1.
        """
        if not self.count:
            return np.zeros(len(scores)), 0.0
        centred = scores - self._middle(scores)  # only differences inside a query count, and these stay in range
        up, down = np.exp(centred), np.exp(-centred)
        levels = int(self._offsets[-1])
        worse = _before(ragged.sums(up, self._level, levels), self._offsets)[self._level]
        mirrored = levels - self._offsets[::-1]
        better = _before(ragged.sums(down, self._level, levels)[::-1], mirrored)[::-1][self._level]
        total = float((down * worse).sum())
        return (down * worse - up * better) / total, total / self.count

    def _middle(self, scores: Floats) -> Floats:
        low, high = np.minimum.reduceat(scores, self._starts), np.maximum.reduceat(scores, self._starts)
        return np.asarray(((low + high) / 2)[self._own])


class Stumps:
    """Weak rankers: is a feature above a threshold? The edges of all of them come from one pass over the documents."""

    def __init__(self, features: NDArray[np.float64], count: int) -> None:
        from scipy.sparse import csr_array

        values = _at_least(features)
        self._thresholds = [_thresholds(column, count) for column in values.T]
        self._width = max((len(t) for t in self._thresholds), default=0)
        above = np.zeros(values.T.shape, dtype=np.int64)
        for row, thresholds, column in zip(above, self._thresholds, values.T, strict=True):
            row[:] = np.searchsorted(thresholds, column)
        step = above - 1 + self._width * np.arange(len(above))[:, None]
        feature, document = np.nonzero(above)
        shape = (len(above) * self._width, len(values))
        cells = (step[feature, document], document)
        self._highest = csr_array((np.ones(len(document)), cells), shape=shape)

    def best(self, potential: Floats) -> tuple[int, float, float]:
        """The feature, the threshold and the edge of the weak ranker with the largest edge, of either sign."""
        if not self._width:
            return 0, 0.0, 0.0
        # A document is above its highest threshold and all lower ones: sums from the top.
        highest = (self._highest @ potential).reshape(-1, self._width)
        edges = np.cumsum(highest[:, ::-1], axis=1)[:, ::-1]
        feature, place = divmod(int(np.abs(edges).argmax()), self._width)
        edge = float(edges[feature, place])
        own = self._thresholds[feature]
        return feature, float(own[min(place, len(own) - 1)]) if len(own) else 0.0, edge


@dataclass(eq=False)
class FeatureBoosting(WeightedSum, abstract=True):
    """The common ground of :class:`AdaRank` and :class:`FocusedBoost`, whose weak rankers are features.

    Attributes
    ----------
    features_, alphas_
        For each round: the feature's number, and its weight, negative if low values are good.
    """

    def _keep(self, steps: Sequence[Slope], examples: Examples) -> None:
        self.features_ = np.array([step.feature for step in steps], dtype=np.int64)
        self.alphas_ = np.array([step.alpha for step in steps], dtype=np.float64)
        self.weights_ = ragged.sums(self.alphas_, self.features_, len(examples.feature_names))

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        return {**super()._state(), "features": self.features_, "alphas": self.alphas_}

    def _restore(self, state: Mapping[str, Any]) -> None:
        super()._restore(state)
        self.features_, self.alphas_ = state["features"], state["alphas"]


@dataclass(eq=False)
class AdaRank(FeatureBoosting):
    r"""AdaRank: features, weighted so that badly ranked queries count more and more.

    .. math:: f = \sum_t \alpha_t x_{k_t}, \quad
        \alpha_t = \frac12 \ln \frac{\sum_q P_t(q) (1 + E(x_{k_t}, q))}{\sum_q P_t(q) (1 - E(x_{k_t}, q))}, \quad
        P_{t+1}(q) \propto e^{-E(f_t, q)}

    E is ``measure``, which can be any measure between -1 and 1, or 1 minus a cost. Each round takes the feature,
    rising or falling, with the best weighted E. The weights hardly move as long as one feature is best everywhere, and
    that feature would be chosen forever. So a feature that does not raise the mean over training queries is skipped
    until another one has raised it, and training ends when none does. Queries whose documents all have the same gain
    are left out. Xu, Li: AdaRank: a boosting algorithm for information retrieval, 2007.

    Attributes
    ----------
    features_, alphas_
        For each round: the feature's number, and its weight, negative if low values are good.

    Examples
    --------
    >>> from ranksift.collection.examples import Examples
    >>> examples = Examples.from_arrays([[3, 0], [2, 1], [1, 2]], [0, 1, 2], ["q", "q", "q"])
    >>> AdaRank().fit(examples).features_.tolist()
    [1]
    """

    rounds: int = parameter(500, integer(1), _ROUNDS)
    patience: int = parameter(50, integer(1), _PATIENCE)

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The scale of features, which are the weak rankers; and the rounds if there is no early stopping."""
        rounds = {} if stopped else {"rounds": (5, 500, "log")}
        return {"scaling": [None, "query"], **rounds}

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        training = with_several_gains(examples, self.gains)
        objective = Objective(training, self.measure, self.gains)
        rounds = Rounds.of(validation, self.measure, self.gains, self.patience)
        steps: list[Slope] = []
        scores, reached = np.zeros(len(training)), -np.inf
        weak = values_of_features(objective, training, least=-1.0)
        weights = np.full(weak.shape[1], 1.0 / max(1, weak.shape[1]))
        passed_over = np.zeros(len(weak), dtype=bool)
        while len(steps) < self.rounds:
            edges = np.where(passed_over, -np.inf, weak @ weights)
            if not edges.max(initial=-np.inf) > 0:
                break
            chosen = int(edges.argmax())
            step = Slope.number(chosen, alpha_of(edges[chosen]), training)
            values = goodness(objective, (scores + step.of(training.features))[None])[0]
            if values.mean() <= reached + LEAST:
                passed_over[chosen] = True
                continue
            passed_over[:] = False
            reached = values.mean()
            scores += step.of(training.features)
            weights = np.exp(-values) / np.exp(-values).sum()
            steps.append(step)
            if rounds.are_over(step.of):
                break
        self._keep(steps[: rounds.best], examples)


@dataclass(eq=False)
class FocusedBoost(FeatureBoosting):
    r"""FocusedBoost: AdaRank on the order of the top k, RankBoost between them and the rest (Niu et al. 2012).

    .. math:: r_t = \beta \sum_q D_t(q)\, (2 E(x, T_q) - 1)
        + (1 - \beta) \sum_q \sum_{u \in T_q, v \in F_q} D'_t(u, v)\, (x_u - x_v), \quad
        \alpha_t = \frac12 \ln \frac{1 + r_t}{1 - r_t}

    T are the top k documents of a query, F the others, and E is ``measure`` of T alone, with its positions as labels:
    any that lies between 0 and 1. Weak rankers are features from 0 to 1, rising or falling, and each round takes the
    one with the largest edge r. Both of its parts lie between -1 and 1, as a footnote of the paper requires, so
    features on another scale are refused.

    Three things differ from the paper as printed. The largest r is chosen, not the smallest, because it acts as an edge
    in α. Weights of pairs grow if a pair is in the wrong order, :math:`D' \propto e^{f(v) - f(u)}`. And weights of
    queries are AdaRank's, :math:`D \propto e^{-E(f)}`: multiplied from round to round, as printed, they would soon hold
    only one hopeless query.

    Examples
    --------
    >>> from ranksift.collection.examples import Examples
    >>> x = [[0.9, 0.2], [0.8, 0.9], [0.1, 0.5], [0.0, 0.4]]
    >>> examples = Examples.from_arrays(x, [2, 1, 0, 0], ["q"] * 4)
    >>> FocusedBoost(k=2).fit(examples).score(examples).argsort()[::-1].tolist()
    [0, 1, 2, 3]
    """

    natural_scaling = "query"

    rounds: int = parameter(300, integer(1), _ROUNDS)
    k: int = parameter(10, TOP, OF_THE_TOP)
    beta: float = parameter(0.25, SHARE, "β: 1 uses only the order of T, 0 only the pairs.")
    patience: int = parameter(50, integer(1), _PATIENCE)

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """β, and the number of rounds if there is no early stopping."""
        rounds = {} if stopped else {"rounds": (5, 500, "log")}
        return {"beta": BETAS, **rounds}

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        _check_range(examples)
        focus = Focus.on(examples, self.k, self.beta, self.gains, self.seed)
        pairs = Pairs(focus.top.astype(np.float64), examples.query)
        ordered = with_several_gains(focus.ordered, "linear")
        objective = Objective(ordered, self.measure, "linear")  # of positions, not of labels
        rounds = Rounds.of(validation, self.measure, self.gains, self.patience)
        weak = values_of_features(objective, ordered, least=0.0)
        weights = np.full(weak.shape[1], 1.0 / max(1, weak.shape[1]))
        listwise = self.beta if len(ordered) else 0.0
        pairwise = 1.0 - self.beta if pairs.count else 0.0
        steps: list[Slope] = []
        scores, inside = np.zeros(len(examples)), np.zeros(len(ordered))
        while len(steps) < self.rounds:
            potential, _ = pairs.potential(scores)
            rising = potential @ examples.features
            edges = listwise * (2 * weak - 1) @ weights + pairwise * np.concatenate((rising, -rising))
            if not edges.max(initial=0.0) > LEAST:
                break
            chosen = int(edges.argmax())
            step = Slope.number(chosen, alpha_of(edges[chosen]), examples)
            scores += step.of(examples.features)
            inside += step.of(ordered.features)
            weights = np.exp(-goodness(objective, inside[None])[0])
            weights /= max(weights.sum(), LEAST)
            steps.append(step)
            if rounds.are_over(step.of) or edges[chosen] >= 1 - LEAST:
                break
        self._keep(steps[: rounds.best], examples)


class Slope(NamedTuple):
    """A round that adds a feature, with a weight."""

    feature: int
    alpha: float

    @classmethod
    def number(cls, chosen: int, alpha: float, examples: Examples) -> Slope:
        """The weak ranker of a number: features rising, and after them falling."""
        fall, feature = divmod(chosen, len(examples.feature_names))
        return cls(feature, -alpha if fall else alpha)

    def of(self, features: NDArray[np.float64]) -> Floats:
        """What it adds to the scores of documents."""
        return np.asarray(self.alpha * features[:, self.feature])


def goodness(objective: Objective, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value of each query for each row of scores; 1 less a cost."""
    return objective.per_query(scores) + (0.0 if objective.measure.higher_is_better else 1.0)


def values_of_features(objective: Objective, examples: Examples, least: float) -> NDArray[np.float64]:
    """What each feature alone, rising and then falling, gives each query."""
    if not examples.features.size:
        return np.zeros((2 * len(examples.feature_names), len(examples.query_ids)))
    rising, falling = goodness(objective, examples.features.T), goodness(objective, -examples.features.T)
    values = np.concatenate((rising, falling))
    if values.min() < least - LEAST or values.max() > 1 + LEAST:
        raise InputError(
            f"{objective.measure} of a query is not between {least:g} and 1", remedy="boost by nDCG@10, AP or the like"
        )
    return values


def alpha_of(edge: float) -> float:
    """The weight ½ ln((1 + r) / (1 - r)) of a weak ranker with an edge; finite for a perfect one too."""
    return float(np.arctanh(np.clip(edge, LEAST - 1, 1 - LEAST)))


def _check_range(examples: Examples) -> None:
    """Refuse features outside 0 to 1, whose edges are invalid: the first one would look perfect, and end training."""
    low, high = examples.features.min(axis=0), examples.features.max(axis=0)
    beyond = np.flatnonzero((low < 0) | (high > 1))
    if len(beyond):
        f = int(beyond[0])
        raise InputError(
            f"feature {examples.feature_names[f]!r} goes from {low[f]:g} to {high[f]:g}, not from 0 to 1",
            source=examples.name,
            remedy="use scaling='query'",
        )


def _first(ordered: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Where a new value begins."""
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return new


def _before(values: Floats, offsets: Ints) -> Floats:
    """Sum of the values that stand before each one in its list."""
    out = np.zeros(len(values))
    out[1:] = ragged.accumulate(np.add, values, offsets)[:-1]
    out[offsets[:-1][np.diff(offsets) > 0]] = 0.0
    return out


def _at_least(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Missing values below all others."""
    return np.where(np.isnan(values), -np.inf, values)


def _thresholds(column: Floats, count: int) -> Floats:
    """Values that divide a column: all distinct ones but the highest, or evenly chosen ones of them."""
    distinct = ragged.distinct(column)[:-1]
    if len(distinct) <= count:
        return distinct
    return distinct[np.linspace(0, len(distinct) - 1, count).round().astype(np.int64)]
