"""Paper 3, by hand, and where its formula for E[SP@k] goes wrong."""

import pytest

import ranksift as rs


def value(labels, documents, measure, **how):
    run = {"q": {d: -i for i, d in enumerate(documents)}}
    return rs.evaluate({"q": labels}, run, [measure], **how).mean_of(measure)


HALF = {"a": 1, "b": 1, "x": 0, "y": 0}


def test_expected_sp_is_larger_than_the_paper_says():
    assert value(HALF, [], "E_SP@1") == 0.5
    assert value(HALF, [], 'E_SP(expected="paper")@1') == 0.25
    # rank 2 is relevant half of the time, and then rank 1 is in one case of three
    assert value(HALF, [], "E_SP@2") == pytest.approx(0.5 + 0.5 * (1 + 1 / 3) / 2, abs=1e-12)


def test_expected_sp_stops_at_the_pool_and_the_papers_does_not():
    assert value(HALF, [], "E_SP@4") == value(HALF, [], "E_SP@9")
    assert value(HALF, [], 'E_SP(expected="paper")@8') == 2.0


@pytest.mark.parametrize("labels", [{"a": 1, "b": 2}, {"a": 0, "b": 0}])
def test_both_agree_where_all_or_nothing_is_relevant(labels):
    assert value(labels, [], "E_SP@2") == value(labels, [], 'E_SP(expected="paper")@2')


def test_V1_and_V2_of_a_list():
    # A = SP@2 / 2 = 1/2, E = E[SP@2] / 2 = 5/12, I = 1
    assert value(HALF, ["a", "x"], "MSP_ul1@2") == pytest.approx(1 / 2 * (1 / 2) / (1 / 2 + 5 / 12), abs=1e-12)
    assert value(HALF, ["a", "x"], "MSP_ul2@2") == pytest.approx((1 / 2 - 5 / 12) / (1 - 5 / 12), abs=1e-12)
    # A = 1/4 is below E
    assert value(HALF, ["x", "a"], "MSP_ul2@2") == pytest.approx((1 / 4 - 5 / 12) / (5 / 12), abs=1e-12)


def test_k_as_upper_bound_is_out_of_reach_of_fewer_relevant_documents():
    labels = {"a": 1, "x": 0, "y": 0}
    assert value(labels, ["a", "x", "y"], "MSP_ul2@3") < 1.0
    assert value(labels, ["a", "x", "y"], 'MSP_ul2(upper="attainable")@3') == pytest.approx(1.0, abs=1e-12)


def test_negative_gains_do_not_flip_the_sign():
    """Labels -2, -2, 1 with exponential gains: taken as they are, the worst ranking would get V2 > 1."""
    labels = {"a": -2, "b": -2, "c": 1}
    assert value(labels, ["a", "b", "c"], "DCG_ul2@2", gains="exp") == -1.0
    assert value(labels, ["c", "a", "b"], "DCG_ul2@2", gains="exp") == pytest.approx(1.0, abs=1e-12)


def test_the_papers_ap_is_not_trec_evals():
    labels = {"a": 1, "b": 1, "c": 1}
    assert value(labels, ["a"], "MSP@2") == 0.5
    assert value(labels, ["a"], "AP@2") == pytest.approx(1 / 3, abs=1e-12)


def test_all_relevant_leaves_nothing_to_normalise():
    scores = rs.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 1}}, ["DCG_ul2@2", "MSP_ul2@2", "UL2(AP)", "DCG_ul1@2"])
    assert scores.values[0, 0, :3].tolist() == [0.0, 0.0, 0.0]
    assert scores.degenerate == {"DCG_ul2@2": 1, "MSP_ul2@2": 1, "UL2(AP)": 1}
