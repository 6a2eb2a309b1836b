"""LETOR's lines of examples, which are SVMlight's with a query: ``label qid:QUERY 1:VALUE 2:VALUE … # comment``.

A block of lines is taken apart at once: blanks separate the tokens, newlines give the line of each; the first two of a
line are its label and its query, the others its features. All numbers of a block are parsed together.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.decimals import integers_before
from ranksift.collection._engine.ids import Ids, Ints, loads
from ranksift.collection._engine.lines import Block, Columns, over_blocks
from ranksift.collection._engine.rows import numbers_in
from ranksift.collection.examples import Examples, are_whole, usual_docs
from ranksift.collection.qrels import LARGEST_LABEL
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.formats import TABLES, begins_like_letor, kind
from ranksift.errors import InputError, RankSiftWarning
from ranksift.files import STANDARD, Bytes, display_name, reading, writing

if TYPE_CHECKING:
    import polars as pl

LAYOUT = "label qid:QUERY 1:VALUE 2:VALUE … # comment"
_OR_TABLE = " (a table is called .csv, .tsv or .parquet)"

# LETOR 4.0 writes "#docid = GX000-00-0000000 inc = 1 prob = 0.02"
_DOCID = re.compile(rb"#\s*docid\s*=\s*(\S+)", re.IGNORECASE)
_INDEX = re.compile("0|[1-9][0-9]{0,6}")
_BETWEEN = re.compile(r"[\x00-\x20]")  # what separates tokens, or is refused by the reader
_NEWLINE, _SPACE, _HASH, _COLON = 10, 32, 35, 58
_QID = np.uint64(int.from_bytes(b"qid:", "little"))
_LARGEST = 1 << 20  # an index beyond it is a mistake, or belongs to a matrix that no memory holds
_STEP = 1 << 14  # rows that are written together


def is_letor(source: str | os.PathLike[str]) -> bool:
    """Whether a file is LETOR's rather than a table: by its suffix, or what is called a table by its first line.

    Standard input is LETOR's.
    """
    if os.fspath(source) == STANDARD or kind(source) not in TABLES:
        return True
    return kind(source) in (".csv", ".tsv") and begins_like_letor(source)


def read_letor(source: str | os.PathLike[str], features: Sequence[str] | None = None) -> Examples:
    """Read a file; ``features`` are the indices to take, by default all up to the largest."""
    return _read(source, features)[0]


def read_letor_as_written(source: str | os.PathLike[str]) -> tuple[Examples, frozenset[str]]:
    """A file with all features up to the largest, and those of them that stand on some line."""
    return _read(source)


def _read(source: str | os.PathLike[str], features: Sequence[str] | None = None) -> tuple[Examples, frozenset[str]]:
    with reading(source, if_empty=f"write each line as: {LAYOUT}") as text:
        parts = [part for part in over_blocks(_parsed, text) if len(part.labels)]
    name = display_name(source)
    if not parts:
        raise InputError("no example in this file", source=name, remedy=f"write each line as: {LAYOUT}")
    wanted = _all_indices(parts, name) if features is None else _indices(features, name)
    queries = Ids.concatenate([part.queries for part in parts])
    number, first = queries.factorize()
    labels = np.concatenate([part.labels for part in parts])
    docs = [doc for part in parts for doc in part.docs]
    written = {index for part in parts for index in np.flatnonzero(np.bincount(part.index)).tolist()}
    found = Examples.from_rows(
        _matrix(parts, wanted, name),
        labels,
        number,
        queries.take(first).tolist(),
        docs=docs if any(docs) else None,
        feature_names=tuple(map(str, wanted)),
        name=name,
    )
    return found, frozenset(map(str, written))


@dataclass(frozen=True)
class _Part:
    """Some examples.

    Attributes
    ----------
    queries, labels, docs
        One per row; a document may have no name.
    counts
        Features of each row.
    index, value
        Features row after row; only the indices of one row where all have the same.
    """

    queries: Ids
    labels: Floats
    docs: list[str | None]
    counts: Ints
    index: NDArray[np.int32]
    value: Floats

    def put(self, into: Floats, column: Ints) -> None:
        """Write the values into rows of zeros; ``column`` says where an index goes; -1 means nowhere."""
        rows = len(self.labels)
        if len(self.index) < len(self.value):
            target = column[self.index]
            into[:, target[target >= 0]] = self.value.reshape(rows, -1)[:, target >= 0]
            return
        row, target = np.repeat(np.arange(rows), self.counts), column[self.index]
        into[row[target >= 0], target[target >= 0]] = self.value[target >= 0]


def _parsed(block: Block) -> _Part:
    block.check_utf8()
    block.check_controls()
    text = block.bytes[: block.size]
    newlines = np.flatnonzero(text == _NEWLINE)
    comments, commented = _comments(text, newlines)
    starts, ends = _tokens(text, comments, newlines[commented])
    upto = np.searchsorted(starts, newlines)
    tokens = np.diff(upto, prepend=0)
    lines = np.flatnonzero(tokens)  # those that are not blank, nor all comment
    label, tokens = (upto - tokens)[lines], tokens[lines]
    queries = _queries(block, starts, ends, label, tokens)
    feature = np.ones(len(starts), dtype=bool)
    feature[label] = feature[label + 1] = False
    index, value = _features(block, starts[feature], ends[feature], tokens - 2)
    labels = _numbers(block, starts[label], ends[label], "label")
    large = np.abs(labels) >= LARGEST_LABEL
    if large.any():
        at = int(large.argmax())
        what = f"label {labels[at]:g} is too large to be kept exactly"
        raise block.fail(int(starts[label[at]]), what, "use labels below 9e15")
    return _Part(
        queries,
        labels,
        _docids(text, comments, newlines[commented], commented, lines),
        tokens - 2,
        index,
        value,
    )


def _comments(text: Bytes, newlines: Ints) -> tuple[Ints, Ints]:
    """Where comments start, and the lines that have one: from the first ``#`` with a blank before it."""
    marks = np.flatnonzero(text == _HASH)
    marks = marks[(marks == 0) | (text[marks - 1] <= _SPACE)]
    line = np.searchsorted(newlines, marks)
    first = np.diff(line, prepend=-1) > 0
    return marks[first], line[first]


def _tokens(text: Bytes, comments: Ints, comment_ends: Ints) -> tuple[Ints, Ints]:
    """Where the tokens outside comments start and end."""
    ink = text > _SPACE
    if len(comments):
        step = np.zeros(len(text), dtype=np.int8)
        step[comments], step[comment_ends] = 1, -1
        ink &= np.cumsum(step, dtype=np.int8) == 0
    edge = np.flatnonzero(ink[1:] != ink[:-1]) + 1
    if len(ink) and ink[0]:
        edge = np.concatenate(([0], edge))
    return edge[0::2], edge[1::2]  # a block ends with a newline, so every token ends


def _queries(block: Block, starts: Ints, ends: Ints, label: Ints, tokens: Ints) -> Ids:
    """The queries of the lines, whose tokens begin with that of the label."""
    second = np.minimum(label + 1, len(starts) - 1)
    named = (tokens > 1) & (loads(block.bytes)[starts[second]] & np.uint64(0xFFFFFFFF) == _QID)
    if not named.all():
        at = int(starts[label[np.argmin(named)]])
        raise block.fail(at, "no 'qid:' after the label", f"write each line as: {LAYOUT}{_OR_TABLE}")
    start = starts[second] + 4
    empty = start == ends[second]
    if empty.any():
        raise block.fail(int(start[np.argmax(empty)]), "no query after 'qid:'", f"write each line as: {LAYOUT}")
    return Ids(block.bytes, start, ends[second] - start).compact()


def _features(block: Block, starts: Ints, ends: Ints, counts: Ints) -> tuple[NDArray[np.int32], Floats]:
    """Indices and values of features; the indices of one line only where all lines have the same."""
    number, colon = integers_before(block.bytes, starts, _COLON)
    wrong = (number < 0) | (number > _LARGEST) | (colon + 1 >= ends)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise _no_feature(block, int(starts[at]), int(ends[at]), int(number[at]))
    value = _numbers(block, colon + 1, ends, "value")
    index = number.astype(np.int32)
    if len(index) and (counts == counts[0]).all():
        lines = index.reshape(len(counts), -1)
        if (lines[0, 1:] > lines[0, :-1]).all() and (lines == lines[0]).all():
            return lines[0].copy(), value
    _check_repetition(block, starts, np.repeat(np.arange(len(counts)), counts), index)
    return index, value


def _no_feature(block: Block, start: int, end: int, index: int) -> InputError:
    if index > _LARGEST:
        return block.fail(start, f"feature {index}: the index is larger than {_LARGEST}", "number features from 1")
    if index >= 0:
        return block.fail(start, f"feature {index} has no value", "write NULL, or leave it out where it is 0")
    token = block.bytes[start : min(end, start + 40)].tobytes().decode("utf-8", "replace")
    if re.match(r"[0-9]{8,}:", token):
        return block.fail(start, f"{token!r}: the index is larger than {_LARGEST}", "number features from 1")
    return block.fail(start, f"{token!r} is not a feature", "write features as index:value, with a number as index")


def _check_repetition(block: Block, starts: Ints, line: Ints, index: NDArray[np.int32]) -> None:
    """Refuse an index that a line has twice."""
    if ((index[1:] > index[:-1]) | (line[1:] != line[:-1])).all():
        return
    key = line * (2 * _LARGEST) + index
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    if len(twice):
        at = int(order[twice + 1].min())
        raise block.fail(int(starts[at]), f"feature {index[at]} occurs twice in this line", "remove one of them")


def _numbers(block: Block, starts: Ints, ends: Ints, noun: str) -> Floats:
    columns = Columns(block, {0: starts}, {0: ends})
    return numbers_in(columns, 0, noun, columns.fail, gaps=True)[0]


def _docids(text: Bytes, comments: Ints, comment_ends: Ints, commented: Ints, lines: Ints) -> list[str | None]:
    """The documents that comments name, one per line."""
    docs: list[str | None] = [None] * len(lines)
    row = np.searchsorted(lines, commented)
    known = np.flatnonzero(lines[np.minimum(row, len(lines) - 1)] == commented) if len(lines) else row[:0]
    data = text.tobytes() if len(known) else b""
    for i, lo, hi in zip(row[known].tolist(), comments[known].tolist(), comment_ends[known].tolist(), strict=True):
        found = _DOCID.match(data, lo, hi)
        if found is not None:
            docs[i] = found[1].decode()
    return docs


# -- the matrix ------------------------------------------------------------------------------------------------------


def _all_indices(parts: Sequence[_Part], name: str) -> range:
    """From 1, or 0 if a file counts from there, to the largest."""
    found = [part.index for part in parts if len(part.index)]
    if not found:
        raise InputError("no document has a feature", source=name, remedy=f"write each line as: {LAYOUT}")
    return range(min(1, *(int(i.min()) for i in found)), max(int(i.max()) for i in found) + 1)


def _indices(features: Sequence[str], name: str) -> list[int]:
    bad = next((f for f in features if not _INDEX.fullmatch(f) or int(f) > _LARGEST), None)
    if bad is not None:
        raise InputError(f"there is no feature {bad!r}", source=name, remedy="name features by their index: 1, 2, …")
    return [int(f) for f in features]


def _matrix(parts: list[_Part], wanted: Sequence[int], name: str) -> Floats:
    """Documents × features; what a line does not name is 0."""
    largest = max(max(wanted, default=0), *(int(part.index.max(initial=0)) for part in parts))
    column = np.full(largest + 1, -1)
    column[np.asarray(wanted, dtype=np.int64)] = np.arange(len(wanted))
    rows = sum(len(part.labels) for part in parts)
    try:
        out = np.zeros((rows, len(wanted)))
    except MemoryError:
        raise InputError(
            f"{rows} documents × {len(wanted)} features do not fit into memory",
            source=name,
            remedy="read some of the features: read_examples(..., features=[...])",
        ) from None
    at = rows
    while parts:  # each is given up as soon as it is copied
        part = parts.pop()
        part.put(out[at - len(part.labels) : at], column)
        at -= len(part.labels)
    return out


# -- writing ---------------------------------------------------------------------------------------------------------


def write_letor(examples: Examples, target: str | os.PathLike[str]) -> None:
    """Write examples in the order in which they were given, every feature of every document."""
    import polars as pl

    _check_ids(examples)
    names = examples.feature_names
    if examples.texts is not None:
        if not names:
            what = "texts without features, which LETOR's format cannot hold"
            raise InputError(what, source=os.fspath(target), remedy="save as .jsonl, .csv or .parquet")
        warnings.warn(
            "LETOR's format has features only: the texts are left out; save as .jsonl, .csv or .parquet to keep them",
            RankSiftWarning,
            stacklevel=3,
        )
    first = 0 if names[:1] == ("0",) else 1
    if names != tuple(map(str, range(first, first + len(names)))):
        warnings.warn(
            f"LETOR numbers features: {names[0]!r} becomes 1, …; save as .csv or .parquet to keep their names",
            RankSiftWarning,
            stacklevel=3,
        )
    queries = pl.Series("query", examples.query_ids, dtype=pl.String)
    order = np.argsort(examples.row, kind="stable")
    named = examples.docs != usual_docs(examples.lengths)
    with writing(target) as file:
        for lo in range(0, len(order), _STEP):
            rows = order[lo : lo + _STEP]
            tokens = [_decimals(examples.labels[rows]), "qid:" + queries.gather(examples.query[rows])]
            tokens += [f"{i}:" + _decimals(c) for i, c in enumerate(examples.features[rows].T, first)]
            if named:
                tokens.append("#docid = " + pl.Series([examples.docs[i] for i in rows.tolist()]))
            lines = pl.select(pl.concat_str(tokens, separator=" ")).to_series()
            file.write(("\n".join(lines.to_list()) + "\n").encode())


def _check_ids(examples: Examples) -> None:
    """Refuse ids that would not be read back as they are."""
    for noun, ids in (("query", examples.query_ids), ("document", examples.docs)):
        for one in ids:
            if _BETWEEN.search(one):
                raise InputError(
                    f"{noun} id {one!r} has white space or control characters in it, which LETOR's format cannot hold",
                    remedy="save as .csv or .parquet",
                )


def _decimals(values: Floats) -> pl.Series:
    """Numbers as texts that are read back as the same; NaN if they are missing."""
    import polars as pl

    missing = np.isnan(values)
    filled = np.where(missing, 0.0, values)
    # A negative zero keeps its sign only as a float.
    whole = are_whole(filled) and not (np.signbit(filled) & (filled == 0)).any()
    texts = pl.Series(filled.astype(np.int64) if whole else filled).cast(pl.String)
    return texts.scatter(np.flatnonzero(missing), "NaN") if missing.any() else texts
