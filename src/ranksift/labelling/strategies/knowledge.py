"""What follows from what was said: preferences are transitive, and tied items are one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

#: Of two items: 1 if the first is better, -1 if the second is, 0 if they are tied.
Sign = int


class Knowledge:
    """The transitive closure of preferences and ties over items 0, 1, …, n - 1.

    Sets of items are the bits of integers, so that what one answer implies is a handful of operations for each item.

    Examples
    --------
    >>> known = Knowledge(4)
    >>> known.add(0, 1, 1), known.add(1, 2, 0), known.add(2, 3, 1)
    (True, True, True)
    >>> known.compare(0, 3), known.compare(2, 1), known.compare(3, 0)
    (1, 0, -1)
    >>> known.add(3, 0, 1), known.cycles  # it contradicts what was said: reported, and left out
    (False, [(3, 0, 1, 2)])
    """

    def __init__(self, items: int) -> None:
        self.items = items
        self.above = [0] * items
        self.below = [0] * items
        self.tied = [1 << item for item in range(items)]
        self.forbidden = 0  # sets of items that were flagged, and that were shown
        self.seen = 0
        self.cycles: list[tuple[int, ...]] = []
        self.ties = 0
        self.preferred: list[tuple[int, int]] = []  # what was said, the better one first
        self._said: list[set[int]] = [set() for _ in range(items)]

    def copy(self) -> Knowledge:
        """The same, to be changed by itself; cycles are not looked for in it."""
        other = Knowledge(self.items)
        other.above, other.below, other.tied = self.above[:], self.below[:], self.tied[:]
        other.forbidden, other.seen, other.ties = self.forbidden, self.seen, self.ties
        other.preferred = self.preferred[:]
        return other

    def compare(self, first: int, second: int) -> Sign | None:
        """What is known of two items, a forbidden one being worse than any other; None if nothing is."""
        if self.forbidden >> first & 1 or self.forbidden >> second & 1:
            return (self.forbidden >> second & 1) - (self.forbidden >> first & 1)
        return self._preference(first, second)

    def _preference(self, first: int, second: int) -> Sign | None:
        """What follows from preferences alone."""
        if self.below[first] >> second & 1:
            return 1
        if self.above[first] >> second & 1:
            return -1
        return 0 if self.tied[first] >> second & 1 else None

    def add(self, first: int, second: int, sign: Sign) -> bool:
        """Learn a judgment of two items; False if it contradicts an earlier one, which stays."""
        known = self._preference(first, second)
        if known is not None and known != sign:
            better, worse = (first, second) if sign >= 0 else (second, first)
            if sign == 0 and known > 0:  # so that the path leads from the worse one to the better one
                better, worse = second, first
            self.cycles.append((better, *self._path(worse, better)))
            return False
        if first == second:
            return True
        self.ties += sign == 0
        if sign:
            self.preferred.append((first, second) if sign > 0 else (second, first))
        if sign >= 0:
            self._said[first].add(second)
        if sign <= 0:
            self._said[second].add(first)
        if known is None:
            if sign == 0:
                self._join(first, second)
            else:
                self._put(*((first, second) if sign > 0 else (second, first)))
        return True

    def _put(self, better: int, worse: int) -> None:
        up = self.above[better] | self.tied[better]
        down = self.below[worse] | self.tied[worse]
        for item in bits(up):
            self.below[item] |= down
        for item in bits(down):
            self.above[item] |= up

    def _join(self, first: int, second: int) -> None:
        tied = self.tied[first] | self.tied[second]
        up = self.above[first] | self.above[second]
        down = self.below[first] | self.below[second]
        for item in bits(tied):
            self.tied[item], self.above[item], self.below[item] = tied, up, down
        for item in bits(up):
            self.below[item] |= tied | down
        for item in bits(down):
            self.above[item] |= tied | up

    def _path(self, start: int, end: int) -> tuple[int, ...]:
        """The shortest chain of judgments, each at least as good as the next, without its end."""
        before = {start: start}
        waiting = deque([start])
        while waiting and end not in before:
            item = waiting.popleft()
            for other in sorted(self._said[item]):
                if other not in before:
                    before[other] = item
                    waiting.append(other)
        path = []
        item = end
        while item != start:
            item = before[item]
            path.append(item)
        return tuple(reversed(path))


def bits(mask: int) -> Iterator[int]:
    """The items of a set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
