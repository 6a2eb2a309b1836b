"""Scores as JSON, as CSV and as trec_eval prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ranksift.collection.ragged import Floats
from ranksift.errors import on_one_line
from ranksift.evaluation.score_rows import ALL, written
from ranksift.evaluation.score_rows import degenerate_notes as degenerate_notes
from ranksift.evaluation.score_rows import table as table
from ranksift.evaluation.scores import PER_QUERY_COLUMNS, Scores
from ranksift.evaluation.table import Column
from ranksift.measures.measure import Measure
from ranksift.measures.trec_names import trec_name


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
    ``degenerate``          measure to the number of queries in which it cannot distinguish rankings (they count 0);
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
    if there are several runs, ``runid`` stands before everything about a run.

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
        for measure, column, value in zip(scores.measures, columns, written(scores, values), strict=True):
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


def _rounded(values: Floats, digits: int | None) -> list[float]:
    exact: list[float] = values.tolist()
    return exact if digits is None else [round(v, digits) for v in exact]
