"""SemEval-2015 Task 3: the totals of its own description."""

import gzip

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets.semeval import semeval2015


def test_parts(data_dir):
    fold = semeval2015(data_dir / "semeval2015_task3_cqa")
    assert [len(part.query_ids) for part in fold] == [2600, 300, 329]
    assert [len(part) for part in fold] == [16541, 1645, 1976]
    assert {len(part.feature_names) for part in fold} == {58}
    shares = [[int((part.labels == label).sum()) for label in (2, 1, -1)] for part in fold]
    assert shares == [[8069, 1659, 6813], [875, 187, 583], [997, 167, 812]]
    assert fold.test.docs[:2] == ("Q2901_C1", "Q2902_C1")
    assert not np.isnan(fold.test.features).any()


def test_labels_of_ones_own(data_dir):
    folder = data_dir / "semeval2015_task3_cqa"
    words = {"Good": 1, "Potential": 0, "Bad": -10, "Dialogue": -5, "Not English": -10, "Other": -10}
    assert int((semeval2015(folder, words).train.labels == -5).sum()) == 3755
    with pytest.raises(rs.InputError, match="no label for 'Bad'; name a label for each word"):
        semeval2015(folder, {"Good": 1, "Potential": 0})


@pytest.fixture
def folder(tmp_path):
    """One answer in each part, with one feature in each file."""
    kinds = (
        "context.simone",
        "heuristics.simone",
        "lexical.wei",
        "semantic.preslav.glovecomposes",
        "semantic.simone.lsa",
    )
    for part in ("train", "dev", "test"):
        word = "?" if part == "test" else "Good"
        for i, kind in enumerate(kinds):
            text = f"qid,cgold,cgold_yn,f1\nQ1_C1,{word},,{i}\n"
            (tmp_path / f"{kind}.{part}.csv.gz").write_bytes(gzip.compress(text.encode()))
    _write_xml(tmp_path, "Q1_C1")
    return tmp_path


def _write_xml(folder, answer):
    text = f'<root><Question QID="Q1"><Comment CID="{answer}" CGOLD="Potential"/></Question></root>'
    (folder / "CQA-QL-test.xml.gz").write_bytes(gzip.compress(text.encode()))


def test_hidden_labels_come_from_the_questions(folder):
    fold = semeval2015(folder)
    assert [part.labels.tolist() for part in fold] == [[2], [2], [1]]
    assert fold.test.features.tolist() == [[0, 1, 2, 3, 4]]
    assert fold.test.feature_names == ("context_1", "heuristics_1", "lexical_1", "glove_composes_1", "lsa_1")


def test_errors(folder):
    _write_xml(folder, "Q1_C2")
    with pytest.raises(rs.InputError, match="no label of answer 'Q1_C1'; fetch the file again"):
        semeval2015(folder)
    (folder / "CQA-QL-test.xml.gz").write_bytes(gzip.compress(b"<root>\n<Comment"))
    with pytest.raises(
        rs.InputError, match=r"CQA-QL-test.xml.gz:2: damaged XML \(unclosed token\); fetch the file again"
    ):
        semeval2015(folder)
    other = b"qid,cgold,cgold_yn,f1\nQ1_C2,Good,,0\n"
    (folder / "lexical.wei.train.csv.gz").write_bytes(gzip.compress(other))
    with pytest.raises(rs.InputError, match=r"lexical.wei.train.csv.gz:1: answers other than those in the first file"):
        semeval2015(folder)
