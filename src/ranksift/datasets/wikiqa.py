"""WikiQA: questions with the sentences of a page of Wikipedia, most of them without an answer (Yang et al., 2015)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ranksift.collection.examples import Examples, Fold
from ranksift.datasets.folders import file_in
from ranksift.errors import InputError
from ranksift.files import display_name, read_text
from ranksift.parameters import path, takes

_COLUMNS = ("QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label")
_REMEDY = "name a folder of WikiQA"


@takes(folder=path())
def wikiqa(folder: str | os.PathLike[str]) -> Fold:
    """WikiQA: 2,118, 296 and 633 questions with 29,258 sentences; 1 marks an answer. Six in ten have no answer.

    Sentences are in the order of their page. The texts of ``.txt`` files are split into words, and
    their questions have no ids.

    Parameters
    ----------
    folder
        With ``WikiQA-train.tsv``, ``WikiQA-dev.tsv`` and ``WikiQA-test.tsv``, plain, ``.gz`` or ``.zst``; for a part
        without such a file, ``WikiQA-train.txt`` and the like.
    """
    return Fold(*(_part(Path(folder), part) for part in ("train", "dev", "test")))


class _Sentence(NamedTuple):
    question: str
    question_text: str
    id: str | None
    text: str
    label: float


def _part(folder: Path, part: str) -> Examples:
    file = file_in(folder, f"WikiQA-{part}.tsv", f"WikiQA-{part}.txt", remedy=_REMEDY)
    rows = list(_sentences(file, f"{part}-"))
    if not rows:
        raise InputError("there is no sentence", source=display_name(file), remedy=_REMEDY)
    places: dict[str, int] = {}
    position = []
    for row in rows:
        places[row.question] = places.get(row.question, 0) + 1
        position.append(places[row.question])
    ids = [row.id for row in rows if row.id is not None]
    return Examples.from_texts(
        [row.question_text for row in rows],
        [row.text for row in rows],
        [row.label for row in rows],
        [row.question for row in rows],
        doc_ids=ids or None,
        position=position,
        name=f"{folder} ({part})",
    )


def _sentences(file: Path, prefix: str) -> Iterator[_Sentence]:
    """The sentences of a file, of the original (.tsv) or of words (.txt). Quotation marks mean nothing in them."""
    header = ".tsv" in file.suffixes
    numbers: dict[str, int] = {}
    for number, line in enumerate(read_text(file, if_empty=_REMEDY).decode().split("\n"), 1):
        fields = line.rstrip("\r").split("\t")
        if fields == [""]:
            continue

        def wrong(what: str, line: int = number) -> InputError:
            return InputError(what, source=display_name(file), line=line, remedy="fetch the file again")

        if header and number == 1:
            if tuple(fields) != _COLUMNS:
                raise wrong("not the header of WikiQA")
            continue
        if len(fields) != (7 if header else 3):
            raise wrong(f"{len(fields)} fields where WikiQA has {7 if header else 3}")
        if fields[-1] not in ("0", "1"):
            raise wrong(f"label {fields[-1][:40]!r} is neither 0 nor 1")
        asked, said = (fields[1], fields[5]) if header else (fields[0], fields[1])
        if not asked.strip() or not said.strip():
            raise wrong("a text is empty")
        question = fields[0] if header else f"{prefix}{numbers.setdefault(asked, len(numbers) + 1)}"
        yield _Sentence(question, asked, fields[4] if header else None, said, float(fields[-1]))
