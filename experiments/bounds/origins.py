"""Which formulas the printed tables follow: ListNet's row beside real ListNet models, and the other learners' too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.bounds import printed
from experiments.bounds.letor import SETTINGS
from experiments.bounds.readings import (
    DCG_EXACT,
    DCG_PRINTED,
    KS,
    MSP_PAPER,
    MSP_PRINTED,
    Floats,
    Measured,
    Reading,
    at,
    averaged,
    part,
    values_of,
)
from experiments.bounds.trials import DRAWN, SEED
from ranksift.evaluation.scores import Scores
from ranksift.measures.bounds import perfect_sp

DRAWS = 1000
#: Each printed row of ListNet with the readings that could have made it: what is written, then what was found.
ROWS = (
    ("nDCG", 0, "nDCG", ((DCG_EXACT, "the same by every reading"),)),
    ("nDCG", 1, "DCG V1", ((DCG_EXACT, "Eq. 7: E[2^l − 1]"), (DCG_PRINTED, "2^E[l] − 1"))),
    ("nDCG", 2, "DCG V2", ((DCG_EXACT, "Eq. 7: E[2^l − 1]"), (DCG_PRINTED, "2^E[l] − 1"))),
    ("MAP", 0, "MAP", ((MSP_PAPER, "Eq. 3: SP / k"), (MSP_PRINTED, "SP / min(k, R)"))),
    ("MAP", 1, "MSP V1", ((MSP_PAPER, "bound k, k p²"), (MSP_PRINTED, "bound min(k, R), k p²"))),
    ("MAP", 2, "MSP V2", ((MSP_PAPER, "bound k, k p²"), (MSP_PRINTED, "bound min(k, R), k p²"))),
)


@dataclass(frozen=True)
class Row:
    """ListNet's mean for each k by one reading, the middle 95 % of samples of 1,000 queries, and what is printed."""

    mean: Floats
    low: Floats
    high: Floats
    printed: Floats

    @property
    def inside(self) -> int:
        """At how many k the printed value is one that a sample could have given."""
        return int(((self.low <= self.printed) & (self.printed <= self.high)).sum())


#: By the paper's tables, the version (0 is the measure itself) and the reading.
Rows = dict[tuple[str, int, Reading], Row]


def nearest_setting(measured: Measured) -> str:
    """The RankLib setting whose nDCG is nearest to that printed for ListNet; no other measure has a say."""
    settings = averaged(part(measured.scores, measures=at(["nDCG"])), SETTINGS)
    wanted = np.array(printed.NDCG[printed.LISTNET])
    off = {
        run: np.abs(row.mean(axis=0) - wanted).max() for run, row in zip(settings.runs, settings.values, strict=True)
    }
    return min(off, key=lambda run: off[run])


def listnet_rows(scores: Scores, setting: str) -> Rows:
    """Every reading of every printed row, by the models of a setting."""
    scores = averaged(scores, {setting: SETTINGS[setting]})
    random, queries = np.random.default_rng(SEED), len(scores.queries)
    drawn = np.array([random.permutation(queries) < DRAWN for _ in range(DRAWS)]) / DRAWN
    rows = {}
    for tables, i, _, readings in ROWS:
        for reading, _ in readings:
            values = np.stack([values_of(scores, name)[0] for name in at([reading.measures[i]])], axis=1)
            low, high = np.quantile(drawn @ values, [0.025, 0.975], axis=0)
            row = np.array(printed.SCORES[tables][i][printed.LISTNET])
            rows[tables, i, reading] = Row(values.mean(axis=0), low, high, row)
    return rows


def perfect_msp(measured: Measured, k: int) -> float:
    """Mean of SP@k / k for perfect rankings of all queries."""
    pool = measured.collection.qrels.pool_of(measured.scores.queries)
    return float(perfect_sp(pool, k, "attainable").mean()) / k


def with_fewer(measured: Measured, relevant: int) -> float:
    """Share of the queries with fewer relevant documents than that."""
    pool = measured.collection.qrels.pool_of(measured.scores.queries)
    return float((perfect_sp(pool, relevant, "attainable") < relevant).mean())


def off_the_line(measured: Measured, reading: Reading, i: int, k: int) -> float:
    """How far the eight learners lie from the straight line on which our systems' measure and normalisation lie.

    The line is fitted to the systems that are no worse than the worst learner by 0.02.
    """
    scores = measured.scores
    base, other = (values_of(scores, f"{reading.measures[j]}@{k}").mean(axis=1) for j in (0, i))
    at_k = KS.index(k)
    x, y = (printed.learners(printed.SCORES[reading.tables][j])[:, at_k] for j in (0, i))
    near = base > x.min() - 0.02
    slope, height = np.polyfit(base[near], other[near], 1)
    return float((y - height - slope * x).mean())
