"""Section: what ours lose to known chances in many worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from experiments.markdown import number, percent, says, table
from experiments.rank_and_filter.rows import EVERYTHING, JOINT, MEASURE, NOTHING, OPTIMAL
from experiments.rank_and_filter.worlds import (
    BEST,
    DOCUMENTS,
    LENGTHS,
    PENALTIES,
    SEEDS,
    SHARES,
    SHOWN,
    USE,
    World,
    worlds,
)

#: Where the values of a world have the difference to nothing shown, and to everything shown; errors come after them.
_TRIVIAL = {NOTHING: 1, EVERYTHING: 3}


def in_worlds(measured: Mapping[str, Any]) -> str:
    """By share and penalty, by length, and where ours are below what needs no model."""
    informative = USE[0]
    every = worlds()

    def value(name: str, chosen: Callable[[World], bool]) -> float:
        return float(np.mean([_of(measured, world, name)[0] for world in every if chosen(world)]))

    def lost(name: str, chosen: Callable[[World], bool]) -> tuple[float, float]:
        apart = [_of(measured, world, BEST)[0] - _of(measured, world, name)[0] for world in every if chosen(world)]
        return float(np.mean(apart)), max(apart)

    by_share = [
        [
            percent(share, 0),
            f"−{penalty}",
            *(
                number(value(name, lambda w: (w.share, w.penalty, w.use) == (share, penalty, informative)))  # noqa: B023
                for name in (NOTHING, EVERYTHING, BEST, *SHOWN)
            ),
        ]
        for share in SHARES
        for penalty in PENALTIES
    ]
    by_length = [
        [
            f"{length:,}",
            use,
            *(
                " / ".join(number(part, 3) for part in lost(name, lambda w: (w.length, w.use) == (length, use)))  # noqa: B023
                for name in SHOWN
            ),
        ]
        for use in USE
        for length in LENGTHS
    ]
    return f"""
## Many worlds

Synthetic lists again, in {len(every)} worlds: {", ".join(f"{n:,}" for n in LENGTHS[:-1])} or {LENGTHS[-1]:,} documents
per list; {", ".join(percent(share, 0) for share in SHARES[:-1])} or {percent(SHARES[-1], 0)} of them forbidden, at
{", ".join(f"−{p}" for p in PENALTIES[:-1])} or −{PENALTIES[-1]}; features that tell of the labels, or features of other
documents, which tell nothing. There are {DOCUMENTS[0] + DOCUMENTS[1]:,} documents to learn from and {DOCUMENTS[2]:,}
for the test, so that of the longest lists there are only {(DOCUMENTS[0] + DOCUMENTS[1]) // LENGTHS[-1]} and
{DOCUMENTS[2] // LENGTHS[-1]}. With features that tell, {MEASURE} by share and penalty, means over lengths:

{table(["forbidden", "gain", NOTHING, EVERYTHING, BEST, *SHOWN], by_share)}

What each loses to the known chances, as the mean and the largest loss over the {len(SHARES) * len(PENALTIES)} worlds of
a row. Where features are useless, "known chances" are those of all documents together. The losses
are largest where lists are long and few.

{table(["documents of a list", "features", *SHOWN], by_length)}

{_below(measured)}
"""


def _of(measured: Mapping[str, Any], world: World, name: str) -> list[float]:
    """Means over seeds."""
    return [float(value) for value in np.mean(measured[world.name][name], axis=0)]


def below(measured: Mapping[str, Any], name: str) -> list[tuple[World, str, float, float]]:
    """Where it is below nothing or everything shown by more than a standard error: the difference and the error."""
    found = []
    for world in worlds():
        of = _of(measured, world, name)
        for trivial, where in _TRIVIAL.items():
            apart, error = of[where], of[where + 1] / np.sqrt(SEEDS)
            if apart < -max(error, 1e-9):
                found.append((world, trivial, apart, float(error)))
    return found


def _below(measured: Mapping[str, Any]) -> str:
    told = []
    for name in (JOINT, OPTIMAL):
        found = sorted(below(measured, name), key=lambda of: of[2])
        least = says(
            bool(found),
            "the largest are "
            + "; ".join(
                f"{number(apart, 4, sign=True)} (standard error {number(error)}) beside {trivial} in lists of "
                f"{world.length:,} with {percent(world.share, 0)} forbidden at −{world.penalty}, {world.use} features"
                for world, trivial, apart, error in found[:3]
            ),
        )
        told.append(
            f"{name} is below nothing shown or everything shown by more than a standard error in {len(found)} of "
            f"{2 * len(worlds())} comparisons{': ' + least if least else ''}."
        )
    return " ".join(told) + (
        " Everything shown has the ranker's own order here. By chance alone, two that are equally good would be that "
        "far apart, in this direction, in one comparison of six."
    )
