"""Paper 5, by hand."""

from math import log2

import pytest

import ranksift as rs


def value(order, k, documents, measure):
    run = {"q": {d: -i for i, d in enumerate(documents)}}
    return rs.evaluate({"q": rs.topk_labels(order, k)}, run, [measure]).mean_of(measure)


def test_labels_count_down_from_k():
    assert rs.topk_labels(["a", "b", "c", "d"], 3) == {"a": 3, "b": 2, "c": 1, "d": 0}
    assert rs.topk_labels(["a", "b"], 10) == {"a": 10, "b": 9}


def test_swapping_the_two_best():
    ideal, swapped = 3 + 1 / log2(3), 1 + 3 / log2(3)
    assert value("abcd", 2, "bacd", "kNDCG@2") == pytest.approx(swapped / ideal, abs=1e-12)
    # R(y) = (2^y - 1) / 2^2: 3/4 for the best, 1/4 for the second
    assert value("abcd", 2, "bacd", "kERR") == pytest.approx(1 / 4 + 1 / 2 * 3 / 4 * 3 / 4, abs=1e-12)


def test_kERR_takes_the_rank_and_not_the_length():
    """1/n would bound it by 1/4 here."""
    assert value("abcd", 2, "abcd", "kERR") == pytest.approx(3 / 4 + 1 / 2 * 1 / 4 * 1 / 4, abs=1e-12)


def test_gains_do_not_apply():
    qrels, run = {"q": rs.topk_labels("abc", 2)}, {"q": {"b": 2, "a": 1}}
    for name in ("kNDCG@2", "kERR"):
        assert rs.evaluate(qrels, run, [name], gains={2: 100}).mean_of(name) == rs.evaluate(qrels, run, [name]).mean_of(
            name
        )
