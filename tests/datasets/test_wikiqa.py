"""WikiQA: its own totals, and files that are damaged."""

import gzip

import pytest

import ranksift as rs
from ranksift.datasets import wikiqa

HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"


def test_parts(data_dir):
    fold = wikiqa(data_dir / "wikiqa")
    assert [len(part.query_ids) for part in fold] == [2118, 296, 633]
    assert [len(part) for part in fold] == [20360, 2733, 6165]
    assert [int(part.labels.sum()) for part in fold] == [1040, 140, 293]
    assert fold.validation.docs[:2] == ("D8-0", "D8-1")
    assert fold.validation.texts.queries[0] == "How are epithelial tissues joined together?"
    assert fold.train.query_ids[:2] == ("train-1", "train-2")


@pytest.fixture
def folder(tmp_path):
    for part in ("dev", "test"):
        rows = [
            HEADER,
            'Q1\ta "big" one?\tD1\tT\tD1-0\tNo "quotes',
            "Q2\tb?\tD2\tT\tD2-0\tYes",
            'Q1\ta "big" one?\tD1\tT\tD1-2\tHm',
        ]
        (tmp_path / f"WikiQA-{part}.tsv").write_text(
            "\r\n".join([rows[0], *(f"{row}\t{i % 2}" for i, row in enumerate(rows[1:]))])
        )
    (tmp_path / "WikiQA-train.txt.gz").write_bytes(
        gzip.compress(b"how ?\tso .\t1\nwhy ?\tbecause .\t0\nhow ?\tnot so .\t0\n")
    )
    return tmp_path


def test_rows(folder):
    train, dev, _ = wikiqa(folder)
    assert train.query_ids == ("train-1", "train-2")
    assert train.docs == ("d1", "d2", "d1")
    assert train.texts.docs == ("so .", "not so .", "because .")
    assert train.texts.position.tolist() == [1, 2, 1]
    assert dev.texts.queries == ('a "big" one?', "b?")
    assert dev.texts.docs == ('No "quotes', "Hm", "Yes")
    assert dev.docs == ("D1-0", "D1-2", "D2-0")
    assert dev.labels.tolist() == [0, 0, 1]
    assert dev.name.endswith("(dev)")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("dev.tsv", "a\tb\n", r"WikiQA-dev\.tsv:1: not the header of WikiQA; fetch the file again"),
        ("dev.tsv", HEADER + "\nQ1\ta?\t0\n", r"WikiQA-dev\.tsv:2: 3 fields where WikiQA has 7"),
        ("dev.tsv", HEADER + "\nQ1\ta?\tD\tT\tS\tyes\t2\n", r"tsv:2: label '2' is neither 0 nor 1"),
        ("dev.tsv", HEADER + "\nQ1\ta?\tD\tT\tS\t \t1\n", r"tsv:2: a text is empty"),
        ("dev.tsv", HEADER + "\n", "there is no sentence; name a folder of WikiQA"),
        ("dev.tsv", HEADER + "\nQ1\ta?\tD\tT\tS\tx\t1\nQ1\tb?\tD\tT\tS1\tx\t1\n", "a different text of query 'Q1'"),
        ("test.tsv", None, r"there is no WikiQA-test\.tsv; name a folder of WikiQA"),
    ],
)
def test_errors(folder, file, text, message):
    path = folder / f"WikiQA-{file}"
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(rs.InputError, match=message):
        wikiqa(folder)
