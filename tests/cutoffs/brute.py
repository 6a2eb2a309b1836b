"""Cuts one at a time: what a sweep must find."""

import numpy as np

from ranksift.collection.judged_run import JudgedRun
from ranksift.measures.measure import Measure


def at_threshold(
    measure: Measure, scores, labels, groups, threshold, rank_scores=None, gains="linear", unjudged="zero"
):
    """Every query's own value and the aggregate, with documents below the threshold dropped."""
    scores, labels = np.asarray(scores, float), np.asarray(labels, float)
    judged = JudgedRun.from_arrays(
        np.nan_to_num(labels),
        scores if rank_scores is None else rank_scores,
        groups,
        gains=gains,
        judged=~np.isnan(labels),
        kept=scores >= threshold,
    )
    found = measure.per_query(judged.without_unjudged() if unjudged == "drop" else judged)
    return measure.values(*found), float(measure.aggregate(*found))


def all_thresholds(scores):
    """+∞, and every distinct score from the highest down."""
    return [np.inf, *sorted(set(np.asarray(scores, float).tolist()), reverse=True)]


def small_case(draw: np.random.Generator, kind: int):
    """A few documents of a few queries: ties, all forbidden, none forbidden, one document, unjudged ones."""
    n = 1 if kind % 7 == 0 else int(draw.integers(1, 13))
    scores = draw.integers(0, 4, n).astype(float) if kind % 2 else draw.normal(size=n)
    labels = draw.choice([[-2.0, -1, 0, 1, 3], [-1.0], [0.0, 1, 2], [-2.0, 0, 2, np.nan], [0.0]][kind % 5], n)
    groups = draw.choice(["a", "b", "c"][: 1 + kind % 3], n)
    rank_scores = draw.integers(0, 5, n).astype(float) if kind % 3 == 0 else None
    return scores, labels, groups, rank_scores
