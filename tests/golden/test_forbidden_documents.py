"""Paper 1: the numbers of section 3, and the readings that correct it."""

from math import log2

import numpy as np
import pytest

import ranksift as rs
from ranksift.collection.gains import Gains
from ranksift.collection.pool import Pool
from ranksift.measures import cumulative

PROPOSITION_3_1 = {"q": {"d1": -1, "d2": 2}}


def value(qrels, documents, measure, **how):
    run = {"q": {d: -i for i, d in enumerate(documents)}}
    return rs.evaluate(qrels, run, [measure], **how).mean_of(measure)


def pool(*labels):
    return Pool.of(np.array([0, len(labels)]), np.array(labels, dtype=float))


def test_proposition_3_1_bounds():
    both = pool(-1, 2)
    assert cumulative.worst(both, Gains(), 2)[0] == pytest.approx(0.262, abs=5e-4)
    assert cumulative.ideal(both, Gains(), 2)[0] == pytest.approx(1.37, abs=5e-3)
    assert cumulative.worst_sublist(both, Gains(), 2)[0] == -1.0
    assert cumulative.ideal_sublist(both, Gains(), 2)[0] == 2.0


@pytest.mark.parametrize(("documents", "dcg"), [(["d1"], -1.0), (["d2"], 2.0), ([], 0.0)])
def test_proposition_3_1_every_proper_sublist_leaves_the_bounds(documents, dcg):
    assert value(PROPOSITION_3_1, documents, "DCG@2") == dcg
    assert not 0 <= value(PROPOSITION_3_1, documents, "nDCG_min@2") <= 1
    assert value(PROPOSITION_3_1, documents, "UBQ@2") == 1.0
    assert 0 <= value(PROPOSITION_3_1, documents, "nDCG_f@2") <= 1


@pytest.mark.parametrize("documents", [["d1", "d2"], ["d2", "d1"]])
def test_the_bounds_themselves_are_bounded(documents):
    assert value(PROPOSITION_3_1, documents, "UBQ@2") == 0.0


def test_a_single_document_is_a_filtering_task():
    good, bad = {"q": {"d": 2}}, {"q": {"d": -3}}
    assert [value(good, ["d"], "nDCG_f@5"), value(good, [], "nDCG_f@5")] == [1.0, 0.0]
    assert [value(bad, ["d"], "nDCG_f@5"), value(bad, [], "nDCG_f@5")] == [0.0, 1.0]
    for qrels in (good, bad):  # nDCG_min cannot tell them apart
        assert value(qrels, ["d"], "nDCG_min@5") == value(qrels, [], "nDCG_min@5") == 0.0


def test_empty_list_formula_takes_the_worst_sublist():
    """The paper prints -W_k, which is negative for a pool of good documents only."""
    assert value({"q": {"a": 1, "b": 2}}, [], "nDCG_f@2") == 0.0
    assert value({"q": {"a": 1, "b": 2}}, [], "Difficulty@2") == 0.0


def test_filter_all_on_cqa_readings():
    """With ls(l) = l a question with answers {1, 2} scores -6.13 on nDCG_min@3 when all are filtered."""
    assert value({"q": {"a": 1, "b": 2}}, [], "nDCG_min@3") == pytest.approx(-6.13, abs=5e-3)
    assert value({"q": {"a": 1, "b": 2}}, [], "nDCG_min@3", gains="exp") == pytest.approx(-3.92, abs=5e-3)


def test_proposition_3_5_fails_as_printed():
    """I_kf > W_kf is not enough: with R = {1, 1} nDCG_min sees no difference."""
    qrels = {"q": {"a": 1, "b": 1}}
    assert value(qrels, ["a"], "nDCG_f@2") < value(qrels, ["a", "b"], "nDCG_f@2")
    assert value(qrels, ["a"], "nDCG_min@2") == value(qrels, ["a", "b"], "nDCG_min@2") == 0.0


def test_forbidden_gain_of_the_experiments():
    """-2 → -10, ranks counted after unjudged documents are dropped."""
    qrels = {"q": {"spam": -2, "good": 3, "fair": 1}}
    documents = ["x", "good", "y", "spam", "fair"]
    expected = (3 - 10 / log2(3) + 1 / 2 + 10) / (3 + 1 / log2(3) + 10)
    got = value(qrels, documents, "nDCG_f@20", gains={-2: -10}, unjudged="drop")
    assert got == pytest.approx(expected, abs=1e-12)


def test_nDCG_org_above_1_where_the_ideal_is_negative():
    """Paper 4: a worse list scores higher, even above 1."""
    qrels = {"q": {"a": -1, "b": -2}}
    assert value(qrels, ["a", "b"], "nDCG_org@2") == 1.0
    assert value(qrels, ["b", "a"], "nDCG_org@2") > 1.0
    assert value(qrels, ["b", "a"], "nDCG_min@2") == 0.0
