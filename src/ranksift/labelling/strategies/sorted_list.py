"""A sorted list of the best k so far, into which items are inserted in the order of a prior run."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log2

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class SortedList(Pairwise):
    """Compares each item with the last of the list, and inserts it by halving where it is better.

    Items are taken as they were given. The better that order, the fewer items enter late and have to be inserted.

    Examples
    --------
    >>> state = SortedList(k=1).state(["first", "second", "third"], [])
    >>> sorted(state.question.items)
    ['first', 'second']
    """

    def search(self, known: Knowledge) -> Search:
        """Insert one after the other."""
        order: list[int] = []
        for item in range(known.items):
            yield from insert(order, item)
            del order[self.k :]
        return order

    def forecast(self, items: int) -> float:
        """As without a prior; with one it becomes less as items turn out to be in order."""
        k = min(self.k, items)
        first = sum(log2(place) for place in range(2, k + 1))
        return first + 0.6 * k + (items - k) + k * log(max(items, 1) / max(k, 1)) * log2(max(k, 1))


def insert(order: list[int], item: int) -> Search:
    """Put an item in its place: below the last one at once, otherwise by halving.

    Items come best first, so that a newcomer belongs more often into the lower half: each cut is a little below the
    middle.
    """
    low, high = 0, len(order)
    at = high - 1
    while low < high:
        better = yield item, order[at]
        if better == 0:
            low = high = at + 1
        elif better == 1:
            high = at
        else:
            low = at + 1
        at = min(low + (high - low) * 3 // 5, high - 1)
    order.insert(low, item)
    return order
