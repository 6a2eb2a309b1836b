"""Gienapp and others (2020): negative judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.forbidden.printed import DEPTHS, TABLE_2A, TABLE_2B, TABLE_2D
from experiments.papers.verdict import verdicts
from experiments.submissions.program import phi_of_formula, phi_of_program
from experiments.web_track.printed import TABLE_1
from experiments.web_track.years import Floats, Year
from ranksift import study

#: The k at which most printed shares of Table 2a come out.
FITTING = 10
KS = (5, 10, 15, 20)
#: Equal within rounding.
SAME = 1e-12

Years = Mapping[int, Year]


def measure(years: Years, official: Mapping[int, Floats]) -> dict[str, Any]:
    """The tables, and the numbers of what follows, given the judgments and the official nDCG@20, systems × topics."""
    runs = sum(len(official[of]) == TABLE_1[of][0] for of in years)
    as_stated = [of for of in years if agrees_at_minus_one(years, of, DEPTHS[of])]
    fitting = [of for of in years if of not in as_stated and agrees_at_minus_one(years, of, FITTING)]
    phi = {of: reliability(official[of], TABLE_2D[of]["nDCG_0"][-1]) for of in TABLE_2D}
    return {
        "tables": {
            "1": table_1(years, runs),
            "2a": table_2a(years, len(as_stated), len(fitting)),
            "2b": verdicts(sum(map(len, TABLE_2B.values()))),
            "2d": verdicts(sum(len(row) for rows in TABLE_2D.values() for row in rows.values()), explained=len(phi)),
        },
        "runs": runs,
        "label sums": [sum(row) for _, row in TABLE_1.values()],
        "fitting": {"k": FITTING, "years": fitting},
        "phi": phi,
        "phi of random numbers": phi_of_program(np.random.default_rng(0).random(official[2012].shape)),
        "printed phi": printed_phi(),
        "rho": {"nDCG_0": [row[0] for row in TABLE_2B.values()], "nDCG_min": [row[1] for row in TABLE_2B.values()]},
    }


def table_1(years: Years, runs: int) -> dict[str, int]:
    """Labels whose printed share is the mean over the topics that have them, and runs as many as have public scores."""
    off = [year.of_labels("mean_share_where_given") - TABLE_1[of][1] for of, year in years.items()]
    agreeing = int((np.abs(off) <= 0.005 + 1e-9).sum())
    return verdicts(len(TABLE_1) + np.size(off), reproduced=runs, explained=agreeing, refuted=np.size(off) - agreeing)


def table_2a(years: Years, as_stated: int, fitting: int) -> dict[str, int]:
    """Given the years whose share at −1 is the printed one at the stated depth, and those where it is at another."""
    below = [round(100 * (lowest(year, DEPTHS[of]) < -SAME).mean()) for of, year in years.items()]
    agreeing = sum(share == TABLE_2A[of][0] for of, share in zip(years, below, strict=True))
    cells = 2 * len(TABLE_2A)
    return verdicts(
        cells, reproduced=agreeing + as_stated, explained=fitting, refuted=cells - agreeing - as_stated - fitting
    )


def agrees_at_minus_one(years: Years, of: int, k: int) -> bool:
    """Whether the share of a year's topics that can fall to −1 is the printed one, to the percent."""
    return bool(round(100 * (lowest(years[of], k) <= -1 + SAME).mean()) == TABLE_2A[of][1])


def lowest(year: Year, k: int) -> Floats:
    """The lowest nDCG_org@k that an order of each topic's pool can have, with linear gains."""
    return study.boundedness(year.qrels, None, [f"nDCG_org@{k}"]).lowest[f"nDCG_org@{k}"]


def reliability(scores: Floats, printed: float) -> dict[str, float]:
    """Φ of some scores as the paper writes it, and as its program computes it, beside the printed one."""
    return {"printed": printed, "formula": phi_of_formula(scores), "program": phi_of_program(scores)}


def printed_phi() -> dict[str, Any]:
    """Table 2d: the highest value, columns in which nDCG_min leads, and those in which nDCG_org is not below nDCG_0."""
    columns = [
        {"year": year, "k": k, **{name: row[i] for name, row in rows.items()}}
        for year, rows in TABLE_2D.items()
        for i, k in enumerate(KS)
    ]
    return {
        "highest": max(value for rows in TABLE_2D.values() for row in rows.values() for value in row),
        "columns": len(columns),
        "nDCG_min leads": sum(of["nDCG_min"] > max(of["nDCG_org"], of["nDCG_0"]) for of in columns),
        "nDCG_org not below nDCG_0": [of for of in columns if of["nDCG_org"] >= of["nDCG_0"]],
    }
