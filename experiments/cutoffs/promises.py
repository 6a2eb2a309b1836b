"""What a fitted cut promised of other queries, and what other queries gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import ranksift as rs
from experiments.cutoffs.rules import DELTA, RISK
from ranksift.collection.lists import Lists
from ranksift.cutoffs.candidates import Candidate
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.risk import forbidden_shown
from ranksift.cutoffs.threshold import one_measure

SEED = 0
#: Queries that rules are fitted on, and how often they are drawn.
SIZES, DRAWS = (25, 50, 100, 200, 400), 10

#: Values of a rule on other queries, by its name and by the queries that it was fitted on, draw by draw.
BySize = dict[str, dict[int, list[float]]]


def tuned(name: str, measure: str, fitted_on: Lists, judged_on: Lists) -> dict[str, Any]:
    """The global cut, fitted on some queries and judged on others."""
    cut = rs.GlobalCutoff(measure).fit_lists(fitted_on)
    there = rs.GlobalCutoff(measure).fit_lists(judged_on)
    interval = cut.interval(fitted_on, seed=SEED)
    return {
        "name": name,
        "measure": measure,
        "threshold": cut.threshold_,
        "interval": [interval.low, interval.high],
        "best there": there.threshold_,
        "fitted": cut.value_,
        "cross-validated": cut.cross_validated(fitted_on, seed=SEED).value,
        "given": aggregate(one_measure(measure), judged_on, cut.keep_lists(judged_on)),
        "hindsight": there.value_,
    }


def controlled(name: str, k: int, fitted_on: Lists, judged_on: Lists) -> Iterator[dict[str, Any]]:
    """A risk-controlled cut, fitted on some queries and judged on others, by both promises."""
    for delta in (None, DELTA):
        cut = rs.RiskCutoff(RISK, delta, k).fit_lists(fitted_on)
        kept = cut.keep_lists(judged_on)
        given, shown = (
            forbidden_shown(judged_on, mask, k) / (k * len(judged_on)) for mask in (kept, np.ones_like(kept))
        )
        risks = {"fitted": cut.risk_, "bound": cut.bound_, "given": given, "all shown": shown}
        yield {"name": name, "delta": delta, **risks}


def by_size(lists: Lists, measure: str, rules: Mapping[str, Candidate]) -> BySize:
    """What rules that are fitted on so many queries give on all others, draw by draw."""
    draw = np.random.default_rng(SEED)
    found: BySize = {word: {n: [] for n in SIZES} for word in rules}
    judge = one_measure(measure)
    for _ in range(DRAWS):
        order = draw.permutation(len(lists))
        others = lists.of_queries(np.sort(order[SIZES[-1] :]))
        for n in SIZES:
            drawn = lists.of_queries(np.sort(order[:n]))
            for word, rule in rules.items():
                assert isinstance(rule, Cutoff)
                kept = rule.clone().fit_lists(drawn).keep_lists(others)
                found[word][n].append(aggregate(judge, others, kept))
    return found
