"""One table with scores and labels: query, document, score, label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ranksift.collection.qrels import LARGEST_LABEL, Qrels, read_qrels
from ranksift.collection.readers.column_names import find_column, has_column
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.collection.run import Run, read_run

#: What a column of scores to cut on may be called, where it is not the score that ranks.
CUT_SCORES = ("cut_score", "filter_score")


class LabelledRun(NamedTuple):
    """The labels and the scores of one table, and its scores to cut on where it has them."""

    qrels: Qrels
    run: Run
    cut_scores: Run | None


def read_labelled_run(source: Any) -> LabelledRun:
    """Read a table with one row per document: its query, its score, and its label if it was judged.

    Parameters
    ----------
    source
        A path (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``; the texts also ``.gz`` or ``.zst``; ``-`` is CSV from
        standard input) or a polars or pandas frame. Columns: query_id, doc_id, score, label. Without documents the rows
        are counted; an empty label means that there is none. A further column ``cut_score`` (or ``filter_score``) is
        what cuts are made on.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "score": [0.9, 0.2], "label": [1, None]})
    >>> qrels, run, _ = read_labelled_run(table)
    >>> qrels.to_dict(), run.to_dict()
    ({'q': {'a': 1}}, {'q': {'a': 0.9, 'b': 0.2}})
    """
    import polars as pl

    table = read_source_table(source)
    if not table.height:
        raise table.wrong("the table has no row", "give one for every document")
    queries = table.ids(_column(table, "query"), "query")
    documents = (
        table.ids(_column(table, "document"), "document")
        if has_column(table.names, "document")
        else [f"row {i}" for i in range(1, table.height + 1)]
    )
    scores = table.numbers(_column(table, "score"), "score")
    labels = _labels(table)
    rows = pl.DataFrame({"query_id": queries, "doc_id": documents, "score": scores, "label": labels})
    again = np.flatnonzero(~rows.select(pl.struct("query_id", "doc_id").is_first_distinct()).to_series().to_numpy())
    if len(again):
        query, document = rows.row(int(again[0]))[:2]
        raise table.fail(
            int(again[0]), f"document {document!r} is listed twice for query {query!r}", "keep one of the rows"
        )
    name = table.source or "table"
    judged = rows.filter(pl.col("label").is_not_nan())
    if (judged["label"] == judged["label"].round()).all():
        judged = judged.with_columns(pl.col("label").cast(pl.Int64))
    if not len(judged):
        raise table.wrong("no document has a label", "label some")
    run = read_run(rows.drop("label"), name=name)
    cut = next((i for i, n in enumerate(table.names) if n.lower() in CUT_SCORES), None)
    other = None
    if cut is not None:
        values = table.numbers(cut, "score to cut on")
        other = read_run(rows.drop("label").with_columns(score=pl.Series(values)), name=name)
    return LabelledRun(read_qrels(judged.drop("score")), run, other)


def _column(table: SourceTable, role: str) -> int:
    return find_column(table.names, role, source=table.source, line=table.line)


def _labels(table: SourceTable) -> Any:
    """Labels as numbers, NaN if there is none."""
    named = [i for i, name in enumerate(table.names) if name.lower() != "score"]
    at = find_column([table.names[i] for i in named], "label", source=table.source, line=table.line)
    cells = table.cells.objects(named[at])
    labels = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        if cell is None or (isinstance(cell, str) and not cell.strip()) or cell != cell:
            continue
        try:
            labels[i] = float(cell)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            labels[i] = np.inf
        if not np.isfinite(labels[i]):
            raise table.fail(
                i, f"label {str(cell)[:40]!r} is not a number", "write a number, or nothing for an unjudged document"
            )
        if abs(labels[i]) >= LARGEST_LABEL:
            raise table.fail(i, f"label {str(cell)[:40]!r} is too large to be kept exactly", "use labels below 9e15")
    return labels
