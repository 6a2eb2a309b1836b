"""Threads of a forum as examples with texts: questions and answers, with their authors and their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ranksift.collection.examples import Examples
from ranksift.datasets.simple_features import thread_features
from ranksift.datasets.threads import LABELS, Thread, checked_threads, label_of
from ranksift.errors import InputError

T = TypeVar("T")


def thread_texts(
    threads: Iterable[Thread], labels: Mapping[str, float] = LABELS, *, features: bool = False
) -> Examples:
    """A query per thread and a document per answer, with their texts; positions count from 1 in each thread.

    Authors, askers and times are included if some are known.

    Parameters
    ----------
    threads
        The threads; no two may have the same id.
    labels
        The label for each word of the annotators. An answer that was not judged stays in its list without a label.
    features
        With those of :func:`thread_features`. The one called asker there is ``by_asker`` here: tables with texts have a
        column ``asker`` for who asked.

    Examples
    --------
    >>> from ranksift.datasets import Answer
    >>> answers = (Answer("c1", "Try Oasis", "Good", "ann"), Answer("c2", "Me too", "Bad", "bob"))
    >>> examples = thread_texts([Thread("q1", "A good car?", answers, asker="eve")])
    >>> examples, examples.texts.position.tolist()
    (<Examples: 2 documents, 1 query, 0 features, with texts>, [1.0, 2.0])
    >>> examples.texts.author, examples.texts.asker
    (('ann', 'bob'), ('eve',))
    """
    wrong = partial(InputError, remedy="give each question once, with its answers")
    given = checked_threads("threads", ((thread, wrong) for thread in threads))
    answers = [(thread, answer) for thread in given for answer in thread.answers]
    found = Examples.from_texts(
        [thread.question for thread, _ in answers],
        [answer.text for _, answer in answers],
        [label_of(thread, answer, labels) for thread, answer in answers],
        [thread.id for thread, _ in answers],
        doc_ids=[answer.id for _, answer in answers],
        position=[place for thread in given for place in range(1, len(thread.answers) + 1)],
        author=_if_any([answer.author for _, answer in answers]),
        time=_if_any([answer.time for _, answer in answers]),
        asker=_if_any([thread.asker for thread, _ in answers]),
        name="threads",
    )
    if not features:
        return found
    simple = thread_features(given, labels)
    names = tuple("by_asker" if name == "asker" else name for name in simple.feature_names)
    return replace(found, features=simple.features, feature_names=names)


def _if_any(values: list[T | None]) -> list[T | None] | None:
    return values if any(value is not None for value in values) else None
