"""Gienapp and others (2020): negative judgments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from experiments.forbidden.bounds import FITTING, SAME, agreeing, at_most_minus_one, lowest
from experiments.forbidden.printed import DEPTHS, TABLE_2A, TABLE_2B, TABLE_2D
from experiments.markdown import number, paragraph, says, table, word
from experiments.papers.systems import Systems
from experiments.papers.verdict import Printed
from experiments.submissions.printed import PHI_NDCG_0_AT_20
from experiments.submissions.program import phi_of_formula, phi_of_program
from experiments.web_track.filtering import Years
from experiments.web_track.labels import agreeing_ratios
from experiments.web_track.printed import TABLE_1

WEB_TRACK = "web-track.md#the-labels-beside-the-printed-statistics"
OTHERS = "measures-with-forbidden-documents.md"
BOUNDS = "measures-with-forbidden-documents.md#by-the-judgments-alone-gienapp-et-als-table-2a"
PROGRAM = "submissions.md#the-printed-reliability"

Official = Mapping[int, NDArray[np.float64]]


def below_zero(years: Years) -> list[int]:
    """Years whose share of topics that can fall below 0 is the printed one."""
    return [
        of for of, year in years.items()
        if round(100 * float((lowest(year, DEPTHS[of]) < -SAME).mean())) == TABLE_2A[of][0]
    ]  # fmt: skip


def at_minus_one(years: Years) -> tuple[list[int], list[int]]:
    """Years whose share at −1 is the printed one at the stated depth, and further ones where it is that at 10."""
    stated = [of for of, year in years.items() if round(100 * at_most_minus_one(year, DEPTHS[of])) == TABLE_2A[of][1]]
    return stated, [of for of in agreeing(years, FITTING) if of not in stated]


def tables(years: Years, systems: Systems) -> list[Printed]:
    """Every table of the paper that has numbers."""
    where_present = agreeing_ratios(years)[1]
    ratios = sum(len(row) for _, row in TABLE_1.values())
    runs = sum(systems[of] == TABLE_1[of][0] for of in years)
    stated, at_10 = at_minus_one(years)
    low, cells = len(below_zero(years)), 2 * len(TABLE_2A)
    reached = low + len(stated) + len(at_10)
    phis = sum(len(row) for rows in TABLE_2D.values() for row in rows.values())
    return [
        Printed(
            "1",
            "runs, and the labels of a topic",
            f"[means over the topics that have the label]({WEB_TRACK}), not over all; {word(runs)} counts of runs are "
            "those of the [score tables](submissions.md)",
            reproduced=runs,
            explained=where_present,
            refuted=ratios - where_present,
            out_of_reach=len(TABLE_1) - runs,
        ),
        Printed(
            "2a",
            "topics in which nDCG can fall to 0 and −1",
            f"[from the judgments]({BOUNDS}): at −1 {word(len(at_10))} years are those of k = {FITTING}, not 20 and 15",
            reproduced=low + len(stated),
            explained=len(at_10),
            refuted=cells - reached,
        ),
        Printed(
            "2b",
            "Spearman's ρ of the measures' orders",
            "the submissions are not available; [other runs](measures-with-forbidden-documents.md"
            "#the-order-of-the-runs-table-2b)",
            out_of_reach=sum(map(len, TABLE_2B.values())),
        ),
        Printed(
            "2d",
            "the reliability Φ",
            f"not the written formula: the published program [computes something else]({PROGRAM}), which gives the "
            "size of the two values that can be compared",
            explained=len(PHI_NDCG_0_AT_20),
            out_of_reach=phis - len(PHI_NDCG_0_AT_20),
        ),
    ]


def section(official: Official) -> str:
    """The part of the page about this paper, below its table of tables."""
    return f"""
Parts c, e and f of Table 2 are figures without numbers: ranks by two measures, error rates and significance levels. Of
public runs we have [such orders]({OTHERS}#the-order-of-the-runs-table-2b) and
[such curves]({OTHERS}#gienapp-et-als-setting).

### Reliability

Table 2d has Φ up to {max(v for rows in TABLE_2D.values() for row in rows.values() for v in row)} with fifty topics. On
the official nDCG@20 of the same years' submissions, which is nearest to their nDCG_0@20:

{_phi_table(official)}

{_phi_in_words(official)}

### What the text says of its tables

{_claims()}
"""


def _phi_table(official: Official) -> str:
    rows = [
        [
            str(year),
            f"{printed:.3f}",
            number(phi_of_formula(official[year]), 3),
            number(phi_of_program(official[year]), 3),
        ]
        for year, printed in PHI_NDCG_0_AT_20.items()
    ]
    return table(["year", "printed", "the paper's formula", "what its program computes"], rows)


def _phi_in_words(official: Official) -> str:
    size = official[2012].shape
    noise = phi_of_program(np.random.default_rng(0).random(size))
    return paragraph(
        "The program leaves out the intercept, so that its “system variance” is nearly the mean of the squared mean "
        "scores.",
        says(noise > 0.95, f"For random numbers in place of scores it gives {number(noise, 3)}."),
        "So the printed lead of nDCG_min, whose scores are the highest, is not evidence of reliability. It "
        "explains the "
        f"size of the values, not their digits; [the submissions' page]({PROGRAM}) has all of it, and "
        "`study.reliability` computes the formula.",
    )


def _claims() -> str:
    columns = {
        (year, i): {name: row[i] for name, row in rows.items()} for year, rows in TABLE_2D.items() for i in range(4)
    }
    ks = (5, 10, 15, 20)
    min_leads = sum(max(of, key=lambda name: of[name]) == "nDCG_min" for of in columns.values())
    org_last = [place for place, of in columns.items() if of["nDCG_org"] < of["nDCG_0"]]
    exceptions = [
        f"{year} at k = {ks[i]} ({columns[year, i]['nDCG_org']:.3f} and {columns[year, i]['nDCG_0']:.3f})"
        for year, i in columns
        if (year, i) not in org_last
    ]
    rho = list(TABLE_2B.values())
    sums = [sum(row) for _, row in TABLE_1.values()]
    rows = [
        [
            "nDCG_min has the highest Φ throughout",
            "yes" if min_leads == len(columns) else "**no**",
            f"in {min_leads} of {len(columns)} columns",
        ],
        [
            "“the reliability of nDCG_org is much lower than that for nDCG_min and nDCG_0”",
            "yes" if not exceptions else "**no**",
            f"not below nDCG_0 in {' and '.join(exceptions)}",
        ],
        [
            "nDCG_min keeps the order of nDCG_org better than nDCG_0 does, in every year",
            "yes" if all(with_min > with_0 for with_0, with_min, _ in rho) else "**no**",
            f"ρ of at least {min(row[1] for row in rho):.2f} and {min(row[0] for row in rho):.2f}",
        ],
        [
            "Table 1 has mean ratios of the labels of a topic",
            "**no**" if max(sums) > 1.05 else "yes",
            f"the rows add up to {min(sums):.2f} to {max(sums):.2f}: each label's mean is over other topics",
        ],
    ]
    return table(["claim", "holds", "by the tables"], rows, words=3)
