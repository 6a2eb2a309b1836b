"""Errors: one line, of a length that can be read."""

import pytest

import ranksift as rs
from ranksift import InputError


def test_what_is_quoted_at_length_is_shortened():
    said = str(
        InputError(f"label {'x' * 100_000!r} is not a number", source="qrels.txt", line=3, remedy="give a number")
    )
    assert said.startswith("qrels.txt:3: label 'xxx")
    assert said.endswith("is not a number; give a number")
    assert len(said) < 1300


def test_what_is_not_too_long_stays_whole():
    assert str(InputError("x" * 1000, remedy="y")) == f"{'x' * 1000}; y"


def test_a_line_stays_a_line_when_it_is_shortened():
    assert "\n" not in str(InputError("a\nb" * 10_000))


@pytest.mark.parametrize("values", ["x", None, [["a"]], object(), [[1.0], [1.0, 2.0]]])
def test_scores_of_nonsense(values):
    with pytest.raises(InputError):
        rs.Scores.from_array(values, runs=["a"], queries=["q"], measures=["AP"])


@pytest.mark.parametrize("names", [{"runs": 5}, {"queries": None}, {"measures": 3}])
def test_scores_with_names_that_are_none(names):
    with pytest.raises(InputError, match="are not lists of names"):
        rs.Scores.from_array([[[1.0]]], **{"runs": ["a"], "queries": ["q"], "measures": ["AP"], **names})


@pytest.mark.parametrize("order", [5, None, [["a"], ["b"]], [{}]])
def test_an_order_that_is_none(order):
    with pytest.raises(InputError, match="order"):
        rs.topk_labels(order, 2)
