"""Features of documents from their texts; those of threads, worked out by hand, are in tests/datasets."""

import numpy as np
import pytest

from ranksift.collection.text_features import text_features
from ranksift.collection.texts import Texts

DOCS = ("Try Oasis", "Thanks!", "Me too")


def columns(**known):
    found = text_features(Texts(("A car?",), DOCS, **known), np.array([0, 3]))
    return {name: values.tolist() for name, values in found.items()}


@pytest.mark.parametrize(
    ("known", "names"),
    [
        ({}, set()),
        ({"position": np.arange(3.0)}, {"place"}),
        ({"author": ("ann", "eve", "bob")}, {"author_answers"}),
        ({"author": ("ann", "eve", "bob"), "asker": ("eve",)}, {"author_answers", "by_asker"}),
    ],
)
def test_what_nothing_is_known_for_is_left_out(known, names):
    assert {*columns(**known)} - {*columns()} == names


def test_places_follow_positions_and_not_the_order_of_rows():
    found = columns(position=np.array([30.0, 10.0, 20.0]), author=("eve", "ann", "ann"), asker=("eve",))
    assert found["place"] == [3, 1, 2]
    assert found["author_before"] == [0, 0, 1]
    assert found["asker_again_place"] == [0, 3, 3]
    assert found["asker_again_soon"] == [0, 0.5, 1]


def test_what_is_unknown_of_some_documents_is_missing_there():
    found = columns(position=np.array([1.0, np.nan, 2.0]), author=("ann", "eve", None), asker=("eve",))
    assert np.array_equal(found["place"], [1, np.nan, 2], equal_nan=True)
    assert np.array_equal(found["by_asker"], [0, 1, np.nan], equal_nan=True)
    assert np.array_equal(found["author_before"], [0, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(found["asker_again"], [0, np.nan, 0], equal_nan=True)  # where the asker writes is unknown


def test_an_empty_list_among_others():
    found = text_features(Texts(("A car?", "Why?"), DOCS), np.array([0, 0, 3]))
    assert found["answers"].tolist() == [3, 3, 3]
    assert found["question_words"].tolist() == [1, 1, 1]
