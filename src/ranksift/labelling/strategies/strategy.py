"""What every labelling strategy is: a pure function from the log of a task to its next question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from ranksift.labelling.judgments import Judgment, Question


@dataclass(frozen=True)
class State:
    """Where a task stands.

    Attributes
    ----------
    question
        What to ask next; None where the task is done.
    groups
        Where the task is done: the top k, best first, tied items together. The last group may reach beyond k.
    rest
        Items that are not forbidden and not in ``groups``, in the order in which they were given.
    forbidden
        Items that were flagged.
    judgments
        How many answers counted so far, flags included; skipped questions do not count.
    forecast
        How many more are expected, or a function that says so: it is called when somebody asks for ``expected``.
    cycles
        Items that contradict each other: each is preferred to the next one, and the last to the first.
    unjudged
        Items of which an assessor said that they cannot be judged, and nothing else. They are in ``rest``.
    """

    question: Question | None
    groups: tuple[tuple[str, ...], ...]
    rest: tuple[str, ...]
    forbidden: tuple[str, ...]
    judgments: int
    forecast: float | Callable[[], float] = field(compare=False, repr=False)
    cycles: tuple[tuple[str, ...], ...] = ()
    unjudged: tuple[str, ...] = ()

    @cached_property
    def expected(self) -> float:
        """How many more judgments are expected."""
        return self.forecast() if callable(self.forecast) else self.forecast

    @property
    def done(self) -> bool:
        """Whether there is nothing more to ask."""
        return self.question is None

    @property
    def order(self) -> tuple[str, ...]:
        """The top k and then the rest, best first; forbidden items are not in it."""
        return (*(item for group in self.groups for item in group), *self.rest)


class Strategy(Protocol):
    """Asks until the ordered top k is known.

    A strategy is a value: the same items, the same log and the same seed give the same state, wherever and however
    often it is asked.
    """

    @property
    def k(self) -> int:
        """How many items are to be found, in their order."""

    @property
    def seed(self) -> int:
        """Of everything that is random."""

    def state(self, items: Sequence[str], log: Sequence[Judgment]) -> State:
        """Where a task stands after a log; ``items`` are in the order of a prior run, if there is one."""
        ...
