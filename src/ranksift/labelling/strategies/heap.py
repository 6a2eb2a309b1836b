"""The paper's strategy: a min-heap of the best k so far (Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log2

from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.pairwise import Pairwise, Search


@dataclass(frozen=True)
class Heap(Pairwise):
    """Algorithm 1 of Niu, Guo, Lan and Cheng (2012), to the letter: it asks again what it asked before.

    The heap is a plain one (build from the last parent down, sift down by two comparisons for each level), line 7 is
    strict and a tie moves nothing.

    Examples
    --------
    >>> from ranksift.labelling.judgments import Judgment
    >>> heap, log = Heap(k=2), []
    >>> while (asked := heap.state("abcd", log).question) is not None:
    ...     answer = "left" if asked.left < asked.right else "right"
    ...     log.append(Judgment("prefer", asked.left, asked.right, answer=answer))
    >>> heap.state("abcd", log).groups
    (('a',), ('b',))
    """

    transitive = False

    def search(self, known: Knowledge) -> Search:
        """Lines 3 to 15."""
        items = self.shuffled(known.items)
        heap, rest = items[: self.k], items[self.k :]  # line 3
        for place in reversed(range(len(heap) // 2)):  # line 4
            yield from _sift_down(heap, place, len(heap))
        for item in rest:  # line 5
            better = yield item, heap[0]  # line 6
            if better == 1:  # line 7
                heap[0] = item  # line 8
                yield from _sift_down(heap, 0, len(heap))  # line 9
        for size in reversed(range(1, len(heap))):  # line 12: the worst goes to the end, so the best comes first
            heap[0], heap[size] = heap[size], heap[0]
            yield from _sift_down(heap, 0, size)
        return heap

    def forecast(self, items: int) -> float:
        """One comparison for each item that comes, a sift for each that enters, and building and sorting."""
        k = min(self.k, items)
        if k < 2:
            return max(items - 1.0, 0.0)
        entering = k * log(items / k)
        return (items - k) + entering * (1.67 * log2(k) - 0.95) + k * max(1.75 * log2(k) - 1.9, 0.5)


@dataclass(frozen=True)
class HeapWithMemory(Heap):
    """The paper's heap, but nothing is asked that was asked before or follows from that."""

    transitive = True

    def forecast(self, items: int) -> float:
        """As of the heap, but sorting what has been a heap takes much less."""
        k = min(self.k, items)
        if k < 2:
            return max(items - 1.0, 0.0)
        entering = k * log(items / k)
        return (items - k) + entering * (1.6 * log2(k) - 1.15) + k * max(log2(k) - 0.9, 0.5)


def _sift_down(heap: list[int], place: int, size: int) -> Search:
    """Let an item sink below every child that is worse."""
    while (child := 2 * place + 1) < size:
        if child + 1 < size:
            better = yield heap[child], heap[child + 1]
            child += better == 1
        better = yield heap[place], heap[child]
        if better != 1:
            break
        heap[place], heap[child] = heap[child], heap[place]
        place = child
    return heap
