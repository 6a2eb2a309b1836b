"""TREC's white-space separated qrels and runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from ranksift.collection.decimals import parse_decimals, parse_token
from ranksift.collection.errors import InputError
from ranksift.collection.files import display_name, reading, writing
from ranksift.collection.grouped import Floats, Gathering, Grouped, OnDuplicate, Part, by_rank, without_duplicates
from ranksift.collection.ids import Ids, Ints
from ranksift.collection.lines import Block, Columns, over_blocks

if TYPE_CHECKING:
    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

QRELS_LAYOUT = "query iteration document label"
RUN_LAYOUT = "query Q0 document rank score tag"
_WRITE_ROWS = 1 << 18


def scan_run(source: str | os.PathLike[str], on_duplicate: OnDuplicate = "error") -> tuple[Grouped, str | None]:
    """Read a TREC run: the rows in rank order, and the tag of the first line."""
    rows, tag, _ = _scan(source, 6, 4, "score", RUN_LAYOUT, on_duplicate)
    return by_rank(rows), tag


def scan_qrels(source: str | os.PathLike[str], on_duplicate: OnDuplicate = "error") -> tuple[Grouped, bool]:
    """Read TREC qrels: the rows, and whether every label is written as an integer."""
    rows, _, whole = _scan(source, 4, 3, "label", QRELS_LAYOUT, on_duplicate)
    if not len(rows.values):
        raise InputError(
            "no judgment in this file", source=display_name(source), remedy=f"write each line as: {QRELS_LAYOUT}"
        )
    return rows, whole


def _scan(
    source: str | os.PathLike[str], count: int, number: int, noun: str, layout: str, on_duplicate: OnDuplicate
) -> tuple[Grouped, str | None, bool]:

    def work(block: Block) -> tuple[int, Part, bool, str | None]:
        columns = block.columns(count, (0, 2, number, count - 1), layout)
        values, whole = _numbers(columns, number, noun)
        tag = columns.token(count - 1, 0).decode() if len(columns) else None
        return block.size, Part.of(_ids(columns, 0), _ids(columns, 2).compact(), values), whole, tag

    with reading(source) as text:
        rows_so_far = Gathering(text.end - text.start)
        whole, tag = True, None
        for size, part, part_whole, part_tag in over_blocks(work, text):
            rows_so_far.add(part, size)
            whole, tag = whole and part_whole, tag or part_tag
        rows = rows_so_far.grouped()

        def fail(row: int, what: str, remedy: str) -> InputError:
            def places(block: Block) -> Ints:
                columns = block.columns(count, (0, 2), layout)
                keys = Part.of(_ids(columns, 0), _ids(columns, 2), np.zeros(len(columns))).keys
                return np.asarray(columns.positions()[keys == rows.keys[row]])

            # Rows do not remember their lines: look for this one again.
            return text.fail(int(np.concatenate(list(over_blocks(places, text)))[1]), what, remedy)

        def conflict(kept: float, other: float) -> tuple[str, str]:
            same = f" with the same {noun}" if kept == other else f", with {noun}s {kept:g} and {other:g}"
            return same, "remove one, or let --on-duplicate first (or best) keep one"

        return without_duplicates(rows, on_duplicate, fail, conflict), tag, whole


def _ids(columns: Columns, column: int) -> Ids:
    start = columns.starts[column]
    return Ids(columns.block.bytes, start, columns.ends[column] - start)


def _numbers(columns: Columns, column: int, noun: str) -> tuple[Floats, bool]:
    """The numbers of a column, every one of them finite, and whether all are written as integers."""
    values, whole, rest = parse_decimals(columns.block.bytes, columns.starts[column], columns.ends[column])
    for row in rest.tolist():
        token = columns.token(column, row)
        value = parse_token(token)
        shown = token[:40].decode("utf-8", "replace")
        if value is None:
            if token.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
                raise columns.fail(row, f"{noun} {shown!r} is not finite", f"give every document a finite {noun}")
            raise columns.fail(row, f"{noun} {shown!r} is not a number", f"write the {noun} as a decimal number")
        if not np.isfinite(value):
            raise columns.fail(row, f"{noun} {shown!r} is too large", "keep it below 1.8e308")
        values[row] = value
        whole = whole and not any(mark in token for mark in b".eE")
    return values, whole


def write_trec_run(run: Run, target: str | os.PathLike[str]) -> None:
    """Write a run in TREC format; an empty one gets a comment line, so that it is not an empty file."""
    tag = "".join(run.name.split()) or "run"
    with writing(target) as file:
        if not len(run.scores):
            file.write(f"# {tag}: nothing retrieved\n".encode())
        for query, lo, hi in _slices(run.query_ids, run.offsets):
            head, tail = f"{query} Q0 ", f" {tag}\n"
            docs, scores = run.docs[lo:hi].tolist(), run.scores[lo:hi].tolist()
            lines = [f"{head}{d} {i} {s!r}{tail}" for i, (d, s) in enumerate(zip(docs, scores, strict=True), 1)]
            file.write("".join(lines).encode("utf-8", "surrogatepass"))


def write_trec_qrels(qrels: Qrels, target: str | os.PathLike[str]) -> None:
    """Write qrels in TREC format."""
    with writing(target) as file:
        for query, lo, hi in _slices(qrels.query_ids, qrels.offsets):
            docs, labels = qrels.docs[lo:hi].tolist(), qrels.labels[lo:hi].tolist()
            shown = [f"{int(v)}" for v in labels] if qrels.whole else [repr(v) for v in labels]
            lines = [f"{query} 0 {d} {v}\n" for d, v in zip(docs, shown, strict=True)]
            file.write("".join(lines).encode("utf-8", "surrogatepass"))


def _slices(query_ids: tuple[str, ...], offsets):  # type: ignore[no-untyped-def]
    return zip(query_ids, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
