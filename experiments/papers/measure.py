"""Every printed table of the five papers, and what became of its numbers."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ranksift as rs
from experiments.bounds import letor
from experiments.papers import carmel, gienapp, karmaker, liu, niu
from experiments.web_track.years import YEARS, Floats, Year


def measure(data: Path) -> dict[str, Any]:
    """Of each paper its tables, and all numbers of what is said about it."""
    years = {year: Year(data, year) for year in YEARS}
    scores = {year: official(data, year) for year in YEARS}
    systems = {year: len(values) for year, values in scores.items()}
    mq2007 = letor.mq2007(data)
    return {
        "carmel": carmel.measure(years, systems),
        "liu": liu.measure(),
        "karmaker": karmaker.measure(mq2007),
        "gienapp": gienapp.measure(years, scores),
        "niu": niu.measure(mq2007.qrels.pool.size),
    }


def official(data: Path, year: int) -> Floats:
    """The official nDCG@20 of the track's submissions, systems × topics."""
    with warnings.catch_warnings():  # copies among the submissions
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        scores = rs.read_scores({"nDCG@20": data / "trec_web_pertopic_scores" / f"web{year}_ndcg20.csv"})
    return np.asarray(scores.values[:, :, 0])
