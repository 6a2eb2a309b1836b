"""Tables of the page, and what its claims rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from experiments.markdown import number, percent, table
from ranksift.labelling.simulation import SECONDS_PER_PAIR

Found = Mapping[str, Any]


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    without_grades = {name: one for name, one in r["plain"].items() if name != "grades"}
    neither, *lighter = r["lighter"].values()
    pairwise = ("heap", "tournament", "list")
    return {
        "mean": mean,
        "plain_table": _plain(r, without_grades),
        "prior_table": _prior(r["prior"]),
        "lighter_table": _lighter(r["lighter"]),
        "noisy_table": lambda model: _noisy(r["noisy"][model], r["queries"]["k"]),
        "always_right": always_right,
        "without_grades": without_grades.values(),
        "on_lighter": [one for of in r["lighter"].values() for one in of.values()],
        "least": min(one["mean"] for one in without_grades.values()),
        "of_the_tournament": [of["tournament"]["mean"] for of in r["prior"].values()],
        "all_save": all(of[name]["mean"] < neither[name]["mean"] for of in lighter for name in of),
        # κ-NDCG of what one assessor finds who errs anywhere, and of one who confuses what is close.
        "lost": [r["noisy"]["flip"][name]["nobody"]["0.1"]["kndcg"] for name in pairwise],
        "not_lost": [r["noisy"]["thurstone"][name]["nobody"]["0.1"]["kndcg"] for name in pairwise],
    }


def mean(one: Found) -> str:
    """Judgments and their standard error."""
    return f"{number(one['mean'], 1)} ± {number(one['standard error'], 2)}"


def always_right(found: Iterable[Found]) -> bool:
    """Whether every top k was found in its order."""
    return all(one["right"] == 1 for one in found)


def _plain(r: Mapping[str, Any], found: Mapping[str, Found]) -> str:
    n, floor = r["queries"]["n"], r["floor"]
    every = n * (n - 1) / 2
    rows = [
        [name, mean(one), number(one["sd"], 1), number(one["minutes"], 1), number(one["mean"] / floor, 2)]
        for name, one in sorted(found.items(), key=lambda each: each[1]["mean"])
    ]
    minutes = every * SECONDS_PER_PAIR / 60
    rows.append(["every-pair", number(every, 1), "0.0", number(minutes, 1), number(every / floor, 2)])
    return table(["strategy", "judgments", "sd", "minutes", "times the floor"], rows)


def _prior(prior: Mapping[str, Mapping[str, Found]]) -> str:
    rows = []
    for tau, found in prior.items():
        least = min(one["mean"] for one in found.values())
        rows.append([tau, *(f"**{mean(one)}**" if one["mean"] == least else mean(one) for one in found.values())])
    return table(["τ", *prior["none"]], rows)


def _lighter(lighter: Mapping[str, Mapping[str, Found]]) -> str:
    rows = [[items, *(number(one["mean"], 1) for one in found.values())] for items, found in lighter.items()]
    return table(["items", *lighter["neither"]], rows)


def _noisy(found: Mapping[str, Mapping[str, Mapping[str, Found]]], k: int) -> str:
    rows = []
    for name, by_shown in found.items():
        for shown, by_noise in by_shown.items():
            most = by_noise["0.1"]
            cells = [number(one["kndcg"], 4) for one in by_noise.values()]
            rows.append([name, shown, number(most["mean"], 1), number(most["minutes"], 1), *cells])
    noises = [percent(float(noise), 0) for noise in found["grades"]["nobody"]]
    head = ["strategy", "second", "judgments, 10 %", "minutes, 10 %", *(f"κ-NDCG@{k}, {noise}" for noise in noises)]
    return table(head, rows, words=2)
