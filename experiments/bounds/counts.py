"""Which test the paper used: its counts of significant pairs, and those that its printed means lead to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.bounds import printed
from experiments.bounds.letor import SETTINGS
from experiments.bounds.origins import nearest_setting
from experiments.bounds.readings import DCG_PRINTED, MSP_PRINTED, Floats, Measured, at, part, values_of
from experiments.bounds.trials import DRAWN
from experiments.bounds.unpaired import ALPHA, p_value


@dataclass(frozen=True)
class Counts:
    """Significant pairs of the eight learners on all 1,000 queries: printed, and what their printed means lead to."""

    printed: int
    unpaired: int
    paired: int


def counts(measured: Measured) -> dict[str, Counts]:
    """For each measure that is printed.

    Means are the paper's, deviations ours: of ListNet's scores between queries (unpaired), and of the differences of
    two systems in a query, the median over all pairs of systems (paired).
    """
    learners, near = np.triu_indices(8, 1), SETTINGS[nearest_setting(measured)]
    runs = np.triu_indices(len(measured.scores.runs), 1)
    found = {}
    for reading, names in ((DCG_PRINTED, ("nDCG", "DCG V1", "DCG V2")), (MSP_PRINTED, ("MAP", "MSP V1", "MSP V2"))):
        for i, name in enumerate(names):
            means = printed.learners(printed.SCORES[reading.tables][i])
            independent = dependent = 0
            for column, measure in enumerate(at([reading.measures[i]])):
                gap = means[learners[0], column] - means[learners[1], column]
                spread = values_of(part(measured.scores, runs=near), measure).std(axis=1, ddof=1).mean()
                between = np.median(np.sqrt(_variance_of_differences(values_of(measured.scores, measure))[runs]))
                independent += int((p_value(gap, spread * np.sqrt(2 / DRAWN), 2 * DRAWN - 2) <= ALPHA).sum())
                dependent += int((p_value(gap, between / np.sqrt(DRAWN), DRAWN - 1) <= ALPHA).sum())
            found[name] = Counts(printed.SIGNIFICANT[reading.tables][i][0], independent, dependent)
    return found


def _variance_of_differences(values: Floats) -> Floats:
    """Systems × systems."""
    covariance = np.cov(values)
    variance = np.diag(covariance)
    return np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0)
