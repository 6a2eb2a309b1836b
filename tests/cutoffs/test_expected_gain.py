"""Keep what is expected to help."""

import json
import math

import numpy as np
import pytest

import ranksift as rs
from ranksift import ExpectedGainCutoff, GlobalCutoff, InputError
from ranksift.collection.lists import Lists
from ranksift.cutoffs.expected_gain import COLUMNS
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.score_shape import FEATURES, Shape
from tests.cutoffs.test_shape import shifted

quiet = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")


def two_kinds(n=4000, seed=0):
    """Good and forbidden documents with normal scores at ±1: the odds of good ones at s are e²ˢ."""
    draw = np.random.default_rng(seed)
    labels = draw.choice([-1.0, 1.0], n)
    return labels + draw.normal(size=n), labels, np.arange(n) // 4


def _calibration(scores, labels):
    return ExpectedGainCutoff().fit(scores, labels, np.arange(len(scores)) // 5).calibration_["at_least"]


class TestOneThreshold:
    def test_by_hand(self):
        # Isotonic: P(good) is 0, ½, ½, 1; a forbidden document costs as much as a good one gains.
        data = [1.0, 2.0, 3.0, 4.0], [-1, 1, -1, 1], ["q", "q", "r", "r"]
        cut = ExpectedGainCutoff(method="isotonic").fit(*data)
        assert cut.threshold_ == 2.0
        assert cut.expected_gain([1.0, 2.0, 2.5, 4.0]).tolist() == [-1, 0, 0, 1]
        assert ExpectedGainCutoff(method="isotonic").fit(*data, gains={-1: -2}).threshold_ == 4.0

    @pytest.mark.parametrize("method", ["isotonic", "platt", "best"])
    @pytest.mark.parametrize("cost", [1, 4, 10])
    def test_it_is_where_the_odds_are_the_cost(self, method, cost):
        cut = ExpectedGainCutoff(method=method).fit(*two_kinds(20_000), gains={-1: -cost})
        assert cut.threshold_ == pytest.approx(math.log(cost) / 2, abs=0.15)

    def test_beta_for_probabilities(self):
        scores, labels, groups = two_kinds(20_000)
        cut = ExpectedGainCutoff(method="beta").fit(1 / (1 + np.exp(-5 * scores)), labels, groups, gains={-1: -4})
        assert cut.threshold_ == pytest.approx(1 / (1 + math.exp(-5 * math.log(4) / 2)), abs=0.01)

    def test_of_all_cuts_it_has_the_highest_expected_dcg(self):
        gains = {-1: -4}
        cut = ExpectedGainCutoff("score", "platt").fit(*two_kinds(2000, seed=1), gains=gains)
        lists = Lists.from_arrays(*two_kinds(40_000, seed=2), gains=gains)
        dcg = rs.parse_measure("DCG")
        own = aggregate(dcg, lists, cut.keep_lists(lists))
        best = GlobalCutoff(dcg).fit_lists(lists)
        assert best.value_ - own < 0.01
        assert aggregate(dcg, lists, lists.score >= best.threshold_ - 0.5) < own - 0.01
        assert aggregate(dcg, lists, lists.score >= best.threshold_ + 0.5) < own - 0.01

    @quiet
    def test_infinite(self):
        assert ExpectedGainCutoff().fit([1.0, 2.0], [1, 2], ["q", "r"]).threshold_ == -np.inf
        assert ExpectedGainCutoff().fit([1.0, 2.0], [-1, -2], ["q", "r"]).threshold_ == np.inf
        assert ExpectedGainCutoff().fit([1.0, 2.0, 3.0], [1, 2, 3], ["q", "q", "r"]).keep([-9.0]).all()

    @quiet
    @pytest.mark.parametrize(("labels", "kept"), [([1, 1, -1], True), ([1, -1, -1], False), ([1, -1, 0], True)])
    def test_equal_scores_are_kept_by_their_mean_gain(self, labels, kept):
        for method in ("isotonic", "platt"):
            cut = ExpectedGainCutoff(method=method).fit([5.0] * 3, labels, ["q", "r", "r"])
            assert cut.keep([5.0]).tolist() == [kept]

    @quiet
    def test_unjudged_documents_change_nothing(self):
        scores, labels, groups = two_kinds(400)
        cut = ExpectedGainCutoff("score", "platt").fit(scores, labels, groups)
        more = ExpectedGainCutoff("score", "platt").fit(
            [*scores, *np.linspace(-9, 9, 50)], [*labels, *[None] * 50], [*groups, *np.arange(50)]
        )
        assert more.calibration_ == cut.calibration_

    @quiet
    def test_an_unjudged_score_outside_of_0_and_1_rules_beta_out(self):
        draw = np.random.default_rng(1)
        scores = draw.random(400)
        labels = np.where(draw.random(400) < scores**8, 1.0, -1.0)
        method = {level["method"] for level in _calibration(scores, labels).values()}
        scores[0], labels[0] = 1.5, np.nan
        assert method == {"beta"} != {level["method"] for level in _calibration(scores, labels).values()}

    def test_labels_of_one_gain_are_one(self):
        scores, labels, groups = two_kinds(500)
        finer = np.where((labels > 0) & (scores > 1), 5, labels)
        cut = ExpectedGainCutoff().fit(scores, finer, groups, gains={5: 1})
        assert cut.threshold_ == ExpectedGainCutoff().fit(scores, labels, groups).threshold_
        assert list(cut.calibration_["at_least"]) == ["1"]


class TestMeasure:
    def test_hard_queries_count_as_they_do_in_the_measure(self):
        # At score 1: in one query of many good documents a good one, in three of few the forbidden one. What a
        # document of the first is worth in nDCG_f is little.
        scores = [9.0] * 5 + [1.0] + [9.0, 1.0] * 3 + [1.0] * 5
        labels = [3.0] * 5 + [1.0] + [1.0, -1.0] * 3 + [1.0] * 5
        groups = [0] * 6 + [1, 1, 2, 2, 3, 3] + [0] * 5
        plain = ExpectedGainCutoff(method="isotonic").fit(scores, labels, groups)
        weighted = ExpectedGainCutoff(method="isotonic", measure="nDCG_f@20").fit(scores, labels, groups)
        assert plain.threshold_ == -np.inf
        assert weighted.threshold_ == 9.0
        best = GlobalCutoff("nDCG_f@20").fit(scores, labels, groups)
        assert weighted.threshold_ == best.threshold_

    def test_with_two_gains_isotonic_is_the_exact_best_threshold(self):
        # The isotonic mean of what documents add to the measure changes its sign where the sum of that is largest.
        for seed in range(20):
            draw = np.random.default_rng(seed)
            groups = np.repeat(np.arange(30), 5)
            labels = draw.choice([-1.0, 1.0], 150)
            scores = labels + draw.normal(size=150) * 2
            cut = ExpectedGainCutoff(method="isotonic", measure="nDCG_f@3").fit(scores, labels, groups)
            lists = Lists.from_arrays(scores, labels, groups)
            own = aggregate(rs.parse_measure("nDCG_f@3"), lists, cut.keep_lists(lists))
            assert own == pytest.approx(GlobalCutoff("nDCG_f@3").fit(scores, labels, groups).value_, abs=1e-12)

    def test_a_measures_own_gains_win(self):
        data = two_kinds(2000)
        cut = ExpectedGainCutoff(measure="nDCG_f(gains={-1:-4})@3").fit(*data)
        assert cut.calibration_["labels"] == [-4.0, 1.0]

    def test_a_measure_that_counts_no_negative_gain_keeps_all(self):
        assert ExpectedGainCutoff(measure="nDCG@3").fit(*two_kinds(400)).threshold_ == -np.inf

    def test_others_do_not_add_up_gains(self):
        with pytest.warns(rs.RankSiftWarning, match="RR does not add up gains"):
            cut = ExpectedGainCutoff(measure="RR").fit(*two_kinds(400))
        assert cut.threshold_ == ExpectedGainCutoff().fit(*two_kinds(400)).threshold_

    @quiet
    def test_no_document_that_counts(self):
        cut = ExpectedGainCutoff(measure="nDCG_f@3").fit([1.0, 2.0], [0, 0], ["q", "r"])
        assert any("no document counts" in note for note in cut.notes_)
        assert cut.keep([1.5]).all()


class TestShape:
    def test_the_formula_by_hand(self):
        scores, labels, groups = shifted(120, 5, 2.0)
        cut = ExpectedGainCutoff(features="shape").fit(scores, labels, groups)
        own = scores[groups == 3]
        shape = Shape.of(Lists.from_arrays(own, None, np.zeros(len(own))))
        rest = {name: getattr(shape, name)[0] for name in FEATURES}
        saved = json.loads(json.dumps(cut.to_dict()))["calibration"]
        for score, found, kept in zip(own, cut.expected_gain(own), cut.keep(own), strict=True):
            x = {"score": score, "zscore": (score - own.mean()) / own.std(), **rest}
            p = sorted(
                (
                    1 / (1 + math.exp(-(level["intercept"] + sum(level["weights"][c] * x[c] for c in COLUMNS))))
                    for level in saved["at_least"].values()
                ),
                reverse=True,
            )
            steps = np.diff(saved["labels"])
            assert found == pytest.approx(saved["labels"][0] + sum(np.array(p) * steps), abs=1e-9)
            assert kept == (found >= 0)

    def test_inside_a_list_it_never_falls_as_the_score_rises(self):
        for seed in range(5):
            scores, labels, groups = shifted(60, seed, 2.0)
            cut = ExpectedGainCutoff(features="shape").fit(scores, labels, groups)
            for q in range(60):
                own = np.sort(scores[groups == q])
                assert (np.diff(cut.expected_gain(own)) >= -1e-12).all()

    @quiet
    def test_fewer_queries_than_folds_see_the_score_only(self):
        scores, labels, groups = shifted(4, 3, 1.0, sizes=(8, 12))
        cut = ExpectedGainCutoff(features="shape").fit(scores, labels, groups)
        for level in cut.calibration_["at_least"].values():
            others = [w for name, w in level["weights"].items() if name != "score"]
            assert max(map(abs, others)) < 1e-3

    def test_where_lists_say_nothing_it_is_nearly_one_threshold(self):
        train, test = shifted(300, 11, 0.0), shifted(300, 12, 0.0)
        shape = ExpectedGainCutoff(features="shape").fit(*train).keep(test[0], test[2])
        score = ExpectedGainCutoff(method="platt").fit(*train).keep(test[0], test[2])
        assert (shape == score).mean() > 0.95


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [({"features": "rank"}, "features='rank' is unknown"), ({"method": "magic"}, "'magic' is unknown")],
)
def test_bad_parameters(parameters, fault):
    with pytest.raises(InputError, match=fault):
        ExpectedGainCutoff(**parameters).fit(*two_kinds(40))


def test_not_fitted():
    with pytest.raises(InputError, match="is not fitted"):
        ExpectedGainCutoff().expected_gain([1.0])
