"""The texts of queries and documents, and what else is known of a document: its position, author and time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ranksift.collection._engine.decimals import parse_token
from ranksift.collection._engine.python_values import Fail, is_missing, numbers_of
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError

#: What may be known of a document besides its text, in the order in which tables have it.
OF_DOCUMENTS = ("position", "author", "time", "parent")
#: The same, and what may be known of a query.
CONTEXT = (*OF_DOCUMENTS, "asker")

#: What to do about rows that contradict each other.
ONE_TEXT = "give each query one text and one asker"

_WRITE = "write a text into every row"


@dataclass(frozen=True, eq=False)
class Texts:
    """What the queries and the documents of :class:`Examples` say, in the order of the examples.

    An attribute that is not known at all is None; if it is not known for one document, there is None in its place, or
    NaN in numbers.

    Attributes
    ----------
    queries
        One per query.
    docs
        One per document.
    position
        The position of the document in its list, such as the number of a comment in its thread.
    author
        Who wrote the document.
    time
        When it was written: all numbers, or all texts such as 2009-07-30 12:32:58.
    parent
        The id of the document that it replies to.
    asker
        Who wrote the query, one per query.

    Examples
    --------
    >>> texts = Texts(("A car?",), ("Try Oasis", "Me too"), author=("ann", None))
    >>> texts.of_rows(np.array([1])).docs, texts.of_rows(np.array([1])).author
    (('Me too',), (None,))
    """

    queries: tuple[str, ...]
    docs: tuple[str, ...]
    position: Floats | None = None
    author: tuple[str | None, ...] | None = None
    time: tuple[str | None, ...] | Floats | None = None
    parent: tuple[str | None, ...] | None = None
    asker: tuple[str | None, ...] | None = None

    def of_queries(self, numbers: Ints, rows: Ints) -> Texts:
        """Some queries by their numbers, with these rows of documents."""
        picked = {"queries": _taken(self.queries, numbers), "asker": _taken(self.asker, numbers)}
        return replace(self.of_rows(rows), **picked)

    def of_rows(self, rows: Ints) -> Texts:
        """The same queries with some of the documents, in this order."""
        return replace(self, **{name: _taken(getattr(self, name), rows) for name in ("docs", *OF_DOCUMENTS)})

    def column(self, name: str) -> Sequence[Any]:
        """One of the attributes; None in every place if it is not known at all."""
        values = getattr(self, name)
        if values is not None:
            return values  # type: ignore[no-any-return]
        return [None] * len(self.queries if name == "asker" else self.docs)

    def known(self) -> tuple[str, ...]:
        """What is known besides the texts: some of position, author, time, parent and asker."""
        return tuple(name for name in CONTEXT if getattr(self, name) is not None)


def together(parts: Sequence[Texts]) -> Texts:
    """Texts of several sets of examples as one; what only some parts know is missing in the others.

    Examples
    --------
    >>> one, two = Texts(("A car?",), ("Oasis",), author=("ann",)), Texts(("A cat?",), ("No",))
    >>> together([one, two]).author
    ('ann', None)
    """
    joined: dict[str, Any] = {}
    for name in (one.name for one in fields(Texts)):
        if any(getattr(part, name) is not None for part in parts):
            values = [value for part in parts for value in part.column(name)]
            joined[name] = (
                np.array([np.nan if value is None else value for value in values], dtype=np.float64)
                if name == "position"
                else times_of(values, _unlikely)
                if name == "time"
                else tuple(values)
            )
    return Texts(**joined)


def _unlikely(row: int, what: str, remedy: str) -> InputError:
    return InputError(f"document {row + 1}: {what}", remedy=remedy)  # it was checked when it was read


def _taken(values: Any, rows: Ints) -> Any:
    if values is None or isinstance(values, np.ndarray):
        return None if values is None else values[rows]
    return tuple(map(values.__getitem__, rows.tolist()))


# -- from what people give -------------------------------------------------------------------------------------------


def gathered(
    queries: Sequence[str],
    docs: Sequence[str],
    ids: Sequence[str],
    fail: Fail,
    *,
    position: Iterable[object] | None = None,
    author: Iterable[object] | None = None,
    time: Iterable[object] | None = None,
    parent: Iterable[object] | None = None,
    asker: Iterable[object] | None = None,
) -> Texts:
    """Texts of rows: one of everything per document; queries come out once each, by their ids, as they first appear.

    Examples
    --------
    >>> texts = gathered(["A car?", "A cat?", "A car?"], ["Yes", "No", "Hm"], ["q1", "q2", "q1"], _unlikely)
    >>> texts.queries, texts.docs
    (('A car?', 'A cat?'), ('Yes', 'No', 'Hm'))
    """
    askers = None if asker is None else names_of(asker, "asker", fail)
    for row, what in contradictions(queries, ids, askers).items():
        raise fail(row, what, ONE_TEXT)
    by_query: dict[str, str | None] = {}
    for query, name in zip(ids, askers or (), strict=False):
        by_query[query] = by_query.get(query) or name
    return Texts(
        tuple(dict(zip(ids, queries, strict=True)).values()),
        tuple(docs),
        position=None if position is None else positions_of(position, fail),
        author=None if author is None else names_of(author, "author", fail),
        time=None if time is None else times_of(time, fail),
        parent=None if parent is None else names_of(parent, "parent", fail),
        asker=None if askers is None else tuple(by_query.values()),
    )


def contradictions(queries: Sequence[str], ids: Sequence[str], askers: Sequence[str | None] | None) -> dict[int, str]:
    """Rows that say something else of their query than its first row: the text, or who asked.

    >>> contradictions(["A car?", "A cat?"], ["q1", "q1"], None)
    {1: "a different text of query 'q1' than before"}
    """
    text: dict[str, str] = {}
    asked_by: dict[str, str] = {}
    found: dict[int, str] = {}
    for row, (query, words) in enumerate(zip(ids, queries, strict=True)):
        if text.setdefault(query, words) != words:
            found[row] = f"a different text of query {query!r} than before"
        elif askers and (name := askers[row]) is not None and asked_by.setdefault(query, name) != name:
            found[row] = f"a different asker of query {query!r} than before"
    return found


def positions_of(values: Iterable[object], fail: Fail) -> Floats:
    """Finite numbers; NaN if there is none.

    >>> positions_of([1, None, 2.5], _unlikely).tolist()
    [1.0, nan, 2.5]
    """
    given = list(values)
    missing = [is_missing(value) for value in given]
    filled = [0 if gap else value for gap, value in zip(missing, given, strict=True)]
    return np.where(missing, np.nan, numbers_of(filled, "position", fail)[0])


def texts_of(values: Iterable[object], noun: str, fail: Fail) -> list[str]:
    """Texts that say something; others are refused.

    >>> texts_of(["A car?", " "], "document", lambda row, what, remedy: InputError(f"row {row + 1}: {what}"))
    Traceback (most recent call last):
        ...
    ranksift.errors.InputError: row 2: the text of the document is empty
    """
    found: list[str] = []
    for row, value in enumerate(values):
        if is_missing(value):
            raise fail(row, f"the text of the {noun} is missing", _WRITE)
        if not isinstance(value, str):
            raise fail(row, f"the text of the {noun} is a {type(value).__name__}", _WRITE)
        if not value or value.isspace():
            raise fail(row, f"the text of the {noun} is empty", _WRITE)
        found.append(_valid(value, f"the text of the {noun}", row, fail))
    return found


def names_of(values: Iterable[object], noun: str, fail: Fail) -> tuple[str | None, ...]:
    """Names of authors or documents; None if there is none, or an empty one.

    >>> names_of(["ann", 7, "", None], "author", lambda row, what, remedy: InputError(what))
    ('ann', '7', None, None)
    """
    found: list[str | None] = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            found.append(_valid(value, f"the {noun}", row, fail) if value else None)
        elif is_missing(value):
            found.append(None)
        elif isinstance(value, int | np.integer | float | np.floating) and _is_whole(value):
            # Whole numbers beside a gap are floats in pandas.
            found.append(str(int(value)))
        else:
            raise fail(row, f"the {noun} is a {type(value).__name__}", "write a name, or nothing")
    return tuple(found)


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int | np.integer) or float(value).is_integer())


def times_of(values: Iterable[object], fail: Fail) -> tuple[str | None, ...] | Floats:
    """Times as numbers where all are, else as texts; a time of Python's is written as ISO 8601 has it.

    >>> times_of(["3", 4, None], lambda row, what, remedy: InputError(what)).tolist()
    [3.0, 4.0, nan]
    >>> times_of(["2009-07-30", 4], lambda row, what, remedy: InputError(what))
    ('2009-07-30', '4')
    """
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return values
    given = [value if is_missing(value) or not hasattr(value, "isoformat") else value.isoformat() for value in values]
    numbers = [_as_number(value) for value in given]
    if all(number is not None for number in numbers):
        return np.array(numbers, dtype=np.float64)
    return names_of((repr(float(v)) if isinstance(v, float) and v % 1 else v for v in given), "time", fail)


def _as_number(value: object) -> float | None:
    """A finite number, NaN for nothing; None if it is neither."""
    if is_missing(value) or value == "":
        return np.nan
    if isinstance(value, str):
        number = parse_token(value.encode(errors="replace"))
    else:
        number = float(value) if isinstance(value, int | float | np.number) else None
    return number if number is not None and np.isfinite(number) else None


def _valid(text: str, what: str, row: int, fail: Fail) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise fail(row, f"{what} is not valid text", "repair its encoding") from None
    return text
