"""Percentage absolute differences, and why they are no evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.bounds import printed
from experiments.bounds.queries import Trials
from experiments.bounds.readings import PRINTED, Reading, over_k
from experiments.bounds.trials import SETS, Trial
from experiments.markdown import between, number, says, table
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


def growth(trials: Trials) -> list[float]:
    """How many times larger PAD becomes when a constant is taken from the measure."""
    found = [differences(trial, kind) for trial in trials.values() for kind in STUDIED]
    return [pad.shifted / pad.measure for pad in found]


def percentage_differences(drawn: Trials) -> str:
    """Section: PAD."""
    rows, systems = [], []
    for reading, trial in drawn.items():
        found = [differences(trial, kind) for kind in STUDIED]
        systems += [pad.systems for pad in found]
        for name, field, version in kinds(reading):
            paper = ["", "", ""]
            if reading in PRINTED and version is not None:
                paper = [number(value, 2) for value in printed.PAD[reading.tables][version]]
            rows.append([reading.name, name, *(number(getattr(pad, field), 2) for pad in found), *paper])
    negative = [int((over_k(t.on("uninformative"), t.reading.v2) < 0).sum()) for t in drawn.values()]
    every, grown = len(next(iter(drawn.values())).measured.scores.runs), growth(drawn)
    in_words = says(
        min(grown) > 1.2,
        "PAD rises from the measure to V1 and V2, as in the paper. But PAD depends on where 0 lies. “Less a constant” "
        "is the measure minus one number, the mean of its expected values. No order, no difference between two systems "
        f"and no p-value changes, and PAD becomes {between(grown, 1)} times as large. A higher PAD does not mean "
        "that a measure separates systems better.",
    )
    return f"""
## Percentage differences

PAD is the mean of |a − b| / max(a, b) over pairs of systems, in percent. It has no meaning where averages are negative,
so it is taken over the systems with positive averages ({min(systems)} to {max(systems)} of {every}), and not at all on
uninformative queries, where V2 is negative for {min(negative)} to {max(negative)} of the {every} systems.

{table(["reading", "measure", *STUDIED, *(f"paper: {kind}" for kind in SETS)], rows, words=2)}

{in_words}
"""
