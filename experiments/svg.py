"""A drawing as SVG text: small, and the same bytes each time."""

from collections.abc import Callable, Sequence
from html import escape

INK, SOFT, FAINT, PAPER = "#1f2933", "#66727f", "#d9dee3", "#ffffff"

Scale = Callable[[float], float]


def scale(low: float, high: float, first: float, last: float) -> Scale:
    """Map numbers from ``low`` to ``high`` onto places from ``first`` to ``last``."""
    return lambda value: first + (value - low) / (high - low) * (last - first)


class Drawing:
    """Shapes on a white sheet, in the order in which they are put there."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            # Opaque, so that the figure reads on a dark page too.
            f'<rect width="{width}" height="{height}" rx="6" fill="{PAPER}"/>',
        ]

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = SOFT, width: float = 1, dash: str = ""
    ) -> None:
        """A straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line x1="{_at(x1)}" y1="{_at(y1)}" x2="{_at(x2)}" y2="{_at(y2)}"'
            f' stroke="{color}" stroke-width="{width:g}"{dashes}/>'
        )

    def curve(self, points: Sequence[tuple[float, float]], color: str, width: float = 2, dash: str = "") -> None:
        """Straight lines from point to point."""
        path = " ".join(f"{_at(x)},{_at(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}" stroke-linejoin="round"'
            f"{dashes}/>"
        )

    def dot(self, x: float, y: float, color: str, radius: float = 3, hollow: bool = False) -> None:
        """A small disc or ring."""
        fill = PAPER if hollow else color
        self._parts.append(
            f'<circle cx="{_at(x)}" cy="{_at(y)}" r="{radius:g}" fill="{fill}" stroke="{color}" stroke-width="1.5"/>'
        )

    def dots(self, points: Sequence[tuple[float, float]], color: str, radius: float = 2) -> None:
        """Many small discs as one shape."""
        path = "".join(f"M{_at(x)} {_at(y)}h0" for x, y in points)
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{2 * radius:g}" stroke-linecap="round"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 12,
        anchor: str = "start",
        color: str = INK,
        bold: bool = False,
    ) -> None:
        """One line of words."""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{_at(x)}" y="{_at(y)}" font-size="{size:g}" text-anchor="{anchor}" fill="{color}"{weight}>'
            f"{escape(words)}</text>"
        )

    def __str__(self) -> str:
        return "\n".join([*self._parts, "</svg>", ""])


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
