r"""A threshold for each query, learned from the shape of its scores.

The threshold of a query is a linear function of its features, :math:`t(q) = c + w \cdot \phi(q)`. Along any line in the
space of c and w, a document is kept up to one point of the line, or from one point on: where the threshold of its query
crosses its score. So the best point of a line is found as the best threshold is: sort the crossings, and add up what
each changes. What a document changes depends on its place in its own list alone, and is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.score_shape import FEATURES, Shape
from ranksift.cutoffs.sweep import SAME, Sweep
from ranksift.cutoffs.threshold import MEASURE, one_measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, integer, number, parameter, several

# Lines turn around these quantiles of a feature: where the threshold stays as it is.
_PIVOTS = (0.0, 0.25, 0.5, 0.75, 1.0)

# Queries by which features are chosen: of many some are enough.
_MOST = 10_000

# Rounds of ascent; it stops earlier, when a round gains nothing.
_ROUNDS = 20


class Plane(NamedTuple):
    """A threshold for every query: c + w · φ(q)."""

    intercept: float
    weights: Floats

    def thresholds(self, features: Floats) -> Floats:
        """The threshold of each query; added up feature by feature, so that a query's does not depend on others."""
        total = np.full(len(features), self.intercept)
        for weight, column in zip(self.weights.tolist(), features.T, strict=True):
            total += weight * column
        return total


def shown(sweep: Sweep, kept: NDArray[np.bool_]) -> Floats:
    """Every query's numerator and denominator with some of the documents, in the order of the sweep, shown."""
    return np.stack(
        [
            begin + np.bincount(sweep.query[kept], weights=part[kept], minlength=len(begin))
            for begin, part in zip(sweep.start, sweep.change, strict=True)
        ]
    )


def along(sweep: Sweep, thresholds: Floats, direction: Floats) -> Sweep:
    """The measure along a line: as α rises, the threshold of query q is ``thresholds[q] + α direction[q]``.

    Its scores are −α at the crossings; a value holds from its crossing up to the next.
    """
    slope = np.where(np.abs(direction) > SAME * np.abs(direction).max(), direction, 0.0)[sweep.query]
    moves = slope != 0
    # At α = −∞ a list is full where the threshold rises and empty where it falls.
    start = shown(sweep, np.where(moves, slope > 0, sweep.score >= thresholds[sweep.query]))
    query, slope, change = sweep.query[moves], slope[moves], sweep.change[:, moves]
    crossing = (sweep.score[moves] - thresholds[query]) / slope
    order = np.argsort(crossing, kind="stable")
    signed = np.where(slope > 0, -change, change)
    return Sweep(
        sweep.lists, sweep.measure, sweep.order[moves][order], -crossing[order], query[order], start, signed[:, order]
    )


def best_step(line: Sweep) -> tuple[float, float]:
    """The best α on a line, and the measure's gain over α = 0.

    Of equal ones it is the nearest to 0, in the middle of its stretch.
    """
    worth = line.values() if line.measure.higher_is_better else -line.values()
    crossings = -line.thresholds[1:]
    if not len(crossings):
        return 0.0, 0.0
    ends = np.concatenate(([crossings[0] - 2.0], crossings, [crossings[-1] + 2.0]))
    middle = (ends[:-1] + ends[1:]) / 2.0
    here = worth[np.searchsorted(crossings, 0.0)]
    good = np.flatnonzero(worth >= worth.max() - SAME)
    gain = float(worth.max() - here)
    if gain <= SAME:
        return 0.0, 0.0
    return float(middle[good[np.argmin(np.abs(middle[good]))]]), gain


def ascend(sweep: Sweep, features: Floats, start: Plane) -> Plane:
    """The plane after coordinate ascent: shifts, and turns around points of every feature, until none gains anything.

    Features are on the scale of the scores, so that steps of 1 are of one size.
    """
    intercept, weights = start.intercept, start.weights.copy()
    unit = (float(sweep.score.std()) if len(sweep.score) else 0.0) or 1.0
    lines = [(-1, 0.0)] + [(j, p) for j in range(len(weights)) for p in np.quantile(features[:, j], _PIVOTS).tolist()]
    for _ in range(_ROUNDS):
        gained = 0.0
        for j, pivot in lines:
            direction = np.full(len(features), unit) if j < 0 else features[:, j] - pivot
            thresholds = Plane(intercept, weights).thresholds(features)
            step, gain = best_step(along(sweep, thresholds, direction))
            gained += gain
            if j < 0:
                intercept += step * unit
            else:
                weights[j] += step
                intercept -= step * pivot
        if gained <= SAME:
            break
    return Plane(intercept, weights)


class Trial(NamedTuple):
    """What a set of features gives on queries that its planes were not fitted on."""

    chosen: tuple[int, ...]
    planes: tuple[Plane, ...]  # of each fold
    parts: Floats  # every query's numerator and denominator


@dataclass(frozen=True, eq=False)
class Selection:
    """Forward selection by cross-validation.

    Attributes
    ----------
    sweep, features
        The lists, and a row of features for each query.
    fold
        The fold of each query.
    """

    sweep: Sweep
    features: Floats
    fold: Ints

    def chosen(self, caution: float) -> tuple[int, ...]:
        """Features, each of which made the ones before it better by more than ``caution`` standard errors."""
        current = self._trial((), None)
        while len(current.chosen) < self.features.shape[1]:
            others = [j for j in range(self.features.shape[1]) if j not in current.chosen]
            trials = [self._trial((*current.chosen, j), current) for j in others]
            better = [self._better(current, trial) for trial in trials]
            best = max(range(len(trials)), key=lambda i: better[i][0])
            gain, error = better[best]
            if gain <= max(SAME, caution * error):
                break
            current = trials[best]
        return current.chosen

    def _trial(self, chosen: tuple[int, ...], parent: Trial | None) -> Trial:
        planes, parts = [], np.empty((2, len(self.fold)))
        columns = self.features[:, list(chosen)]
        for f in range(int(self.fold.max()) + 1):
            own = self.fold == f
            others = self.sweep.of_queries(np.flatnonzero(~own))
            plane = level(others) if parent is None else parent.planes[f]
            if chosen:
                plane = ascend(others, columns[~own], Plane(plane.intercept, np.append(plane.weights, 0.0)))
            planes.append(plane)
            parts[:, own] = shown(self.sweep, self.sweep.score >= plane.thresholds(columns)[self.sweep.query])[:, own]
        return Trial(chosen, tuple(planes), parts)

    def _better(self, old: Trial, new: Trial) -> tuple[float, float]:
        """By how much the measure is better, and the standard error of that."""
        measure = self.sweep.measure
        sign = 1.0 if measure.higher_is_better else -1.0
        before, after = (float(measure.aggregate(*trial.parts)) for trial in (old, new))
        moved = _influence(new.parts, after) - _influence(old.parts, before)
        return sign * (after - before), float(moved.std(ddof=1) / np.sqrt(len(moved)))


def level(sweep: Sweep) -> Plane:
    """The best threshold that is the same for all queries; a finite one, in the middle of its stretch."""
    if not len(sweep.score):
        return Plane(0.0, np.zeros(0))
    beyond = float(sweep.score.std()) or 1.0
    ends = np.concatenate(([sweep.score[0] + beyond], sweep.thresholds[1:], [sweep.score[-1] - beyond]))
    best = sweep.best(sweep.values())
    return Plane(float(ends[best : best + 2].mean()), np.zeros(0))


def _influence(parts: Floats, value: float) -> Floats:
    """What each query does to a mean or to a ratio of sums, to first order."""
    top, bottom = parts
    out: Floats = (top - value * bottom) / (bottom.mean() or 1.0)
    return out


@dataclass(eq=False)
class ShapeCutoff(Cutoff):
    r"""Keep documents with a score of at least their query's threshold, a linear function of the shape of its scores.

    .. math:: s \ge t(q) = c + \sum_f w_f\, \phi_f(q)

    The features φ describe the list of scores without judgments: ``count`` (logarithm of the number of
    documents), ``top``, ``mean``, ``deviation``, ``lead`` (of the first over the second), ``gap`` (the largest),
    ``slope``. Weights are learned by coordinate ascent on the measure itself, with exact line searches. A feature is
    added only if it improves the measure on queries that it was not fitted on; if none does, the rule is
    :class:`GlobalCutoff`.

    Attributes
    ----------
    intercept_
        c; if no feature is used, the threshold: ±∞ keeps or drops everything.
    weights_
        w, by the name of the feature; on the scale of the features themselves.
    value_
        The measure on the documents that it was fitted on.

    Examples
    --------
    The good documents of a query are those near its top, wherever that is:

    >>> draw = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(60), 4)
    >>> labels = np.tile([2, 1, -2, -2], 60)
    >>> scores = np.tile([4.0, 3.0, 2.0, 1.0], 60) + np.repeat(draw.normal(0, 5, 60), 4)
    >>> cut = ShapeCutoff("nDCG_f@4").fit(scores, labels, groups)
    >>> {name: round(weight, 2) for name, weight in cut.weights_.items()}, round(cut.value_, 3)
    ({'top': 1.0}, 1.0)
    >>> cut.keep([104.0, 103.0, 102.0, 101.0]).tolist()
    [True, True, False, False]
    """

    rule: ClassVar[str] = "shape"
    learned: ClassVar[tuple[str, ...]] = ("intercept_", "weights_")

    measure: MeasureLike = parameter(
        "nDCG_f@3", MEASURE, "The measure that the thresholds maximise on the documents that they are fitted on."
    )
    features: Sequence[str] = parameter(
        tuple(FEATURES),
        several(choice(*FEATURES), f"a list of some of {', '.join(FEATURES)}"),
        "What a threshold may depend on.",
    )
    caution: float = parameter(
        1.5, number(), "By how many standard errors a feature must improve the cross-validated measure."
    )
    folds: int = parameter(5, integer(2), "The number of folds; if there are fewer queries, no feature is used.")
    seed: int = parameter(0, integer(0), "Seed of the random number generator that draws the folds.")

    def _learn(self, lists: Lists) -> None:
        names = tuple(dict.fromkeys(self.features))
        sweep = Sweep.of(lists, one_measure(self.measure))
        shape = Shape.of(lists)
        raw = shape.features(names)
        features, unit = _on_the_scale_of_scores(raw, lists)
        moving = _moving(sweep)
        chosen: tuple[int, ...] = ()
        if len(lists) >= max(2, self.folds):
            fold = shape.folds(self.folds * (1 + len(lists) // _MOST), self.seed)
            some = np.flatnonzero(fold < self.folds)
            chosen = Selection(moving.of_queries(some), features[some], fold[some]).chosen(self.caution)
        columns = list(chosen)
        plane = level(moving)
        for end in range(1, len(columns) + 1):
            grown = Plane(plane.intercept, np.append(plane.weights, 0.0))
            plane = ascend(moving, features[:, columns[:end]], grown)
        self.weights_ = {names[j]: float(w) for j, w in zip(chosen, plane.weights * unit[columns], strict=True)}
        # Last the exact threshold, on the numbers that keep will see.
        final = Sweep.of(lists.with_score(self._above(lists, shape)), sweep.measure)
        values = final.values()
        best = final.best(values)
        self.intercept_, self.value_ = final.threshold(best), float(values[best])
        if np.isinf(self.intercept_):
            self.weights_ = {}
        if self.weights_:  # in the middle of its stretch, as the weights are
            self.intercept_ = float(final.thresholds[best : best + 2].mean())
        self.fitted_on_["value"] = {
            str(sweep.measure): self.value_,
            "keep_all": float(values[-1]),
            "drop_all": float(values[0]),
        }

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return self._above(lists, Shape.of(lists)) >= self.intercept_

    def _above(self, lists: Lists, shape: Shape) -> Floats:
        """Scores less what the features of their query ask for."""
        plane = Plane(0.0, np.array(list(self.weights_.values())))
        return lists.score - plane.thresholds(shape.features(tuple(self.weights_)))[lists.query]

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        if not self.weights_:
            return "score >= float(intercept)"
        means = "; ".join(f"{name}: {FEATURES[name]}" for name in self.weights_)
        return f"score - sum of weights[f] * f(the scores of the query) >= float(intercept), where {means}"


def _on_the_scale_of_scores(features: Floats, lists: Lists) -> tuple[Floats, Floats]:
    """Features with the mean 0 and the deviation of the scores, and what a weight on them is on the raw ones."""
    full = lists.lengths > 0
    mean, deviation = features[full].mean(axis=0), features[full].std(axis=0)
    unit = np.divide(
        float(lists.score.std()) or 1.0, deviation, out=np.zeros(len(deviation)), where=deviation > SAME * np.abs(mean)
    )
    scaled: Floats = (features - mean) * unit
    scaled[~full] = 0.0
    return scaled, unit


def _moving(sweep: Sweep) -> Sweep:
    """The sweep without the documents that change nothing: most of them, where only the top k counts."""
    moves = (sweep.change != 0).any(axis=0)
    return Sweep(
        sweep.lists,
        sweep.measure,
        sweep.order[moves],
        sweep.score[moves],
        sweep.query[moves],
        sweep.start,
        sweep.change[:, moves],
    )
