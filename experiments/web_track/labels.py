"""The labels of a year, to stand beside what the papers print."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.web_track.filtering import Years
from experiments.web_track.printed import TABLE_1
from experiments.web_track.years import Floats, Year


def of_labels(year: Year) -> dict[str, Any]:
    """For each label its judgments, its share of them, its topics, and its mean shares in a topic."""
    over_all, where_given = ratios(year)
    return {
        "judgments": year.of_labels("judgments"),
        "percent": shares(year),
        "topics": year.of_labels("topics"),
        "mean share": over_all,
        "where given": where_given,
    }


def shares(year: Year) -> list[float]:
    """Share of each label in all judgments, in percent."""
    return (100 * year.of_labels("share")).tolist()


def ratios(year: Year) -> tuple[Floats, Floats]:
    """Mean share of each label in a topic: over all topics, and over those in which it occurs."""
    return year.of_labels("mean_share"), year.of_labels("mean_share_where_given")


def agreeing_ratios(years: Years) -> tuple[int, int]:
    """Printed cells of Gienapp et al.'s Table 1 that either mean gives."""
    agreeing = [
        [int((np.abs(mean - TABLE_1[of][1]) <= 0.005 + 1e-9).sum()) for mean in ratios(year)]
        for of, year in years.items()
    ]
    over_all, where_given = (sum(column) for column in zip(*agreeing, strict=True))
    return over_all, where_given
