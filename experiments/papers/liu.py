"""Liu and others (2016): truncated rankings."""

from __future__ import annotations

import warnings
from functools import cache

import ranksift as rs
from experiments.markdown import number, paragraph, says, table
from experiments.papers.verdict import Printed, fits
from experiments.truncation.printed import LISTS, QUESTIONS, TABLE_3

MEASURES = ("RR_qwa", "RBP_qwa(p=0.5)", "nDCG_qwa", "AP_qwa")
#: Table 1: a ranking, R, r_t and the four measures.
TABLE_1 = (
    ("00", 0, 1.000, 0.333, 0.250, 0.500, 0.333),
    ("000", 0, 1.000, 0.250, 0.125, 0.431, 0.250),
    ("111", 3, 1.000, 1.000, 1.000, 1.000, 1.000),
    ("11", 3, 0.667, 1.000, 0.917, 0.922, 0.648),
    ("11100", 3, 1.000, 1.000, 0.906, 0.971, 0.917),
    ("101", 3, 0.667, 1.000, 0.708, 0.698, 0.528),
    ("1", 3, 0.333, 1.000, 0.667, 0.742, 0.306),
    ("10100", 3, 0.667, 1.000, 0.646, 0.678, 0.491),
    ("011", 3, 0.667, 0.500, 0.458, 0.554, 0.403),
    ("01001", 3, 0.667, 0.500, 0.302, 0.490, 0.299),
)
SYSTEMS = 47
PAGE = "quit-while-ahead.md"


@cache
def scored(ranking: str, relevant: int) -> tuple[float, ...]:
    """r_t and the four measures of a ranking of relevant (1) and other documents (0), where so many are relevant."""
    found = ranking.count("1")
    qrels = {f"relevant {i}": 1 for i in range(relevant)} or {"other": 0}
    hits = iter(range(found))
    names = [f"relevant {next(hits)}" if c == "1" else f"unseen {i}" for i, c in enumerate(ranking)]
    run = {name: -float(rank) for rank, name in enumerate(names)}
    with warnings.catch_warnings():  # of unjudged documents
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        values = rs.evaluate({"q": qrels}, {"q": run}, list(MEASURES)).values[0, 0].tolist()
    return (found / relevant if relevant else 1.0, *values)


def agreeing() -> tuple[int, int]:
    """Cells of Table 1 that come out as printed, and all of them."""
    cells = [
        abs(round(value, 3) - printed) < 1e-9
        for ranking, relevant, *row in TABLE_1
        for value, printed in zip(scored(ranking, relevant), row, strict=True)
    ]
    return sum(cells), len(cells)


def tables() -> list[Printed]:
    """Every table of the paper that has numbers."""
    same, cells = agreeing()
    return [
        Printed(
            "1",
            "ten rankings by four measures",
            "all printed digits" if same == cells else "",
            reproduced=same,
            refuted=cells - same,
        ),
        Printed(
            "3",
            "Kendall's τ between original and modified measures",
            "the runs of TREC 2001 are not available; [the same on WikiQA]"
            f"({PAGE}#the-order-of-systems-beside-the-papers)",
            out_of_reach=len(TABLE_3),
        ),
    ]


def section() -> str:
    """The part of the page about this paper, below its table of tables."""
    rows = [
        [f"“{ranking}”", str(relevant), *(number(value, 3) for value in scored(ranking, relevant))]
        for ranking, relevant, *_ in TABLE_1
    ]
    return f"""
Table 2 is a rule without numbers: `limit` and `nil` of the measures, and [the command that counts what it
does](../how-to/truncated-lists.md).

### Table 1

{table(["ranking", "R", "r_t", "RR′", "RBP′", "NDCG′", "AP′"], rows)}

{_in_words()}
"""


def _in_words() -> str:
    same, cells = agreeing()
    by_rbp = [[scored(r, n)[2] for r, n, *_ in TABLE_1 if n == of] for of in (0, 3)]
    ended, longer = scored("11", 3)[1:], scored("110", 3)[1:]
    return paragraph(
        says(same == cells, f"All {cells} numbers are as printed, and so is the worked NDCG′ of “101”."),
        says(
            all(values == sorted(values, reverse=True) for values in by_rbp),
            "The rows are in the order of RBP′, as the caption says.",
        ),
        says(
            [a > b for a, b in zip(ended, longer, strict=True)] == [False, True, True, True],
            "“110” < “11”, of the conclusion, holds by three of the four; by RR′ the two tie.",
        ),
        says(
            fits(SYSTEMS * QUESTIONS, SYSTEMS * QUESTIONS, float(LISTS)),
            f"The {LISTS:,} lists of Figure 1 are {SYSTEMS} systems times {QUESTIONS} questions.",
        ),
    )
