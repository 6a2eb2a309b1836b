"""The public score tables of the track's submissions, as far as this page needs them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ranksift as rs

Systems = Mapping[int, int]


def official(data: Path, year: int) -> NDArray[np.float64]:
    """The official nDCG@20, systems × topics."""
    with warnings.catch_warnings():  # copies among the submissions
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        scores = rs.read_scores({"nDCG@20": data / "trec_web_pertopic_scores" / f"web{year}_ndcg20.csv"})
    return np.asarray(scores.values[:, :, 0])
