"""Thresholds from the shape of a list: lines against every cut by brute force, and which features are taken in."""

import numpy as np
import pytest

import ranksift as rs
from ranksift import GlobalCutoff, InputError, ShapeCutoff
from ranksift.collection.lists import Lists
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.score_shape import Shape
from ranksift.cutoffs.shape import Plane, along, ascend, best_step, level
from ranksift.cutoffs.sweep import Sweep
from tests.cutoffs.brute import small_case

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")


def shifted(queries, seed, shift, sizes=(1, 10)):
    """Documents whose scores are comparable inside a query only, as far as there is a shift."""
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), draw.integers(*sizes, queries))
    labels = draw.choice([-2.0, 0, 1, 2], len(groups), p=[0.4, 0.2, 0.2, 0.2])
    scores = labels + draw.normal(0, 1, len(groups)) + shift * draw.normal(size=queries)[groups]
    return scores, labels, groups


class TestLines:
    @pytest.mark.parametrize("measure", ["nDCG_f@3", "AP", "Fdocs@2", "RR_qwa", "NumRet"])
    def test_every_point_of_a_line_has_the_measures_value(self, measure):
        draw = np.random.default_rng(0)
        measure = rs.parse_measure(measure)
        for kind in range(80):
            scores, labels, groups, rank_scores = small_case(draw, kind)
            if np.isnan(labels).all():
                continue
            lists = Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores)
            thresholds = draw.normal(size=len(lists))
            direction = draw.choice([-1.0, 0.0, 0.5, 2.0], len(lists))
            line = along(Sweep.of(lists, measure), thresholds, direction)
            crossings = -line.thresholds[1:]
            ends = np.concatenate(([-99.0], crossings, [99.0]))
            for alpha, value in zip((ends[:-1] + ends[1:]) / 2, line.values(), strict=True):
                kept = lists.score >= (thresholds + alpha * direction)[lists.query]
                assert value == pytest.approx(aggregate(measure, lists, kept), abs=1e-12)

    @pytest.mark.parametrize("measure", ["nDCG_f@3", "Fdocs@3"])
    def test_the_best_step_is_the_best_of_the_line(self, measure):
        measure = rs.parse_measure(measure)
        sign = 1 if measure.higher_is_better else -1
        for seed in range(30):
            lists = Lists.from_arrays(*shifted(12, seed, 1.0))
            draw = np.random.default_rng(seed)
            thresholds, direction = draw.normal(size=12), draw.normal(size=12)
            step, gain = best_step(along(Sweep.of(lists, measure), thresholds, direction))
            worth = {
                alpha: sign * aggregate(measure, lists, lists.score >= (thresholds + alpha * direction)[lists.query])
                for alpha in (0.0, step, *np.linspace(-5, 5, 401).tolist())
            }
            assert worth[step] == pytest.approx(worth[0.0] + gain, abs=1e-12)
            assert max(worth.values()) <= worth[step] + 1e-12

    def test_nothing_to_gain_is_no_step(self):
        lists = Lists.from_arrays([2.0, 1.0], [1, -1], ["q", "q"])
        sweep = Sweep.of(lists, rs.parse_measure("nDCG_f@2"))
        assert best_step(along(sweep, np.array([1.5]), np.array([1.0]))) == (0.0, 0.0)
        assert best_step(along(sweep, np.array([1.5]), np.array([0.0]))) == (0.0, 0.0)

    def test_ascent_never_ends_below_its_start(self):
        measure = rs.parse_measure("nDCG_f@3")
        for seed in range(10):
            lists = Lists.from_arrays(*shifted(30, seed, 2.0))
            sweep = Sweep.of(lists, measure)
            features = Shape.of(lists).features(("top", "mean"))
            start = Plane(level(sweep).intercept, np.zeros(2))
            end = ascend(sweep, features, start)
            values = [
                aggregate(measure, lists, lists.score >= p.thresholds(features)[lists.query]) for p in (start, end)
            ]
            assert values[0] == pytest.approx(sweep.values().max(), abs=1e-12)
            assert values[1] > values[0]


class TestFeatures:
    def test_shifts_of_queries_are_seen_in_the_mean(self):
        cut = ShapeCutoff("nDCG_f@5").fit(*shifted(300, 1, 3.0))
        assert cut.weights_["mean"] == pytest.approx(1.0, abs=0.15)

    def test_where_nothing_helps_it_is_the_global_cut(self):
        data = shifted(100, 3, 0.0)
        cut, one = ShapeCutoff("nDCG_f@5", caution=3.0).fit(*data), GlobalCutoff("nDCG_f@5").fit(*data)
        assert (cut.weights_, cut.intercept_) == ({}, one.threshold_)
        assert cut.value_ == pytest.approx(one.value_, abs=1e-12)
        assert cut.instruction == "score >= float(intercept)"

    def test_only_those_that_are_allowed(self):
        cut = ShapeCutoff("nDCG_f@5", features=("top", "count")).fit(*shifted(300, 1, 3.0))
        assert set(cut.weights_) == {"top"}
        assert ShapeCutoff("nDCG_f@5", features=()).fit(*shifted(50, 1, 3.0)).weights_ == {}

    def test_caution(self):
        data = shifted(60, 2, 1.0)
        few, many = (ShapeCutoff("nDCG_f@5", caution=c).fit(*data).weights_ for c in (99.0, 0.0))
        assert few == {}
        assert many

    @quiet
    def test_fewer_queries_than_folds(self):
        cut = ShapeCutoff("nDCG_f@5").fit(*shifted(4, 2, 3.0))
        assert cut.weights_ == {}

    def test_its_value_is_what_it_keeps(self):
        for shift in (0.0, 3.0):
            data = shifted(80, 7, shift)
            cut = ShapeCutoff("nDCG_f@5").fit(*data)
            lists = Lists.from_arrays(*data)
            assert aggregate(rs.parse_measure("nDCG_f@5"), lists, cut.keep_lists(lists)) == pytest.approx(cut.value_)
            assert cut.value_ >= GlobalCutoff("nDCG_f@5").fit(*data).value_ - 1e-12

    def test_a_query_is_cut_the_same_alone_and_among_others(self):
        scores, labels, groups = shifted(80, 7, 3.0)
        cut = ShapeCutoff("nDCG_f@5").fit(scores, labels, groups)
        alone = np.concatenate([cut.keep(scores[groups == q]) for q in range(80)])
        assert cut.weights_
        assert np.array_equal(alone, cut.keep(scores, groups))

    def test_the_formula_by_hand(self):
        scores, labels, groups = shifted(80, 7, 3.0)
        cut = ShapeCutoff("nDCG_f@5", features=("mean", "top")).fit(scores, labels, groups)
        for q in range(20):
            own = scores[groups == q]
            known = {"mean": own.mean(), "top": own.max()}
            asked = cut.intercept_ + sum(w * known[name] for name, w in cut.weights_.items())
            assert cut.keep(own).tolist() == (own >= asked).tolist()


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"features": ("top", "colour")}, "is not a list of some of count, top"),
        ({"features": "top"}, "features='top' is not a list"),
        ({"folds": 1}, "folds=1 is not an integer of at least 2"),
        ({"caution": "much"}, "caution='much'"),
    ],
)
def test_bad_parameters(parameters, fault):
    with pytest.raises(InputError, match=fault):
        ShapeCutoff(**parameters).fit(*shifted(20, 0, 1.0))
