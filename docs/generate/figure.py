"""The picture of the README and of the first page, from the built-in collection: ``python -m docs.generate.figure``."""

from pathlib import Path

from experiments.svg import FAINT, INK, SOFT, Drawing
from ranksift.datasets.synthetic import synthetic_collection
from ranksift.evaluation.evaluate import evaluate
from ranksift.evaluation.scores import Scores

TARGET = Path(__file__).parents[1] / "figures" / "filtering.svg"

MEASURES = ("nDCG@10", "nDCG_f@10", "Fdocs@10", 'GoodFiltered(good="positive")')
SYSTEMS = {
    "unfiltered": "a good ranker, fooled by spam",
    "overfiltered": "the same with a filter that is too strict",
    "weak": "a worse ranker that is not fooled",
    "filtered": "the good ranker with a good filter",
    "perfect": "all that is relevant, nothing else",
}

GREY, TEAL = "#98a2ad", "#00897b"
WIDTH, TOP, ROW = 880, 96, 46
AXIS, LENGTH = 300, 350


def figure(scores: Scores) -> str:
    """Both values of every system on one axis, and beside them what its filter did."""
    height = TOP + ROW * len(SYSTEMS) + 56
    drawing = Drawing(
        WIDTH, height, "nDCG and nDCG_f of five systems",
        "By nDCG the unfiltered ranker beats the weak one and no system reaches 0.9; by nDCG_f it comes last.",
    )  # fmt: skip
    drawing.text(24, 34, "Spam on top is worse than nothing on top, and nDCG cannot see it", 17, bold=True)
    drawing.dot(29, 57, GREY, 5, hollow=True)
    drawing.text(42, 61, "nDCG@10: spam counts as useless", 13, color=SOFT)
    drawing.dot(315, 57, TEAL, 5)
    drawing.text(328, 61, "nDCG_f@10: spam is forbidden, leaving it out is right", 13, color=SOFT)
    drawing.text(765, TOP - 8, "spam shown", 12, "end", SOFT)
    drawing.text(855, TOP - 8, "relevant lost", 12, "end", SOFT)
    bottom = TOP + ROW * len(SYSTEMS)
    for tick in range(6):
        x = at(tick / 5)
        drawing.line(x, TOP, x, bottom, FAINT)
        drawing.text(x, bottom + 18, f"{tick / 5:.1f}", 12, "middle", SOFT)
    for i, (name, about) in enumerate(SYSTEMS.items()):
        y = TOP + ROW * (i + 0.5)
        plain, aware, shown, lost = scores.aggregate()[scores.row(name)].tolist()
        drawing.text(24, y - 3, name, 14, bold=True)
        drawing.text(24, y + 14, about, 12, color=SOFT)
        drawing.line(at(plain), y, at(aware), y, TEAL if aware > plain else GREY, 2)
        for value, other, color in ((plain, aware, GREY), (aware, plain, TEAL)):
            drawing.dot(at(value), y, color, 6, hollow=color == GREY)
            side = 1 if value > other else -1
            anchor = "start" if side > 0 else "end"
            drawing.text(at(value) + 11 * side, y + 4, f"{value:.2f}", 12, anchor, INK if color == TEAL else SOFT)
        drawing.text(765, y + 4, f"{shown:.0%}".replace("%", " %"), 13, "end")
        drawing.text(855, y + 4, f"{lost:.0%}".replace("%", " %"), 13, "end")
    drawing.text(24, height - 12, "50 synthetic queries; python -m docs.generate.figure", 11, color=SOFT)
    return str(drawing)


def at(value: float) -> float:
    """The place of a value on the axis."""
    return AXIS + LENGTH * value


def main() -> str:
    """The figure of the built-in collection."""
    qrels, runs = synthetic_collection()
    return figure(evaluate(qrels, runs, MEASURES))


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(main(), encoding="utf-8")
