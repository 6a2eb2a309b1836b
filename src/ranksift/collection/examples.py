"""What rankers learn from: the documents of each query with their features and labels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection import ragged
from ranksift.collection._engine.grouping import Grouped, by_rank, without_duplicates
from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.python_values import Fail, ids_of, is_missing
from ranksift.collection.qrels import LARGEST_LABEL, Qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers.formats import TABLES, kind
from ranksift.collection.run import Run
from ranksift.collection.texts import CONTEXT, Texts, gathered, texts_of
from ranksift.collection.texts import together as texts_together
from ranksift.errors import InputError, warn_renamed
from ranksift.files import STANDARD
from ranksift.parameters import flag, integer, is_number

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Examples:
    """Documents query after query, each with a row of features. Immutable; made by :func:`read_examples`.

    Attributes
    ----------
    query_ids
        The queries, in order of appearance.
    offsets
        Query i owns the documents ``offsets[i]`` to ``offsets[i + 1]``.
    features
        Documents × features; NaN if a value is missing.
    labels
        One label per document; NaN if it is unjudged.
    docs
        Ids of the documents.
    feature_names
        One name per feature.
    row
        The position of each document in the input, where the documents of a query need not be adjacent.
    texts
        The texts of queries and documents, if known; there may then be no features.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.4]], [0, 2, 1], ["q", "r", "q"])
    >>> examples
    <Examples: 3 documents, 2 queries, 1 feature>
    >>> examples.labels.tolist(), examples.row.tolist()
    ([0.0, 1.0, 2.0], [0, 2, 1])
    """

    query_ids: tuple[str, ...]
    offsets: Ints
    features: NDArray[np.float64]
    labels: Floats
    docs: tuple[str, ...]
    feature_names: tuple[str, ...]
    row: Ints
    name: str = field(default="examples")
    texts: Texts | None = None

    @classmethod
    def from_arrays(
        cls,
        features: ArrayLike,
        labels: ArrayLike | None,
        groups: ArrayLike,
        *,
        docs: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        name: str = "examples",
    ) -> Examples:
        """Take one document per row; the rows of a query need not be adjacent.

        Parameters
        ----------
        features
            Documents × features; NaN if a value is missing.
        labels
            One label per document; NaN or None if it is unjudged. None: all documents are unjudged.
        groups
            The query of each document.
        docs
            Ids of the documents (default: d1, d2, … in each query).
        feature_names
            Default: 1, 2, 3, …, as in LETOR files.
        """
        try:
            matrix = np.asarray(features, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("a feature is not a number", remedy="give documents × features as numbers") from None
        if matrix.ndim != 2:
            raise InputError(f"features of {matrix.ndim} dimensions", remedy="give documents × features")
        n = len(matrix)
        try:
            label = np.full(n, np.nan) if labels is None else np.asarray(labels, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("a label is not a number", remedy="give numbers, or None for unjudged documents") from None
        group = np.asarray(groups)
        if label.shape != (n,) or group.shape != (n,):
            raise InputError(
                f"{n} rows of features, {label.size} labels and {group.size} groups",
                remedy="give one of each for every document",
            )
        if np.isinf(matrix).any():
            r, f = np.argwhere(np.isinf(matrix))[0]
            raise InputError(f"feature {f + 1} of row {r + 1} is infinite", remedy="give a finite value, or NaN")
        if np.isinf(label).any():
            raise InputError(
                f"label of row {int(np.isinf(label).argmax()) + 1} is infinite", remedy="give a finite one"
            )
        large = np.abs(label) >= LARGEST_LABEL
        if large.any():
            what = f"label of row {int(large.argmax()) + 1} is too large to be kept exactly"
            raise InputError(what, remedy="use labels below 9e15")
        width = matrix.shape[1]
        names = _distinct(range(1, width + 1) if feature_names is None else feature_names)
        if len(names) != width:
            raise InputError(f"{len(names)} names of {width} features", remedy="name every feature once")
        if docs is not None and len(docs) != n:
            raise InputError(f"{len(docs)} documents of {n} rows", remedy="name every document")

        def fail(row: int, what: str, remedy: str) -> InputError:
            return InputError(f"row {row + 1}: {what}", remedy=remedy)

        # A group may be any number, also a float.
        queries = ids_of([g if is_missing(g) else str(g) for g in group.tolist()], "query", fail)
        query, first = queries.factorize()
        return cls.from_rows(
            matrix,
            label,
            query,
            queries.take(first).tolist(),
            docs=None if docs is None else ids_of(docs, "document", fail).tolist(),
            feature_names=names,
            name=name,
        )

    @classmethod
    def from_texts(
        cls,
        queries: Sequence[str] | Mapping[Any, str],
        docs: Sequence[str],
        labels: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        *,
        features: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        doc_ids: Sequence[str] | None = None,
        position: Sequence[float | None] | Floats | None = None,
        author: Sequence[str | None] | None = None,
        time: Sequence[str | float | None] | Floats | None = None,
        parent: Sequence[str | None] | None = None,
        asker: Sequence[str | None] | Mapping[Any, str | None] | None = None,
        name: str = "examples",
    ) -> Examples:
        """Take one document per row, as text; the rows of a query need not be adjacent.

        Parameters
        ----------
        queries
            The text of the query of each document; or of each group, as a dictionary.
        docs
            The text of each document.
        labels
            As in :meth:`from_arrays`.
        groups
            The query of each document, by its id. Default: the same text is the same query, and they are q1, q2, …
        features, feature_names
            As in :meth:`from_arrays`. Default: there are none.
        doc_ids
            Default: d1, d2, … in each query.
        position, author, time, parent
            What else is known about each document (:class:`Texts`).
        asker
            The author of the query of each document; or of each group, as a dictionary.

        Examples
        --------
        >>> examples = Examples.from_texts(["A car?"] * 2, ["Try Oasis", "Me too"], [2, -1], author=["ann", "bob"])
        >>> examples
        <Examples: 2 documents, 1 query, 0 features, with texts>
        >>> examples.texts.queries, examples.texts.docs, examples.texts.author
        (('A car?',), ('Try Oasis', 'Me too'), ('ann', 'bob'))
        """

        def fail(row: int, what: str, remedy: str) -> InputError:
            return InputError(f"row {row + 1}: {what}", remedy=remedy)

        docs = _one_by_one(docs, "texts of documents")
        count = len(docs)
        group = None if groups is None else _one_by_one(groups, "groups")
        if isinstance(queries, Mapping):
            queries = _of_groups(queries, group, "text", fail)
        if isinstance(asker, Mapping):
            asker = _of_groups({key: asker.get(key) for key in dict.fromkeys(group or ())}, group, "asker", fail)
        given = {"position": position, "author": author, "time": time, "parent": parent, "asker": asker}
        given |= {"texts of queries": queries, "document ids": doc_ids, "groups": group}
        columns = {what: None if some is None else _one_by_one(some, what) for what, some in given.items()}
        for what, column in columns.items():
            if column is not None and len(column) != count:
                raise InputError(f"{count} texts of documents, and {len(column)} of {what}", remedy="give one per row")
        context = {name: columns[name] for name in CONTEXT}
        words = texts_of(columns["texts of queries"] or (), "query", fail)
        if group is None:
            numbers = {text: f"q{number}" for number, text in enumerate(dict.fromkeys(words), 1)}
            group = [numbers[text] for text in words]
        found = cls.from_arrays(
            np.empty((count, 0)) if features is None else features,
            labels,
            group,
            docs=columns["document ids"],
            feature_names=feature_names,
            name=name,
        )
        ids = [found.query_ids[i] for i in found.query[np.argsort(found.row, kind="stable")].tolist()]
        texts = gathered(words, texts_of(docs, "document", fail), ids, fail, **context)
        return replace(found, texts=texts.of_rows(found.row))

    @classmethod
    def of_arrays(cls, *arrays: Any, **options: Any) -> Examples:
        """An old spelling of :meth:`from_arrays`."""
        warn_renamed("Examples.of_arrays", "Examples.from_arrays")
        return cls.from_arrays(*arrays, **options)

    @classmethod
    def from_rows(
        cls,
        features: NDArray[np.float64],
        labels: Floats,
        query: Ints,
        query_ids: Sequence[str],
        *,
        docs: Sequence[str | None] | None,
        feature_names: tuple[str, ...],
        name: str,
        texts: Texts | None = None,
    ) -> Examples:
        """Bring checked rows together by the numbers of their queries.

        A document without a name becomes d1, d2, … of its query. Texts of documents are also given row by row.
        """
        count = len(query_ids)
        offsets = ragged.offsets_of(np.bincount(query, minlength=count))
        order = np.arange(len(query))
        if (query[1:] < query[:-1]).any():
            order = ragged.order_by(query, count)
            features, labels = features[order], labels[order]
            texts = None if texts is None else texts.of_rows(order)
        ids = usual_docs(np.diff(offsets))
        if docs is not None:
            given = map(docs.__getitem__, order.tolist())
            ids = tuple(own if doc is None else doc for doc, own in zip(given, ids, strict=True))
        return cls(tuple(query_ids), offsets, features, labels, ids, feature_names, order, name, texts)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def lengths(self) -> Ints:
        """Documents of each query."""
        return np.diff(self.offsets)

    @cached_property
    def query(self) -> Ints:
        """The query of each document, by its number."""
        return np.repeat(np.arange(len(self.query_ids)), self.lengths)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which documents have a label."""
        return ~np.isnan(self.labels)

    def first_of(self, query: str) -> int:
        """Which of the examples, counted from 1 as they were given, is the first one of a query."""
        i = self.query_ids.index(query)
        return int(self.row[self.offsets[i] : self.offsets[i + 1]].min()) + 1

    def of_queries(self, chosen: Sequence[int] | Ints) -> Examples:
        """Some of the queries, by their numbers, in this order."""
        numbers = np.asarray(chosen, dtype=np.int64)
        rows, offsets = ragged.take(self.offsets, numbers)
        return replace(
            self,
            query_ids=tuple(self.query_ids[i] for i in numbers.tolist()),
            offsets=offsets,
            features=self.features[rows],
            labels=self.labels[rows],
            docs=tuple(self.docs[i] for i in rows.tolist()),
            row=np.arange(len(rows)),
            texts=None if self.texts is None else self.texts.of_queries(numbers, rows),
        )

    def judged_only(self) -> Examples:
        """The same without unjudged documents."""
        known = self.judged
        if known.all():
            return self
        rows = np.flatnonzero(known)
        return replace(
            self,
            offsets=ragged.offsets_of(np.bincount(self.query[rows], minlength=len(self.query_ids))),
            features=self.features[rows],
            labels=self.labels[rows],
            docs=tuple(self.docs[i] for i in rows.tolist()),
            row=np.arange(len(rows)),
            texts=None if self.texts is None else self.texts.of_rows(rows),
        )

    def with_features(self, features: NDArray[np.float64]) -> Examples:
        """The same documents with other values of the same features."""
        return replace(self, features=features)

    def of_features(self, names: Iterable[object]) -> Examples:
        """The same documents with some of their features, in this order."""
        where = {name: i for i, name in enumerate(self.feature_names)}
        wanted = _distinct(names)
        missing = next((name for name in wanted if name not in where), None)
        if missing is not None:
            known = ", ".join(self.feature_names[:8]) + ", …" * (len(where) > 8)
            raise InputError(f"there is no feature {missing!r}", source=self.name, remedy=f"choose among {known}")
        return replace(self, features=self.features[:, [where[name] for name in wanted]], feature_names=wanted)

    def padded(self, names: Iterable[object]) -> Examples:
        """The same documents with these features, in this order; features that they do not have are 0.

        >>> Examples.from_arrays([[1.0, 2.0]], None, ["q"]).padded([2, 3]).features.tolist()
        [[2.0, 0.0]]
        """
        wanted, where = _distinct(names), {name: i for i, name in enumerate(self.feature_names)}
        values = np.zeros((len(self), len(wanted)))
        for column, name in enumerate(wanted):
            if name in where:
                values[:, column] = self.features[:, where[name]]
        return replace(self, features=values, feature_names=wanted)

    def qrels(self) -> Qrels:
        """The labels, as judgments; a query without labels has none."""
        labels = self.labels[self.judged]
        found = self._grouped(np.flatnonzero(self.judged), labels)
        some = np.flatnonzero(np.diff(found.offsets))
        names = tuple(map(found.query_ids.__getitem__, some.tolist()))
        offsets = np.append(found.offsets[some], found.offsets[-1])
        return Qrels(replace(found, query_ids=names, offsets=offsets), are_whole(labels), self.name)

    def run(self, scores: ArrayLike, kept: NDArray[np.bool_] | None = None, name: str = "model") -> Run:
        """A run of documents by their scores, in the order of these examples; some may be left out.

        Examples
        --------
        >>> examples = Examples.from_arrays([[0.1], [0.9], [0.4]], None, ["q", "q", "r"])
        >>> examples.run([0.1, 0.9, 0.4], np.array([True, True, False])).to_dict()
        {'q': {'d2': 0.9, 'd1': 0.1}, 'r': {}}
        """
        values = np.asarray(scores, dtype=np.float64)
        if values.shape != (len(self),):
            raise InputError(f"{values.size} scores of {len(self)} documents", remedy="give every document a score")
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise InputError(f"the score of document {self.docs[row]!r} is not finite", remedy="give finite scores")
        rows = np.arange(len(self)) if kept is None else np.flatnonzero(kept)
        return Run(self._grouped(rows, values[rows], ranked=True), name)

    def _grouped(self, rows: Ints, values: Floats, *, ranked: bool = False) -> Grouped:
        """Some documents, each once for a query; a query may have none."""
        counts = np.bincount(self.query[rows], minlength=len(self.query_ids))
        answered = np.flatnonzero(counts)
        names = tuple(map(self.query_ids.__getitem__, answered.tolist()))
        docs = Ids.from_strings(map(self.docs.__getitem__, rows.tolist()))

        def fail(row: int, what: str, remedy: str) -> InputError:
            return InputError(f"example {self.row[rows[row]] + 1}: {what}", source=self.name, remedy=remedy)

        found = Grouped(names, ragged.offsets_of(counts[answered]), docs, values)
        without_duplicates(found, "error", fail, lambda *_: ("", "give each document of a query its own id"))
        if ranked:
            found = by_rank(found)
        return replace(found, query_ids=self.query_ids, offsets=ragged.offsets_of(counts))

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: query_id, doc_id, label, and one column per feature; null if a value is missing.

        With texts: query_id, query, doc_id, doc, label, the features, and what else is known about the documents.
        """
        from ranksift.collection.readers.example_table import frame_of

        return frame_of(self)

    def save(self, target: str | os.PathLike[str]) -> None:
        """Write to a file; the suffix determines the format: ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``, else LETOR.

        Documents are written in the order in which they were given.
        """
        from ranksift.collection.readers import letor
        from ranksift.collection.readers.formats import save_frame

        if os.fspath(target) == STANDARD or kind(target) not in TABLES:
            letor.write_letor(self, target)
        else:
            save_frame(self.to_frame(), target)

    def split(self, share: float = 0.8, seed: int = 0) -> tuple[Examples, Examples]:
        """Two parts, of this share of the queries and of the others, drawn by the seed; each keeps its order.

        Examples
        --------
        >>> examples = Examples.from_arrays(np.ones((10, 1)), range(10), range(10))
        >>> training, validation = examples.split(0.7, seed=1)
        >>> training, validation
        (<Examples: 7 documents, 7 queries, 1 feature>, <Examples: 3 documents, 3 queries, 1 feature>)
        """
        queries = len(self.query_ids)
        size = round(share * queries) if 0 < share < 1 else 0
        if not 0 < size < queries:
            raise InputError(
                f"a share of {share:g} of {queries} queries leaves a part empty",
                source=self.name,
                remedy="give a share between 0 and 1, and enough queries",
            )
        chosen = np.zeros(queries, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(queries)[:size]] = True
        return self.of_queries(np.flatnonzero(chosen)), self.of_queries(np.flatnonzero(~chosen))

    def folds(self, k: int = 5, seed: int = 0) -> list[tuple[Examples, Examples]]:
        """For each of k folds of the queries, drawn by the seed: the other folds, and this one.

        Examples
        --------
        >>> examples = Examples.from_arrays(np.ones((5, 1)), range(5), ["a", "a", "b", "c", "c"])
        >>> [held_out.query_ids for _, held_out in examples.folds(3)]
        [('c',), ('a',), ('b',)]
        """
        fold = folds_of(len(self.query_ids), k, seed)
        return [
            (self.of_queries(np.flatnonzero(fold != f)), self.of_queries(np.flatnonzero(fold == f))) for f in range(k)
        ]

    def __repr__(self) -> str:
        n, q, f = len(self), len(self.query_ids), len(self.feature_names)
        size = f"{n} document{'s' * (n != 1)}, {q} quer{'y' if q == 1 else 'ies'}, {f} feature{'s' * (f != 1)}"
        return f"<Examples: {size}{', with texts' * (self.texts is not None)}>"


class Fold(NamedTuple):
    """Examples for training, for early stopping and tuning, and for evaluation."""

    train: Examples
    validation: Examples | None
    test: Examples


def usual_docs(lengths: Ints) -> tuple[str, ...]:
    """The names of documents that have none.

    >>> usual_docs(np.array([2, 1]))
    ('d1', 'd2', 'd1')
    """
    names = [f"d{place}" for place in range(1, int(lengths.max(initial=0)) + 1)]
    return tuple(map(names.__getitem__, ragged.positions(lengths).tolist()))


def are_whole(numbers: Floats) -> bool:
    """Whether all numbers are integers that a float holds exactly.

    >>> are_whole(np.array([1.0, -2.0])), are_whole(np.array([0.5, 1.0]))
    (True, False)
    """
    return bool(((numbers == np.rint(numbers)) & (np.abs(numbers) < 2.0**53)).all())


def folds_of(queries: int, folds: int, seed: int) -> Ints:
    """The fold of each query, drawn by the seed."""
    integer().check("folds", folds, 5)
    integer(0).check("seed", seed, 0)
    if queries < 2:
        raise InputError("one query cannot be split into folds", remedy="give at least two")
    if not 2 <= folds <= queries:
        raise InputError(
            f"{folds} folds of {queries} queries", remedy="give at most as many folds as queries, and at least 2"
        )
    fold = np.empty(queries, dtype=np.int64)
    fold[np.random.default_rng(seed).permutation(queries)] = np.arange(queries) % folds
    return fold


def read_examples(
    source: Any,
    *,
    features: Iterable[object] | None = None,
    labels: Mapping[str, float] | None = None,
    skip_bad_rows: bool = False,
) -> Examples:
    """Read examples.

    Parameters
    ----------
    source
        A LETOR (SVMlight) file, plain, ``.gz`` or ``.zst``, or ``"-"`` for one from standard input; a ``.csv``,
        ``.tsv``, ``.jsonl`` or ``.parquet`` table, or a polars or pandas frame, with columns for the query, the label,
        optionally the document, and one per feature; or with texts: query_id, query, doc_id, doc, label, and optionally
        features, position, author, time, parent, asker; ``Examples``; or a list of any of these, which are
        combined. A feature that one of several LETOR files does not name is 0 there.
    features
        The features to use, in this order; others are left out. Names of columns, or indices of a LETOR file;
        an index that the file does not have is 0 for all documents. Default: every index up to the largest; every
        column of numbers but the query, the document and the label.
    labels
        The label for each word of a table: ``{"good": 2, "bad": -1}``. Numbers that are not named are not changed.
    skip_bad_rows
        Leave out rows of a table that cannot be read (an empty text, a word where a number belongs, a damaged line)
        with a warning. By default, the first such row is refused.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"qid": [1, 1, 2], "label": [2, None, -1], "bm25": [7.5, 3.1, 0.2]})
    >>> examples = read_examples(table)
    >>> examples, examples.feature_names, examples.labels.tolist()
    (<Examples: 3 documents, 2 queries, 1 feature>, ('bm25',), [2.0, nan, -1.0])
    >>> table = pl.DataFrame({"query_id": [1, 1], "query": ["A car?"] * 2, "doc": ["Oasis", "No"], "label": ["P", "F"]})
    >>> examples = read_examples(table, labels={"P": 2, "F": -1})
    >>> examples, examples.texts.docs, examples.labels.tolist()
    (<Examples: 2 documents, 1 query, 0 features, with texts>, ('Oasis', 'No'), [2.0, -1.0])
    """
    flag().check("skip_bad_rows", skip_bad_rows)
    wanted = None if features is None else _distinct(features)
    if isinstance(source, Examples):
        return source if wanted is None else source.of_features(wanted)
    from ranksift.collection.readers import example_table, letor

    if isinstance(source, np.ndarray):
        raise InputError(
            "an array does not say which query a row belongs to",
            remedy="use Examples.from_arrays(features, labels, queries)",
        )
    if isinstance(source, list | tuple):
        parts = [read_examples(one, features=wanted, labels=labels, skip_bad_rows=skip_bad_rows) for one in source]
        if wanted is None and all(isinstance(one, str | os.PathLike) and letor.is_letor(one) for one in source):
            # Their lines leave out what is 0, so the largest index may differ.
            most = max((part.feature_names for part in parts), key=len, default=())
            parts = [p.padded(most) if p.feature_names == most[: len(p.feature_names)] else p for p in parts]
        return together(parts)
    if isinstance(source, str | os.PathLike) and letor.is_letor(source):
        if labels is not None or skip_bad_rows:
            what = "labels as words and skipping of bad rows are only for tables, but this is LETOR's format"
            raise InputError(what, source=os.fspath(source), remedy="give a .csv, .tsv, .jsonl or .parquet file")
        return letor.read_letor(source, wanted)
    return example_table.read_example_table(source, wanted, _worth(labels), skip_bad_rows=skip_bad_rows)


def _worth(labels: Mapping[str, float] | None) -> dict[str, float] | None:
    """The label for each word, as a finite number."""
    if labels is None:
        return None
    if not isinstance(labels, Mapping):
        raise InputError(f"labels {labels!r} are not a dictionary", remedy="give a label for each word: {'good': 2}")
    odd = next((word for word, value in labels.items() if not is_number(value)), None)
    if odd is not None:
        raise InputError(f"the label of {odd!r} is not a number", remedy="give a finite number for each word")
    return {str(word): float(value) for word, value in labels.items()}


def _one_by_one(values: Any, what: str) -> list[Any]:
    """A list, an array or a column of a frame as Python values."""
    try:
        if isinstance(values, str | bytes | Mapping):
            raise TypeError
        return list(values.tolist() if isinstance(values, np.ndarray) else values)
    except TypeError:
        raise InputError(f"{what} are a {type(values).__name__}", remedy="give a list, one per document") from None


def _of_groups(values: Mapping[Any, Any], group: list[Any] | None, noun: str, fail: Fail) -> list[Any]:
    """What a dictionary says of the query of each row."""
    if group is None:
        raise InputError(
            f"a dictionary with the {noun} of each query needs groups", remedy="give one group per document"
        )
    row = next((row for row, key in enumerate(group) if key not in values), None)
    if row is not None:
        raise fail(row, f"no {noun} of query {group[row]!r}", "give one per query")
    return [values[key] for key in group]


def _distinct(names: Iterable[object]) -> tuple[str, ...]:
    """Names of features, none of them twice."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(
            f"features {names!r} are not a list", remedy="name them one by one: ['bm25', 'length'], range(1, 47)"
        )
    found = tuple(map(str, names))
    if len(set(found)) < len(found):
        twice = next(name for i, name in enumerate(found) if name in found[:i])
        raise InputError(f"feature {twice!r} is named twice", remedy="name every feature once")
    return found


def together(parts: Sequence[Examples]) -> Examples:
    """Several sets of examples as one; a query must not be in two of them."""
    if not parts:
        raise InputError("no examples are given", remedy="name at least one file")
    first = parts[0]
    seen: dict[str, str] = {}
    for part in parts:
        if part.feature_names != first.feature_names:
            raise _other_features(part, first)
        for query in part.query_ids:
            if query in seen:
                raise InputError(
                    f"example {part.first_of(query)}: query {query!r} is also in {seen[query]!r}",
                    source=part.name,
                    remedy="put each query into one file",
                )
            seen[query] = part.name
    starts = ragged.offsets_of(np.array([len(part) for part in parts]))
    return Examples(
        tuple(seen),
        ragged.offsets_of(np.concatenate([part.lengths for part in parts])),
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        tuple(doc for part in parts for doc in part.docs),
        first.feature_names,
        np.concatenate([part.row + start for part, start in zip(parts, starts.tolist(), strict=False)]),
        ", ".join(part.name for part in parts),
        _texts_together(parts),
    )


def _texts_together(parts: Sequence[Examples]) -> Texts | None:
    texts = [part.texts for part in parts if part.texts is not None]
    if not texts:
        return None
    if len(texts) < len(parts):
        silent = next(part for part in parts if part.texts is None)
        what = "queries and documents have no text, but those of other examples do"
        raise InputError(what, source=silent.name, remedy="give texts in all of them, or in none")
    return texts_together(texts)


def _other_features(part: Examples, first: Examples) -> InputError:
    own, others = len(part.feature_names), len(first.feature_names)
    if own != others:
        what = f"{own} feature{'s' * (own != 1)}, and {first.name!r} has {others}"
    else:
        pairs = zip(part.feature_names, first.feature_names, strict=True)
        name, other = next(pair for pair in pairs if pair[0] != pair[1])
        what = f"feature {name!r} where {first.name!r} has {other!r}"
    return InputError(what, source=part.name, remedy="give the same features, or name those to take (features=…)")
