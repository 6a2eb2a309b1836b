"""SemEval-2015 Task 3: answers to questions in a forum (Qatar Living), with the features of one of its systems."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ranksift.collection.examples import Examples, Fold
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.datasets.xml_elements import FETCH_AGAIN, read_xml
from ranksift.errors import InputError
from ranksift.parameters import path, takes

#: What the words of the annotators count: whatever is no answer is forbidden.
LABELS: Mapping[str, float] = {"Good": 2, "Potential": 1, "Bad": -1, "Dialogue": -1, "Not English": -1, "Other": -1}

# Features that all three parts have.
_GROUPS = {
    "context": "context.simone",
    "heuristics": "heuristics.simone",
    "lexical": "lexical.wei",
    "glove_composes": "semantic.preslav.glovecomposes",
    "lsa": "semantic.simone.lsa",
}
_HIDDEN = "?"


@takes(folder=path())
def semeval2015(folder: str | os.PathLike[str], labels: Mapping[str, float] = LABELS) -> Fold:
    """Questions with their answers: 2,600 to learn from, 300 for validation, 329 for the test; 58 features.

    Parameters
    ----------
    folder
        With ``context.simone.train.csv.gz`` and the like, and ``CQA-QL-test.xml.gz`` for the labels of the test.
    labels
        The label for each word of the annotators.
    """
    return Fold(*(_part(Path(folder), part, labels) for part in ("train", "dev", "test")))


def _part(folder: Path, part: str, labels: Mapping[str, float]) -> Examples:
    sheets = {group: read_source_table(folder / f"{file}.{part}.csv.gz") for group, file in _GROUPS.items()}
    answers = sheets["context"].ids(0, "answer")
    columns: dict[str, Floats] = {}
    for group, table in sheets.items():
        if table.ids(0, "answer") != answers:
            raise table.wrong("other answers than in the first file of features", "fetch the files again")
        columns |= _features(group, table)
    words = sheets["context"].ids(sheets["context"].names.index("cgold"), "label")
    if _HIDDEN in words:
        words = _annotated(folder / f"CQA-QL-{part}.xml.gz", answers)
    unknown = next((word for word in words if word not in labels), None)
    if unknown is not None:
        raise InputError(f"no label for {unknown!r}", source=str(folder), remedy="name a label for each word")
    return Examples.from_arrays(
        np.column_stack(list(columns.values())),
        [labels[word] for word in words],
        [answer.partition("_")[0] for answer in answers],
        docs=answers,
        feature_names=list(columns),
        name=f"{folder} ({part})",
    )


def _features(group: str, table: SourceTable) -> dict[str, Floats]:
    own = [c for c, name in enumerate(table.names) if c and not name.startswith("cgold")]
    return {f"{group}_{i}": table.numbers(c, "value") for i, c in enumerate(own, 1)}


def _annotated(file: Path, answers: list[str]) -> list[str]:
    """The annotators' words for some answers."""
    words = {comment.attribute("CID"): comment.attribute("CGOLD") for comment in read_xml(file).all("Comment")}
    missing = next((answer for answer in answers if answer not in words), None)
    if missing is not None:
        raise InputError(f"no label of answer {missing!r}", source=str(file), remedy=FETCH_AGAIN)
    return [words[answer] for answer in answers]
