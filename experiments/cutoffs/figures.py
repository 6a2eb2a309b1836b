"""The three figures of the page."""

from __future__ import annotations

import math

import numpy as np

import ranksift as rs
from experiments.cutoffs.community import EXPECTED, MEASURE, POSITIVE, Forum
from experiments.cutoffs.promises import SIZES, BySize, Tuned
from experiments.cutoffs.rules import ORACLE, SHOW_NOTHING
from experiments.panels import Axis, Line, Panel, panels
from ranksift.report.figures import svg_of

BLUE, RED, GREEN, PURPLE, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
COLOURS = (BLUE, RED, GREEN, PURPLE, YELLOW, SKY, "#000000")
#: Points of a curve; more cannot be seen.
DRAWN = 400
DASHES = ("", "7 3", "3 3", "9 3 2 3")


def tradeoff(forum: Forum) -> str:
    """Forbidden answers shown against good ones filtered: as many rules as can be told apart."""
    found = forum.tested
    variants = [rule for rule in found.rules if " (" in rule]
    left_out = (*variants, SHOW_NOTHING, "filter-only", POSITIVE)
    return svg_of(found.only([rule for rule in (*found.rules, ORACLE) if rule not in left_out]).plot())


def thresholds(forum: Forum, tuned: Tuned) -> str:
    """The measure at every threshold, on dev and on test, with the interval of the fitted one."""
    from ranksift.plotting import drawing, legend

    figure, axes = drawing("threshold: lowest expected gain that is shown", MEASURE, width=7.0)
    axes.axvspan(tuned.interval.low, tuned.interval.high, color="0.93", label="95 % interval, from dev")
    for scored, name, colour in ((forum.dev, "dev", BLUE), (forum.test, "test", RED)):
        cut = rs.GlobalCutoff(MEASURE).fit_lists(scored.lists(EXPECTED))
        best = int(np.flatnonzero(cut.thresholds_ == cut.threshold_)[0])
        some = np.unique(np.append(np.linspace(1, len(cut.thresholds_) - 1, DRAWN).astype(np.int64), best))
        # A value holds from its threshold down to the next.
        axes.step(cut.thresholds_[some], cut.values_[some], where="post", color=colour, linewidth=1.3, label=name)
        axes.plot([cut.threshold_], [cut.value_], "o", color=colour, markersize=5, label=f"best on {name}")
    axes.axvline(0.0, color="0.5", linewidth=0.8, linestyle=":", label="expected gain 0")
    legend(axes)
    return svg_of(figure)


def questions(sizes: BySize) -> str:
    """What rules give on other questions, by the number that they are fitted on."""
    lines = {
        word: Line(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], 2.4 if i == 0 else 1.6)
        for i, word in enumerate(sizes)
    }
    curves = {
        word: [(float(n), float(np.mean(values))) for n, values in found.items()] for word, found in sizes.items()
    }
    return panels(
        f"{MEASURE} on other questions, by the number of questions that a rule is fitted on",
        "One line per rule: the mean value on questions that it was not fitted on, by the number it was fitted on.",
        [[Panel("SemEval-2015, training questions", curves)]],
        lines,
        Axis(SIZES, "labelled questions", warp=math.log10),
        Axis((0.72, 0.74, 0.76, 0.78, 0.8), written="{:.2f}".format),
        height=300,
    )
