r"""Scores as probabilities.

A calibrator learns the probability of an outcome, such as "forbidden", from scores and outcomes. The outcomes
"label ≥ l" of all labels l together give the probability of every label, and so the expected gain of a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.parameters import choice

Method = Literal["best", "isotonic", "platt", "beta"]

#: Every calibrator by the word for it.
METHODS: dict[str, type[Calibrator]] = {}

# Documents, and folds of them, by which the best calibrator is chosen.
_MOST, _FOLDS = 20_000, 5

# The nearest to 0 and 1 that a score comes whose logarithm is taken.
_EDGE = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class Calibrator:
    """The base class: learn P(outcome | score), which never falls as the score rises.

    Parameters
    ----------
    rising
        False: the probability falls as the score rises, as that of being forbidden does.
    """

    method: ClassVar[str] = ""
    #: Learned attributes: all that is saved.
    learned: ClassVar[tuple[str, ...]] = ()

    rising: bool = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.method:
            METHODS[cls.method] = cls

    def fit(self, scores: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None) -> Self:
        """Learn from one score and one outcome (true or false, 1 or 0) per document, and how much each counts."""
        values, happened = self._numbers(scores), _outcomes(outcomes)
        if len(values) != len(happened):
            raise InputError(f"{len(values)} scores and {len(happened)} outcomes", remedy="give one of each")
        weight = np.ones(len(values)) if weights is None else _array("weight", weights)
        counts = weight > 0
        if not counts.any():
            raise InputError("there is nothing to calibrate on", remedy="give scores and outcomes")
        # What counts nothing is left out; what is left counts 1 in the mean.
        values, happened, weight = values[counts], happened[counts], weight[counts] / weight[counts].mean()
        self._learn(values, happened if self.rising else ~happened, weight)
        return self

    def probabilities(self, scores: ArrayLike) -> Floats:
        """The probability of the outcome at each score."""
        if not all(hasattr(self, name) for name in self.learned):
            raise InputError(f"this {type(self).__name__} is not fitted", remedy="call fit first")
        found = self._probabilities(self._numbers(scores))
        return found if self.rising else 1.0 - found

    def to_dict(self) -> dict[str, Any]:
        """What is needed to turn scores into probabilities, for JSON."""
        learned = {name.rstrip("_"): getattr(self, name) for name in self.learned}
        lists = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in learned.items()}
        return {"method": self.method, "rising": self.rising, **lists}

    @staticmethod
    def from_dict(given: Mapping[str, Any]) -> Calibrator:
        """The calibrator that was saved."""
        cls = METHODS[str(given["method"])]
        return cls._restored(given)

    @classmethod
    def _restored(cls, given: Mapping[str, Any]) -> Self:
        made = cls(rising=bool(given["rising"]))
        for name in cls.learned:
            value = given[name.rstrip("_")]
            setattr(made, name, np.asarray(value, dtype=np.float64) if isinstance(value, list) else value)
        return made

    def _numbers(self, scores: ArrayLike) -> Floats:
        values = _array("score", scores)
        if not np.isfinite(values).all():
            raise InputError("a score is not finite", remedy="leave that document out")
        return values

    def _learn(self, values: Floats, happened: NDArray[np.bool_], weight: Floats) -> None:
        raise NotImplementedError

    def _probabilities(self, values: Floats) -> Floats:
        raise NotImplementedError


def _array(name: str, given: ArrayLike) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a {name} is not a number", remedy="give one for every document") from None


def _column(name: str, given: ArrayLike, most: int = 1) -> Floats:
    """One number for every document, or up to ``most - 1`` dimensions of them."""
    found = _array(name, given)
    if not 1 <= found.ndim <= most:
        raise InputError(f"there is no list of {name}s", remedy="give one for every document")
    return found


def _outcomes(given: ArrayLike) -> NDArray[np.bool_]:
    values = np.asarray(given)
    if values.dtype != np.bool_ and not np.isin(values, (0, 1)).all():
        raise InputError("an outcome is neither true nor false", remedy="give 1 if it happened and 0 if not")
    return values.astype(bool)


@dataclass(eq=False)
class Isotonic(Calibrator):
    """The rising function of the score that is nearest to the outcomes (least squares).

    Between the scores that it was fitted on it is linear, outside of them constant. It assumes nothing else, and needs
    a few hundred outcomes to be meaningful.

    Attributes
    ----------
    scores_, probabilities_
        The corners of the function.

    Examples
    --------
    >>> Isotonic().fit([1, 2, 3, 4], [0, 1, 0, 1]).probabilities([0, 2, 3.5, 9]).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """

    method: ClassVar[str] = "isotonic"
    learned: ClassVar[tuple[str, ...]] = ("scores_", "probabilities_")

    def _learn(self, values: Floats, happened: NDArray[np.bool_], weight: Floats) -> None:
        from scipy.optimize import isotonic_regression

        distinct, code = np.unique(values, return_inverse=True)
        count = np.bincount(code, weights=weight)
        share = np.bincount(code, weights=weight * happened) / count
        level: Floats = isotonic_regression(share, weights=count).x
        same = level[1:] == level[:-1]
        corner = ~(np.append(False, same) & np.append(same, False))
        self.scores_, self.probabilities_ = distinct[corner], np.clip(level[corner], 0.0, 1.0)

    def _probabilities(self, values: Floats) -> Floats:
        return np.asarray(np.interp(values, self.scores_, self.probabilities_))


@dataclass(eq=False)
class Logistic(Calibrator):
    r"""A logistic function of several numbers per document.

    .. math:: P = \frac{1}{1 + e^{-(b + w \cdot x)}}

    With :math:`N_+` outcomes that happened and :math:`N_-` that did not, it is fitted to the targets
    :math:`(N_+ + 1) / (N_+ + 2)` and :math:`1 / (N_- + 2)` (Platt), so that outcomes that the numbers separate
    without a fault do not make it infinitely sure.

    Parameters
    ----------
    names
        The names of the columns of x.
    risers
        Columns whose weights are not negative.
    unpenalized
        Columns whose weights are not held small.
    ridge
        λ of the penalty :math:`\lambda\, |w|^2 / 2` on the weights of the others, on the scale of deviation 1.

    Examples
    --------
    >>> two = Logistic(names=("score", "top")).fit([[1, 1], [2, 5], [3, 5], [4, 5]], [0, 0, 1, 1])
    >>> two.weights_["score"] > 0
    True
    """

    method: ClassVar[str] = "logistic"
    learned: ClassVar[tuple[str, ...]] = ("intercept_", "weights_")

    names: Sequence[str] = ()
    risers: Sequence[str] = ()
    unpenalized: Sequence[str] = ()
    ridge: float = 1.0

    def _learn(self, values: Floats, happened: NDArray[np.bool_], weight: Floats) -> None:
        free = [name not in self.risers for name in self.names]
        floor = np.where(free, -np.inf, 0.0)
        ridge = np.array([0.0 if name in self.unpenalized else self.ridge for name in self.names])
        self.intercept_, weights = logistic(values, happened, weight, floor, ridge)
        self.weights_ = dict(zip(self.names, weights.tolist(), strict=True))

    @classmethod
    def _restored(cls, given: Mapping[str, Any]) -> Self:
        made = super()._restored(given)
        made.names = tuple(made.weights_)
        return made

    def _probabilities(self, values: Floats) -> Floats:
        total = np.full(len(values), self.intercept_)
        for weight, column in zip(self.weights_.values(), values.T, strict=True):
            total += weight * column
        return _sigmoid(total)


@dataclass(eq=False)
class Platt(Calibrator):
    r"""A logistic function of the score (Platt 1999).

    .. math:: P = \frac{1}{1 + e^{-(a s + b)}}, \quad a \ge 0

    It is fitted to Platt's targets, :math:`(N_+ + 1) / (N_+ + 2)` and :math:`1 / (N_- + 2)`.

    Attributes
    ----------
    slope_, intercept_
        a and b.

    Examples
    --------
    >>> Platt().fit([-1, 1], [0, 1]).probabilities([-1, 0, 1]).round(6).tolist()
    [0.333333, 0.5, 0.666667]
    """

    method: ClassVar[str] = "platt"
    learned: ClassVar[tuple[str, ...]] = ("slope_", "intercept_")

    def _learn(self, values: Floats, happened: NDArray[np.bool_], weight: Floats) -> None:
        self.intercept_, (self.slope_,) = logistic(values[:, None], happened, weight, np.zeros(1))

    def _probabilities(self, values: Floats) -> Floats:
        return _sigmoid(self.intercept_ + self.slope_ * values)


@dataclass(eq=False)
class Beta(Calibrator):
    r"""Beta calibration, for scores that are already probabilities, even if bad ones (Kull, Silva Filho, Flach 2017).

    .. math:: P = \frac{1}{1 + e^{-(a \ln s - b \ln(1 - s) + c)}}, \quad a, b \ge 0

    With a = b = 1 and c = 0, scores are not changed. It is fitted to Platt's targets.

    Parameters
    ----------
    logits
        Scores are log-odds of any size, and s is their sigmoid.

    Attributes
    ----------
    a_, b_, c_
        The three numbers of the formula.

    Examples
    --------
    >>> Beta().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1]).probabilities([0.1, 0.9]).round(3).tolist()
    [0.256, 0.744]
    """

    method: ClassVar[str] = "beta"
    learned: ClassVar[tuple[str, ...]] = ("a_", "b_", "c_")

    logits: bool = field(default=False, kw_only=True)

    def _numbers(self, scores: ArrayLike) -> Floats:
        values = super()._numbers(scores)
        if not self.logits and ((values < 0) | (values > 1)).any():
            raise InputError(
                "beta calibration takes scores between 0 and 1", remedy="use platt, or say that they are logits"
            )
        return values

    def _logarithms(self, values: Floats) -> Floats:
        """The numbers that a and b multiply: ln s and −ln(1 − s)."""
        if self.logits:
            most = -np.log(_EDGE)
            odds = np.clip(values, -most, most)
            return np.stack([-np.logaddexp(0.0, -odds), np.logaddexp(0.0, odds)], axis=1)
        inside = np.clip(values, _EDGE, 1.0 - _EDGE)
        return np.stack([np.log(inside), -np.log1p(-inside)], axis=1)

    def _learn(self, values: Floats, happened: NDArray[np.bool_], weight: Floats) -> None:
        self.c_, (self.a_, self.b_) = logistic(self._logarithms(values), happened, weight, np.zeros(2))

    def _probabilities(self, values: Floats) -> Floats:
        low, high = self._logarithms(values).T
        return _sigmoid(self.c_ + self.a_ * low + self.b_ * high)

    def to_dict(self) -> dict[str, Any]:
        """What is needed to turn scores into probabilities, for JSON."""
        return {**super().to_dict(), "logits": self.logits}

    @classmethod
    def _restored(cls, given: Mapping[str, Any]) -> Self:
        made = super()._restored(given)
        made.logits = bool(given["logits"])
        return made


# -- logistic regression ---------------------------------------------------------------------------------------------


def smoothed(happened: NDArray[np.bool_], weight: Floats) -> Floats:
    """Platt's targets: what the outcomes would be with one more of each kind."""
    yes = float(weight[happened].sum())
    no = float(weight[~happened].sum())
    return np.where(happened, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))


def logistic(
    columns: Floats, happened: NDArray[np.bool_], weight: Floats, floor: Floats, ridge: Floats | float = 0.0
) -> tuple[float, Floats]:
    """Intercept and weights of least log loss, none below its ``floor``: a projected Newton method.

    Columns are centred and scaled first; a column that does not vary has the weight 0.
    """
    targets = smoothed(happened, weight)
    mean, deviation = columns.mean(axis=0), columns.std(axis=0)
    varies = deviation > 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    scale = np.divide(1.0, deviation, out=np.zeros(len(deviation)), where=varies)
    x = np.column_stack([np.ones(len(columns)), (columns - mean) * scale])
    least = np.concatenate(([-np.inf], floor))
    penalty = np.concatenate(([0.0], np.where(varies, ridge, 1.0)))

    def loss(w: Floats) -> float:
        z = x @ w
        return float(weight @ (np.logaddexp(0.0, z) - targets * z) + penalty @ (w * w) / 2.0)

    w = np.zeros(x.shape[1])
    now = loss(w)
    for _ in range(100):
        p = _sigmoid(x @ w)
        slope = x.T @ (weight * (p - targets)) + penalty * w
        free = (w > least) | (slope < 0)
        bend = (x[:, free] * (weight * p * (1.0 - p))[:, None]).T @ x[:, free] + np.diag(penalty[free])
        bend[np.diag_indices_from(bend)] += 1e-10 * np.trace(bend)
        step = np.zeros(len(w))
        step[free] = np.linalg.solve(bend, slope[free])
        size, before = 1.0, w
        while True:
            w = np.maximum(before - size * step, least)
            then = loss(w)
            if then <= now * (1.0 + 1e-14) or size < 1e-8:  # near the end the loss is the same to the last digit
                break
            size /= 2.0
        now = then
        if np.abs(w - before).max() <= 1e-13 * (1.0 + np.abs(w).max()):
            break
    weights = w[1:] * scale
    return float(w[0] - weights @ mean), weights


def _sigmoid(z: Floats) -> Floats:
    out: Floats = np.exp(-np.logaddexp(0.0, -z))
    return out


# -- labels ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    r"""The probability of every label at a score.

    It is made of :math:`P(\text{label} \ge l)` for every label l but the lowest, each calibrated separately. If two of
    them cross, they are put in order, so that they fall with l (Chernozhukov, Fernández-Val, Galichon 2010). As
    functions of the score they rise, before and after.

    Attributes
    ----------
    labels
        From the lowest to the highest.
    levels
        A calibrator for each label but the lowest.

    Examples
    --------
    >>> found = calibrate([1, 2, 3, 4], [-1, 0, 0, 2], method="isotonic")
    >>> found.labels.tolist(), found.probabilities([1, 2.5, 4]).tolist()
    ([-1.0, 0.0, 2.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found.expected_gain([1, 3.5], gains={-1: -10}).tolist()
    [-10.0, 1.0]
    """

    labels: Floats
    levels: tuple[Calibrator, ...]

    def at_least(self, scores: ArrayLike) -> Floats:
        """P(label ≥ l): one row per score, one column per label; the first is 1, and no row rises."""
        values = np.asarray(scores, dtype=np.float64)
        columns = [np.ones(len(values)), *(level.probabilities(values) for level in self.levels)]
        return -np.sort(-np.stack(columns, axis=1), axis=1)

    def probabilities(self, scores: ArrayLike) -> Floats:
        """P(label = l): one row per score, one column per label."""
        above = self.at_least(scores)
        return above - np.column_stack([above[:, 1:], np.zeros(len(above))])

    def expected_gain(self, scores: ArrayLike, gains: GainsLike = "linear") -> Floats:
        """Σ P(label = l) g(l) at each score."""
        gain = Gains.of(gains)(self.labels)
        # As the lowest gain and what each further label adds: sums of rising functions, where gains rise with labels.
        return np.asarray(gain[0] + self.at_least(scores)[:, 1:] @ np.diff(gain))

    def forbidden(self, scores: ArrayLike, gains: GainsLike = "linear") -> Floats:
        """The probability of a negative gain at each score."""
        return np.asarray(self.probabilities(scores)[:, Gains.of(gains)(self.labels) < 0].sum(axis=1))

    def log_loss(self, scores: ArrayLike, labels: ArrayLike) -> Floats:
        """Minus the logarithm of the probability of the outcome, over all levels, for each document."""
        # Held away from 0 and 1, so that one wrong 0 does not outweigh everything else.
        sure = np.clip(self.at_least(scores)[:, 1:], 0.001, 0.999)
        happened = np.asarray(labels, dtype=np.float64)[:, None] >= self.labels[1:]
        return np.asarray(-np.log(np.where(happened, sure, 1.0 - sure)).sum(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """What is needed to turn scores into probabilities, for JSON."""
        names = [f"{label:.17g}" for label in self.labels[1:].tolist()]
        return {
            "labels": self.labels.tolist(),
            "at_least": {name: level.to_dict() for name, level in zip(names, self.levels, strict=True)},
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The calibration that was saved."""
        levels = tuple(Calibrator.from_dict(level) for level in given["at_least"].values())
        return cls(np.asarray(given["labels"], dtype=np.float64), levels)


def calibrate(
    scores: ArrayLike,
    labels: ArrayLike,
    method: Method | Calibrator = "best",
    weights: ArrayLike | None = None,
) -> LabelCalibration:
    """Learn the probability of every label from scores and labels.

    Parameters
    ----------
    scores
        One score per document.
    labels
        A label of None or NaN marks an unjudged document, which is left out.
    method
        ``"isotonic"``, ``"platt"``, ``"beta"``, a calibrator with its parameters, as ``Beta(logits=True)``, or
        ``"best"``: the one with the lowest log loss on documents that it was not fitted on (beta only if all scores are
        between 0 and 1).
    weights
        How much each document counts (default: the same).

    Examples
    --------
    >>> found = calibrate([0.1, 0.4, 0.5, 0.9], [-2, 1, -2, 1], method="platt")
    >>> found.forbidden([0.1, 0.9]).round(3).tolist()
    [0.701, 0.274]
    """
    values, label = _column("score", scores, most=2), _column("label", labels)
    weight = np.ones(len(values)) if weights is None else _column("weight", weights)
    if not len(values) == len(label) == len(weight):
        raise InputError(f"{len(values)} scores, {len(label)} labels, {len(weight)} weights", remedy="give one of each")
    known = ~np.isnan(label) & (weight > 0)
    if not known.any():
        raise InputError("no document has a label", remedy="label some")
    inside = bool(((values >= 0.0) & (values <= 1.0)).all())  # without a label too: all shall have probabilities
    values, label, weight = values[known], label[known], weight[known]
    like = _best(values, label, weight, inside) if isinstance(method, str) and method == "best" else _calibrator(method)
    return _fitted(like, values, label, weight)


def _fitted(like: Calibrator, values: Floats, label: Floats, weight: Floats) -> LabelCalibration:
    every = ragged.distinct(label)
    return LabelCalibration(every, tuple(replace(like).fit(values, label >= low, weight) for low in every[1:]))


def _calibrator(method: Method | Calibrator) -> Calibrator:
    if isinstance(method, Calibrator):
        return method
    choice(*get_args(Method)).check("method", method)
    return METHODS[method]()


def _best(values: Floats, label: Floats, weight: Floats, inside: bool) -> Calibrator:
    """The calibrator of least cross-validated log loss; every fold has scores from the lowest to the highest."""
    rising = np.lexsort((label, values))
    some = rising[:: 1 + len(rising) // _MOST]
    values, label, weight = values[some], label[some], weight[some]
    fold = np.arange(len(some)) % _FOLDS
    candidates: list[Calibrator] = [Platt(), *([Beta()] if inside else []), Isotonic()]
    if len(some) < 2 * _FOLDS:
        return candidates[0]
    losses = []
    for like in candidates:
        loss = 0.0
        for f in range(_FOLDS):
            own = fold == f
            found = _fitted(like, values[~own], label[~own], weight[~own])
            loss += float(weight[own] @ found.log_loss(values[own], label[own]))
        losses.append(loss)
    return candidates[int(np.argmin(losses))]
