"""The three figures of the page: a panel a year, one line per measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.panels import Axis, Line, Panel, Point, panels
from experiments.submissions.measure import ALPHAS, SIZES
from experiments.submissions.years import MEASURES, PHI

LINES = {
    "AP": Line("#0072b2", width=2.4),
    "nDCG@20": Line("#d55e00"),
    "ERR@20": Line("#cc79a7", "7 3"),
    "P@20": Line("#009e73"),
    "P@10": Line("#009e73", "3 3"),
    "RR": Line("#444444", "7 3 2 3"),
}

SHARES = "{:.0%}".format


Year = Mapping[str, Any]


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    years = {y: {**year, "curves": r["curves"][y]} for y, year in r["years"].items()}
    return {
        "submissions-stability.svg": stability(years),
        "submissions-sensitivity.svg": sensitivity(years),
        "submissions-reliability.svg": reliability(years),
    }


def stability(years: Mapping[str, Year]) -> str:
    """Error rate by size of the topic set."""

    def curve(year: Year, measure: str) -> list[Point]:
        return list(zip(year["curves"]["topics"], year["curves"]["error"][measure], strict=True))

    return panels(
        "Share of wrong decisions, by number of topics",
        "Error rate of six measures against the size of the topic set, one panel for each year from 2010 to 2014.",
        _rows(years, curve),
        LINES,
        Axis((0, 10, 20, 30, 40, 50), "topics"),
        Axis((0, 0.1, 0.2, 0.3, 0.4), written=SHARES),
    )


def sensitivity(years: Mapping[str, Year]) -> str:
    """Share of pairs told apart by significance level."""

    def curve(year: Year, measure: str) -> list[Point]:
        return list(zip(ALPHAS.tolist(), year["curves"]["told apart"][measure], strict=True))

    return panels(
        "Share of pairs of systems told apart, by significance level",
        "Share of pairs with an achieved significance level below alpha, by six measures, a panel for each year.",
        _rows(years, curve),
        LINES,
        Axis((0, 0.05, 0.1, 0.15, 0.2), "significance level"),
        Axis((0, 0.25, 0.5, 0.75, 1), written=SHARES),
    )


def reliability(years: Mapping[str, Year]) -> str:
    """Φ by number of topics; dots are the real numbers of topics."""

    def curve(year: Year, measure: str) -> list[Point]:
        return list(zip(SIZES, year["curves"]["phi"][measure], strict=True))

    def dots(year: Year) -> list[Point]:
        return [(year["topics"], phi) for phi in year["phi"].values()]

    return panels(
        "Reliability Φ, by number of topics",
        "The coefficient phi of six measures against the number of topics, a panel for each year; a line at 0.95.",
        _rows(years, curve, dots, {"Φ = 0.95": [(5, PHI), (500, PHI)]}),
        {**LINES, "Φ = 0.95": Line("#999999", width=1)},
        Axis((5, 10, 20, 50, 100, 200, 500), "topics", warp=math.log10),
        Axis((0, 0.25, 0.5, 0.75, 1), written="{:.2f}".format),
        dots="the topics that there are",
    )


def _rows(
    years: Mapping[str, Year],
    curve: Callable[[Year, str], list[Point]],
    dots: Callable[[Year], list[Point]] = lambda year: [],
    besides: Mapping[str, Sequence[Point]] | None = None,
) -> list[list[Panel]]:
    """Three panels, then two."""
    found = [
        Panel(
            f"{y}: {year['systems']} systems",
            {**(besides or {}), **{measure: curve(year, measure) for measure in reversed(MEASURES)}},
            dots(year),
        )
        for y, year in years.items()
    ]
    return [found[:3], found[3:]]
