"""A table of scores and labels: what is read, what is refused."""

import polars as pl
import pytest

from ranksift import InputError
from ranksift.collection.readers.labelled_run import read_labelled_run


def written(tmp_path, text: str, name: str = "scored.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_query_document_score_label(tmp_path):
    path = written(tmp_path, "query,document,score,label\nq1,d1,0.9,2\nq1,d2,0.5,\nq2,d1,0.1,-1\n")
    qrels, run, cut = read_labelled_run(path)
    assert qrels.to_dict() == {"q1": {"d1": 2}, "q2": {"d1": -1}}
    assert run.to_dict() == {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.1}}
    assert cut is None


def test_without_documents_rows_are_counted(tmp_path):
    qrels, run, _ = read_labelled_run(written(tmp_path, "qid\tscore\trelevance\na\t1\t0.5\na\t2\t1\n", "s.tsv"))
    assert qrels.to_dict() == {"a": {"row 1": 0.5, "row 2": 1.0}}
    assert run.to_dict() == {"a": {"row 2": 2.0, "row 1": 1.0}}


@pytest.mark.parametrize("name", ["cut_score", "filter_score", "Cut_Score"])
def test_scores_to_cut_on(tmp_path, name):
    _, run, cut = read_labelled_run(written(tmp_path, f"query,doc,score,{name},label\nq,a,3,0.1,1\nq,b,2,0.7,0\n"))
    assert run.to_dict() == {"q": {"a": 3.0, "b": 2.0}}
    assert cut.to_dict() == {"q": {"b": 0.7, "a": 0.1}}


def test_frames_and_parquet(tmp_path):
    frame = pl.DataFrame({"query_id": [1, 1], "doc_id": ["a", "b"], "score": [0.5, 0.1], "label": [1, None]})
    frame.write_parquet(tmp_path / "s.parquet")
    frame.write_ndjson(tmp_path / "s.jsonl")
    for source in (frame, frame.to_pandas(), tmp_path / "s.parquet", tmp_path / "s.jsonl"):
        qrels, run, _ = read_labelled_run(source)
        assert qrels.to_dict() == {"1": {"a": 1}}
        assert run.to_dict() == {"1": {"a": 0.5, "b": 0.1}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("query,doc,score\nq,a,1\n", r"scored.csv:1: no column for the label"),
        ("query,doc,label\nq,a,1\n", r"scored.csv:1: no column for the score"),
        ("doc,score,label\na,1,1\n", r"scored.csv:1: no column for the query"),
        ("query,doc,score,label\nq,a,1,good\n", r"scored.csv:2: label 'good' is not a number"),
        ("query,doc,score,label\nq,a,1,1\nq,b,2,inf\n", r"scored.csv:3: label 'inf' is not a number"),
        ("query,doc,score,label\nq,a,1,1e300\n", r"scored.csv:2: label '1e300' is too large"),
        ("query,doc,score,label\nq,a,high,1\n", r"scored.csv:2: column 'score'"),
        ("query,doc,score,label\nq,a,,1\n", r"scored.csv:2: column 'score'"),
        ("query,doc,score,label\nq,a,nan,1\n", r"scored.csv:2: column 'score'"),
        ("query,doc,score,label\nq,a,1,\n", r"scored.csv:1: no document has a label"),
        (
            "query,doc,score,label\nq,a,1,1\nq,a,2,1\n",
            r"scored.csv:3: document 'a' is listed twice for query 'q'; keep one",
        ),
        ("query,doc,score,label\n", r"scored.csv:1: the table has no row"),
        ("", r"scored.csv"),
    ],
)
def test_bad_tables(tmp_path, text, fault):
    with pytest.raises(InputError, match=fault) as caught:
        read_labelled_run(written(tmp_path, text))
    assert "\n" not in str(caught.value)
