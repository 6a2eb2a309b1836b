"""The four figures of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.markdown import number
from experiments.panels import Axis, Line, Panel, Point, panels
from experiments.svg import FAINT, SOFT, Drawing, scale
from experiments.truncation.printed import NIL_QUESTIONS, QUESTIONS, TABLE_3
from experiments.truncation.setting import MEASURES

BLUE, RED, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
#: The systems of a family in a legend, and their colour.
FAMILIES = {
    "score": ("cut by score, or not cut", BLUE),
    "length": ("cut at a fixed length", GREEN),
    "hedge": ("NIL put into the full list", RED),
}

System = Mapping[str, Any]


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    systems = list(r["systems"].values())
    return {
        "quit-while-ahead-scores.svg": scores(systems),
        "quit-while-ahead-change.svg": change(systems),
        "quit-while-ahead-cuts.svg": cuts(systems),
        "quit-while-ahead-shares.svg": shares(r["questions"]["nil"], r["by share"]),
    }


def cuts(systems: list[System]) -> str:
    """Score by the modified measures against sentences shown: cut by score, at random places, at fixed lengths."""
    lines = {
        "CNN-Cnt, cut by score": Line(BLUE, "", 2.2),
        "the same lengths dealt out at random": Line(BLUE, "5 4", 1.4),
        "CNN-Cnt, cut at a fixed length": Line(GREEN, "2 3", 2),
        "CNN, cut by score": Line(RED, "", 1.4),
        "no sentence at all": Line(SOFT, "9 4", 1),
    }

    def panel(measure: str) -> Panel:
        def curve(family: str, ranker: str, kind: str = "modified", end: bool = True) -> list[Point]:
            some = [s for s in systems if s["family"] in ("all", family) and s["ranker"] == ranker]
            some += [s for s in systems if end and s["family"] == "nothing"]
            return sorted((s["shown"], s[kind][measure]) for s in some)

        [silence] = (s["modified"][measure] for s in systems if s["family"] == "nothing")
        drawn = (
            curve("score", "CNN-Cnt"),
            curve("score", "CNN-Cnt", "at random", end=False),
            curve("length", "CNN-Cnt"),
            curve("score", "CNN"),
            [(0.0, silence), (5.0, silence)],
        )
        return Panel(f"{measure}\N{PRIME}", dict(zip(lines, drawn, strict=True)))

    found = [panel(measure) for measure in MEASURES]
    return panels(
        "What a cut is worth, by the modified measures",
        "Score against sentences shown a question, for lists cut by score, at random places and at fixed lengths.",
        [found[:2], found[2:]],
        lines,
        Axis(range(6), "sentences shown a question, at most five"),
        Axis([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], written="{:.1f}".format),
        height=220,
    )


def shares(here: float, found: Mapping[str, Any]) -> str:
    """How alike the two orders are, and how many lists the best cut leaves empty, as questions without answers vary."""
    colors = zip(MEASURES, (BLUE, RED, GREEN, PURPLE), ("", "7 3", "9 3 2 3", "3 3"), strict=True)
    lines = {measure: Line(color, dash) for measure, color, dash in colors}
    wikiqa, diagonal = f"WikiQA: {here:.1%}", "as many empty lists as such questions"
    lines |= {wikiqa: Line(SOFT, "1 3", 1.2), diagonal: Line(FAINT, "", 1.5)}
    taus, empty = (
        {m: list(zip(found["shares"], found[name][m], strict=True)) for m in MEASURES} for name in ("tau", "empty")
    )
    upright = {wikiqa: [(here, 0.0), (here, 1.0)]}
    return panels(
        "If fewer or more questions had no answer",
        "Kendall's tau and the best cut's share of empty lists, against the share of questions without an answer.",
        [
            [
                Panel(
                    "τ of the orders by original and modified measure",
                    {**taus, **upright},
                    [(NIL_QUESTIONS / QUESTIONS, printed) for printed in TABLE_3.values()],
                ),
                Panel(
                    "empty lists of the best cut, modified measure",
                    {diagonal: [(0.0, 0.0), (1.0, 1.0)], **empty, **upright},
                ),
            ]
        ],
        lines,
        Axis([0, 0.2, 0.4, 0.6, 0.8, 1], "share of questions without an answer", "{:.1f}".format),
        Axis([0, 0.2, 0.4, 0.6, 0.8, 1], written="{:.1f}".format),
        height=240,
        dots="Liu et al., Table 3: other systems",
    )


def scores(systems: list[System]) -> str:
    """Every system by the modified measure against the original one (the paper's Figure 2)."""
    return _scatter(
        "Every system by the original and by the modified measure",
        [(s["family"], s["original"], s["modified"]) for s in systems],
        across=Axis([0, 0.2, 0.4, 0.6, 0.8], "original measure, TREC 2001's rule for NIL", "{:.1f}".format),
        upright=Axis([0, 0.2, 0.4, 0.6, 0.8], "", "{:.1f}".format),
        written="{0}\N{PRIME} against {0}",
        diagonal=True,
    )


def change(systems: list[System]) -> str:
    """Modified minus original score of every system against its share of truncated lists (as the paper's Figure 3)."""
    gained = [{m: s["modified"][m] - s["original"][m] for m in MEASURES} for s in systems]
    return _scatter(
        "What each system gains or loses where the end of a list counts",
        [(s["family"], dict.fromkeys(MEASURES, s["ended"]), gain) for s, gain in zip(systems, gained, strict=True)],
        across=Axis([0, 0.2, 0.4, 0.6, 0.8, 1], "share of lists ended on purpose", "{:.1f}".format),
        upright=Axis([-0.2, -0.1, 0, 0.1, 0.2, 0.3], "", lambda tick: number(tick, 1, sign=True)),
        written="{0}\N{PRIME} − {0}",
    )


def _scatter(
    title: str,
    dots: list[tuple[str, Mapping[str, float], Mapping[str, float]]],
    *,
    across: Axis,
    upright: Axis,
    written: str,
    diagonal: bool = False,
) -> str:
    """One dot per system, in a panel for each measure: its family, its place across and its place upright."""
    left, width, gap, top, height, between = 56, 330, 40, 96, 210, 66
    size = left + 2 * width + gap + 18, top + 2 * (height + between) - 10
    draw = Drawing(*size, title, f"A dot for each system and measure; across: {across.name}.")
    draw.text(16, 28, title, 16, bold=True)
    at = 20.0
    for family, (words, color) in FAMILIES.items():
        draw.dot(at, 50, color, 3.2, hollow=family == "score")
        draw.text(at + 10, 54, words, 12)
        at += 34 + 6.6 * len(words)
    for i, measure in enumerate(MEASURES):
        x0, y0 = left + (i % 2) * (width + gap), top + (i // 2) * (height + between)
        x = scale(across.ticks[0], across.ticks[-1], x0, x0 + width)
        y = scale(upright.ticks[0], upright.ticks[-1], y0 + height, y0)
        draw.text(x0, y0 - 12, written.format(measure), 13, bold=True)
        for tick in upright.ticks:
            draw.line(x0, y(tick), x0 + width, y(tick), FAINT if tick else SOFT)
            if i % 2 == 0:
                draw.text(x0 - 8, y(tick) + 4, upright.written(tick), 11, "end", SOFT)
        for tick in across.ticks:
            draw.text(x(tick), y0 + height + 17, across.written(tick), 11, "middle", SOFT)
        if diagonal:
            draw.line(x0, y0 + height, x0 + width, y0, SOFT)
        for family, (_, color) in FAMILIES.items():
            for own, x_of, y_of in dots:
                if own == family or (own in ("all", "nothing") and family == "score"):
                    draw.dot(x(x_of[measure]), y(y_of[measure]), color, 2.6, hollow=family == "score")
        draw.text(x0 + width / 2, y0 + height + 36, across.name if i >= 2 else "", 12, "middle", SOFT)
    return str(draw)
