"""Simulations of the page: which, and how many queries each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from ranksift.labelling.simulation import Noise, Shown, SimulatedAssessor, Simulation, Truth, simulate, with_tau
from ranksift.labelling.strategies.heap import Heap
from ranksift.labelling.strategies.pairwise import Course

N, K, QUERIES = 50, 10, 1000

#: With noise the differences are large, so that fewer queries do.
NOISY_QUERIES = 400

#: Nothing is asked in them that is known, but for the paper's heap; "every-pair" is a formula.
STRATEGIES = (
    "tournament",
    "seeded",
    "list",
    "heap+memory",
    "quicksort",
    "heap",
    "best-of-the-rest",
    "all-pairs",
)

#: What a second assessor is shown; None: there is none.
SHOWN: tuple[Shown | None, ...] = (None, "neighbours", "all")
NOISY = ("heap", "tournament", "list", "grades")
TAUS = (None, 0.2, 0.4, 0.6, 0.8)
NOISES = (0.0, 0.05, 0.1)
MODELS: tuple[Noise, ...] = ("flip", "thurstone")


@cache
def cost(strategy: str, **given: Any) -> Simulation:
    """A strategy on many queries, without noise where nothing else is said."""
    return simulate(strategy, **{"n": N, "k": K, "queries": QUERIES, **given})


@cache
def pairs_of_the_heap() -> float:
    """About how many different pairs the paper's heap asks, on average over the queries of its cost."""
    names, count = [f"d{number:02}" for number in range(1, N + 1)], 0
    for query in range(QUERIES):
        truth = Truth.made_up(names, seed=query)
        course, assessor = Course(Heap(K, query), with_tau(truth, None, query)), SimulatedAssessor(truth)
        asked = set()
        while (question := course.question) is not None:
            asked.add(frozenset(question.items))
            course.add(assessor.answer(question))
        count += len(asked)
    return count / QUERIES


@dataclass(frozen=True)
class Noisy:
    """A strategy with a kind and a share of noise, and what a second assessor is shown, if there is one."""

    strategy: str
    model: Noise
    noise: float
    shown: Shown | None = None

    @property
    def found(self) -> Simulation:
        """What came out."""
        given: dict[str, Any] = {"assessors": 2, "shown": self.shown} if self.shown else {}
        return cost(self.strategy, noise=self.noise, model=self.model, queries=NOISY_QUERIES, **given)
