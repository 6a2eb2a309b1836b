"""What notes about a run are made of, so that a run that comes in parts gets those of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Ints
from ranksift.collection.run import Run


class FirstRow(NamedTuple):
    """The document and the score that a run begins with, behind the number of their query."""

    number: int
    doc: str
    score: float


class RunFacts(NamedTuple):
    """What is seen of a run, or of some of its queries, beside the judgments.

    Attributes
    ----------
    queries, strangers, answered
        How many queries it has, how many of them are not judged, and how many may count.
    first_query, first_stranger
        The first of its queries, and the first that is not judged, each behind its number.
    first_row
        What it begins with; None where it lists nothing.
    like_labels
        Whether all scores look like labels.
    listed, no_answers, judged
        Documents that it lists for queries that may count, how many of them are NIL, and how many are judged.

    Examples
    --------
    >>> from ranksift import read_qrels, read_run
    >>> run = read_run({"q": {"a": 2.5}, "r": {"b": 1.5, "c": 0.5}})
    >>> whole = RunFacts.of(read_qrels({"r": {"b": 1}}), run, {"r"})
    >>> whole.queries, whole.strangers, whole.first_stranger, whole.first_row.doc
    (2, 1, (0, 'q'), 'a')
    """

    queries: int = 0
    strangers: int = 0
    answered: int = 0
    first_query: tuple[int, str] | None = None
    first_stranger: tuple[int, str] | None = None
    first_row: FirstRow | None = None
    like_labels: bool = True
    listed: int = 0
    no_answers: int = 0
    judged: int = 0

    @classmethod
    def of(cls, qrels: Qrels, run: Run, counted: Sequence[str] | set[str], number: Ints | None = None) -> Self:
        """Look at a run before it is joined; ``number`` says in which order a part's queries come in the whole."""
        names = run.query_ids
        order = np.arange(len(names)) if number is None else number
        unknown = [i for i, name in enumerate(names) if name not in qrels]
        may_count = counted if isinstance(counted, set) else set(counted)
        first = int(np.argmin(order)) if len(names) else -1
        row = int(run.offsets[first]) if len(run) else -1
        stranger = min(unknown, key=lambda i: int(order[i]), default=None)
        return cls(
            len(names),
            len(unknown),
            sum(name in may_count for name in names),
            (int(order[first]), names[first]) if len(names) else None,
            None if stranger is None else (int(order[stranger]), names[stranger]),
            FirstRow(int(order[first]), run.docs[row], float(run.scores[row])) if len(run) else None,
            _are_labels(run.scores),
        )

    def joined(self, judged: JudgedRun) -> Self:
        """The same, with what the join found."""
        no_answers = sum(int(np.count_nonzero(places)) for places in judged.nil.values())
        return self._replace(listed=int(judged.listed.sum()), no_answers=no_answers, judged=len(judged.query))

    def beside(self, other: RunFacts) -> RunFacts:
        """Those of two parts together."""
        return RunFacts(
            self.queries + other.queries,
            self.strangers + other.strangers,
            self.answered + other.answered,
            min(filter(None, (self.first_query, other.first_query)), default=None),
            min(filter(None, (self.first_stranger, other.first_stranger)), default=None),
            min(filter(None, (self.first_row, other.first_row)), default=None),
            self.like_labels and other.like_labels,
            self.listed + other.listed,
            self.no_answers + other.no_answers,
            self.judged + other.judged,
        )


def _are_labels(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers look like labels rather than like scores: small and whole."""
    few = numbers[:1000]  # of scores, they tell that they are none
    return all(bool(((some == np.floor(some)) & (np.abs(some) <= 10)).all()) for some in (few, numbers))
