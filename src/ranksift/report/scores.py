"""Scores as a table, as JSON, as CSV and as trec_eval prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats
from ranksift.errors import on_one_line
from ranksift.evaluation.scores import PER_QUERY_COLUMNS, Scores
from ranksift.evaluation.table import Cell, Column, Table, Value
from ranksift.measures.measure import Measure
from ranksift.measures.trec_names import trec_name

#: The name of the aggregate in a list of queries.
ALL = "all"


def table(scores: Scores, *, per_query: bool = False, digits: int = 4, title: str = "") -> Table:
    """Runs as rows and measures as columns, the best values bold; of one run alone, measures as rows.

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
        rows: list[list[Value]] = [[scores.runs[r], q, *_values(scores, v)] for r, q, v in lists]
        return Table(["run", "query", *columns], rows, title=title, notes=notes)
    if len(scores.runs) == 1:
        pairs = zip(map(str, scores.measures), _values(scores, total[0]), strict=True)
        return Table(["measure", Column(scores.runs[0], digits)], list(pairs), title=title, notes=notes)
    best = np.stack([_best(m, total[:, j]) for j, m in enumerate(scores.measures)], axis=-1)
    cells: list[list[Cell | Value]] = [
        [name, *(Cell(v, bold=b) for v, b in zip(_values(scores, total[r]), best[r].tolist(), strict=True))]
        for r, name in enumerate(scores.runs)
    ]
    return Table(["run", *columns], cells, title=title, notes=notes)


def as_json(
    scores: Scores, settings: Mapping[str, Any], *, per_query: bool = False, digits: int | None = None
) -> dict[str, Any]:
    """An object with these keys, in this order.

    ======================  =========================================================================================
    (``settings``)          ``qrels``, ``gains``, ``unjudged``, ``queries`` as they were given
    ``number_of_queries``   queries that count
    ``measures``            names, in the order asked for
    ``runs``                a list of objects: ``run`` (its name), ``scores`` (measure to aggregate) and, with
                            ``per_query``, ``per_query`` (query to an object: measure to value)
    ``degenerate``          measure to the number of queries in which it cannot tell rankings apart (they count 0);
                            measures without such queries are not named
    ``notes``               a list of strings: what else the reader should know
    ======================  =========================================================================================

    Values are exact unless ``digits`` are given.
    """
    names = list(map(str, scores.measures))

    def named(values: Floats) -> dict[str, float]:
        return dict(zip(names, _rounded(values, digits), strict=True))

    total = scores.aggregate()
    runs: list[dict[str, Any]] = [{"run": name, "scores": named(total[r])} for r, name in enumerate(scores.runs)]
    if per_query:
        for r, run in enumerate(runs):
            run["per_query"] = {q: named(v) for q, v in zip(scores.queries, scores.values[r], strict=True)}
    return {
        **settings,
        "number_of_queries": len(scores.queries),
        "measures": names,
        "runs": runs,
        "degenerate": dict(scores.degenerate),
        "notes": list(scores.notes),
    }


def csv_header(per_query: bool) -> tuple[str, ...]:
    """``run,measure,value``, or with every query ``run,query_id,measure,value``."""
    return PER_QUERY_COLUMNS if per_query else ("run", "measure", "value")


def csv_rows(scores: Scores, *, per_query: bool = False, digits: int | None = None) -> Iterator[tuple[object, ...]]:
    """Rows under :func:`csv_header`: the aggregates, or the queries' own values. Exact unless ``digits`` are given."""
    names = list(map(str, scores.measures))
    for run, total, each in zip(scores.runs, scores.aggregate(), scores.values, strict=True):
        if not per_query:
            yield from ((run, m, v) for m, v in zip(names, _rounded(total, digits), strict=True))
            continue
        for query, values in zip(scores.queries, each, strict=True):
            yield from ((run, query, m, v) for m, v in zip(names, _rounded(values, digits), strict=True))


def trec_lines(
    scores: Scores, *, per_query: bool = False, digits: int = 4, rel: float = 1, tag: str | None = None
) -> Iterator[str]:
    r"""Lines as trec_eval prints them: its name of the measure, padded, the query or ``all``, and the value.

    A measure that trec_eval does not have keeps our name. The aggregates begin with the lines ``runid`` and ``num_q``;
    where there are several runs, ``runid`` stands before everything about a run.

    Parameters
    ----------
    rel
        The smallest relevant label of the evaluation: ``AP(rel=2)`` is trec_eval's ``map`` where that is 2.
    tag
        What one run alone calls itself.

    Examples
    --------
    >>> from ranksift import evaluate
    >>> print("".join(trec_lines(evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "AP nDCG_f@5"), per_query=True)))
    map                     q       1.0000
    nDCG_f@5                q       1.0000
    runid                   all     run
    num_q                   all     1
    map                     all     1.0000
    nDCG_f@5                all     1.0000
    """

    def line(name: str, query: str, value: str) -> str:
        return f"{on_one_line(name):<22}\t{on_one_line(query)}\t{value}\n"

    def lines(query: str, values: Floats) -> Iterator[str]:
        for measure, column, value in zip(scores.measures, columns, _values(scores, values), strict=True):
            if query == ALL or not (isinstance(measure, Measure) and measure.aggregation == "geometric"):
                yield line(column.name, query, column.written(value))

    total = scores.aggregate()
    names = [(isinstance(m, Measure) and trec_name(m, rel)) or str(m) for m in scores.measures]
    columns = [Column(name, digits) for name in names]
    alone = len(scores.runs) == 1
    for r, run in enumerate(scores.runs):
        runid = line("runid", ALL, on_one_line(tag if alone and tag else run))
        if not alone:
            yield runid
        if per_query:
            for query, values in zip(scores.queries, scores.values[r], strict=True):
                yield from lines(query, values)
        if alone:
            yield runid
        yield line("num_q", ALL, str(len(scores.queries)))
        yield from lines(ALL, total[r])


def degenerate_notes(scores: Scores) -> list[str]:
    """A line about the queries in which some measures cannot tell rankings apart, where there are any."""
    by_count: dict[int, list[str]] = {}
    for name, count in scores.degenerate.items():
        by_count.setdefault(count, []).append(name)
    parts = [f"in {n} by {', '.join(names)}" for n, names in sorted(by_count.items(), reverse=True)]
    of = len(scores.queries)
    return [f"Of {of} queries no ranking is better than another {'; '.join(parts)}: these count 0."] if parts else []


def _lists(scores: Scores, r: int, total: Floats) -> Iterator[tuple[str, Floats]]:
    """The queries of a run with their values, the aggregate last."""
    yield from zip(scores.queries, scores.values[r], strict=True)
    yield ALL, total[r]


def _values(scores: Scores, values: Floats) -> list[Value]:
    """Numbers of documents as integers."""
    counts = (isinstance(m, Measure) and m.aggregation == "sum" for m in scores.measures)
    pairs = zip(values.tolist(), counts, strict=True)
    return [int(v) if count and v == int(v) else v for v, count in pairs]


def _best(measure: Measure | str, values: Floats) -> NDArray[np.bool_]:
    """Which runs have the best value, where there is a better and a worse."""
    counts = isinstance(measure, Measure) and measure.aggregation == "sum"
    if counts or np.ptp(values) == 0:
        return np.zeros(len(values), dtype=bool)
    lower = isinstance(measure, Measure) and not measure.higher_is_better
    return np.asarray(values == (values.min() if lower else values.max()))


def _rounded(values: Floats, digits: int | None) -> list[float]:
    exact: list[float] = values.tolist()
    return exact if digits is None else [round(v, digits) for v in exact]
