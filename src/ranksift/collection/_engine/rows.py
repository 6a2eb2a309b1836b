"""Rows as a source lists them, and how they become the rows of a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift.collection._engine.decimals import nulls, parse_decimals, parse_token
from ranksift.collection._engine.grouping import Floats, Gathering, Grouped, OnDuplicate, Part, without_duplicates
from ranksift.collection._engine.ids import Ids, Ints
from ranksift.collection._engine.lines import Block, Columns, over_blocks
from ranksift.collection._engine.python_values import Fail
from ranksift.errors import InputError
from ranksift.files import Text


@dataclass(frozen=True)
class Rows:
    """Some rows of a source, in its order.

    Attributes
    ----------
    queries, docs, values
        One per row.
    whole
        Whether every value is written as an integer.
    places
        Where each row stands, for an error message: a byte of a text, the number of a line or row.
    size
        How much of the source this is, in the unit of the size given to :func:`collect`.
    """

    queries: Ids
    docs: Ids
    values: Floats
    whole: bool
    places: Ints
    size: int

    @classmethod
    def of(cls, columns: Columns, query: int, doc: int, value: int, noun: str) -> Rows:
        """Take three columns of a block of text; ``noun`` says what the value is."""
        values, whole = numbers_in(columns, value, noun, columns.fail)
        ids = ids_in(columns, query), ids_in(columns, doc)
        return cls(*ids, values, whole, columns.positions(), columns.block.size)

    def where(self, query: Ids, doc: Ids) -> Ints:
        """Places of the rows of one document for one query (columns of one id each)."""
        first = np.zeros(len(self.docs), dtype=np.int64)
        return self.places[self.queries.same(query.take(first)) & self.docs.same(doc.take(first))]


#: Applies a function to all rows of a source, some at a time, in order.
Over = Callable[[Callable[[Rows], Any]], Iterable[Any]]


def collect_text(
    text: Text, parse: Callable[[Block], Rows], noun: str, on_duplicate: OnDuplicate
) -> tuple[Grouped, bool]:
    """Bring the rows of a text together; ``parse`` takes them out of a block of lines."""

    def over(work: Callable[[Rows], Any]) -> Iterable[Any]:
        return over_blocks(lambda block: work(parse(block)), text)

    return collect(over, text.end - text.start, text.fail, noun, on_duplicate)


def collect(
    over: Over, size: int, fail: Callable[[int, str, str], InputError], noun: str, on_duplicate: OnDuplicate
) -> tuple[Grouped, bool]:
    """Bring the rows of a source together by query, each document once; report whether every value is an integer.

    Parameters
    ----------
    size
        The size of the whole source, to estimate how many rows there will be.
    fail
        Makes the error for a place.
    """
    gathering, whole = Gathering(size), True
    for part, integers, seen in over(part_of):
        gathering.add(part, seen)
        whole = whole and integers
    grouped = gathering.grouped()

    def fail_row(row: int, what: str, remedy: str) -> InputError:
        # Rows do not remember their places: look for this one again.
        query, doc = Ids.from_strings([grouped.query_of(row)]), Ids.from_strings([grouped.docs[row]])
        places = np.concatenate(list(over(lambda rows: rows.where(query, doc))))
        if len(places) < 2:
            return fail(0, "the source changed while it was read", "read it again")
        return fail(int(places[1]), what, remedy)

    return without_duplicates(grouped, on_duplicate, fail_row, conflict_of(noun)), whole


def conflict_of(noun: str) -> Callable[[float, float], tuple[str, str]]:
    """Words for two values of the same document: what is wrong, what to do."""

    def conflict(kept: float, other: float) -> tuple[str, str]:
        same = f" with the same {noun}" if kept == other else f", with {noun}s {kept:g} and {other:g}"
        return same, "remove one, or keep one with on_duplicate='first' (or 'best')"

    return conflict


def part_of(rows: Rows) -> tuple[Part, bool, int]:
    """Rows as they are gathered, whether all of their values are integers, and how much of the source they are."""
    return Part.of(rows.queries, rows.docs.compact(), rows.values), rows.whole, rows.size


def ids_in(columns: Columns, column: int) -> Ids:
    """The tokens of a column."""
    start = columns.starts[column]
    return Ids(columns.block.bytes, start, columns.ends[column] - start)


def numbers_in(columns: Columns, column: int, noun: str, fail: Fail, *, gaps: bool = False) -> tuple[Floats, bool]:
    """The numbers of a column, every one of them finite, and whether all are written as integers.

    Where ``gaps`` are allowed, a missing one (nothing, ``NULL``, ``NaN``) is NaN.
    """
    starts, ends = columns.starts[column], columns.ends[column]
    values, whole, rest = parse_decimals(columns.block.bytes, starts, ends)
    if gaps and len(rest):
        missing = nulls(columns.block.bytes, starts[rest], ends[rest])
        values[rest[missing]] = np.nan
        rest = rest[~missing]
    for row in rest.tolist():
        token = columns.token(column, row).strip()
        value = parse_token(token)
        shown = repr(token[:40].decode("utf-8", "replace"))
        if not token:
            raise fail(row, f"the {noun} is missing", f"give every document a {noun}")
        if value is None:
            if token.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
                raise fail(row, f"{noun} {shown} is not finite", f"give every document a finite {noun}")
            raise fail(row, f"{noun} {shown} is not a number", f"write the {noun} as a decimal number")
        if not np.isfinite(value):
            raise fail(row, f"{noun} {shown} is too large", "keep it below 1.8e308")
        values[row] = value
        whole = whole and not any(mark in token for mark in b".eE")
    return values, whole
