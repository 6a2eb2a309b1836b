"""What rules must beat: their values by hand and by every order, and what cannot be done with them."""

import itertools

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError, load_cutoff
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.lists import Lists
from ranksift.cutoffs.baselines import FilterAll, FilterOnly, FixedCutoff, Oracle, RankOnly
from ranksift.cutoffs.rules import known_rules
from ranksift.cutoffs.threshold import one_measure
from tests.cutoffs.brute import all_thresholds, at_threshold, small_case

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

EXACT = ["nDCG_f@3", "nDCG_f", "nDCG_min@2", "nDCG_org@3", "nDCG@2", "DCG", "nDCG_f(base=2)@3",
         "nDCG_f(gains={-2:-10})@2", "Fdocs@2", 'Fdocs(average="macro")@2', "Fdocs",
         "GoodFiltered", "Empty"]  # fmt: skip


def over_all_orders(measure, scores, labels, groups, kept):
    """Numerators and denominators, averaged over every order of what each query shows."""
    queries = list(dict.fromkeys(groups))
    totals = np.zeros((2, len(queries)))
    for q, query in enumerate(queries):
        mine = [i for i in range(len(groups)) if groups[i] == query]
        orders = list(itertools.permutations([i for i in mine if kept[i]]))
        for order in orders:
            place = {i: -float(rank) for rank, i in enumerate(order)}
            judged = JudgedRun.from_arrays(
                np.nan_to_num(labels[mine]),
                [place.get(i, -99.0) for i in mine],
                np.zeros(len(mine)),
                judged=~np.isnan(labels[mine]),
                kept=[i in place for i in mine],
            )
            top, bottom = measure.per_query(judged)
            totals[:, q] += [top[0] / len(orders), bottom[0] / len(orders)]
    return totals


@pytest.mark.parametrize("name", EXACT)
def test_filter_only_is_the_mean_of_all_orders(name):
    draw, measure = np.random.default_rng(0), one_measure(name)
    for kind in range(40):
        scores, labels, groups, _ = small_case(draw, kind)
        scores, labels, groups = scores[:7], labels[:7], groups[:7]
        kept = draw.random(len(scores)) < 0.7
        lists = Lists.from_arrays(scores, labels, groups)
        top, bottom = FilterOnly(RankOnly()).expected(measure, lists, kept[lists.row])
        expected = over_all_orders(measure, scores, labels, groups.tolist(), kept)
        np.testing.assert_allclose(top, expected[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(bottom, expected[1], rtol=0, atol=1e-12)


def test_filter_only_of_other_measures_is_near_the_mean_of_all_orders_and_follows_the_seed():
    labels, groups = np.array([1.0, 0, 0, 1, -1, 1]), np.array(["q"] * 4 + ["r"] * 2)
    lists, kept = Lists.from_arrays(np.arange(6.0), labels, groups), np.ones(6, dtype=bool)
    measure = one_measure("AP")
    expected = over_all_orders(measure, np.arange(6.0), labels, groups.tolist(), kept)[0]
    found = [FilterOnly(RankOnly(), seed).expected(measure, lists, kept).numerator for seed in (0, 0, 1)]
    np.testing.assert_allclose(found[0], expected, atol=0.1)
    assert found[0].tolist() == found[1].tolist() != found[2].tolist()


@quiet
def test_all_and_nothing():
    data = [0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"]
    assert FilterAll().fit(*data).keep([1e9, -1e9]).tolist() == [False, False]
    assert RankOnly().fit(*data).keep([1e9, -1e9]).tolist() == [True, True]
    assert FixedCutoff(0.4).fit(*data).keep([0.4, 0.39]).tolist() == [True, False]


@quiet
@pytest.mark.parametrize("rule", [FilterAll(), RankOnly(), FixedCutoff(-0.25)])
def test_they_are_saved_like_any_rule(rule, tmp_path):
    rule.fit([0.9, -0.5, 0.7], [1, -1, 2], ["q", "q", "r"]).save(tmp_path / "cutoff.json")
    again = load_cutoff(tmp_path / "cutoff.json")
    assert type(again) is type(rule)
    assert again.get_params() == rule.get_params()
    some = np.linspace(-1, 1, 9)
    assert again.keep(some).tolist() == rule.keep(some).tolist()


@pytest.mark.parametrize("threshold", ["high", None, np.nan, True])
def test_a_threshold_is_a_number(threshold):
    with pytest.raises(InputError, match="threshold="):
        FixedCutoff(threshold).fit([0.9, 0.4], [1, -1], ["q", "r"])


class TestOracle:
    @pytest.mark.parametrize("name", ["nDCG_f@3", "AP", "RR_qwa"])
    @quiet
    def test_no_cut_of_any_query_is_better(self, name):
        draw, measure = np.random.default_rng(1), one_measure(name)
        for kind in range(150):
            scores, labels, groups, rank_scores = small_case(draw, kind)
            if np.isnan(labels).all():
                continue
            lists = Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores)
            kept = Oracle(name).fit_lists(lists).keep_lists(lists)
            top, bottom = measure.per_query(lists.judged_by(kept))
            own = measure.values(top, bottom)
            cuts = [at_threshold(measure, scores, labels, groups, t, rank_scores)[0] for t in all_thresholds(scores)]
            np.testing.assert_allclose(own, np.max(cuts, axis=0), rtol=0, atol=1e-12)

    def test_it_is_no_rule_to_use(self, tmp_path):
        lists = Lists.from_arrays([0.9, 0.4, 0.3], [1, -1, 2], ["q", "q", "r"])
        oracle = Oracle().fit_lists(lists)
        with pytest.raises(InputError, match="cuts by labels, but there are none"):
            oracle.keep([0.8, 0.5])
        with pytest.raises(InputError, match="not a rule that can be used"):
            oracle.save(tmp_path / "cutoff.json")
        assert not (tmp_path / "cutoff.json").exists()
        assert Oracle not in known_rules().values()


def test_values_of_the_paper_by_hand():
    """Filter-all has the difficulty of the query, rank-only its plain value."""
    qrels, run = {"q": {"a": 2, "b": -2}}, {"q": {"b": 2.0, "a": 1.0}}
    lists = Lists.from_run(qrels, run)
    measure = one_measure("nDCG_f@3")
    nothing, everything = (rule.fit_lists(lists).keep_lists(lists) for rule in (FilterAll(), RankOnly()))
    assert measure.per_query(lists.judged_by(nothing)).numerator.tolist() == [0.5]
    expected = rs.evaluate(qrels, run, "nDCG_f@3").mean_of("nDCG_f@3")
    assert measure.per_query(lists.judged_by(everything)).numerator.tolist() == [expected]
    shuffled = FilterOnly(RankOnly()).expected(measure, lists, everything).numerator
    other = rs.evaluate(qrels, {"q": {"a": 2.0, "b": 1.0}}, "nDCG_f@3").mean_of("nDCG_f@3")
    assert shuffled[0] == pytest.approx((expected + other) / 2, abs=1e-15)
