"""Tables of the page, and what its claims rest on where that takes more than a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from experiments.forbidden.printed import TABLE_2D
from experiments.forbidden.studies import KS
from experiments.markdown import between, number, percent, table, word
from experiments.submissions import program, years
from experiments.submissions.measure import NEAREST
from experiments.submissions.printed import PHI_NDCG_0_AT_20
from experiments.submissions.years import MEASURES, agreement_of_years, places
from experiments.web_track.printed import TABLE_3

OTHERS = [measure for measure in MEASURES if measure != "AP"]
CRITERIA = ("stability", "stability, relative", "sensitivity", "reliability")

Year = Mapping[str, Any]
Years = Mapping[str, Year]


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    of: Years = r["years"]
    return {
        "size": years.SIZE,
        "alpha": years.ALPHA,
        "wrong": years.ERROR,
        "high": years.PHI,
        "halves": years.HALVES,
        "half_samples": years.HALF_SAMPLES,
        "added": program.ADDED,
        "numberings": program.NUMBERINGS,
        "nearest": NEAREST,
        "printed": {str(year): phi for year, phi in PHI_NDCG_0_AT_20.items()},
        "shares": shares,
        "listed": listed,
        "ap": _over_years(of, ["AP"]),
        "others": _over_years(of, OTHERS),
        "ndcg": _over_years(of, ["nDCG@20"]),
        "rr": _over_years(of, ["RR"]),
        **_orders(of),
        **_agreement(of),
        **_significance(of),
        **_program(r),
        "error_rates_fall": all(
            one > other
            for curves in r["curves"].values()
            for rates in curves["error"].values()
            for one, other in zip(rates[::8], rates[8::8], strict=False)
        ),
        "other_runs": sum(year["systems"] != TABLE_3[int(y)][2] for y, year in of.items()),
        "tables": _tables(r),
    }


def shares(values: Iterable[float], digits: int = 0) -> str:
    """The range of some shares, in percent."""
    return f"{between([100 * share for share in values], digits)} %"


def listed(words: Iterable[object]) -> str:
    """Some words, the last two joined by "and"."""
    *most, final = map(str, words)
    return f"{', '.join(most)} and {final}" if most else final


def _over_years(of: Years, measures: Sequence[str]) -> dict[str, list[Any]]:
    """What the studies say of some measures, in all years."""
    found = {
        what: [year[what][m] for year in of.values() for m in measures]
        for what in ("level", "told apart", "phi", "needed")
    }
    for what in ("error", "needed"):
        found[f"{what}, stability"] = [year["stability"][what][m] for year in of.values() for m in measures]
    return found


def _worth(year: Year) -> dict[str, dict[str, float]]:
    """What each criterion says of each measure; more is better."""
    return {
        "stability": {m: -rate for m, rate in year["stability"]["error"].items()},
        "stability, relative": {m: -rate for m, rate in year["relative"]["error"].items()},
        "sensitivity": year["told apart"],
        "reliability": year["phi"],
    }


def _orders(of: Years) -> dict[str, Any]:
    """The places of the measures by each criterion, how they agree from year to year, and what comes of that."""
    worth = [_worth(year) for year in of.values()]
    place = {criterion: [places(found[criterion]) for found in worth] for criterion in CRITERIA}
    tau = {criterion: agreement_of_years(found[criterion] for found in worth) for criterion in CRITERIA}
    mean = {criterion: float(np.mean(values)) for criterion, values in tau.items()}
    lead = {c: [year["first on halves"][c]["AP"] for year in of.values()] for c in ("reliability", "sensitivity")}
    interval = [year["interval"] for year in of.values()]
    return {
        "always_first": all(
            [m for m in MEASURES if found[m] == 1] == ["AP"] for every in place.values() for found in every
        ),
        "last": {c: [max(found, key=lambda m: found[m]) for found in every] for c, every in place.items()},
        "err": {c: [found["ERR@20"] for found in every] for c, every in place.items()},
        "steady": [mean[c] for c in CRITERIA if c != "reliability"],
        "of_phi": mean["reliability"],
        "phi_leads": [n / years.HALVES for n in lead["reliability"]],
        "doubtful": [year for year, n in zip(of, lead["sensitivity"], strict=True) if n < years.HALVES / 2],
        "reach": [word(sum(found[m][1] > found["AP"][0] for m in OTHERS)) for found in interval],
        "order_table": _order_table(place, tau),
        "halves_table": table(
            ["criterion", "year", *MEASURES],
            [[c, y, *(str(year["first on halves"][c][m]) for m in MEASURES)] for c in lead for y, year in of.items()],
            words=2,
        ),
    }


def _order_table(place: Mapping[str, list[dict[str, int]]], tau: Mapping[str, list[float]]) -> str:
    rows = [
        [
            criterion,
            *(" ".join(str(found[m]) for found in place[criterion]) for m in MEASURES),
            f"{number(float(np.mean(tau[criterion])), 2)} ({between(tau[criterion], 2)})",
        ]
        for criterion in CRITERIA
    ]
    return table(["criterion", *MEASURES, "τ_b"], rows)


def _agreement(of: Years) -> dict[str, Any]:
    """How alike two measures order the systems, and where they contradict each other most."""
    pairs = [f"{a}, {b}" for a, b in combinations(MEASURES, 2)]
    tau = {pair: [year["agreement"][pair]["tau"] for year in of.values()] for pair in pairs}
    mean = {pair: float(np.mean(values)) for pair, values in tau.items()}
    opposite = {
        (pair, y): year["agreement"][pair]["opposite"] / year["pairs"] for pair in pairs for y, year in of.items()
    }
    pair, y = max(opposite, key=lambda at: opposite[at])
    rows = [
        [
            *pair.split(", "),
            *(
                f"{number(found['tau'], 2)} ({found['opposite']})"
                for found in (y["agreement"][pair] for y in of.values())
            ),
        ]
        for pair in pairs
    ]
    return {
        "tau": tau,
        "mean_tau": mean,
        "least_alike": min(mean, key=lambda p: mean[p]),
        "most_alike": max(mean, key=lambda p: mean[p]),
        "worst": {
            "pair": pair,
            "year": y,
            "count": of[y]["agreement"][pair]["opposite"],
            "pairs": of[y]["pairs"],
        },
        "agreement_table": table(["measure", "other", *of], rows, words=2),
    }


def _significance(of: Years) -> dict[str, Any]:
    """Where most pairs that are significant one by one remain so when all are looked at."""
    return {
        "lasting": [
            f"{m} in {y}" for m in MEASURES for y, year in of.items()
            if year["corrected"][m] > year["significant"][m] / 2
        ]
    }  # fmt: skip


def _program(r: Mapping[str, Any]) -> dict[str, Any]:
    """The program beside the formula and beside what is printed."""
    printed, found = {str(year): phi for year, phi in PHI_NDCG_0_AT_20.items()}, r["program"]
    here = {y: some["as they are"] for y, some in found.items()}
    off = {y: some["program"] - printed[y] for y, some in here.items()}
    runs = r["runs"]

    def order(year: str, at: int, what: str) -> list[str]:
        return sorted(program.THEIRS, key=lambda m: -runs[year][m][at][what])

    places = range(len(KS))
    return {
        "off": list(off.values()),
        "in_size": all(abs(gap) < abs(here[y]["formula"] - printed[y]) / 3 for y, gap in off.items()),
        "mostly_less": all(
            some["renumbered"][1] < some["as they are"]["program"]
            and some["renumbered"][2] - some["renumbered"][0] > 0.5
            for some in found.values()
        ),
        "adding_matters": all(
            some["raised"]["program"] > some["as they are"]["program"]
            and abs(some["raised"]["formula"] - some["as they are"]["formula"]) < 1e-8
            for some in found.values()
        ),
        "random_is_reliable": all(
            some["random"]["program"] > 0.95 > 0.25 > some["random"]["formula"] for some in found.values()
        ),
        "beyond": all(
            phi > max(r["years"][y]["interval"][NEAREST][1], r["years"][y]["rho2"][NEAREST])
            for y, phi in printed.items()
        ),
        "times": min(r["years"][y]["needed as printed"] / r["years"][y]["topics"] for y in printed),
        "org_is_below": all(
            some["program"] < phi - 0.5
            for y, table_2d in TABLE_2D.items()
            if str(y) in runs
            for some, phi in zip(runs[str(y)]["nDCG_org"], table_2d["nDCG_org"], strict=True)
        ),
        "by_program": {y: [order(y, at, "program") for at in places] for y in runs},
        "by_mean": {y: [order(y, at, "mean") for at in places] for y in runs},
        "by_formula": {y: [order(y, at, "formula")[0] for at in places] for y in runs},
    }


# -- tables --------------------------------------------------------------------------------------------------------


def _tables(r: Mapping[str, Any]) -> dict[str, str]:
    of: Years = r["years"]
    worth = {y: _worth(year) for y, year in of.items()}

    def bold(y: str, criterion: str, m: str, text: str) -> str:
        return f"**{text}**" if places(worth[y][criterion])[m] == 1 else text

    def by_year(cell: Callable[[str, Year, str], str]) -> str:
        """One row per measure, one column per year."""
        return table(["measure", *of], [[m, *(cell(y, year, m) for y, year in of.items())] for m in MEASURES])

    def rates(kind: str, criterion: str) -> str:
        return by_year(
            lambda y, year, m: (
                bold(y, criterion, m, percent(year[kind]["error"][m])) + f" ({percent(year[kind]['ties'][m], 0)})"
            )
        )

    def needed(y: str, year: Year, m: str) -> str:
        found = (year[kind]["needed"][m] for kind in ("stability", "relative"))
        return " / ".join("never" if n is None else str(n) for n in found)

    def phi(y: str, year: Year, m: str) -> str:
        return bold(y, "reliability", m, number(year["phi"][m], 3)) + f" {_interval(year, m)}"

    return {
        "there are": table(
            ["year", "systems", "topics", "pairs of systems", "copies"],
            [[y, *(f"{year[what]:,}" for what in ("systems", "topics", "pairs", "copies"))] for y, year in of.items()],
        ),
        "level": by_year(lambda y, year, m: number(year["level"][m], 3)),
        "stability": rates("stability", "stability"),
        "relative": rates("relative", "stability, relative"),
        "needed for stability": by_year(needed),
        "sensitivity": by_year(
            lambda y, year, m: (
                bold(y, "sensitivity", m, percent(year["told apart"][m]))
                + f" ({number(year['difference needed'][m] or 0, 3)})"
            )
        ),
        "phi": by_year(phi),
        "rho2": by_year(lambda y, year, m: number(year["rho2"][m], 3)),
        "needed for phi": by_year(lambda y, year, m: str(year["needed"][m])),
        "components": table(["measure", "systems", "topics", "their interaction"], [_parts(of, m) for m in MEASURES]),
        "discrimination": by_year(
            lambda y, year, m: f"{percent(year['corrected'][m])} ({percent(year['significant'][m])})"
        ),
        "runs": table(
            ["year", "systems here", "runs in Carmel et al.", "topics here", "topics in Carmel et al."],
            [
                [y, *map(str, (year["systems"], TABLE_3[int(y)][2], year["topics"], TABLE_3[int(y)][0]))]
                for y, year in of.items()
            ],
        ),
        "printed": _printed(of),
        **_program_tables(r),
    }


def _interval(year: Year, m: str) -> str:
    low, high = year["interval"][m]
    return f"[{number(low, 2)}, {number(high, 2)}]"


def _parts(of: Years, m: str) -> list[str]:
    """Where the variance of a measure's scores comes from."""
    split = [[part / sum(year["components"][m]) for part in year["components"][m]] for year in of.values()]
    return [m, *(shares(part) for part in zip(*split, strict=True))]


def _printed(of: Years) -> str:
    rows = [
        [
            str(y),
            number(phi, 3),
            f"{number(of[str(y)]['phi'][NEAREST], 3)} {_interval(of[str(y)], NEAREST)}",
            number(of[str(y)]["rho2"][NEAREST], 3),
            str(of[str(y)]["needed as printed"]),
        ]
        for y, phi in PHI_NDCG_0_AT_20.items()
    ]
    return table(["year", "printed Φ of nDCG_0@20", f"Φ of {NEAREST}", "Eρ²", "topics for the printed Φ"], rows)


def _program_tables(r: Mapping[str, Any]) -> dict[str, str]:
    rows, tried = [], []
    for y, found in r["program"].items():
        here = found["as they are"]
        low, middle, high = (number(phi, 2) for phi in found["renumbered"])
        cells = PHI_NDCG_0_AT_20[int(y)], here["formula"], here["program"], found["with an intercept"]
        rows.append([y, *(number(phi, 3) for phi in cells), f"{middle} ({low} to {high})"])
        for what, some in (
            (NEAREST, here),
            (f"{NEAREST} + {program.ADDED}", found["raised"]),
            ("random numbers from 0 to 1", found["random"]),
        ):
            tried.append([y, what, *(number(some[of], 3) for of in ("mean", "formula", "program"))])
    head = ["year", "printed", "formula", "program", "with an intercept", "topics in random order"]
    by_measure = []
    for y, runs in r["runs"].items():
        for m in program.THEIRS:
            by_program = (f"{number(some['program'], 3)} ({number(some['mean'], 2)})" for some in runs[m])
            by_measure.append([y, m, "program", *by_program])
            by_measure.append(["", "", "formula", *(number(some["formula"], 3) for some in runs[m])])
            if int(y) in TABLE_2D:
                by_measure.append(["", "", "printed", *(number(phi, 3) for phi in TABLE_2D[int(y)][m])])
    return {
        "program": table(head, rows),
        "tried": table(["year", "scores", "mean", "formula", "program"], tried, words=2),
        "public runs": table(["year", "measure", "Φ", *(f"k = {k}" for k in KS)], by_measure, words=3),
    }
