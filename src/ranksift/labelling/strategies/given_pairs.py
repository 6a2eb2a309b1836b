"""Given pairs and no others: to verify judgments, or to settle a disagreement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ranksift.labelling.judgments import Judgment, Question, effective
from ranksift.labelling.strategies.strategy import State


@dataclass(frozen=True)
class GivenPairs:
    """Asks given pairs, each once, as they are given.

    A skipped pair comes again after the others. Pairs with a forbidden item are not asked any more. There is no top k
    to find, so that ``groups`` is empty.

    Examples
    --------
    >>> pairs = GivenPairs(pairs=[("a", "b"), ("c", "d")])
    >>> pairs.state("abcd", [Judgment("prefer", "b", "a", answer="tie")]).question
    Question(left='c', right='d')
    """

    k: int = 10
    seed: int = 0
    pairs: Iterable[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(self.pairs))

    def state(self, items: Sequence[str], log: Sequence[Judgment]) -> State:
        """Where the task stands after a log."""
        said = effective(log)
        forbidden = {item for judgment in said for item in judgment.forbidden}
        skipped: dict[frozenset[str], int] = {}
        answered = set()
        for number, judgment in enumerate(said, 1):
            pair = frozenset(judgment.question.items)
            if judgment.kind == "skip":
                skipped[pair] = number
            else:
                answered.add(pair)
        left = [pair for pair in self.pairs if not forbidden & set(pair) and frozenset(pair) not in answered]
        left.sort(key=lambda pair: skipped.get(frozenset(pair), 0))  # stable: as they were given among equals
        return State(
            question=Question(*left[0]) if left else None,
            groups=(),
            rest=tuple(item for item in items if item not in forbidden),
            forbidden=tuple(item for item in items if item in forbidden),
            judgments=sum(judgment.kind in ("prefer", "grade") for judgment in said),
            forecast=float(len(left)),
        )
