"""A plain model: multinomial logistic regression with a ridge, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: λ of the penalty λ |w|² / 2 on weights of features of deviation 1, beside a sum of log losses. Not tuned.
RIDGE = 10.0


@dataclass(frozen=True, eq=False)
class LogisticRegression:
    """Probabilities of labels from features.

    Attributes
    ----------
    labels
        From the lowest to the highest.
    mean, deviation
        Of the features that it was fitted on.
    weights
        A column for every label but the lowest, the intercept first.
    """

    labels: Floats
    mean: Floats
    deviation: Floats
    weights: Floats

    @classmethod
    def fit(cls, features: Floats, label: Floats, ridge: float = RIDGE) -> Self:
        """The one optimum, to the last digits."""
        labels = np.unique(label)
        deviation = features.std(axis=0)
        made = cls(labels, features.mean(axis=0), np.where(deviation > 0, deviation, 1.0), np.zeros((0, 0)))
        x = made._columns(features)
        target = (label[:, None] == labels[1:]).astype(np.float64)
        n, classes = x.shape[1], len(labels) - 1
        penalty = np.full((n, classes), ridge)
        penalty[0] = 0.0
        w = np.zeros((n, classes))
        for _ in range(50):
            p = _softmax(x @ w)[:, 1:]
            slope = x.T @ (p - target) + penalty * w
            bend = np.empty((classes, n, classes, n))
            for a in range(classes):
                for b in range(a + 1):
                    bend[a, :, b] = (x * (p[:, a] * ((a == b) - p[:, b]))[:, None]).T @ x
                    bend[b, :, a] = bend[a, :, b]
            square = bend.reshape(classes * n, classes * n) + np.diag(penalty.T.ravel())
            step = np.linalg.solve(square, slope.T.ravel()).reshape(classes, n).T
            w -= step
            if np.abs(step).max() < 1e-10:
                return cls(labels, made.mean, made.deviation, w)
        raise ArithmeticError("Newton's method did not converge")

    def probabilities(self, features: Floats) -> Floats:
        """One row per document, one column per label."""
        return _softmax(self._columns(features) @ self.weights)

    def _columns(self, features: Floats) -> Floats:
        return np.column_stack([np.ones(len(features)), (features - self.mean) / self.deviation])


def _softmax(z: Floats) -> Floats:
    """The lowest label has z = 0."""
    from scipy.special import softmax

    out: Floats = softmax(np.column_stack([np.zeros(len(z)), z]), axis=1)
    return out


def out_of_fold(features: Floats, label: Floats, fold: Ints) -> Floats:
    """Probabilities of every document from a model that has not seen its fold."""
    out = np.empty((len(label), len(np.unique(label))))
    for f in np.unique(fold):
        own = fold == f
        out[own] = LogisticRegression.fit(features[~own], label[~own]).probabilities(features[own])
    return out
