"""The best of all, then the best of the rest, and so on, as in select-the-best-ones (Song et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class BestOfTheRest(Pairwise):
    """Whoever is ahead is compared with the next item; whoever is ahead at the end is the best of the rest.

    Examples
    --------
    >>> BestOfTheRest(k=3).state(["a"], []).order
    ('a',)
    """

    def search(self, known: Knowledge) -> Search:
        """Go through what is left, once for each place."""
        rest = self.shuffled(known.items)
        order: list[int] = []
        while rest and len(order) < self.k:
            best = rest[0]
            for item in rest[1:]:
                better = yield best, item
                if better == -1:
                    best = item
            rest.remove(best)
            order.append(best)
        return order

    def forecast(self, items: int) -> float:
        """One round over all, and then over those that only the best so far have beaten."""
        k = min(self.k, items)
        n = max(items, 1)
        return (n - 1) + sum(max(n / (place + 1) - 1, 0.0) + log(place) for place in range(1, k))
