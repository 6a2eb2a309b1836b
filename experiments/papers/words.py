"""Sums over tables, and named conditions of the page's claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.papers.verdict import VERDICTS


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """How many numbers of each paper, and of all, have each verdict; and what claims rest on."""
    totals = {paper: total(found["tables"].values()) for paper, found in r.items()}
    return {
        "totals": totals,
        "every": total(totals.values()),
        "agreeing": agreeing,
        "pad": {found["what"]: found for found in r["karmaker"]["pad"]},
        "swap": {found["what"]: found for found in r["karmaker"]["swap"]},
        **_holds(**r),
    }


def total(tables: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Of some tables together."""
    tables = list(tables)
    return {name: sum(table[name] for table in tables) for name in ("numbers", *VERDICTS)}


def agreeing(found: Sequence[Mapping[str, Any]]) -> int:
    """How many recomputed numbers are the printed ones."""
    return sum(number["agrees"] for number in found)


def _holds(
    carmel: Mapping[str, Any],
    liu: Mapping[str, Any],
    karmaker: Mapping[str, Any],
    gienapp: Mapping[str, Any],
    niu: Mapping[str, Any],
) -> dict[str, Any]:
    gains, printed = carmel["gains"], carmel["gains"]["printed"]["nDCG_min"]
    by_rbp = [[row["scores"][2] for row in liu["rows"] if row["R"] == relevant] for relevant in (0, 3)]
    rates = karmaker["text"]["swaps between collections"]
    graded = [niu["above both parents"][name] for name in ("graded MQ2007", "graded TD2003")]
    return {
        "unbounded_possible": all(
            of["over"] <= of["over allowed"] and of["under"] <= of["under allowed"]
            for of in carmel["unbounded"]["years"].values()
        ),
        "gains_are_others": gains["written"]["nDCG_min"][0] >= 0 > printed > gains["by label"]["nDCG_min"][0],
        "in_order_of_rbp": all(values == sorted(values, reverse=True) for values in by_rbp),
        "too_small": all(
            abs(row["orders"] - row["exact"]) < 1e-6 and row["paper"] < row["exact"] for row in karmaker["random"]
        ),
        "as_low_as_can_be": sum(
            case["conflicts"] == abs(case["one"] - case["other"]) for case in karmaker["conflicts"]
        ),
        "boosted": all(times["uninformative"] > times["ideal"] for times in karmaker["text"]["pad gains"]),
        "lowest_on_the_others": all(rates["MSP V2"][i] < min(rates["MAP"][i], rates["MSP V1"][i]) for i in (0, 1)),
        "size_explained": all(
            abs(phi["program"] - phi["printed"]) < abs(phi["formula"] - phi["printed"]) / 3
            for phi in gienapp["phi"].values()
        ),
        "order_kept": all(a > b for a, b in zip(gienapp["rho"]["nDCG_min"], gienapp["rho"]["nDCG_0"], strict=True)),
        "no_product": all(abs(of["product"] - of["minutes"]) > 0.005 for of in niu["judgments"].values()),
        "err_too_high": all(of["low"] > of["of 1/n"] for of in niu["err"].values()),
        # Up to the rounding of three numbers.
        "rows_add_up": all(abs(row - 1) <= 0.00015 + 1e-9 for row in niu["row sums"]),
        "gains_hold": all(abs(of["by table"] - of["printed"]) <= 0.005 + 1e-9 for of in niu["gains"]),
        "near_half": all(1 / 3 < above / of < 2 / 3 for above, of in graded),
    }
