"""LTRF-CQA, the questions and answers of paper 1."""

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets import carmel_cqa
from ranksift.datasets.carmel import GAINS

HEADER = "question_id,question_text,answer_text,label\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="ltrf-cqa-dataset.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_rows(write):
    file = write(HEADER + '-7,"is it big, or not?","It says ""huge"".",P\n-7,"is it big, or not?",No,S\n8,why?,lol,F\n')
    examples = carmel_cqa(file)
    assert examples.query_ids == ("-7", "8")
    assert examples.docs == ("d1", "d2", "d1")
    assert examples.texts.docs == ('It says "huge".', "No", "lol")
    assert examples.labels.tolist() == [2, 1, -1]
    assert [rs.Gains.of(GAINS)(label) for label in (2.0, 1.0, -1.0)] == [2, 1, -10]
    assert carmel_cqa(file, {"P": 1, "S": 0, "F": -10}).labels.tolist() == [1, 0, -10]


def test_copies_are_left_out(write):
    file = write(HEADER + "1,a?,x,P\n2,b?,x,P\n1,a?,x,P\n1,a?,y,S\n1,a?,x,F\n1,a?,x,P\n")
    with pytest.warns(rs.RankSiftWarning, match=r"csv: 2 rows are copies of earlier ones, and left out$"):
        examples = carmel_cqa(file)
    assert examples.texts.docs == ("x", "y", "x", "x")
    assert examples.docs == ("d1", "d2", "d3", "d1")
    assert examples.labels.tolist() == [2, 1, -1, 2]
    assert examples.row.tolist() == [0, 2, 3, 1]


def test_other_columns_are_no_features(write):
    file = write("question_id\tquestion_text\tanswer_text\tlabel\tce\n1\ta?\tx\tP\t0.5\n", "a.tsv")
    assert carmel_cqa(file).feature_names == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "1,a?,x,Q\n", r"csv:2: no label for the word 'Q'; name a label for each word"),
        (HEADER + "1,a?,,P\n", r"csv:2: the text of the document is empty"),
        ("question_id,question_text,answer_text\n1,a?,x\n", "not the questions and answers of LTRF-CQA; give a table"),
        (
            "qid,docno,label,bm25\n1,d,1,2\n",
            "csv:1: no texts among 'qid', 'docno', 'label', 'bm25'; give columns query and doc",
        ),
    ],
)
def test_errors(write, text, message):
    with pytest.raises(rs.InputError, match=message):
        carmel_cqa(write(text))


def test_bad_rows(write):
    with pytest.warns(rs.RankSiftWarning, match=r"2 bad rows of 3 are left out: line 2: no label for the word 'Q'"):
        examples = carmel_cqa(write(HEADER + "1,a?,x,Q\n1,a?,x,P\n1,,y,P\n"), skip_bad_rows=True)
    assert examples.texts.docs == ("x",)


def test_the_sample(data_dir):
    examples = carmel_cqa(data_dir / "ltrf_cqa_tiny_sample" / "ltrf_cqa_sample.tsv")
    assert repr(examples) == "<Examples: 39 documents, 23 queries, 0 features, with texts>"
    assert [int(np.sum(examples.labels == label)) for label in (2, 1, -1)] == [18, 14, 7]
    assert examples.query_ids[0] == "-9223131209467692965"
