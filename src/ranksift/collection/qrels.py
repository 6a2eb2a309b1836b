"""Judgments: what is known about the documents of each query."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ranksift.collection import ragged
from ranksift.collection._engine.grouping import Floats, Grouped, OnDuplicate
from ranksift.collection.document_table import DocumentTable
from ranksift.collection.pool import Pool
from ranksift.collection.readers.column_names import Columns
from ranksift.errors import InputError

if TYPE_CHECKING:
    import polars as pl

#: From here on not every whole number is a 64-bit float, so that two labels could become one.
LARGEST_LABEL = 2.0**53


class Qrels(DocumentTable):
    """Labels of documents, by query. Immutable; made by :func:`read_qrels`.

    Examples
    --------
    >>> qrels = read_qrels({"q1": {"d1": 2, "d9": -2}})
    >>> qrels
    <Qrels: 2 judgments, 1 query>
    >>> qrels.to_dict()
    {'q1': {'d1': 2, 'd9': -2}}
    """

    def __init__(self, rows: Grouped, whole: bool, name: str = "qrels", all_labels: Floats | None = None) -> None:
        super().__init__(rows, name)
        self.whole = whole
        self._all_labels = all_labels

    @property
    def labels(self) -> Floats:
        """Labels, one per judgment."""
        return self._rows.values

    @cached_property
    def pool(self) -> Pool:
        """The labels alone."""
        whole = Pool.of(self.offsets, self.labels)
        return whole if self._all_labels is None else replace(whole, all_labels=self._all_labels)

    def pool_of(self, queries: Sequence[str]) -> Pool:
        """The labels of some queries; one that is not judged has none."""
        if queries is self.query_ids or tuple(queries) == self.query_ids:
            return self.pool
        return self.pool.take(np.array([self._number.get(q, -1) for q in queries], dtype=np.int64))

    def of_queries(self, queries: Sequence[str]) -> Qrels:
        """The judgments of some queries; those that are not judged are left out.

        They are part of a collection, and know all of its labels: some measures need the largest one.

        >>> some = read_qrels({"q1": {"d1": 1}, "q2": {"d1": 4}, "q3": {"d1": 2}}).of_queries(["q3", "q1"])
        >>> some.to_dict(), some.pool.largest_label
        ({'q3': {'d1': 2}, 'q1': {'d1': 1}}, 4.0)
        """
        known = [q for q in queries if q in self._number]
        rows, offsets = ragged.take(self.offsets, np.array([self._number[q] for q in known], dtype=np.int64))
        part = Grouped(tuple(known), offsets, self.docs.take(rows), self.labels[rows])
        return Qrels(part, self.whole, self.name, self.pool.all_labels)

    def part_of(self, all_labels: ArrayLike) -> Qrels:
        """The same judgments as a part of a collection that has these labels.

        >>> read_qrels({"q1": {"d1": 1}}).part_of([0, 1, 4]).pool.largest_label
        4.0
        """
        labels = ragged.distinct(np.asarray(all_labels, dtype=np.float64).ravel())
        return Qrels(self._rows, self.whole, self.name, labels)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {q: i for i, q in enumerate(self.query_ids)}

    def __repr__(self) -> str:
        return f"<Qrels: {self.counted('judgment')}>"

    def __contains__(self, query: object) -> bool:
        return query in self._number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Qrels) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def without_label(self, label: float) -> Qrels:
        """The judgments of other labels than this; a query that has no other keeps an empty pool.

        >>> read_qrels({"q1": {"d1": 1, "d2": -1}, "q2": {"d1": -1}}).without_label(-1).to_dict()
        {'q1': {'d1': 1}, 'q2': {}}
        """
        kept = self.labels != label
        before = ragged.offsets_of(kept.astype(np.int64))[self.offsets]
        return Qrels(self._rows.take(np.flatnonzero(kept), before), self.whole, self.name)

    def label_list(self) -> list[int] | list[float]:
        """Labels as Python numbers: integers if all of them are."""
        labels: list[int] | list[float] = (self.labels.astype(np.int64) if self.whole else self.labels).tolist()
        return labels

    def to_dict(self) -> dict[str, dict[str, int | float]]:
        """``{query: {document: label}}``."""
        return self.nested(self.label_list())

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: query_id, doc_id, label."""
        from ranksift.collection.readers.frames import frame_of

        return frame_of(self._rows, "label", whole=self.whole)

    def save(self, target: str | os.PathLike[str]) -> None:
        """Write to a file; the suffix sets the format: ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``, else TREC."""
        from ranksift.collection.readers.formats import save

        save(self, target)


def read_qrels(source: Any, *, on_duplicate: OnDuplicate = "error", columns: Columns = None) -> Qrels:
    """Read judgments.

    Parameters
    ----------
    source
        A path (TREC qrels, ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``, each also ``.gz`` or ``.zst``; or a LETOR
        file, for its labels),
        ``"-"`` for standard input, a polars or pandas frame, or ``{query: {document: label}}``.
    on_duplicate
        What to do if a document is judged twice for a query: ``"error"``, ``"first"`` (keep the first
        judgment), ``"best"`` (keep the highest label).
    columns
        The column names of a table, if they differ from the usual ones:
        ``{"query": "qid", "doc": "pid", "label": "grade"}``.

    Examples
    --------
    >>> read_qrels({"q1": {"d1": 1, "d2": -2}, "q2": {"d1": 0.5}})
    <Qrels: 3 judgments, 2 queries>
    """
    if isinstance(source, Qrels):
        return source
    from ranksift.collection.readers import formats

    rows, whole, name = formats.load_qrels(source, on_duplicate, columns)
    refuse_large_label(rows, name)
    return Qrels(rows, whole, name)


def refuse_large_label(rows: Grouped, name: str) -> None:
    """Refuse labels that are not kept exactly."""
    if len(rows.values) and float(np.abs(rows.values).max()) >= LARGEST_LABEL:
        row = int(np.argmax(np.abs(rows.values)))
        raise InputError(
            f"label {rows.values[row]:g} of document {rows.docs[row]!r} is too large to be kept exactly",
            source=name,
            remedy="use labels below 9e15",
        )


def is_two_level(source: object) -> bool:
    """Whether this is ``{query: {document: number}}``, a query without documents included."""
    return isinstance(source, Mapping) and all(isinstance(v, Mapping) for v in source.values())
