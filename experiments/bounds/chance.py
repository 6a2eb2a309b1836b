"""What a random ranking gets: the expectation of every query, and what V2 makes of random rankings."""

from __future__ import annotations

import numpy as np

import ranksift as rs
from experiments.bounds.letor import Collection
from experiments.bounds.readings import (
    DCG_EXACT,
    KS,
    MSP_EXACT,
    MSP_PAPER,
    READINGS,
    Floats,
    Measured,
    Reading,
    at,
    scores_of,
    values_of,
)
from experiments.bounds.trials import SEED
from experiments.markdown import between, number, paragraph, percent, says, table
from ranksift.evaluation.scores import Scores

RANDOM = 20


def random_rankings(collection: Collection) -> Scores:
    """Scores of random orders of all documents."""
    import polars as pl

    documents = collection.qrels.to_frame().select("query_id", "doc_id")
    draw = np.random.default_rng(SEED)
    runs = {
        f"random {i}": rs.read_run(documents.with_columns(pl.Series("score", draw.random(len(documents)))))
        for i in range(RANDOM)
    }
    return scores_of(collection.qrels, runs)


def expected_over_k(measured: Measured, reading: Reading) -> Floats:
    """A random ranking's expected score of each query, averaged over k."""
    return np.mean([values_of(measured.random, name)[0] for name in at([reading.random])], axis=0)


def means(scores: Scores, measure: str) -> list[float]:
    """Over all runs and queries, for each k."""
    return [float(values_of(scores, name).mean()) for name in at([measure])]


def chance(measured: Measured, random: Scores) -> str:
    """Section: the lower bound."""
    expected = {reading: means(measured.random, reading.random) for reading in READINGS}
    simulated = {reading: means(random, reading.base) for reading in READINGS}
    v2 = {reading: means(random, reading.v2) for reading in READINGS}
    rows = [
        [reading.name, what, *(number(value, 3) for value in values[reading])]
        for reading in READINGS
        for what, values in (("taken for random", expected), ("random rankings", simulated), ("their V2", v2))
    ]
    spread = expected_over_k(measured, DCG_EXACT)
    low, high = np.quantile(spread, [0.1, 0.9]).tolist()
    return f"""
## What a random ranking gets

![Histograms of the expected nDCG and MSP of a random ranking](upper-and-lower-bounds-expected.svg)

The paper's first point holds here too: what a random ranking gets differs a lot between queries. Averaged over k, the
expected nDCG is between {number(low, 2)} and {number(high, 2)} for the middle 80 % of the queries of MQ2007;
{percent(float((spread == 0).mean()))} have no relevant document at all, and every measure is 0 there.

We also ranked all documents at random, {RANDOM} times. “Taken for random” is the lower bound in each reading, “random
rankings” is the actual value, and “their V2” is the resulting V2.

{table(["reading", "", *(f"k = {k}" for k in KS)], rows, words=2)}

{_bounds_in_words(expected, simulated)}

{_v2_in_words(v2)}
"""


def _bounds_in_words(expected: dict[Reading, list[float]], simulated: dict[Reading, list[float]]) -> str:
    exact = (DCG_EXACT, MSP_EXACT)
    off = max(abs(a - b) for reading in exact for a, b in zip(expected[reading], simulated[reading], strict=True))
    paper, real = expected[MSP_PAPER], simulated[MSP_PAPER]
    return paragraph(
        says(
            off < 0.002, f"Eq. 7 and the exact expectation of MSP are what random rankings get (within {number(off)})."
        ),
        says(
            all(a < b for a, b in zip(paper, real, strict=True)),
            f"The paper's k p² is too small: {number(paper[0], 3)} instead of {number(real[0], 3)} at 5, because "
            "whether a document is relevant and the precision at its rank are not independent.",
        ),
    )


def _v2_in_words(v2: dict[Reading, list[float]]) -> str:
    return says(
        max(v2[DCG_EXACT] + v2[MSP_EXACT]) < 0,
        "**V2 of a random ranking is not 0 on average**, as the paper says it is, also where the bound is right: "
        f"{between(v2[DCG_EXACT])} for DCG, {between(v2[MSP_EXACT])} for MSP. What lies above the bound is divided by "
        "the distance to the perfect ranking, what lies below by the bound itself, which is mostly smaller. A system "
        "with a V2 of 0 is better than random.",
    )
