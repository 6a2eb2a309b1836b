"""Shares over all queries, and what each query says."""

import pytest

import ranksift as rs

QRELS = {"q": {"a": 1, "b": -2, "c": 0}, "r": {"a": -1, "b": 2}, "s": {"a": 0}}
RUN = {"q": {"b": 3, "a": 2, "u": 1}, "r": {"b": 1}}


def test_micro_shares_are_ratios_of_sums():
    scores = rs.evaluate(QRELS, RUN, ["Fdocs@2", "GoodFiltered", 'Fdocs(average="macro")@2'])
    assert scores.values[0, :, 0].tolist() == [0.5, 0.0, 0.0]
    assert scores.mean_of("Fdocs@2") == 1 / 3  # 1 forbidden of 3 shown
    assert scores.mean_of('Fdocs(average="macro")@2') == pytest.approx(1 / 6)
    assert scores.values[0, :, 1].tolist() == [0.5, 0.0, 1.0]
    assert scores.mean_of("GoodFiltered") == 2 / 4  # c and s's a are not retrieved


def test_unjudged_documents_count_as_shown_unless_dropped():
    assert rs.evaluate(QRELS, RUN, ["Fdocs@3"]).mean_of("Fdocs@3") == 1 / 4
    assert rs.evaluate(QRELS, RUN, ["Fdocs@3"], unjudged="drop").mean_of("Fdocs@3") == 1 / 3


def test_forbidden_is_a_matter_of_gain():
    assert rs.evaluate(QRELS, RUN, ["Fdocs@3"], gains={0: -1, -2: 0}).mean_of("Fdocs@3") == 0.0
    assert rs.evaluate(QRELS, RUN, ["Fdocs(gains={1:-1})@3"]).mean_of("Fdocs(gains={1:-1})@3") == 2 / 4


def test_nothing_shown_anywhere():
    scores = rs.evaluate(QRELS, {}, ["Fdocs@3", "GoodFiltered", "Empty", "NumRet"])
    assert scores.aggregate()[0].tolist() == [0.0, 1.0, 1.0, 0.0]


def test_no_good_document_at_all():
    assert rs.evaluate({"q": {"a": -1}}, {"q": {}}, ["GoodFiltered"]).mean_of("GoodFiltered") == 0.0


def test_counts_add_up():
    scores = rs.evaluate(QRELS, RUN, ["NumRet", "NumRel", "NumRel(rel=2)"])
    assert scores.aggregate()[0].tolist() == [4.0, 2.0, 1.0]
    dropped = rs.evaluate(QRELS, RUN, ["NumRet", "Judged@3", "Empty"], unjudged="drop")
    assert dropped.mean_of("NumRet") == 3.0
    assert dropped.values[0, :, 1].tolist() == [2 / 3, 1.0, 0.0]  # before dropping
    assert dropped.mean_of("Empty") == 1 / 3


def test_an_ideal_list_is_not_unbounded():
    """Equal to the ideal up to rounding is not above it."""
    labels = {f"d{i}": x for i, x in enumerate([0.1, 0.2, 0.3, 0.7, 1.1])}
    assert rs.evaluate({"q": labels}, {"q": labels}, ["UBQ@5", "UBQ@3"]).aggregate()[0].tolist() == [0.0, 0.0]
