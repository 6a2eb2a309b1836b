"""Where nDCG_min leaves [0, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.web_track.filtering import Years
from experiments.web_track.years import NDCGS, Floats, Year, at

#: The values of k that the figure shows.
STEPS = range(10, 601, 10)


def shares_by_k(years: Years, measure: str) -> dict[int, Floats]:
    """A measure's mean over each year's runs, at every k of the figure."""
    names = [at(measure, k) for k in STEPS]
    return {of: year.evaluate(names).aggregate().mean(axis=0) for of, year in years.items()}


def of_pools(year: Year) -> dict[str, Any]:
    """The sizes of the pools, and what they allow."""
    size = year.pool_size
    return {
        "sizes": [size.min(), np.median(size), size.max()],
        "smallest safe k": year.safe_k.min(),
        "safe": (year.safe_k >= 300).sum(),
        "over possible": (size - year.forbidden < 300).sum(),
        "under possible": (size - year.relevant < 300).sum(),
    }


def of_scores(year: Year) -> dict[str, Any]:
    """Unbounded topics at 300 as shares, averaged over the runs, and the lowest and the highest topic."""
    lists = {measure: year.by_topic(at(measure, 300)) for measure in NDCGS}
    return {
        "unbounded": [year.means(at(measure, 300)).mean() for measure in ("UBQ", "UBQ_over", "UBQ_under")],
        "ranges": {measure: [found.min(), found.max()] for measure, found in lists.items()},
        "negative ideals": (year.bounds(300)["I"] < 0).sum(),
        "none at 20": not year.means("UBQ@20").any(),
    }


def extremes(years: Years) -> list[dict[str, Any]]:
    """The lists of highest and lowest nDCG_min@300, taken apart."""
    columns = []
    for pick in (np.argmax, np.argmin):
        found = []
        for year in years.values():
            scores = year.by_topic("nDCG_min@300")
            r, t = np.unravel_index(pick(scores), scores.shape)
            found.append((float(scores[r, t]), year, int(r), int(t)))
        _, year, r, t = found[int(pick([f[0] for f in found]))]
        bound = {name: of[t] for name, of in year.bounds(300).items()}
        columns.append(
            {
                "list": [year.year, year.topics[t], year.names[r]],
                "pool": [year.pool_size[t], year.forbidden[t], year.relevant[t]],
                "shown": [
                    int(year.by_topic("NumRet")[r, t]),
                    int(year.scores.numerators[r, t, year.scores.column("Fdocs@300")]),
                ],
                "of the pool": [bound["W"], bound["I"]],
                "of sublists": [bound["W_f"], bound["I_f"]],
                **{m: year.by_topic(f"{m}@300")[r, t] for m in ("DCG", "nDCG_min", "nDCG_f", "nDCG_org")},
            }
        )
    return columns
