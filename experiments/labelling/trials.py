"""Simulations of the page: which, and how many queries each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from experiments.learning import in_parallel
from ranksift.labelling.simulation import Noise, Shown, SimulatedAssessor, Truth, simulate, with_tau
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
WITH_PRIOR = ("tournament", "seeded", "list")
TAUS = (None, 0.2, 0.4, 0.6, 0.8)
NOISES = (0.0, 0.05, 0.1)
MODELS: tuple[Noise, ...] = ("flip", "thurstone")


class Trial(NamedTuple):
    """A strategy on synthetic queries, with all that is not simple about them; ``shown``: to a second assessor."""

    strategy: str
    ties: float = 0.0
    forbidden: float = 0.0
    prior_tau: float | None = None
    noise: float = 0.0
    model: Noise = "flip"
    shown: Shown | None = None
    queries: int = QUERIES


#: What makes it cheaper, and the strategies that are tried on it.
LIGHTER: dict[str, dict[str, Any]] = {
    "neither": {},
    "5 % of the pairs are tied": {"ties": 0.05},
    "20 % of the pairs are tied": {"ties": 0.2},
    "a quarter is forbidden": {"forbidden": 0.25},
    "half is forbidden": {"forbidden": 0.5},
    "half is forbidden, τ = 0.6": {"forbidden": 0.5, "prior_tau": 0.6},
}
ON_LIGHTER = ("tournament", "seeded", "list", "heap+memory", "heap")


def found(trial: Trial) -> dict[str, Any]:
    """What came out, all but what was given."""
    assessors: dict[str, Any] = {"assessors": 2, "shown": trial.shown} if trial.shown else {}
    given = {name: value for name, value in trial._asdict().items() if name != "shown"}
    told = simulate(n=N, k=K, **given, **assessors)
    names = ("mean", "standard_error", "sd", "minutes", "verifying", "kndcg", "right")
    return {name.replace("_", " "): getattr(told, name) for name in names}


def every(trials: Iterable[Trial]) -> dict[Trial, dict[str, Any]]:
    """What comes out of many trials, each of which is made once, on several processes."""
    once = list(dict.fromkeys(trials))
    return dict(zip(once, in_parallel(found, once), strict=True))


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
