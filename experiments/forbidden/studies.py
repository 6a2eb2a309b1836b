"""The papers' procedures, with their settings, on the runs of one year."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

import ranksift as rs
from experiments.web_track.years import Floats, Unjudged, Year
from ranksift import study
from ranksift.study.presets import Preset

#: The years of which there are more than two runs.
YEARS = (2012, 2013)
#: Gienapp et al.'s values of k.
KS = (5, 10, 15, 20)
#: The measures by their headings, as Carmel et al. and as Gienapp et al. understand them; nDCG_f is ours in the latter.
CARMEL = {"nDCG_org": "nDCG_org", "nDCG_0 exp": 'nDCG_0(gains="exp")', "nDCG_min": "nDCG_min", "nDCG_f": "nDCG_f"}
GIENAPP = {name: name for name in ("nDCG_org", "nDCG_0", "nDCG_min", "nDCG_f")}

METHODS: tuple[Literal["sakai"], Literal["sign"]] = ("sakai", "sign")


def at(measures: Sequence[str], *ks: int) -> list[str]:
    """Full names."""
    return [f"{measure}@{k}" for measure, k in product(measures, ks)]


class Study:
    """One year's runs, evaluated and studied as a paper did it."""

    def __init__(self, year: Year, preset: Preset, measures: Sequence[str], unjudged: Unjudged | None = None) -> None:
        self.year = year
        self.preset = preset
        self.scores = rs.evaluate(
            year.qrels, year.runs, list(measures), gains=preset.gains, unjudged=unjudged or preset.unjudged
        )

    @property
    def pairs(self) -> int:
        """The number of pairs of runs."""
        return len(self.year.runs) * (len(self.year.runs) - 1) // 2

    @cached_property
    def stability(self) -> study.Stability:
        """Error rates by number of topics."""
        return self.stability_as()

    def stability_as(self, **reading: Any) -> study.Stability:
        """The same in another reading."""
        return study.stability(self.scores, **{**self.preset.parameters["stability"], **reading})

    @cached_property
    def sensitivity(self) -> dict[str, study.Sensitivity]:
        """Pairs told apart, in both readings."""
        parameters = self.preset.parameters["sensitivity"]
        return {method: study.sensitivity(self.scores, method=method, **parameters) for method in METHODS}

    @cached_property
    def reliability(self) -> study.Reliability:
        """Variance components."""
        return study.reliability(self.scores)

    @cached_property
    def agreement(self) -> study.Agreement:
        """The orders of the runs."""
        return study.agreement(self.scores)

    @cached_property
    def boundedness(self) -> study.Boundedness:
        """What leaves [0, 1]."""
        return self.boundedness_of(str(m) for m in self.scores.measures)

    def boundedness_of(self, measures: Iterable[str]) -> study.Boundedness:
        """The same for other measures."""
        gains, unjudged = self.preset.gains, self.preset.unjudged
        return study.boundedness(self.year.qrels, self.year.runs, list(measures), gains=gains, unjudged=unjudged)

    def means(self, measure: str) -> Floats:
        """Each run's mean."""
        return self.scores.aggregate()[:, self.scores.column(measure)]

    @property
    def topics(self) -> int:
        """The number of topics."""
        return len(self.scores.queries)

    def gap(self, measure: str, other: str) -> tuple[float, float, float]:
        """Φ of a measure minus Φ of another, and its 95 % interval by leaving out one topic at a time (jackknife)."""
        both = [self.scores.column(measure), self.scores.column(other)]

        def difference(queries: Sequence[str]) -> float:
            phi = list(study.reliability(study.on_queries(self.scores, queries), samples=0).phi.values())
            return phi[both[0]] - phi[both[1]]

        n = self.topics
        found = difference(self.scores.queries)
        without = np.array([difference([q for q in self.scores.queries if q != out]) for out in self.scores.queries])
        deviation = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
        return found, found - 1.96 * deviation, found + 1.96 * deviation
