"""The three figures of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cutoffs.community import MEASURE, POSITIVE, K
from experiments.cutoffs.promises import SIZES
from experiments.cutoffs.rules import ORACLE, SHOW_NOTHING
from experiments.panels import Axis, Line, Panel, panels
from ranksift.cutoffs.tradeoff import Tradeoff
from ranksift.plotting import drawing, legend, styles
from ranksift.report.figures import svg_of

BLUE, RED, GREEN, PURPLE, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
COLOURS = (BLUE, RED, GREEN, PURPLE, YELLOW, SKY, "#000000")
DASHES = ("", "7 3", "3 3", "9 3 2 3")
#: Rules that are not in the first figure, where others would be hidden.
LEFT_OUT = (SHOW_NOTHING, "filter-only", POSITIVE)


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    return {
        "cutoffs-tradeoff.svg": tradeoff(r["trade-off"]),
        "cutoffs-thresholds.svg": thresholds(r["thresholds"], r["tuned"][0]["interval"]),
        "cutoffs-questions.svg": questions(r["by size"]),
    }


def tradeoff(counts: Mapping[str, Any]) -> str:
    """Forbidden answers shown against good ones filtered: as many rules as can be told apart."""

    def shares(of: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        filtered, forbidden, shown = np.array(of, dtype=np.float64).T
        return np.stack([filtered / counts["good"], forbidden / np.maximum(shown, 1)])

    hidden, harm = shares(counts["curve"])
    figure = Tradeoff(-np.arange(float(len(hidden))), {"GoodFiltered": hidden, f"Fdocs@{K}": harm}).plot()
    axes = figure.axes[0]
    drawn = [rule for rule in counts["rules"] if " (" not in rule and rule not in LEFT_OUT]
    for rule, style, x, y in zip(drawn, styles(), *shares([counts["rules"][rule] for rule in drawn]), strict=False):
        # Hollow, so that rules which do the same are seen to.
        style |= {"linestyle": "none", "markersize": 7.0, "markerfacecolor": "none", "markeredgewidth": 1.6}
        style |= {"color": "0.4"} if rule == ORACLE else {}
        axes.plot([100 * x], [100 * y], label=rule, **style)
    legend(axes)
    return svg_of(figure)


def thresholds(curves: Mapping[str, Any], interval: tuple[float, float]) -> str:
    """The measure at every threshold, on dev and on test, with the interval of the fitted one."""
    figure, axes = drawing("threshold: lowest expected gain that is shown", MEASURE, width=7.0)
    axes.axvspan(*interval, color="0.93", label="95 % interval, from dev")
    for (name, curve), colour in zip(curves.items(), (BLUE, RED), strict=True):
        # A value holds from its threshold down to the next.
        axes.step(curve["thresholds"], curve["found"], where="post", color=colour, linewidth=1.3, label=name)
        x, y = curve["best"]
        axes.plot([x], [y], "o", color=colour, markersize=5, label=f"best on {name}")
    axes.axvline(0.0, color="0.5", linewidth=0.8, linestyle=":", label="expected gain 0")
    legend(axes)
    return svg_of(figure)


def questions(sizes: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """What rules give on other questions, by the number that they are fitted on."""
    lines = {
        word: Line(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], 2.4 if i == 0 else 1.6)
        for i, word in enumerate(sizes)
    }
    curves = {word: [(float(n), drawn["mean"]) for n, drawn in found.items()] for word, found in sizes.items()}
    return panels(
        f"{MEASURE} on other questions, by the number of questions that a rule is fitted on",
        "One line per rule: the mean value on questions that it was not fitted on, by the number it was fitted on.",
        [[Panel("SemEval-2015, training questions", curves)]],
        lines,
        Axis(SIZES, "labelled questions", warp=math.log10),
        Axis((0.72, 0.74, 0.76, 0.78, 0.8), written="{:.2f}".format),
        height=300,
    )
