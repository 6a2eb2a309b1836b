"""Simple features of texts, computed without a model: position, appearance, and who writes when."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.texts import Texts

# One letter for two that look alike in Persian, and nothing for the joint inside a word, which many leave out.
_ALIKE = str.maketrans({"ي": "ی", "ك": "ک", "\u200c": None})
_WORD = re.compile(r"\w+")
_QUESTION_MARK = re.compile("[?؟]")
_LINK = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
_THANKS = re.compile("thank|thx|ممنون|مرسی|تشکر|سپاس")

# Each with what must be known of documents beside their texts.
_NEEDS: dict[str, set[str]] = {
    "place": {"position"},
    "answers": set(),
    "words": set(),
    "question_words": set(),
    "question_covered": set(),
    "answer_covered": set(),
    "question_marks": set(),
    "exclamation_marks": set(),
    "link": set(),
    "thanks": set(),
    "mean_words": set(),
    "by_asker": {"author", "asker"},
    "author_answers": {"author"},
    "author_before": {"author", "position"},
    "asker_again": {"author", "asker", "position"},
    "asker_again_place": {"author", "asker", "position"},
    "asker_again_soon": {"author", "asker", "position"},
}


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


def text_features(texts: Texts, offsets: Ints) -> dict[str, Floats]:
    """Up to 17 named features of each document; features about which nothing is known are left out.

    - ``place``: the number of the document in its list, from 1; by its position
    - ``answers``: how many documents the list has
    - ``words``: of the document
    - ``question_words``: of the query
    - ``question_covered``: the share of the query's words, each counted once, that the document has
    - ``answer_covered``: the share of the document's words, each counted once, that the query has
    - ``question_marks``: in the document
    - ``exclamation_marks``: in the document
    - ``link``: 1 if the document has one
    - ``thanks``: 1 if the document says thanks, in English or Persian
    - ``mean_words``: of the documents of the list
    - ``by_asker``: 1 if the asker wrote the document
    - ``author_answers``: how many documents of the list the author wrote
    - ``author_before``: how many of them come before this one
    - ``asker_again``: 1 if the asker writes again after this document
    - ``asker_again_place``: the place of the asker's next document; 0: there is none
    - ``asker_again_soon``: 1 divided by the number of places until then; 0: there is none

    If a position, an author or an asker is unknown for some documents, the features that depend on it are missing
    (NaN).

    Parameters
    ----------
    texts
        Texts with ``position``, ``author`` and ``asker``, as far as they are known.
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> texts = Texts(("A good car?",), ("Try Oasis, a good car!", "Me too"))
    >>> found = text_features(texts, np.array([0, 2]))
    >>> [*found][:3], found["words"].tolist(), found["question_covered"].tolist()
    (['answers', 'words', 'question_words'], [5.0, 2.0], [1.0, 0.0])
    """
    known = {*texts.known()}
    found = {name: np.full(len(texts.docs), np.nan) for name, needed in _NEEDS.items() if needed <= known}
    author, asker = texts.column("author"), texts.column("asker")
    for q, (start, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        _note(found, _of_words(texts.queries[q], texts.docs[start:end]), start)
        place = _places(texts, start, end)
        _note(found, {"place": place}, start)
        _note(found, _of_authors(author[start:end], asker[q], place), start)
    return found


def _note(found: dict[str, Floats], some: dict[str, Sequence[Any] | Floats], start: int) -> None:
    """Write down what was found of a list, as far as it is asked for."""
    for name, values in some.items():
        if name in found:
            found[name][start : start + len(values)] = values


def _of_words(query: str, docs: Sequence[str]) -> dict[str, Sequence[Any] | Floats]:
    """Features from the words of a list."""
    asked, words, count = words_of(query), [words_of(doc) for doc in docs], len(docs)
    lengths = [len(own) for own in words]
    return {
        "answers": [count] * count,
        "words": lengths,
        "question_words": [len(asked)] * count,
        "question_covered": [_share_in(asked, own) for own in words],
        "answer_covered": [_share_in(own, asked) for own in words],
        "question_marks": [len(_QUESTION_MARK.findall(doc)) for doc in docs],
        "exclamation_marks": [doc.count("!") for doc in docs],
        "link": [_LINK.search(doc) is not None for doc in docs],
        "thanks": [_THANKS.search(_plain(doc)) is not None for doc in docs],
        "mean_words": [float(np.mean(lengths))] * count if count else [],
    }


def _share_in(words: list[str], others: list[str]) -> float:
    distinct = set(words)
    return len(distinct.intersection(others)) / max(len(distinct), 1)


def _places(texts: Texts, start: int, end: int) -> Floats:
    """The places of the documents of a list, from 1; NaN if a position is unknown."""
    position = np.full(end - start, np.nan) if texts.position is None else texts.position[start:end]
    placed = np.argsort(position, kind="stable")[: int(np.isfinite(position).sum())]
    places = np.full(end - start, np.nan)
    places[placed] = np.arange(1, len(placed) + 1)
    return places


def _of_authors(wrote: Sequence[str | None], asker: str | None, place: Floats) -> dict[str, Sequence[Any] | Floats]:
    """What depends on who wrote what."""
    found = {name: np.full(len(wrote), np.nan) for name, needed in _NEEDS.items() if "author" in needed}
    of_asker = place[[asker is not None and author == asker for author in wrote]]
    for i, author in enumerate(wrote):
        same = np.array([author == other for other in wrote])
        if author is not None:
            found["author_answers"][i] = same.sum()
            if asker is not None:
                found["by_asker"][i] = author == asker
        if np.isnan(place[i]):
            continue
        if author is not None:
            found["author_before"][i] = (place[same] < place[i]).sum()
        if asker is not None:
            following = min(of_asker[of_asker > place[i]].tolist(), default=0.0)
            found["asker_again"][i] = following > 0
            found["asker_again_place"][i] = following
            found["asker_again_soon"][i] = 1 / (following - place[i]) if following else 0.0
    return {**found}
