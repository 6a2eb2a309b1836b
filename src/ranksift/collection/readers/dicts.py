"""Qrels and runs as Python dicts: ``{query: {document: number}}``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ranksift.collection._engine.grouping import Grouped, Part, group
from ranksift.collection._engine.python_values import ids_of, numbers_of
from ranksift.collection.ragged import offsets_of
from ranksift.errors import InputError


def rows_of(source: Mapping[str, Mapping[str, float]], noun: str) -> tuple[Grouped, bool]:
    """Rows of a nested dict, and whether every value is an integer.

    A query without judgments is one of the queries nevertheless; one without results is not answered.
    """
    queries: list[str] = []
    docs: list[str] = []
    values: list[Any] = []
    for query, found in source.items():
        if not isinstance(found, Mapping):
            raise InputError(
                f"query {query!r} maps to a {type(found).__name__}, not to documents",
                remedy=f"give {{query: {{document: {noun}}}}}",
            )
        queries.extend([_text(query, "query")] * len(found))
        docs.extend(_text(d, "document") for d in found)
        values.extend(found.values())

    def fail(row: int, what: str, remedy: str) -> InputError:
        return InputError(f"query {queries[row]!r}, document {docs[row]!r}: {what}", remedy=remedy)

    numbers, whole = numbers_of(values, noun, fail)
    rows = group([Part.of(ids_of(queries, "query", fail), ids_of(docs, "document", fail), numbers)])
    if noun == "label" and len(values) and len(rows.query_ids) < len(source):
        names = tuple(_text(query, "query") for query in source)
        rows = replace(rows, query_ids=names, offsets=offsets_of(np.array([len(found) for found in source.values()])))
    return rows, whole


def _text(key: Any, noun: str) -> str:
    if isinstance(key, str):
        return key
    # Both 1 and "1" can be keys of one dict, so integers are no ids here.
    raise InputError(f"{noun} id {key!r} is a {type(key).__name__}, not a string", remedy="convert ids with str(...)")
