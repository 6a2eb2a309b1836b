"""Thresholds of synthetic and of real queries: how often they break their promise, and what they drop."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.risk.collections import collections
from experiments.risk.halves import held_out
from experiments.risk.populations import SEED, Population, made_up
from experiments.risk.rules import BETTING, MEAN, Rule, rules
from experiments.risk.trials import ALPHA, ALPHAS, DELTA, DELTAS, SAMPLES, Outcome, all_trials, outcomes
from ranksift.cutoffs.p_values import fewest_queries
from ranksift.cutoffs.risk import RiskCutoff

#: Of a curve of risk what its picture needs.
DRAWN = ("ends", "queries", "k", "cuts", "before", "after", "steps")


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures."""
    populations, real = made_up(), collections(data)
    trials = all_trials(populations)
    return {
        "populations": {population.name: about(population, ALPHA) for population in populations},
        "trials": {
            p.name: {n: told(found) for (name, n), found in trials.items() if name == p.name} for p in populations
        },
        "fewest queries": fewest(),
        "collections": {
            population.name: {
                **about(population, alpha),
                "alpha": alpha,
                "rules": drawn_and_split(i, population, alpha),
            }
            for i, (population, alpha) in enumerate(real)
        },
        "answers": curve(*real[-1]),
    }


def about(population: Population, alpha: float) -> dict[str, float]:
    """The queries, and what the threshold drops that is chosen with knowledge of the true risk."""
    lists = population.lists
    return {
        "queries": len(lists),
        "k": population.k,
        "documents": len(lists.score) / len(lists),
        "forbidden": float((lists.gain < 0).mean()),
        "risk": float(population.risk(np.array([-np.inf]))[0]),
        "known": float(population.dropped(population.ideal(alpha))),
    }


def told(found: Mapping[Rule, Outcome]) -> list[dict[str, Any]]:
    """As results are kept."""
    return [
        {
            "name": rule.name,
            "alpha": rule.alpha,
            "delta": rule.delta,
            "broken": outcome.share,
            "interval": outcome.interval,
            "mean": outcome.mean,
            "error": outcome.error,
            "dropped": outcome.dropped.mean(),
            "attained": outcome.attained,
        }
        for rule, outcome in found.items()
    ]


def fewest() -> dict[float, dict[str, list[int | None]]]:
    """By α and δ the fewest queries if none shows a forbidden document, and if the sample's risk is α/2."""
    found: dict[float, dict[str, list[int | None]]] = {}
    for alpha in (*ALPHAS, 0.2):
        ways = {MEAN: Rule(MEAN, alpha)} | {f"{delta:g}": Rule(BETTING, alpha, delta) for delta in reversed(DELTAS)}
        lost = np.eye(1, 4)[0], np.array([1.0 - 1.5 * alpha, 1.5 * alpha, 0.0, 0.0])
        found[alpha] = {name: [fewest_queries(rule.passes(3), each) for each in lost] for name, rule in ways.items()}
    return found


def drawn_and_split(number: int, population: Population, alpha: float, samples: int = SAMPLES) -> dict[str, Any]:
    """What each rule does to a collection that samples are drawn from, and to the other half where it is split."""
    ways, half = rules(alpha, (DELTA,)), len(population.lists) // 2
    draws = [np.random.default_rng([SEED, 100 + number, part]) for part in range(2)]
    drawn = outcomes(population, half, ways, draws[0], samples)
    halves = held_out(population, ways, draws[1], samples)
    return {
        rule.name: {
            "broken": drawn[rule].share,
            "interval": drawn[rule].interval,
            "risk": halves[rule].risk.mean(),
            "above": (halves[rule].risk > alpha + 1e-12).mean(),
            "dropped": halves[rule].dropped.mean(),
            "empty": halves[rule].empty.mean(),
        }
        for rule in ways
    }


def curve(population: Population, alpha: float) -> dict[str, Any]:
    """A cut that is fitted on a whole collection."""
    cut = RiskCutoff(alpha, DELTA, population.k).fit_lists(population.lists)
    drawn = {name: getattr(cut.curve_, name) for name in DRAWN}
    return {"alpha": alpha, "threshold": cut.threshold_, "bound": cut.bound_, **drawn}
