"""Charts as SVG, drawn by hand: they need no library, no network, and take their colours from the page.

The classes of the page's style sheet (``good``, ``bad``, ``warn``, ``rest``, ``first``, ``second``) are the colours, so
that a chart is readable on light and on dark ground. Everything is also given in words, for those who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ranksift.report.page import escape

WIDTH = 440
_LEFT, _RIGHT = 130, 40  # room for names and for numbers
_ROW = 34
_OF_A_ROW, _OF_THE_KEY = 14, 22  # the characters of a name for which there is room in a phone's font


def dumbbells(rows: Sequence[tuple[str, float, float]], names: tuple[str, str]) -> str:
    """Two values between 0 and 1 for each row, joined by a line.

    >>> dumbbells([("bm25", 0.5, 0.7)], ("nDCG@10", "nDCG_f@10")).startswith("<svg")
    True
    """
    height = 42 + _ROW * len(rows) + 22
    parts = [_key(["first", "second"], names), _axis(0, 1, 5, 42, height - 22)]
    for i, (name, one, two) in enumerate(rows):
        y = 42 + _ROW * (i + 0.5)
        x1, x2 = _x(one), _x(two)
        outward = 10 if x2 >= x1 else -10
        parts += [
            _name(_LEFT - 12, y + 4, name, "end", _OF_A_ROW),
            f'<line class="bond" x1="{x1:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y:.1f}"/>',
            f'<circle class="first" cx="{x1:.1f}" cy="{y:.1f}" r="6"/>',
            f'<circle class="second" cx="{x2:.1f}" cy="{y:.1f}" r="6"/>',
            _beside(x1, y, one, -outward),
            _beside(x2, y, two, outward),
        ]
    words = "; ".join(f"{name}: {names[0]} {one:.2f}, {names[1]} {two:.2f}" for name, one, two in rows)
    return _svg(height, parts, words)


def _beside(x: float, y: float, value: float, offset: int) -> str:
    """The number of a dot, on its left or right; above it where the name of the row leaves no room on the left."""
    if offset < 0 and x + offset - 32 < _LEFT - 12:
        return _text(x, y - 10, f"{value:.2f}", "number", "middle")
    return _text(x + offset, y + 4, f"{value:.2f}", "number", "start" if offset > 0 else "end")


def stacks(rows: Sequence[tuple[str, Sequence[float]]], names: Sequence[str], classes: Sequence[str]) -> str:
    """A bar of several parts, each at least 0, for each row; the axis ends at 1."""
    lines = -(-len(names) // 2)
    top = 22 * lines + 16
    height = top + _ROW * len(rows) + 22
    parts = [_key(classes, names), _axis(0, 1, 5, top, height - 22)]
    for i, (name, values) in enumerate(rows):
        y, at = top + _ROW * i + 6, 0.0
        parts.append(_name(_LEFT - 12, y + 15, name, "end", _OF_A_ROW))
        for value, style in zip(values, classes, strict=True):
            width = _x(at + value) - _x(at)
            if width > 0.05:
                parts.append(
                    f'<rect class="{style}" x="{_x(at):.1f}" y="{y}" width="{width:.1f}" height="{_ROW - 12}" rx="2"/>'
                )
            if width > 34:
                parts.append(_text(_x(at) + width / 2, y + 15, f"{value:.2f}", f"inside on-{style}", "middle"))
            at += value
    told = (
        f"{name}: " + ", ".join(f"{n} {v:.2f}" for n, v in zip(names, values, strict=True)) for name, values in rows
    )
    return _svg(height, parts, "; ".join(told))


def intervals(rows: Sequence[tuple[str, float, float, float]], low: float = 0.0, high: float = 1.0) -> str:
    """A value with its interval for each row; an interval that is not known (NaN) is left out.

    >>> intervals([("pairs", 0.7, 0.6, 0.8)]).startswith("<svg")
    True
    """
    height = 12 + _ROW * len(rows) + 22
    parts = [_axis(low, high, 5, 12, height - 22)]
    words = []
    for i, (name, value, start, end) in enumerate(rows):
        y = 12 + _ROW * (i + 0.5)
        known = not (math.isnan(start) or math.isnan(end))
        parts.append(_name(_LEFT - 12, y + 4, name, "end", _OF_A_ROW))
        if known:
            x1, x2 = (_x(min(max(x, low), high), low, high) for x in (start, end))
            parts.append(f'<line class="bond" x1="{x1:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y:.1f}"/>')
        at = _x(min(max(value, low), high), low, high)
        parts += [
            f'<circle class="second" cx="{at:.1f}" cy="{y:.1f}" r="6"/>',
            _text(at, y - 10, f"{value:.2f}", "number", "middle"),
        ]
        words.append(f"{name} {value:.2f}" + (f" ({start:.2f} to {end:.2f})" if known else ""))
    return _svg(height, parts, "; ".join(words))


def strips(rows: Sequence[tuple[str, Sequence[float]]], low: float, high: float) -> str:
    """A dot for every value of a row: red outside of 0 to 1, counted at the edge where it does not fit."""
    top, row = 12, 64
    height = top + row * len(rows) + 22
    inside = (
        f'<rect class="band" x="{_x(0, low, high):.1f}" y="{top}" width="{_x(1, low, high) - _x(0, low, high):.1f}" '
    )
    parts = [inside + f'height="{height - 22 - top}"/>', _axis(low, high, int(high - low), top, height - 22)]
    told = []
    for i, (name, values) in enumerate(rows):
        y = top + row * (i + 0.5)
        parts.append(_name(_LEFT - 12, y + 4, name, "end", _OF_A_ROW))
        below, above = sum(v < low for v in values), sum(v > high for v in values)
        for j, value in enumerate(values):
            if low <= value <= high:
                # A fixed scatter, so that the same values give the same picture.
                lift = 16 * (math.modf(0.5 + 0.61803399 * j)[0] - 0.5) * 2
                style = "good" if -1e-9 <= value <= 1 + 1e-9 else "bad"
                parts.append(
                    f'<circle class="{style} dot" cx="{_x(value, low, high):.1f}" cy="{y + lift:.1f}" r="3.5"/>'
                )
        if below:
            parts.append(_text(_LEFT + 2, y + 30, f"◀ {below} beyond", "number beyond", "start"))
        if above:
            parts.append(_text(WIDTH - _RIGHT - 2, y + 30, f"{above} beyond ▶", "number beyond", "end"))
        out = sum(not -1e-9 <= v <= 1 + 1e-9 for v in values)
        told.append(f"{name}: {out} of {len(values)} outside of 0 to 1, from {min(values):.2f} to {max(values):.2f}")
    return _svg(height, parts, "; ".join(told))


def lines(
    rows: Sequence[tuple[str, Sequence[float]]], x: Sequence[float], *, marked: float, names: tuple[str, str]
) -> str:
    """A line for each row over a logarithmic axis, with the zero line and one place on the axis marked.

    Parameters
    ----------
    names
        The names of the axis, and of what is marked on it.

    >>> lines([("filter", [-0.1, 0.2])], [0.1, 10.0], marked=1.0, names=("penalty", "yours")).startswith("<svg")
    True
    """
    styles = ["second", "good", "warn", "bad", "rest"]
    classes = [styles[i % len(styles)] for i in range(len(rows))]
    top = 22 * -(-len(rows) // 2) + 16
    bottom = top + 190
    every = [0.0, *(y for _, values in rows for y in values)]
    room = 0.06 * ((max(every) - min(every)) or 1.0)
    low, high = min(every) - room, max(every) + room
    ends = math.log10(x[0]), math.log10(x[-1])

    def across(value: float) -> float:
        return _x(math.log10(value), *ends)

    def down(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    step = _step(high - low)
    marks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    parts = [_key(classes, [name for name, _ in rows])]
    for mark in marks:
        style = "grid" if mark else "zero"
        parts.append(
            f'<line class="{style}" x1="{_LEFT}" y1="{down(mark):.1f}" x2="{WIDTH - _RIGHT}" y2="{down(mark):.1f}"/>'
        )
        parts.append(_text(_LEFT - 8, down(mark) + 4, f"{mark:+.4g}" if mark else "0", "mark", "end"))
    for power in range(math.ceil(ends[0]), math.floor(ends[1]) + 1):
        parts.append(_text(across(10.0**power), bottom + 18, f"{10.0**power:g}", "mark", "middle"))
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, bottom + 38, names[0], "mark", "middle"))
    if x[0] <= marked <= x[-1]:
        at = across(marked)
        parts.append(f'<line class="marked" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}"/>')
        anchor = "end" if at > (_LEFT + WIDTH - _RIGHT) / 2 else "start"
        parts.append(_text(at + (-5 if anchor == "end" else 5), top + 10, f"{names[1]}: {marked:g}", "number", anchor))
    for (_, values), style in zip(rows, classes, strict=True):
        points = " ".join(f"{across(a):.1f},{down(b):.1f}" for a, b in zip(x, values, strict=True))
        parts.append(f'<polyline class="line line-{style}" points="{points}"/>')
    told = (f"{name}: from {values[0]:+.2f} at {x[0]:g} to {values[-1]:+.2f} at {x[-1]:g}" for name, values in rows)
    return _svg(bottom + 46, parts, f"{names[0]}; " + "; ".join(told))


@dataclass(frozen=True)
class Plane:
    """A chart of two numbers, with a place that a program can move: the dot of class ``here``.

    Attributes
    ----------
    x, y
        From where to where the axes go.
    names
        The names of the axes; the second one is above the chart.

    >>> plane = Plane((0.0, 1.0), (0.0, 1.0), ("x", "y"))
    >>> plane.at(0.0, 1.0), plane.at(1.0, 0.0)
    ((44.0, 30.0), (324.0, 240.0))
    """

    x: tuple[float, float]
    y: tuple[float, float]
    names: tuple[str, str]

    def roomier(self) -> Plane:
        """With room above and below what is drawn."""
        room = 0.06 * ((self.y[1] - self.y[0]) or 1.0)
        return Plane(self.x, (self.y[0] - room, self.y[1] + room), self.names)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        across, up = ((value - low) / (high - low) for value, (low, high) in ((x, self.x), (y, self.y)))
        return 44.0 + across * 280.0, 240.0 - up * 210.0

    def line(self, x: Iterable[float], y: Iterable[float], style: str) -> str:
        """A curve through points."""
        points = " ".join("{:.1f},{:.1f}".format(*self.at(a, b)) for a, b in zip(x, y, strict=True))
        return f'<polyline class="line {style}" points="{points}"/>'

    def ring(self, x: float, y: float) -> str:
        """A mark around a place, and the dot that begins there."""
        at = 'cx="{:.1f}" cy="{:.1f}"'.format(*self.at(x, y))
        return f'<circle class="ring" {at} r="9"/><circle class="here" {at} r="5.5"/>'

    def below(self, left: str, right: str) -> Iterable[str]:
        """Words at the ends of the axis."""
        return _text(44, 258, left, "mark", "start"), _text(324, 276, right, "mark", "end")

    def svg(self, parts: Iterable[str], words: str) -> str:
        """The chart, with its grid; ``words`` are for those who cannot see it."""
        frame = [_text(8, 14, self.names[1], "name", "start")]
        step = _step(self.y[1] - self.y[0])
        for i in range(math.ceil(self.y[0] / step), math.floor(self.y[1] / step) + 1):
            _, down = self.at(self.x[0], i * step)
            frame.append(f'<line class="grid" x1="44" y1="{down:.1f}" x2="324" y2="{down:.1f}"/>')
            frame.append(_text(38, down + 4, f"{i * step:.4g}", "mark", "end"))
        if self.names[0]:
            for i in range(6):
                value = self.x[0] + (self.x[1] - self.x[0]) * i / 5
                frame.append(_text(self.at(value, self.y[0])[0], 258, f"{value:g}", "mark", "middle"))
            frame.append(_text(184, 276, self.names[0], "mark", "middle"))
        return _svg(284, [*frame, *parts], words, width=336)


def _step(span: float) -> float:
    """A round number of which about four fit into a span.

    >>> _step(1.0), _step(0.03)
    (0.2, 0.01)
    """
    power = 10.0 ** math.floor(math.log10(span / 4))
    return min((m * power for m in (1, 2, 5, 10)), key=lambda step: abs(span / step - 4))


def _x(value: float, low: float = 0.0, high: float = 1.0) -> float:
    return _LEFT + (value - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)


def _axis(low: float, high: float, steps: int, top: float, bottom: float) -> str:
    marks = [low + (high - low) * i / steps for i in range(steps + 1)]
    lines = (
        f'<line class="grid" x1="{_x(m, low, high):.1f}" y1="{top}" x2="{_x(m, low, high):.1f}" y2="{bottom}"/>'
        for m in marks
    )
    return "".join([*lines, *(_text(_x(m, low, high), bottom + 16, f"{m:g}", "mark", "middle") for m in marks)])


def _key(classes: Sequence[str], names: Sequence[str]) -> str:
    parts = []
    for i, (style, name) in enumerate(zip(classes, names, strict=True)):
        x, y = (12, WIDTH / 2)[i % 2], 8 + 22 * (i // 2)
        parts.append(
            f'<circle class="{style}" cx="{x + 6}" cy="{y + 6}" r="6"/>'
            + _name(x + 18, y + 10, name, "start", _OF_THE_KEY)
        )
    return "".join(parts)


def _name(x: float, y: float, name: str, anchor: str, room: int) -> str:
    """A name, without its middle where it has more characters than there is room for; the pointer then shows it whole.

    >>> _name(0, 0, "bm25-without-spam", "end", 14)
    '<text class="name" x="0.0" y="0.0" text-anchor="end"><title>bm25-without-spam</title>bm25-wi…t-spam</text>'
    """
    if len(name) <= room:
        return _text(x, y, name, "name", anchor)
    start, end = room // 2, (room - 1) // 2
    drawn = _text(x, y, f"{name[:start]}…{name[-end:]}", "name", anchor)
    return drawn.replace(">", f"><title>{escape(name)}</title>", 1)


def _text(x: float, y: float, text: str, style: str, anchor: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: float, parts: Sequence[str], words: str, width: int = WIDTH) -> str:
    label = escape(words, quote=True)
    return f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
