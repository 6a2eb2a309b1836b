"""Rankings: the scored documents of each query."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import Floats, Grouped
from ranksift.collection._engine.grouping import OnDuplicate as OnDuplicate
from ranksift.collection.document_table import DocumentTable
from ranksift.collection.ragged import offsets_of, positions
from ranksift.collection.readers.column_names import Columns

if TYPE_CHECKING:
    import polars as pl


class Run(DocumentTable):
    """Scored documents by query, in rank order. Immutable; made by :func:`read_run`.

    Ranks follow the scores (highest first); tied documents are sorted by id, last first, as in trec_eval.
    A run does not show whether a missing document was filtered or never found.

    Examples
    --------
    >>> run = read_run({"q1": {"d1": 7.0, "d9": 9.1}}, name="bm25")
    >>> run
    <Run 'bm25': 2 documents, 1 query>
    >>> run.docs.tolist()
    ['d9', 'd1']
    """

    def __init__(self, rows: Grouped, name: str = "run") -> None:
        super().__init__(rows, name)

    @property
    def scores(self) -> Floats:
        """Scores in rank order."""
        return self._rows.values

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {self.counted('document')}>"

    def named(self, name: str) -> Run:
        """The same run under another name."""
        return Run(self._rows, name)

    def where(self, kept: NDArray[np.bool_]) -> Run:
        """The run with some of its documents; a query all of whose documents are dropped has an empty list.

        >>> read_run({"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}).where(np.array([True, False, False])).to_dict()
        {'q': {'a': 2.0}, 'r': {}}
        """
        before = offsets_of(kept.astype(np.int64))[self.offsets]
        return Run(self._rows.take(np.flatnonzero(kept), before), self.name)

    def top(self, depth: int) -> Run:
        """The run with the first documents of each query.

        >>> read_run({"q": {"a": 2.0, "b": 1.0}, "r": {"c": 1.0}}).top(1).to_dict()
        {'q': {'a': 2.0}, 'r': {'c': 1.0}}
        """
        return self.where(positions(self.lengths) < depth)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{query: {document: score}}``, documents in rank order."""
        return self.nested(self.scores.tolist())

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: query_id, doc_id, rank, score."""
        from ranksift.collection.readers.frames import frame_of

        frame = frame_of(self._rows, "score")
        import polars as pl

        return frame.insert_column(2, pl.Series("rank", positions(self.lengths) + 1, dtype=pl.Int64))

    def save(self, target: str | os.PathLike[str]) -> None:
        """Write to a file; the suffix sets the format: ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``, else TREC."""
        from ranksift.collection.readers.formats import save

        save(self, target)


def read_run(
    source: Any, *, name: str | None = None, on_duplicate: OnDuplicate = "error", columns: Columns = None
) -> Run:
    """Read a ranking.

    Parameters
    ----------
    source
        A path (TREC run, ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl``, each also ``.gz`` or ``.zst``),
        ``"-"`` for standard input, a polars or pandas frame, or ``{query: {document: score}}``.
    name
        The name of the run (default: the file's name without its suffixes).
    on_duplicate
        What to do if a document is listed twice for a query: ``"error"``, ``"first"`` (keep the first
        row), ``"best"`` (keep the highest score).
    columns
        The column names of a table, if they differ from the usual ones: ``{"query": "qid", "doc": "pid"}``.

    Examples
    --------
    >>> read_run({"q1": {"d1": 1.5}, "q2": {}})
    <Run 'run': 1 document, 1 query>
    """
    if isinstance(source, Run):
        return source if name is None else source.named(name)
    from ranksift.collection.readers import formats

    rows, default_name = formats.load_run(source, on_duplicate, columns)
    return Run(rows, default_name if name is None else name)
