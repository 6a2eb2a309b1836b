"""Dicts as qrels and runs."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import ranksift as rs


@pytest.mark.parametrize(
    "values", [[2, -2, 0], [0.5, 1, 2], [True, False, 1], [np.int8(3), np.float32(0.5), np.bool_(1)]]
)
def test_labels_are_kept(values):
    source = {"q1": {f"d{i}": v for i, v in enumerate(values)}}
    assert rs.read_qrels(source).to_dict() == source


@pytest.mark.parametrize(
    ("values", "whole"),
    [([1, -2, True, np.int64(3)], True), ([1, 2.0], False), ([np.float32(1)], False), ([Fraction(1, 2)], False)],
)
def test_integers_stay_integers(values, whole):
    labels = rs.read_qrels({"q1": {f"d{i}": v for i, v in enumerate(values)}}).to_dict()["q1"].values()
    assert all(isinstance(v, int if whole else float) for v in labels)


def test_queries_without_documents_have_no_rows():
    assert rs.read_run({"q1": {}, "q2": {"d": 1.0}, "q3": {}}).query_ids == ("q2",)
    assert len(rs.read_run({})) == len(rs.read_run({"q1": {}})) == 0


def test_any_text_is_an_id():
    source = {" q\n1": {"a b": 1.0, "#\t": 0.5, "日本": 0.25, "\0": 0.125, "x" * 5000: 0.0}}
    assert rs.read_run(source).to_dict() == source


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (None, "missing"),
        ("1", "not a number"),
        (1j, "not a number"),
        (np.complex64(1), "not a number"),
        ([1], "not a number"),
        (float("nan"), "not finite"),
        (-np.inf, "not finite"),
        (Decimal("NaN"), "not finite"),
        (10**400, "too large"),
        pytest.param(-(10**5000), "too large", id="5000 digits"),
        (Fraction(10**400), "too large"),
    ],
)
@pytest.mark.parametrize("read", [rs.read_qrels, rs.read_run])
def test_values_that_are_no_finite_numbers(read, value, complaint):
    with pytest.raises(rs.InputError, match=rf"^query 'q2', document 'd7': .*{complaint}"):
        read({"q1": {"d1": 1}, "q2": {"d1": 1, "d7": value, "d8": 1}})


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({1.5: {"d": 1}}, "query id 1.5 is a float; write ids as strings"),
        ({"q": {True: 1}}, "document id True is a bool"),
        ({"q": {None: 1}}, "document id is missing"),
        ({"": {"d": 1}}, "query id is empty"),
        ({"q": {"": 1}}, "document id is empty"),
        ({"q": {"\ud800": 1}}, "not valid text"),
        ({"q": 3}, "maps to a int"),
        ({"q": ["d"]}, "maps to a list"),
    ],
)
def test_ids_that_are_none(source, complaint):
    with pytest.raises(rs.InputError, match=complaint):
        rs.read_run(source)


def test_a_query_without_judgments_is_a_query_of_the_qrels():
    qrels = rs.read_qrels({"q1": {}, "q2": {"a": 1}, "q3": {}, "q4": {"b": 2, "c": 0}})
    assert qrels.query_ids == ("q1", "q2", "q3", "q4")
    assert qrels.to_dict() == {"q1": {}, "q2": {"a": 1}, "q3": {}, "q4": {"b": 2, "c": 0}}
    scores = rs.evaluate(qrels, {"q2": {"a": 1.0}, "q4": {"x": 2.0, "b": 1.0}}, "RR_qwa AP")
    assert scores.values[0].tolist() == [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
