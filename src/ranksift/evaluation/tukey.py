"""Tukey's honestly significant difference: all runs at once, with the p values of all pairs corrected together."""

from __future__ import annotations

from functools import cache

import numpy as np

from ranksift.collection.ragged import Floats
from ranksift.evaluation.significance import ROUNDING, Outcome, Paired

# Points at which the two integrals of the distribution are evaluated; more change no digit that is shown.
_POINTS = 128

# Pairs whose integrals are held at once: 2^14 numbers each.
_AT_ONCE = 256


def tukey(paired: Paired, runs: int, confidence: float) -> tuple[Outcome, tuple[Floats, Floats]]:
    """Tukey's HSD of a two-way analysis of variance without replication: runs and queries are the factors.

    The values of every ``runs`` systems are one measure's. The statistic is q, the difference of two means divided by
    the standard error that all runs share; for two runs it is √2 times the paired t, with the same p. The intervals
    hold for all pairs together.

    Examples
    --------
    >>> outcome, _ = tukey(Paired.all(np.array([[0.1, 0.2, 0.3], [0.6, 0.8, 0.9], [0.2, 0.1, 0.4]])), 3, 0.95)
    >>> outcome.p.round(4)
    array([0.0023, 0.8753, 0.0029])
    """
    n = paired.queries
    cube = paired.values.reshape(-1, runs, n)
    residual = cube - cube.mean(axis=1, keepdims=True) - cube.mean(axis=2, keepdims=True)
    residual += cube.mean(axis=(1, 2), keepdims=True)
    # What rounding leaves of runs that differ by constants is not a spread.
    residual[np.abs(residual) <= ROUNDING * np.abs(cube).max(axis=(1, 2), keepdims=True)] = 0.0
    freedom = (runs - 1) * (n - 1)
    error = np.sqrt((residual**2).sum(axis=(1, 2)) / freedom / n)[paired.left // runs]
    mean = paired.summary.mean
    q = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    half = critical_range(1.0 - confidence, runs, freedom) * error
    return Outcome(q, range_exceeds(q, runs, freedom), np.sign(mean)), (mean - half, mean + half)


def range_exceeds(q: Floats, runs: int, freedom: int) -> Floats:
    r"""The chance that the studentized range of ``runs`` normal means is above q.

    It is one minus the integral over s, the estimate of the standard deviation, of its density times the chance that
    the range of k = ``runs`` standard normal numbers is below q s: k ∫ φ(z) (Φ(z) − Φ(z − q s))^(k − 1) dz.

    Examples
    --------
    >>> range_exceeds(np.array([0.0, 3.877, np.inf]), 3, 10).round(4).tolist()
    [1.0, 0.05, 0.0]
    """
    from scipy.special import ndtr

    out = np.zeros(len(q))
    s, density = _spread(freedom)
    z, weight = _standard_normal()
    finite = np.flatnonzero(np.isfinite(q))
    for some in (finite[i : i + _AT_ONCE] for i in range(0, len(finite), _AT_ONCE)):
        below = np.zeros(len(some))
        for spread, share in zip(s, density, strict=True):
            inside = ndtr(z) - ndtr(z - q[some, None] * spread)
            below += share * runs * (weight * inside ** (runs - 1)).sum(axis=1)
        out[some] = np.clip(1.0 - below, 0.0, 1.0)
    return out


def critical_range(alpha: float, runs: int, freedom: int) -> float:
    """The q that is exceeded with probability ``alpha``.

    >>> round(critical_range(0.05, 3, 10), 3)
    3.877
    """
    low, high = 0.0, 1.0
    while range_exceeds(np.array([high]), runs, freedom)[0] > alpha:
        low, high = high, 2.0 * high
    for _ in range(50):
        middle = (low + high) / 2.0
        above = range_exceeds(np.array([middle]), runs, freedom)[0] > alpha
        low, high = (middle, high) if above else (low, middle)
    return (low + high) / 2.0


@cache
def _standard_normal() -> tuple[Floats, Floats]:
    """Points, and the density of the standard normal distribution there times what they stand for."""
    x, weight = np.polynomial.legendre.leggauss(_POINTS)
    z = 8.5 * x
    return z, 8.5 * weight * np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)


@cache
def _spread(freedom: int) -> tuple[Floats, Floats]:
    """The same of the estimate of a standard deviation of 1: the root of chi² over its degrees of freedom."""
    from scipy.special import chdtri, gammaln

    low, high = (float(np.sqrt(chdtri(freedom, tail) / freedom)) for tail in (1.0 - 1e-15, 1e-15))
    x, weight = np.polynomial.legendre.leggauss(_POINTS)
    s = low + (high - low) * (x + 1.0) / 2.0
    half = freedom / 2.0
    log_density = half * np.log(freedom) + (freedom - 1) * np.log(s) - freedom * s**2 / 2.0
    density = np.exp(log_density - gammaln(half) - (half - 1.0) * np.log(2.0))
    return s, density * weight * (high - low) / 2.0
