"""The figure: every ranker's nDCG_f, with its deviation over seeds."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.rank_and_filter.rows import BASELINE, OURS, PAPER, PEER
from experiments.rank_and_filter.settings import FORUM, MEASURE, REVIEWS
from experiments.rank_and_filter.trials import KNOWN_GAINS, KNOWN_SHARES, Outcome
from experiments.svg import FAINT, INK, SOFT, Drawing, scale

COLOURS = {BASELINE: "#66727f", PAPER: "#56b4e9", PEER: "#d55e00", OURS: "#009e73", "known chances": "#000000"}
WIDTH, LEFT, LINE, TOP, GAP = 910, 320, 17, 84, 40
LOW, HIGH, TICK = 0.55, 0.9, 0.05


def values(found: Mapping[str, Outcome]) -> str:
    """Two panels side by side: the forum's test and the reviews."""
    shown = [found[FORUM], found[REVIEWS]]
    groups = {group: shown[0].group(group) for group in (BASELINE, PAPER, PEER, OURS)}
    groups["known chances"] = [KNOWN_GAINS, KNOWN_SHARES]
    names = [(group, name) for group, own in groups.items() for name in sorted(own, key=shown[1].mean)]
    height = TOP + LINE * len(names) + 8 * len(groups) + 36
    draw = Drawing(
        WIDTH,
        height,
        f"{MEASURE} of every ranker",
        "A line a ranker; dots are means over seeds, lines one deviation to each side. From the top: "
        f"{', '.join(groups)}.",
    )
    draw.text(16, 28, f"{MEASURE}: means over seeds, and one deviation to each side", 16, bold=True)
    across = (WIDTH - LEFT - 20 - GAP) / 2
    for column, outcome in enumerate(shown):
        first = LEFT + column * (across + GAP)
        at = scale(LOW, HIGH, first, first + across)
        draw.text(first, 56, outcome.setting, 12, bold=True)
        for i in range(round((HIGH - LOW) / TICK) + 1):
            tick = LOW + i * TICK
            draw.line(at(tick), TOP - 16, at(tick), height - 30, FAINT)
            draw.text(at(tick), height - 14, f"{tick:.2f}", 11, "middle", SOFT)
        y, before = float(TOP), ""
        for group, name in names:
            if before and group != before:
                y += 8
            before = group
            if column == 0:
                draw.text(LEFT - 10, y + 4, name, 11, "end", INK, bold=group == OURS)
            if name in outcome.names:
                own = outcome.of(name)
                spread = float(own.std(ddof=1)) if len(own) > 1 else 0.0
                mean = float(own.mean())
                draw.line(at(max(LOW, mean - spread)), y, at(min(HIGH, mean + spread)), y, COLOURS[group], 2)
                draw.dot(at(mean), y, COLOURS[group], 3.2)
            y += LINE
    return str(draw)
