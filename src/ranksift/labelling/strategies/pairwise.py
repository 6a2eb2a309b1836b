"""What all strategies that compare pairs share: reading the log, flags, skipped pairs, ties and contradictions.

A strategy is written as the algorithm that it is: a generator that yields the two items to compare, is sent 1, -1 or 0
(the first is better, the second is, they are tied), and returns the items, best first. A :class:`Course` runs it. What
is known need not be asked, so to resume after a log is to run the algorithm on what the log says.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from zlib import crc32

from ranksift.labelling.judgments import Judgment, Question, effective
from ranksift.labelling.strategies.forecast import still_to_come
from ranksift.labelling.strategies.knowledge import Knowledge, Sign, bits
from ranksift.labelling.strategies.strategy import State

#: Yields two items, is sent a sign, returns the best items in their order.
Search = Generator[tuple[int, int], Sign, Sequence[int]]

#: How many comparisons a forecast plays through, so that a page need not wait for it; the formula says the rest.
_PLAYED = 100

_SIGN = {"left": 1, "right": -1, "tie": 0}


@dataclass(frozen=True)
class Pairwise(ABC):
    """A strategy that compares pairs.

    Attributes
    ----------
    k
        How many of the best items to find, in order.
    seed
        The seed of all random choices, including the sides of a pair.

    Notes
    -----
    A forbidden item counts as worse than every other item, whatever was said of it before: nothing is asked about it
    any more, and it leaves the result at the end. A skipped pair is assumed to be in the order in which the items were
    given for as long as anything else can be asked, and then it is asked again.

    A pair that cannot be judged is not asked again. Where answers do not say which of the two is better, it is the one
    that has answers, then the one with fewer such pairs, then the one that was given first. An item of which nothing
    could be judged is never in the top k.
    """

    k: int = 10
    seed: int = 0

    #: Whether what follows from answers is known. Otherwise every comparison of the algorithm takes an answer.
    transitive = True

    @abstractmethod
    def search(self, known: Knowledge) -> Search:
        """The algorithm."""

    @abstractmethod
    def forecast(self, items: int) -> float:
        """How many judgments a whole query takes on average, of items in no order and without ties."""

    def state(self, items: Sequence[str], log: Sequence[Judgment]) -> State:
        """The state of a task after a log; ``items`` are in the order of a prior run, if there is one."""
        course = Course(self, items)
        for judgment in effective(log):
            course.add(judgment)
        return course.state()

    def shuffled(self, items: int) -> list[int]:
        """Items in an order that the seed draws."""
        order = list(range(items))
        random.Random(self.seed).shuffle(order)
        return order


class Course:
    """A strategy at work on one task: judgments go in, the next question comes out.

    It gives what :meth:`Pairwise.state` gives after every judgment, without reading the log again each time; it knows
    no undo.

    Examples
    --------
    >>> from ranksift.labelling.strategies.heap import Heap
    >>> course = Course(Heap(k=1), ["a", "b"])
    >>> asked = course.question
    >>> course.add(Judgment("prefer", asked.left, asked.right, answer="left"))
    >>> course.question is None, course.state().groups[0] == (asked.left,)
    (True, True)
    """

    def __init__(self, strategy: Pairwise, items: Sequence[str]) -> None:
        self.strategy = strategy
        self.items = tuple(items)
        self.judgments = 0
        self._number = {item: i for i, item in enumerate(self.items)}
        self._said: list[tuple[int, int, Sign]] = []
        self._answers: dict[tuple[int, int], list[Sign]] = {}
        self._skipped: dict[tuple[int, int], int] = {}  # and when last
        self._answered: set[int] = set()  # items that some answer is about
        self._given_up: set[tuple[int, int]] = set()  # pairs that cannot be judged
        self._entries = 0
        self._told = Knowledge(len(self.items))
        self._begin()

    def add(self, judgment: Judgment) -> None:
        """Learn one entry of the log, whether it was asked or not."""
        self._entries += 1
        self.judgments += judgment.kind in ("prefer", "grade")
        numbers = [self._number[item] for item in judgment.question.items if item in self._number]
        flagged = sum(1 << self._number[item] for item in set(judgment.forbidden) if item in self._number)
        changed = flagged & ~self._told.forbidden != 0
        self._told.forbidden |= flagged
        if judgment.kind == "prefer":
            self._told.seen |= sum(1 << number for number in set(numbers))
        if len(numbers) == 2 and numbers[0] != numbers[1]:
            changed |= self._learn(judgment, *numbers)
        if changed:  # the algorithm may have built on what it was
            self._begin()

    @property
    def question(self) -> Question | None:
        """What to ask next; None if the task is done."""
        pair = self._advance()
        if pair is None:
            return None
        first, second = sorted(self.items[item] for item in pair)
        swapped = crc32(f"{self.strategy.seed}\0{first}\0{second}".encode()) & 1
        return Question(second, first) if swapped else Question(first, second)

    def state(self) -> State:
        """Where the task stands."""
        question = self.question
        groups = self._groups() if question is None else ()
        shown = {item for group in groups for item in group}
        allowed = [i for i in range(len(self.items)) if not self._told.forbidden >> i & 1]
        return State(
            question=question,
            groups=tuple(tuple(self.items[item] for item in group) for group in groups),
            rest=tuple(self.items[item] for item in allowed if item not in shown),
            forbidden=tuple(self.items[item] for item in bits(self._told.forbidden)),
            judgments=self.judgments,
            forecast=0.0 if question is None else self._forecast(len(allowed)),
            cycles=tuple(tuple(self.items[item] for item in cycle) for cycle in self._told.cycles),
            unjudged=tuple(self.items[item] for item in allowed if self._is_unjudged(item)),
        )

    # -- running the algorithm -----------------------------------------------------------------------------------

    def _learn(self, judgment: Judgment, first: int, second: int) -> bool:
        """What a judgment says of a pair; whether an assumption may have changed by it."""
        pair = (min(first, second), max(first, second))
        if judgment.kind == "skip":
            self._skipped[pair] = self._entries
            return True
        if judgment.kind == "cannot":
            self._given_up.add(pair)
            return True
        if judgment.kind != "prefer" or judgment.answer is None:
            return False
        sign = _SIGN[judgment.answer]
        assumed = bool(self._skipped or self._given_up)
        self._skipped.pop(pair, None)
        self._said.append((first, second, sign))
        self._told.add(first, second, sign)
        self._answers.setdefault(pair, []).append(sign if first == pair[0] else -sign)
        self._answered.update(pair)
        return assumed

    def _begin(self, without: int = 0) -> None:
        """Run the algorithm from the start on all that is known, ``without`` what the longest skipped were assumed."""
        self._without = without
        skipped = sorted(self._skipped, key=self._skipped.__getitem__)[without:]
        unclear = Counter(item for pair in self._given_up for item in pair)
        self._assumed: dict[tuple[int, int], Sign] = dict.fromkeys(skipped, 1)
        for pair in self._given_up:
            known, other = ((item in self._answered, -unclear[item]) for item in pair)
            self._assumed[pair] = 1 if known >= other else -1
        self._known = self._told
        if self._assumed and self.strategy.transitive:
            self._known = Knowledge(len(self.items))
            self._known.forbidden, self._known.seen = self._told.forbidden, self._told.seen
            for first, second, sign in self._said:
                self._known.add(first, second, sign)
            for pair, sign in sorted(self._assumed.items()):
                if self._known.compare(*pair) is None:
                    self._known.add(*pair, sign)
        self._used: Counter[tuple[int, int]] = Counter()
        self._search = self.strategy.search(self._known)
        self._started = False
        self._pair: tuple[int, int] | None = None
        self._order: Sequence[int] | None = None

    def _advance(self) -> tuple[int, int] | None:
        """Run the algorithm up to a comparison that has not been made, or to its end."""
        while True:
            self._run()
            if self._pair is not None or self._without == len(self._skipped):
                return self._pair
            self._begin(self._without + 1)

    def _run(self) -> None:
        if self._order is not None:
            return
        try:
            if not self._started:
                self._started = True
                self._pair = next(self._search)
            while self._pair is not None:
                sign = self._answer(*self._pair)
                if sign is None:
                    return
                self._pair = self._search.send(sign)
        except StopIteration as end:
            self._order, self._pair = end.value, None

    def _answer(self, first: int, second: int) -> Sign | None:
        """What is known of a comparison."""
        forbidden = self._known.forbidden
        if self.strategy.transitive or forbidden >> first & 1 or forbidden >> second & 1:
            return self._known.compare(first, second)
        pair, direction = ((first, second), 1) if first < second else ((second, first), -1)
        answers, used = self._answers.get(pair, ()), self._used[pair]
        if used < len(answers):
            self._used[pair] += 1
            return direction * answers[used]
        return direction * self._assumed[pair] if pair in self._assumed else None

    # -- results -------------------------------------------------------------------------------------------------

    def _groups(self) -> list[list[int]]:
        """The best k of the order that was found, with all that is tied to them."""
        groups: list[list[int]] = []
        count = 0
        tied = self._told.tied
        for item in self._order or ():
            if self._told.forbidden >> item & 1 or self._is_unjudged(item):
                continue
            if groups and tied[groups[-1][-1]] >> item & 1:
                groups[-1].append(item)
            elif count >= self.strategy.k:
                break
            else:
                groups.append([item])
            count += 1
        if groups:
            shown = {item for group in groups for item in group}
            more = [i for i in bits(tied[groups[-1][-1]] & ~self._told.forbidden) if i not in shown]
            groups[-1].extend(more)
        return groups

    def _is_unjudged(self, item: int) -> bool:
        return item not in self._answered and any(item in pair for pair in self._given_up)

    def _forecast(self, allowed: int) -> Callable[[], float]:
        """Comparisons of the rest, played through; of a strategy that asks again, its total less what was done."""
        known, strategy, judgments = self._known.copy(), self.strategy, self.judgments

        def expected() -> float:
            total = strategy.forecast(allowed)
            if not strategy.transitive:
                return max(total - judgments, 1.0)
            times = max(1, min(round(_PLAYED / max(total, 1.0)), 20))
            played = still_to_come(known, strategy.search, times, strategy.seed, _PLAYED)
            return max(played, 1.0) if played < _PLAYED else max(total - judgments, played)

        return expected
