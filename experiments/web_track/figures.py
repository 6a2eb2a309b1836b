"""The two figures of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.markdown import number
from experiments.svg import FAINT, INK, SOFT, Drawing, scale
from experiments.web_track.bounds import STEPS
from experiments.web_track.printed import TABLE_5
from experiments.web_track.years import KS, NDCGS

UP, DOWN = "#0072b2", "#d55e00"
COLORS = {"2010": "#666666", "2011": "#56b4e9", "2012": "#0072b2", "2013": "#e69f00", "2014": "#009e73"}


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of both."""
    return {
        "web-track-filtering.svg": filtering({of: r["years"][of] for of in r["changes"]}),
        "web-track-unbounded.svg": unbounded(STEPS, r["unbounded"]["over"], r["unbounded"]["under"]),
    }


def filtering(years: Mapping[str, Mapping[str, Any]]) -> str:
    """What spam filtering does to each pair, by each measure: one arrow a pair, one panel a year and k."""
    left, width, gap, top = 118, 330, 34, 92
    low, high, step = -0.75, 1.0, 0.25
    arrow = 8
    heights = [len(NDCGS) * (arrow * len(year["pairs"]) + 16) for year in years.values()]
    total = top + sum(heights) + 62 * len(years)
    draw = Drawing(
        left + 2 * width + gap + 18,
        total,
        "What spam filtering does, by each measure",
        "For each pair of runs a line from the mean score of the unfiltered run to that of the filtered one.",
    )
    draw.text(16, 28, "What spam filtering does, by each measure", 16, bold=True)
    _legend(draw, 52)
    y = top
    for (of, year), height in zip(years.items(), heights, strict=True):
        for column, k in enumerate(KS):
            x0 = left + column * (width + gap)
            x = scale(low, high, x0, x0 + width)
            draw.text(x0, y - 8, f"{of}, k = {k}", 13, bold=True)
            ticks = [low + i * step for i in range(round((high - low) / step) + 1)]
            for tick in ticks:
                draw.line(x(tick), y, x(tick), y + height, SOFT if tick == 0 else FAINT)
                if round(tick * 100) % 50 == 0:
                    draw.text(x(tick), y + height + 16, number(tick, 1), 11, "middle", SOFT)
            row = height / len(NDCGS)
            for i, measure in enumerate(NDCGS):
                at_y = y + i * row
                if column == 0:
                    draw.text(left - 10, at_y + row / 2 + 4, measure, 12, "end")
                if i:
                    draw.line(x0, at_y, x0 + width, at_y, FAINT)
                if measure == "nDCG_f":
                    nothing = x(year["empty list"][str(k)])
                    draw.line(nothing, at_y + 3, nothing, at_y + row - 3, INK, 1.5, "3 2")
                for j, pair in enumerate(year["pairs"]):
                    before, after = (
                        year["runs"][pair[side]]["scores"][f"{measure}@{k}"] for side in ("plain", "filtered")
                    )
                    _arrow(draw, x(before), x(after), at_y + 12 + arrow * j, UP if after > before else DOWN)
        y += height + 62
    draw.text(left + width + gap / 2, total - 18, "mean over the topics", 12, "middle", SOFT)
    return str(draw)


def _arrow(draw: Drawing, before: float, after: float, y: float, color: str) -> None:
    draw.line(before, y, after, y, color, 2)
    draw.dot(before, y, color, 3, hollow=True)
    draw.dot(after, y, color, 3)


def _legend(draw: Drawing, y: float) -> None:
    x = 20.0
    for color, words in ((UP, "unfiltered → filtered, higher"), (DOWN, "unfiltered → filtered, lower")):
        _arrow(draw, x, x + 26, y - 4, color)
        draw.text(x + 36, y, words, 12)
        x += 232
    draw.line(x, y - 12, x, y + 4, INK, 1.5, "3 2")
    draw.text(x + 10, y, "an empty list, by nDCG_f", 12)


def unbounded(ks: Sequence[int], over: Mapping[str, Sequence[float]], under: Mapping[str, Sequence[float]]) -> str:
    """Share of topics in which nDCG_min@k leaves [0, 1], by k: one line per year, and the printed k = 300."""
    left, width, gap, top, height = 56, 330, 100, 96, 260
    highest = np.ceil(10 * max(max(v) for v in (*over.values(), *under.values()))) / 10
    draw = Drawing(
        left + 2 * width + gap + 56,
        top + height + 58,
        "Topics in which nDCG_min@k leaves [0, 1]",
        "Share of unbounded topics against k, above 1 and below 0, for the years 2010 to 2014.",
    )
    draw.text(16, 28, "Topics in which nDCG_min@k leaves [0, 1]", 16, bold=True)
    draw.line(20, 48, 44, 48, SOFT, 2)
    draw.text(52, 52, "mean over our runs", 12)
    draw.dot(200, 48, SOFT, 4, hollow=True)
    draw.text(210, 52, "printed in Carmel et al. 2022 for the track's submissions, k = 300", 12)
    printed = {str(year): (row[1] / 100, row[2] / 100) for year, row in TABLE_5.items()}
    for column, (words, shares) in enumerate((("above 1", over), ("below 0", under))):
        x0 = left + column * (width + gap)
        x, y = scale(0, max(ks), x0, x0 + width), scale(0, highest, top + height, top)
        draw.text(x0, top - 12, words, 13, bold=True)
        for share in range(0, round(100 * highest) + 1, 10):
            draw.line(x0, y(share / 100), x0 + width, y(share / 100), FAINT if share else SOFT)
            draw.text(x0 - 8, y(share / 100) + 4, f"{share} %", 11, "end", SOFT)
        for k in range(0, max(ks) + 1, 100):
            draw.text(x(k), top + height + 18, str(k), 11, "middle", SOFT)
        draw.line(x(300), top, x(300), top + height, FAINT, 1, "3 3")
        draw.text(x0 + width / 2, top + height + 40, "k", 12, "middle", SOFT)
        ends = {year: y(values[-1]) for year, values in shares.items()}
        for year, place in _apart(ends, 14).items():
            draw.curve([(x(k), y(v)) for k, v in zip(ks, shares[year], strict=True)], COLORS[year])
            draw.text(x0 + width + 8, place + 4, year, 12, color=COLORS[year], bold=True)
        for year, values in printed.items():
            draw.dot(x(300), y(values[column]), COLORS[year], 4, hollow=True)
    return str(draw)


def _apart(places: dict[str, float], distance: float) -> dict[str, float]:
    """Move labels up the page until none covers another."""
    moved: dict[str, float] = {}
    above = float("inf")
    for key, place in sorted(places.items(), key=lambda item: (-item[1], -int(item[0]))):
        moved[key] = above = min(place, above - distance)
    return moved
