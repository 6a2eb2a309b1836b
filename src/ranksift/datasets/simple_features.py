"""Simple features of the answers in a thread: their positions, their form, and who writes when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.text_features import text_features
from ranksift.collection.texts import Texts
from ranksift.datasets.threads import LABELS, Thread, checked_threads, label_of
from ranksift.errors import InputError


def thread_features(threads: Iterable[Thread], labels: Mapping[str, float] = LABELS) -> Examples:
    """A query per thread and a document per answer, with 17 features, or 11 if no author is known.

    They are those of :func:`~ranksift.collection.text_features.text_features`, in the same order; ``by_asker`` is
    called ``asker`` here. The last six are left out if no answer has a known author. If some have one, a feature that
    depends on an unknown author is missing (NaN).

    Parameters
    ----------
    threads
        The threads; no two may have the same id.
    labels
        The label for each word of the annotators. An answer that was not judged stays in its list without a label.

    Examples
    --------
    >>> from ranksift.datasets import Answer
    >>> answers = (Answer("c1", "Try Oasis, a good car!", "Good"), Answer("c2", "Me too", "Bad"), Answer("c3", "Hm"))
    >>> examples = thread_features([Thread("q1", "A good car?", answers)])
    >>> examples, examples.labels.tolist()
    (<Examples: 3 documents, 1 query, 11 features>, [2.0, -1.0, nan])
    >>> examples.feature_names[2:6], examples.features[0, 2:6].tolist()
    (('words', 'question_words', 'question_covered', 'answer_covered'), [5.0, 3.0, 1.0, 0.6])
    """
    wrong = partial(InputError, remedy="give each question once, with its answers")
    given = checked_threads("threads", ((thread, wrong) for thread in threads))
    answers = [(thread, answer) for thread in given for answer in thread.answers]
    lengths = np.array([len(thread.answers) for thread in given])
    authors = tuple(answer.author for _, answer in answers)
    known = any(author is not None for author in authors)
    found = text_features(
        Texts(
            tuple(thread.question for thread in given),
            tuple(answer.text for _, answer in answers),
            position=ragged.positions(lengths).astype(np.float64),
            author=authors if known else None,
            asker=tuple(thread.asker for thread in given) if known else None,
        ),
        ragged.offsets_of(lengths),
    )
    return Examples.from_arrays(
        np.column_stack([*found.values()]),
        [label_of(thread, answer, labels) for thread, answer in answers],
        [thread.id for thread, _ in answers],
        docs=[answer.id for _, answer in answers],
        feature_names=["asker" if name == "by_asker" else name for name in found],
        name="threads",
    )
