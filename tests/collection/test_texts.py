"""Texts ride on examples: whatever is done to the documents is done to their texts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.examples import together
from ranksift.collection.texts import CONTEXT, Texts

nan = math.nan


def told(examples: rs.Examples) -> list[tuple]:
    """Every document with all that is known of it, in the order in which it was given."""
    texts = examples.texts
    rows = []
    for place in np.argsort(examples.row, kind="stable").tolist():
        query = int(examples.query[place])
        known = [texts.column(name)[query if name == "asker" else place] for name in CONTEXT]
        known = [None if isinstance(value, float) and math.isnan(value) else value for value in known]
        label = None if math.isnan(examples.labels[place]) else examples.labels[place]
        rows.append(
            (examples.query_ids[query], texts.queries[query], examples.docs[place], texts.docs[place], label, *known)
        )
    return rows


@pytest.fixture
def examples() -> rs.Examples:
    return rs.Examples.from_texts(
        ["car?", "cat?", "car?", "dog?", "cat?"],
        ["Oasis", "yes", "Hertz", "woof", "thanks"],
        [2, 0, None, -1, 0.5],
        ["b", "a", "b", "c", "a"],
        doc_ids=["u", "v", "w", "x", "y"],
        position=[1, 1, 2, None, 2],
        author=["ann", None, "bob", "cy", "dan"],
        time=["2009-07-30", "2009-07-31", None, "2010-05", "2011-01-01 10:00"],
        parent=[None, None, "u", None, "v"],
        asker=["eve", "dan", None, None, "dan"],
    )


ROWS = [
    ("b", "car?", "u", "Oasis", 2, 1, "ann", "2009-07-30", None, "eve"),
    ("a", "cat?", "v", "yes", 0, 1, None, "2009-07-31", None, "dan"),
    ("b", "car?", "w", "Hertz", None, 2, "bob", None, "u", "eve"),
    ("c", "dog?", "x", "woof", -1, None, "cy", "2010-05", None, None),
    ("a", "cat?", "y", "thanks", 0.5, 2, "dan", "2011-01-01 10:00", "v", "dan"),
]


def of(*queries: str) -> list[tuple]:
    return [row for query in queries for row in ROWS if row[0] == query]


def test_rows_of_a_query_come_together(examples):
    assert repr(examples) == "<Examples: 5 documents, 3 queries, 0 features, with texts>"
    assert examples.features.shape == (5, 0)
    assert examples.texts.queries == ("car?", "cat?", "dog?")
    assert examples.texts.docs == ("Oasis", "Hertz", "yes", "thanks", "woof")
    assert examples.texts.known() == CONTEXT
    assert told(examples) == ROWS


def test_parts(examples):
    assert told(examples.of_queries([2, 0])) == of("c", "b")
    assert told(examples.judged_only()) == [row for query in "bac" for row in of(query) if row[4] is not None]
    for one, other in [examples.split(0.7, seed=1), *examples.folds(3)]:
        assert told(one) == of(*one.query_ids)
        assert told(other) == of(*other.query_ids)
        assert sorted(told(one) + told(other), key=str) == sorted(ROWS, key=str)


def test_other_features_change_no_text(examples):
    wide = rs.read_examples(examples.padded(["bm25"]))
    assert wide.feature_names == ("bm25",)
    assert told(wide) == told(wide.with_features(np.ones((5, 1)))) == told(wide.of_features(["bm25"])) == ROWS


def test_together_is_what_was_taken_apart(examples):
    parts = [examples.of_queries([i]) for i in (1, 2, 0)]
    assert told(together(parts)) == of("a", "c", "b")
    silent = rs.Examples.from_texts(["fish?"], ["blub"], [1], ["f"])
    assert told(together([parts[1], silent])) == [*of("c"), ("f", "fish?", "d1", "blub", 1, *[None] * 5)]
    dated = rs.Examples.from_texts(["fish?"], ["blub"], [1], ["f"], time=[1.5])
    assert together([parts[0], dated]).texts.time == ("2009-07-31", "2011-01-01 10:00", "1.5")
    features = rs.Examples(*[getattr(silent, name) for name in ("query_ids", "offsets", "features", "labels", "docs")],
                           silent.feature_names, silent.row)  # fmt: skip
    with pytest.raises(rs.InputError, match="have no text, but those of other examples do; give texts in all"):
        together([examples, features])


def test_queries_without_ids_are_numbered_by_their_text():
    examples = rs.Examples.from_texts(["car?", "cat?", "car?"], ["a", "b", "c"])
    assert examples.query_ids == ("q1", "q2")
    assert examples.docs == ("d1", "d2", "d1")
    assert examples.texts.queries == ("car?", "cat?")
    assert examples.texts.docs == ("a", "c", "b")


def test_texts_of_queries_as_a_dictionary():
    examples = rs.Examples.from_texts({1: "car?", 2: "cat?"}, ["a", "b", "c"], None, [2, 1, 2], asker={2: "eve"})
    assert examples.texts == examples.texts  # an identity: texts are compared by what they hold, as below
    assert (examples.query_ids, examples.texts.queries) == (("2", "1"), ("cat?", "car?"))
    assert examples.texts.asker == ("eve", None)


def test_texts_and_features():
    examples = rs.Examples.from_texts(
        ["a?", "b?", "a?"], ["x", "y", "z"], features=[[1], [2], [3]], feature_names=["n"]
    )
    assert examples.features.tolist() == [[1], [3], [2]]
    assert examples.texts.docs == ("x", "z", "y")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["a?"], ["x", "y"]), {}, "2 texts of documents, and 1 of texts of queries; give one per row"),
        ((["a?"] * 2, ["x", "y"]), {"author": ["ann"]}, "2 texts of documents, and 1 of author"),
        ((["a?"] * 2, ["x", " \n"]), {}, "row 2: the text of the document is empty; write a text"),
        ((["a?"] * 2, ["x", None]), {}, "row 2: the text of the document is missing"),
        ((["a?", 7], ["x", "y"]), {}, "row 2: the text of the query is a int"),
        ((["a?"], ["half \ud800"]), {}, "row 1: the text of the document is not valid text; repair its encoding"),
        (
            (["a?", "b?"], ["x", "y"], None, ["q", "q"]),
            {},
            "row 2: a different text of query 'q' than before; give each",
        ),
        ((["a?"] * 2, ["x", "y"]), {"asker": ["ann", "bob"]}, "row 2: a different asker of query 'q1' than before"),
        ((["a?"] * 2, ["x", "y"]), {"position": [1, "two"]}, "row 2: position 'two' is not a number"),
        ((["a?"] * 2, ["x", "y"]), {"position": [1, math.inf]}, "row 2: position inf is not finite"),
        ((["a?"] * 2, ["x", "y"]), {"author": [1, 2.5]}, "row 2: the author is a float; write a name, or nothing"),
        (({"q": "a?"}, ["x"]), {}, "a dictionary with the text of each query needs groups"),
        (({"q": "a?"}, ["x"], None, ["r"]), {}, "row 1: no text of query 'r'; give one per query"),
        ((["a?"], ["x"], [math.inf]), {}, "label of row 1 is infinite"),
    ],
)
def test_texts_that_do_not_fit(arguments, options, message):
    with pytest.raises(rs.InputError) as caught:
        rs.Examples.from_texts(*arguments, **options)
    assert str(caught.value).startswith(message)


def test_times_are_numbers_or_texts():
    def times(*given):
        return rs.Examples.from_texts(["a?"] * len(given), list("xyz")[: len(given)], time=given).texts.time

    assert times(3, 4.5).tolist() == [3, 4.5]
    assert times("3", " ", None) == ("3", " ", None)
    np.testing.assert_array_equal(times("1e3", None, 4), [1000, nan, 4])
    import datetime

    assert times(datetime.date(2020, 2, 1), None) == ("2020-02-01", None)


# -- there and back --------------------------------------------------------------------------------------------------

SUFFIXES = [".csv", ".tsv", ".csv.gz", ".jsonl", ".jsonl.zst", ".parquet"]
anything = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
said = anything.filter(lambda text: not text.isspace())
word = st.text(st.characters(min_codepoint=33, exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=5)
number = st.one_of(st.floats(allow_infinity=False), st.integers(-5, 5).map(float))


@st.composite
def sets(draw):
    rows = draw(st.integers(1, 6))
    groups = draw(st.lists(st.sampled_from(["q", "r", "s"]), min_size=rows, max_size=rows))

    def column(values, *, of=rows):
        return draw(st.none() | st.lists(values, min_size=of, max_size=of))

    width = draw(st.integers(0, 2))
    return rs.Examples.from_texts(
        {query: draw(said) for query in "qrs"},
        [draw(said) for _ in range(rows)],
        [draw(number.filter(lambda label: not abs(label) >= 2**53)) for _ in range(rows)],
        groups,
        features=[[draw(number) for _ in range(width)] for _ in range(rows)],
        feature_names=["bm25", "x y"][:width],
        doc_ids=column(word),
        position=column(st.none() | number),
        author=column(st.none() | anything),
        time=column(st.none() | number | anything),
        parent=column(st.none() | word),
        asker={query: draw(st.none() | anything) for query in "qrs"},
    )


@settings(max_examples=80)
@given(sets(), st.sampled_from(SUFFIXES))
def test_what_is_written_is_read_back(tmp_path_factory, examples, suffix):
    path = tmp_path_factory.mktemp("examples") / f"a{suffix}"
    examples.save(path)
    again = rs.read_examples(path)
    assert told(again) == told(examples)
    assert again.query_ids == examples.query_ids
    assert np.array_equal(again.row, examples.row)
    assert again.feature_names == examples.feature_names
    assert np.array_equal(again.features, examples.features, equal_nan=True)


def test_a_frame_has_them_in_the_usual_columns(examples):
    frame = examples.to_frame()
    assert frame.columns == ["query_id", "query", "doc_id", "doc", "label", *CONTEXT]
    assert frame["doc"].to_list() == ["Oasis", "yes", "Hertz", "woof", "thanks"]
    assert frame["asker"].to_list() == ["eve", "dan", "eve", None, "dan"]
    assert told(rs.read_examples(frame)) == ROWS


def test_letor_holds_no_texts(tmp_path, examples):
    with pytest.raises(
        rs.InputError, match=r"texts without features, which LETOR's format cannot hold; save as \.jsonl"
    ):
        examples.save(tmp_path / "a.txt")
    with pytest.warns(rs.RankSiftWarning, match="the texts are left out; save as"):
        examples.padded(["1"]).save(tmp_path / "a.txt")
    assert rs.read_examples(tmp_path / "a.txt").texts is None


@pytest.mark.parametrize("name", ["author", "text", "doc", "question_id"])
def test_features_that_would_not_be_read_back_are_not_written(tmp_path, examples, name):
    with pytest.raises(rs.InputError, match="; rename "):
        examples.padded([name]).save(tmp_path / "a.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_set_of_texts_stands_alone():
    texts = Texts(("a?", "b?"), ("x", "y", "z"), position=np.array([1.0, 2.0, 1.0]), asker=("eve", None))
    some = texts.of_queries(np.array([1]), np.array([2]))
    assert (some.queries, some.docs, some.position.tolist(), some.asker) == (("b?",), ("z",), [1.0], (None,))
    assert some.known() == ("position", "asker")
