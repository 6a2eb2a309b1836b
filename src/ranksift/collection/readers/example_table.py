"""Examples as tables: one row per document, with columns for query, document and label, and one per feature."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.decimals import parse_token
from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.python_values import is_missing
from ranksift.collection.examples import Examples, are_whole
from ranksift.collection.qrels import LARGEST_LABEL
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.column_names import find_column, find_if_any, has_column, is_number
from ranksift.collection.readers.letor import is_letor
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.collection.texts import CONTEXT, ONE_TEXT, contradictions, gathered, names_of, texts_of, times_of
from ranksift.errors import InputError, RankSiftWarning

if TYPE_CHECKING:
    import polars as pl

# A column that counts rows, as pandas and polars write it.
_UNNAMED = frozenset({"", "index", "unnamed: 0"})
_SHOWN = 5
_TOLD = 3  # bad rows that a note quotes
_MANY = 1000
_REMEDY = "write a number or nothing into every cell, or name the columns that are features"
_LABEL = "write a number or nothing, or give each word a label: labels={'good': 2, 'bad': -1}"
_MISSING = ("", "null", "nan", "na")


@dataclass(frozen=True)
class TextColumns:
    """Which columns of a table hold texts, and what is known of documents besides."""

    query: int
    doc: int
    context: Mapping[str, int]

    @property
    def all(self) -> frozenset[int]:
        """The positions of them all."""
        return frozenset((self.query, self.doc, *self.context.values()))


@dataclass(frozen=True)
class Layout:
    """Which column of a table is which; ``leftover`` are recognised by their names as not being features."""

    query: int | None
    doc: int | None
    label: int | None
    features: tuple[int, ...]
    leftover: tuple[int, ...]
    texts: TextColumns | None = None

    @classmethod
    def of(cls, names: Sequence[str], *, source: str | None = None, line: int | None = None) -> Layout:
        """Find the columns of a table without texts by their names.

        Examples
        --------
        >>> Layout.of(["qid", "label", "bm25", "docid", "docno", "score"])
        Layout(query=0, doc=4, label=1, features=(2, 5), leftover=(3,), texts=None)
        """
        find = partial(find_if_any, names, source=source, line=line)
        query = find_column(names, "query", source=source, line=line)
        return cls._around(names, query, find("document"), find("grade"), None)

    @classmethod
    def with_texts(
        cls, names: Sequence[str], *, sure: bool = True, source: str | None = None, line: int | None = None
    ) -> Layout | None:
        """Find the columns of a table with texts; None if it has none.

        ``query``, ``doc`` and ``document`` are texts where other columns are the ids, or if nothing else could be
        meant, which only the caller knows: ``sure=False``.

        Examples
        --------
        >>> names = ["query_id", "query", "doc_id", "doc", "label", "bm25", "author"]
        >>> Layout.with_texts(names).texts
        TextColumns(query=1, doc=3, context={'author': 6})
        >>> Layout.with_texts(["query", "doc", "label"]), Layout.with_texts(["query", "doc"], sure=False).texts.doc
        (None, 1)
        """
        find = partial(find_if_any, names, source=source, line=line)
        found: list[tuple[int | None, int | None]] = []
        for noun in ("query", "document"):
            named, text = find(f"{noun} id"), find(f"{noun} words")
            if named is not None:
                found.append((named, find(f"{noun} text")))
            elif text is not None:
                found.append((find(noun), text))
            else:
                found.append((None, None if sure else find(f"{noun} text")))
        (query, asked), (doc, said) = found
        if asked is None or said is None:
            return None
        context = {role: where for role in CONTEXT if (where := find(role)) is not None}
        return cls._around(names, query, doc, find("grade"), TextColumns(asked, said, context))

    @classmethod
    def _around(
        cls, names: Sequence[str], query: int | None, doc: int | None, label: int | None, texts: TextColumns | None
    ) -> Layout:
        """Tell what the other columns are."""
        taken = {query, doc, label, *(texts.all if texts else ())}
        others = [c for c in range(len(names)) if c not in taken]
        roles = ["query", "document", "grade"]
        if texts:
            roles += ["query id", "query text", "document id", "document text", *CONTEXT]
        leftover = [
            c for c in others if names[c].casefold() in _UNNAMED or any(has_column([names[c]], role) for role in roles)
        ]
        return cls(query, doc, label, tuple(c for c in others if c not in leftover), tuple(leftover), texts)


def read_example_table(
    source: Any,
    features: Sequence[str] | None = None,
    labels: Mapping[str, float] | None = None,
    *,
    skip_bad_rows: bool = False,
) -> Examples:
    """Read a table; ``features`` are the columns to take, by default all others that hold numbers."""
    bad: list[InputError] = []
    table = read_source_table(source, bad if skip_bad_rows else None)
    if bad and not table.height:
        raise bad[0]
    layout = _layout(table, features)
    if not table.height:
        raise table.wrong("no row in this table", "give one row per document")
    chosen = layout.features if features is None else _columns(table, layout, features)
    kept = _features(table, layout, chosen, asked=features is not None, most=skip_bad_rows)
    if features is None:
        _tell(table, source, [*layout.leftover, *(c for c in chosen if c not in kept)])
    reader = _Reader(layout, kept, labels)
    if skip_bad_rows:
        height = table.height + len(bad)
        table = _readable(table, reader.read, bad)
        if layout.texts:
            table = _consistent(table, reader.read(table), bad)
        _tell_of_bad(table, bad, height)
    try:
        return reader.read(table).examples(table, tuple(table.names[c] for c in kept))
    except InputError:
        if layout.texts:  # name the first bad row of all, not that of the first bad column
            _readable(table, reader.read, None)
        raise


def _layout(table: SourceTable, features: Sequence[str] | None) -> Layout:
    """What the columns are: texts where their names say so, or where the table has nothing else to learn from."""
    place = {"source": table.source, "line": table.line}
    told = Layout.with_texts(table.names, **place)  # type: ignore[arg-type]
    if told and told.texts and not any(_are_numbers(table, c) for c in (told.texts.query, told.texts.doc)):
        return told
    perhaps = Layout.with_texts(table.names, sure=False, **place)  # type: ignore[arg-type]
    if perhaps and not features and not any(_has_a_number(table, c) for c in perhaps.features):
        return perhaps
    return Layout.of(table.names, **place)  # type: ignore[arg-type]


def _has_a_number(table: SourceTable, column: int) -> bool:
    try:
        return not np.isnan(table.numbers(column, "value", gaps=True)).all()
    except InputError:
        return _holds_numbers(table, column)


def _are_numbers(table: SourceTable, column: int) -> bool:
    """Whether a column that is called a text holds numbers only: a feature, as it was before there were texts."""
    could_be = any(has_column([table.names[column]], role) for role in ("query words", "document words"))
    return could_be and table.holds_numbers_only(column)


@dataclass(frozen=True)
class _Rows:
    """What some rows of a table say, row by row."""

    layout: Layout
    queries: list[str]
    docs: list[str] | None
    labels: Floats
    features: Floats
    texts: tuple[list[str], list[str]] | None
    context: Mapping[str, Any]

    def examples(self, table: SourceTable, names: tuple[str, ...]) -> Examples:
        """Bring the rows of each query together."""
        queries = Ids.from_strings(self.queries)
        number, first = queries.factorize()
        return Examples.from_rows(
            self.features,
            self.labels,
            number,
            queries.take(first).tolist(),
            docs=self.docs,
            feature_names=names,
            name=table.source or "examples",
            texts=self.texts and gathered(*self.texts, self.queries, table.fail, **self.context),
        )


@dataclass(frozen=True)
class _Reader:
    """Reads rows of a table: what one row says depends on no other."""

    layout: Layout
    features: tuple[int, ...]
    words: Mapping[str, float] | None

    def read(self, table: SourceTable) -> _Rows:
        """Read all rows of a table; the first that is bad is refused."""
        layout, texts = self.layout, None
        if layout.texts:
            texts = tuple(
                texts_of(table.cells.objects(c), noun, table.fail)
                for c, noun in ((layout.texts.query, "query"), (layout.texts.doc, "document"))
            )
        return _Rows(
            layout,
            _numbered(texts[0]) if layout.query is None and texts else table.ids(layout.query or 0, "query"),
            None if layout.doc is None else table.ids(layout.doc, "document"),
            np.full(table.height, np.nan) if layout.label is None else self._labels(table, layout.label),
            self._matrix(table),
            texts,  # type: ignore[arg-type]
            {}
            if layout.texts is None
            else {role: _context(table, role, c) for role, c in layout.texts.context.items()},
        )

    def _matrix(self, table: SourceTable) -> Floats:
        found = [table.numbers(c, "value", gaps=True, remedy=_REMEDY) for c in self.features]
        return np.column_stack(found) if found else np.empty((table.height, 0))

    def _labels(self, table: SourceTable, column: int) -> Floats:
        if self.words is None:
            labels: Floats = table.numbers(column, "label", gaps=True, remedy=_LABEL)
        else:
            cells = enumerate(table.cells.objects(column))
            labels = np.array([self._worth(cell, row, table) for row, cell in cells], dtype=np.float64)
        large = np.abs(labels) >= LARGEST_LABEL
        if large.any():
            row = int(large.argmax())
            raise table.fail(row, f"label {labels[row]:g} is too large to be kept exactly", "use labels below 9e15")
        return labels

    def _worth(self, cell: object, row: int, table: SourceTable) -> float:
        """The label that a word stands for; a number stands for itself."""
        word = "" if is_missing(cell) else str(cell).strip()
        if self.words and word in self.words:
            return float(self.words[word])
        if word.casefold() in _MISSING:
            return np.nan
        number = parse_token(word.encode(errors="replace"))
        if number is None or not np.isfinite(number):
            raise table.fail(row, f"no label for the word {word[:40]!r}", "name a label for each word")
        return number


def _numbered(texts: Sequence[str]) -> list[str]:
    """Queries without ids are q1, q2, …; the same text is the same query."""
    numbers = {text: f"q{number}" for number, text in enumerate(dict.fromkeys(texts), 1)}
    return [numbers[text] for text in texts]


def _context(table: SourceTable, role: str, column: int) -> Any:
    if role == "position":
        return table.numbers(column, role, gaps=True, remedy="write a number or nothing")
    cells = table.cells.objects(column)
    return times_of(cells, table.fail) if role == "time" else names_of(cells, role, table.fail)


def _readable(table: SourceTable, read: Callable[[SourceTable], object], bad: list[InputError] | None) -> SourceTable:
    """The rows that can be read; errors in others are reported in ``bad``, or the first of them is refused.

    Columns are read whole, and a column stops at its first bad row. Halving finds them all, in the order of the table,
    at the price of one read if there is none. If most rows are bad, so is the table: the rest of it is of no use.
    """
    good: list[NDArray[np.int64]] = []
    waiting = [np.arange(table.height)]
    while waiting:
        rows = waiting.pop()
        try:
            read(table.take(rows))
        except InputError as error:
            if len(rows) > 1:
                waiting += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
            elif bad is None:
                raise
            else:
                bad.append(error)
                if len(bad) > max(_MANY, sum(map(len, good))):
                    raise _first_of(bad) from None
        else:
            good.append(rows)
    if not good and bad:
        raise _first_of(bad)
    return table if bad is None else table.take(np.concatenate(good))


def _consistent(table: SourceTable, rows: _Rows, bad: list[InputError]) -> SourceTable:
    """The rows that do not contradict an earlier one of their query."""
    assert rows.texts is not None
    against = contradictions(rows.texts[0], rows.queries, rows.context.get("asker"))
    bad += [table.fail(row, what, ONE_TEXT) for row, what in against.items()]
    return table.take(np.array([row for row in range(table.height) if row not in against], dtype=np.int64))


def _first_of(bad: Sequence[InputError]) -> InputError:
    return min(bad, key=_line)


def _line(error: InputError) -> int:
    return error.line or 0  # rows of a frame have none, and come in their order


def _tell_of_bad(table: SourceTable, bad: Sequence[InputError], height: int) -> None:
    """Warn of rows that are left out, and quote some."""
    if not bad:
        return
    place = f"{table.source}:" if table.source else ""
    told = [str(error).partition("; ")[0] for error in sorted(bad, key=_line)[:_TOLD]]
    told = [f"line {one.removeprefix(place)}" if place and one.startswith(place) else one for one in told]
    several = len(bad) > 1
    warnings.warn(
        f"{place + ' ' if place else ''}{len(bad):,} bad row{'s' * several} of {height:,} {'are' if several else 'is'} "
        f"left out: {'; '.join(told)}{'; …' * (len(bad) > _TOLD)}",
        RankSiftWarning,
        stacklevel=4,
    )


def _columns(table: SourceTable, layout: Layout, features: Sequence[str]) -> tuple[int, ...]:
    """Positions of the columns that are asked for."""
    texts = (layout.texts.query, layout.texts.doc) if layout.texts else ()
    roles = {table.names[c] for c in (layout.query, layout.doc, layout.label, *texts) if c is not None}
    for name in features:
        if name not in table.names:
            raise table.wrong(f"no column {name[:40]!r}", f"it has {_listed(table.names)}")
        if name in roles:
            raise table.wrong(f"column {name[:40]!r} is the query, the document or the label", "name features only")
    return tuple(table.names.index(name) for name in features)


def _features(
    table: SourceTable, layout: Layout, columns: Sequence[int], *, asked: bool, most: bool
) -> tuple[int, ...]:
    """The columns that are features: those that are asked for, else those that hold a number (or most of which do)."""
    names = [table.names[c] for c in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise table.wrong(f"two features are called {twice[:40]!r}", "rename one of them")
    found = tuple(columns) if asked else tuple(c for c in columns if _is_feature(table, c, most))
    if not found and layout.texts is None:
        if asked:  # features are asked for, and none are: texts are wanted
            raise table.wrong(f"no texts among {_listed(table.names)}", "give columns query and doc")
        raise table.wrong(f"no feature among {_listed(table.names)}", "give at least one column of numbers")
    return found


def _is_feature(table: SourceTable, column: int, most: bool) -> bool:
    try:
        table.numbers(column, "value", gaps=True)
    except InputError:
        return _holds_numbers(table, column, most=most)
    return True


def _holds_numbers(table: SourceTable, column: int, *, most: bool = False) -> bool:
    """Whether a column has a number; or ``most`` of what it has are numbers."""
    known = (cell for cell in table.cells.objects(column) if not is_missing(cell) and cell not in ("nan", "NaN"))
    are = (is_number(cell) if isinstance(cell, str) else isinstance(cell, Number) for cell in known)
    return sum(1 if number else -1 for number in are) > 0 if most else any(are)


def _tell(table: SourceTable, source: Any, columns: Sequence[int]) -> None:
    """Warn of columns that are not features."""
    # Users of pandas do not see an index without a name as a column.
    pandas = sys.modules.get("pandas")
    index = pandas is not None and isinstance(source, pandas.DataFrame)
    names = [table.names[c] for c in columns if table.names[c] or not index]
    if names:
        place = f"{table.source}: " if table.source else ""
        several = len(names) > 1
        warnings.warn(
            f"{place}column{'s' * several} {_listed(names)} {'are' if several else 'is'} left out: "
            f"{'not features by their names' if several else 'not a feature by its name'}, or without numbers",
            RankSiftWarning,
            stacklevel=4,
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name[:40]) for name in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)


def column_by_query(source: Any, column: str, examples: Examples) -> dict[str, str]:
    """What a column of the table from which examples were read says of each query; the rows of a query must agree.

    Examples
    --------
    >>> import polars as pl
    >>> from ranksift import read_examples
    >>> table = pl.DataFrame({"qid": [1, 1, 2], "bm25": [0.5, 0.1, 0.2], "year": [2009, 2009, 2010]})
    >>> column_by_query(table, "year", read_examples(table))
    {'1': '2009', '2': '2010'}
    """
    if isinstance(source, str | os.PathLike) and is_letor(source):
        what = f"LETOR's format has no column {column!r}"
        raise InputError(what, source=os.fspath(source), remedy="give a .csv, .tsv, .jsonl or .parquet file")
    table = read_source_table(source, [])  # bad lines are of no query
    if column not in table.names:
        raise table.wrong(f"no column {column[:40]!r}", f"it has {_listed(table.names)}")
    layout = _layout(table, None)
    # If queries have no ids, their texts distinguish them.
    by_text = layout.query is None and layout.texts is not None and examples.texts is not None
    queries = table.cells.objects(layout.texts.query if by_text and layout.texts else layout.query or 0)
    found: dict[str, str] = {}
    for row, (query, cell) in enumerate(zip(queries, table.cells.objects(table.names.index(column)), strict=True)):
        value = "" if is_missing(cell) else str(cell).strip()
        if value and not is_missing(query) and found.setdefault(str(query), value) != value:
            what = f"column {column[:40]!r}: query {str(query)[:40]!r} had {found[str(query)][:40]!r} before"
            raise table.fail(row, what, "give all rows of a query the same")
    keys = examples.texts.queries if by_text and examples.texts else examples.query_ids
    return {query: found[key] for query, key in zip(examples.query_ids, keys, strict=True) if key in found}


def frame_of(examples: Examples) -> pl.DataFrame:
    """A polars frame of examples in the order in which they were given: query_id, doc_id, label, and the features.

    With texts: query_id, query, doc_id, doc, label, the features, and what else is known about the documents.
    """
    import polars as pl

    order = np.argsort(examples.row, kind="stable")
    query = examples.query[order]
    labels = pl.Series("label", examples.labels[order], nan_to_null=True)
    if are_whole(examples.labels[examples.judged]):
        labels = labels.cast(pl.Int64)
    columns = [
        pl.Series("query_id", examples.query_ids, dtype=pl.String).gather(query),
        pl.Series("doc_id", examples.docs, dtype=pl.String).gather(order),
        labels,
        *(
            pl.Series(name, values, nan_to_null=True)
            for name, values in zip(examples.feature_names, examples.features[order].T, strict=True)
        ),
    ]
    if examples.texts is not None:
        columns.insert(1, pl.Series("query", examples.texts.queries, dtype=pl.String).gather(query))
        columns.insert(3, pl.Series("doc", examples.texts.docs, dtype=pl.String).gather(order))
        for name in examples.texts.known():
            values: Any = getattr(examples.texts, name)
            numbers = isinstance(values, np.ndarray)
            series = pl.Series(name, values, nan_to_null=True) if numbers else pl.Series(name, values, dtype=pl.String)
            if numbers and are_whole(values[~np.isnan(values)]):
                series = series.cast(pl.Int64)
            columns.append(series.gather(query if name == "asker" else order))
    _check_names([column.name for column in columns], examples)
    return pl.DataFrame(columns)


def _check_names(names: list[str], examples: Examples) -> None:
    """Refuse features whose names would be read as something else."""
    first = 3 if examples.texts is None else 5
    found = Layout.of(names) if examples.texts is None else Layout.with_texts(names)
    own = tuple(range(first, first + len(examples.feature_names)))
    if found is None or found.features != own or [name.strip() for name in names] != names:
        raise InputError(
            "the name of a feature would be read as that of another column, or would be changed",
            remedy="rename features",
        )
