"""What a random ranking gets: the expectation of every query, and what V2 makes of random rankings."""

from __future__ import annotations

import numpy as np

import ranksift as rs
from experiments.bounds.letor import Collection
from experiments.bounds.readings import Floats, Measured, Reading, at, scores_of, values_of
from experiments.bounds.trials import SEED
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
