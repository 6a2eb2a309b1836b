"""The list as text: what stands around a document, written beside it, so that an encoder can read it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ranksift.collection.ragged import Ints
from ranksift.collection.texts import Texts

#: What can be told of a list: what the data knows of it, and what the documents around one say.
NEIGHBOURS = "neighbours"
TOLD = ("position", "author", "asker", NEIGHBOURS)

# Words of another document that are enough to know what it is.
_WORDS = 40


def in_context(texts: Texts, offsets: Ints, told: Collection[str] = TOLD) -> tuple[str, ...]:
    """The documents, each with its place in the list, whether the asker wrote it, and what stands around it.

    Before a document stands its place, or that the asker writes; behind it the asker's next reply, and then the
    document before it. What is not known is left out.

    Parameters
    ----------
    texts
        With ``position``, and ``author`` and ``asker``, where they are known.
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    told
        What may be told of it; without the neighbours, nothing of what other documents say.

    Examples
    --------
    >>> docs = ("Try Oasis", "Me too", "Thanks!")
    >>> thread = Texts(("A car?",), docs, np.array([1.0, 2.0, 3.0]), ("ann", "bob", "eve"), asker=("eve",))
    >>> for text in in_context(thread, np.array([0, 3])):
    ...     print(text)
    answer 1 of 3: Try Oasis | the asker replies: Thanks!
    answer 2 of 3: Me too | the asker replies: Thanks! | before it: Try Oasis
    the asker writes: Thanks! | before it: Me too
    """
    of_asker = _of_asker(texts, offsets) if {"author", "asker"} <= set(told) else np.zeros(len(texts.docs), dtype=bool)
    before, behind = [""] * len(texts.docs), [""] * len(texts.docs)
    for row in np.flatnonzero(of_asker).tolist():
        before[row] = "the asker writes: "
    if texts.position is not None and "position" in told:
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            position = texts.position[start:end]
            placed = (start + np.argsort(position, kind="stable")[: int(np.isfinite(position).sum())]).tolist()
            _tell(texts.docs, placed, of_asker.tolist(), before, behind)
    if NEIGHBOURS not in told:
        behind = [""] * len(texts.docs)
    return tuple(f"{head}{doc}{tail}" for head, doc, tail in zip(before, texts.docs, behind, strict=True))


def _of_asker(texts: Texts, offsets: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    query = np.repeat(np.arange(len(texts.queries)), np.diff(offsets)).tolist()
    author, asker = texts.column("author"), texts.column("asker")
    return np.array([who is not None and who == asker[q] for who, q in zip(author, query, strict=True)], dtype=bool)


def _tell(docs: Sequence[str], placed: list[int], of_asker: list[bool], before: list[str], behind: list[str]) -> None:
    """Write down what stands around the documents of a list, which are given in their order."""
    reply = ""
    for place in range(len(placed) - 1, -1, -1):
        row = placed[place]
        tail = f" | the asker replies: {reply}" if reply and not of_asker[row] else ""
        if place:
            tail += f" | before it: {_beginning(docs[placed[place - 1]])}"
        behind[row] = tail
        if of_asker[row]:
            reply = _beginning(docs[row])
        else:
            before[row] = f"answer {place + 1} of {len(placed)}: "


def _beginning(text: str) -> str:
    return " ".join(text.split(maxsplit=_WORDS)[:_WORDS])
