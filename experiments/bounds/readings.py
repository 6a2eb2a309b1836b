"""The paper's measures in every reading: its formulas, the exact expectation, and what its tables follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from experiments.bounds.letor import Collection
from ranksift import study
from ranksift.collection.gains import Gains
from ranksift.collection.pool import Pool
from ranksift.evaluation.scores import Scores
from ranksift.measures.bounds import expected_sp, normalise_1, normalise_2, perfect_sp
from ranksift.measures.cumulative import DCG
from ranksift.study.presets import preset

Floats = NDArray[np.float64]

PRESET = preset("bounds-2022")
KS = (5, 10, 15, 20, 30)
EXP = Gains.of(PRESET.gains)


@dataclass(frozen=True)
class Reading:
    """A measure, its two normalisations and its value for a random ranking, all without their k.

    ``tables`` names the columns of the paper's tables that it stands beside.
    """

    name: str
    base: str
    v1: str
    v2: str
    random: str
    tables: str

    @property
    def measures(self) -> tuple[str, str, str]:
        """The measure itself, V1 and V2."""
        return self.base, self.v1, self.v2

    def called(self, version: int) -> str:
        """What one of the three is called in a table."""
        base = "SP / min(k, R)" if self.base == "MAP as printed" else self.base
        return (base, "V1", "V2")[version]


PAPER, ATTAINABLE = '(expected="paper")', '(expected="paper", upper="attainable")'
DCG_EXACT = Reading("DCG", "nDCG", "DCG_ul1", "DCG_ul2", "E_nDCG", "nDCG")
DCG_PRINTED = Reading("DCG as printed", "nDCG", "DCG_V1 as printed", "DCG_V2 as printed", "E_nDCG as printed", "nDCG")
MSP_PAPER = Reading("MSP, k p²", "MSP", f"MSP_ul1{PAPER}", f"MSP_ul2{PAPER}", f"E_MSP{PAPER}", "MAP")
MSP_EXACT = Reading("MSP, exact", "MSP", "MSP_ul1", "MSP_ul2", "E_MSP", "MAP")
MSP_PRINTED = Reading(
    "MSP as printed", "MAP as printed", f"MSP_ul1{ATTAINABLE}", f"MSP_ul2{ATTAINABLE}", "E_MAP as printed", "MAP"
)
READINGS = (DCG_EXACT, DCG_PRINTED, MSP_PAPER, MSP_EXACT, MSP_PRINTED)
WRITTEN, PRINTED = (DCG_EXACT, MSP_PAPER), (DCG_PRINTED, MSP_PRINTED)


def at(names: Iterable[str], ks: Iterable[int] = KS) -> list[str]:
    """Measures with each k."""
    ks = tuple(ks)
    return [f"{name}@{k}" for name in names for k in ks]


def scores_of(qrels: Any, runs: Any) -> Scores:
    """Every run by every reading's measures."""
    others = at((*MSP_EXACT.measures[1:], *MSP_PRINTED.measures[1:]))
    scores = rs.evaluate(qrels, runs, [*PRESET.measures, *others], gains=PRESET.gains, unjudged=PRESET.unjudged)
    pool = rs.read_qrels(qrels).pool_of(scores.queries)
    return with_measures(scores, dict(_as_printed(scores, pool)))


def random_of(qrels: Any) -> Scores:
    """What each reading takes for the score of a random ranking."""
    known = at(reading.random for reading in (DCG_EXACT, MSP_PAPER, MSP_EXACT))
    scores = study.expected_scores(qrels, known, gains=PRESET.gains)
    pool = rs.read_qrels(qrels).pool_of(scores.queries)
    printed = {}
    for k in KS:
        printed[f"{DCG_PRINTED.random}@{k}"] = _over(_printed_dcg(pool, k), DCG(k=k).perfection(pool, EXP))
        printed[f"{MSP_PRINTED.random}@{k}"] = _over(expected_sp(pool, k, "paper"), perfect_sp(pool, k, "attainable"))
    return with_measures(scores, {name: values[None] for name, values in printed.items()})


def _as_printed(scores: Scores, pool: Pool) -> Iterable[tuple[str, Floats]]:
    """Values runs × queries of what the printed tables follow and the library does not offer."""
    for k in KS:
        ideal, random = DCG(k=k).perfection(pool, EXP), _printed_dcg(pool, k)
        dcg = values_of(scores, f"nDCG@{k}") * ideal
        for name, normalise in ((DCG_PRINTED.v1, normalise_1), (DCG_PRINTED.v2, normalise_2)):
            yield f"{name}@{k}", np.stack([normalise(run, random, ideal) for run in dcg])
        yield f"{MSP_PRINTED.base}@{k}", _over(values_of(scores, f"MSP@{k}") * k, perfect_sp(pool, k, "attainable"))


def _printed_dcg(pool: Pool, k: int) -> Floats:
    """E[DCG@k] with 2^E[label] − 1 for the mean gain, where Eq. 7 has E[2^label − 1]."""
    label = pool.sum(pool.labels) / pool.size
    return DCG(k=k).expectation(pool, EXP) * _over(2**label - 1, pool.sum(EXP(pool.labels)) / pool.size)


def _over(value: Floats, bound: Floats) -> Floats:
    """The ratio, 0 where nothing can be had."""
    return np.divide(value, bound, out=np.zeros(np.shape(value)), where=np.broadcast_to(bound > 0, np.shape(value)))


# -- parts of scores -----------------------------------------------------------------------------------


def values_of(scores: Scores, measure: str) -> Floats:
    """Runs × queries."""
    return np.asarray(scores.values[:, :, scores.column(measure)])


def with_measures(scores: Scores, values: dict[str, Floats]) -> Scores:
    """More measures beside those there are."""
    cube = np.concatenate([scores.values, np.stack(list(values.values()), axis=2)], axis=2)
    return Scores.from_array(
        cube, runs=scores.runs, queries=scores.queries, measures=[*map(str, scores.measures), *values]
    )


def part(scores: Scores, *, runs: Iterable[str] | None = None, measures: Iterable[str] | None = None) -> Scores:
    """Some of the runs, by some of the measures."""
    rows = range(len(scores.runs)) if runs is None else [scores.row(run) for run in runs]
    columns = range(len(scores.measures)) if measures is None else [scores.column(m) for m in measures]
    place = np.ix_(rows, range(len(scores.queries)), columns)
    return replace(
        scores,
        runs=tuple(scores.runs[r] for r in rows),
        measures=tuple(scores.measures[c] for c in columns),
        numerators=scores.numerators[place],
        denominators=scores.denominators[place],
    )


def averaged(scores: Scores, groups: dict[str, Sequence[str]]) -> Scores:
    """Groups of runs as one each: the mean of their scores in every query."""
    rows = [scores.values[[scores.row(run) for run in runs]].mean(axis=0) for runs in groups.values()]
    return Scores.from_array(
        np.stack(rows), runs=list(groups), queries=scores.queries, measures=list(map(str, scores.measures))
    )


def over_k(scores: Scores, measure: str) -> Floats:
    """Each run's mean over queries and k."""
    return np.mean([values_of(scores, name).mean(axis=1) for name in at([measure])], axis=0)


@dataclass(frozen=True, eq=False)
class Measured:
    """A collection, the scores of its systems, and those of a random ranking."""

    collection: Collection
    scores: Scores
    random: Scores

    @classmethod
    def of(cls, collection: Collection) -> Measured:
        return cls(collection, scores_of(collection.qrels, collection.runs), random_of(collection.qrels))
