"""Samples of topics, and what every run gets on each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import product, times_drawn
from ranksift.measures.measure import Measure

#: What samples of topics may be given as: their number, or each sample's topics, as indices into ``scores.queries``.
Samples = int | Sequence[Sequence[int]] | NDArray[np.integer]


def topics_of(samples: Any, topics: int) -> list[Ints]:
    """Samples that were drawn elsewhere, each with its topics' indices, checked.

    >>> [sample.tolist() for sample in topics_of([[0, 2], [1]], topics=3)]
    [[0, 2], [1]]
    """
    try:
        drawn = [np.asarray(sample) for sample in samples]
    except (TypeError, ValueError):
        drawn = []
    if not drawn:
        raise InputError(
            f"samples={samples!r} is neither a number nor a list of samples",
            remedy="give a whole number, or a list of lists of topic indices",
        )
    for s, sample in enumerate(drawn):
        if sample.ndim != 1 or not len(sample) or not np.issubdtype(sample.dtype, np.integer):
            raise InputError(
                f"sample {s} is not a list of topic indices", remedy="give whole numbers, counting topics from 0"
            )
        outside = sample[(sample < 0) | (sample >= topics)]
        if len(outside):
            raise InputError(
                f"sample {s} has topic {outside[0]}, there are {topics}", remedy=f"count topics from 0 to {topics - 1}"
            )
    return [sample.astype(np.int64) for sample in drawn]


def pooled(scores: Scores, m: int) -> bool:
    """Whether a measure's aggregate is more than the mean of each topic's own value: micro measures, c@1 and GMAP."""
    measure = scores.measures[m]
    if not isinstance(measure, Measure):
        return False
    micro = measure.aggregation == "micro" and bool((scores.denominators[:, :, m] != 1).any())
    own = type(measure)
    return micro or own.values is not Measure.values or own.aggregate is not Measure.aggregate


def aggregates(scores: Scores, m: int, drawn: NDArray[np.integer], block: int = 1 << 20) -> Floats:
    """Every run's aggregate of measure number ``m`` on each sample: runs × samples; ``drawn`` is samples × topics.

    >>> scores = Scores.from_array([[[0.0], [1.0], [5.0]]], runs=["a"], queries=["p", "q", "r"], measures=["AP"])
    >>> aggregates(scores, 0, np.array([[0, 1], [1, 2]])).tolist()
    [[0.5, 3.0]]
    """
    measure = scores.measures[m]
    runs, topics, _ = scores.numerators.shape
    samples, size = drawn.shape
    if not pooled(scores, m):
        totals = product(np.ascontiguousarray(scores.values[:, :, m]), times_drawn(drawn, topics))
        summed = isinstance(measure, Measure) and measure.aggregation == "sum"
        return np.asarray(totals if summed else totals / size)
    out = np.empty((runs, samples))
    step = max(1, block // (runs * size))
    for start in range(0, samples, step):
        some = drawn[start : start + step]
        numerators, denominators = scores.numerators[:, some, m], scores.denominators[:, some, m]
        out[:, start : start + step] = scores.aggregate_of(m, numerators, denominators)
    return out
