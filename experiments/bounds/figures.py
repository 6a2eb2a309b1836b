"""The three figures of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.bounds import printed
from experiments.bounds.measure import EDGES, FURTHEST
from experiments.bounds.readings import DCG_EXACT, DCG_PRINTED, KS, MSP_EXACT, MSP_PAPER, MSP_PRINTED
from experiments.svg import FAINT, INK, SOFT, Drawing, Scale, scale

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#a7b0b8"


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    return {
        "upper-and-lower-bounds-printed.svg": learners(r["means"], r["perfect"]),
        "upper-and-lower-bounds-expected.svg": expected(r["systems"]["queries"], r["histograms"]),
        "upper-and-lower-bounds-queries.svg": real_and_expected(r["every query"]),
    }


def _axes(
    draw: Drawing,
    box: tuple[float, float, float, float],
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    names: tuple[str, str],
    title: str,
    written: Callable[[float], str] = "{:g}".format,
) -> tuple[Scale, Scale]:
    """A frame with ticks whose first and last are the ends of the axes."""
    left, top, width, height = box
    x = scale(x_ticks[0], x_ticks[-1], left, left + width)
    y = scale(y_ticks[0], y_ticks[-1], top + height, top)
    draw.text(left, top - 10, title, 13, bold=True)
    for tick in y_ticks:
        draw.line(left, y(tick), left + width, y(tick), FAINT)
        draw.text(left - 8, y(tick) + 4, written(tick).replace("-", "−"), 11, "end", SOFT)
    draw.line(left, top + height, left + width, top + height, SOFT)
    for tick in x_ticks:
        draw.line(x(tick), top + height, x(tick), top + height + 4, SOFT)
        draw.text(x(tick), top + height + 17, f"{tick:g}", 11, "middle", SOFT)
    draw.text(left + width / 2, top + height + 36, names[0], 12, "middle", SOFT)
    if names[1]:
        draw.text(left + width, top - 10, names[1], 12, "end", SOFT)
    return x, y


def _legend(draw: Drawing, entries: Sequence[tuple[str, str, str]], y: float) -> None:
    """Marks and words in one row: "dot", "ring" or "line"."""
    x = 20.0
    for mark, color, words in entries:
        if mark == "line":
            draw.line(x, y - 4, x + 22, y - 4, color, 2)
        else:
            draw.dot(x + 11, y - 4, color, 3.5, hollow=mark == "ring")
        draw.text(x + 30, y, words, 12)
        x += 54 + 6.3 * len(words)


#: What is seen of V1 and V2 over the measure itself: the reading as written, as printed, and the ticks of the axes.
PANELS = (
    (
        "DCG",
        DCG_EXACT,
        DCG_PRINTED,
        (0.5, 0.52, 0.54, 0.56, 0.58),
        ((0.28, 0.32, 0.36, 0.4), (0.1, 0.2, 0.3, 0.4, 0.5)),
    ),
    ("MSP", MSP_PAPER, MSP_PRINTED, (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45), ((0.1, 0.2, 0.3), (0, 0.1, 0.2, 0.3))),
)


def learners(systems: Mapping[str, Sequence[Sequence[float]]], perfect: float) -> str:
    """V1 and V2 over the measure itself: our systems by both readings, and the paper's eight learners."""
    left, top, width, height, gap = 60, 104, 318, 210, 62
    title = f"Normalised scores over the measure itself, k = {FURTHEST}"
    draw = Drawing(
        left + 2 * width + gap + 20,
        top + 2 * height + 134,
        title,
        "Each system is a dot, by the formulas as written and as printed; the paper's learners lie on the second.",
    )
    draw.text(16, 28, title, 16, bold=True)
    ours = ((BLUE, "our systems, as written"), (ORANGE, "our systems, as printed"))
    _legend(draw, [*(("dot", *entry) for entry in ours), ("ring", INK, "the paper's eight learners")], 54)
    for row, (name, written, followed, x_ticks, ranges) in enumerate(PANELS):
        for column, (version, y_ticks) in enumerate(zip((1, 2), ranges, strict=True)):
            box = left + column * (width + gap), top + row * (height + 76), width, height
            axis = f"{written.tables}@{FURTHEST}"
            x, y = _axes(draw, box, x_ticks, y_ticks, (axis, ""), f"{name}, V{version}", "{:.2f}".format)
            if name == "MSP":
                draw.line(x(perfect), box[1], x(perfect), box[1] + height, INK, 1, "3 3")
                draw.text(x(perfect) - 6, box[1] + 14, "a perfect ranking by Eq. 3", 11, "end", INK)
            for reading, color in ((written, BLUE), (followed, ORANGE)):
                points = zip(systems[reading.name][0], systems[reading.name][version], strict=True)
                seen = [
                    (x(a), y(b)) for a, b in points if x_ticks[0] <= a <= x_ticks[-1] and y_ticks[0] <= b <= y_ticks[-1]
                ]
                draw.dots(seen, color, 2.4)
            base, other = (
                printed.learners(printed.SCORES[written.tables][i])[:, KS.index(FURTHEST)] for i in (0, version)
            )
            for a, b in zip(base, other, strict=True):
                draw.dot(x(a), y(b), INK, 3.5, hollow=True)
    return str(draw)


def expected(queries: int, histograms: Mapping[str, Sequence[int]]) -> str:
    """Histograms of what a random ranking is expected to get."""
    left, top, width, height, gap = 56, 96, 330, 220, 70
    title = f"Expected score of a random ranking, {queries:,} queries of MQ2007"
    draw = Drawing(
        left + 2 * width + gap + 20,
        top + height + 56,
        title,
        "Histograms over queries, averaged over k = 5, 10, 15, 20, 30.",
    )
    draw.text(16, 28, title, 16, bold=True)
    _legend(draw, [("line", BLUE, "exact"), ("line", ORANGE, "the paper's k p²")], 52)
    panels = (("nDCG", ((DCG_EXACT, BLUE),)), ("MSP", ((MSP_EXACT, BLUE), (MSP_PAPER, ORANGE))))
    for column, (name, shown) in enumerate(panels):
        counts = {color: histograms[reading.name] for reading, color in shown}
        step = 100 if max(map(max, counts.values())) < 500 else 200
        ticks = range(0, max(map(max, counts.values())) + step, step)
        box = left + column * (width + gap), top, width, height
        x, y = _axes(draw, box, (0, 0.2, 0.4, 0.6, 0.8, 1), ticks, (f"expected {name}", "queries"), name)
        for color, count in counts.items():
            outline = [(x(edge), y(c)) for i, c in enumerate(count) for edge in EDGES[i : i + 2]]
            draw.curve([(x(0), y(0)), *outline, (x(1), y(0))], color)
    return str(draw)


def real_and_expected(queries: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
    """Every query: its real score over its expected one."""
    left, top, side, gap = 52, 96, 340, 62
    title = "Real and expected scores of every query of MQ2007"
    draw = Drawing(
        left + 2 * side + gap + 20,
        top + side + 56,
        title,
        "One dot per query: the mean score of all systems over the expected one; on the line they are equal.",
    )
    draw.text(16, 28, title, 16, bold=True)
    kinds = {"ideal": GREEN, "neither": GREY, "uninformative": ORANGE}
    _legend(draw, [("dot", color, kind) for kind, color in kinds.items()], 54)
    for column, (reading, name) in enumerate(((DCG_EXACT, "nDCG"), (MSP_EXACT, "MSP, exact"))):
        found = queries[reading.name]
        box = left + column * (side + gap), top, side, side
        ticks = (0, 0.2, 0.4, 0.6, 0.8, 1)
        x, y = _axes(draw, box, ticks, ticks, ("expected", "real ↑"), name, "{:.1f}".format)
        named = {i: kind for kind in ("ideal", "uninformative") for i in found[kind]}
        dots = enumerate(zip(found["expected"], found["real"], strict=True))
        placed = [(named.get(i, "neither"), (x(a), y(b))) for i, (a, b) in dots]
        for kind, color in kinds.items():
            draw.dots([at for own, at in placed if own == kind], color, 1.7)
        draw.line(x(0), y(0), x(1), y(1), INK, 1)
    return str(draw)
