"""The penalty of a forbidden document, from 0 to 100."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.web_track.years import FILTERED, Year
from ranksift import InputError, study
from ranksift.study.penalty import PENALTIES, Swap

#: Where the table looks.
SHOWN = (0.0, 2.0, 10.0, 100.0)
KS = (20, 500)


def penalties(years: Mapping[int, Year]) -> dict[str, Any]:
    """nDCG_f of each year and k, and whether nDCG_min and nDCG_org tell the same."""
    found = {(of, k): swept(year, f"nDCG_f@{k}") for of, year in years.items() for k in KS}
    by_min = {of: swept(year, "nDCG_min@500") for of, year in years.items()}
    return {
        "nDCG_f": {f"{of}, k = {k}": told(sweep) for (of, k), sweep in found.items()},
        "nDCG_min": {
            "same pairs": all(_pairs(by_min[of]) == _pairs(found[of, 500]) for of in years),
            "highest": {of: sweep.scores[-1].max() for of, sweep in by_min.items()},
        },
        "nDCG_org has poles": all(has_pole(year) for year in years.values()),
    }


def swept(year: Year, measure: str) -> study.PenaltySweep:
    """One sweep, at so many penalties that curves are smooth."""
    dense = np.expm1(np.linspace(0, np.log1p(PENALTIES[-1]), 60))[1:-1].tolist()
    at = sorted({*PENALTIES, *dense})
    return study.penalty_sweep(year.qrels, year.runs, measure, penalties=at, unjudged="drop")


def told(sweep: study.PenaltySweep) -> dict[str, Any]:
    """Its curves and its swaps, and what the table shows."""
    at = [int(np.flatnonzero(sweep.penalties == p)[0]) for p in SHOWN]
    return {
        "penalties": sweep.penalties,
        "scores": dict(zip(sweep.runs, sweep.scores.T, strict=True)),
        "swaps": [{**swap._asdict(), "filtered or not": about_filtering(swap)} for swap in sweep.swaps],
        "winners": sweep.winners,
        "tau": sweep.tau[at],
        "significant": sweep.significant[at],
        "most significant from 5 on": sweep.significant[sweep.penalties >= 5].max(),
        "filtered first": [filtered_first(sweep, p) for p in SHOWN],
    }


def about_filtering(swap: Swap) -> bool:
    """Whether a filtered and an unfiltered run swap."""
    return swap.overtaking.endswith(FILTERED) != swap.overtaken.endswith(FILTERED)


def filtered_first(sweep: study.PenaltySweep, penalty: float) -> bool:
    """Whether all filtered runs are above all others."""
    row = sweep.scores[int(np.flatnonzero(sweep.penalties == penalty)[0])]
    filtered = np.array([run.endswith(FILTERED) for run in sweep.runs])
    return bool(row[filtered].min() > row[~filtered].max())


def has_pole(year: Year) -> bool:
    """Whether nDCG_org@500 is infinite at some penalty."""
    try:
        swept(year, "nDCG_org@500")
    except InputError:
        return True
    return False


def _pairs(sweep: study.PenaltySweep) -> set[frozenset[str]]:
    return {frozenset((swap.overtaken, swap.overtaking)) for swap in sweep.swaps}
