"""RankBoost, AdaRank and FocusedBoost: rounds by hand, pairs one by one, planted rankings."""

from copy import copy

import numpy as np
import pytest

from ranksift import InputError
from ranksift.collection.examples import Examples
from ranksift.learning import AdaRank, FocusedBoost, RankBoost
from ranksift.learning.boosting import Pairs, Stumps, alpha_of
from ranksift.learning.objective import Objective


def drawn(seed=0, queries=8, longest=9, features=3, labels=3):
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), draw.integers(1, longest, queries))
    x = draw.normal(size=(len(groups), features)).round(1)
    return Examples.from_arrays(x, draw.integers(0, labels, len(groups)), groups)


def planted(seed=0, queries=60, docs=12, weights=(1.0, -0.8, 0.5, 0.0), noise=0.0):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * docs, len(weights)))
    hidden = x @ np.array(weights) + noise * draw.normal(size=len(x))
    return Examples.from_arrays(x, np.digitize(hidden, [0, 1, 2]), np.repeat(np.arange(queries), docs))


def listed_pairs(gains, query):
    return [
        (u, v) for u in range(len(gains)) for v in range(len(gains)) if query[u] == query[v] and gains[u] > gains[v]
    ]


class TestPairs:
    @pytest.mark.parametrize("seed", range(4))
    def test_potentials_are_those_of_listed_pairs(self, seed):
        examples = drawn(seed, labels=4)
        scores = np.random.default_rng(seed).normal(size=len(examples))
        pairs = Pairs(examples.labels, examples.query)
        listed = listed_pairs(examples.labels, examples.query)
        weights = {(u, v): np.exp(scores[v] - scores[u]) for u, v in listed}
        potential, loss = pairs.potential(scores)
        wanted = np.zeros(len(examples))
        for (u, v), weight in weights.items():
            wanted[u] += weight / sum(weights.values())
            wanted[v] -= weight / sum(weights.values())
        assert pairs.count == len(listed)
        assert loss == pytest.approx(np.mean(list(weights.values())), rel=1e-12)
        np.testing.assert_allclose(potential, wanted, atol=1e-14)

    def test_stay_finite_for_far_scores(self):
        pairs = Pairs(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 1]))
        potential, _ = pairs.potential(np.array([0.0, 600.0, 3000.0, 3001.0]))
        assert np.isfinite(potential).all()
        assert potential[0] == pytest.approx(1.0)

    def test_there_may_be_none(self):
        assert Pairs(np.ones(3), np.array([0, 0, 1])).potential(np.zeros(3))[0].tolist() == [0, 0, 0]


class TestStumps:
    @pytest.mark.parametrize("seed", range(4))
    def test_the_best_is_that_of_all_tried(self, seed):
        examples = drawn(seed)
        potential, _ = Pairs(examples.labels, examples.query).potential(np.zeros(len(examples)))
        tried = {
            (f, t): float(potential @ (examples.features[:, f] > t))
            for f in range(3)
            for t in np.unique(examples.features[:, f])[:-1]
        }
        feature, threshold, edge = Stumps(examples.features, 1000).best(potential)
        assert edge == pytest.approx(tried[feature, threshold], abs=1e-14)
        assert abs(edge) == pytest.approx(max(map(abs, tried.values())), abs=1e-14)

    def test_few_thresholds_are_spread_over_the_values(self):
        stumps = Stumps(np.arange(100.0)[:, None], 3)
        assert stumps._thresholds[0].tolist() == [0.0, 49.0, 98.0]

    def test_a_missing_value_is_above_nothing(self):
        x = np.array([[np.nan], [1.0], [2.0]])
        potential = np.array([-1.0, 0.5, 0.5])
        assert Stumps(x, 10).best(potential) == (0, -np.inf, 1.0)


def after(model, rounds):
    """A model of the first rounds, which do not depend on those that come after them."""
    early = copy(model)
    early.features_, early.thresholds_, early.alphas_ = (
        learned[:rounds] for learned in (model.features_, model.thresholds_, model.alphas_)
    )
    return early


class TestRankBoost:
    def test_two_rounds_by_hand(self):
        # Three queries with a pair each. Feature 1 orders the first two and has the third wrong: r = 1/3.
        x = [[1, 0], [0, 0], [1, 0], [0, 0], [0, 1], [1, 0]]
        examples = Examples.from_arrays(x, [1, 0, 1, 0, 1, 0], ["p", "p", "q", "q", "r", "r"])
        model = RankBoost(rounds=2).fit(examples)
        # Two edges are 1/3; the first is taken. Then pairs weigh e^-a, e^-a and e^a with e^2a = 2, so 1/4, 1/4 and 1/2.
        # Feature 2 orders the third: r = 1/2.
        assert model.features_.tolist() == [0, 1]
        assert model.thresholds_.tolist() == [0.0, 0.0]
        np.testing.assert_allclose(model.alphas_, [0.5 * np.log(2), 0.5 * np.log(3)])
        np.testing.assert_allclose(model.score(examples)[4], 0.5 * np.log(3))

    def test_the_loss_falls_as_the_edges_say(self):
        examples = drawn(3, queries=20)
        pairs = Pairs(examples.labels, examples.query)
        losses = [1.0]
        for rounds in range(1, 8):
            model = RankBoost(rounds=rounds).fit(examples)
            losses.append(pairs.potential(model.score(examples))[1])
            edge = np.tanh(model.alphas_[-1])
            # Freund et al.: a round multiplies the loss by at most the root of 1 - r².
            assert losses[-1] <= losses[-2] * np.sqrt(1 - edge**2) + 1e-12

    def test_scores_are_the_sum_of_its_stumps(self):
        examples = drawn(1, queries=20)
        model = RankBoost(rounds=25).fit(examples)
        steps = zip(model.features_, model.thresholds_, model.alphas_, strict=True)
        plain = sum(alpha * (examples.features[:, f] > t) for f, t, alpha in steps)
        np.testing.assert_allclose(model.score(examples), plain, atol=1e-12)

    def test_stops_when_every_pair_is_right_by_far(self):
        examples = Examples.from_arrays([[1.0], [0.0]], [1, 0], ["q", "q"])
        model = RankBoost().fit(examples)
        assert len(model.alphas_) < 5
        assert np.isfinite(model.alphas_).all()

    def test_finds_a_planted_ranking_that_is_no_weighted_sum(self):
        draw = np.random.default_rng(0)
        x = draw.uniform(-1, 1, size=(900, 3))
        examples = Examples.from_arrays(x, (np.abs(x[:, 1]) > 0.6).astype(int), np.repeat(np.arange(60), 15))
        assert RankBoost().fit(examples).value(examples, "AP") > 0.99

    def test_validation_keeps_the_rounds_up_to_the_best(self):
        training, validation = planted(0, noise=2.0), planted(1, noise=2.0)
        every = RankBoost(rounds=120).fit(training)
        stopped = RankBoost(rounds=120, patience=20).fit(training, validation)
        kept = len(stopped.alphas_)
        assert 0 < kept < 120
        assert stopped.alphas_.tolist() == every.alphas_[:kept].tolist()
        objective = Objective(validation, "nDCG@10")
        scores = [after(every, r).score(validation) for r in range(1, kept + 20)]
        assert np.array_equal(scores[kept - 1], RankBoost(rounds=kept).fit(training).score(validation))
        assert int(np.argmax([objective(s) for s in scores])) + 1 == kept


class TestAdaRank:
    def test_two_rounds_by_hand(self):
        # P@1 of feature 1: right in a, b and c, and wrong in d. Of feature 2: right in d only, where it is far ahead.
        x = [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [0, 5], [1, 0]]
        examples = Examples.from_arrays(x, [1, 0] * 4, np.repeat(list("abcd"), 2))
        model = AdaRank(rounds=1, measure="P@1", scaling="none").fit(examples)
        # E is 1, 1, 1, 0: (1 + 3/4) / (1 - 3/4) = 7.
        assert model.features_.tolist() == [0]
        np.testing.assert_allclose(model.alphas_, [0.5 * np.log(7)])
        model = AdaRank(rounds=2, measure="P@1", scaling="none").fit(examples)
        # Queries now weigh 1/e, 1/e, 1/e and 1. Feature 1 would change nothing. Feature 2 has 1 of 1 + 3/e.
        share = 1 / (1 + 3 / np.e)
        assert model.features_.tolist() == [0, 1]
        np.testing.assert_allclose(model.alphas_[1], 0.5 * np.log((1 + share) / (1 - share)))
        np.testing.assert_allclose(model.weights_, model.alphas_)

    def test_takes_a_feature_falling_where_low_is_good(self):
        examples = Examples.from_arrays([[1.0], [2.0], [3.0]], [2, 1, 0], ["q"] * 3)
        assert AdaRank().fit(examples).weights_[0] < 0

    def test_every_round_raises_the_measure(self):
        examples = planted(0, noise=1.0)
        model = AdaRank().fit(examples)
        assert len(model.alphas_) > 2
        objective = Objective(examples, "nDCG@10")
        reached = [objective(AdaRank(rounds=r).fit(examples).score(examples)) for r in range(1, len(model.alphas_) + 1)]
        assert (np.diff(reached) > 0).all()

    def test_finds_a_planted_ranking(self):
        assert AdaRank().fit(planted(0)).value(planted(1)) > 0.97

    def test_validation_keeps_the_rounds_up_to_the_best(self):
        weak = (1.0, -0.8, 0.5, *[0.1] * 9)
        training, validation = planted(0, queries=20, weights=weak, noise=3.0), planted(1, weights=weak, noise=3.0)
        every, stopped = AdaRank().fit(training), AdaRank().fit(training, validation)
        kept = len(stopped.alphas_)
        assert kept < len(every.alphas_)
        assert stopped.alphas_.tolist() == every.alphas_[:kept].tolist()
        assert stopped.value(validation) > every.value(validation)

    def test_a_measure_without_bounds_is_refused(self):
        with pytest.raises(InputError, match="DCG of a query is not between -1 and 1"):
            AdaRank(measure="DCG").fit(planted(0, queries=3))

    def test_lowers_a_cost(self):
        examples = planted(0)
        forbidden = Examples.from_arrays(examples.features, examples.labels - 1, examples.query)
        model = AdaRank(measure="Fdocs@3").fit(forbidden)
        assert model.value(forbidden) < 0.05

    def test_the_order_of_a_file_does_not_help_a_feature_that_says_nothing(self):
        labels = [2, 1, 0] * 10
        draw = np.random.default_rng(0)
        hint = np.array(labels) + draw.normal(scale=0.8, size=30)
        examples = Examples.from_arrays(np.column_stack([np.full(30, 1.0), hint]), labels, np.repeat(np.arange(10), 3))
        assert AdaRank(rounds=1).fit(examples).features_.tolist() == [1]


class TestFocusedBoost:
    def examples(self):
        # T is a, b; F is c, d. Feature 1 orders all pairs of T and F by 1 or 0.5, and T itself wrongly.
        x = [[0.5, 1.0], [1.0, 0.5], [0.0, 0.6], [0.0, 0.0]]
        return Examples.from_arrays(x, [2, 1, 0, 0], ["q"] * 4)

    def test_a_round_of_pairs_by_hand(self):
        model = FocusedBoost(rounds=1, k=2, beta=0.0, scaling="none").fit(self.examples())
        assert model.features_.tolist() == [0]
        np.testing.assert_allclose(model.alphas_, [np.arctanh((0.5 + 0.5 + 1 + 1) / 4)])

    def test_a_round_of_the_order_by_hand(self):
        model = FocusedBoost(rounds=1, k=2, beta=1.0, scaling="none", measure="P(rel=2)@1").fit(self.examples())
        assert model.features_.tolist() == [1]

    def test_both_by_hand(self):
        model = FocusedBoost(rounds=1, k=2, beta=0.25, scaling="none", measure="P(rel=2)@1").fit(self.examples())
        # Feature 1: -0.25 + 0.75 · 0.75. Feature 2: 0.25 + 0.75 · (0.4 + 1 - 0.1 + 0.5) / 4.
        assert model.features_.tolist() == [1]
        np.testing.assert_allclose(model.alphas_, [np.arctanh(0.25 + 0.75 * 1.8 / 4)])

    def test_weights_of_pairs_grow_where_they_are_wrong(self):
        model = FocusedBoost(rounds=2, k=2, beta=0.0, scaling="none").fit(self.examples())
        first = model.alphas_[0]
        margins = first * np.array([0.5, 0.5, 1.0, 1.0])
        weights = np.exp(-margins) / np.exp(-margins).sum()
        edges = [weights @ [0.5, 0.5, 1.0, 1.0], weights @ [0.4, 1.0, -0.1, 0.5]]
        chosen = int(np.argmax(edges))
        assert model.features_[1] == chosen
        np.testing.assert_allclose(model.alphas_[1], np.arctanh(edges[chosen]))

    def test_finds_a_planted_ranking(self):
        for beta in (0.0, 0.25, 0.5):
            assert FocusedBoost(beta=beta, k=5).fit(planted(0)).value(planted(1)) > 0.9

    def test_validation_keeps_the_rounds_up_to_the_best(self):
        training, validation = planted(0, queries=8, noise=3.0), planted(1, noise=3.0)
        every, stopped = FocusedBoost().fit(training), FocusedBoost().fit(training, validation)
        kept = len(stopped.alphas_)
        assert kept < len(every.alphas_)
        assert stopped.alphas_.tolist() == every.alphas_[:kept].tolist()

    def test_a_perfect_feature_ends_it(self):
        examples = Examples.from_arrays([[3.0], [2.0], [1.0], [1.0]], [2, 1, 0, 0], ["q"] * 4)
        model = FocusedBoost(k=2, beta=1.0).fit(examples)
        assert len(model.alphas_) == 1

    @pytest.mark.parametrize("scaling", ["none", "standard"])
    def test_features_beyond_0_and_1_are_refused(self, scaling):
        examples = planted(0, queries=10)
        with pytest.raises(InputError, match=r"feature '1' goes from -.* to .*, not from 0 to 1; use scaling='query'"):
            FocusedBoost(k=2, beta=0.0, rounds=50, scaling=scaling).fit(examples)
        assert len(FocusedBoost(k=2, beta=0.0, rounds=50).fit(examples).alphas_) == 50

    def test_one_feature_beyond_1_is_enough(self):
        wider = self.examples().with_features(self.examples().features * [1.0, 1.01])
        with pytest.raises(InputError, match=r"feature '2' goes from 0 to 1\.01, not from 0 to 1"):
            FocusedBoost(k=2, scaling="none").fit(wider)

    @pytest.mark.parametrize("wrong", [{"beta": 1.5}, {"beta": -0.1}, {"beta": float("nan")}, {"beta": "half"}])
    def test_a_beta_that_is_no_share_is_refused(self, wrong):
        with pytest.raises(InputError, match=r"is not (between 0 and 1|a number|finite)"):
            FocusedBoost(**wrong).fit(self.examples())


@pytest.mark.parametrize("kind", [RankBoost, AdaRank, FocusedBoost])
@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many", True])
def test_rounds_that_are_no_count_are_refused(kind, wrong):
    with pytest.raises(InputError, match=r"rounds=.* is not an? (positive )?integer"):
        kind(rounds=wrong).fit(drawn())


@pytest.mark.parametrize("kind", [RankBoost, AdaRank, FocusedBoost])
def test_without_features_all_scores_are_equal(kind):
    examples = Examples.from_arrays(np.zeros((4, 0)), [1, 0, 2, 0], ["p", "p", "q", "q"])
    assert kind().fit(examples).score(examples).tolist() == [0, 0, 0, 0]


def test_alpha_is_half_the_log_of_right_over_wrong():
    assert alpha_of(0.5) == pytest.approx(0.5 * np.log(1.5 / 0.5))
    assert alpha_of(-0.5) == -alpha_of(0.5)
    assert 10 < alpha_of(1.0) < 20
