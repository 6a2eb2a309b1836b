"""What notes about a run are made of, and the notes, so that a run that comes in parts gets those of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Ints
from ranksift.collection.run import Run
from ranksift.errors import InputError


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
        What it begins with; None if it lists nothing.
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


class QrelsFacts(NamedTuple):
    """What notes about a run are made of, on the side of the judgments.

    Attributes
    ----------
    name
        Theirs.
    judgments, odd
        How many there are, and how many of them are not whole numbers.
    first_query, first_doc, first_odd
        The first query, the first document and the first label that is not a whole number, each behind the number of
        its query.
    """

    name: str
    judgments: int
    odd: int
    first_query: tuple[int, str] | None
    first_doc: tuple[int, str] | None
    first_odd: tuple[int, float] | None

    @classmethod
    def of(cls, qrels: Qrels, number: Ints | None = None) -> Self:
        """Look at judgments; ``number`` as in :meth:`RunFacts.of`."""
        order = np.arange(len(qrels.query_ids)) if number is None else number
        odd = np.zeros(0, dtype=np.int64) if qrels.whole else np.flatnonzero(qrels.labels % 1.0 != 0)
        first = int(np.argmin(order)) if len(order) else -1
        row = int(qrels.offsets[first]) if len(qrels) else -1
        owner = order[np.searchsorted(qrels.offsets, odd, side="right") - 1] if len(odd) else odd
        first_odd = int(np.argmin(owner)) if len(odd) else -1
        return cls(
            qrels.name,
            len(qrels),
            len(odd),
            (int(order[first]), qrels.query_ids[first]) if len(order) else None,
            (int(order[first]), qrels.docs[row]) if len(qrels) else None,
            (int(owner[first_odd]), float(qrels.labels[odd[first_odd]])) if len(odd) else None,
        )

    def beside(self, other: QrelsFacts) -> QrelsFacts:
        """Those of two parts together."""
        return QrelsFacts(
            self.name,
            self.judgments + other.judgments,
            self.odd + other.odd,
            min(filter(None, (self.first_query, other.first_query)), default=None),
            min(filter(None, (self.first_doc, other.first_doc)), default=None),
            min(filter(None, (self.first_odd, other.first_odd)), default=None),
        )


def strangers(qrels: QrelsFacts, run: RunFacts, name: str, which: str) -> tuple[str, ...]:
    """A note about unjudged queries of the run; an error if all of them are unjudged."""
    n = run.strangers
    if which == "named" or run.first_stranger is None or run.first_query is None:
        return ()
    if n == run.queries:
        judged = "" if qrels.first_query is None else f", the judgments have {qrels.first_query[1]!r}"
        raise InputError(
            f"run {name!r} and {qrels.name!r} have no query in common",
            remedy=f"the run has {run.first_query[1]!r}{judged}: make the ids match",
        )
    left_out = f"{n} quer{'y' if n == 1 else 'ies'} without judgments left out"
    return (f"run {name!r}: {left_out} (the first is {run.first_stranger[1]!r})",)


def misfits(qrels: QrelsFacts, run: RunFacts, name: str, which: str, queries: int) -> Iterator[str]:
    """Notes about a run that can be evaluated with these judgments, but perhaps should not be.

    ``queries`` is how many may count.
    """
    first = run.first_row
    if first is not None and run.listed > run.no_answers and not run.judged and qrels.first_doc is not None:
        ids = f"the run has {first.doc!r}, the judgments have {qrels.first_doc[1]!r}"
        yield f"run {name!r}: no document that it lists is judged; make the document ids match ({ids})"
    if which != "run" and run.listed and run.answered < queries / 2:
        rest = "the others count as empty lists (queries='run' leaves them out)"
        yield f"run {name!r} answers {run.answered} of {queries} queries; {rest}"
    if first is not None and qrels.first_odd is not None and qrels.odd > qrels.judgments / 2 and run.like_labels:
        numbers = f"labels such as {qrels.first_odd[1]:g}, and scores such as {first.score:g}"
        yield f"{qrels.name!r} and run {name!r} have {numbers}: judgments come first, are they swapped?"


def _are_labels(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers look like labels rather than like scores: small and whole."""
    few = numbers[:1000]  # enough to show that they are scores
    return all(bool(((some == np.floor(some)) & (np.abs(some) <= 10)).all()) for some in (few, numbers))
