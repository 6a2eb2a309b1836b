"""Existing score tables, from other tools or years, as :class:`Scores`.

A table is long (one row per value: run, query, measure, value) or wide (one row per topic, one column per system).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers.column_names import find_column, has_column, is_number
from ranksift.collection.readers.formats import stem
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.csv_cells import cell_as_meant
from ranksift.evaluation.scores import PER_QUERY_COLUMNS, Scores, measure_or_name
from ranksift.files import STANDARD
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike

#: What other tools call the row under the topics that sums them up; trec_eval says ``all``.
_SUMMARIES = frozenset({"all", "amean", "average", "avg", "gmean", "mean"})

# A column of row names has no name of its own: so R and pandas write it, and pandas reads it back.
_UNNAMED = frozenset({"", "index", "unnamed: 0"})

_SHOWN = 5


def read_scores(source: Any, measure: MeasureLike | None = None) -> Scores:
    """Read scores that were computed elsewhere.

    Parameters
    ----------
    source
        A path (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, the texts also ``.gz`` or ``.zst``; ``"-"`` is CSV from
        standard input) or a polars or pandas frame. Several tables of different measures, as a list or as
        ``{measure: table}``, are joined on the runs and queries that all of them have; a warning names
        what is left out.
    measure
        The measure of a table that does not name it (default: the file's name without its suffixes,
        or ``"score"``). If a table names several measures, only this one is read.

    Notes
    -----
    A long table has the columns run (or system), query (or topic), value (or score) and, if there are several measures,
    measure; ``ranksift evaluate --per-query --format csv`` writes such a table. A wide table has one row per topic and
    one column per system. Its topics are in the column of that name, or in a first column that has no name or contains
    words; without one the rows are numbered from 1.

    Rows that summarise the others (``all``, ``amean``, ``mean``, ``average``, ``gmean``) are left out with a warning.

    Examples
    --------
    >>> import polars as pl
    >>> wide = pl.DataFrame({"topic": [51, 52], "bm25": [0.25, 0.5], "rm3": [0.5, 0.75]})
    >>> read_scores(wide, "AP").mean_of("AP")
    {'bm25': 0.375, 'rm3': 0.625}
    """
    scores = _joined([_table(*table) for table in _tables(source, measure)])
    for note in scores.notes:
        warnings.warn(note, RankSiftWarning, stacklevel=2)
    return scores


@dataclass(frozen=True)
class _ScoreTable:
    """The contents of one table, its name, and whether its topics are only the numbers of its rows."""

    name: str
    scores: Scores
    numbered: bool


def _tables(source: Any, measure: MeasureLike | None) -> list[tuple[Any, MeasureLike | None, str]]:
    """The tables with their measures, and a name for each that is not a file."""
    if not isinstance(source, Mapping | list | tuple):
        return [(source, measure, "the table")]
    if not source:
        raise InputError("no table of scores is given", remedy="name at least one")
    if isinstance(source, Mapping):
        if measure is not None:
            raise InputError(
                f"measure {measure!s} is given in addition to named tables", remedy="name it in the mapping"
            )
        return [(table, name, f"the table of {name!s}") for name, table in source.items()]
    if measure is not None and len(source) > 1:
        raise InputError(
            f"measure {measure!s} is given for {len(source)} tables", remedy="name each: {measure: table, ...}"
        )
    return [(table, measure, f"table {i}") for i, table in enumerate(source, start=1)]


def _table(source: Any, measure: MeasureLike | None, name: str) -> _ScoreTable:
    table = read_source_table(source)
    path = isinstance(source, str | os.PathLike) and os.fspath(source) != STANDARD
    default = stem(source) if path else "score"
    numbered = False
    if _is_long(table):
        scores = _long(table, measure, default)
    else:
        topic = _topic_column(table)
        numbered = topic is None
        scores = _wide(table, topic, default if measure is None else measure)
    micro = [str(m) for m in scores.measures if isinstance(m, Measure) and m.aggregation == "micro"]
    if micro:
        note = f"{_in(table)}{', '.join(micro)}: a table has no denominators, so the mean over queries is used instead"
        scores = replace(scores, notes=(*scores.notes, note))
    return _ScoreTable(table.source or name, scores, numbered)


# -- one row per value ---------------------------------------------------------------------------------------


def _is_long(table: SourceTable) -> bool:
    """Whether the columns have the names of a long table, perhaps not all of them.

    A system of a wide table may be called "run", but then its column has numbers; hardly any is called "value".
    """
    roles = {role for role in ("run", "query", "measure", "value") if has_column(table.names, role)}
    if {"run", "query"} <= roles and table.holds_words(find_column(table.names, "run", source=table.source)):
        return True
    return len(roles) > 1 and not roles.isdisjoint({"measure", "value"})


def _long(table: SourceTable, measure: MeasureLike | None, default: str) -> Scores:
    run, query, value = (
        find_column(table.names, role, source=table.source, line=table.line) for role in ("run", "query", "value")
    )
    _check_height(table)
    runs, queries, values = _names(table, run, "run"), _names(table, query, "query"), table.numbers(value, "value")
    if has_column(table.names, "measure"):
        column = find_column(table.names, "measure", source=table.source, line=table.line)
        spelled = _names(table, column, "measure")
        names = {name: str(measure_or_name(name)) for name in dict.fromkeys(spelled)}
        measures = [names[name] for name in spelled]
        wanted = list(names.values()) if measure is None else [str(measure_or_name(measure))]
        if wanted[0] not in names.values():
            raise table.wrong(f"no row has the measure {measure!s}", f"there are: {', '.join(list(names)[:_SHOWN])}")
    else:
        measures = [str(default if measure is None else measure)] * table.height
        wanted = measures[:1]
    topical, notes = _without_summaries(table, queries)
    rows = topical & np.array([name in wanted for name in measures])
    axes = [_coded(axis, rows) for axis in (runs, queries, measures)]
    shape = tuple(len(names) for names, _ in axes)
    cells = np.ravel_multi_index([codes for _, codes in axes], shape)
    _check_cells(table, cells, np.flatnonzero(rows), [names for names, _ in axes])
    cube = np.empty(shape)
    cube.ravel()[cells] = values[rows]
    scores = Scores.from_array(cube, runs=axes[0][0], queries=axes[1][0], measures=axes[2][0])
    return replace(scores, notes=tuple(notes))


def _names(table: SourceTable, column: int, noun: str) -> list[str]:
    """A column of names; those in a report of ours may have an apostrophe in front that is for spreadsheets."""
    names = table.ids(column, noun)
    return list(map(cell_as_meant, names)) if table.line is not None and table.names == PER_QUERY_COLUMNS else names


def _coded(names: Sequence[str], rows: NDArray[np.bool_]) -> tuple[list[str], Ints]:
    """The different names in these rows, in order of appearance, and for each row which it has."""
    some = [name for name, wanted in zip(names, rows.tolist(), strict=True) if wanted]
    code = {name: i for i, name in enumerate(dict.fromkeys(some))}
    return list(code), np.fromiter(map(code.__getitem__, some), dtype=np.int64, count=len(some))


def _check_cells(table: SourceTable, cells: Ints, rows: Ints, axes: list[list[str]]) -> None:
    """Refuse a value that occurs twice, or is missing."""
    shape = tuple(map(len, axes))

    def place(cell: Any) -> str:
        run, query, measure = (names[i] for names, i in zip(axes, np.unravel_index(cell, shape), strict=True))
        return f"run {run!r}, query {query!r}, measure {measure}"

    order = np.argsort(cells, kind="stable")
    again = order[1:][np.diff(cells[order]) == 0]
    if len(again):
        row = int(again.min())
        raise table.fail(int(rows[row]), f"{place(cells[row])} is listed twice", "keep one of the rows")
    size = int(np.prod(shape))
    if len(cells) < size:
        gap = np.flatnonzero(cells[order] != np.arange(len(cells)))
        first = int(gap[0]) if len(gap) else len(cells)
        left = size - len(cells)
        raise InputError(
            f"{left} of {size} values {'is' if left == 1 else 'are'} missing, the first that of {place(first)}",
            source=table.source,
            remedy="add them, or remove what is not complete",
        )


# -- one row per topic, one column per system -------------------------------------------------------------------------


def _wide(table: SourceTable, topic: int | None, measure: MeasureLike) -> Scores:
    systems = [c for c in range(len(table.names)) if c != topic]
    names = [table.names[c] for c in systems]
    _check_systems(table, systems, names)
    _check_height(table)
    queries = list(map(str, range(1, table.height + 1))) if topic is None else table.ids(topic, "topic")
    if len(set(queries)) < len(queries):
        again = next(i for i, query in enumerate(queries) if query in queries[:i])
        raise table.fail(again, f"topic {queries[again]!r} is listed twice", "keep one of the rows")
    topical, notes = _without_summaries(table, queries)
    values = np.stack([table.numbers(c, "score") for c in systems])[:, topical, None]
    kept = [query for query, stays in zip(queries, topical.tolist(), strict=True) if stays]
    scores = Scores.from_array(values, runs=names, queries=kept, measures=[measure])
    return replace(scores, notes=tuple(notes))


def _topic_column(table: SourceTable) -> int | None:
    """The column of topics; ``None`` if every column is a system."""
    names = table.names
    if not names:
        raise table.wrong("no columns at all", "give a column of topics and one for each system")
    if len(names) == 1:
        hint = next((f"columns are separated by {mark!r}?" for mark in (";", "\t", "|", ",") if mark in names[0]), "")
        raise table.wrong(
            f"one column only, {names[0][:40]!r}{' (' + hint + ')' if hint else ''}",
            "give a column of topics and one for each system, separated by commas (.csv) or tabs (.tsv)",
        )
    if has_column(names, "query"):
        return find_column(names, "query", source=table.source, line=table.line)
    if names[0].casefold() in _UNNAMED:
        return 0
    if has_column(names[:1], "run"):
        raise table.wrong(
            f"the rows are runs: the first column is {names[0]!r}",
            "give one row per topic and one column per run, or the columns run, query, measure, value",
        )
    if all(is_number(name) for name in names[1:]):
        raise table.wrong("the first line holds numbers, not names", "name the columns in a header line")
    if not table.height:
        return None
    if table.holds_words(0):
        return 0
    values = table.numbers(0, "score")
    if values.max() > 1 and len(np.unique(values)) == len(values) and (values == np.rint(values)).all():
        raise table.wrong(
            f"column {names[0][:40]!r} may hold topics or scores", "name it topic, or put a column of topics before it"
        )
    return None


def _check_systems(table: SourceTable, systems: list[int], names: list[str]) -> None:
    if "" in names:
        raise table.wrong(f"column {systems[names.index('')] + 1} has no name", "name every system, or remove it")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise table.wrong(f"two columns are called {twice[:40]!r}", "give every system its own name")


# -- what both have ---------------------------------------------------------------------------------------


def _check_height(table: SourceTable) -> None:
    if not table.height:
        raise table.wrong("a header without rows below it", "give at least one row")


def _without_summaries(table: SourceTable, queries: Sequence[str]) -> tuple[NDArray[np.bool_], list[str]]:
    """Which rows are of topics, and a note about those that sum up the others."""
    topical = np.array([query.casefold() not in _SUMMARIES for query in queries])
    summaries = list(dict.fromkeys(query for query in queries if query.casefold() in _SUMMARIES))
    if not summaries:
        return topical, []
    if not topical.any():
        raise table.wrong(f"no topic besides {_several(summaries)}", "give the values of the topics, not their means")
    note = f"{_in(table)}left out as a summary of the other topics: {_several(summaries)} (rename it if it is a topic)"
    return topical, [note]


def _in(table: SourceTable) -> str:
    return "" if table.source is None else f"{table.source}: "


def _several(names: Iterable[str]) -> str:
    shown = list(names)
    rest = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(map(repr, shown[:_SHOWN])) + rest


# -- several tables ----------------------------------------------------------------------------------------


def _joined(tables: list[_ScoreTable]) -> Scores:
    """The tables side by side, on the runs and queries that all of them have."""
    notes = [note for table in tables for note in table.scores.notes]
    if tables[0].numbered:
        topics = len(tables[0].scores.queries)
        notes.append(f"{_several(t.name for t in tables)}: no column of topics, so they are the rows, 1 to {topics}")
    if len(tables) == 1:
        return replace(tables[0].scores, notes=tuple(notes))
    _check_measures(tables)
    _check_topics(tables)
    runs, strange_runs = _common("run", "runs", [(t.name, t.scores.runs) for t in tables])
    queries, strange_queries = _common("query", "queries", [(t.name, t.scores.queries) for t in tables])
    scores = Scores.from_array(
        np.concatenate([_cut(table.scores, runs, queries) for table in tables], axis=2),
        runs=runs,
        queries=queries,
        measures=[measure for table in tables for measure in table.scores.measures],
    )
    return replace(scores, notes=(*notes, *strange_runs, *strange_queries))


def _check_measures(tables: list[_ScoreTable]) -> None:
    """Refuse two tables of one measure: they may be from different years, and their values must not be mixed."""
    seen: dict[str, str] = {}
    for table in tables:
        for measure in map(str, table.scores.measures):
            if measure in seen:
                raise InputError(
                    f"{measure} is in {seen[measure]!r} and in {table.name!r}",
                    remedy="read tables of the same measure one by one, or name their measures: {measure: table, ...}",
                )
            seen[measure] = table.name


def _check_topics(tables: list[_ScoreTable]) -> None:
    """Refuse to match numbers of rows with anything but numbers of as many rows."""
    first = tables[0]
    for table in tables[1:]:
        if table.numbered != first.numbered:
            bare, named = (table, first) if table.numbered else (first, table)
            raise InputError(
                f"no column of topics, and there is one in {named.name!r}",
                source=bare.name,
                remedy="add a column called topic",
            )
        rows, expected = len(table.scores.queries), len(first.scores.queries)
        if table.numbered and rows != expected:
            raise InputError(
                f"{rows} row{'s' * (rows != 1)} without a column of topics, and {expected} in {first.name!r}",
                source=table.name,
                remedy="add a column called topic to both",
            )


def _common(noun: str, plural: str, named: list[tuple[str, tuple[str, ...]]]) -> tuple[list[str], list[str]]:
    """The runs or queries that every table has, in the order of the first, and notes about the others."""
    shared = set.intersection(*(set(names) for _, names in named))
    if not shared:
        raise InputError(
            f"{_several(table for table, _ in named)} have no {noun} in common",
            remedy=f"make the names match ({', '.join(repr(names[0]) for _, names in named[:2])}, …)",
        )
    notes = []
    for table, names in named:
        strange = [name for name in names if name not in shared]
        if strange:
            what = f"{len(strange)} {noun if len(strange) == 1 else plural}"
            notes.append(f"{table}: {what} left out because not in every table: {_several(strange)}")
    return [name for name in named[0][1] if name in shared], notes


def _cut(scores: Scores, runs: Sequence[str], queries: Sequence[str]) -> Floats:
    row = {run: i for i, run in enumerate(scores.runs)}
    column = {query: i for i, query in enumerate(scores.queries)}
    return scores.values[np.ix_([row[run] for run in runs], [column[query] for query in queries])]
