"""Real queries split at random: thresholds of one half, judged on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.risk.populations import Draw, Floats, Population
from experiments.risk.rules import Rule
from ranksift.cutoffs.risk import RiskCurve


@dataclass(frozen=True)
class HeldOut:
    """What one rule's thresholds did to the other half, one a split."""

    risk: Floats
    dropped: Floats
    empty: Floats
    attained: float


def held_out(population: Population, rules: Sequence[Rule], draw: Draw, splits: int) -> dict[Rule, HeldOut]:
    """Split at random, and let every rule choose a threshold from the first half."""
    lists, k = population.lists, population.k
    if not lists.cuts_from_the_end:
        raise ValueError("a document's place must not depend on the cut")
    half = len(lists) // 2
    lost = (lists.gain < 0) & (lists.rank <= k)
    good = lists.judged & (lists.gain >= 0)
    found = np.empty((4, splits, len(rules)))
    for s in range(splits):
        order = draw.permutation(len(lists))
        curve = RiskCurve.of(lists.of_queries(order[:half]), k)
        theirs = np.zeros(len(lists), dtype=bool)
        theirs[order[half:]] = True
        score, query = lists.score, lists.query
        other = theirs[query]
        for r, rule in enumerate(rules):
            threshold = rule.threshold(curve)
            kept = other & (score >= threshold)
            risk = (lost & kept).sum() / (k * theirs.sum())
            dropped = 1.0 - (good & kept).sum() / (good & other).sum()
            answered = len(np.unique(query[kept]))
            found[:, s, r] = risk, dropped, 1.0 - answered / theirs.sum(), threshold < np.inf
    return {rule: HeldOut(*found[:3, :, r], float(found[3, :, r].mean())) for r, rule in enumerate(rules)}
