"""Φ as the program computes it that Gienapp et al. published, beside their formula."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from experiments.forbidden.printed import TABLE_2D
from experiments.forbidden.studies import GIENAPP, KS
from experiments.web_track.years import Year as Runs
from ranksift import study

Floats = NDArray[np.float64]

#: What is added to all scores, numberings of topics, and draws of random scores.
ADDED, NUMBERINGS, DRAWS = 0.4, 1000, 100
#: What nDCG_f would add is not in the paper.
THEIRS = tuple(m for m in GIENAPP if m in TABLE_2D[2012])


class Both(TypedDict):
    """Φ of some scores by the program and by the formula, and their mean."""

    program: float
    formula: float
    mean: float


def phi_of_program(values: Floats, intercept: bool = False) -> float:
    """Φ from the model ``Score ~ Run + Topic + Run*Topic - 1``, in which the number of a topic is a covariate.

    Sums of squares are sequential. Each run has a mean and a slope over the numbers of the topics; without an intercept
    the runs' sum of squares is that of their means, not of what sets their means apart. The components are (runs −
    interaction) / topics, (topics − interaction) / runs and interaction − rest, of mean squares and by absolute value;
    the second is not divided by the number of topics.

    >>> flat = np.array([[0.4, 0.6, 0.4, 0.6], [0.6, 0.4, 0.6, 0.4]])  # two runs with the same mean
    >>> round(phi_of_program(flat), 3), round(phi_of_program(flat, intercept=True), 3)
    (0.969, 0.333)
    """
    runs, topics = values.shape
    place = np.arange(topics) - (topics - 1) / 2
    mean, slope = values.mean(axis=1), values @ place / (place @ place)
    level = mean.mean() if intercept else 0.0
    of_runs = topics * ((mean - level) ** 2).sum() / (runs - intercept)
    of_topics = (place @ place) * runs * slope.mean() ** 2
    of_both = (place @ place) * ((slope - slope.mean()) ** 2).sum() / (runs - 1)
    rest = ((values - mean[:, None] - slope[:, None] * place) ** 2).sum() / (runs * (topics - 2))
    system, topic, both = abs(of_runs - of_both) / topics, abs(of_topics - of_both) / runs, abs(of_both - rest)
    return float(system / (system + topic + both / topics))


def phi_of_formula(values: Floats) -> float:
    """Φ by the paper's formula."""
    names = [f"run {i}" for i in range(len(values))], [f"topic {i}" for i in range(values.shape[1])]
    scores = rs.Scores.from_array(values[:, :, None], runs=names[0], queries=names[1], measures=["score"])
    with warnings.catch_warnings():  # copies among the submissions, which the page counts
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        return study.reliability(scores, samples=0).phi["score"]


def both(values: Floats) -> Both:
    """Φ by both, and the mean."""
    return {"program": phi_of_program(values), "formula": phi_of_formula(values), "mean": float(values.mean())}


def made_up(shape: tuple[int, ...]) -> Both:
    """Random numbers for scores: medians over some draws."""
    random = np.random.default_rng(0)
    drawn = [both(random.random(shape)) for _ in range(DRAWS)]
    program, formula, mean = np.median([[*some.values()] for some in drawn], axis=0).tolist()
    return {"program": program, "formula": formula, "mean": mean}


def renumbered(values: Floats) -> list[float]:
    """The program's Φ with topics in random order: its 5 % quantile, median and 95 % quantile."""
    random = np.random.default_rng(0)
    found = [phi_of_program(values[:, random.permutation(values.shape[1])]) for _ in range(NUMBERINGS)]
    return [float(phi) for phi in np.quantile(found, [0.05, 0.5, 0.95])]


def on_tables(values: Floats) -> dict[str, Any]:
    """The scores of a year's submissions by one measure, and what becomes of Φ where they are changed."""
    return {
        "as they are": both(values),
        "with an intercept": phi_of_program(values, intercept=True),
        "renumbered": renumbered(values),
        "raised": both(values + ADDED),
        "random": made_up(values.shape),
    }


def on_runs(data: Path, year: int) -> Mapping[str, list[Both]]:
    """Runs that are public, by the three measures of the paper at each k, topics by number."""
    found = Runs(data, year)
    measures = [f"{m}@{k}" for m in THEIRS for k in KS]
    scores = rs.evaluate(found.qrels, found.runs, measures, gains="linear", unjudged="drop")
    numbered = np.argsort([int(query) for query in scores.queries])
    return {m: [both(scores.values[:, numbered, scores.column(f"{m}@{k}")]) for k in KS] for m in THEIRS}
