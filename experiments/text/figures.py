"""The figures of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.panels import Axis, Line, Panel, panels
from experiments.text.settings import COLLECTIONS, HIDDEN, LOSSES

COLORS = ("#000000", "#e69f00", "#0072b2", "#56b4e9", "#cc79a7", "#d55e00", "#999999", "#009e73")
LINES = {
    name: Line(color, "" if n % 2 else "7 3", 1.8) for n, (name, color) in enumerate(zip(LOSSES, COLORS, strict=True))
}


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them: a panel for each collection, a curve for each loss."""
    rows = [
        [
            Panel(
                name, {loss: [*zip(HIDDEN, r["tables"][name]["curves"][loss][which], strict=True)] for loss in LOSSES}
            )
            for name in COLLECTIONS
        ]
        for which in range(2)
    ]
    return {
        "text-tradeoff.svg": panels(
            "Forbidden documents in the top 3, by good documents hidden",
            "A curve for each loss: what is hidden less costs more that is forbidden.",
            [rows[0]],
            LINES,
            Axis((0, 0.25, 0.5, 0.75, 1), "share of the good documents that is hidden, at most", _share),
            Axis((0, 0.05, 0.1, 0.15, 0.2, 0.25), written=lambda x: f"{x:.0%}"),
            height=240,
        ),
        "text-thresholds.svg": panels(
            "nDCG_f@3, by the share of documents shown",
            "A curve for each loss: from nothing shown to everything shown.",
            [rows[1]],
            LINES,
            Axis((0, 0.25, 0.5, 0.75, 1), "share of the documents that is shown", _share),
            Axis((0.5, 0.6, 0.7, 0.8, 0.9), written=lambda x: f"{x:.1f}"),
            height=240,
        ),
    }


def _share(x: float) -> str:
    return f"{x:.0%}" if x < 1 else ""  # the next panel begins there
