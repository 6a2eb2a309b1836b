"""The figures of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log10
from typing import Any

import numpy as np

from experiments.panels import Axis, Line, Panel, Point, panels
from experiments.risk.rules import BETTING, HB, MEAN, NAMES, PLUG_IN
from experiments.risk.trials import ALPHA, DELTA, SIZES, kept
from experiments.svg import SOFT
from ranksift.cutoffs.risk import RiskCurve, RiskCutoff
from ranksift.report.figures import svg_of

LINES = {
    PLUG_IN: Line("#000000", "2 3", 1.6),
    MEAN: Line("#009e73", "7 3", 1.8),
    BETTING: Line("#0072b2", "", 2.2),
    HB: Line("#d55e00", "9 3 2 3", 1.6),
}
SETTING = f"α = {ALPHA:g}, δ = {DELTA:g}"
X = Axis(SIZES, "queries that the threshold is fitted on", lambda n: "1k" if n == 1000 else f"{n:g}", log10)


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    return {
        "risk-control-broken.svg": broken(r),
        "risk-control-price.svg": price(r),
        "risk-control-answers.svg": answers(r["answers"]),
    }


def _drawn(
    r: Mapping[str, Any], value: str, level: Callable[[Mapping[str, Any]], float], named: Mapping[str, Line]
) -> list[list[Panel]]:
    """One panel per population, four in a row: shares in percent."""
    (flat,) = set(named) - set(LINES)

    def panel(name: str, about: Mapping[str, Any]) -> Panel:
        curves: dict[str, list[Point]] = {flat: [(float(n), 100 * level(about)) for n in (SIZES[0], SIZES[-1])]}
        for rule in NAMES:
            curves[rule] = [(float(n), 100 * kept(r["trials"], name, n, rule)[value]) for n in SIZES]
        return Panel(name, curves)

    every = [panel(name, about) for name, about in r["populations"].items()]
    return [every[:4], every[4:]]


def broken(r: Mapping[str, Any]) -> str:
    """How often the promise is broken."""
    lines = {**LINES, "δ, what is promised": Line(SOFT, "", 1)}
    return panels(
        f"Samples whose threshold lets the true risk exceed α, in percent ({SETTING})",
        "For eight kinds of scores, against the number of queries: the plug-in threshold breaks the promise in about "
        "half of the samples, the two bounds in fewer than δ of them.",
        _drawn(r, "broken", lambda about: DELTA, lines),
        lines,
        X,
        Axis((0, 20, 40, 60, 80)),
        height=150,
    )


def price(r: Mapping[str, Any]) -> str:
    """How many good documents are dropped."""
    lines = {**LINES, "if the true risk were known": Line(SOFT, "", 1)}
    return panels(
        f"Good documents dropped, in percent ({SETTING})",
        "For eight kinds of scores, against the number of queries: betting drops fewer than Hoeffding-Bentkus, and all "
        "come near to the least that is possible as queries become many.",
        _drawn(r, "dropped", lambda about: float(about["known"]), lines),
        lines,
        X,
        Axis((0, 25, 50, 75, 100)),
        height=150,
    )


def answers(r: Mapping[str, Any]) -> str:
    """Risk and bound against the threshold, of real answers."""
    counts = (np.array(r[name], dtype=np.int64) for name in ("before", "after", "steps"))
    cut = RiskCutoff(r["alpha"], DELTA, r["k"])
    cut.curve_ = RiskCurve(tuple(r["ends"]), r["queries"], r["k"], np.array(r["cuts"]), np.zeros(0), *counts)
    cut.threshold_, cut.bound_ = r["threshold"], r["bound"]
    return svg_of(cut.plot())
