"""Figures of results as files: the same figure, the same bytes."""

from __future__ import annotations

import hashlib
import io
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Without a salt names inside an SVG are drawn at random. Text stays text, so that it can be searched and edited.
_STYLE: Any = {
    "svg.hashsalt": "ranksift",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Segoe UI", "Helvetica", "Arial"],
}


def svg_of(figure: Figure) -> str:
    """A figure as SVG."""
    return _stable_ids(_saved(figure, "svg", {"Date": None, "Creator": None}).decode())


def _stable_ids(svg: str) -> str:
    """Ids that follow from what the figure shows.

    Matplotlib's follow from numbers to the last bit, which is not the same on every processor.
    """
    found = dict.fromkeys(re.findall(r'\bid="([a-z][0-9a-f]{10})"', svg))
    shown = hashlib.sha256(re.sub("|".join(found) or "$^", "", svg).encode()).hexdigest()[:8]
    named = {old: f"{old[0]}{shown}-{i}" for i, old in enumerate(found)}
    return re.sub("|".join(named) or "$^", lambda match: named[match[0]], svg)


def pdf_of(figure: Figure) -> bytes:
    """A figure as PDF, with fonts that journals accept."""
    return _saved(figure, "pdf", {"CreationDate": None, "Creator": None, "Producer": None})


def image_of(figure: Figure, form: str) -> bytes:
    """A figure as ``svg``, ``pdf`` or ``png``."""
    if form == "svg":
        return svg_of(figure).encode()
    return pdf_of(figure) if form == "pdf" else _saved(figure, "png", {"Software": None})


def _saved(figure: Figure, form: str, metadata: dict[str, Any]) -> bytes:
    from matplotlib import rc_context

    out = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(out, format=form, metadata=metadata)
    return out.getvalue()
