"""Niu and others (2012): labelling a top 10, and learning from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.labelling_study import printed as study
from experiments.papers.verdict import verdicts
from experiments.top_k.printed import TABLES
from experiments.web_track.years import Ints

#: Each Focused method and its parents, the listwise one first.
PARENTS = {
    "FocusedSVM": ("SVM-MAP", "RankSVM"),
    "FocusedBoost": ("AdaRank", "RankBoost"),
    "FocusedNet": ("ListNet", "RankNet"),
}
#: By the text: gains of FocusedBoost on the top 10 of MQ2007 over AdaRank and RankBoost, by κ-NDCG@10 and by κ-ERR, in
#: percent; the column of the measure in Table 4, and the parent.
GAINS = {(9, "AdaRank"): 7.08, (9, "RankBoost"): 0.87, (10, "AdaRank"): 9.76, (10, "RankBoost"): 0.91}
DOCUMENTS = 50

Scores = Mapping[str, tuple[float, ...]]


def measure(pools: Ints) -> dict[str, Any]:
    """The tables, and the numbers of what follows, given the sizes of the pools of MQ2007."""
    highest = {"MQ2007": float((1 / pools).mean()), "TD2003": 1 / DOCUMENTS}
    return {
        "tables": {
            "1": seconds_minutes_judgments(),
            "2 and 3": verdicts(study.TABLE_2.size + study.TABLE_3.size),
            **{number: ten_methods(name, highest[name]) for number, name in (("4", "MQ2007"), ("5", "TD2003"))},
        },
        "judgments": {tool: minutes(tool) for tool in study.TABLE_1},
        "documents": DOCUMENTS,
        "err": {name: err(rows, highest[name.split()[-1]]) for name, rows in TABLES.items()},
        "gains": [{"printed": value, "by table": gain(*place)} for place, value in GAINS.items()],
        "above both parents": {name: above_both(rows) for name, rows in TABLES.items()},
        "best is focused": {name: best_are_focused(rows) for name, rows in TABLES.items()},
        "FocusedNet above ListMLE": [
            a - b
            for a, b in zip(*(TABLES["top-k MQ2007"][name] for name in ("FocusedNet", "Top-k ListMLE")), strict=True)
        ],
        "row sums": [*study.TABLE_2.sum(axis=1), *study.TABLE_3.sum(axis=1)],
        "agreement": {
            "pairs": {"printed": study.PAIRS, "shares": study.shares(study.TABLE_2, *study.PAIRS)},
            "grades": {"printed": study.GRADES, "shares": study.shares(study.TABLE_3, *study.GRADES)},
        },
    }


def seconds_minutes_judgments() -> dict[str, int]:
    """Table 1: as many grades as documents; where all queries have as many, minutes are seconds times judgments."""
    grades = minutes("grades")
    wrong = abs(grades["product"] - grades["minutes"]) > 0.005
    return verdicts(
        sum(map(len, study.TABLE_1.values())), reproduced=int(grades["judgments"] == DOCUMENTS), refuted=int(wrong)
    )


def ten_methods(collection: str, highest: float) -> dict[str, int]:
    """Table 4 or 5: values of ERR and κ-ERR that are higher than 1/n allows cannot be."""
    parts = [TABLES[f"{kind} {collection}"] for kind in ("graded", "top-k")]
    impossible = sum(row[-1] > highest for rows in parts for row in rows.values())
    return verdicts(sum(len(row) for rows in parts for row in rows.values()), refuted=impossible)


def minutes(tool: str) -> dict[str, float]:
    """Table 1: a tool's seconds, judgments and minutes, and minutes and seconds that follow from the other two.

    >>> round(minutes("grades")["product"], 2), minutes("grades")["minutes"]
    (11.56, 11.78)
    """
    seconds, printed, judgments = study.TABLE_1[tool]
    return {
        "seconds": seconds,
        "judgments": judgments,
        "product": seconds * judgments / 60,
        "minutes": printed,
        "seconds needed": 60 * printed / judgments,
    }


def err(scores: Scores, highest: float) -> dict[str, float]:
    """The lowest and the highest printed ERR or κ-ERR, and the mean of 1/n."""
    values = [row[-1] for row in scores.values()]
    return {"of 1/n": highest, "low": min(values), "high": max(values), "count": len(values)}


def gain(column: int, parent: str) -> float:
    """Of FocusedBoost over a parent on the top 10 of MQ2007, in percent, from Table 4."""
    scores = TABLES["top-k MQ2007"]
    return 100 * (scores["FocusedBoost"][column] / scores[parent][column] - 1)


def above_both(scores: Scores) -> tuple[int, int]:
    """Printed cells of Focused methods above both parents, and all of them."""
    found = [
        value > max(scores[parent][i] for parent in parents)
        for method, parents in PARENTS.items()
        for i, value in enumerate(scores[method])
    ]
    return sum(found), len(found)


def best_are_focused(scores: Scores) -> tuple[int, int]:
    """Columns whose highest value is a Focused method's, and all columns."""
    columns = list(zip(*scores.values(), strict=True))
    names = list(scores)
    return sum(names[int(np.argmax(column))] in PARENTS for column in columns), len(columns)
