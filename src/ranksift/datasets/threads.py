"""Questions in a forum with the answers to each, as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ranksift.errors import InputError

#: The labels of the annotators' words: posts that are not answers are forbidden.
LABELS: Mapping[str, float] = {
    "Good": 2,
    "Potential": 1,
    "PotentiallyUseful": 1,
    "Bad": -1,
    "Dialogue": -1,
    "Not English": -1,
    "Other": -1,
}


@dataclass(frozen=True)
class Answer:
    """An answer in a thread.

    Attributes
    ----------
    id
        The id of the answer, unique in the thread.
    text
        As it was written.
    word
        The annotators' word for it; None if it was not judged.
    author
        Who wrote it; None if that is not known.
    time
        When it was written, as the collection writes it; None if that is not known.
    """

    id: str
    text: str
    word: str | None = None
    author: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Thread:
    """A question with its answers in the order in which they were written.

    Attributes
    ----------
    id
        The id of the question.
    question
        Its subject and its body, on separate lines.
    answers
        The answers; at least one.
    asker
        Who wrote the question; None if that is not known.
    original
        The question for which this thread was found, if there is one: threads of the same original question are
        similar.

    Examples
    --------
    >>> thread = Thread("q1_r2", "Cheap car?", (Answer("c1", "Try Oasis", "Good"),), original="q1")
    >>> thread.group
    'q1'
    """

    id: str
    question: str
    answers: tuple[Answer, ...]
    asker: str | None = None
    original: str | None = None

    @property
    def group(self) -> str:
        """What must stay in one fold: the original question, else the question itself."""
        return self.id if self.original is None else self.original


def label_of(thread: Thread, answer: Answer, labels: Mapping[str, float]) -> float:
    """The label for the annotators' word for an answer; NaN if it was not judged."""
    if answer.word is None:
        return math.nan
    if answer.word not in labels:
        what = f"no label for {answer.word!r}, the word for answer {answer.id!r} of question {thread.id!r}"
        raise InputError(what, remedy="name a label for each word")
    return labels[answer.word]


def distinct_threads(threads: Iterable[Thread]) -> list[Thread]:
    """Threads without copies: of those with the same question and the same answers, the first.

    A forum's thread that was found for several original questions is in the collection several times, so a ranker would
    be tested on threads that it was fitted to.

    Examples
    --------
    >>> answers = (Answer("c1", "Try Oasis", "Good"),)
    >>> [t.id for t in distinct_threads([Thread("q1", "Car?", answers), Thread("q2", "Car?", answers)])]
    ['q1']
    """
    found: dict[tuple[str, ...], Thread] = {}
    for thread in threads:
        found.setdefault((thread.question, *(answer.text for answer in thread.answers)), thread)
    return list(found.values())


def checked_threads(source: object, threads: Iterable[tuple[Thread, Callable[[str], InputError]]]) -> list[Thread]:
    """All threads of a source, each given with what makes the error that names its place."""
    found: dict[str, Thread] = {}
    for thread, wrong in threads:
        ids = [answer.id for answer in thread.answers]
        if not thread.id or "" in ids:
            raise wrong("an id is empty")
        if thread.id in found:
            raise wrong(f"question {thread.id!r} occurs twice")
        if not ids:
            raise wrong(f"question {thread.id!r} has no answers")
        if len(set(ids)) < len(ids):
            raise wrong(f"answer {_first_double(ids)!r} of question {thread.id!r} occurs twice")
        found[thread.id] = thread
    if not found:
        raise InputError("there is no question", source=str(source), remedy="give at least one")
    return list(found.values())


def _first_double(ids: Sequence[str]) -> str:
    return next(one for i, one in enumerate(ids) if one in ids[:i])
