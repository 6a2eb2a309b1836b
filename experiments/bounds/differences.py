"""Percentage absolute differences, and why they are no evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.bounds.readings import Reading, over_k
from experiments.bounds.trials import Trial
from ranksift.study.discrimination import percentage_absolute_difference

#: V2 is negative for most systems on uninformative queries.
STUDIED = ("all", "ideal")


@dataclass(frozen=True)
class Differences:
    """PAD of a measure, of the measure less a constant, of V1 and of V2, and on how many systems."""

    systems: int
    measure: float
    shifted: float
    v1: float
    v2: float


def kinds(reading: Reading) -> list[tuple[str, str, int | None]]:
    """Of :class:`Differences`: what they are of, in words, the field, and the version of the printed ones."""
    return [
        (reading.called(0), "measure", 0),
        ("less a constant", "shifted", None),
        ("V1", "v1", 1),
        ("V2", "v2", 2),
    ]


def differences(trial: Trial, kind: str) -> Differences:
    """PAD on a set, over the systems whose average is positive by each of the four.

    The constant is the mean of what random rankings are expected to get.
    """
    types = trial.types
    chosen = [types.queries.index(query) for query in types.sets[kind]]
    base, v1, v2 = (over_k(trial.on(kind), measure) for measure in trial.reading.measures)
    averages = np.stack([base, base - types.expected[chosen].mean(), v1, v2])
    positive = (averages > 0).all(axis=0)
    return Differences(int(positive.sum()), *(percentage_absolute_difference(row[positive]) for row in averages))
