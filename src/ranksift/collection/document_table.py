"""What judgments and runs have in common: documents with a number each, query after query."""

from __future__ import annotations

from ranksift.collection._engine.grouping import Grouped
from ranksift.collection._engine.ids import Ids, Ints


class DocumentTable:
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

    def counted(self, noun: str) -> str:
        """How many rows and queries there are, in words."""
        n, q = len(self), len(self.query_ids)
        return f"{n:,} {noun}{'s' * (n != 1)}, {q:,} quer{'y' if q == 1 else 'ies'}"

    def nested(self, values: list[int] | list[float]) -> dict[str, dict[str, int | float]]:
        """``{query: {document: value}}``, with a value for each row."""
        docs = self.docs.tolist()
        bounds = zip(self.query_ids, self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        return {q: dict(zip(docs[lo:hi], values[lo:hi], strict=True)) for q, lo, hi in bounds}
