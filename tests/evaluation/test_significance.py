"""Tests, intervals and corrections against scipy, enumeration and plain loops."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ranksift.evaluation import significance
from ranksift.evaluation.significance import (
    Paired,
    Unpaired,
    benjamini_hochberg,
    bonferroni,
    bootstrap,
    holm,
    randomization,
    resamples,
    t_interval,
    t_test,
    times_drawn,
    unpaired_t,
    wilcoxon,
)


def values(systems: int, queries: int, seed: int = 0, digits: int | None = None) -> np.ndarray:
    drawn = np.random.default_rng(seed).random((systems, queries)) ** 2
    return drawn if digits is None else np.round(drawn, digits)


def pair(left, right) -> Paired:
    return Paired(np.array([right, left], dtype=float), np.array([1]), np.array([0]))


def each(paired: Paired):
    return zip(paired.values[paired.left], paired.values[paired.right], strict=True)


# Scores of real measures: few distinct values, many ties and zeros.
COARSE = st.integers(2, 40).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 10), min_size=n, max_size=n), min_size=2, max_size=5)
)


class TestDifferences:
    def test_all_pairs_are_later_minus_earlier(self):
        paired = Paired.all(np.array([[1.0, 1.0], [2.0, 4.0], [0.0, 0.5]]))
        assert list(zip(paired.left, paired.right, strict=True)) == [(1, 0), (2, 0), (2, 1)]
        assert paired.differences().tolist() == [[1, 3], [-1, -0.5], [-2, -3.5]]

    def test_a_difference_within_rounding_is_a_tie(self):
        paired = pair([0.1 + 0.2, 0.5, 0.7], [0.3, 0.4, 0.7])
        assert (paired.summary.above[0], paired.summary.below[0]) == (1, 0)
        assert paired.differences()[0, 0] == 0

    def test_a_small_difference_of_small_values_is_a_difference(self):
        assert pair([1e-18, 3e-18], [2e-18, 1e-18]).summary.above[0] == 1

    def test_blocks_do_not_change_the_summary(self, monkeypatch):
        whole = Paired.all(values(6, 30)).summary
        monkeypatch.setattr(significance, "_PAIR_BLOCK", 64)
        for one, other in zip(whole, Paired.all(values(6, 30)).summary, strict=True):
            assert np.array_equal(one, other)


class TestStudent:
    @given(COARSE)
    def test_equals_scipy(self, rows):
        paired = Paired.all(np.array(rows) / 10)
        found = t_test(paired)
        low, high = t_interval(paired, 0.9)
        for i, (left, right) in enumerate(each(paired)):
            if len({round(10 * d) for d in left - right}) == 1:
                continue  # no spread: scipy has nan, or what rounding makes of it
            expected = stats.ttest_rel(left, right)
            assert found.statistic[i] == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
            assert found.p[i] == pytest.approx(expected.pvalue, rel=1e-9)
            interval = expected.confidence_interval(0.9)
            assert (low[i], high[i]) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)

    def test_equal_systems_have_p_1_and_no_effect(self):
        paired = pair([0.1, 0.5, 0.9], [0.1, 0.5, 0.9])
        assert t_test(paired) == (0.0, 1.0, 0.0)
        assert paired.effect_size[0] == 0
        assert t_interval(paired, 0.95) == (0.0, 0.0)

    @pytest.mark.parametrize("shift", [0.25, 0.1])
    def test_a_constant_difference_has_an_infinite_t(self, shift):
        right = np.array([0.1, 0.2, 0.3, 0.7])  # with 0.1 the differences differ in their last bits
        assert t_test(pair(right + shift, right)) == (np.inf, 0.0, 1.0)
        assert pair(right - shift, right).effect_size[0] == -np.inf
        assert t_interval(pair(right + shift, right), 0.95)[0][0] == pytest.approx(shift, rel=1e-12)

    def test_nearly_equal_values_lose_nothing(self):
        noise = np.random.default_rng(3).normal(0.3, 1.0, 40)
        paired = pair(0.5 + 1e-9 * noise, np.full(40, 0.5))
        exact = [Fraction(x) - Fraction(1, 2) for x in paired.values[1]]
        mean = sum(exact) / 40
        variance = sum((d - mean) ** 2 for d in exact) / 39
        assert t_test(paired).statistic[0] == pytest.approx(float(mean) / float(variance / 40) ** 0.5, rel=1e-12)

    def test_effect_size_is_t_over_root_n(self):
        left, right = values(2, 50)
        d = left - right
        assert pair(left, right).effect_size[0] == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-12)


class TestUnpaired:
    @given(COARSE)
    def test_equals_scipy(self, rows):
        paired = Paired.all(np.array(rows) / 10)
        found, (low, high) = unpaired_t(Unpaired.of(paired)), Unpaired.of(paired).interval(0.9)
        for i, (left, right) in enumerate(each(paired)):
            if len(set(left)) == len(set(right)) == 1:
                continue  # no spread: scipy has nan
            expected = stats.ttest_ind(left, right)
            assert found.statistic[i] == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
            assert found.p[i] == pytest.approx(expected.pvalue, rel=1e-9)
            interval = expected.confidence_interval(0.9)
            assert (low[i], high[i]) == pytest.approx((interval.low, interval.high), rel=1e-9, abs=1e-12)

    def test_without_spread_a_difference_is_infinite(self):
        assert unpaired_t(Unpaired.of(pair([0.3] * 3, [0.1] * 3))) == (np.inf, 0.0, 1.0)
        assert unpaired_t(Unpaired.of(pair([0.1] * 3, [0.1] * 3))) == (0.0, 1.0, 0.0)

    def test_it_sees_less_where_queries_differ_more_than_runs(self):
        right = np.arange(20) / 20
        left = right + np.tile([0.01, 0.02], 10)
        assert t_test(pair(left, right)).p[0] < 1e-9
        assert unpaired_t(Unpaired.of(pair(left, right))).p[0] > 0.8


class TestWilcoxon:
    # From 14 queries on: below, scipy enumerates in seconds what is tested by known values here.
    @given(st.integers(14, 60).flatmap(lambda n: st.lists(st.integers(-9, 9), min_size=n, max_size=n)))
    def test_equals_scipy_with_ties_and_zeros(self, eighths):
        self.check(pair(np.array(eighths) / 8, np.zeros(len(eighths))))

    @pytest.mark.parametrize("queries", [3, 13, 14, 30, 50, 51, 200])
    def test_equals_scipy_without_ties(self, queries):
        self.check(Paired.all(values(4, queries)))

    @pytest.mark.parametrize("queries", [3, 6, 8])
    def test_equals_scipy_with_ties_in_few_queries(self, queries):
        self.check(Paired.all(values(3, queries, seed=2, digits=1)))

    @pytest.mark.parametrize("queries", [20, 60])
    def test_exact_and_approximate_pairs_do_not_disturb_each_other(self, queries):
        smooth, coarse = values(3, queries), values(3, queries, seed=1, digits=1)
        self.check(Paired.all(np.concatenate([smooth, coarse, smooth[:1]])))

    @pytest.mark.parametrize("queries", [5, 13, 14, 51])
    def test_equal_systems_have_p_1(self, queries):
        same = values(1, queries)[0]
        assert wilcoxon(pair(same, same)) == (0.0, 1.0, 0.0)

    def test_blocks_do_not_change_it(self, monkeypatch):
        whole = wilcoxon(Paired.all(values(6, 30, digits=1)))
        monkeypatch.setattr(significance, "_PAIR_BLOCK", 64)
        for one, other in zip(whole, wilcoxon(Paired.all(values(6, 30, digits=1))), strict=True):
            assert np.array_equal(one, other)

    def check(self, paired):
        found = wilcoxon(paired)
        for i, d in enumerate(paired.differences()):
            if not d.any():
                assert found.p[i] == 1
                continue
            expected = stats.wilcoxon(d)
            assert (found.statistic[i], found.p[i]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-11)
            above = stats.wilcoxon(d, alternative="greater", method="asymptotic").statistic
            n = np.count_nonzero(d)
            assert found.sign[i] == np.sign(above - n * (n + 1) / 4)


class TestRandomization:
    @given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=9))
    def test_small_samples_are_enumerated_exactly(self, tenths):
        left, right = zip(*tenths, strict=True)
        found = randomization(pair(np.array(left) / 10, np.array(right) / 10), samples=1000, seed=0)
        differences = [a - b for a, b in tenths]
        ways = [
            abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in product((1, -1), repeat=len(tenths))
        ]
        assert found.p[0] == sum(w >= abs(sum(differences)) for w in ways) / len(ways)

    def test_all_pairs_together_equal_each_alone(self):
        together = Paired.all(values(6, 70))
        found = randomization(together, samples=500, seed=4)
        for i, (left, right) in enumerate(each(together)):
            assert randomization(pair(left, right), samples=500, seed=4).p[0] == found.p[i]

    def test_blocks_do_not_change_the_draw(self, monkeypatch):
        whole = randomization(Paired.all(values(5, 70)), samples=500, seed=4).p
        monkeypatch.setattr(significance, "_SAMPLE_BLOCK", 70 * 7)
        monkeypatch.setattr(significance, "_PAIR_BLOCK", 64)
        assert np.array_equal(randomization(Paired.all(values(5, 70)), samples=500, seed=4).p, whole)

    def test_the_seed_decides(self):
        paired = Paired.all(values(3, 40))
        assert np.array_equal(randomization(paired, 999, seed=1).p, randomization(paired, 999, seed=1).p)
        assert not np.array_equal(randomization(paired, 999, seed=1).p, randomization(paired, 999, seed=2).p)

    def test_p_is_never_0_unless_it_is_exact(self):
        left, right = values(2, 200)
        assert randomization(pair(left + 5, right), samples=99, seed=0).p[0] == 0.01

    def test_a_random_draw_comes_near_the_exact_value(self):
        paired = Paired.all(values(4, 12))
        exact = randomization(paired, samples=2**12, seed=0).p
        drawn = randomization(paired, samples=2**12 - 1, seed=0).p
        assert np.abs(exact - drawn).max() < 5 * 0.5 / 64  # five standard errors of a share in 4096 draws

    def test_every_sign_is_drawn_half_of_the_time(self):
        signs = np.concatenate(list(significance._random_signs(130, 4000, np.random.default_rng(0))))
        assert signs.shape == (4000, 130)
        assert set(np.unique(signs)) == {-0.5, 0.5}
        assert np.abs(signs.mean(axis=0)).max() < 5 * 0.5 / 4000**0.5

    def test_equal_systems_have_p_1(self):
        same = values(1, 100)[0]
        assert randomization(pair(same, same), samples=50, seed=0).p[0] == 1

    def test_nearly_equal_systems_are_tested_on_their_own_differences(self):
        steps = np.array([1, 2, 3, 4, 5, 6, -1, 2, 8, 1])  # added without rounding, so that many ways tie
        ways = np.array(list(product((1, -1), repeat=10))) @ steps
        expected = np.count_nonzero(np.abs(ways) >= steps.sum()) / 2**10
        for base, other in np.random.default_rng(5).random((5, 2, 10)):
            near = 0.5 + base / 4
            three = Paired.all(np.stack([near, near + steps * 1001 * 2.0**-53, other]))
            assert randomization(three, samples=1024, seed=0).p[0] == expected


class TestBootstrap:
    @pytest.mark.parametrize(("queries", "digits"), [(4, 2), (6, 1), (25, 1), (25, None)])
    def test_equals_a_plain_loop_over_the_same_samples(self, queries, digits):
        paired = Paired.all(values(6, queries, digits=digits))
        drawn = np.random.default_rng(7).integers(0, queries, size=(300, queries))
        found = bootstrap(paired, [times_drawn(drawn[:100], queries), times_drawn(drawn[100:], queries)])
        low, high = found.interval(0.8)
        for i, (left, right) in enumerate(each(paired)):
            d = left - right
            observed = stats.ttest_1samp(d, 0).statistic
            extreme = 0
            for sample in drawn:
                shifted = (d - d.mean())[sample]
                spread = shifted.std(ddof=1)
                t = np.inf if spread < 1e-12 else shifted.mean() / spread * queries**0.5
                extreme += abs(t) >= abs(observed) * (1 - 1e-9)
            assert found.extreme[i] == extreme
            assert found.achieved_level[i] == extreme / 300
            assert found.p[i] == (1 + extreme) / 301
            assert (low[i], high[i]) == pytest.approx(np.quantile(d[drawn].mean(axis=1), [0.1, 0.9]), rel=1e-10)

    @pytest.mark.parametrize("tenths", [(-5, -4, -2, 3), (-1, 7, -1, 3), (5, 2, 4, -3)])
    def test_a_statistic_equal_but_for_rounding_counts(self, tenths):
        def t_squared(sample):
            mean = Fraction(sum(sample), 4)
            spread = sum((x - mean) ** 2 for x in sample)
            return mean**2 / spread if spread else (0 if mean == 0 else float("inf"))

        shifted = [x - Fraction(sum(tenths), 4) for x in tenths]
        drawn = list(product(range(4), repeat=4))
        extreme = sum(t_squared([shifted[i] for i in sample]) >= t_squared(tenths) for sample in drawn)
        found = bootstrap(pair(np.array(tenths) / 10, np.zeros(4)), [times_drawn(np.array(drawn), 4)])
        assert found.extreme[0] == extreme

    def test_blocks_do_not_change_the_draw(self, monkeypatch):
        whole = np.concatenate(list(resamples(20, 50, seed=3)))
        p = bootstrap(Paired.all(values(5, 20)), resamples(20, 50, seed=3)).p
        monkeypatch.setattr(significance, "_SAMPLE_BLOCK", 20 * 7)
        monkeypatch.setattr(significance, "_PAIR_BLOCK", 16)
        assert np.array_equal(np.concatenate(list(resamples(20, 50, seed=3))), whole)
        assert np.array_equal(bootstrap(Paired.all(values(5, 20)), resamples(20, 50, seed=3)).p, p)

    def test_a_sample_has_as_many_queries_as_there_are(self):
        assert (np.concatenate(list(resamples(9, 40, seed=0))).sum(axis=1) == 9).all()

    def test_equal_systems_have_p_1_and_a_constant_difference_the_smallest(self):
        right = values(1, 30)[0]
        assert bootstrap(pair(right, right), resamples(30, 99, seed=0)).p[0] == 1
        assert bootstrap(pair(right + 0.25, right), resamples(30, 99, seed=0)).p[0] == 0.01

    def test_a_large_sample_agrees_with_student(self):
        paired = Paired.all(values(4, 400))
        assert np.abs(bootstrap(paired, resamples(400, 4000, seed=0)).p - t_test(paired).p).max() < 0.04


P_VALUES = st.lists(st.sampled_from([0.0, 1e-9, 0.001, 0.01, 0.02, 0.04, 0.05, 0.2, 0.5, 1.0]), min_size=1, max_size=12)


class TestCorrections:
    @given(P_VALUES)
    def test_holm_equals_its_definition(self, p):
        order = sorted(range(len(p)), key=lambda i: p[i])
        expected, largest = [0.0] * len(p), 0.0
        for step, i in enumerate(order):
            largest = max(largest, (len(p) - step) * p[i])
            expected[i] = min(largest, 1.0)
        assert holm(np.array(p)).tolist() == pytest.approx(expected)

    @given(P_VALUES)
    def test_benjamini_hochberg_equals_scipy(self, p):
        assert benjamini_hochberg(np.array(p)).tolist() == pytest.approx(stats.false_discovery_control(p).tolist())

    @given(P_VALUES)
    def test_bonferroni_is_never_smaller_than_holm_nor_holm_than_benjamini_hochberg(self, p):
        given_p = np.array(p)
        assert (bonferroni(given_p) >= holm(given_p)).all()
        assert (holm(given_p) >= benjamini_hochberg(given_p) - 1e-15).all()
        assert (benjamini_hochberg(given_p) >= given_p - 1e-15).all()

    def test_known_values(self):
        p = np.array([0.01, 0.04, 0.03, 0.005, 0.2])
        assert holm(p).tolist() == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2])
        assert benjamini_hochberg(p).tolist() == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.2])
        assert bonferroni(p).tolist() == pytest.approx([0.05, 0.2, 0.15, 0.025, 1.0])

    @pytest.mark.parametrize("correct", [holm, benjamini_hochberg, bonferroni])
    def test_families_in_columns_are_corrected_apart(self, correct):
        p = np.random.default_rng(0).random((7, 3)) ** 3
        for m in range(3):
            assert np.array_equal(correct(p)[:, m], correct(p[:, m]))
