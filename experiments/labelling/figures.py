"""Judgments of each strategy beside the floors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.svg import FAINT, INK, SOFT, Drawing, scale

FILL = "#0072b2"


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    found = {name: one for name, one in r["plain"].items() if name != "grades"}
    return {"labelling-judgments.svg": judgments(found, r["floor"], r["worst case"])}


def judgments(found: Mapping[str, Mapping[str, float]], floor: float, worst: int) -> str:
    """A bar for each strategy, with the spread over queries."""
    height = 70 + 34 * len(found)
    drawing = Drawing(
        760,
        height + 24,
        "Judgments of a query, by strategy",
        "Mean judgments to find the ordered top 10 of 50 items, with the standard deviation over queries; "
        "two lines show the information-theoretic floor and that of the hardest query.",
    )
    most = 350.0
    x = scale(0, most, 170, 740)
    for tick in range(0, int(most) + 1, 50):
        drawing.line(x(tick), 40, x(tick), height - 20, FAINT)
        drawing.text(x(tick), height - 4, str(tick), 11, "middle", SOFT)
    drawing.text(x(most / 2), height + 14, "judgments of a query, without noise, ties and prior", 11, "middle", SOFT)
    for place, (name, one) in enumerate(sorted(found.items(), key=lambda each: each[1]["mean"])):
        y, mean, sd = 60 + 34 * place, one["mean"], one["sd"]
        drawing.text(160, y + 4, name, 12, "end", INK)
        drawing.line(x(0), y, x(mean), y, FILL, 14)
        drawing.line(x(mean - sd), y, x(mean + sd), y, INK, 1.5)
        drawing.text(x(mean + sd) + 8, y + 4, f"{mean:.0f}", 12)
    for value, words, anchor in (
        (floor, f"{floor:.0f} bits", "end"),
        (worst, f"{worst} on the hardest query", "start"),
    ):
        drawing.line(x(value), 34, x(value), height - 20, "#d55e00", 1.5, "5 3")
        drawing.text(x(value) + (4 if anchor == "start" else -4), 30, words, 11, anchor, "#d55e00")
    return str(drawing)
