"""Tables with texts: which column is what, words as labels, and rows that cannot be read."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.readers.example_table import Layout

ROW = {"query_id": "q1", "query": "A car?", "doc_id": "d1", "doc": "Oasis", "label": 1}


def row(**other):
    return {**ROW, **other}


def lines(*rows) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in rows)


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "a.jsonl"):
        path = tmp_path / name
        path.write_text(text, newline="")
        return path

    return write


# -- which column is what --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "query", "doc", "texts"),
    [
        ("query_id query doc_id doc label", 0, 2, (1, 3)),
        ("qid query docno text", 0, 2, (1, 3)),
        ("question_id question_text answer_text label", 0, None, (1, 2)),
        ("Question-ID Question Document-ID Sentence Label", 0, 2, (1, 3)),
        ("question answer", None, None, (0, 1)),
        ("query question doc answer", 0, 2, (1, 3)),
        ("topic query corpus_id document", 0, 2, (1, 3)),
        # A document that has no other name is an id, as it was before there were texts.
        ("query_id query doc bm25", 0, 2, None),
        ("query doc bm25", 0, 1, None),
        ("qid query docno bm25", 0, 2, None),
        ("query docno text bm25", 0, 1, None),
    ],
)
def test_texts_are_found_by_their_names(names, query, doc, texts):
    found = Layout.with_texts(names.split()) or Layout.of(names.split())
    assert (found.query, found.doc) == (query, doc)
    assert (found.texts and (found.texts.query, found.texts.doc)) == texts


@pytest.mark.parametrize(
    "names", ["query doc label", "query_id query doc", "query text", "query docno text", "qid query document label"]
)
def test_what_can_be_nothing_else_is_a_text(write, names):
    names = names.split()
    values = {"label": "1", "docno": "d7", "query_id": "7", "qid": "7"}
    path = write(",".join(names) + "\n" + ",".join(values.get(name, f"the {name}") for name in names) + "\n", "a.csv")
    examples = rs.read_examples(path)
    assert examples.texts.queries == ("the query",)
    assert examples.query_ids == ("7",) if {"query_id", "qid"} & set(names) else ("q1",)
    assert examples.docs == ("d7",) if "docno" in names else ("d1",)
    assert not examples.feature_names


def test_features_beside_texts(write):
    path = write(lines(row(bm25=2.5, position=3, author="ann", url="x"), row(doc_id="d2", bm25=None, author=7)))
    with pytest.warns(
        rs.RankSiftWarning, match="column 'url' is left out: not a feature by its name, or without numbers"
    ):
        examples = rs.read_examples(path)
    assert examples.feature_names == ("bm25",)
    np.testing.assert_array_equal(examples.features, [[2.5], [np.nan]])
    np.testing.assert_array_equal(examples.texts.position, [3, np.nan])
    assert examples.texts.author == ("ann", "7")
    assert examples.texts.time is examples.texts.parent is examples.texts.asker is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rs.read_examples(path, features=()).feature_names == ()
    assert rs.read_examples(path, features=["bm25"]).texts.docs == ("Oasis", "Oasis")
    with pytest.raises(rs.InputError, match="column 'doc' is the query, the document or the label; name features only"):
        rs.read_examples(path, features=["doc"])


def test_columns_of_numbers_are_no_texts(write):
    """A table that had features called so before there were texts."""
    path = write("qid,question,docno,text,bm25\n1,4,d1,0.5,7\n1,5,d2,1.5,8\n", "a.csv")
    examples = rs.read_examples(path)
    assert examples.texts is None
    assert examples.feature_names == ("question", "text", "bm25")


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_frames(frame):
    table = {"query_id": [1, 2, 1], "query": ["a?", "b?", "a?"], "doc_id": [1, 2, 3], "doc": ["x", "y", "z"],
             "label": [1, None, -1], "author": ["ann", None, "bob"], "f": [0.5, 1.5, 2.5]}  # fmt: skip
    examples = rs.read_examples(frame(table))
    assert examples.texts.queries == ("a?", "b?")
    assert examples.texts.docs == ("x", "z", "y")
    assert examples.texts.author == ("ann", "bob", None)
    assert examples.features.tolist() == [[0.5], [2.5], [1.5]]
    np.testing.assert_array_equal(examples.labels, [1, -1, np.nan])


def test_a_text_is_taken_as_it_is(write):
    said = ' "quoted",\ttabbed\nand broken ; NULL '
    for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet"):
        rs.Examples.from_texts(["nan"], [said]).save(path := write("", name))
        assert rs.read_examples(path).texts.docs == (said,)
        assert rs.read_examples(path).texts.queries == ("nan",)


def test_several_files(write):
    one = write(lines(ROW), "a.jsonl")
    two = write("qid,question,answer,label\nq2,A cat?,No,-1\n", "b.csv")
    examples = rs.read_examples([one, two])
    assert examples.texts.queries == ("A car?", "A cat?")
    assert examples.docs == ("d1", "d1")


# -- words as labels -------------------------------------------------------------------------------------------------


def test_words_are_labels(write):
    path = write("question_id,question_text,answer_text,label\n1,a?,x,P\n1,a?,y, F \n1,a?,z,\n1,a?,w,0.5\n", "a.csv")
    examples = rs.read_examples(path, labels={"P": 2, "F": -1})
    np.testing.assert_array_equal(examples.labels, [2, -1, np.nan, 0.5])
    with pytest.raises(rs.InputError, match=r"a\.csv:3: no label for the word 'F'; name a label for each word"):
        rs.read_examples(path, labels={"P": 2})
    with pytest.raises(rs.InputError) as caught:
        rs.read_examples(path)
    assert str(caught.value).endswith(
        "a.csv:2: column 'label': label 'P' is not a number; "
        "write a number or nothing, or give each word a label: labels={'good': 2, 'bad': -1}"
    )


def test_words_are_labels_beside_features_too():
    table = pl.DataFrame({"qid": [1, 1], "label": ["good", "bad"], "bm25": [1, 2]})
    assert rs.read_examples(table, labels={"good": 2, "bad": -1}).labels.tolist() == [2, -1]
    assert rs.read_examples(table.with_columns(label=pl.Series([1, 7])), labels={"1": 5}).labels.tolist() == [5, 7]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["P"], r"labels \['P'\] are not a dictionary; give a label for each word"),
        ({"P": "2"}, "the label of 'P' is not a number"),
        ({"P": float("nan")}, "the label of 'P' is not a number; give a finite number"),
    ],
)
def test_labels_that_are_none(write, labels, message):
    with pytest.raises(rs.InputError, match=message):
        rs.read_examples(write(lines(ROW)), labels=labels)


def test_letor_has_neither_words_nor_bad_rows(write):
    path = write("1 qid:1 1:2\n", "a.txt")
    for options in ({"labels": {"P": 1}}, {"skip_bad_rows": True}):
        with pytest.raises(rs.InputError, match=r"are only for tables, but this is LETOR's format; give a \.csv"):
            rs.read_examples(path, **options)


# -- bad rows --------------------------------------------------------------------------------------------------------

BAD = [
    ('{"query_id": "q1", "query": ', "not JSON (Expecting value); write each line as: "),
    ("[1, 2]", "not an object but a list; write each line as: "),
    (row(doc=""), "the text of the document is empty; write a text into every row"),
    (row(doc=" \n"), "the text of the document is empty"),
    (row(doc=None), "the text of the document is missing"),
    (row(query=7), "the text of the query is a int"),
    (row(query="A cat?"), "a different text of query 'q1' than before; give each query one text and one asker"),
    (row(asker="bob"), "a different asker of query 'q1' than before"),
    (row(label="good"), "column 'label': label 'good' is not a number; write a number or nothing, or give each word"),
    (row(label=[1]), "column 'label': label [1] is not a number"),
    (row(label=1e300), "label 1e+300 is too large to be kept exactly"),
    (row(bm25="high"), "column 'bm25': value 'high' is not a number"),
    (row(position="third"), "column 'position': position 'third' is not a number"),
    (row(author={"name": "ann"}), "the author is a dict; write a name, or nothing"),
    (row(query_id=None), "column 'query_id': the query id is missing"),
    (row(doc_id=1.5), "column 'doc_id': document id 1.5 is a float"),
    ('{"query_id": "q1", "doc": "x", "doc": "y"}', "the key 'doc' occurs twice in this object"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_a_bad_row_is_refused_or_left_out(write, bad, message):
    good = [row(doc_id=f"d{i}", doc=f"text {i}", bm25=i, position=i, author="ann", asker="eve") for i in range(1, 6)]
    path = write(lines(*good[:3], "# a comment", bad, *good[3:]))
    with pytest.raises(rs.InputError) as caught:
        rs.read_examples(path)
    assert str(caught.value).startswith(f"{path}:5: {message}")
    said = message.partition("; ")[0]
    with pytest.warns(rs.RankSiftWarning) as told:
        examples = rs.read_examples(path, skip_bad_rows=True)
    assert [str(one.message) for one in told] == [f"{path}: 1 bad row of 6 is left out: line 5: {said}"]
    assert examples.texts.docs == tuple(f"text {i}" for i in range(1, 6))
    assert examples.features[:, 0].tolist() == [1, 2, 3, 4, 5]


def test_the_first_bad_row_is_named_not_that_of_the_first_column(write):
    path = write(lines(ROW, row(label="x"), row(query="")))
    with pytest.raises(rs.InputError, match=r"a\.jsonl:2: column 'label': label 'x'"):
        rs.read_examples(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_bad_rows_of_a_text(write, suffix):
    comma = {"csv": ",", "tsv": "\t"}[suffix]
    rows = ["query_id,query,doc_id,doc,label,bm25", "1,a?,d1,x,1,0.5", "1,a?,d2,y,1", "1,a?,d3,,1,2", "1,a?,,x,1,2",
            '1,a?,d5,"two\nlines",1,high', "1,a?,d6,w,-1,7", "1,b?,d7,v,-1,7"]  # fmt: skip
    path = write("\n".join(rows).replace(",", comma) + "\n", f"a.{suffix}")
    with pytest.raises(rs.InputError, match=rf"a\.{suffix}:3: 5 fields where the header has 6"):
        rs.read_examples(path)
    with pytest.warns(rs.RankSiftWarning) as told:
        examples = rs.read_examples(path, skip_bad_rows=True)
    assert [str(one.message) for one in told] == [
        f"{path}: 5 bad rows of 7 are left out: line 3: 5 fields where the header has 6; "
        "line 4: the text of the document is empty; line 5: column 'doc_id': the document id is missing; …"
    ]
    assert examples.docs == ("d1", "d6")


def test_bad_rows_of_a_frame_and_of_features_alone():
    table = pd.DataFrame({"qid": [1, 1, 1, 2], "bm25": [1, "x", 3, 4], "label": [1, 1, 0, "?"]})
    with pytest.warns(rs.RankSiftWarning, match=r"^2 bad rows of 4 are left out: row 2: column 'bm25': value 'x' is"):
        examples = rs.read_examples(table, skip_bad_rows=True)
    assert examples.features.tolist() == [[1], [3]]


def test_a_column_of_mostly_words_is_no_feature_where_bad_rows_are_skipped(write):
    path = write(lines(*(row(doc_id=f"d{i}", title=title) for i, title in enumerate(["Up", "Cars", "1984"]))))
    with pytest.raises(rs.InputError, match="column 'title': value 'Up' is not a number"):
        rs.read_examples(path)
    with pytest.warns(rs.RankSiftWarning, match="column 'title' is left out"):
        assert len(rs.read_examples(path, skip_bad_rows=True)) == 3


def test_good_rows_are_no_warning(write):
    assert len(rs.read_examples(write(lines(ROW)), skip_bad_rows=True)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; write each line as: "),
        ("# nothing\n", "no row in this table|no column"),
        ("{]\n{]\n", r"a\.jsonl:1: not JSON"),
        (lines(*[row(doc="")] * 3), r"a\.jsonl:1: the text of the document is empty"),
        (lines(*[row(doc="")] * 3000), r"a\.jsonl:1: the text of the document is empty"),
    ],
)
def test_nothing_is_left(write, text, message):
    with pytest.raises(rs.InputError, match=message):
        rs.read_examples(write(text), skip_bad_rows=True)


def test_most_rows_are_bad(write):
    path = write(lines(*[row(doc="")] * 1500, *[ROW] * 1400))
    with pytest.raises(rs.InputError, match=r"a\.jsonl:1: the text of the document is empty"):
        rs.read_examples(path, skip_bad_rows=True)


def test_objects_without_a_common_key_fill_no_memory(write):
    path = write(lines(*(row(**{f"f{i}": 1}) for i in range(5000))))
    with pytest.raises(rs.InputError, match=r"objects of 5,005 different keys; give all objects the same keys"):
        rs.read_examples(path)


@settings(max_examples=60)
@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
def test_as_many_rows_are_left_out_as_are_bad(tmp_path_factory, good, seed):
    draw = np.random.default_rng(seed)
    damage = [BAD[i][0] for i in draw.integers(0, len(BAD), len(good))]
    known = {"bm25": 1, "position": 1, "author": "ann", "asker": "eve"}
    # Good ones come first: they say what the others contradict, and that most of a column are numbers.
    rows = [row(doc_id=f"g{i}", **known) for i in range(50)]
    rows += [row(doc_id=f"d{i}", **known) if ok else damage[i] for i, ok in enumerate(good)]
    path = tmp_path_factory.mktemp("bad") / "a.jsonl"
    path.write_text(lines(*rows))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        examples = rs.read_examples(path, skip_bad_rows=True)
    assert len(examples) == 50 + sum(good)
    bad = len(good) - sum(good)
    assert len(told) == (bad > 0)
    if bad:
        assert f" {bad} bad row" in str(told[0].message)
        first = 51 + good.index(False)
        assert f": line {first}: " in str(told[0].message)
