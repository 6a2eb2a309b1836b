"""All learners tuned, and the measures studied: ``python -m experiments.learned_rankers.measure``, twenty minutes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import ranksift as rs
from experiments import experiment
from experiments.bounds import printed
from experiments.bounds.differences import STUDIED, differences
from experiments.bounds.orders import tau
from experiments.bounds.pairs import conflicts, significant
from experiments.bounds.readings import (
    DCG_EXACT,
    DCG_PRINTED,
    MSP_PRINTED,
    READINGS,
    Measured,
    Reading,
    at,
    over_k,
    part,
)
from experiments.bounds.trials import DRAWN, SETS, SIZE, Trial, drawn_queries, trials
from experiments.learned_rankers import EXPERIMENT
from experiments.learned_rankers.fits import measured
from experiments.learned_rankers.methods import METHODS
from experiments.web_track.statistics import kendall_tau
from ranksift import study
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.compare import Comparison

Trials = Mapping[Reading, Trial]
#: Queries of each kind where a collection has fewer than the paper drew.
FEWER = 250
#: What is shown beside the printed tables: the readings that they follow.
SHOWN = {
    "nDCG": (DCG_PRINTED, 0),
    "DCG V1": (DCG_PRINTED, 1),
    "DCG V2": (DCG_PRINTED, 2),
    "MAP": (MSP_PRINTED, 0),
    "MSP V1": (MSP_PRINTED, 1),
    "MSP V2": (MSP_PRINTED, 2),
}
VERSIONS = (0, 1, 2)


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page."""
    return told(measured(data))


def told(found: Sequence[Measured]) -> dict[str, Any]:
    """Two collections with their learners, studied each for itself and together."""
    with warnings.catch_warnings():
        # About ties at the border of a set, and about PAD of negative averages: the page says so itself.
        warnings.simplefilter("ignore", RankSiftWarning)
        studied = [trials_of(one) for one in found]
        return {
            "collections": [
                {
                    "name": one.collection.name,
                    "scores": {name: scores(one, *version) for name, version in SHOWN.items()},
                    "apart": apart(one),
                    "types": types(some[DCG_EXACT]),
                    "readings": {reading.name: of_reading(trial) for reading, trial in some.items()},
                }
                for one, some in zip(found, studied, strict=True)
            ],
            "alike": {name: alike(found[-1], *version) for name, version in SHOWN.items()},
            "across collections": {
                reading.name: {kind: swaps_of_collections(*(some[reading] for some in studied), kind) for kind in SETS}
                for reading in READINGS
            },
        }


def trials_of(measured: Measured) -> Trials:
    """As in the paper 1,000 queries that are drawn, and 500 of each kind; of fewer queries all, and 250."""
    queries = measured.scores.queries
    if len(queries) < DRAWN:
        return trials(measured, queries, FEWER)
    return trials(measured, drawn_queries(queries), SIZE)


def compared(measured: Measured, reading: Reading, version: int) -> Comparison:
    """All pairs of learners on all queries, by one measure at every k."""
    return rs.compare(part(measured.scores, measures=at([reading.measures[version]])))


def scores(measured: Measured, reading: Reading, version: int) -> dict[str, dict[str, Any]]:
    """Each learner's means at every k, and the letters of those that it beats significantly."""
    found = compared(measured, reading, version)
    return {
        method: {
            "letter": found.letters[method],
            "means": found.means[found.scores.row(method)],
            "worse": [
                "".join(found.letters[other] for other in found.better_than(method, measure))
                for measure in found.scores.measures
            ],
        }
        for method in found.scores.runs
    }


def apart(measured: Measured) -> dict[str, int]:
    """Pairs of learners that differ significantly by nDCG@10 on all queries, and all pairs."""
    found = compared(measured, DCG_EXACT, 0)
    return {"differ": found.significant[:, found.scores.column("nDCG@10")].sum(), "of": len(found.pairs)}


def order_by(measured: Measured, reading: Reading, version: int) -> np.ndarray:
    """Means over queries and k, in the order of the paper's tables."""
    found = over_k(measured.scores, reading.measures[version])
    return np.array([found[measured.scores.row(method)] for method in METHODS])


def printed_order(reading: Reading, version: int) -> np.ndarray:
    """The same of the printed table."""
    return printed.learners(printed.SCORES[reading.tables][version]).mean(axis=1)


def alike(measured: Measured, reading: Reading, version: int) -> float:
    """Kendall's τ of our order and the printed one."""
    return kendall_tau(order_by(measured, reading, version), printed_order(reading, version))


def types(trial: Trial) -> dict[str, Any]:
    """How many queries are of each kind, and by how much their learners are above a random ranking."""
    found = trial.types
    return {
        "queries": len(found.queries),
        **{
            kind: {
                "count": len(found.sets[kind]),
                "gap": found.difference[[found.queries.index(query) for query in found.sets[kind]]].mean(),
            }
            for kind in SETS[1:]
        },
    }


def of_reading(trial: Trial) -> dict[str, Any]:
    """What a reading of the measures makes of the learners, on each kind of queries."""
    return {
        "tau": {kind: [tau(trial, kind, version) for version in VERSIONS[1:]] for kind in SETS},
        "significant": {kind: [tests(significant, trial, kind, version) for version in VERSIONS] for kind in SETS},
        "conflicts": {kind: [tests(conflicts, trial, kind, version) for version in VERSIONS[1:]] for kind in SETS},
        "differences": {kind: asdict(differences(trial, kind)) for kind in STUDIED},
        "swaps": swaps_of_sets(trial),
    }


def tests(share: Callable[..., float], trial: Trial, kind: str, version: int) -> dict[str, int]:
    """How many of all tests, paired and unpaired."""
    return {
        name: round(printed.TESTED * share(trial, kind, version, paired=paired))
        for name, paired in (("paired", True), ("unpaired", False))
    }


def swaps_of_sets(trial: Trial) -> list[float]:
    """Swap rates between uninformative and ideal queries: of the measure, V1 and V2."""
    rate = study.consistency(trial.on("uninformative"), trial.on("ideal"), over_k=True).swap_rate
    return [rate[measure] for measure in trial.reading.measures]


def swaps_of_collections(one: Trial, two: Trial, kind: str) -> list[float]:
    """Swap rates between two collections."""
    rate = study.consistency(one.on(kind), two.on(kind), over_k=True).swap_rate
    return [rate[measure] for measure in one.reading.measures]


if __name__ == "__main__":
    experiment.measure(EXPERIMENT)
