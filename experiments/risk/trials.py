"""Thresholds of many samples, and what they do to all queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.risk.populations import SEED, Draw, Floats, Population
from experiments.risk.rules import BOUNDS, Rule, rules

SAMPLES = 500
ALPHAS = (0.02, 0.05, 0.1)
DELTAS = (0.05, 0.1, 0.2)
#: Queries of a sample: of the curves, and of the table of all settings.
SIZES = (50, 100, 200, 500, 1000)
IN_ALL_SETTINGS = (100, 500)
#: What the curves are about.
ALPHA, DELTA = 0.05, 0.1


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one rule's thresholds did, one a sample."""

    rule: Rule
    risk: Floats
    dropped: Floats
    attained: float

    @property
    def broken(self) -> int:
        """In how many samples the true risk is above alpha."""
        return int((self.risk > self.rule.alpha + 1e-12).sum())

    @property
    def share(self) -> float:
        """In which share of them."""
        return self.broken / len(self.risk)

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper and Pearson's 95 % interval of that share."""
        from scipy.stats import beta

        broken, kept = self.broken, len(self.risk) - self.broken
        low = float(beta.ppf(0.025, broken, kept + 1)) if broken else 0.0
        return low, float(beta.ppf(0.975, broken + 1, kept)) if kept else 1.0

    @property
    def mean(self) -> float:
        """The mean true risk."""
        return float(self.risk.mean())

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(self.risk.std(ddof=1) / np.sqrt(len(self.risk)))


def outcomes(
    population: Population, queries: int, chosen: Iterable[Rule], draw: Draw, samples: int = SAMPLES
) -> dict[Rule, Outcome]:
    """Draw samples, and let every rule choose a threshold from each."""
    ways = list(chosen)
    thresholds = np.empty((samples, len(ways)))
    for s in range(samples):
        curve = population.sample(draw, queries)
        thresholds[s] = [rule.threshold(curve) for rule in ways]
    return {
        rule: Outcome(rule, population.risk(t), population.dropped(t), float((t < np.inf).mean()))
        for rule, t in zip(ways, thresholds.T, strict=True)
    }


Trials = Mapping[tuple[str, int], Mapping[Rule, Outcome]]


def all_trials(populations: Iterable[Population], samples: int = SAMPLES) -> Trials:
    """By population and number of queries."""
    found = {}
    for p, population in enumerate(populations):
        for queries in SIZES:
            ways = rules(ALPHA, (DELTA,))
            if queries in IN_ALL_SETTINGS:
                ways = [rule for alpha in ALPHAS for rule in rules(alpha, DELTAS)]
            draw = np.random.default_rng([SEED, p, queries])
            found[population.name, queries] = outcomes(population, queries, ways, draw, samples)
    return found


def kept(
    trials: Mapping[str, Any], population: str, queries: int, name: str, alpha: float = ALPHA, delta: float = DELTA
) -> Mapping[str, Any]:
    """What a rule did, of trials as results are kept; only bounds have a δ."""
    wanted = (name, alpha, delta if name in BOUNDS else None)
    [found] = (o for o in trials[population][str(queries)] if (o["name"], o["alpha"], o["delta"]) == wanted)
    return dict(found)
