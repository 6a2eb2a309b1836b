"""Simple features of the answers in a thread: where they stand, what they look like, who writes when."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import numpy as np

from ranksift.collection.examples import Examples
from ranksift.datasets.threads import LABELS, Thread, checked_threads, label_of
from ranksift.errors import InputError

# One letter for two that look alike in Persian, and nothing for the joint inside a word, which many leave out.
_ALIKE = str.maketrans({"ي": "ی", "ك": "ک", "\u200c": None})
_WORD = re.compile(r"\w+")
_QUESTION_MARK = re.compile("[?؟]")
_LINK = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
_THANKS = re.compile("thank|thx|ممنون|مرسی|تشکر|سپاس")


def words_of(text: str) -> list[str]:
    """The words of a text in any script, without case and accents.

    Examples
    --------
    >>> words_of("Café? 1,500 QR — WHERE")
    ['cafe', '1', '500', 'qr', 'where']
    >>> words_of("مي‌كنم") == words_of("میکنم")
    True
    """
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text).translate(_ALIKE).casefold()
    return "".join(c for c in parts if not unicodedata.combining(c))


def thread_features(threads: Iterable[Thread], labels: Mapping[str, float] = LABELS) -> Examples:
    """A query per thread and a document per answer, with 17 features, or 11 where no author is known.

    - ``place``: the number of the answer in its thread, from 1
    - ``answers``: how many the thread has
    - ``words``: of the answer
    - ``question_words``: of the question
    - ``question_covered``: the share of the question's words, each counted once, that the answer has
    - ``answer_covered``: the share of the answer's words, each counted once, that the question has
    - ``question_marks``: in the answer
    - ``exclamation_marks``: in the answer
    - ``link``: 1 where the answer has one
    - ``thanks``: 1 where the answer says them, in English or Persian
    - ``mean_words``: of the thread's answers
    - ``asker``: 1 where the asker wrote the answer
    - ``author_answers``: how many answers in the thread the author wrote
    - ``author_before``: how many of them stand before this one
    - ``asker_again``: 1 where the asker writes after this answer
    - ``asker_again_place``: the place of the asker's next answer; 0: there is none
    - ``asker_again_soon``: 1 over the number of places until then; 0: there is none

    The last six are left out where no answer has a known author. Where some have, a feature that depends on an unknown
    one is missing (NaN).

    Parameters
    ----------
    threads
        No two of the same id.
    labels
        The label for each word of the annotators. An answer that nobody judged stays in its list without a label.

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
    known = any(answer.author is not None for thread in given for answer in thread.answers)
    rows = [row for thread in given for row in _rows(thread, authors=known)]
    return Examples.from_arrays(
        np.array([list(row.values()) for row in rows]),
        [label_of(thread, answer, labels) for thread in given for answer in thread.answers],
        [thread.id for thread in given for _ in thread.answers],
        docs=[answer.id for thread in given for answer in thread.answers],
        feature_names=list(rows[0]),
        name="threads",
    )


def _rows(thread: Thread, *, authors: bool) -> Iterator[dict[str, float]]:
    """The features of each answer."""
    question = words_of(thread.question)
    words = [words_of(answer.text) for answer in thread.answers]
    mean = float(np.mean([len(found) for found in words]))
    for i, (answer, own) in enumerate(zip(thread.answers, words, strict=True)):
        row = {
            "place": i + 1,
            "answers": len(words),
            "words": len(own),
            "question_words": len(question),
            "question_covered": _share_in(question, own),
            "answer_covered": _share_in(own, question),
            "question_marks": len(_QUESTION_MARK.findall(answer.text)),
            "exclamation_marks": answer.text.count("!"),
            "link": _LINK.search(answer.text) is not None,
            "thanks": _THANKS.search(_plain(answer.text)) is not None,
            "mean_words": mean,
        }
        yield row | _of_authors(thread, i) if authors else row


def _share_in(words: list[str], others: list[str]) -> float:
    distinct = set(words)
    return len(distinct.intersection(others)) / max(len(distinct), 1)


def _of_authors(thread: Thread, i: int) -> dict[str, float]:
    """The features of an answer that depend on who wrote what."""
    wrote = [answer.author for answer in thread.answers]
    author, asker = wrote[i], thread.asker
    soon = next((n for n, later in enumerate(wrote[i + 1 :], 1) if later == asker), None)
    by_author = {
        "author_answers": wrote.count(author),
        "author_before": wrote[:i].count(author),
    }
    by_asker = {
        "asker_again": soon is not None,
        "asker_again_place": i + 1 + soon if soon else 0,
        "asker_again_soon": 1 / soon if soon else 0,
    }
    return {
        "asker": np.nan if author is None or asker is None else author == asker,
        **(by_author if author is not None else dict.fromkeys(by_author, np.nan)),
        **(by_asker if asker is not None else dict.fromkeys(by_asker, np.nan)),
    }
