"""Pictures of results, all in one style. matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, cast

from ranksift.errors import missing_library, on_one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart by those who do not see all colours too (Okabe and Ito), and in print by their dashes and markers.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def check_can_draw() -> None:
    """Refuse to draw where matplotlib is missing."""
    if not can_draw():
        raise missing_library("pictures need", "matplotlib", "report")


def shown(name: str, most: int = 60) -> str:
    r"""A name as it is written in a picture: matplotlib would read mathematics between dollars, and hide ``_names``.

    >>> print(shown("a$b"), shown("nDCG@10"))
    a\$b nDCG@10
    """
    line = on_one_line(" ".join(name.split()))
    short = line if len(line) <= most else f"{line[: most - 1]}…"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def drawing(x: str, y: str, *, title: str = "", width: float = 6.0, height: float = 3.8) -> tuple[Figure, Axes]:
    """An empty figure with named axes; it belongs to no window, ``figure.savefig("name.pdf")`` writes it."""
    check_can_draw()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=shown(x), ylabel=shown(y), title=shown(title, most=90))
    axes.grid(visible=True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def legend(axes: Axes) -> None:
    """Name the lines below the picture, which grows by what the names take."""
    lines, names = axes.get_legend_handles_labels()
    figure = cast("Figure", axes.figure)
    columns = max(1, min(len(names), 90 // (8 + max(map(len, names), default=0))))
    figure.set_figheight(figure.get_figheight() + 0.19 * -(-len(names) // columns))
    figure.legend(lines, names, frameon=False, fontsize="small", loc="outside lower center", ncols=columns)


def styles() -> Iterator[dict[str, Any]]:
    """Colour, dashes and marker of one measure after another."""
    for colour, dashes, marker in zip(cycle(_COLOURS), cycle(_DASHES[:4]), cycle(_MARKERS), strict=False):
        yield _style(colour, dashes, marker)


def styles_of(measures: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The same for named measures: those that differ in k only share a colour, and each k has its dashes and marker.

    >>> styles = styles_of(["nDCG@5", "nDCG@10", "AP@5", "AP@10"])
    >>> [(style["color"], style["linestyle"]) for style in styles]
    [('#0072B2', '-'), ('#0072B2', '--'), ('#D55E00', '-'), ('#D55E00', '--')]
    """
    apart = [family_and_k(measure) for measure in measures]
    families, ks = (list(dict.fromkeys(part)) for part in zip(*apart, strict=True))
    if len(families) == len(measures):
        yield from islice(styles(), len(measures))
        return
    for family, k in apart:
        colour, nth = _COLOURS[families.index(family) % len(_COLOURS)], ks.index(k)
        yield _style(colour, _DASHES[nth % len(_DASHES)], _MARKERS[nth % len(_MARKERS)])


def family_and_k(measure: str) -> tuple[str, str]:
    """What a measure is called without its k, and the k.

    >>> family_and_k("nDCG@10"), family_and_k("AP")
    (('nDCG', '10'), ('AP', ''))
    """
    family, at, k = measure.rpartition("@")
    return (family, k) if at and k.isdigit() else (measure, "")


def _style(colour: Any, dashes: Any, marker: Any) -> dict[str, Any]:
    return {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 3.5, "linewidth": 1.4}
