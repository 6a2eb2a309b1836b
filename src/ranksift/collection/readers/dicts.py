"""Qrels and runs as Python dicts: ``{query: {document: number}}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ranksift.collection._engine.grouping import Grouped, Part, group
from ranksift.collection._engine.python_values import id_of, ids_of, numbers_of
from ranksift.collection.ragged import offsets_of
from ranksift.errors import InputError


def rows_of(source: Mapping[str, Mapping[str, float]], noun: str) -> tuple[Grouped, bool]:
    """Rows of a nested dict, and whether every value is an integer.

    A query without judgments still is one of the queries; a query without results is not answered.
    """
    queries: list[str] = []
    docs: list[str] = []
    values: list[Any] = []
    names = _ids(source, "query")
    for query, found in zip(names, source.values(), strict=True):
        if not isinstance(found, Mapping):
            raise InputError(
                f"query {query!r} maps to a {type(found).__name__}, not to documents",
                remedy=f"give {{query: {{document: {noun}}}}}",
            )
        queries.extend([query] * len(found))
        docs.extend(_ids(found, "document"))
        values.extend(found.values())

    def fail(row: int, what: str, remedy: str) -> InputError:
        return InputError(f"query {queries[row]!r}, document {docs[row]!r}: {what}", remedy=remedy)

    numbers, whole = numbers_of(values, noun, fail)
    rows = group([Part.of(ids_of(queries, "query", fail), ids_of(docs, "document", fail), numbers)])
    if noun == "label" and len(values) and len(rows.query_ids) < len(source):
        rows = replace(
            rows, query_ids=tuple(names), offsets=offsets_of(np.array([len(found) for found in source.values()]))
        )
    return rows, whole


def _ids(keys: Iterable[object], noun: str) -> list[str]:
    """Ids as strings; integers are ids by their digits, as in frames."""
    given: list[Any] = list(keys)
    if set(map(type, given)) <= {str}:
        return given
    names = [id_of(key, noun, 0, lambda row, what, remedy: InputError(what, remedy=remedy)) for key in given]
    if len(set(names)) < len(names):  # both 1 and "1" can be keys of one dict
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{noun} id {twice!r} occurs both as a string and as a number", remedy="write ids as strings")
    return names
