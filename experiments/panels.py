"""Curves in small panels that share their axes and one legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from experiments.svg import FAINT, INK, SOFT, Drawing, scale

Point = tuple[float, float]

LEFT, TOP, BETWEEN, GAP = 62, 22, 64, 26
LETTER = 6.6  # width of one, about


@dataclass(frozen=True)
class Line:
    """How a curve is drawn."""

    color: str
    dash: str = ""
    width: float = 2


@dataclass(frozen=True)
class Axis:
    """What is written along it; the first and the last tick are its ends."""

    ticks: Sequence[float]
    name: str = ""  # of the horizontal one; the title says what is upright
    written: Callable[[float], str] = "{:g}".format
    warp: Callable[[float], float] = float  # a logarithm, for example


@dataclass(frozen=True)
class Panel:
    """Curves by the name of their line, and dots."""

    title: str
    curves: Mapping[str, Sequence[Point]]
    dots: Sequence[Point] = ()


def panels(
    title: str,
    description: str,
    rows: Sequence[Sequence[Panel]],
    lines: Mapping[str, Line],
    x: Axis,
    y: Axis,
    *,
    width: int = 780,
    height: int = 200,
    dots: str = "",
) -> str:
    """Draw rows of panels; ``height`` is that of one panel, ``dots`` says what they mean."""
    columns = max(len(row) for row in rows)
    across = (width - LEFT - 18 - GAP * (columns - 1)) / columns
    entries, legend = _legend(lines, dots, width)
    top = 52 + 20 * legend + TOP
    total = top + len(rows) * (height + BETWEEN) - 12
    draw = Drawing(width, total, title, description)
    draw.text(16, 28, title, 16, bold=True)
    for name, at_x, at_y in entries:
        _entry(draw, name, lines.get(name), at_x, 54 + 20 * at_y)
    for r, row in enumerate(rows):
        bottom = top + r * (height + BETWEEN) + height
        for c, panel in enumerate(row):
            first = LEFT + c * (across + GAP)
            to_x = scale(x.warp(x.ticks[0]), x.warp(x.ticks[-1]), first, first + across)
            to_y = scale(y.warp(y.ticks[0]), y.warp(y.ticks[-1]), bottom, bottom - height)

            def place(
                point: Point, to_x: Callable[[float], float] = to_x, to_y: Callable[[float], float] = to_y
            ) -> Point:
                return to_x(x.warp(point[0])), to_y(y.warp(point[1]))

            _frame(draw, panel.title, x, y, place, named=c == 0)
            for name, points in panel.curves.items():
                line = lines[name]
                draw.curve([place(p) for p in points], line.color, line.width, line.dash)
            for point in panel.dots:
                draw.dot(*place(point), INK, 1.8)
        draw.text(LEFT + (width - LEFT - 18) / 2, bottom + 34, x.name, 12, "middle", SOFT)
    return str(draw)


def _frame(draw: Drawing, title: str, x: Axis, y: Axis, place: Callable[[Point], Point], *, named: bool) -> None:
    (left, top), (right, bottom) = place((x.ticks[0], y.ticks[-1])), place((x.ticks[-1], y.ticks[0]))
    draw.text(left, top - 8, title, 12, bold=True)
    for tick in y.ticks:
        at = place((x.ticks[0], tick))[1]
        draw.line(left, at, right, at, SOFT if tick == 0 else FAINT)
        if named:
            draw.text(left - 8, at + 4, y.written(tick), 11, "end", SOFT)
    for tick in x.ticks:
        at = place((tick, y.ticks[0]))[0]
        draw.line(at, bottom, at, bottom + 4, SOFT)
        draw.text(at, bottom + 17, x.written(tick), 11, "middle", SOFT)


def _legend(lines: Mapping[str, Line], dots: str, width: int) -> tuple[list[tuple[str, float, int]], int]:
    """Name, place and row of every entry, and the number of rows."""
    entries, x, row = [], 20.0, 0
    for name in [*lines, *([dots] if dots else [])]:
        wide = 60 + LETTER * len(name)
        if x + wide > width and x > 20:
            x, row = 20.0, row + 1
        entries.append((name, x, row))
        x += wide
    return entries, row + 1


def _entry(draw: Drawing, name: str, line: Line | None, x: float, y: float) -> None:
    if line:
        draw.line(x, y - 4, x + 30, y - 4, line.color, line.width, line.dash)
    else:
        draw.dot(x + 22, y - 4, INK, 1.8)
    draw.text(x + 38, y, name, 12)
