"""What the outputs of a trained model mean: from numbers to a score, by the loss that they were trained with."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.parameters import text

#: What a score is: the loss's own (Carmel et al. 2022), or the expected gain.
ScoreKind = Literal["own", "expected_gain"]

_ORDINAL = ("ordinal", "weighted_ordinal")
_WITH_GAINS = (*_ORDINAL, "bce", "mse")
# Losses with a pointwise part beside that of pairs, and weights of it to try.
_WITH_GAMMA, _GAMMAS = ("lambdarank_bce", "lambdarank_f"), (0.1, 0.3, 1.0, 3.0)
# Losses with a stop at score 0: what lies below is not worth showing.
_WITH_STOP = ("lambdarank_f", "expected_share")

#: Of a Poisson regression: the largest logarithm.
MOST_POISSON = 50.0


@dataclass(frozen=True, eq=False)
class Outputs:
    r"""How many outputs a model has for a document, and the score that they make.

    ========================  =======================================  =================================
    loss                      own score                                expected gain
    ========================  =======================================  =================================
    ``mse``                   the output                               the output
    ``bce``                   the output, whose sigmoid is P(g > 0)    :math:`g_- + (g_+ - g_-)\, P(g > 0)`
    ``ordinal``               :math:`\sum_i P(g > g_i)`                :math:`g_1 + \sum_i w(i) P(g > g_i)`
    ``weighted_ordinal``      :math:`\sum_i w(i) P(g > g_i)`           the same
    ``expected_share``        what showing it adds to nDCG_f           unknown
    others                    the output                               unknown
    ========================  =======================================  =================================

    with :math:`g_1 < g_2 < \dots` the gains, :math:`w(i) = g_{i+1} - g_i`, and :math:`g_-, g_+` the mean gains of
    training documents that are not, and that are, worth showing. For DCG the best list has the documents of an expected
    gain of at least 0, by their expected gain.

    Parameters
    ----------
    loss
        Its name.
    levels
        Gains that the outputs speak of; :meth:`of` finds them.
    kind
        ``"own"`` or ``"expected_gain"``.

    Examples
    --------
    >>> outputs = Outputs.of("weighted_ordinal", np.array([-10.0, 1.0, 2.0, 2.0]))
    >>> outputs.width, outputs.natural_cut
    (2, 10.0)
    >>> outputs.score(np.array([[0.0, 0.0], [9.0, 9.0]])).round(2).tolist()
    [6.0, 12.0]
    """

    loss: str
    levels: Floats
    kind: ScoreKind = "own"

    @classmethod
    def of(cls, loss: str, gains: Floats, kind: ScoreKind = "own") -> Outputs:
        """Outputs for a loss and the gains of the training documents."""
        check_scores(loss, kind)
        levels = np.zeros(0)
        if loss in _ORDINAL:
            levels = ragged.distinct(gains)
        elif loss == "bce":
            levels = np.array([part.mean() if len(part) else 0.0 for part in (gains[gains <= 0], gains[gains > 0])])
        return cls(loss, levels, kind)

    @property
    def ordinal(self) -> bool:
        """Whether outputs ask for each level if the gain is above it."""
        return self.loss in _ORDINAL

    @property
    def several(self) -> bool:
        """Whether the loss takes lists × documents × outputs, and not lists × documents."""
        return self.ordinal or self.loss == "expected_share"

    @property
    def width(self) -> int:
        """Outputs a document."""
        return len(self.levels) - 1 if self.ordinal else 2 if self.several else 1

    @property
    def fits(self) -> bool:
        """Whether there are as many levels as the loss has."""
        return len(self.levels) > 0 if self.ordinal else len(self.levels) == (2 if self.loss == "bce" else 0)

    @property
    def natural_cut(self) -> float | None:
        """The score of an expected gain of 0; None if a score does not determine it."""
        if self.kind == "expected_gain" or self.loss == "mse" or self.loss in _WITH_STOP:
            return 0.0
        if self.loss == "weighted_ordinal":
            return float(-self.levels[0])
        if self.loss == "bce":
            low, high = self.levels  # the odds at which they weigh the same
            return -np.inf if low == 0 else np.inf if high == 0 else float(np.log(-low / high))
        return None

    def score(self, outputs: NDArray[np.float64]) -> Floats:
        """Scores of documents from documents × outputs."""
        if self.loss == "expected_share":
            return expected_share(outputs[:, 0], outputs[:, 1])
        from scipy.special import expit

        gain = self.kind == "expected_gain"
        if self.loss == "mse" or not (self.ordinal or gain):
            return np.asarray(outputs[:, 0])
        weight = np.diff(self.levels) if gain or self.loss == "weighted_ordinal" else np.ones(self.width)
        return np.asarray((self.levels[0] if gain else 0.0) + (expit(outputs) * weight).sum(axis=1))


def speaking_of(wanted: Floats, levels: Floats) -> Ints:
    """Which outputs of an ordinal model of some levels speak of the levels that are wanted, but for the lowest.

    A model that was fitted to some of the queries may lack a level; then the next one speaks for it.

    >>> speaking_of(np.array([-10.0, 1.0, 2.0]), np.array([-10.0, 2.0])).tolist()
    [0, 0]
    """
    return np.minimum(np.searchsorted(levels[1:], wanted[1:]), max(len(levels) - 2, 0))


def expected_share(s: Floats, p: Floats) -> Floats:
    r"""What showing a document is expected to add: :math:`e^p (1 - e^{-s})`, of the sign of s, and finite.

    >>> expected_share(np.array([0.0, 100.0]), np.array([5.0, 0.0])).tolist()
    [0.0, 1.0]
    """
    return np.exp(np.minimum(p, MOST_POISSON)) * -np.expm1(-np.maximum(s, -MOST_POISSON))


def log_odds(happened: NDArray[np.bool_], weight: Floats) -> float:
    """Of an outcome, with half of one more of each kind, so that it is finite.

    >>> round(log_odds(np.array([True, True, True, False]), np.ones(4)), 3)  # log(3.5 / 1.5)
    0.847
    """
    half = weight.mean() / 2.0
    if not half:  # nothing counts
        return 0.0
    return float(np.log((weight[happened].sum() + half) / (weight[~happened].sum() + half)))


def check_scores(loss: str, kind: ScoreKind) -> None:
    """Refuse scores that a loss cannot give."""
    if kind == "expected_gain" and loss not in _WITH_GAINS:
        what = f"the loss {loss!r} orders documents and does not estimate their gains"
        raise InputError(what, remedy=f"use one of {', '.join(_WITH_GAINS)}, or scores='own'")


def parse_loss(spec: str) -> tuple[str, dict[str, Any]]:
    """Name and options of a loss.

    >>> parse_loss("focused(k=5, beta=0.3)")
    ('focused', {'k': 5, 'beta': 0.3})
    """
    text("the name of a loss").check("loss", spec)
    try:
        node = ast.parse(spec.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return node.id, {}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            options = {str(o.arg): ast.literal_eval(o.value) for o in node.keywords}
            if len(options) == len(node.keywords):  # none is given twice
                return node.func.id, options
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        pass
    raise InputError(f"loss {spec!r} is not understood", remedy="write a name, or lambdarank_bce(gamma=0.5)")


def space_of_gamma(loss: str) -> dict[str, list[str]]:
    """Where tuning searches for γ: of a loss that has one, and says none, itself and other weights of its BCE.

    >>> space_of_gamma("lambdarank_bce(k=3)")["loss"][:2], space_of_gamma("lambdarank_bce(gamma=2)")
    (['lambdarank_bce(k=3)', 'lambdarank_bce(gamma=0.1, k=3)'], {})
    """
    name, options = parse_loss(loss)
    if name not in _WITH_GAMMA or "gamma" in options:
        return {}
    said = "".join(f", {option}={value!r}" for option, value in options.items())
    return {"loss": [loss, *(f"{name}(gamma={gamma:g}{said})" for gamma in _GAMMAS)]}
