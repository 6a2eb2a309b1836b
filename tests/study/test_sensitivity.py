"""Sensitivity: enumeration by hand, plain loops, scipy, both methods, refusals."""

import sys
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.study import plain_sensitivity
from ranksift import InputError, RankSiftWarning, compare, evaluate, study
from tests.study.cases import QRELS, filtering_runs, scored

NOISY = scored(np.random.default_rng(2).random((5, 20)) + 0.1 * np.arange(5)[:, None])


class TestSakaiByHand:
    def test_two_topics(self):
        # Differences 1 and 3: mean 2, t = 2. Shifted: −1 and 1. Of the four samples {0, 1} and {1, 0} have mean 0 and
        # t = 0, {0, 0} and {1, 1} have no spread and an infinite t.
        scores = scored([[1.0, 3.0], [0.0, 0.0]])
        found = study.sensitivity(scores, samples=[[0, 0], [0, 1], [1, 0], [1, 1]])
        assert found.asl["AP"].tolist() == [0.5]

    def test_three_topics(self):
        # Differences 1, 2, 6: mean 3, variance 7, t² = 27/7. Shifted: −2, −1, 3.
        scores = scored([[1.0, 2.0, 6.0], [0.0, 0.0, 0.0]])
        samples = [[0, 0, 1], [0, 1, 2], [2, 2, 1], [2, 2, 0]]
        # Means −5/3, 0, 5/3, 4/3; variances 1/3, 7, 16/3, 25/3; t² = 3 mean² / variance = 25, 0, 25/16, 16/25.
        assert study.sensitivity(scores, samples).asl["AP"].tolist() == [0.25]
        # The observed t² is 3.857: a sample with it, up to order, reaches it.
        same = study.sensitivity(scored([[-2.0, -1.0, 3.0], [-1.0, -1.0, -1.0]]), [[0, 0, 1]])
        assert same.asl["AP"].tolist() == [1.0]

    def test_difference_needed(self):
        scores = scored([[1.0, 2.0, 6.0], [0.0, 0.0, 0.0]])
        found = study.sensitivity(scores, [[0, 0, 1], [0, 1, 2], [2, 2, 1], [2, 2, 0]])
        # By t²: 25 (mean −5/3), 25/16 (5/3), 16/25 (4/3), 0 (0).
        needed = [found.difference_needed(alpha)["AP"] for alpha in (0.25, 0.5, 0.75, 0.999)]
        assert needed == pytest.approx([5 / 3, 5 / 3, 4 / 3, 4 / 3])

    def test_difference_needed_is_that_of_the_worst_pair(self):
        values = np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 0.0], [0.1, 0.2, 0.6]])
        samples = [[0, 0, 1], [0, 1, 2], [2, 2, 1], [2, 2, 0]]
        pairs = [study.sensitivity(scored(values[list(p)]), samples) for p in combinations(range(3), 2)]
        whole = study.sensitivity(scored(values), samples).difference_needed(0.5)["AP"]
        assert whole == pytest.approx(max(pair.difference_needed(0.5)["AP"] for pair in pairs))

    def test_too_few_samples_for_a_level(self):
        found = study.sensitivity(scored([[1.0, 3.0], [0.0, 0.0]]), samples=10)
        assert found.difference_needed(0.05) == {"AP": None}
        assert found.difference_needed(0.1)["AP"] is not None

    def test_it_is_computed_once(self, monkeypatch):
        found = study.sensitivity(NOISY, samples=100)
        once = found.difference_needed(0.1)
        monkeypatch.setattr(sys.modules["ranksift.study.sensitivity"], "_difference_needed", None)
        assert found.difference_needed(0.1) == once
        once["AP"] = -1.0
        assert found.difference_needed(0.1) != once

    def test_a_level_that_is_a_whole_number_of_samples(self):
        assert 100 * 0.29 < 29  # as computers have it
        found = study.sensitivity(NOISY, samples=100)
        assert found.difference_needed(0.29) == found.difference_needed(0.2901) != found.difference_needed(0.2899)


class TestSignByHand:
    def test_share_of_samples_in_which_the_better_is_not_better(self):
        # Ahead by 1 on two topics, behind by 2 − 0.9 … on the third: 0.3 ahead in all.
        scores = scored([[1.0, 1.0, 0.0], [0.0, 0.0, 1.1]])
        samples = [list(s) for s in product(range(3), repeat=3)]
        # Behind where topic 2 is drawn twice or thrice: 6 + 1 of 27.
        assert study.sensitivity(scores, samples, "sign").asl["AP"] == pytest.approx([7 / 27])

    def test_a_tie_is_not_better(self):
        scores = scored([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        assert study.sensitivity(scores, [[0, 0, 1], [0, 1, 2], [0, 2, 2]], "sign").asl["AP"] == pytest.approx([1 / 3])
        even = scored([[1.0, 0.0], [0.0, 0.5]])
        assert study.sensitivity(even, [[0, 1], [0, 0]], "sign").asl["AP"].tolist() == [0.0]
        assert study.sensitivity(scored([[1.0, 0.0], [0.0, 0.5]]), [[1, 1]], "sign").asl["AP"].tolist() == [1.0]

    def test_runs_with_equal_means_are_not_told_apart(self):
        scores = scored([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
        assert study.sensitivity(scores, [[0, 0, 0], [2, 2, 2], [0, 1, 2]], "sign").asl["AP"].tolist() == [1.0]

    def test_difference_needed(self):
        scores = scored([[1.0, 1.0, 0.0], [0.0, 0.0, 1.1]])  # ahead by 0.3
        # Ahead by 1, 0.3, −0.4, −1.1: against the observed order by −0.7, 0, 0.7, 1.4.
        found = study.sensitivity(scores, [[0, 0, 1], [0, 1, 2], [0, 2, 2], [2, 2, 2]], "sign")
        assert [found.difference_needed(a)["AP"] for a in (0.25, 0.5, 0.75)] == pytest.approx([1.4, 0.7, 0.0])


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
class TestIndependently:
    @given(st.integers(0, 10_000), st.integers(2, 5), st.integers(3, 9))
    def test_plain_loops(self, seed, runs, topics):
        draw = np.random.default_rng(seed)
        values, drawn = draw.random((runs, topics)), draw.integers(0, topics, (40, topics)).tolist()
        assert study.sensitivity(scored(values), drawn).asl["AP"] == pytest.approx(
            plain_sensitivity(values.tolist(), drawn)
        )

    def test_scipy_s_studentised_statistic(self):
        draw = np.random.default_rng(8)
        drawn = draw.integers(0, 20, (200, 20))
        found = study.sensitivity(NOISY, drawn)
        for level, (a, b) in zip(found.asl["AP"], combinations(range(5), 2), strict=True):
            z = NOISY.values[a, :, 0] - NOISY.values[b, :, 0]
            resampled = stats.ttest_1samp((z - z.mean())[drawn], 0, axis=1).statistic
            assert level == np.mean(np.abs(resampled) >= abs(stats.ttest_1samp(z, 0).statistic))

    def test_near_the_t_test(self):
        found = study.sensitivity(NOISY, samples=4000)
        for level, (a, b) in zip(found.asl["AP"], combinations(range(5), 2), strict=True):
            p = stats.ttest_rel(NOISY.values[a, :, 0], NOISY.values[b, :, 0]).pvalue
            assert level == pytest.approx(p, abs=0.03)

    def test_the_samples_of_compare(self):
        found = study.sensitivity(NOISY, samples=500, seed=3)
        compared = compare(NOISY, test="bootstrap", correction="none", samples=500, seed=3)
        by_pair = {frozenset(pair): p for pair, p in zip(compared.pairs, compared.p[:, 0], strict=True)}
        for pair, level in zip(found.pairs, found.asl["AP"], strict=True):
            assert (1 + 500 * level) / 501 == pytest.approx(by_pair[frozenset(pair)])

    def test_signs_one_by_one(self):
        draw = np.random.default_rng(4)
        drawn = draw.integers(0, 20, (300, 20))
        found = study.sensitivity(NOISY, drawn, "sign")
        for level, (a, b) in zip(found.asl["AP"], combinations(range(5), 2), strict=True):
            z = NOISY.values[a, :, 0] - NOISY.values[b, :, 0]
            assert level == np.mean(np.sign(z[drawn].mean(axis=1)) != np.sign(z.mean()))

    def test_sign_is_about_half_of_sakai_s(self):
        both = [study.sensitivity(NOISY, samples=4000, method=m).asl["AP"] for m in ("sakai", "sign")]
        assert both[1] == pytest.approx(both[0] / 2, abs=0.03)

    @pytest.mark.parametrize("measure", ["Fdocs@3", "GoodFiltered", "c_at_1"])
    def test_pooled_measures_are_aggregated_anew(self, measure):
        scores = evaluate(QRELS, filtering_runs(), [measure])
        drawn = np.random.default_rng(0).integers(0, 5, (60, 5)).tolist()
        sakai, sign = (study.sensitivity(scores, drawn, method) for method in ("sakai", "sign"))
        whole = scores.aggregate()[:, 0]
        again = np.array([scores.aggregate(topics)[:, 0] for topics in drawn])
        for c, (a, b) in enumerate(combinations(range(6), 2)):
            observed, resampled = whole[a] - whole[b], again[:, a] - again[:, b]
            assert sakai.asl[measure][c] == np.mean(np.abs(resampled - observed) >= abs(observed) - 1e-9)
            same_order = resampled * np.sign(observed) > 1e-9
            assert sign.asl[measure][c] == (np.mean(~same_order) if observed else 1.0)

    def test_a_macro_average_is_studentised(self):
        measure = 'Fdocs(average="macro")@3'
        scores = evaluate(QRELS, filtering_runs(), [measure])
        drawn = np.random.default_rng(0).integers(0, 5, (60, 5)).tolist()
        own = study.sensitivity(scored(scores.values[:, :, 0]), drawn)
        assert study.sensitivity(scores, drawn).asl[measure].tolist() == own.asl["AP"].tolist()


class TestResult:
    FOUND = study.sensitivity(NOISY, samples=200)

    def test_pairs_in_order(self):
        assert self.FOUND.pairs[:5] == (("r0", "r1"), ("r0", "r2"), ("r0", "r3"), ("r0", "r4"), ("r1", "r2"))
        means = NOISY.values[:, :, 0].mean(axis=1)
        assert self.FOUND.difference["AP"][1] == pytest.approx(means[0] - means[2])

    def test_curve_is_strict(self):
        found = study.sensitivity(scored([[1.0, 1.0, 0.0], [0.0, 0.0, 1.1]]), [[0, 0, 1], [2, 2, 2]], "sign")
        assert found.asl["AP"].tolist() == [0.5]
        assert found.curve([0.4, 0.5, 0.6])["AP"].tolist() == [0.0, 0.0, 1.0]

    def test_curve_counts(self):
        asl = self.FOUND.asl["AP"]
        alphas = [0.0, 0.005, 0.05, 0.3, 2.0]
        assert self.FOUND.curve(alphas)["AP"].tolist() == [np.mean(asl < alpha) for alpha in alphas]
        assert self.FOUND.curve(0.05)["AP"].tolist() == [np.mean(asl < 0.05)]

    def test_same_seed_same_numbers(self):
        again, other = study.sensitivity(NOISY, samples=200), study.sensitivity(NOISY, samples=200, seed=1)
        assert again.asl["AP"].tobytes() == self.FOUND.asl["AP"].tobytes() != other.asl["AP"].tobytes()
        assert again.difference_needed() == self.FOUND.difference_needed()

    def test_frame(self):
        frame = self.FOUND.to_frame()
        assert frame.columns == ["measure", "run", "other", "difference", "asl"]
        assert frame["asl"].to_list() == self.FOUND.asl["AP"].tolist()
        assert list(zip(frame["run"], frame["other"], strict=True)) == list(self.FOUND.pairs)

    def test_print(self):
        assert str(self.FOUND).startswith("Sensitivity: pairs of 5 runs on 20 topics told apart")

    def test_measures_in_any_spelling(self):
        assert self.FOUND.asl["map"] is self.FOUND.asl["AP"]

    def test_picture(self):
        pytest.importorskip("matplotlib")
        (axes,) = self.FOUND.plot(most=0.5).axes
        levels, shares = axes.lines[0].get_data()
        assert shares.tolist() == self.FOUND.curve(levels)["AP"].tolist()
        assert levels[-1] == 0.5

    def test_bad_levels(self):
        for bad in ("five", [[0.1]], [float("nan")]):
            with pytest.raises(InputError, match="alphas are not a list of numbers"):
                self.FOUND.curve(bad)
        with pytest.raises(InputError, match=r"alpha=1\.5 is not a number between 0 and 1"):
            self.FOUND.difference_needed(1.5)


class TestRefusals:
    def test_one_run(self):
        with pytest.raises(InputError, match="sensitivity needs at least 2 runs"):
            study.sensitivity(scored([[0.1, 0.2]]))

    def test_one_topic(self):
        with pytest.raises(InputError, match="sensitivity needs at least 2 queries"):
            study.sensitivity(scored([[0.1], [0.2]]))

    @pytest.mark.parametrize("method", ["sakai", "sign"])
    def test_copies_are_never_told_apart(self, method):
        with pytest.warns(RankSiftWarning, match="the runs 'r0' and 'r1' have the same values"):
            found = study.sensitivity(scored([[0.1, 0.5, 0.2], [0.1, 0.5, 0.2]]), samples=50, method=method)
        assert found.asl["AP"].tolist() == [1.0]
        assert found.difference_needed(0.1) == {"AP": 0.0}
        assert not any("difference" in sentence for sentence in found.reading())

    @pytest.mark.parametrize("method", ["sakai", "sign"])
    def test_constant_scores_tell_nothing_apart(self, method):
        with pytest.warns(RankSiftWarning):
            found = study.sensitivity(scored([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]]), samples=50, method=method)
        assert found.asl["AP"].tolist() == [1.0] * 3
        assert "AP has the same value for every run and query: it cannot tell anything apart" in found.notes

    def test_a_constant_difference_is_told_apart(self):
        found = study.sensitivity(scored([[0.1, 0.5, 0.3], [0.2, 0.6, 0.4]]), samples=50)
        assert found.asl["AP"].tolist() == [0.0]

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"samples": 0}, "samples=0 is not a positive integer"),
            ({"samples": [[0, 1]]}, "sample 0 has 2 topics, there are 20; draw as many as there are"),
            ({"samples": "many"}, "sample 0 is not a list of topic indices"),
            ({"method": "t"}, "method='t' is unknown; use 'sakai' or 'sign'"),
            ({"seed": 0.5}, "seed=0.5 is not an integer of at least 0"),
        ],
    )
    def test_options(self, options, words):
        with pytest.raises(InputError) as refusal:
            study.sensitivity(NOISY, **options)
        assert words in str(refusal.value)
