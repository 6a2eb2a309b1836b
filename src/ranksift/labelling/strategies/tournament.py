"""A knockout tournament, played again for each place: what is known is not played."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class Tournament(Pairwise):
    """The winner of a knockout is the best; without it the same bracket gives the second, and so on.

    Only matches on the way that the winner took have to be played again, so that a place takes about log2 n judgments
    after the first.

    Examples
    --------
    >>> from ranksift.labelling.judgments import Judgment
    >>> state = Tournament(k=1).state(["a", "b"], [Judgment("prefer", "a", "b", answer="right")])
    >>> state.done, state.order
    (True, ('b', 'a'))
    """

    def search(self, known: Knowledge) -> Search:
        """Play for the first place, then for the second, down to the k-th."""
        bracket = self.shuffled(known.items)
        order: list[int] = []
        while bracket and len(order) < self.k:
            winners = bracket
            while len(winners) > 1:
                round_, winners = winners, []
                for first in range(0, len(round_), 2):
                    match = round_[first : first + 2]
                    if -1 in match or len(match) == 1:  # a walkover
                        winners.append(max(match))
                        continue
                    better = yield match[0], match[1]
                    winners.append(match[better == -1])
            if winners[0] == -1:
                break
            order.append(winners[0])
            bracket = [-1 if item == winners[0] else item for item in bracket]
        return order

    def forecast(self, items: int) -> float:
        """All but one lose a match, and each place after the first takes a way through the bracket."""
        k = min(self.k, items)
        return max(items - 1 + (k - 1) * (log2(max(items, 2)) - 1.0), 0.0)
