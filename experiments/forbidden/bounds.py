"""What leaves [0, 1]: Gienapp et al.'s Table 2a for all years, Carmel et al.'s Table 5 for two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.forbidden.printed import DEPTHS, TABLE_2A
from experiments.forbidden.studies import Study
from experiments.web_track.years import GAINS, Floats, Year
from ranksift import study

#: Equal within rounding.
SAME = 1e-12
#: The k at which the printed shares of Table 2a come out.
FITTING = 10

Years = Mapping[int, Year]


def lowest(year: Year, k: int) -> Floats:
    """The lowest nDCG_org@k that an order of each topic's pool can have, with linear gains."""
    return study.boundedness(year.qrels, None, [f"nDCG_org@{k}"]).lowest[f"nDCG_org@{k}"]


def at_most_minus_one(year: Year, k: int) -> float:
    """The share of topics that can fall to −1."""
    return float((lowest(year, k) <= -1 + SAME).mean())


def agreeing(years: Years, k: int) -> list[int]:
    """Years whose share is the printed one, to the percent."""
    return [of for of, year in years.items() if round(100 * at_most_minus_one(year, k)) == TABLE_2A[of][1]]


def attainable(of: int, year: Year) -> dict[str, Any]:
    """Shares of topics whose worst order is below 0, below −1 and at most −1."""
    k, low = DEPTHS[of], lowest(year, DEPTHS[of])
    dear = study.boundedness(year.qrels, None, [f"nDCG_org@{k}"], gains=GAINS).below_minus_one
    return {
        "topics": len(year.topics),
        "below 0": (low < -SAME).mean(),
        "below −1": (low < -1 - SAME).mean(),
        "at most −1": at_most_minus_one(year, k),
        "at 10": at_most_minus_one(year, FITTING),
        "exactly −1 at 10": (np.abs(lowest(year, FITTING) + 1) <= SAME).sum(),
        "with a forbidden document": (year.forbidden > 0).mean(),
        "below −1 at a gain of −10": dear[f"nDCG_org@{k}"],
    }


def seen(s: Study) -> dict[str, Any]:
    """Shares of lists above 1 and below 0."""
    found, at_300 = s.boundedness, s.boundedness_of(["nDCG_min@300"])
    return {
        "nDCG_min@300": [at_300.over["nDCG_min@300"], at_300.under["nDCG_min@300"]],
        **{m: [found.over[m], found.under[m]] for m in ("nDCG_min@500", "nDCG_org@500", "nDCG_f@500")},
        "ideals below 0": (s.year.bounds(500)["I"] < 0).sum(),
        "nDCG_min up to 50": s.year.evaluate(["UBQ@50"]).aggregate().mean(),
    }
