"""What the studies find in each year's score tables, and what Gienapp et al.'s program makes of them."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from experiments.submissions.printed import PHI_NDCG_0_AT_20
from experiments.submissions.program import on_runs, on_tables
from experiments.submissions.years import ALPHA, ERROR, MEASURES, PHI, SIZE, YEARS, Year, told_apart
from ranksift.study.stability import Stability

#: The measure of the tables that is nearest to Gienapp et al.'s.
NEAREST = "nDCG@20"
#: Years of which runs are public.
PUBLIC = (2012, 2013)
#: Where the figures' curves are drawn.
ALPHAS = np.linspace(0, 0.2, 81)
SIZES = np.unique(np.geomspace(5, 500, 60).round().astype(int)).tolist()


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures."""
    years = {year: Year(data, year) for year in YEARS}
    return {
        "years": {of: studied(year) for of, year in years.items()},
        "curves": {of: curves(year) for of, year in years.items()},
        "program": {
            of: on_tables(years[of].scores.values[:, :, years[of].scores.column(NEAREST)]) for of in PHI_NDCG_0_AT_20
        },
        "runs": {of: on_runs(data, of) for of in PUBLIC},
    }


def studied(year: Year) -> dict[str, Any]:
    """What each study says of each measure."""
    reliability, pairs = year.reliability, year.systems * (year.systems - 1) // 2
    return {
        "systems": year.systems,
        "topics": year.topics,
        "pairs": pairs,
        "copies": year.copies,
        "level": dict(zip(MEASURES, year.scores.values.mean(axis=(0, 1)), strict=True)),
        "stability": stability(year.stability),
        "relative": stability(year.relative),
        "told apart": told_apart(year.sensitivity),
        "difference needed": dict(year.sensitivity.difference_needed(ALPHA)),
        "phi": dict(reliability.phi),
        "interval": dict(reliability.phi_interval),
        "rho2": dict(reliability.rho2),
        "needed": dict(reliability.topics_needed(PHI)),
        "components": dict(reliability.components),
        "significant": {m: n / pairs for m, n in year.uncorrected.significant.items()},
        "corrected": {m: n / pairs for m, n in year.corrected.significant.items()},
        "agreement": {
            f"{a}, {b}": {"tau": year.agreement.tau_b[a][b], "opposite": year.opposite(a, b)}
            for a, b in combinations(MEASURES, 2)
        },
        "first on halves": {
            criterion: {m: first[m] for m in MEASURES} for criterion, first in year.first_on_halves.items()
        },
        **({"needed as printed": as_printed(year)} if year.year in PHI_NDCG_0_AT_20 else {}),
    }


def stability(found: Stability) -> dict[str, Any]:
    """Error and tie rates at one size, and the topics from which on few enough decisions are wrong."""
    return {
        "error": {m: rates[SIZE] for m, rates in found.error_rate.items()},
        "ties": {m: rates[SIZE] for m, rates in found.tie_rate.items()},
        "needed": dict(found.topics_needed(ERROR)),
    }


def as_printed(year: Year) -> int | None:
    """The topics with which Φ would be the printed one."""
    return year.reliability.topics_needed(PHI_NDCG_0_AT_20[year.year])[NEAREST]


def curves(year: Year) -> dict[str, Any]:
    """The figures' curves: by number of topics, by significance level, and by number of topics."""
    return {
        "topics": list(next(iter(year.stability.error_rate.values()))),
        "error": {m: list(rates.values()) for m, rates in year.stability.error_rate.items()},
        "told apart": dict(year.sensitivity.curve(ALPHAS)),
        "phi": dict(year.reliability.phi_with(SIZES)),
    }
