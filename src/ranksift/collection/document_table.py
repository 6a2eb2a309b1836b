"""What judgments and runs have in common: documents with a number each, query after query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ranksift.collection._engine.grouping import Grouped
from ranksift.collection._engine.ids import Ids, Ints
from ranksift.collection._engine.key_index import KeyIndex

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


class DocumentTable(ABC):
    """Columns of document ids and numbers, grouped by query. Immutable."""

    def __init__(self, rows: Grouped, name: str) -> None:
        self._rows = rows
        self.name = name

    @property
    def rows(self) -> Grouped:
        """The table itself."""
        return self._rows

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The queries that have rows."""
        return self._rows.query_ids

    @property
    def offsets(self) -> Ints:
        """Query i owns the rows ``offsets[i]`` to ``offsets[i + 1]``."""
        return self._rows.offsets

    @property
    def lengths(self) -> Ints:
        """Rows of each query."""
        return self._rows.lengths

    @property
    def docs(self) -> Ids:
        """Document ids, row by row."""
        return self._rows.docs

    def __len__(self) -> int:
        return len(self._rows.values)

    @cached_property
    def index(self) -> KeyIndex:
        """Where each (query, document) pair is."""
        return KeyIndex(self._rows.keys(0, len(self.query_ids)))

    @cached_property
    def _index_is_ambiguous(self) -> bool:
        """Whether two pairs share a hash (they never do by chance)."""
        return self.index.ambiguous

    @abstractmethod
    def to_frame(self) -> pl.DataFrame:
        """A polars frame of all columns."""

    def to_pandas(self) -> pd.DataFrame:
        """:meth:`to_frame` as a pandas frame, without pyarrow."""
        from ranksift.collection.readers.frames import as_pandas

        return as_pandas(self.to_frame())

    def common_rows(self, other: DocumentTable) -> tuple[Ints, Ints]:
        """Rows of another table whose query and document this one has too, and where this one has them.

        >>> from ranksift import read_run
        >>> full = read_run({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
        >>> there, here = full.common_rows(read_run({"q": {"c": 9.0, "x": 8.0, "a": 7.0}}))
        >>> there.tolist(), here.tolist()
        ([0, 2], [2, 0])
        """
        rows, matches = self.index.find(other.rows)
        query = {q: i for i, q in enumerate(self.query_ids)}
        of_other = np.array([query.get(q, -1) for q in other.query_ids], dtype=np.int64)
        owner = of_other[np.searchsorted(other.offsets, rows, side="right") - 1]
        of_match = np.searchsorted(self.offsets, matches, side="right") - 1
        true = (owner == of_match) & other.docs.take(rows).same(self.docs.take(matches))
        if true.all() and not self._index_is_ambiguous:
            return rows, matches
        # Two different (query, document) pairs share their 64 bits: go by the ids themselves.
        here = {pair: row for row, pair in enumerate(self._pairs())}
        found = [(row, here[pair]) for row, pair in enumerate(other._pairs()) if pair in here]
        return tuple(np.array(found, dtype=np.int64).reshape(-1, 2).T)  # type: ignore[return-value]

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """The query and the document of each row."""
        return zip(np.repeat(np.array(self.query_ids, dtype=object), self.lengths), self.docs.tolist(), strict=True)

    def counted(self, noun: str) -> str:
        """How many rows and queries there are, in words."""
        n, q = len(self), len(self.query_ids)
        return f"{n:,} {noun}{'s' * (n != 1)}, {q:,} quer{'y' if q == 1 else 'ies'}"

    def nested(self, values: list[int] | list[float]) -> dict[str, dict[str, int | float]]:
        """``{query: {document: value}}``, with a value for each row."""
        docs = self.docs.tolist()
        bounds = zip(self.query_ids, self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        return {q: dict(zip(docs[lo:hi], values[lo:hi], strict=True)) for q, lo, hi in bounds}
