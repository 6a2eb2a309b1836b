"""Which question to ask next: strategies as functions of the log of a task."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from ranksift.errors import InputError
from ranksift.labelling.strategies.all_pairs import AllPairs, EveryPair
from ranksift.labelling.strategies.best_of_the_rest import BestOfTheRest
from ranksift.labelling.strategies.given_pairs import GivenPairs
from ranksift.labelling.strategies.grades import Grades
from ranksift.labelling.strategies.heap import Heap, HeapWithMemory
from ranksift.labelling.strategies.quicksort import QuickSort
from ranksift.labelling.strategies.seeded import SeededTournament
from ranksift.labelling.strategies.sorted_list import SortedList
from ranksift.labelling.strategies.strategy import State as State
from ranksift.labelling.strategies.strategy import Strategy as Strategy
from ranksift.labelling.strategies.tournament import Tournament

#: The strategies that find a top k, by name.
STRATEGIES: MappingProxyType[str, Callable[..., Strategy]] = MappingProxyType(
    {
        "tournament": Tournament,
        "seeded": SeededTournament,
        "list": SortedList,
        "heap": Heap,
        "heap+memory": HeapWithMemory,
        "grades": Grades,
        "quicksort": QuickSort,
        "best-of-the-rest": BestOfTheRest,
        "all-pairs": AllPairs,
        "every-pair": EveryPair,
    }
)

#: Those of them that compare pairs.
PAIRWISE = tuple(name for name in STRATEGIES if name != "grades")


def strategy(name: str, k: int = 10, seed: int = 0, **parameters: Any) -> Strategy:
    """The strategy with this name; ``"pairs"`` asks given pairs and takes them as ``pairs``.

    Examples
    --------
    >>> strategy("tournament", k=5)
    Tournament(k=5, seed=0)
    >>> strategy("pairs", pairs=[("a", "b")]).state(["a", "b"], []).question
    Question(left='a', right='b')
    """
    made: Callable[..., Strategy] | None = GivenPairs if name == "pairs" else STRATEGIES.get(name)
    if made is None:
        raise InputError(f"there is no strategy {name!r}", remedy=f"choose one of {', '.join(STRATEGIES)}")
    if k < 1:
        raise InputError(f"k is {k}", remedy="ask for at least one item")
    return made(k=k, seed=seed, **parameters)
