"""All pairs, in an order that is drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import combinations
from math import log

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class AllPairs(Pairwise):
    """Every pair that does not follow from the others, whether it matters for the top k or not.

    Examples
    --------
    >>> AllPairs().state(["a", "b"], []).expected
    1.0
    """

    def search(self, known: Knowledge) -> Search:
        """Ask them all; the order is that of how many an item is better than."""
        pairs = list(combinations(range(known.items), 2))
        random.Random(self.seed).shuffle(pairs)
        wins = [0.0] * known.items
        for first, second in pairs:
            better = yield first, second
            wins[first] += (1 + better) / 2
            wins[second] += (1 - better) / 2
        return sorted(range(known.items), key=lambda item: -wins[item])

    def forecast(self, items: int) -> float:
        """Fitted to simulations of 5 to 50 items."""
        length = log(max(items, 1))
        return min(items * (items - 1) / 2, items * length * (0.33 * length + 0.3))


@dataclass(frozen=True)
class EveryPair(AllPairs):
    """Every pair, also where the answer follows from others: n(n - 1) / 2 judgments, and all their contradictions.

    Examples
    --------
    >>> EveryPair().state([str(item) for item in range(50)], []).expected
    1225.0
    """

    transitive = False

    def forecast(self, items: int) -> float:
        """All of them."""
        return items * (items - 1) / 2
