"""Liu and others (2016): truncated rankings."""

from __future__ import annotations

import warnings
from typing import Any

import ranksift as rs
from experiments.papers.verdict import verdicts
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


def measure() -> dict[str, Any]:
    """The tables, and the rankings of Table 1 scored."""
    rows = [(ranking, relevant, scored(ranking, relevant)) for ranking, relevant, *_ in TABLE_1]
    same = [
        abs(round(value, 3) - printed) < 1e-9
        for (*_, found), (_, _, *row) in zip(rows, TABLE_1, strict=True)
        for value, printed in zip(found, row, strict=True)
    ]
    return {
        "tables": {
            "1": verdicts(len(same), reproduced=sum(same), refuted=len(same) - sum(same)),
            "3": verdicts(len(TABLE_3)),
        },
        "rows": [{"ranking": ranking, "R": relevant, "scores": found} for ranking, relevant, found in rows],
        "“11” before “110”": [
            a - b for a, b in zip(scored("11", 3)[1:], scored("110", 3)[1:], strict=True)
        ],
        "lists": LISTS,
        "systems": SYSTEMS,
        "questions": QUESTIONS,
    }  # fmt: skip


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
