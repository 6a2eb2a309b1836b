"""Examples as tables: one row a document, with columns for query, document and label, and one a feature."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.python_values import is_missing
from ranksift.collection.examples import Examples, are_whole
from ranksift.collection.qrels import LARGEST_LABEL
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.column_names import find_column, has_column, is_number
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.errors import InputError, RankSiftWarning

if TYPE_CHECKING:
    import polars as pl

# A column that counts rows, as pandas and polars write it.
_UNNAMED = frozenset({"", "index", "unnamed: 0"})
_SHOWN = 5
_REMEDY = "write a number or nothing into every cell, or name the columns that are features"


@dataclass(frozen=True)
class Layout:
    """Which column of a table is which; ``leftover`` are told to be no features by their names."""

    query: int
    doc: int | None
    label: int | None
    features: tuple[int, ...]
    leftover: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str], *, source: str | None = None, line: int | None = None) -> Layout:
        """Find the columns by their names.

        Examples
        --------
        >>> Layout.of(["qid", "label", "bm25", "docid", "docno", "score"])
        Layout(query=0, doc=4, label=1, features=(2, 5), leftover=(3,))
        """

        def find(role: str) -> int | None:
            return find_column(names, role, source=source, line=line) if has_column(names, role) else None

        query = find_column(names, "query", source=source, line=line)
        doc, label = find("document"), find("grade")
        others = [c for c in range(len(names)) if c not in (query, doc, label)]
        leftover = [
            c
            for c in others
            if names[c].casefold() in _UNNAMED
            or any(has_column([names[c]], role) for role in ("query", "document", "grade"))
        ]
        return cls(query, doc, label, tuple(c for c in others if c not in leftover), tuple(leftover))


def read_example_table(source: Any, features: Sequence[str] | None = None) -> Examples:
    """Read a table; ``features`` are the columns to take, by default all others that hold numbers."""
    table = read_source_table(source)
    name = table.source or "examples"
    layout = Layout.of(table.names, source=table.source, line=table.line)
    if not table.height:
        raise table.wrong("no row in this table", "give one row a document")
    chosen = layout.features if features is None else _columns(table, layout, features)
    matrix, kept = _matrix(table, chosen, skip=features is None)
    if features is None:
        _tell(table, source, [*layout.leftover, *(c for c in chosen if c not in kept)])
    queries = Ids.from_strings(table.ids(layout.query, "query"))
    number, first = queries.factorize()
    return Examples.from_rows(
        matrix,
        np.full(table.height, np.nan) if layout.label is None else _labels(table, layout.label),
        number,
        queries.take(first).tolist(),
        docs=None if layout.doc is None else table.ids(layout.doc, "document"),
        feature_names=tuple(table.names[c] for c in kept),
        name=name,
    )


def _labels(table: SourceTable, column: int) -> Floats:
    labels: Floats = table.numbers(column, "label", gaps=True)
    large = np.abs(labels) >= LARGEST_LABEL
    if large.any():
        row = int(large.argmax())
        raise table.fail(row, f"label {labels[row]:g} is too large to be kept exactly", "use labels below 9e15")
    return labels


def _columns(table: SourceTable, layout: Layout, features: Sequence[str]) -> tuple[int, ...]:
    """Positions of the columns that are asked for."""
    roles = {table.names[c] for c in (layout.query, layout.doc, layout.label) if c is not None}
    for name in features:
        if name not in table.names:
            raise table.wrong(f"no column {name[:40]!r}", f"it has {_listed(table.names)}")
        if name in roles:
            raise table.wrong(f"column {name[:40]!r} is the query, the document or the label", "name features only")
    return tuple(table.names.index(name) for name in features)


def _matrix(table: SourceTable, columns: Sequence[int], *, skip: bool) -> tuple[Floats, tuple[int, ...]]:
    """Documents × features, and the columns that are features: those without any number are skipped, if allowed."""
    names = [table.names[c] for c in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise table.wrong(f"two features are called {twice[:40]!r}", "rename one of them")
    found: dict[int, Floats] = {}
    for c in columns:
        try:
            found[c] = table.numbers(c, "value", gaps=True, remedy=_REMEDY)
        except InputError:
            if not skip or _holds_numbers(table, c):
                raise
    if not found:
        raise table.wrong(f"no feature among {_listed(table.names)}", "give one column of numbers at least")
    return np.column_stack(list(found.values())), tuple(found)


def _holds_numbers(table: SourceTable, column: int) -> bool:
    known = (cell for cell in table.cells.objects(column) if not is_missing(cell) and cell not in ("nan", "NaN"))
    return any(is_number(cell) if isinstance(cell, str) else isinstance(cell, Number) for cell in known)


def _tell(table: SourceTable, source: Any, columns: Sequence[int]) -> None:
    """Warn of columns that are no features."""
    # An index without a name is no column to those who use pandas.
    pandas = sys.modules.get("pandas")
    index = pandas is not None and isinstance(source, pandas.DataFrame)
    names = [table.names[c] for c in columns if table.names[c] or not index]
    if names:
        place = f"{table.source}: " if table.source else ""
        several = len(names) > 1
        warnings.warn(
            f"{place}column{'s' * several} {_listed(names)} {'are' if several else 'is'} left out: no feature by "
            f"{'their' if several else 'its'} name, or without numbers",
            RankSiftWarning,
            stacklevel=4,
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name[:40]) for name in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)


def frame_of(examples: Examples) -> pl.DataFrame:
    """A polars frame of examples in the order in which they were given: query_id, doc_id, label, and the features."""
    import polars as pl

    names = ["query_id", "doc_id", "label", *examples.feature_names]
    if Layout.of(names).features != tuple(range(3, len(names))) or [n.strip() for n in names] != names:
        raise InputError(
            "the name of a feature would be read as that of another column, or not as it is", remedy="rename features"
        )
    order = np.argsort(examples.row, kind="stable")
    labels = pl.Series("label", examples.labels[order], nan_to_null=True)
    if are_whole(examples.labels[examples.judged]):
        labels = labels.cast(pl.Int64)
    return pl.DataFrame(
        [
            pl.Series("query_id", examples.query_ids, dtype=pl.String).gather(examples.query[order]),
            pl.Series("doc_id", examples.docs, dtype=pl.String).gather(order),
            labels,
            *(
                pl.Series(name, values, nan_to_null=True)
                for name, values in zip(examples.feature_names, examples.features[order].T, strict=True)
            ),
        ]
    )
