r"""Keep what is expected to help: the optimal rule, given the probability of every label.

DCG adds up gains at falling, positive discounts. So of all ordered sublists of a query's documents, the one of highest
expected DCG holds those with an expected gain of at least 0, and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.calibration import LabelCalibration, Logistic, Method, calibrate
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.normalized import normalized
from ranksift.cutoffs.score_shape import FEATURES, Shape
from ranksift.cutoffs.sweep import SAME
from ranksift.cutoffs.threshold import MEASURE, one_measure
from ranksift.errors import InputError
from ranksift.measures.cumulative import discounted
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, optional, parameter

# Numbers of a document that rise with its score; the others are those of its list.
_OWN = {"score": "the score", "zscore": "the score less the mean, over the deviation (0 if that is 0)"}

#: What the probabilities of a document are made of, where they see its list.
COLUMNS = {**_OWN, **FEATURES}

# How strongly the weights of all columns but the score are held small: from freely to not at all there.
_RIDGES = (1.0, 1e1, 1e2, 1e3, 1e4, 1e6)

# Documents by which the ridge is chosen, and folds of their queries.
_MOST, _FOLDS = 20_000, 5


@dataclass(eq=False)
class ExpectedGainCutoff(Cutoff):
    r"""Keep documents with an expected gain of at least 0, by calibrated probabilities of their gains.

    .. math:: E[g \mid x] = g_1 + \sum_{j > 1} (g_j - g_{j-1})\, P(g \ge g_j \mid x) \ge 0

    where :math:`g_1 < g_2 < \dots` are the gains of the labels. It needs no measure to tune to, so it depends less on
    a small sample than a threshold that maximises one. Nothing is learned from unjudged documents.

    Attributes
    ----------
    threshold_
        The lowest of the fitted scores that is kept; ±∞ keeps or drops everything. None for ``"shape"``.
    calibration_
        The calibration of the gains, as :meth:`LabelCalibration.to_dict` gives it.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> labels = draw.choice([-1, 1], 4000)
    >>> scores, groups = labels + draw.normal(size=4000), np.arange(4000) // 8
    >>> cut = ExpectedGainCutoff().fit(scores, labels, groups, gains={-1: -4})

    A good document is worth 1 and a forbidden one costs 4. The odds of good ones at a score s are e²ˢ, and 4 at 0.693:

    >>> round(cut.threshold_, 1)
    0.7
    >>> cut.expected_gain([0.0, 3.0], [0, 0]).round(1).tolist()
    [-1.5, 1.0]
    """

    rule: ClassVar[str] = "expected-gain"
    learned: ClassVar[tuple[str, ...]] = ("threshold_", "calibration_")
    may_be_none: ClassVar[tuple[str, ...]] = ("threshold_",)

    features: Literal["score", "shape"] = parameter(
        "score",
        choice("score", "shape"),
        """What the probabilities depend on. ``"score"``: the score, calibrated as ``method`` says; this is one
        threshold for all queries. ``"shape"``: also the score among those of its query (``zscore``), and the shape of
        the list (:class:`ShapeCutoff` has the features), by a logistic function for each gain; this is a rule per
        query. How far it may go beyond the score is chosen by cross-validation. Inside a list the expected gain never
        falls as the score rises.""",
    )
    method: Method = parameter(
        "best",
        choice(*get_args(Method)),
        """How scores are calibrated if ``features="score"``, as in :func:`calibrate`.""",
    )
    measure: MeasureLike | None = parameter(
        None,
        optional(MEASURE),
        """None: all judged documents count the same, which is optimal for DCG. A normalised measure, as
        ``"nDCG_f@3"``: documents count by what a gain of 1 at their rank is worth in it, which is optimal for that
        measure. There a query counts less if its best and its worst list are far apart.""",
    )

    def _learn(self, lists: Lists) -> None:
        gain, weight = self._worth(lists)
        if self.features == "score":
            every, counts = np.full(len(lists.score), np.nan), np.zeros(len(lists.score))
            every[lists.judged], counts[lists.judged] = gain, weight
            self.calibration_ = calibrate(lists.score, every, self.method, counts).to_dict()
            helps = self._expected(lists) >= -SAME
            kept = lists.score[helps].min(initial=np.inf)
            self.threshold_: float | None = -np.inf if helps.all() else float(kept)
        else:
            columns = self._columns(lists)[lists.judged]
            ridge = _ridge(lists, columns, gain, weight)
            self.calibration_ = calibrate(columns, gain, _logistic(ridge), weight).to_dict()
            self.threshold_ = None

    def _worth(self, lists: Lists) -> tuple[Floats, Floats]:
        """The gain of each judged document, and how much it counts."""
        gain = lists.gain[lists.judged]
        if self.measure is None:
            return gain, np.ones(len(gain))
        measure = one_measure(self.measure)
        line = measure.line(lists.pool, measure.gains or lists.gains)
        if line is None:
            self.notes_ += (f"{measure} does not add up gains: every document counts the same",)
            return gain, np.ones(len(gain))
        everything = lists.judged_by(np.ones(len(lists.score), dtype=bool))
        weight = discounted(line[1][everything.query], everything.rank, measure.base)
        if measure.k is not None:
            weight[everything.rank > measure.k] = 0.0
        if not (weight > 0).any():
            self.notes_ += (f"no document counts in {measure}: all count the same",)
            weight = np.ones(len(gain))
        return measure.gain(everything.label, everything.gains), weight

    def _columns(self, lists: Lists) -> Floats:
        if self.features == "score":
            return lists.score
        shape = Shape.of(lists).features(tuple(FEATURES))[lists.query]
        return np.column_stack([lists.score, normalized(lists, "zscore"), shape])

    def _expected(self, lists: Lists) -> Floats:
        return LabelCalibration.from_dict(self.calibration_).expected_gain(self._columns(lists))

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        if self.threshold_ is not None:
            return lists.score >= self.threshold_
        return np.asarray(self._expected(lists) >= -SAME)

    def _try_out(self) -> None:
        super()._try_out()
        if (self.threshold_ is None) != (self.features == "shape"):
            raise ValueError(f"threshold is {self.threshold_!r} where features={self.features!r}")
        if not np.isfinite(self.expected_gain(self.fitted_on_["scores"])).all():
            raise ValueError("calibration gives gains that are not finite")

    def expected_gain(self, scores: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """The expected gain of each document; without ``groups``, all are of one query."""
        if not hasattr(self, "calibration_"):
            raise InputError("this ExpectedGainCutoff is not fitted", remedy="call fit first")
        lists = Lists.from_arrays(scores, None, np.zeros(np.shape(scores)) if groups is None else groups)
        found = np.empty(len(lists.score))
        found[lists.row] = self._expected(lists)
        return found

    @property
    def promise(self) -> str:
        """What the rule promises for other queries, and under which assumption."""
        return (
            "none: where the probabilities hold for other queries too, no other rule that sees the same has a higher "
            f"expected {'DCG' if self.measure is None else self.measure}"
        )

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        if self.threshold_ is not None:
            return "score >= float(threshold)"
        means = "; ".join(f"{name}: {what}" for name, what in COLUMNS.items())
        return (
            "labels[0] + sum of (labels[j] - labels[j - 1]) * p[j] >= 0, where labels are the gains of calibration, "
            "rising, and p[j] falls with j: 1 / (1 + exp(-(intercept + sum of weights[c] * c))) of every level of "
            f"calibration.at_least, sorted; {means}"
        )


def _logistic(ridge: float) -> Logistic:
    return Logistic(names=tuple(COLUMNS), risers=tuple(_OWN), unpenalized=("score",), ridge=ridge)


def _ridge(lists: Lists, columns: Floats, gain: Floats, weight: Floats) -> float:
    """The ridge of least log loss on queries that it was not fitted on; of two that are equal the larger."""
    if len(lists) < _FOLDS:
        return _RIDGES[-1]
    # Of many documents some folds are enough.
    fold = Shape.of(lists).folds(_FOLDS * (1 + len(gain) // _MOST), seed=0)[lists.query[lists.judged]]
    losses = []
    for ridge in _RIDGES:
        loss = 0.0
        for f in range(_FOLDS):
            own, others = fold == f, (fold != f) & (fold < _FOLDS)
            if (weight[others] > 0).any():
                found = calibrate(columns[others], gain[others], _logistic(ridge), weight[others])
                loss += float(weight[own] @ found.log_loss(columns[own], gain[own]))
        losses.append(loss)
    return max(ridge for ridge, loss in zip(_RIDGES, losses, strict=True) if loss <= min(losses) + SAME)
