"""Qrels and runs as Python dicts: ``{query: {document: number}}``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ranksift.collection.errors import InputError
from ranksift.collection.grouped import Grouped, Part, group
from ranksift.collection.ids import Ids


def rows_of(source: Mapping[str, Mapping[str, float]], noun: str) -> tuple[Grouped, bool]:
    """Rows of a nested dict, and whether every value is an integer; a query without documents has no rows."""
    queries: list[str] = []
    docs: list[str] = []
    values: list[float] = []
    whole = True
    for query, found in source.items():
        if not isinstance(found, Mapping):
            raise InputError(
                f"query {query!r} maps to a {type(found).__name__}, not to documents",
                remedy=f"give {{query: {{document: {noun}}}}}",
            )
        queries.extend([_text(query, "query")] * len(found))
        docs.extend(_text(d, "document") for d in found)
        for doc, value in found.items():
            values.append(_finite(value, noun, query, doc))
            whole = whole and isinstance(value, int | np.integer)
    part = Part.of(Ids.from_strings(queries), Ids.from_strings(docs), np.array(values, dtype=np.float64))
    return group([part]), whole


def _text(key: Any, noun: str) -> str:
    if not isinstance(key, str):
        raise InputError(
            f"{noun} id {key!r} is a {type(key).__name__}, not a string", remedy="convert ids with str(...)"
        )
    if not key:
        raise InputError(f"a {noun} id is empty", remedy="give every query and document an id")
    return key


def _finite(value: Any, noun: str, query: str, doc: str) -> float:
    if not isinstance(value, Real | np.number | np.bool_):
        raise InputError(
            f"{noun} {value!r} of document {doc!r}, query {query!r}, is not a number", remedy=f"give a number as {noun}"
        )
    number = float(value)
    if not math.isfinite(number):
        raise InputError(
            f"{noun} {value!r} of document {doc!r}, query {query!r}, is not finite", remedy=f"give a finite {noun}"
        )
    return number
