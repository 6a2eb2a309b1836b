"""A knockout tournament, played on for each place among those that only the best so far have beaten."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class Tournament(Pairwise):
    """Unbeaten items meet until one is left: the best. Without it others are unbeaten, and the next best is among them.

    Equals meet: always the two unbeaten items that are better than the fewest others. First those that have not been
    seen, so that one judgment may flag two forbidden items. The first place takes n - 1 judgments, each other one about
    log2 n - 1.

    Examples
    --------
    >>> from ranksift.labelling.judgments import Judgment
    >>> state = Tournament(k=1).state(["a", "b"], [Judgment("prefer", "a", "b", answer="right")])
    >>> state.done, state.order
    (True, ('b', 'a'))
    """

    def search(self, known: Knowledge) -> Search:
        """Play for the first place, then for the second, down to the k-th."""
        rest = self.shuffled(known.items)
        order: list[int] = []
        while rest and len(order) < self.k:
            while len(unbeaten := _unbeaten(rest, known)) > 1:
                yield self.match(unbeaten, known)
            if not unbeaten:  # all others are forbidden
                break
            order.append(unbeaten[0])
            rest.remove(unbeaten[0])
        return order

    def match(self, unbeaten: list[int], known: Knowledge) -> tuple[int, int]:
        """Who meets next."""
        first, second, *_ = sorted(unbeaten, key=lambda item: (known.below[item].bit_count(), known.seen >> item & 1))
        return first, second

    def forecast(self, items: int) -> float:
        """All but one lose a match, and each place after the first takes a way through the bracket."""
        k = min(self.k, items)
        return max(items - 1, 0) + sum(max(log2(items - place) - 0.85, 0.0) for place in range(k - 1))


def _unbeaten(rest: list[int], known: Knowledge) -> list[int]:
    """Items that none of the rest is better than; of tied ones the first."""
    here = sum(1 << item for item in rest) & ~known.forbidden
    unbeaten = []
    for item in rest:
        if here >> item & 1 and not known.above[item] & here:
            unbeaten.append(item)
            here &= ~known.tied[item] | 1 << item
    return unbeaten
