"""Examples in tables: which column is what, what is left out and said, what is refused and in which line."""

import math
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ranksift as rs

nan = math.nan

CSV = "qid,label,docno,bm25,length\nq1,2,x,7.5,100\nq1,,y,3.25,\nq2,-1,x,1e-3,7\n"
ROWS = {"query_ids": ("q1", "q2"), "docs": ("x", "y", "x"), "feature_names": ("bm25", "length")}


def check(examples: rs.Examples) -> None:
    assert {name: getattr(examples, name) for name in ROWS} == ROWS
    np.testing.assert_array_equal(examples.labels, [2, nan, -1])
    np.testing.assert_array_equal(examples.features, [[7.5, 100], [3.25, nan], [0.001, 7]])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", CSV),
        ("a.csv.gz", CSV),
        ("a.tsv", CSV.replace(",", "\t")),
        ("a.tsv.zst", CSV.replace(",", "\t")),
        ("crlf.csv", CSV.replace("\n", "\r\n")),
        ("quoted.csv", CSV.replace("x", '"x"').replace("7.5", '"7.5"')),
        ("names.csv", CSV.replace("qid,label,docno", "Query-ID,Relevance,Doc ID")),
        ("null.csv", CSV.replace("3.25,\n", "3.25,NULL\n").replace("q1,,y", "q1,NaN,y")),
        ("na.csv", CSV.replace("3.25,\n", "3.25,NA\n").replace("q1,,y", "q1,NA,y")),
    ],
)
def test_text(write, name, text):
    check(rs.read_examples(write(name, text)))


FRAME = pl.DataFrame(
    {
        "qid": ["q1", "q1", "q2"],
        "label": [2, None, -1],
        "docno": ["x", "y", "x"],
        "bm25": [7.5, 3.25, 0.001],
        "length": [100, None, 7],
    }
)


def test_frames(tmp_path):
    check(rs.read_examples(FRAME))
    check(rs.read_examples(FRAME.lazy()))
    check(rs.read_examples(FRAME.to_pandas()))
    check(rs.read_examples(FRAME.to_arrow()))
    check(rs.read_examples(FRAME.to_pandas().astype({"label": object, "length": "Int64"})))
    check(rs.read_examples(FRAME.to_pandas().set_index(["qid", "docno"])))
    check(rs.read_examples(FRAME.to_pandas().set_index("qid")))
    check(
        rs.read_examples(FRAME.with_columns(pl.col("bm25").cast(pl.Decimal(10, 5)), pl.col("length").cast(pl.Float32)))
    )
    FRAME.write_parquet(tmp_path / "a.parquet")
    examples = rs.read_examples(tmp_path / "a.parquet")
    check(examples)
    assert examples.name == str(tmp_path / "a.parquet")


def test_order_of_columns_and_of_rows_is_kept():
    frame = pl.DataFrame({"b": [1, 2, 3], "qid": [7, 8, 7], "a": [4, 5, 6]})
    examples = rs.read_examples(frame)
    assert examples.feature_names == ("b", "a")
    assert examples.query_ids == ("7", "8")
    assert examples.features.tolist() == [[1, 4], [3, 6], [2, 5]]
    assert examples.row.tolist() == [0, 2, 1]
    assert examples.docs == ("d1", "d2", "d1")
    assert not examples.judged.any()


def test_a_score_is_a_feature_and_no_label():
    examples = rs.read_examples(pl.DataFrame({"qid": [1], "score": [2.5], "value": [1]}))
    assert examples.feature_names == ("score", "value")
    assert not examples.judged.any()


def test_booleans_are_numbers_in_frames():
    frame = pl.DataFrame({"qid": [1, 1], "fresh": [True, None]})
    np.testing.assert_array_equal(rs.read_examples(frame).features, [[1], [nan]])


def test_a_column_of_nothing_is_a_feature(write):
    examples = rs.read_examples(write("a.csv", "qid,a,b\n1,,2\n1,NULL,3\n"))
    np.testing.assert_array_equal(examples.features, [[nan, 2], [nan, 3]])
    frame = pl.DataFrame({"qid": [1], "a": [None], "b": pl.Series([None], dtype=pl.String), "c": [1]})
    np.testing.assert_array_equal(rs.read_examples(frame).features, [[nan, nan, 1]])


def test_columns_without_numbers_are_left_out_with_a_note(write):
    path = write("a.csv", "qid,title,bm25,url\n1,one,2,u\n1,,3,NaN\n")
    with pytest.warns(rs.RankSiftWarning) as caught:
        examples = rs.read_examples(path)
    assert examples.feature_names == ("bm25",)
    assert [str(note.message) for note in caught] == [
        f"{path}: columns 'title', 'url' are left out: not features by their names, or without numbers"
    ]
    assert caught[0].filename == __file__
    frame = pl.DataFrame({"qid": [1, 1], "title": ["one", None], "day": [None, date(2020, 1, 1)], "bm25": [2, 3]})
    with pytest.warns(rs.RankSiftWarning, match="^columns 'title', 'day' are left out"):
        assert rs.read_examples(frame).feature_names == ("bm25",)
    with pytest.warns(rs.RankSiftWarning, match="^column 'title' is left out"):
        assert rs.read_examples(pd.DataFrame({"qid": [1, 1], "title": ["one", nan], "a": [1, 2]})).feature_names == (
            "a",
        )


@pytest.mark.parametrize("name", ["", "index", "Unnamed: 0", "docid", "query", "relevance"])
def test_columns_that_are_no_features_by_their_names(write, name):
    path = write("a.csv", f"{name},qid,label,docno,bm25\n0,1,1,x,2\n1,1,0,y,3\n")
    with pytest.warns(rs.RankSiftWarning, match=f"column '{name}' is left out: not a feature by its name"):
        examples = rs.read_examples(path)
    assert examples.feature_names == ("bm25",)
    assert examples.docs == ("x", "y")


def test_a_nameless_index_is_no_column():
    frame = FRAME.to_pandas()
    check(rs.read_examples(frame.set_index(pd.Index([5, 3, 8]))))


def test_features_by_name(write):
    path = write("a.csv", "qid,title,bm25,length\n1,one,2,5\n1,two,3,x\n")
    examples = rs.read_examples(path, features=["bm25"])
    assert examples.features.tolist() == [[2], [3]]
    many = write("b.csv", "qid,a,b,c,docid,docno\n1,1,2,3,4,x\n")
    assert rs.read_examples(many, features=["c", "a"]).features.tolist() == [[3, 1]]
    assert rs.read_examples(many, features=["docid"]).features.tolist() == [[4]]


@pytest.mark.parametrize(
    ("text", "features", "message"),
    [
        ("label,bm25\n1,2\n", None, ":1: no column for the query among 'label', 'bm25'; name it query_id (or qid,"),
        ("qid,bm25\n", None, ":1: no row in this table; give one row per document"),
        ("qid,label,docno\n1,2,x\n", None, ":1: no feature among 'qid', 'label', 'docno'; give at least one"),
        ("qid,bm25\n1,2\n1,x\n", None, ":3: column 'bm25': value 'x' is not a number; write a number or nothing into"),
        ("qid,bm25\n1,x\n1,2\n", None, ":2: column 'bm25': value 'x' is not a number"),
        ("qid,bm25\n1,2\n1,inf\n", None, ":3: column 'bm25': value 'inf' is not finite"),
        ("qid,bm25\n1,2\n1,-inf\n", None, ":3: column 'bm25': value '-inf' is not finite"),
        ("qid,bm25,label\n1,2,Good\n", None, ":2: column 'label': label 'Good' is not a number; write a number"),
        ("qid,bm25\n1,2\n,2\n", None, ":3: column 'qid': the query id is missing; give every row a query"),
        ("qid,docno,bm25\n1,x,2\n1,,2\n", None, ":3: column 'docno': the document id is missing"),
        ("qid,bm25\n1,2\n1,2,3\n", None, ":3: 3 fields where the header has 2; give every line as many fields"),
        ("qid,a,a\n1,2,3\n", None, ":1: two features are called 'a'; rename one of them"),
        ("qid,label,label,a\n1,2,3,4\n", None, ":1: two columns are called 'label'; rename one of them"),
        ("qid,a\n1,2\n", ["b"], ":1: no column 'b'; it has 'qid', 'a'"),
        ("qid,a\n1,2\n", ["qid"], ":1: column 'qid' is the query, the document or the label; name features only"),
        ("qid,a,title\n1,2,x\n", ["title"], ":2: column 'title': value 'x' is not a number"),
        ("qid,a\n1,2\n", ["a", "a"], "feature 'a' is named twice"),
        (
            "qid,label,a\n1,9007199254740993,2\n",
            None,
            ":2: label 9.0072e+15 is too large to be kept exactly; use labels",
        ),
    ],
)
def test_faults(write, text, features, message):
    path = write("a.csv", text)
    with pytest.raises(rs.InputError) as caught:
        rs.read_examples(path, features=features)
    assert str(caught.value).startswith((f"{path}{message}", message))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"qid": [1, 1], "a": [1.0, math.inf]}), "row 2: column 'a': value inf is not finite"),
        (pd.DataFrame({"qid": [1, 1], "a": [1, "x"]}), "row 2: column 'a': value 'x' is not a number"),
        (pl.DataFrame({"qid": [1, None], "a": [1, 2]}), "row 2: column 'qid': the query id is missing"),
        (pl.DataFrame({"qid": [1.5], "a": [1]}), "row 1: column 'qid': query id 1.5 is a Float64"),
        (pl.DataFrame({"qid": [1], "a": ["7"]}), "row 1: column 'a': value '7' is a String, not a number"),
    ],
)
def test_faults_in_frames(frame, message):
    with pytest.raises(rs.InputError) as caught:
        rs.read_examples(frame)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("source", ["a.jsonl", 7, {"q": {"d": 1}}])
def test_sources_that_are_no_table(source):
    with pytest.raises(rs.InputError):
        rs.read_examples(source)


@pytest.mark.parametrize("name", ["label", "qid", "doc", "index", "", " a"])
def test_features_that_would_not_be_read_back_are_not_written(tmp_path, name):
    examples = rs.Examples.from_arrays([[1.0, 2.0]], [1], ["q"], feature_names=["x", name])
    with pytest.raises(rs.InputError, match="; rename "):
        examples.save(tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())
