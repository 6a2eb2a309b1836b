"""What every labelling strategy is: a pure function from the log of a task to its next question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from ranksift.labelling.judgments import Judgment, Question


@dataclass(frozen=True)
class State:
    """The state of a task.

    Attributes
    ----------
    question
        What to ask next; None if the task is done.
    groups
        If the task is done: the top k, best first, tied items together. The last group may reach beyond k.
    rest
        Items that are not forbidden and not in ``groups``, in the order in which they were given.
    forbidden
        Items that were flagged.
    judgments
        How many answers counted so far, flags included; skipped questions do not count.
    forecast
        How many more are expected, or a function that says so: it is called when ``expected`` is read.
    cycles
        Items whose judgments contradict each other: each is preferred to the next one, and the last to the first.
    unjudged
        Items about which the only answer was that they cannot be judged. They are in ``rest``.
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
    often it is computed.
    """

    @property
    def k(self) -> int:
        """How many of the best items to find, in order."""

    @property
    def seed(self) -> int:
        """The seed of all random choices."""

    def state(self, items: Sequence[str], log: Sequence[Judgment]) -> State:
        """The state of a task after a log; ``items`` are in the order of a prior run, if there is one."""
        ...
