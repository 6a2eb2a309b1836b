"""The figures of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from experiments.markdown import percent
from experiments.panels import Axis, Line, Panel, panels
from experiments.rank_and_filter.lengths import BEST, LENGTHS
from experiments.rank_and_filter.outcomes import outcomes
from experiments.rank_and_filter.rows import AT_0, BEST_CUT, DIALLED, HIDDEN, JOINT, OPTIMAL, PLAIN, K

BLUE, RED, GREEN, PURPLE, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
#: Curves that are drawn; more cannot be told apart.
DRAWN = {
    JOINT: Line(GREEN, "", 2.6),
    OPTIMAL: Line(BLUE, "", 2.6),
    PLAIN: Line("#000000", "3 3", 1.6),
    BEST_CUT: Line(PURPLE, "7 3", 1.6),
    "LightGBM multiclass, E[g], with context": Line(RED, "3 3", 1.6),
    "LightGBM binary, with context": Line(YELLOW, "9 3 2 3", 1.6),
    "XGBoost rank:ndcg, with context": Line(SKY, "7 3", 1.6),
}


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    return {"rank-and-filter-dial.svg": dial(r), "rank-and-filter-lengths.svg": lengths(r["lengths"])}


def dial(r: Mapping[str, Any]) -> str:
    """A curve for each of some rankers, on forum and reviews."""
    some = [hidden for hidden in HIDDEN if hidden <= 0.8]
    row = [
        Panel(o.title, {name: [(hidden, o.harm(name, hidden)) for hidden in some] for name in DRAWN})
        for o in outcomes(r)
        if o.setting in DIALLED
    ]
    return panels(
        f"Forbidden documents in the top {K} against good documents hidden",
        "A curve for each ranker: the least share of forbidden documents shown with at most so much good hidden.",
        [row],
        DRAWN,
        Axis((0.0, 0.2, 0.4, 0.6, 0.8), "share of good documents hidden, at most", lambda v: percent(v, 0)),
        Axis((0.0, 0.1, 0.2, 0.3), written=lambda v: percent(v, 0)),
        width=910,
        height=300,
    )


def lengths(found: Mapping[str, Any]) -> str:
    """A curve for each ranker."""
    lines = {
        BEST: Line("#000000", "3 3", 2.0),
        JOINT: Line(GREEN, "", 2.4),
        OPTIMAL: Line(BLUE, "", 2.4),
        AT_0: Line(PURPLE, "7 3", 1.6),
    }
    curves = {name: [(float(n), found[str(n)][name]) for n in LENGTHS] for name in lines}
    top = math.ceil(10 * max(y for points in curves.values() for _, y in points)) / 10
    ticks = [i / 10 for i in range(round(10 * top) + 1)]
    return panels(
        "Share of documents shown, by the length of lists",
        "A curve for each ranker, and the best possible share by the known chances.",
        [[Panel("synthetic lists, same chances for each document", curves)]],
        lines,
        Axis(LENGTHS, "documents of a list", "{:,}".format, math.log10),
        Axis(ticks, written=lambda v: percent(v, 0)),
        height=300,
    )
