"""Scores that several tests study."""

import numpy as np

from ranksift import Scores

QRELS = {f"q{q}": {"good": 1, "bad": -1, "worse": -2, "fine": 2} for q in range(5)}


def scored(values, measure: str = "AP") -> Scores:
    """Scores from runs × topics."""
    values = np.asarray(values, dtype=float)
    names = [f"r{r}" for r in range(len(values))], [f"q{q}" for q in range(values.shape[1])]
    return Scores.from_array(values[:, :, None], runs=names[0], queries=names[1], measures=[measure])


def filtering_runs():
    """Runs that leave out about half of the documents."""
    draw = np.random.default_rng(1)
    docs = ["good", "bad", "worse", "fine"]
    return {
        f"r{r}": {q: {d: float(draw.random()) for d in docs if draw.random() < 0.5} for q in QRELS} for r in range(6)
    }
