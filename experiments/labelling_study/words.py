"""Tables and phrases of the page, and what its claims rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from experiments.labelling_study import printed
from experiments.labelling_study.study import DRAWS, SEED, UP_TO_GRADE
from experiments.markdown import between, number, percent, probability, table
from experiments.top_k import tables
from experiments.top_k.fits import TESTED
from experiments.top_k.methods import FAMILIES
from experiments.top_k.words import above, counted, significant
from ranksift.labelling.agreement import PREFERENCE_NAMES

Estimate = Mapping[str, float]
Level = Mapping[str, Any]

#: What is compared with the printed levels of agreement.
KINDS = (("pairs", "overall"), ("inferred", "overall"), ("pairs", "untied"), ("inferred", "untied"))
_LEVELS = (printed.PAIRS[0], printed.GRADES[0], printed.PAIRS[1], printed.GRADES[1])


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    agreement, share = r["study"]["agreement"], r["printed"]["shares"]["T1"][1]
    first, second = (r[assignment]["methods"] for assignment in ("first", "second"))
    return {
        "printed": printed,
        "tables": tables,
        "draws": DRAWS,
        "seed": SEED,
        "up_to": ", ".join(percent(share, 0) for share in UP_TO_GRADE),
        "ties": agreement["pairs"]["counts"][1],
        "pairs_of_both": sum(map(sum, agreement["pairs"]["counts"])),
        "value": value,
        "apart": apart,
        "rounded": rounded,
        "better_or_worse": better_or_worse,
        "is_cheaper": falling(one["per_query"] for one in r["ties"].values()),
        "levels": [abs(agreement[k][of]["value"] - theirs) for (k, of), theirs in zip(KINDS, _LEVELS, strict=True)],
        "in_draws": between([100 * one["difference"] for one in r["draws"]], 1, sign=True),
        "above_both": above(r["top k"], TESTED[0]),
        "significant": sum(len(significant([r["top k"]], sign)) for sign in (1, -1)),
        "counted": counted,
        "differences": 2 * len(TESTED) * len(FAMILIES),
        "implied_ties": share,
        "as_tied": min(r["ties"].values(), key=lambda one: abs(one["ties"] - share)),
        "shares": [x for shares in r["printed"]["shares"].values() for x in shares],
        "width": 2 * sum(found[TESTED[0]]["half"] for found in first.values()) / len(first),
        "turned": [m for m in first if first[m][TESTED[0]]["value"] * second[m][TESTED[0]]["value"] < 0],
        "cost_table": _cost(r["study"]["cost"], r["strategies"]),
        "ties_table": _ties(r["ties"]),
        "pairs_table": _matrix("Table 2: pairs", agreement["pairs"], printed.TABLE_2.tolist()),
        "inferred_table": _matrix("Table 3: inferred from grades", agreement["inferred"], printed.TABLE_3.tolist()),
        "levels_table": _levels(agreement, r["draws"]),
        "agreement_table": _agreement(agreement),
        "shares_table": _shares(r["printed"]),
        "counts_table": _counts(r["printed"]["counts"].values()),
        "labels_table": _labels(r["labels"]),
        "truth_table": _truth(first, second),
    }


def value(estimate: Estimate, digits: int) -> str:
    """A value with its interval, where they are defined."""
    if estimate["value"] is None:
        return ""
    found = number(estimate["value"], digits)
    if estimate["low"] is None:
        return found
    return f"{found} ({number(estimate['low'], digits)} to {number(estimate['high'], digits)})"


def apart(found: Estimate) -> str:
    """Two agreements compared."""
    points, low, high = (number(100 * found[name], 1, sign=True) for name in ("value", "low", "high"))
    p = probability(found["p"])
    chi = number(found["chi_square"], 1)
    return f"{points} percentage points ({low} to {high}), χ² = {chi}, p {p if p.startswith('<') else '= ' + p}"


def rounded(count: float) -> str:
    """A count of pairs, in hundreds."""
    return f"{round(count, -2):,.0f}"


def better_or_worse(found: Mapping[str, Sequence[str]]) -> str:
    """For which methods training on the top 10 is better by the truth, and for which it is worse."""
    if not found["better"] and not found["worse"]:
        return "neither significantly better nor significantly worse for any of the ten methods"
    return " and ".join(
        f"significantly {which} for {', '.join(found[which]) or 'none'}" for which in ("better", "worse")
    )


def falling(values: Iterable[float]) -> bool:
    """Whether each is lower than the one before."""
    return all(one > two for one, two in pairwise(values))


def _cost(cost: Mapping[str, Mapping[str, Any]], strategies: Mapping[str, Level]) -> str:
    rows = []
    for tool, name in (("pairs", "top-k labeling (heap)"), ("grades", "five grades")):
        one, (seconds, minutes, judgments) = cost[tool], printed.TABLE_1[tool]
        rows.append(
            [
                name,
                value(one["seconds"], 2),
                number(one["median_seconds"]["value"], 2),
                number(seconds, 2),
                value(one["minutes"], 2),
                number(minutes, 2),
                value(one["per_query"], 1),
                number(judgments, 2),
            ]
        )
    for name, level in strategies.items():
        times = [number(level[of], 2) for of in ("seconds", "median_seconds", "minutes")]
        rows.append([name, *times[:2], "", times[2], "", number(level["per_query"], 1), ""])
    head = ["", "s per judgment", "median", "paper", "min per query", "paper", "judgments per query", "paper"]
    return table(head, rows)


def _ties(found: Mapping[str, Level]) -> str:
    rows = [
        [
            bound,
            percent(one["ties"]),
            percent(one["pairs"]["overall"]),
            percent(one["pairs"]["untied"]),
            number(one["per_query"], 1),
        ]
        for bound, one in found.items()
    ]
    return table(
        ["a tie is up to", "ties among judged pairs", "agreement", "without ties", "judgments per query"], rows
    )


def _matrix(name: str, one: Mapping[str, Any], theirs: Sequence[Sequence[float]]) -> str:
    names = _escaped(PREFERENCE_NAMES)
    rows = [
        [row, *map(number, mine), *map(number, paper), str(sum(counts))]
        for row, mine, paper, counts in zip(names, one["matrix"], theirs, one["counts"], strict=True)
    ]
    return table([name, *names, *(f"paper {c}" for c in names), "pairs"], rows)


def _escaped(names: Iterable[str]) -> list[str]:
    return [name.replace("~", "\\~") for name in names]


def _levels(agreement: Mapping[str, Mapping[str, Any]], draws: Sequence[Level]) -> str:
    rows = [
        [f"{DRAWS} draws, %", *(between([100 * one[kind][of] for one in draws], 1) for kind, of in KINDS)],
        ["this study, %", *(number(100 * agreement[kind][of]["value"], 1) for kind, of in KINDS)],
        ["paper, %", *(number(100 * level, 1) for level in _LEVELS)],
    ]
    return table(["", "pairs", "inferred", "pairs without ties", "inferred without ties"], rows)


def _agreement(agreement: Mapping[str, Mapping[str, Any]]) -> str:
    estimates = ("overall", "untied", "kappa", "fleiss", "alpha_ordinal")
    rows = [
        [name, f"{agreement[kind]['units']:,}", *(value(agreement[kind][of], 3) for of in estimates)]
        for kind, name in (
            ("pairs", "pairs"),
            ("following", "pairs and what follows"),
            ("inferred", "inferred"),
            ("grades", "grades"),
        )
    ]
    return table(["about", "units", "agreement", "without ties", "Cohen's κ", "Fleiss' κ", "α, ordinal"], rows)


def _shares(found: Mapping[str, Any]) -> str:
    rows = [
        [name, *map(percent, levels), *map(percent, found["shares"][name]), percent(found["both prefer"][name])]
        for name, levels in (("T1", printed.PAIRS), ("T2", printed.GRADES))
    ]
    said = (f"says {name}" for name in _escaped(PREFERENCE_NAMES))
    return table(["", "agreement", "without ties", *said, "both prefer"], rows)


def _counts(found: Iterable[Mapping[str, float]]) -> str:
    rows = [
        [f"{one['inferred']:,.0f}", f"{one['pairs']:,.0f}", str(printed.CHI_SQUARES[0]), number(one["untied"], 1)]
        for one in found
    ]
    return table(["pairs of T2", "pairs of T1 that follow", "χ² of all", "χ² without ties"], rows)


def _labels(found: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        [name, percent(found[tool]["found"]), number(found[tool]["kndcg"], 3)]
        for tool, name in (("pairs", "top 10 by the heap"), ("grades", "five grades"))
    ]
    return table(["labels of the first assignment", "of the true top 10", "κ-NDCG@10 as a ranking"], rows)


def _truth(first: Mapping[str, Mapping[str, Any]], second: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for method, by_measure in first.items():
        cells = []
        for measure in TESTED:
            one = by_measure[measure]
            cells += [number(one["graded"], 3), number(one["top k"], 3), _less(one)]
        rows.append([method, *cells, _less(second[method][TESTED[0]])])
    head = ["trained on", "grades: κ-N@10", "top 10", "difference", "grades: κ-ERR", "top 10", "difference"]
    return table([*head, "other assessors: κ-N@10"], rows)


def _less(one: Mapping[str, float]) -> str:
    return f"{number(one['value'], 3, sign=True)} ± {number(one['half'], 3)}"
