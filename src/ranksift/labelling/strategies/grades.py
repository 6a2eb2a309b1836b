"""One item at a time, on a scale: the paper's T2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ranksift.labelling.judgments import Judgment, Question, effective
from ranksift.labelling.strategies.strategy import State


@dataclass(frozen=True)
class Grades:
    """Every item gets a grade; items of one grade are tied.

    Items are asked in the order in which they were given, skipped ones after all others. The last grade given to an
    item counts. An item that cannot be judged stays without a grade, in ``rest``.

    Examples
    --------
    >>> state = Grades(k=1).state(["a", "b"], [Judgment("grade", "a", grade=1), Judgment("grade", "b", grade=4)])
    >>> state.done, state.groups, state.rest
    (True, (('b',),), ('a',))
    """

    k: int = 10
    seed: int = 0

    def state(self, items: Sequence[str], log: Sequence[Judgment]) -> State:
        """Where a task stands after a log."""
        said = effective(log)
        forbidden = {item for judgment in said for item in judgment.forbidden}
        grade: dict[str, int] = {}
        given_up = set()
        skipped: dict[str, int] = {}
        for number, judgment in enumerate(said, 1):
            if judgment.kind == "grade" and judgment.grade is not None:
                grade[judgment.left] = judgment.grade
            elif judgment.kind == "cannot" and judgment.right is None:
                given_up.add(judgment.left)
            elif judgment.kind == "skip":
                skipped[judgment.left] = number
        allowed = [item for item in items if item not in forbidden]
        open_ = [item for item in allowed if item not in grade and item not in given_up]
        open_.sort(key=lambda item: skipped.get(item, 0))  # stable: as they were given among equals
        groups: list[tuple[str, ...]] = []
        if not open_:
            for one in sorted({grade[item] for item in allowed if item in grade}, reverse=True):
                if sum(map(len, groups)) < self.k:
                    groups.append(tuple(item for item in allowed if grade.get(item) == one))
        shown = {item for group in groups for item in group}
        return State(
            question=Question(open_[0]) if open_ else None,
            groups=tuple(groups),
            rest=tuple(item for item in allowed if item not in shown),
            forbidden=tuple(item for item in items if item in forbidden),
            judgments=sum(judgment.kind in ("prefer", "grade") for judgment in said),
            forecast=float(len(open_)),
            unjudged=tuple(item for item in allowed if item in given_up and item not in grade),
        )
