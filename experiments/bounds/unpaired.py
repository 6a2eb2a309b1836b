"""Tests that ignore which query a score belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.bounds.readings import Floats, at, values_of
from ranksift.evaluation.scores import Scores

ALPHA = 0.05


@dataclass(frozen=True)
class Unpaired:
    """Student's t-test of two independent samples, for every pair of systems and every k."""

    significant: dict[str, NDArray[np.bool_]]
    higher: dict[str, NDArray[np.bool_]]

    def share(self, measure: str) -> float:
        """Of significant pairs, over all k."""
        return float(self.significant[measure].mean())

    def conflicts(self, measure: str, other: str) -> float:
        """Share of the pairs that one measure alone finds significant, or both in opposite directions."""
        one, two = self.significant[measure], self.significant[other]
        opposite = one & two & (self.higher[measure] != self.higher[other])
        return float(((one != two) | opposite).mean())


def unpaired(scores: Scores, measures: tuple[str, ...]) -> Unpaired:
    """Test every pair of systems."""
    first, second = np.triu_indices(len(scores.runs), 1)
    significant, higher = {}, {}
    for measure in measures:
        values = np.stack([values_of(scores, name) for name in at([measure])])
        mean, variance = values.mean(axis=2), values.var(axis=2, ddof=1)
        difference = mean[:, first] - mean[:, second]
        deviation = np.sqrt((variance[:, first] + variance[:, second]) / len(scores.queries))
        significant[measure] = p_value(difference, deviation, 2 * len(scores.queries) - 2) <= ALPHA
        higher[measure] = difference > 0
    return Unpaired(significant, higher)


def p_value(difference: Floats, deviation: Floats, degrees: int) -> Floats:
    """Two-sided, by Student's t; 1 where nothing varies."""
    from scipy.stats import t

    ratio = np.divide(np.abs(difference), deviation, out=np.zeros(np.shape(difference)), where=deviation > 0)
    return np.asarray(2 * t.sf(ratio, degrees))
