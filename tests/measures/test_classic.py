"""Parameters of the classic measures that trec_eval does not have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranksift as rs
from tests.measures.cases import Collection, collections

# Collections of a few documents: lists without a judged one, judgments without a forbidden one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no document that it lists is judged",
    "ignore:run '.*' answers",
    "ignore:.*are the same here",
    "ignore:.*are they swapped",
    "ignore:gains name the label",
)


@given(
    collections(), st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from(["", "@2"]), st.sampled_from(["", ', nil="NIL"'])
)
def test_RBP_and_its_residual_stay_below_1(collection: Collection, p, k, nil):
    names = [f"RBP(p={p}{nil}){k}", f"RBP(p={p}, residual=True{nil}){k}"]
    scores = rs.evaluate(collection.qrels, collection.run, names, queries=collection.queries, **collection.how)
    value, residual = scores.values[0].T
    assert (value + residual <= 1 + 1e-12).all()
    assert (residual >= 0).all()


def test_RBP_residual_is_what_judging_could_still_add():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 4, "u": 3, "b": 2}}
    known = rs.evaluate(qrels, run, ["RBP(p=0.5)", "RBP(p=0.5, residual=True)"]).values[0, 0]
    best = rs.evaluate({"q": {"a": 1, "b": 0, "u": 1}}, run, ["RBP(p=0.5)"]).values[0, 0]
    assert known[0] + known[1] == pytest.approx(best[0] + 0.125)  # and 1/8 lies beyond the list


def test_graded_RBP_divides_by_the_largest_gain_of_the_collection():
    qrels = {"q": {"a": 1, "b": -3}, "r": {"c": 4}}
    scores = rs.evaluate(qrels, {"q": {"b": 2, "a": 1}}, ['RBP(p=0.5, gains="linear")'], queries=["q"])
    assert scores.values[0, 0, 0] == 0.25 * 1 / 4


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ERR", 1 / 16), ("ERR(max_grade=4)", 1 / 16), ("ERR(max_grade=2)", 1 / 4), ('ERR(max_grade="query")', 1 / 2)],
)
def test_ERR_grades(name, expected):
    """The default is the largest label of the whole collection, also of queries that are not asked for."""
    largest = 2 if "=2" in name else 4
    qrels = {"q": {"a": 1}, "r": {"b": largest}}
    assert rs.evaluate(qrels, {"q": {"a": 1}}, [name], queries=["q"]).values[0, 0, 0] == pytest.approx(expected)


def test_ERR_refuses_labels_above_the_scale():
    with pytest.raises(rs.InputError, match="label 3 is above"):
        rs.evaluate({"q": {"a": 3}}, {"q": {"a": 1}}, ["ERR(max_grade=2)"])


def test_Bpref_skips_negative_and_unjudged_documents():
    qrels, run = {"q": {"a": 1, "b": -1, "c": 0}}, {"q": {"b": 5, "u": 4, "a": 3}}
    assert rs.evaluate(qrels, run, ["Bpref"]).mean_of("Bpref") == 1.0


def test_a_negative_rel_makes_forbidden_documents_relevant():
    qrels, run = {"q": {"a": -1, "b": -2}}, {"q": {"b": 2, "a": 1}}
    assert rs.evaluate(qrels, run, ["RR(rel=-1)", "R(rel=-2)"]).values[0, 0].tolist() == [0.5, 1.0]
