"""SemEval Task 3, answers to questions in a forum (Qatar Living): 2015 with features and text, 2016 with text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from ranksift.collection.examples import Examples, Fold
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.datasets.folders import file_in
from ranksift.datasets.threads import LABELS, Answer, Thread, checked_threads
from ranksift.datasets.xml_elements import FETCH_AGAIN, Element, read_xml
from ranksift.errors import InputError
from ranksift.parameters import path, takes

# Features that all three parts have.
_GROUPS = {
    "context": "context.simone",
    "heuristics": "heuristics.simone",
    "lexical": "lexical.wei",
    "glove_composes": "semantic.preslav.glovecomposes",
    "lsa": "semantic.simone.lsa",
}
_HIDDEN = "?"
_NOBODY = ("", "-")  # instead of a name that was taken out


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
            raise table.wrong("answers other than those in the first file of features", "fetch the files again")
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


@takes(folder=path())
def semeval2015_threads(folder: str | os.PathLike[str], part: str = "devel") -> list[Thread]:
    """SemEval-2015 Task 3 with text: 300 (devel) and 329 (test) questions with 1,645 and 1,976 answers.

    An answer is its body, preceded by its subject if that is more than the beginning of the body or a reply to the
    question.

    Parameters
    ----------
    folder
        With ``CQA-QL-devel.xml`` or ``CQA-QL-test.xml`` (or ``CQA-QL-train.xml``), plain, ``.gz`` or ``.zst``.
    part
        What the name of the file ends with: ``train``, ``devel``, ``test``.
    """
    file = file_in(Path(folder), f"CQA-QL-{part}.xml", remedy="name a folder of SemEval-2015 Task 3")
    root = read_xml(file)
    if root.tag != "root":
        raise root.wrong("not a file of SemEval-2015, which begins with <root>")
    return checked_threads(file, map(_question, root.parts("Question")))


def _question(question: Element) -> tuple[Thread, Callable[[str], InputError]]:
    found = Thread(
        question.attribute("QID"),
        "\n".join(question.part(tag).text().strip() for tag in ("QSubject", "QBody")),
        tuple(
            map(_comment, [part for part in question.parts("QSubject", "QBody", "Comment") if part.tag == "Comment"])
        ),
        _author(question, "QUSERID"),
    )
    return found, question.wrong


def _comment(comment: Element) -> Answer:
    comment.parts("CSubject", "CBody")
    subject, body = (comment.part(tag).text().strip() for tag in ("CSubject", "CBody"))
    # A forum makes the subject of the question or of the first words, where the author gives none.
    said = subject and not subject.casefold().startswith("re:") and _letters(subject) not in _letters(body)
    word = comment.attribute("CGOLD")
    return Answer(
        comment.attribute("CID"),
        f"{subject}\n{body}" if said else body,
        None if word in ("", _HIDDEN) else word,
        _author(comment, "CUSERID"),
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def semeval2016_threads(folder: str | os.PathLike[str], part: str = "train-part2") -> list[Thread]:
    """SemEval-2016 Task 3: threads of ten comments, each judged as an answer to the question of its own thread.

    The second part of the training data has 670 threads, found for 67 original questions, with 6,700 comments: Good,
    PotentiallyUseful or Bad. A thread that was found for several questions occurs several times
    (:func:`distinct_threads` leaves 583).

    Parameters
    ----------
    folder
        With ``CQA-QL-train-part2.xml`` (or ``SemEval2016-Task3-CQA-QL-train-part2.xml``), plain, ``.gz`` or ``.zst``.
    part
        What the name of the file ends with: ``train-part2``, ``dev``.
    """
    names = (f"{prefix}CQA-QL-{part}.xml" for prefix in ("", "SemEval2016-Task3-"))
    file = file_in(Path(folder), *names, remedy="name a folder of SemEval-2016 Task 3")
    root = read_xml(file)
    if root.tag != "xml":
        raise root.wrong("not a file of SemEval-2016, which begins with <xml>")
    return checked_threads(file, map(_thread, root.parts("OrgQuestion")))


def _thread(original: Element) -> tuple[Thread, Callable[[str], InputError]]:
    original.parts("OrgQSubject", "OrgQBody", "Thread")
    thread = original.part("Thread")
    question = thread.part("RelQuestion")
    question.parts("RelQSubject", "RelQBody")
    found = Thread(
        question.attribute("RELQ_ID"),
        "\n".join(question.part(tag).text() for tag in ("RelQSubject", "RelQBody")),
        tuple(_answers(thread)),
        _author(question, "RELQ_USERID"),
        original.attribute("ORGQ_ID"),
    )
    return found, thread.wrong


def _answers(thread: Element) -> Iterator[Answer]:
    for comment in thread.parts("RelQuestion", "RelComment"):
        if comment.tag == "RelComment":
            comment.parts("RelCText")
            word = comment.attribute("RELC_RELEVANCE2RELQ")
            yield Answer(
                comment.attribute("RELC_ID"),
                comment.part("RelCText").text(),
                None if word in ("", _HIDDEN) else word,
                _author(comment, "RELC_USERID"),
                comment.attributes.get("RELC_DATE") or None,
            )


def _author(element: Element, attribute: str) -> str | None:
    name = element.attribute(attribute)
    return None if name in _NOBODY else name
