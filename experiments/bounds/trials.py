"""One reading of the paper's measures, studied on all, uninformative and ideal queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from experiments.bounds.readings import PRESET, READINGS, Measured, Reading, at, part
from experiments.bounds.unpaired import Unpaired, unpaired
from ranksift import study
from ranksift.evaluation.scores import Scores
from ranksift.study.agreement import Agreement
from ranksift.study.discrimination import Discrimination
from ranksift.study.query_types import QueryTypes

SETS = ("all", "uninformative", "ideal")
#: Their names at the head of a wide table.
SHORT = ("all", "uninf.", "ideal")
SEED = 0
#: As in the paper: queries that are drawn from MQ2007, and those of each kind among them.
DRAWN, SIZE = 1000, 500


@dataclass(frozen=True, eq=False)
class Trial:
    """A reading on some queries of a collection; ``size`` of them are uninformative and as many ideal."""

    measured: Measured
    reading: Reading
    queries: Sequence[str]
    size: int
    _tests: dict[tuple[str, tuple[str, ...]], Discrimination] = field(default_factory=dict)

    @cached_property
    def scores(self) -> Scores:
        """Every system by the measure and its two normalisations, for each k."""
        return study.on_queries(part(self.measured.scores, measures=at(self.reading.measures)), self.queries)

    @cached_property
    def types(self) -> QueryTypes:
        """Types by the means over systems and k of the measure itself."""
        random = study.on_queries(part(self.measured.random, measures=at([self.reading.random])), self.queries)
        return study.query_types(part(self.scores, measures=at([self.reading.base])), random, size=self.size)

    def on(self, kind: str, runs: Sequence[str] | None = None) -> Scores:
        """Scores on a set of queries."""
        return study.on_queries(part(self.scores, runs=runs), self.types.sets[kind])

    def discrimination(self, kind: str, runs: Sequence[str] = ()) -> Discrimination:
        """Paired tests of every pair of systems; of all where none is named."""
        key = kind, tuple(runs)
        if key not in self._tests:
            self._tests[key] = study.discrimination(self.on(kind, runs or None), **PRESET.parameters["discrimination"])
        return self._tests[key]

    @cached_property
    def unpaired(self) -> dict[str, Unpaired]:
        """Unpaired tests of the same on each set."""
        return {kind: unpaired(self.on(kind), self.reading.measures) for kind in SETS}

    @cached_property
    def agreement(self) -> dict[str, Agreement]:
        """Orders of the systems on each set."""
        return {kind: study.agreement(self.on(kind), **PRESET.parameters["agreement"]) for kind in SETS}


def drawn_queries(queries: Sequence[str]) -> list[str]:
    """The paper's 1,000 queries were drawn at random; so are these."""
    chosen = np.sort(np.random.default_rng(SEED).choice(len(queries), DRAWN, replace=False))
    return [queries[i] for i in chosen]


def trials(measured: Measured, queries: Sequence[str], size: int = SIZE) -> dict[Reading, Trial]:
    """A trial of every reading."""
    return {reading: Trial(measured, reading, queries, size) for reading in READINGS}
