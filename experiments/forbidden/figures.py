"""The figures of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.forbidden.printed import TABLE_2D
from experiments.forbidden.studies import CARMEL, GIENAPP, KS, METHODS
from experiments.forbidden.words import told_apart
from experiments.markdown import number
from experiments.panels import Axis, Line, Panel, Point, panels
from experiments.svg import FAINT, INK, SOFT, Drawing, scale
from experiments.web_track.years import FILTERED, label

LINES = {
    "nDCG_org": Line("#d55e00", "2 3"),
    "nDCG_0": Line("#999999", "9 3 2 3"),
    "nDCG_min": Line("#e69f00", "7 4", 2.5),
    "nDCG_f": Line("#0072b2", "", 1.5),
}
#: The same by Carmel et al.'s names.
NAMED = {heading: LINES[heading.removesuffix(" exp")] for heading in CARMEL}
ALPHAS = np.linspace(0, 0.2, 81)
TOPICS = Axis((0, 10, 20, 30, 40, 50), "topics")
WORDS = {"sakai": "bootstrap test (Sakai)", "sign": "share of sign changes"}

Results = Mapping[str, Any]


def figures(r: Results) -> dict[str, str]:
    """Names and contents of all of them."""
    return {
        "forbidden-stability-500.svg": stability_500(r["deep"]),
        "forbidden-sensitivity-500.svg": sensitivity_500(r["deep"]),
        "forbidden-reliability.svg": reliability(r["deep"], r["shallow"]),
        "forbidden-stability-by-k.svg": stability_by_k(r["shallow"]),
        "forbidden-sensitivity-by-k.svg": sensitivity_by_k(r["shallow"]),
        "forbidden-penalties.svg": penalties(r["penalties"]["nDCG_f"]),
    }


def _percent(value: float) -> str:
    return f"{100 * value:g} %"


def _error_rate(s: Results, measure: str) -> list[Point]:
    return list(zip(map(float, s["sizes"]), s["measures"][measure]["errors"], strict=True))


def _told_apart(s: Results, method: str, measure: str) -> list[Point]:
    return [(alpha, told_apart(s["measures"][measure], alpha, method)) for alpha in ALPHAS.tolist()]


def stability_500(studies: Results) -> str:
    """Error rates in Carmel et al.'s setting."""
    row = [Panel(year, {heading: _error_rate(s, heading) for heading in CARMEL}) for year, s in studies.items()]
    return panels(
        "Error rate by number of topics, k = 500",
        "A curve for each of four measures, 2012 and 2013.",
        [row],
        NAMED,
        TOPICS,
        Axis((0, 0.1, 0.2, 0.3, 0.4, 0.5), written=_percent),
        height=230,
    )


def sensitivity_500(studies: Results) -> str:
    """Pairs told apart in Carmel et al.'s setting."""
    rows = [
        [
            Panel(
                f"{year}, {WORDS[method]}",
                {heading: _told_apart(s, method, heading) for heading in CARMEL},
            )
            for year, s in studies.items()
        ]
        for method in METHODS
    ]
    return panels(
        "Pairs of runs told apart, k = 500",
        "Share of pairs whose achieved significance level is below alpha, in two readings, 2012 and 2013.",
        rows,
        NAMED,
        Axis((0, 0.05, 0.1, 0.15, 0.2), "significance level α"),
        Axis((0, 0.25, 0.5, 0.75, 1), written=_percent),
        height=180,
    )


def stability_by_k(studies: Results) -> str:
    """Error rates in Gienapp et al.'s setting."""
    rows = [
        [Panel(f"{year}, k = {k}", {name: _error_rate(s, f"{name}@{k}") for name in _back_to_front()}) for k in KS]
        for year, s in studies.items()
    ]
    return panels(
        "Error rate by number of topics, at small k",
        "A curve for each of four measures, for k = 5, 10, 15 and 20, 2012 and 2013.",
        rows,
        LINES,
        Axis((0, 25, 50), "topics"),
        Axis((0, 0.1, 0.2, 0.3), written=_percent),
        height=150,
    )


def sensitivity_by_k(studies: Results) -> str:
    """Pairs told apart in Gienapp et al.'s setting."""
    rows = [
        [
            Panel(f"{year}, k = {k}", {name: _told_apart(s, "sakai", f"{name}@{k}") for name in _back_to_front()})
            for k in KS
        ]
        for year, s in studies.items()
    ]
    return panels(
        "Pairs of runs told apart by the bootstrap test, at small k",
        "Share of pairs whose achieved significance level is below alpha, for k = 5, 10, 15 and 20, 2012 and 2013.",
        rows,
        LINES,
        Axis((0, 0.1, 0.2), "significance level α"),
        Axis((0, 0.25, 0.5, 0.75, 1), written=_percent),
        height=150,
    )


def _back_to_front() -> list[str]:
    """nDCG_f first: where nDCG_min has the same values, its dashes lie on top."""
    return ["nDCG_f", *(name for name in GIENAPP if name != "nDCG_f")]


# -- reliability ---------------------------------------------------------------------------------------


def reliability(deep: Results, shallow: Results) -> str:
    """Φ with its interval, for each measure: one panel a year and k, and what Gienapp et al. print."""
    left, width, gap, top, row = 96, 264, 112, 100, 26
    chosen = [(year, 500, {heading: s["measures"][heading]["phi"] for heading in CARMEL}) for year, s in deep.items()]
    chosen += [(year, 20, {m: s["measures"][f"{m}@20"]["phi"] for m in GIENAPP}) for year, s in shallow.items()]
    height = row * len(CARMEL)
    draw = Drawing(
        left + 2 * width + gap + 22,
        top + 2 * (height + 66),
        "The coefficient Φ of each measure",
        "Dots with 95 % intervals, for 2012 and 2013, at 500 and at 20, beside printed values for 2012 at 20.",
    )
    draw.text(16, 28, "The coefficient Φ of each measure", 16, bold=True)
    _interval(draw, 20, 44, 32, 48, SOFT)
    draw.text(54, 52, "here, with its 95 % interval over topics", 12)
    draw.dot(310, 48, SOFT, 4, hollow=True)
    draw.text(320, 52, "printed in Gienapp et al. 2020 for 32 submissions", 12)
    for i, (year, k, phi) in enumerate(chosen):
        x0, y0 = left + (i % 2) * (width + gap), top + (i // 2) * (height + 66)
        x = scale(0, 1, x0, x0 + width)
        draw.text(x0, y0 - 10, f"{year}, k = {k}", 13, bold=True)
        for tick in (0, 0.25, 0.5, 0.75, 1):
            draw.line(x(tick), y0, x(tick), y0 + height, SOFT if tick == 0 else FAINT)
            draw.text(x(tick), y0 + height + 16, f"{tick:g}", 11, "middle", SOFT)
        for j, (heading, (middle, low, high)) in enumerate(phi.items()):
            y = y0 + (j + 0.5) * row
            draw.text(x0 - 10, y + 4, heading, 12, "end", INK)
            color = LINES[heading.removesuffix(" exp")].color
            _interval(draw, x(low), x(high), x(middle), y, color)
            if (year, k) == ("2012", 20) and heading in TABLE_2D[2012]:
                draw.dot(x(TABLE_2D[2012][heading][KS.index(k)]), y, color, 4, hollow=True)
    return str(draw)


def _interval(draw: Drawing, low: float, high: float, middle: float, y: float, color: str) -> None:
    draw.line(low, y, high, y, color, 2.5)
    draw.dot(middle, y, color, 4)


# -- penalties -----------------------------------------------------------------------------------------


def penalties(sweeps: Mapping[str, Results]) -> str:
    """Every run's score less the mean of all, by penalty."""
    found = [_of_sweep(title, sweep) for title, sweep in sweeps.items()]
    names = dict.fromkeys(run for sweep in sweeps.values() for run in sweep["scores"])
    extent = max(abs(value) for panel in found for curve in panel.curves.values() for _, value in curve)
    end = np.ceil(extent * 20) / 20
    return panels(
        "nDCG_f of each run, less the mean of all runs, as the penalty grows",
        "Each run's mean score less the mean of all runs, for penalties from 0 to 100 of the label −2.",
        [found[i : i + 2] for i in range(0, len(found), 2)],
        {label(run): _run_line(run) for run in names},
        Axis((0, 1, 2, 5, 10, 20, 50, 100), "penalty of the label −2 (its gain is minus the penalty)", warp=np.log1p),
        Axis((-end, -end / 2, 0, end / 2, end), written=lambda v: number(v, 2, sign=True) if v else "0"),
        height=230,
        dots="two runs swap",
    )


def _of_sweep(title: str, sweep: Results) -> Panel:
    at, mean = sweep["penalties"], np.mean(list(sweep["scores"].values()), axis=0)
    curves = {
        label(run): list(zip(at, np.array(scores) - mean, strict=True)) for run, scores in sweep["scores"].items()
    }
    dots = [(s["penalty"], s["score"] - float(np.interp(s["penalty"], at, mean))) for s in sweep["swaps"]]
    return Panel(title, curves, dots)


def _run_line(run: str) -> Line:
    """A colour for each pair; what is filtered is solid."""
    colors = {"ql-cata": "#0072b2", "ql-catb": "#56b4e9", "rm-cata": "#d55e00", "rm-catb": "#e69f00"}
    pair = run.removeprefix("indri-").removesuffix(FILTERED)
    if pair not in colors:
        return Line({"cwindri": "#000000"}.get(pair, "#999999"), "2 3", 1.5)
    return Line(colors[pair], "" if run.endswith(FILTERED) else "7 4", 1.8)
