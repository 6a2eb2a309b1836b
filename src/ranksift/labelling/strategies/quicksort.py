"""QuickSort on preferences (Ailon and Mohri 2008), of the parts that reach into the top k."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import log

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class QuickSort(Pairwise):
    """All items are compared with a random pivot; then those above it are sorted, and those below it if needed.

    Examples
    --------
    >>> QuickSort(k=2).state(["a", "b", "c"], []).judgments
    0
    """

    def search(self, known: Knowledge) -> Search:
        """Sort from the top until k items stand."""
        chance = random.Random(self.seed)
        order: list[int] = []
        parts = [self.shuffled(known.items)]
        while parts and len(order) < self.k:
            part = parts.pop()
            if len(part) < 2:
                order += part
                continue
            pivot = part.pop(chance.randrange(len(part)))
            sides: dict[int, list[int]] = {1: [], 0: [pivot], -1: []}
            for item in part:
                side = yield item, pivot
                sides[side].append(item)
            order_of_tied = sides[0]
            parts.append(sides[-1])
            if sides[1]:
                # Tied items stand between both sides: a part of their own, in which all is known.
                parts += [order_of_tied, sides[1]]
            else:
                order += order_of_tied
        return order

    def forecast(self, items: int) -> float:
        """The partial sort's expectation (Martínez 2004): 2n + 2(n + 1)H(n) - 2(n + 3 - k)H(n + 1 - k) - 6k + 6."""
        k = min(self.k, items)

        def harmonic(m: int) -> float:
            return log(m) + 0.5772156649 + 1 / (2 * m) if m else 0.0

        n = items
        if n < 2:
            return 0.0
        return 2 * n + 2 * (n + 1) * harmonic(n) - 2 * (n + 3 - k) * harmonic(n + 1 - k) - 6 * k + 6
