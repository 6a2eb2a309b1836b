"""The best of all, then the best of the rest, and so on, as in select-the-best-ones (Song et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class BestOfTheRest(Pairwise):
    """The item that is ahead is compared with the next one; the item that is ahead at the end is the best of the rest.

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
        """One round over all; in each later one about half of the rest has to be compared again."""
        k = min(self.k, items)
        return max(items - 1, 0) + sum((items - place) / 2 for place in range(1, k))
