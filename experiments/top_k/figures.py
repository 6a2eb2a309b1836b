"""Curves over β."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.markdown import number
from experiments.panels import Axis, Line, Panel, panels
from experiments.top_k.fits import CURVES
from experiments.top_k.methods import FAMILIES
from experiments.top_k.tables import Told, better_parent, named

COLOURS = ("#0072B2", "#D55E00", "#009E73")
LINES = {
    f"{kappa}{name}": Line(colour, dash)
    for kappa, dash in (("κ-", ""), ("", "6 3"))
    for name, colour in zip(("N@5", "N@10", "ERR"), COLOURS, strict=True)
}
#: Of what is drawn, in steps of 0.01.
STEP = 0.01


def figures(r: Mapping[str, Any]) -> dict[str, str]:
    """Names and contents of all of them."""
    return {"top-k-learning-beta.svg": over_beta(list(r["pooled"].values()), list(r["graded"].values()))}


def over_beta(ordered: Sequence[Told], graded: Sequence[Told]) -> str:
    """Test values over β, less the better parent's: a panel for each method, on the ordered truth and on grades."""
    rows, ends = [], [0.0]
    for both in zip(ordered, graded, strict=True):
        row = []
        for family in FAMILIES:
            drawn = {}
            for one in both:
                for measure in CURVES:
                    parent = better_parent(one, family, measure)
                    values = [value - parent for value in one["curves"][family.focused][measure]]
                    drawn[named(one, measure)] = list(zip(one["tried"], values, strict=True))
                    ends += values
            row.append(Panel(f"{both[0]['collection']}: {family.focused}", drawn))
        rows.append(row)
    low, high = int(min(ends) / STEP - 1), int(max(ends) / STEP + 1)
    every = 1 if high - low <= 8 else 2
    low -= low % every
    high += -high % every
    return panels(
        "Focused methods over β, less the better of their parents",
        "Difference of N@5, N@10 and ERR on grades, and of κ-N@5, κ-N@10 and κ-ERR on the pooled order, to the better "
        "parent, for β from 0 (pairs alone) to 1 (order alone)",
        rows,
        LINES,
        Axis((0, 0.25, 0.5, 0.75, 1), "β: 0 is the pairs alone, 1 the order of the top 10 alone"),
        Axis([STEP * i for i in range(low, high + 1, every)], written=lambda v: number(v, 2, sign=True)),
    )
