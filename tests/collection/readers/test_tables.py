"""What is written reads back equal, in every format; Parquet's faults."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs

SUFFIXES = ["csv", "tsv", "jsonl", "ndjson", "parquet", "pq", "csv.gz", "tsv.zst", "jsonl.gz", "parquet.zst"]

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
nasty = st.sampled_from(
    [",", '"', '""', "\n", "\r\n", "\r", "\t", " a", "a ", "#", "null", "007", "\0", "\ufeff", "NaN", "'", "\\"]
)
ids = st.one_of(names, nasty)
scores = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([-0.0, 5e-324, 1.7976931348623157e308, 0.1])
)
labels = st.one_of(st.integers(-(2**53) + 1, 2**53 - 1), st.floats(-1e9, 1e9))


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60)
@given(run=st.dictionaries(ids, st.dictionaries(ids, scores, max_size=5), max_size=4))
def test_runs_read_back_equal(tmp_path_factory, suffix, run):
    path = tmp_path_factory.mktemp("table") / f"a.{suffix}"
    before = rs.read_run(run)
    before.save(path)
    after = rs.read_run(path)
    assert after.to_dict() == before.to_dict() == {q: docs for q, docs in run.items() if docs}
    assert after.query_ids == before.query_ids
    assert after.docs.tolist() == before.docs.tolist()


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60)
@given(judged=st.dictionaries(ids, st.dictionaries(ids, labels, min_size=1, max_size=5), min_size=1, max_size=4))
def test_qrels_read_back_equal(tmp_path_factory, suffix, judged):
    path = tmp_path_factory.mktemp("table") / f"a.{suffix}"
    before = rs.read_qrels(judged)
    before.save(path)
    after = rs.read_qrels(path)
    assert after.to_dict() == before.to_dict() == judged
    assert after.whole == before.whole == all(isinstance(v, int) for docs in judged.values() for v in docs.values())


@pytest.mark.parametrize("suffix", [*SUFFIXES, "run", "run.gz"])
def test_a_run_that_filtered_everything_reads_back(tmp_path, suffix):
    path = tmp_path / f"filtered.{suffix}"
    rs.read_run({"q1": {}}).save(path)
    assert path.stat().st_size > 0
    run = rs.read_run(path)
    assert len(run) == 0
    assert run.name == "filtered"
    with pytest.raises(rs.InputError, match="no judgment in"):
        rs.read_qrels(path)


def test_files_are_what_other_programs_expect(tmp_path):
    run = rs.read_run({"q1": {"a": 1.5, "b": 2.0}})
    for suffix, text in {
        "csv": "query_id,doc_id,rank,score\nq1,b,1,2.0\nq1,a,2,1.5\n",
        "tsv": "query_id\tdoc_id\trank\tscore\nq1\tb\t1\t2.0\nq1\ta\t2\t1.5\n",
        "jsonl": (
            '{"query_id":"q1","doc_id":"b","rank":1,"score":2.0}\n{"query_id":"q1","doc_id":"a","rank":2,"score":1.5}\n'
        ),
    }.items():
        run.save(tmp_path / f"a.{suffix}")
        assert (tmp_path / f"a.{suffix}").read_text() == text
    run.save(tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet").rows() == [("q1", "b", 1, 2.0), ("q1", "a", 2, 1.5)]
    rs.read_qrels({"q1": {"a": -2}}).save(tmp_path / "q.csv")
    assert (tmp_path / "q.csv").read_text() == "query_id,doc_id,label\nq1,a,-2\n"


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"qid": ["q", None], "docno": ["a", "b"], "score": [1.0, 2.0]}, "a.parquet: row 2: the query id is missing"),
        (
            {"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, float("nan")]},
            "a.parquet: row 2: score nan is not finite",
        ),
        (
            {"qid": ["q", "q"], "docno": ["a", "a"], "score": [1.0, 2.0]},
            "a.parquet: row 2: document 'a' is listed twice",
        ),
        ({"qid": ["q"], "docno": [1.5], "score": [1.0]}, "a.parquet: row 1: document id 1.5 is a Float64"),
        ({"qid": ["q"], "docno": ["a"]}, "a.parquet: no column for the score among 'qid', 'docno'"),
    ],
)
def test_faults_in_parquet(tmp_path, columns, complaint):
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(rs.InputError, match=complaint):
        rs.read_run(tmp_path / "a.parquet")


def test_parquet_with_other_columns_and_integers(tmp_path):
    frame = pl.DataFrame(
        {"text": ["x", "y"], "qid": [1, 2], "docno": [10, 20], "list": [[1], [2]], "label": [True, False]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    assert rs.read_qrels(tmp_path / "a.parquet").to_dict() == {"1": {"10": 1}, "2": {"20": 0}}


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", b"PAR1PAR1", b"query_id,doc_id,score\n", b"PAR1" + b"\xff" * 100 + b"PAR1"]
)
def test_what_is_no_parquet(tmp_path, data):
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(rs.InputError, match=r"a.parquet: not a readable Parquet file") as error:
        rs.read_run(tmp_path / "a.parquet")
    assert "\n" not in str(error.value)
