"""Every year's judgments and runs in numbers, and what the spam filters changed in 2012 and 2013."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.web_track import filtering
from experiments.web_track.bounds import extremes, of_pools, of_scores, shares_by_k
from experiments.web_track.labels import agreeing_ratios, of_labels
from experiments.web_track.years import YEARS, Year


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures."""
    years = {year: Year(data, year) for year in YEARS}
    return {
        "years": {of: of_year(year) for of, year in years.items()},
        "changes": {of: filtering.changes_by_heading(years[of]) for of in (2012, 2013)},
        "in 2012": filtering.in_2012(years[2012]),
        "orders": filtering.orders(years[2012]),
        "choices": filtering.choices(years),
        "a milder gain": filtering.milder(years[2012]),
        "nDCG_min@20 is nDCG_f@20": all(filtering.same_at_20(year) for year in years.values()),
        "unbounded": {side: shares_by_k(years, f"UBQ_{side}") for side in ("over", "under")},
        "extremes": extremes(years),
        "agreeing ratios": agreeing_ratios(years),
        "judgments a topic": {
            "2011 to 2014": np.concatenate([year.pool_size for year in years.values() if year.year > 2010]).mean(),
            "all years": np.concatenate([year.pool_size for year in years.values()]).mean(),
        },
    }


def of_year(year: Year) -> dict[str, Any]:
    """What is told of each year."""
    results = year.description.judged_length
    return {
        "topics": len(year.topics),
        "judgments": len(year.qrels),
        "forbidden": year.forbidden.sum() / len(year.qrels),
        "relevant": year.relevant.sum() / len(year.qrels),
        "runs": filtering.runs(year),
        "pairs": filtering.pairs(year),
        "empty list": {k: filtering.empty_list(year, k) for k in (20, 300)},
        "in the worst 20": np.minimum(year.forbidden, 20).mean(),
        "pools": of_pools(year),
        "at 300": of_scores(year),
        "labels": of_labels(year),
        "judged results": [results.mean, results.sd, results.min],
    }
