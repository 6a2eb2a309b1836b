"""The penalty of a forbidden document, from 0 to 100."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.markdown import number, paragraph, says, table, word
from experiments.web_track.years import FILTERED, Year, label
from ranksift import InputError, study
from ranksift.study.penalty import PENALTIES, Swap

#: Where the table looks.
SHOWN = (0.0, 2.0, 10.0, 100.0)
KS = (20, 500)

Sweeps = Mapping[tuple[int, int], study.PenaltySweep]


def swept(year: Year, measure: str) -> study.PenaltySweep:
    """One sweep, at so many penalties that curves are smooth."""
    dense = np.expm1(np.linspace(0, np.log1p(PENALTIES[-1]), 60))[1:-1].tolist()
    return study.penalty_sweep(
        year.qrels, year.runs, measure, penalties=sorted({*PENALTIES, *dense}), unjudged="drop"
    )  # fmt: skip


def sweeps(years: Mapping[int, Year]) -> dict[tuple[int, int], study.PenaltySweep]:
    """nDCG_f of each year and k."""
    return {(of, k): swept(year, f"nDCG_f@{k}") for of, year in years.items() for k in KS}


def penalty(found: Sweeps, years: Mapping[int, Year]) -> str:
    """Section: order, winner, discrimination and swaps."""
    return f"""
## How much should a forbidden document cost?

Carmel et al. take 10 on the web track, and note in their conclusion (section 6) that this choice controls how much is
filtered. Here the gain of the label −2 goes from 0 to −100, all else as in their setting. The lists are the same;
only the penalty changes.

![nDCG_f of each run, less the mean of all runs, by penalty](forbidden-penalties.svg)

{sweep_table(found)}

τ_b is between the order at a penalty of 0 and that at 2, 10 and 100; a pair is significant where p ≤ 0.05 by Student's
paired t, without a correction. The best run, and the penalty from which it is the best:

{winner_table(found)}

{in_words(found, years)}

Swaps at penalties above 2 (every swap is a dot in the figure):

{swap_table(found)}
"""


def sweep_table(found: Sweeps) -> str:
    """One row per sweep."""
    rows = []
    for (year, k), sweep in found.items():
        at = [int(np.flatnonzero(sweep.penalties == p)[0]) for p in SHOWN]
        ends = [(0.0, 2.0), (2.0, 10.0), (10.0, 100.0)]
        counts = [sum(low < s.penalty <= high for s in sweep.swaps) for low, high in ends]
        rows.append(
            [
                f"{year}, k = {k}",
                str(len(sweep.runs) * (len(sweep.runs) - 1) // 2),
                " / ".join(map(str, counts)),
                " / ".join(number(sweep.tau[i], 2) for i in at[1:]),
                " / ".join(str(sweep.significant[i]) for i in at),
            ]
        )
    head = [
        "nDCG_f",
        "pairs",
        "swaps from 0 to 2 / to 10 / to 100",
        "τ_b at 2 / 10 / 100",
        "significant at 0 / 2 / 10 / 100",
    ]
    return table(head, rows)


def winner_table(found: Sweeps) -> str:
    """One row per sweep."""
    rows = [
        [
            f"{year}, k = {k}",
            ", then ".join(f"{label(run)} from {number(at, 1) if at else '0'}" for at, run in sweep.winners),
        ]
        for (year, k), sweep in found.items()
    ]
    return table(["nDCG_f", "best"], rows, words=2)


def swap_table(found: Sweeps) -> str:
    """One row per swap."""
    rows = [
        [number(s.penalty, 1), f"{year}, k = {k}", label(s.overtaking), label(s.overtaken)]
        for (year, k), sweep in found.items()
        for s in sweep.swaps
        if s.penalty > 2
    ]
    return table(["penalty", "nDCG_f", "overtakes", "is overtaken"], rows, words=4)


def about_filtering(swap: Swap) -> bool:
    """Whether a filtered and an unfiltered run swap."""
    return swap.overtaking.endswith(FILTERED) != swap.overtaken.endswith(FILTERED)


def filtered_first(sweep: study.PenaltySweep, penalty: float) -> bool:
    """Whether all filtered runs are above all others."""
    row = sweep.scores[int(np.flatnonzero(sweep.penalties == penalty)[0])]
    filtered = np.array([run.endswith(FILTERED) for run in sweep.runs])
    return bool(row[filtered].min() > row[~filtered].max())


def has_pole(year: Year) -> bool:
    """Whether nDCG_org@500 is infinite at some penalty."""
    try:
        swept(year, "nDCG_org@500")
    except InputError:
        return True
    return False


def in_words(found: Sweeps, years: Mapping[int, Year]) -> str:
    """What depends on the price, and what does not."""
    early, late = found[2012, 20], found[2012, 500]
    settled = max(s.penalty for s in late.swaps if about_filtering(s))
    always = filtered_first(early, 0.0) and not any(about_filtering(s) for s in early.swaps)
    between = [s for s in late.swaps if 2 < s.penalty <= 10]
    by_min = {year: swept(of, "nDCG_min@500") for year, of in years.items()}
    same_pairs = all(
        {frozenset(s[1:3]) for s in by_min[year].swaps} == {frozenset(s[1:3]) for s in found[year, 500].swaps}
        for year in years
    )
    deep = found[2013, 500]
    first, last = int(deep.significant[0]), int(deep.significant[-1])
    return paragraph(
        says(
            always,
            "**2012.** At 20 the four filtered runs are ahead of all others at any price, even at 0, where only what "
            "moved up in place of the spam counts.",
        ),
        says(
            settled < 2 and filtered_first(late, 2.0) and not filtered_first(late, 0.0) and len(between) == 1,
            f"At 500 they are so from {number(settled, 1)} on, and no later swap is between a filtered and an "
            "unfiltered run. Between 2, the label's own value, and 10 one pair swaps: whether a forbidden document "
            "costs anything matters, not how much.",
        ),
        says(
            first > 10 and last == 0,
            f"**2013.** There is little spam, and a higher price makes nDCG_f@500 blunt: {word(first)} of 15 pairs "
            f"differ significantly at 0 and none at 100. In a topic with forbidden documents their price fills the "
            "scale, and the relevant documents, in which these runs differ, become small in comparison.",
        ),
        says(
            bool((found[2013, 20].significant[found[2013, 20].penalties >= 5] == 0).all()),
            "At 20 the order turns with the price, but from 5 on no pair differs significantly.",
        ),
        says(
            same_pairs,
            "By nDCG_min@500 the same pairs swap, at other penalties. Its means leave [0, 1]: in 2012 the best run has "
            f"{number(by_min[2012].scores[-1].max(), 2)} at a penalty of 100.",
            "By nDCG_min@500 other pairs swap.",
        ),
        says(
            all(has_pole(year) for year in years.values()),
            "nDCG_org@500 cannot be swept at all: on the way the ideal DCG of some topics passes through 0, and the "
            "measure through infinity.",
        ),
    )
