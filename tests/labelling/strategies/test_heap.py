"""The paper's heap, held to an implementation of its own."""

from __future__ import annotations

import random

import numpy as np

from ranksift.labelling.simulation import SimulatedAssessor, Truth, label, simulate
from ranksift.labelling.strategies import strategy


class Comparisons:
    """A textbook heap on numbers that counts how often they are compared."""

    def __init__(self) -> None:
        self.pairs: list[tuple[float, float]] = []

    def less(self, a: float, b: float) -> bool:
        self.pairs.append((min(a, b), max(a, b)))
        return a < b

    def sift(self, heap: list[float], i: int, size: int) -> None:
        smallest = i
        while True:
            left, right = 2 * i + 1, 2 * i + 2
            if left >= size:
                return
            smallest = left
            if right < size and self.less(heap[right], heap[left]):
                smallest = right
            if not self.less(heap[smallest], heap[i]):
                return
            heap[i], heap[smallest] = heap[smallest], heap[i]
            i = smallest

    def top(self, values: list[float], k: int) -> list[float]:
        heap = values[:k]
        for i in range(k // 2 - 1, -1, -1):
            self.sift(heap, i, k)
        for value in values[k:]:
            if self.less(heap[0], value):
                heap[0] = value
                self.sift(heap, 0, k)
        found = []
        while heap:
            found.append(heap[0])
            last = heap.pop()
            if heap:
                heap[0] = last
                self.sift(heap, 0, len(heap))
        return found[::-1]


def test_it_makes_the_comparisons_of_the_textbook_one_by_one():
    for seed in range(30):
        truth = Truth.made_up([f"d{i}" for i in range(25)], seed=seed)
        items = list(truth.score)
        order = list(range(25))
        random.Random(seed).shuffle(order)
        plain = Comparisons()
        found = plain.top([truth.score[items[i]] for i in order], 6)
        chosen, assessor, log = strategy("heap", k=6, seed=seed), SimulatedAssessor(truth), []
        while (question := (state := chosen.state(items, log)).question) is not None:
            log.append(assessor.answer(question))
        asked = [tuple(sorted(truth.score[item] for item in judgment.question.items)) for judgment in log]
        assert asked == plain.pairs
        assert [truth.score[item] for item in state.order[:6]] == found


def test_it_costs_what_the_readings_say():
    """150.8 comparisons of 135.8 pairs for n = 50 and k = 10."""
    counts, distinct = [], []
    for seed in range(200):
        truth = Truth.made_up([f"d{i}" for i in range(50)], seed=seed)
        plain = Comparisons()
        plain.top(list(truth.score.values()), 10)
        counts.append(len(plain.pairs))
        distinct.append(len(set(plain.pairs)))
    assert abs(np.mean(counts) - 150.8) < 4
    assert abs(np.mean(distinct) - 135.8) < 4
    assert abs(simulate("heap", queries=200).mean - 150.8) < 4


def test_ties_keep_the_heap():
    truth = Truth(dict.fromkeys("abcdefgh", 1.0))
    state, _ = label("heap", list(truth.score), SimulatedAssessor(truth), k=2)
    assert state.judgments == 1 + 6  # building, every other item once; sorting two asks nothing


def test_noise_that_depends_on_the_pair_cannot_make_it_go_on_for_ever():
    truth = Truth.made_up([f"d{i}" for i in range(40)], seed=0)
    state, _ = label("heap", list(truth.score), SimulatedAssessor(truth, noise=0.4), k=10)
    assert state.done
    assert state.cycles
