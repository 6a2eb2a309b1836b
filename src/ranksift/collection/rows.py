"""Rows as a source lists them, and how they become the rows of a collection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.decimals import parse_decimals, parse_token
from ranksift.collection.errors import InputError
from ranksift.collection.grouped import Floats, Grouped, OnDuplicate, Part, group, without_duplicates
from ranksift.collection.ids import Ids, Ints
from ranksift.collection.lines import Block, Columns, over_blocks
from ranksift.collection.files import Text


@dataclass(frozen=True)
class Rows:
    """Some rows of a source, in its order.

    Attributes
    ----------
    queries, docs, values
        One a row.
    whole
        Whether every value is written as an integer.
    places
        Where each row stands, for an error message: a byte of a text, the number of a frame's row.
    """

    queries: Ids
    docs: Ids
    values: Floats
    whole: bool
    places: Ints

    @classmethod
    def of(cls, columns: Columns, query: int, doc: int, value: int, noun: str) -> Rows:
        """Take three columns of a block of text; ``noun`` says what the value is."""
        values, whole = _numbers(columns, value, noun)
        return cls(_ids(columns, query), _ids(columns, doc), values, whole, columns.positions())

    def where(self, query: Ids, doc: Ids) -> Ints:
        """Places of the rows of one document for one query (columns of one id each)."""
        first = np.zeros(len(self.docs), dtype=np.int64)
        return self.places[self.queries.same(query.take(first)) & self.docs.same(doc.take(first))]


#: Applies a function to all rows of a source, piece by piece.
Over = Callable[[Callable[[Rows], Any]], list[Any]]


def over_text(text: Text, parse: Callable[[Block], Rows]) -> Over:
    """Go through a text block by block."""
    return lambda work: over_blocks(lambda block: work(parse(block)), text)


def collect(
    over: Over, fail: Callable[[int, str, str], InputError], noun: str, on_duplicate: OnDuplicate
) -> tuple[Grouped, bool]:
    """Bring the rows of a source together by query, each document once; tell whether every value is an integer.

    Parameters
    ----------
    fail
        Makes the error for a place.
    """
    done = over(lambda rows: (Part.of(rows.queries, rows.docs.compact(), rows.values), rows.whole))
    nothing = Part.of(Ids.from_strings([]), Ids.from_strings([]), np.zeros(0))
    grouped = group([part for part, _ in done] or [nothing])

    def fail_row(row: int, what: str, remedy: str) -> InputError:
        # Rows do not remember their places: look for this one again.
        query, doc = Ids.from_strings([grouped.query_of(row)]), grouped.docs[row : row + 1]
        places: NDArray[np.int64] = np.concatenate(over(lambda rows: rows.where(query, doc)))
        return fail(int(places[1]), what, remedy)

    def conflict(kept: float, other: float) -> tuple[str, str]:
        same = f" with the same {noun}" if kept == other else f", with {noun}s {kept:g} and {other:g}"
        return same, "remove one, or let --on-duplicate first (or best) keep one"

    return without_duplicates(grouped, on_duplicate, fail_row, conflict), all(whole for _, whole in done)


def _ids(columns: Columns, column: int) -> Ids:
    start = columns.starts[column]
    return Ids(columns.block.bytes, start, columns.ends[column] - start)


def _numbers(columns: Columns, column: int, noun: str) -> tuple[Floats, bool]:
    """The numbers of a column, every one of them finite, and whether all are written as integers."""
    values, whole, rest = parse_decimals(columns.block.bytes, columns.starts[column], columns.ends[column])
    for row in rest.tolist():
        token = columns.token(column, row).strip()
        value = parse_token(token)
        shown = repr(token[:40].decode("utf-8", "replace"))
        if not token:
            raise columns.fail(row, f"the {noun} is missing", f"give every document a {noun}")
        if value is None:
            if token.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
                raise columns.fail(row, f"{noun} {shown} is not finite", f"give every document a finite {noun}")
            raise columns.fail(row, f"{noun} {shown} is not a number", f"write the {noun} as a decimal number")
        if not np.isfinite(value):
            raise columns.fail(row, f"{noun} {shown} is too large", "keep it below 1.8e308")
        values[row] = value
        whole = whole and not any(mark in token for mark in b".eE")
    return values, whole
