"""Judgments of assessors: questions, answers to them, and the log from which everything else follows.

The log of a task is only ever appended to. Whatever else there is to know, the next question, whether the top k is
known, what an undo takes back, is a function of the log; so undo, resuming and audits need nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

#: What a judgment is: an answer to a question, a question left for later, one that cannot be answered, a step back.
Kind = Literal["prefer", "grade", "skip", "cannot", "undo"]

#: Which of the two is better, or that neither is.
Answer = Literal["left", "right", "tie"]

#: The paper's five grades, from 0.
GRADES = ("bad", "fair", "good", "excellent", "perfect")


@dataclass(frozen=True, slots=True)
class Question:
    """Two items to compare, or one to grade.

    Attributes
    ----------
    left
        The first item, or the only one.
    right
        The second item; None if a single item is graded.
    """

    left: str
    right: str | None = None

    @property
    def items(self) -> tuple[str, ...]:
        """One item or two."""
        return (self.left,) if self.right is None else (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Judgment:
    """One entry of the log: what an assessor did at one question.

    Attributes
    ----------
    kind
        ``"prefer"`` and ``"grade"`` are answers; ``"skip"`` leaves the question for later; ``"cannot"`` says that it
        cannot be judged; ``"undo"`` takes back the last entry that still counts.
    left, right
        The items of the question, as they were shown; ``right`` is None if a single item was graded. Empty for an undo.
    answer
        For two items: which one is better, or a tie. None if a flag is the whole answer.
    grade
        For one item: its grade, from 0.
    forbidden
        Items of the question that are flagged as forbidden.

    Examples
    --------
    >>> Judgment("prefer", "d1", "d2", answer="left").question
    Question(left='d1', right='d2')
    >>> Judgment("prefer", "d1", "d2", forbidden=("d2",)).forbidden
    ('d2',)
    """

    kind: Kind
    left: str = ""
    right: str | None = None
    answer: Answer | None = None
    grade: int | None = None
    forbidden: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """What was asked."""
        return Question(self.left, self.right)


def effective(log: Sequence[Judgment]) -> list[Judgment]:
    """The judgments that count: without undone ones and without undos.

    An undo takes back the last judgment that still counts; if there is none it does nothing.

    Examples
    --------
    >>> said = [Judgment("grade", "a", grade=3), Judgment("grade", "b", grade=1), Judgment("undo")]
    >>> [one.left for one in effective(said)]
    ['a']
    """
    counting: list[Judgment] = []
    for judgment in log:
        if judgment.kind != "undo":
            counting.append(judgment)
        elif counting:
            counting.pop()
    return counting
