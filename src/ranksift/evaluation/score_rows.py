"""Scores as rows that people read: a table, and a line about uninformative queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Cell, Column, Table, Value
from ranksift.measures.measure import Measure

#: The name of the aggregate in a list of queries.
ALL = "all"


def table(scores: Scores, *, per_query: bool = False, digits: int = 4, title: str = "") -> Table:
    """Runs as rows and measures as columns, with the best values in bold; for a single run, measures are rows.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> qrels, run = {"q": {"a": 2, "b": -1}}, {"q": {"b": 2, "a": 1}}
    >>> print(table(evaluate(qrels, run, "nDCG@2 nDCG_f@2")))
    measure      run
    --------  ------
    nDCG@2    0.6309
    nDCG_f@2  0.4206
    """
    columns = [Column(str(m), digits) for m in scores.measures]
    total = scores.aggregate()
    notes = degenerate_notes(scores)
    if per_query:
        lists = ((r, q, v) for r in range(len(scores.runs)) for q, v in _lists(scores, r, total))
        rows: list[list[Value]] = [[scores.runs[r], q, *written(scores, v)] for r, q, v in lists]
        return Table(["run", "query", *columns], rows, title=title, notes=notes)
    if len(scores.runs) == 1:
        pairs = zip(map(str, scores.measures), written(scores, total[0]), strict=True)
        return Table(["measure", Column(scores.runs[0], digits)], list(pairs), title=title, notes=notes)
    best = np.stack([_best(m, total[:, j]) for j, m in enumerate(scores.measures)], axis=-1)
    cells: list[list[Cell | Value]] = [
        [name, *(Cell(v, bold=b) for v, b in zip(written(scores, total[r]), best[r].tolist(), strict=True))]
        for r, name in enumerate(scores.runs)
    ]
    return Table(["run", *columns], cells, title=title, notes=notes)


def degenerate_notes(scores: Scores) -> list[str]:
    """A line about the queries in which some measures cannot distinguish rankings, if there are any."""
    by_count: dict[int, list[str]] = {}
    for name, count in scores.degenerate.items():
        by_count.setdefault(count, []).append(name)
    parts = [
        f"{n} of {len(scores.queries)} by {', '.join(names)}" for n, names in sorted(by_count.items(), reverse=True)
    ]
    return [f"Queries in which all rankings are equally good, which count as 0: {'; '.join(parts)}."] if parts else []


def _lists(scores: Scores, r: int, total: Floats) -> Iterator[tuple[str, Floats]]:
    """The queries of a run with their values, the aggregate last."""
    yield from zip(scores.queries, scores.values[r], strict=True)
    yield ALL, total[r]


def written(scores: Scores, values: Floats) -> list[Value]:
    """Values as they are shown: numbers of documents as integers."""
    counts = (isinstance(m, Measure) and m.aggregation == "sum" for m in scores.measures)
    pairs = zip(values.tolist(), counts, strict=True)
    return [int(v) if count and v == int(v) else v for v, count in pairs]


def _best(measure: Measure | str, values: Floats) -> NDArray[np.bool_]:
    """Which runs have the best value, if there is a better and a worse."""
    counts = isinstance(measure, Measure) and measure.aggregation == "sum"
    if counts or np.ptp(values) == 0:
        return np.zeros(len(values), dtype=bool)
    lower = isinstance(measure, Measure) and not measure.higher_is_better
    return np.asarray(values == (values.min() if lower else values.max()))
