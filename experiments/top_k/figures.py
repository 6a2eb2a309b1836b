"""Curves over β."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.markdown import number
from experiments.panels import Axis, Line, Panel, panels
from experiments.top_k.fits import TESTED, Learned
from experiments.top_k.methods import FAMILIES
from experiments.top_k.tables import head

LINES = {
    "FocusedSVM": Line("#0072B2"),
    "FocusedBoost": Line("#D55E00", "6 3"),
    "FocusedNet": Line("#009E73", "2 3"),
}
#: Of what is drawn, in steps of 0.01.
STEP = 0.01


def over_beta(some: Sequence[Learned]) -> str:
    """Test values over β, less the better parent's."""
    rows, ends = [], [0.0]
    for i, measure in enumerate(TESTED):
        row = []
        for learned in some:
            curves = {}
            for family in FAMILIES:
                scores = learned.curves[family.focused]
                values = scores.aggregate()[:, scores.column(measure)] - learned.better_parent(family, measure)
                curves[family.focused] = list(zip(learned.truth.betas, values.tolist(), strict=True))
                ends += values.tolist()
            row.append(Panel(f"{learned.collection.name}: {head(learned)[-2 + i]}", curves))
        rows.append(row)
    low, high = int(min(ends) / STEP - 1), int(max(ends) / STEP + 1)
    every = 1 if high - low <= 8 else 2
    low -= low % every
    high += -high % every
    return panels(
        "Focused methods over β, less the better of their parents",
        "Difference of κ-NDCG@10 and κ-ERR to the better parent, for β from 0 (pairs alone) to 1 (order alone)",
        rows,
        LINES,
        Axis((0, 0.25, 0.5, 0.75, 1), "β: 0 is the pairs alone, 1 the order of the top 10 alone"),
        Axis([STEP * i for i in range(low, high + 1, every)], written=lambda v: number(v, 2, sign=True)),
    )
