"""Threads as examples with texts."""

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets import (
    Answer,
    Thread,
    distinct_threads,
    percqa_threads,
    semeval2015,
    semeval2015_threads,
    semeval2016_threads,
    thread_features,
    thread_texts,
)

THREADS = [
    Thread(
        "q1", "Car?\nA big one.", (Answer("c1", "Oasis", "Good", "ann", "2009"), Answer("c2", "Hm", None, "eve")), "eve"
    ),
    Thread("q2", "Cat?", (Answer("c1", "No", "Bad"),)),
]


def test_texts():
    examples = thread_texts(THREADS)
    assert examples.query_ids == ("q1", "q2")
    assert examples.docs == ("c1", "c2", "c1")
    np.testing.assert_array_equal(examples.labels, [2, np.nan, -1])
    texts = examples.texts
    assert texts.queries == ("Car?\nA big one.", "Cat?")
    assert texts.docs == ("Oasis", "Hm", "No")
    assert texts.position.tolist() == [1, 2, 1]
    assert texts.author == ("ann", "eve", None)
    assert texts.asker == ("eve", None)
    np.testing.assert_array_equal(texts.time, [2009, np.nan, np.nan])
    assert thread_texts(THREADS[1:]).texts.known() == ("position",)


def test_features_beside_texts(tmp_path):
    examples, simple = thread_texts(THREADS, features=True), thread_features(THREADS)
    assert np.array_equal(examples.features, simple.features, equal_nan=True)
    assert examples.feature_names == tuple("by_asker" if name == "asker" else name for name in simple.feature_names)
    examples.save(tmp_path / "a.jsonl")
    again = rs.read_examples(tmp_path / "a.jsonl")
    assert again.feature_names == examples.feature_names
    assert again.texts.asker == ("eve", None)


def test_labels_and_errors():
    assert thread_texts(THREADS, {"Good": 1, "Bad": -5}).labels[2] == -5
    with pytest.raises(rs.InputError, match="no label for 'Good', the word for answer 'c1' of question 'q1'"):
        thread_texts(THREADS, {"Bad": -1})
    with pytest.raises(rs.InputError, match="question 'q1' occurs twice"):
        thread_texts([THREADS[0], THREADS[0]])
    with pytest.raises(rs.InputError, match="row 1: the text of the document is empty"):
        thread_texts([Thread("q", "Why?", (Answer("c", " "),))])


# -- real ones -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "other"), [("devel", "validation"), ("test", "test")])
def test_semeval2015(data_dir, part, other):
    folder = data_dir / "semeval2015_task3_cqa"
    examples, features = thread_texts(semeval2015_threads(folder, part)), getattr(semeval2015(folder), other)
    assert examples.query_ids == features.query_ids
    assert examples.docs == features.docs
    assert np.array_equal(examples.labels, features.labels)
    assert examples.texts.known() == ("position",)  # every author was taken out
    first = semeval2015_threads(folder, "devel")[0]
    assert first.question.startswith("from DUBAI to QATAR\ni am currently working")
    # A subject of its own, one that the forum made of the body, and a reply.
    assert first.answers[0].text == "Hi\nIf you are single then its ok you can enjoy."
    assert first.answers[3].text == "Transport in the city is a nightmare."


def test_semeval2016(data_dir, tmp_path):
    threads = distinct_threads(semeval2016_threads(data_dir / "semeval2016_task3_cqa"))
    examples = thread_texts(threads, features=True)
    assert repr(examples) == "<Examples: 5830 documents, 583 queries, 11 features, with texts>"
    assert examples.texts.known() == ("position", "time")
    for suffix in ("csv", "jsonl", "parquet"):
        examples.save(tmp_path / f"a.{suffix}")
        again = rs.read_examples(tmp_path / f"a.{suffix}")
        assert again.texts.queries == examples.texts.queries
        assert again.texts.docs == examples.texts.docs
        assert again.texts.time == examples.texts.time
        assert np.array_equal(again.features, examples.features)


def test_percqa(data_dir):
    examples = thread_texts(percqa_threads(data_dir / "percqa"))
    assert (len(examples), len(examples.query_ids), int((~examples.judged).sum())) == (21986, 990, 67)


# -- SemEval-2015's files --------------------------------------------------------------------------------------------

XML = """<root><Question QID="Q1" QUSERID="U1"><QSubject> Car? </QSubject><QBody>Which
one?</QBody>{}</Question></root>"""
COMMENT = '<Comment CID="Q1_C{}" CUSERID="{}" CGOLD="{}"><CSubject>{}</CSubject><CBody>{}</CBody></Comment>'


def written(tmp_path, *comments, text=XML):
    (tmp_path / "CQA-QL-devel.xml").write_text(
        text.format("".join(COMMENT.format(i, *c) for i, c in enumerate(comments, 1)))
    )
    return tmp_path


def test_comments_of_2015(tmp_path):
    folder = written(
        tmp_path,
        ("U2", "Good", "RE: Car?", "Try Oasis"),
        ("-", "?", "try it, they", "Try it: they are good"),
        ("U1", "Dialogue", "Thanks", "  It works  "),
    )
    (thread,) = semeval2015_threads(folder)
    assert (thread.id, thread.question, thread.asker) == ("Q1", "Car?\nWhich\none?", "U1")
    assert [answer.text for answer in thread.answers] == ["Try Oasis", "Try it: they are good", "Thanks\nIt works"]
    assert [answer.word for answer in thread.answers] == ["Good", None, "Dialogue"]
    assert [answer.author for answer in thread.answers] == ["U2", None, "U1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<xml/>", "not a file of SemEval-2015, which begins with <root>"),
        ("<root><Thread/></root>", "not expected in <root>"),
        (XML.replace(' QID="Q1"', ""), "it has no QID"),
        (XML, "question 'Q1' has no answers"),
    ],
)
def test_files_of_2015_that_are_none(tmp_path, text, message):
    with pytest.raises(rs.InputError, match=message):
        semeval2015_threads(written(tmp_path, text=text))
    with pytest.raises(rs.InputError, match=r"there is no CQA-QL-train\.xml; name a folder of SemEval-2015 Task 3"):
        semeval2015_threads(tmp_path, "train")
