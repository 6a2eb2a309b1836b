"""Examples: made of arrays, taken apart, put together, written and read back."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.examples import together

nan = math.nan


def same(a: rs.Examples, b: rs.Examples) -> bool:
    arrays = [(getattr(a, name), getattr(b, name)) for name in ("offsets", "features", "labels", "row")]
    names = [getattr(a, name) == getattr(b, name) for name in ("query_ids", "docs", "feature_names")]
    return all(names) and all(np.array_equal(x, y, equal_nan=True) for x, y in arrays)


@pytest.fixture
def examples() -> rs.Examples:
    return rs.Examples.from_arrays(
        [[1, 10], [2, nan], [3, 30], [4, 40], [5, 50]],
        [2, 0, None, -1, 0.5],
        ["b", "a", "b", "c", "a"],
        docs=["u", "v", "w", "x", "y"],
        feature_names=["bm25", "length"],
    )


def test_from_arrays(examples):
    assert examples.query_ids == ("b", "a", "c")
    assert examples.offsets.tolist() == [0, 2, 4, 5]
    assert examples.lengths.tolist() == [2, 2, 1]
    assert examples.query.tolist() == [0, 0, 1, 1, 2]
    assert examples.features[:, 0].tolist() == [1, 3, 2, 5, 4]
    np.testing.assert_array_equal(examples.labels, [2, nan, 0, 0.5, -1])
    assert examples.docs == ("u", "w", "v", "y", "x")
    assert examples.row.tolist() == [0, 2, 1, 4, 3]
    assert examples.judged.tolist() == [True, False, True, True, True]
    assert repr(examples) == "<Examples: 5 documents, 3 queries, 2 features>"


def test_groups_may_be_numbers():
    examples = rs.Examples.from_arrays(np.zeros((3, 1)), None, np.array([10, 9, 10]))
    assert examples.query_ids == ("10", "9")
    assert examples.docs == ("d1", "d2", "d1")
    assert examples.feature_names == ("1",)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2], "ab"), "features of 1 dimensions; give documents × features"),
        (([["x"]], [1], ["a"]), "a feature is not a number"),
        (([[1]], ["x"], ["a"]), "a label is not a number"),
        (([[1]], [1, 2], ["a"]), "1 rows of features, 2 labels and 1 groups; give one of each"),
        (([[1]], [1], ["a", "b"]), "1 rows of features, 1 labels and 2 groups"),
        (([[1, math.inf]], [1], ["a"]), "feature 2 of row 1 is infinite; give a finite value, or NaN"),
        (([[1], [2]], [1, -math.inf], ["a", "a"]), "label of row 2 is infinite"),
        (([[1], [2]], [1, 2**53 + 1], ["a", "a"]), "label of row 2 is too large to be kept exactly; use labels below"),
        (([[1], [2]], [1, 1], ["a", None]), "row 2: the query id is missing"),
        (([[1], [2]], [1, 1], ["a", ""]), "row 2: the query id is empty"),
    ],
)
def test_arrays_that_do_not_fit(arguments, message):
    with pytest.raises(rs.InputError) as caught:
        rs.Examples.from_arrays(*arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"docs": ["x"]}, "1 documents of 2 rows; name every document"),
        ({"docs": ["x", ""]}, "row 2: the document id is empty"),
        ({"feature_names": ["a"]}, "1 names of 2 features; name every feature once"),
        ({"feature_names": ["a", "a"]}, "feature 'a' is named twice"),
        ({"feature_names": "ab"}, "features 'ab' are not a list"),
    ],
)
def test_names_that_do_not_fit(options, message):
    with pytest.raises(rs.InputError) as caught:
        rs.Examples.from_arrays([[1, 2], [3, 4]], [1, 2], ["a", "a"], **options)
    assert str(caught.value).startswith(message)


def test_parts(examples):
    some = examples.of_queries([2, 0])
    assert some.query_ids == ("c", "b")
    assert some.docs == ("x", "u", "w")
    assert some.features[:, 0].tolist() == [4, 1, 3]
    assert some.row.tolist() == [0, 1, 2]
    known = examples.judged_only()
    assert known.docs == ("u", "v", "y", "x")
    assert known.lengths.tolist() == [1, 2, 1]
    assert known.judged_only() is known


def test_features(examples):
    assert examples.of_features(["length"]).features.T.tolist()[0][3:] == [50, 40]
    assert rs.read_examples(examples) is examples
    assert rs.read_examples(examples, features=["length", "bm25"]).feature_names == ("length", "bm25")
    with pytest.raises(rs.InputError, match=r"there is no feature 'pagerank'; choose among bm25, length$"):
        examples.of_features(["pagerank"])


def test_judgments_and_runs(examples):
    assert examples.qrels().to_dict() == {"b": {"u": 2}, "a": {"v": 0, "y": 0.5}, "c": {"x": -1}}
    run = examples.run([1.0, 2.0, 5.0, 6.0, 3.0], name="mine")
    assert run.name == "mine"
    assert run.to_dict() == {"b": {"w": 2, "u": 1}, "a": {"y": 6, "v": 5}, "c": {"x": 3}}
    # The first of the queries may be the empty one.
    kept = np.array([False, False, True, True, False])
    filtered = examples.run([1.0, 2.0, 5.0, 6.0, 3.0], kept)
    assert {q: list(docs) for q, docs in filtered.to_dict().items()} == {"b": [], "a": ["y", "v"], "c": []}
    assert rs.evaluate(examples.qrels(), filtered, "NumRet").mean_of("NumRet") == 2


def test_labels_that_are_whole_stay_so():
    qrels = rs.Examples.from_arrays([[1], [1]], [1, -2], ["a", "a"]).qrels()
    assert qrels.whole
    assert qrels == rs.read_qrels({"a": {"d1": 1, "d2": -2}})


def test_runs_that_cannot_be(examples):
    with pytest.raises(rs.InputError, match="2 scores of 5 documents; give every document a score"):
        examples.run([1.0, 2.0])
    with pytest.raises(rs.InputError, match="the score of document 'w' is not finite"):
        examples.run([1.0, nan, 1.0, 1.0, 1.0])
    twice = rs.Examples.from_arrays([[1], [2], [3]], [1, 1, 1], ["a", "a", "b"], docs=["x", "x", "x"], name="t.csv")
    with pytest.raises(rs.InputError, match=r"^t\.csv: example 2: document 'x' is listed twice for query 'a'"):
        twice.run([1.0, 2.0, 3.0])
    with pytest.raises(rs.InputError, match="listed twice for query 'a'"):
        twice.qrels()


# -- several files ---------------------------------------------------------------------------------------------------


def test_files_are_put_together(write):
    first, second = write("a.txt", "1 qid:1 1:1\n2 qid:2 1:2\n3 qid:1 1:3\n"), write("b.csv", "qid,label,1\n3,4,4\n")
    examples = rs.read_examples([first, second])
    assert examples.query_ids == ("1", "2", "3")
    assert examples.labels.tolist() == [1, 3, 2, 4]
    assert examples.row.tolist() == [0, 2, 1, 3]
    assert examples.name == f"{first}, {second}"


def test_letor_files_leave_out_what_is_0(write):
    paths = [write("a.txt", "1 qid:1 1:1 2:4"), write("b.txt", "0 qid:2 1:1\n1 qid:3 3:2")]
    both = rs.read_examples(paths)
    assert both.feature_names == ("1", "2", "3")
    assert both.features.tolist() == [[1, 4, 0], [1, 0, 0], [0, 0, 2]]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("1 qid:1 1:1", "1 qid:2 1:1\n1 qid:1 1:1"), "{1}: example 2: query '1' is also in '{0}'; put each query"),
        (("1 qid:1 1:1 2:2", "1 qid:2 0:1 1:1"), "{1}: feature '0' where '{0}' has '1'; give the same features"),
    ],
)
def test_files_that_do_not_go_together(write, texts, message):
    paths = [write(name, text) for name, text in zip(("a.txt", "b.txt"), texts, strict=True)]
    with pytest.raises(rs.InputError) as caught:
        rs.read_examples(paths)
    assert str(caught.value).startswith(message.format(*paths))


def test_sparse_files_go_together_once_their_features_are_named(write):
    paths = [write("a.txt", "1 qid:1 1:1"), write("b.txt", "1 qid:2 3:1")]
    assert rs.read_examples(paths, features=range(1, 4)).features.tolist() == [[1, 0, 0], [0, 0, 1]]


def test_no_files():
    with pytest.raises(rs.InputError, match="no examples are given; name at least one file"):
        together([])


# -- splits -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def many() -> rs.Examples:
    group = np.repeat(np.arange(23), np.arange(23) % 4 + 1)
    return rs.Examples.from_arrays(np.arange(len(group))[:, None], group % 3, group)


def test_split(many):
    training, validation = many.split(0.7, seed=3)
    assert (len(training.query_ids), len(validation.query_ids)) == (16, 7)
    assert sorted((*training.query_ids, *validation.query_ids)) == sorted(many.query_ids)
    assert [q for q in many.query_ids if q in training.query_ids] == list(training.query_ids)
    assert len(training) + len(validation) == len(many)
    assert same(many.split(0.7, seed=3)[0], training)
    assert not same(many.split(0.7, seed=4)[0], training)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, 2.0, 0.01, nan])
def test_split_that_leaves_nothing(many, share):
    with pytest.raises(rs.InputError, match="leaves a part empty; give a share between 0 and 1"):
        many.split(share)


def test_folds(many):
    folds = many.folds(5, seed=1)
    assert sorted(len(own.query_ids) for _, own in folds) == [4, 4, 5, 5, 5]
    assert sorted(q for _, own in folds for q in own.query_ids) == sorted(many.query_ids)
    for others, own in folds:
        assert not set(others.query_ids) & set(own.query_ids)
        assert len(others) + len(own) == len(many)
    assert all(same(a, b) for (_, a), (_, b) in zip(folds, many.folds(5, seed=1), strict=True))
    assert not all(same(a, b) for (_, a), (_, b) in zip(folds, many.folds(5, seed=2), strict=True))


@pytest.mark.parametrize("k", [1, 24])
def test_folds_that_cannot_be(many, k):
    with pytest.raises(
        rs.InputError, match=f"{k} folds of 23 queries; give at most as many folds as queries, and at least 2"
    ):
        many.folds(k)


def test_a_query_without_labels_has_no_judgments():
    examples = rs.Examples.from_arrays(np.zeros((4, 1)), [nan, 1, nan, 0], ["p", "q", "q", "r"])
    assert examples.qrels().to_dict() == {"q": {"d1": 1}, "r": {"d1": 0}}


# -- there and back ---------------------------------------------------------------------------------------------------

SUFFIXES = [".letor", ".txt.gz", ".csv", ".tsv.zst", ".jsonl", ".jsonl.gz", ".parquet"]
value = st.one_of(
    st.floats(allow_infinity=False),
    st.integers(-(10**6), 10**6).map(float),
    st.decimals(-100, 100, places=4).map(float),
    st.sampled_from([0.0, -0.0, nan, 1e300, 5e-324, 2.0**53 + 2, 0.1]),
)
word = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=6)


@st.composite
def sets(draw):
    rows, width = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    queries = draw(st.lists(word, min_size=rows, max_size=rows))
    docs = draw(st.one_of(st.none(), st.lists(word, min_size=rows, max_size=rows)))
    matrix = [[draw(value) for _ in range(width)] for _ in range(rows)]
    labels = [draw(value.filter(lambda label: not abs(label) >= 2**53)) for _ in range(rows)]
    return rs.Examples.from_arrays(matrix, labels, queries, docs=docs)


@settings(max_examples=60)
@given(sets(), st.sampled_from(SUFFIXES))
def test_what_is_written_is_read_back(tmp_path_factory, examples, suffix):
    path = tmp_path_factory.mktemp("examples") / f"a{suffix}"
    examples.save(path)
    again = rs.read_examples(path)
    assert same(examples, again)
    known = ~np.isnan(examples.features)
    assert np.array_equal(np.signbit(examples.features[known]), np.signbit(again.features[known]))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"])
def test_names_are_read_back(tmp_path, examples, suffix):
    examples.save(tmp_path / f"a{suffix}")
    assert same(examples, rs.read_examples(tmp_path / f"a{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_real_examples_are_read_back(tmp_path, data_dir, suffix):
    examples = rs.read_examples(data_dir / "letor4_mq2007_agg" / "A1.txt.gz")
    some = examples.of_queries(range(0, 300, 10))
    some.save(tmp_path / f"a{suffix}")
    assert same(some, rs.read_examples(tmp_path / f"a{suffix}"))


def test_to_frame(examples):
    frame = examples.to_frame()
    assert frame.columns == ["query_id", "doc_id", "label", "bm25", "length"]
    assert frame["doc_id"].to_list() == ["u", "v", "w", "x", "y"]
    assert frame["label"].to_list() == [2, 0, None, -1, 0.5]
    assert frame["length"].to_list() == [10, None, 30, 40, 50]
    assert same(examples, rs.read_examples(frame))


def test_standard_output(capsysbinary):
    rs.Examples.from_arrays([[1.5]], [1], ["a"]).save("-")
    assert capsysbinary.readouterr().out == b"1 qid:a 1:1.5\n"


def test_an_array_needs_its_queries():
    with pytest.raises(rs.InputError, match=r"which query a row belongs to; use Examples\.from_arrays"):
        rs.read_examples(np.ones((3, 2)))
