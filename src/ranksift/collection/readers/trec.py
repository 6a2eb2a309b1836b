"""TREC's white-space separated qrels and runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ranksift.collection._engine.grouping import Grouped, OnDuplicate, by_rank
from ranksift.collection._engine.ids import Ids, Ints
from ranksift.collection._engine.lines import Block, over_blocks
from ranksift.collection._engine.parts import Source
from ranksift.collection._engine.rows import Rows, collect_text
from ranksift.errors import InputError
from ranksift.files import NOTHING_RETRIEVED, Text, display_name, first_line, reading, writing

if TYPE_CHECKING:
    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

QRELS_LAYOUT = "query iteration document label"
RUN_LAYOUT = "query Q0 document rank score tag"
_BETWEEN = re.compile(r"[\x00-\x20]")  # what separates columns, or is refused by the reader


def scan_run(source: str | os.PathLike[str], on_duplicate: OnDuplicate = "error") -> tuple[Grouped, str | None]:
    """Read a TREC run: the rows in rank order, and the tag of the first line."""
    rows, tag, _ = _scan(source, _RUN, on_duplicate)
    return by_rank(rows), tag


def tag_of(source: str | os.PathLike[str]) -> str | None:
    """What a TREC run calls itself, by its first line; None if that is a comment, or the file is of another kind."""
    columns = first_line(source).split()
    return columns[5].decode("utf-8", "replace") if len(columns) > 5 and not columns[0].startswith(b"#") else None


def scan_qrels(source: str | os.PathLike[str], on_duplicate: OnDuplicate = "error") -> tuple[Grouped, bool]:
    """Read TREC qrels: the rows, and whether every label is written as an integer."""
    rows, _, whole = _scan(source, _QRELS, on_duplicate)
    if not len(rows.values):
        raise InputError(
            "no judgment in this file", source=display_name(source), remedy=f"write each line as: {QRELS_LAYOUT}"
        )
    return rows, whole


@contextmanager
def trec_source(source: str | os.PathLike[str], noun: str) -> Iterator[Source]:
    """A TREC file that is read some rows at a time; compressed, it is unpacked into a temporary file."""
    tags: dict[int, bytes] = {}
    form = _RUN if noun == "score" else _QRELS
    with reading(source, if_empty=form.if_empty, on_disk=True) as text:
        yield Source(
            lambda work: over_blocks(lambda block: work(form.rows(block, tags)), text),
            text.end - text.start,
            text.fail,
            noun,
            lambda: _refuse_blank(text, form),
            tag=lambda: _first(tags),
        )


def _scan(source: str | os.PathLike[str], form: _Form, on_duplicate: OnDuplicate) -> tuple[Grouped, str | None, bool]:
    tags: dict[int, bytes] = {}
    with reading(source, if_empty=form.if_empty) as text:
        rows, whole = collect_text(text, lambda block: form.rows(block, tags), form.noun, on_duplicate)
        if not len(rows.values):
            _refuse_blank(text, form)
    return rows, _first(tags), whole


def _first(tags: dict[int, bytes]) -> str | None:
    return tags[min(tags)].decode() if tags else None


def _refuse_blank(text: Text, form: _Form) -> None:
    """The error for a file without a row, and without a comment that says so."""
    if not text.whole().strip():
        raise InputError("the file is blank", source=text.name, remedy=form.if_empty)


class _Form(NamedTuple):
    """How many columns a line has, which one the number is, what it is called, and how a line looks."""

    width: int
    number: int
    noun: str
    layout: str
    if_empty: str

    def rows(self, block: Block, tags: dict[int, bytes]) -> Rows:
        """The rows of a block, whose first tag is noted."""
        # As in trec_eval, a run may say more behind its tag; judgments may not: six columns are a run's.
        wanted = (0, 2, self.number, self.width - 1)
        columns = block.columns(self.width, wanted, self.layout, or_more=self.noun == "score")
        if len(columns):
            tags[block.start] = columns.token(self.width - 1, 0)
        return Rows.of(columns, 0, 2, self.number, self.noun)


_RUN = _Form(6, 4, "score", RUN_LAYOUT, NOTHING_RETRIEVED)
_QRELS = _Form(
    4,
    3,
    "label",
    f"{QRELS_LAYOUT} (a run has six columns: judgments come first, then runs)",
    f"write each line as: {QRELS_LAYOUT}",
)


def write_trec_run(run: Run, target: str | os.PathLike[str]) -> None:
    """Write a run in TREC format; an empty one gets a comment line, so that it is not an empty file."""
    with writing(target) as file:
        for lines in trec_lines(run) if len(run.scores) else [nothing_retrieved(run.name)]:
            file.write(lines)


def trec_lines(run: Run) -> Iterator[bytes]:
    """A run in TREC format, the lines of one query at a time."""
    for query, docs, scores in _lists(run.query_ids, run.offsets, run.docs, run.scores.tolist()):
        head, tail = f"{query} Q0 ", f" {_tag(run.name)}\n"
        lines = [f"{head}{d} {i} {s!r}{tail}" for i, (d, s) in enumerate(zip(docs, scores, strict=True), 1)]
        yield "".join(lines).encode()


def nothing_retrieved(name: str) -> bytes:
    """The comment that stands instead of an empty run."""
    return f"# {_tag(name)}: nothing retrieved\n".encode()


def _tag(name: str) -> str:
    return "".join(c if c.isprintable() and not c.isspace() else "_" for c in name) or "run"


def write_trec_qrels(qrels: Qrels, target: str | os.PathLike[str]) -> None:
    """Write qrels in TREC format."""
    with writing(target) as file:
        for query, docs, labels in _lists(qrels.query_ids, qrels.offsets, qrels.docs, qrels.label_list()):
            file.write("".join([f"{query} 0 {d} {v!r}\n" for d, v in zip(docs, labels, strict=True)]).encode())


def _lists(
    query_ids: tuple[str, ...], offsets: Ints, docs: Ids, values: Sequence[float]
) -> Iterator[tuple[str, list[str], Sequence[float]]]:
    """Query by query, its documents and their values; ids that would not be read back as they are, are refused."""
    for query, lo, hi in zip(query_ids, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        found = docs[lo:hi].tolist()
        if query.startswith(("#", "\ufeff")):
            raise _unfit("query", query, f"starts with {query[0]!r}")
        if _BETWEEN.search(query) or _BETWEEN.search("".join(found)):
            noun, name = next(
                (n, d) for n, d in [("query", query), *(("document", d) for d in found)] if _BETWEEN.search(d)
            )
            raise _unfit(noun, name, "has white space or control characters in it")
        yield query, found, values[lo:hi]


def _unfit(noun: str, name: str, why: str) -> InputError:
    return InputError(
        f"{noun} id {name!r} {why}, which TREC's format cannot hold", remedy="save as .csv, .parquet or .jsonl"
    )
