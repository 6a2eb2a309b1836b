"""Carmel and others (2022): forbidden documents, and learning to rank and filter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from experiments.cutoffs import printed as qa
from experiments.cutoffs.loss_table import TUNED, beaten_baselines
from experiments.cutoffs.losses import measured
from experiments.papers.verdict import verdicts
from experiments.web_track.printed import MEAN_POOL, TABLE_3, TABLE_4, TABLE_5
from experiments.web_track.years import Year
from ranksift.collection.gains import Gains
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import offsets_of
from ranksift.measures.cumulative import ideal, ideal_sublist, worst, worst_sublist

Years = Mapping[int, Year]
Scores = tuple[float, ...]

#: What a forbidden answer, a satisfying and a fully satisfying one gain: by section 5.2, and the label itself.
WRITTEN: Mapping[float, float] = {-1: -10, 1: 1, 2: 1}
BY_LABEL: Mapping[float, float] = {-1: -10, 1: 1, 2: 2}
K = 3
#: Cells of Table 7 that are so by definition: (row, column, value).
BY_DEFINITION = (
    ("filter-all", 1, 0.0), ("filter-all", 3, 0.0), ("filter-all", 4, 100.0), ("filter-all", 5, 100.0),
    ("rank-only (ordinal)", 4, 0.0), ("rank-only (ordinal)", 5, 0.0),
)  # fmt: skip
TRAINED = ("BCE", "MSE", "ordinal", "ordinal-weighted", "LambdaRank", "LambdaRank+BCE")
BASELINES = ("filter-all", "rank-only (ordinal)", "filter-only (BCE)")
TABLES_7: Mapping[str, Mapping[str, Scores]] = {
    "product reviews": qa.TABLE_7_REVIEWS,
    "community answers": qa.TABLE_7,
}


def measure(years: Years, systems: Mapping[int, int]) -> dict[str, Any]:
    """The tables, and the numbers of what follows, given the judgments and how many systems have public scores."""
    shares = label_shares(years)
    return {
        "tables": tables(years, systems, shares),
        "shares": shares,
        "runs": runs(systems),
        "by definition": defined(),
        "unbounded": unbounded(years),
        "single": single(),
        "gains": gains(),
        "judgments": judgments(years),
        "spam": {"printed": qa.SPAM, "by table": sum(a * b / 100 for a, b in zip(*qa.TABLE_1, strict=True))},
        "one answer": {"printed": qa.SINGLE, "by table": qa.QUESTIONS * qa.TABLE_2[0] / 100},
        "rankers": rankers(),
    }


def tables(years: Years, systems: Mapping[int, int], shares: Mapping[str, float]) -> dict[str, dict[str, int]]:
    """Every table of the paper that has numbers."""
    counted = sum(
        (len(year.topics) == TABLE_3[of][0]) + (len(year.qrels) == TABLE_3[of][1]) for of, year in years.items()
    )
    same, rounded, other = (int(shares[kind]) for kind in ("same", "rounded", "other"))
    # The nDCG_min of filter-all on answers is below what the written gains give in any question.
    impossible = int(qa.TABLE_7["filter-all"][2] < min(empty_lists(WRITTEN, "nDCG_min").values()))
    return {
        "1": verdicts(sum(map(len, qa.TABLE_1))),
        "2": verdicts(len(qa.TABLE_2)),
        "3": verdicts(
            sum(3 + len(row[3]) for row in TABLE_3.values()),
            reproduced=same + counted + runs(systems),
            explained=rounded,
            refuted=other + 2 * len(years) - counted,
        ),
        "4": verdicts(sum(map(len, TABLE_4.values()))),
        "5": verdicts(sum(map(len, (*TABLE_5.values(), *qa.TABLE_5.values())))),
        "6": verdicts(sum(map(len, qa.TABLE_6.values()))),
        "7": verdicts(
            sum(len(row) for rows in TABLES_7.values() for row in rows.values()),
            reproduced=defined(),
            refuted=impossible,
        ),
    }


def label_shares(years: Years) -> dict[str, float]:
    """Shares of Table 3 that come out to the printed digit, those rounded to one decimal, and the others.

    And how far the furthest of them is off, in points.
    """
    cells = [
        pair
        for of, year in years.items()
        for pair in zip((100 * year.of_labels("share")).tolist(), TABLE_3[of][3], strict=True)
    ]
    same = sum(abs(ours - theirs) <= 0.005 + 1e-9 for ours, theirs in cells)
    rounded = sum(abs(ours - theirs) > 0.005 + 1e-9 and abs(round(ours, 1) - theirs) < 1e-9 for ours, theirs in cells)
    off = max(abs(ours - theirs) for ours, theirs in cells)
    return {"same": same, "rounded": rounded, "other": len(cells) - same - rounded, "off by": off}


def runs(systems: Mapping[int, int]) -> int:
    """Years whose number of runs is that of the public score tables."""
    return sum(count == TABLE_3[of][2] for of, count in systems.items())


def defined() -> int:
    """Cells of Table 7 that must be what they are."""
    return sum(rows[row][column] == value for rows in TABLES_7.values() for row, column, value in BY_DEFINITION)


def unbounded(years: Years) -> dict[str, Any]:
    """Table 5 beside the share of topics whose judgments allow a value above 1 and below 0 at 300, in percent."""
    allowed = {
        of: [
            100 * float((years[of].pool_size - others < 300).mean())
            for others in (years[of].forbidden, years[of].relevant)
        ]
        for of in TABLE_5
    }
    every = [*TABLE_5.values(), *qa.TABLE_5.values()]
    return {
        "years": {
            of: {"over": over, "over allowed": allowed[of][0], "under": under, "under allowed": allowed[of][1]}
            for of, (_, over, under) in TABLE_5.items()
        },
        "columns": len(every),
        "adding up": sum(abs(both - over - under) < 1e-9 for both, over, under in every),
        "safe k": min(year.safe_k.min() for year in years.values()),
    }


def single() -> dict[str, Any]:
    """Table 6, and what it says of questions with several answers."""
    forbidden = qa.TABLE_6["community answers"][0]
    return {
        "sums": [sum(row) for row in qa.TABLE_6.values()],
        "no helpful vote": qa.TABLE_1[0][0],
        "forbidden": forbidden,
        "one answer": qa.TABLE_2[0],
        "all forbidden": qa.ALL_FORBIDDEN,
        "several": (qa.ALL_FORBIDDEN - qa.TABLE_2[0] * forbidden) / (100 - qa.TABLE_2[0]),
    }


def gains() -> dict[str, Any]:
    """What the empty list has at 3, and what is printed for it."""
    found = {
        name: {measure: empty_lists(of, measure) for measure in ("nDCG_min", "nDCG_f")}
        for name, of in (("written", WRITTEN), ("by label", BY_LABEL))
    }
    return {
        **{
            name: {measure: [min(values.values()), max(values.values())] for measure, values in of.items()}
            for name, of in found.items()
        },
        "labels 1 and 2": found["by label"]["nDCG_min"][1, 2],
        "printed": {"nDCG_min": qa.TABLE_7["filter-all"][2], "nDCG_f": qa.TABLE_7["filter-all"][0]},
    }


def empty_lists(gains: Mapping[float, float], measure: str) -> dict[tuple[float, ...], float]:
    """Values at 3 of the empty list: of every question, by the labels of its answers.

    Bounds at 3 take the three best and the three worst answers, so that questions with up to six are all there are.

    >>> values = empty_lists({-1: -10.0, 1: 1.0}, "nDCG_min")
    >>> len(values), min(values.values()) >= 0
    (27, True)
    """
    pools = [labels for size in range(1, 2 * K + 1) for labels in combinations_with_replacement(sorted(gains), size)]
    pool = Pool.of(offsets_of(np.array([len(labels) for labels in pools])), np.concatenate(pools))
    best, least = (ideal, worst) if measure == "nDCG_min" else (ideal_sublist, worst_sublist)
    high, low = best(pool, Gains.of(gains), K), least(pool, Gains.of(gains), K)
    value = np.divide(-low, high - low, out=np.zeros(len(pools)), where=high > low)
    return dict(zip(pools, value.tolist(), strict=True))


def judgments(years: Years) -> dict[str, float]:
    """Judgments of a topic: as printed, of the last four years, and of all."""
    return {
        "printed": MEAN_POOL,
        "2011–2014": float(np.concatenate([year.pool_size for of, year in years.items() if of > 2010]).mean()),
        "all": float(np.concatenate([year.pool_size for year in years.values()]).mean()),
    }


def rankers() -> dict[str, Any]:
    """What Table 7 says of the trained rankers, and what is kept of the same losses on another forum."""
    elsewhere = beaten_baselines(measured(), TUNED)
    reviews, answers = qa.TABLE_7_REVIEWS, qa.TABLE_7
    return {
        "not above all baselines": {name: not_above_baselines(rows) for name, rows in TABLES_7.items()},
        # Not significantly.
        "nor on SemEval-2015": [name for name in TRAINED if len(elsewhere[name]) < len(BASELINES)],
        "of reviews": {name: {"nDCG_f": reviews[name][0], "nDCG_min": reviews[name][2]} for name in BASELINES},
        "pairs": len(TRAINED) * (len(TRAINED) - 1) // 2,
        "swapped": {name: swapped(rows) for name, rows in TABLES_7.items()},
        "good answers hidden": {name: answers[name][4] for name in TRAINED},
        "forbidden shown": {
            "rank-only": answers[BASELINES[1]][3],
            "at most of 3 places": 100 * qa.FORBIDDEN / 100 * qa.ANSWERS / (K * qa.QUESTIONS),
        },
    }


def not_above_baselines(rows: Mapping[str, Scores]) -> list[str]:
    """Trained rankers whose nDCG_f is not above that of all baselines."""
    highest = max(rows[name][0] for name in BASELINES)
    return [name for name in TRAINED if rows[name][0] <= highest]


def swapped(rows: Mapping[str, Scores]) -> int:
    """Pairs of trained rankers that nDCG_f and nDCG_min order differently."""
    return sum((rows[a][0] - rows[b][0]) * (rows[a][2] - rows[b][2]) < 0 for a, b in combinations(TRAINED, 2))
