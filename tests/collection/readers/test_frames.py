"""Frames of polars, pandas and pyarrow."""

import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ranksift as rs
from ranksift.collection.readers import frames

COLUMNS = {"query_id": ["q1", "q2", "q1"], "doc_id": ["d1", "é", "x" * 300], "label": [2, -2, 0]}
FOUND = {"q1": {"d1": 2, "x" * 300: 0}, "q2": {"é": -2}}

MAKERS = {
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "polars, categories": lambda c: pl.DataFrame(c).with_columns(pl.col("query_id", "doc_id").cast(pl.Categorical)),
    "polars, objects": lambda c: pl.DataFrame([pl.Series(n, v, dtype=pl.Object) for n, v in c.items()]),
    "pandas": pd.DataFrame,
    "pandas, objects": lambda c: pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in c.items()}),
    "pandas, python strings": lambda c: pd.DataFrame(c).astype(
        {"query_id": "string[python]", "doc_id": "string[python]"}
    ),
    "pandas, arrow strings": lambda c: pd.DataFrame(c).astype(
        {"query_id": "string[pyarrow]", "doc_id": "string[pyarrow]"}
    ),
    "pandas, arrow": lambda c: pa.table(c).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, categories": lambda c: pd.DataFrame(c).astype({"query_id": "category", "doc_id": "category"}),
    "pandas, nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "pandas, odd index": lambda c: pd.DataFrame(c, index=[7, 7, 3]),
    "pandas, big endian": lambda c: pd.DataFrame(
        {n: np.array(v, dtype=">i4") if n == "label" else v for n, v in c.items()}
    ),
    "pyarrow": pa.table,
    "pyarrow, dictionaries": lambda c: pa.table(
        {n: pa.array(v).dictionary_encode() if n != "label" else v for n, v in c.items()}
    ),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_kinds_of_frames(maker):
    qrels = rs.read_qrels(MAKERS[maker](COLUMNS))
    assert qrels.to_dict() == FOUND
    assert qrels.whole
    assert len(rs.read_run(MAKERS[maker]({**COLUMNS, "score": COLUMNS["label"]}))) == 3


def test_anything_that_streams_arrow():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert rs.read_qrels(Frame()).to_dict() == FOUND


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize(
    ("noun", "names"),
    [
        ("label", ["query_id", "doc_id", "relevance"]),  # ir_measures
        ("score", ["query_id", "doc_id", "score"]),
        ("label", ["qid", "docno", "label"]),  # PyTerrier
        ("score", ["qid", "docno", "score"]),
        ("score", ["q_id", "doc_id", "score"]),  # ranx
        ("label", ["query-id", "corpus-id", "score"]),  # BEIR
    ],
)
def test_frames_of_others(make, noun, names):
    frame = make(dict(zip(names, [["q1", "q1"], ["d1", "d2"], [2, 1]], strict=True)))
    read = rs.read_qrels if noun == "label" else rs.read_run
    assert read(frame).to_dict() == {"q1": {"d1": 2, "d2": 1}}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_integers_are_ids_by_their_digits(make):
    frame = make({"qid": [10, -3], "docno": np.array([2**64 - 1, 0], dtype=np.uint64), "label": [1, 0]})
    assert rs.read_qrels(frame).to_dict() == {"10": {str(2**64 - 1): 1}, "-3": {"0": 0}}


@pytest.mark.parametrize(
    ("labels", "whole"),
    [
        (pl.Series([1, 0], dtype=pl.Int8), True),
        (pl.Series([1, 0], dtype=pl.UInt64), True),
        (pl.Series([True, False]), True),
        (pl.Series([Decimal(1), Decimal(0)], dtype=pl.Decimal(10, 0)), True),
        (pl.Series([Decimal("0.1"), Decimal("0.30")]), False),
        (pl.Series([0.1, 1.0], dtype=pl.Float32), False),
        (pl.Series([1.0, 0.0]), False),
    ],
)
def test_kinds_of_labels(labels, whole):
    qrels = rs.read_qrels(pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "label": labels}))
    assert list(qrels.to_dict()["q"].values()) == [float(v) for v in labels]
    assert qrels.whole is whole


def test_decimals_are_rounded_once():
    exact = Decimal("0.1234567890123456789012345")
    score = pl.Series([exact], dtype=pl.Decimal(38, 25))
    assert rs.read_run(pl.DataFrame({"qid": ["q"], "docno": ["a"], "score": score})).scores.tolist() == [float(exact)]


NAN = float("nan")


@pytest.mark.parametrize(
    ("column", "values", "complaint"),
    [
        ("query_id", ["q", None, "q"], "row 2: the query id is missing; give every query and document an id"),
        ("doc_id", ["a", "b", ""], "row 3: the document id is empty"),
        ("doc_id", [1.0, 2.0, 3.0], "row 1: document id 1.0 is a (Float64|float); (convert the column|write ids)"),
        ("doc_id", [True, False, True], "row 1: document id True is a (Boolean|bool)"),
        ("label", [1, None, 2], "row 2: (the label is missing|label nan is not finite)"),
        ("label", [1.0, 2.0, NAN], "row 3: (the label is missing|label nan is not finite)"),
        ("label", [1.0, float("-inf"), 0.0], "row 2: label -inf is not finite; give every document a finite label"),
        ("label", ["1", "2", "3"], "row 1: label '1' is (a String, )?not a number"),
    ],
)
@pytest.mark.parametrize(
    "make", [pl.DataFrame, pd.DataFrame, pa.table, MAKERS["pandas, objects"], MAKERS["polars, objects"]]
)
def test_error_names_the_row(make, column, values, complaint):
    columns = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "label": [1, 2, 3], column: values}
    with pytest.raises(rs.InputError, match=f"^({complaint})"):
        rs.read_qrels(make(columns))


@pytest.mark.parametrize(
    ("column", "values", "complaint"),
    [
        ("qid", ["q", 1.5, "q"], "row 2: query id 1.5 is a float; write ids as strings"),
        ("qid", ["q", NAN, "q"], "row 2: the query id is missing"),
        ("qid", ["q", pd.NA, "q"], "row 2: the query id is missing"),
        ("qid", ["q", b"q", "q"], "row 2: query id b'q' is a bytes"),
        pytest.param(
            "qid", ["q", 10**5000, "q"], "row 2: query id of more than 40 digits is too long", id="5000 digits"
        ),
        ("qid", ["q", "\ud800", "q"], r"row 2: query id '\\ud800' is not valid text"),
        ("label", [1, "x", 2], "row 2: label 'x' is not a number"),
        ("label", [1, pd.NA, 2], "row 2: the label is missing"),
        ("label", [1, 10**400, 2], "row 2: label of more than 40 digits is too large"),
    ],
)
def test_error_in_mixed_columns_of_pandas(column, values, complaint):
    columns = {
        "qid": ["q", "q", "q"],
        "docno": ["a", "b", "c"],
        "label": [1, 2, 3],
        column: pd.Series(values, dtype=object),
    }
    with pytest.raises(rs.InputError, match=f"^{complaint}"):
        rs.read_qrels(pd.DataFrame(columns))


def test_mixed_columns_of_pandas_that_make_sense():
    frame = pd.DataFrame(
        {"qid": pd.Series(["q", 7], dtype=object), "docno": ["a", "b"], "label": pd.Series([1, 0.5], dtype=object)}
    )
    assert rs.read_qrels(frame).to_dict() == {"q": {"a": 1.0}, "7": {"b": 0.5}}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_duplicates(make):
    frame = make({"qid": ["q", "z", "q", "q"], "docno": ["a", "a", "b", "a"], "score": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(rs.InputError, match=r"^row 4: document 'a' is listed twice for query 'q', with scores 1 and 4"):
        rs.read_run(frame)
    assert rs.read_run(frame, on_duplicate="first").to_dict()["q"] == {"b": 3.0, "a": 1.0}
    assert rs.read_run(frame, on_duplicate="best").to_dict()["q"] == {"a": 4.0, "b": 3.0}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_empty_frames(make):
    frame = make({"qid": [], "docno": [], "score": []})
    assert len(rs.read_run(frame)) == 0
    with pytest.raises(rs.InputError, match="no judgment in it"):
        rs.read_qrels(frame)
    with pytest.raises(rs.InputError, match="no column for the query among no columns at all"):
        rs.read_run(make())


def test_columns_of_pandas_that_share_a_name():
    frame = pd.DataFrame([["q", "d", 1, 2]], columns=["qid", "docno", "label", "label"])
    with pytest.raises(rs.InputError, match="two columns are called 'label'"):
        rs.read_qrels(frame)


@pytest.mark.parametrize(
    "source",
    [
        3,
        None,
        [("q", "d", 1)],
        np.zeros((2, 3)),
        pd.Series([1]),
        pl.Series([1]),
        pa.array([1]),
        {1, 2},
        b"a.run",
        object,
    ],
)
def test_what_is_no_frame(source):
    with pytest.raises(rs.InputError, match=r"^(cannot read a |no column for the query)"):
        rs.read_run(source)


def test_frames_are_left_as_they_are():
    scores = np.array([1.0, 3.0, 2.0])
    pandas = pd.DataFrame({"qid": ["q"] * 3, "docno": ["a", "b", "c"], "score": scores})
    polars = pl.DataFrame({"qid": ["q"] * 3, "docno": ["a", "b", "c"], "score": scores})
    for frame in (pandas, polars):
        assert rs.read_run(frame).scores.tolist() == [3.0, 2.0, 1.0]
        assert list(frame["score"]) == [1.0, 3.0, 2.0]
        assert list(frame["docno"]) == ["a", "b", "c"]


def test_pandas_is_read_without_pyarrow(monkeypatch):
    frame = MAKERS["pandas, python strings"](COLUMNS)
    objects = MAKERS["pandas, objects"](COLUMNS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert rs.read_qrels(frame).to_dict() == rs.read_qrels(objects).to_dict() == FOUND


# -- frames made of collections ----------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 2, 1 << 20])
def test_frame_of_a_run_and_of_qrels(monkeypatch, step):
    monkeypatch.setattr(frames, "_STEP", step)
    docs = {"a": 0.5, "é\n": 2.0, " 日": 1.0, "\ufeffx": 0.25, "x" * 300: 0.0, "\0": -1.0, "\r": -2.0}
    run = rs.read_run({"q1": docs, "q2": {"a": 1.0}})
    frame = run.to_frame()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    ranked = sorted(docs.items(), key=lambda item: -item[1])
    assert frame.rows() == [("q1", d, i, s) for i, (d, s) in enumerate(ranked, 1)] + [("q2", "a", 1, 1.0)]
    assert rs.read_run(frame).to_dict() == run.to_dict()
    for labels, kind in [([1, -2], pl.Int64), ([0.5, 1], pl.Float64)]:
        frame = rs.read_qrels({"q": dict(zip("ab", labels, strict=True))}).to_frame()
        assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "label": kind}
        assert frame["label"].to_list() == labels


def test_frame_of_an_empty_run():
    frame = rs.read_run({}).to_frame()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    assert frame.height == 0
    assert len(rs.read_run(frame)) == 0


def test_frame_of_a_file_that_is_read_in_blocks(write, small_blocks):
    text = "".join(f"q{i % 3} Q0 {'d' * (i % 11)}{i} 1 {i} t\n" for i in range(50))
    run = rs.read_run(write("a.run", text))
    assert rs.read_run(run.to_frame()).to_dict() == run.to_dict()


def test_judgments_and_runs_as_pandas_frames_take_no_pyarrow(monkeypatch):
    qrels = rs.read_qrels({"q": {"a": 2, "b": -1}, "r": {"c": 0.5}})
    run = rs.read_run({"q": {"b": 1.5, "a": 1.0}, "r": {"d": 3.0}})
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "pyarrow", None)
        judgments, documents = qrels.to_pandas(), run.to_pandas()
    for frame, expected in ((judgments, qrels.to_frame()), (documents, run.to_frame())):
        assert list(frame.columns) == expected.columns
        assert frame.to_dict("list") == expected.to_dict(as_series=False)
    assert rs.read_qrels(judgments).to_dict() == qrels.to_dict()
    assert rs.read_run(documents).to_dict() == run.to_dict()
