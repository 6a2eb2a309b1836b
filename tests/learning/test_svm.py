"""RankSVM, SVM-MAP and FocusedSVM: losses against all pairs and all orders, optima against a general solver."""

from itertools import permutations

import numpy as np
import pytest

from ranksift import InputError, RankSiftWarning, load
from ranksift.collection.examples import Examples
from ranksift.cutoffs import FixedCutoff
from ranksift.learning import SVMMAP, FocusedSVM, RankSVM, svm
from ranksift.learning.svm import AveragePrecision, Contests, CuttingPlanes, PairwiseHinge
from ranksift.learning.topk import topk_truth


def drawn(seed=0, queries=6, longest=8, features=3, labels=3):
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), draw.integers(1, longest, queries))
    return Examples.from_arrays(
        draw.normal(size=(len(groups), features)), draw.integers(0, labels, len(groups)), groups
    )


def planted(seed=0, queries=40, docs=12, weights=(1.0, -0.8, 0.5, 0.0), noise=0.0):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * docs, len(weights)))
    hidden = x @ np.array(weights) + noise * draw.normal(size=len(x))
    return Examples.from_arrays(x, np.digitize(hidden, [0, 1, 2]), np.repeat(np.arange(queries), docs))


def mean_hinge(scores, pairs, query, slopes=None):
    """Over listed pairs of each query, then over queries."""
    losses: dict[int, list[float]] = {}
    for u, v in pairs:
        slope = 1.0 if slopes is None else slopes[u]
        losses.setdefault(int(query[u]), []).append(max(0.0, 1.0 - slope * (scores[u] - scores[v])))
    return float(np.mean([np.mean(own) for own in losses.values()]))


def all_orders(values, relevant):
    """For each order of a few documents 1 - AP, and what their values give it more than the right order."""
    good, bad = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    for order in permutations(range(len(values))):
        place = np.empty(len(values))
        place[list(order)] = np.arange(len(values))
        hits = relevant[list(order)]
        average = (np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean()
        swapped = [2 * (values[v] - values[u]) for u in good for v in bad if place[v] < place[u]]
        yield 1 - average, np.sum(swapped, axis=0) / (len(good) * len(bad)) + 0 * values[0]


def worst_order(scores, relevant):
    """The most that 1 - AP + score(order) - score(right order) can be, over all orders of a few documents."""
    return max(loss + more for loss, more in all_orders(scores, relevant))


def slope_of(risk, scores):
    """The derivative, by small differences."""
    out = np.empty(len(scores))
    for i in range(len(scores)):
        step = np.zeros(len(scores))
        step[i] = 1e-6
        out[i] = (value_of(risk, scores + step) - value_of(risk, scores - step)) / 2e-6
    return out


def value_of(risk, scores):
    return risk(scores).value(scores)


class TestPairwiseHinge:
    @pytest.mark.parametrize("seed", range(5))
    def test_is_that_of_listed_pairs(self, seed):
        examples = drawn(seed, labels=4)
        y, q = examples.labels, examples.query
        pairs = [(u, v) for u in range(len(y)) for v in range(len(y)) if q[u] == q[v] and y[u] > y[v]]
        hinge = PairwiseHinge(Contests.of_all_pairs(y, q))
        scores = np.random.default_rng(seed).normal(size=len(y))
        assert value_of(hinge, scores) == pytest.approx(mean_hinge(scores, pairs, q), rel=1e-12)
        np.testing.assert_allclose(hinge(scores).coefficients, slope_of(hinge, scores), atol=1e-7)

    def test_with_slopes(self):
        examples = drawn(2)
        truth = topk_truth(examples, 3)
        top = truth > 0
        q = examples.query
        pairs = [(u, v) for u in np.flatnonzero(top) for v in np.flatnonzero(~top) if q[u] == q[v]]
        hinge = PairwiseHinge(Contests.between([(top, ~top)], q), slopes=truth)
        scores = np.random.default_rng(0).normal(size=len(q))
        assert value_of(hinge, scores) == pytest.approx(mean_hinge(scores, pairs, q, truth), rel=1e-12)
        np.testing.assert_allclose(hinge(scores).coefficients, slope_of(hinge, scores), atol=1e-7)


class TestAveragePrecision:
    @pytest.mark.parametrize("seed", range(12))
    def test_the_worst_order_is_that_of_all_orders(self, seed):
        draw = np.random.default_rng(seed)
        n = int(draw.integers(2, 7))
        relevant = draw.permutation(np.arange(n) < draw.integers(1, n))
        scores = draw.normal(size=n) * draw.choice([0.1, 0.5, 2.0])
        risk = AveragePrecision(Contests.between([(relevant, ~relevant)], np.zeros(n, dtype=np.int64)))
        assert value_of(risk, scores) == pytest.approx(worst_order(scores, relevant), abs=1e-12)
        np.testing.assert_allclose(risk(scores).coefficients, slope_of(risk, scores), atol=1e-7)

    def test_equal_scores_have_the_worst_average_precision(self):
        relevant = np.array([True, False, False])
        risk = AveragePrecision(Contests.between([(relevant, ~relevant)], np.zeros(3, dtype=np.int64)))
        assert value_of(risk, np.zeros(3)) == pytest.approx(2 / 3)

    def test_is_the_mean_over_queries(self):
        examples = drawn(4, labels=2, queries=8, longest=7)
        worth, q = examples.labels > 0, examples.query
        scores = np.random.default_rng(0).normal(size=len(q))
        own = [
            worst_order(scores[q == i], worth[q == i])
            for i in range(8)
            if worth[q == i].any() and not worth[q == i].all()
        ]
        risk = AveragePrecision(Contests.between([(worth, ~worth)], q))
        assert value_of(risk, scores) == pytest.approx(np.mean(own), abs=1e-12)

    @pytest.mark.parametrize(("together", "kept"), [(1, 0), (7, 20), (20, 1000)])
    def test_lists_a_few_at_a_time_are_all_lists(self, monkeypatch, together, kept):
        examples = drawn(4, labels=2, queries=30, longest=7)
        worth = examples.labels > 0
        contests = Contests.between([(worth, ~worth)], examples.query)
        scores = np.random.default_rng(0).normal(size=len(worth))
        whole = AveragePrecision(contests)(scores)
        monkeypatch.setattr(svm, "_TOGETHER", together)
        monkeypatch.setattr(svm, "_KEPT", kept)
        parts = AveragePrecision(contests)
        assert len(parts._parts) > 3
        assert (len(parts._kept) == 0) == (kept == 0)
        assert (len(parts._kept) == len(parts._parts)) == (kept == 1000)
        for _ in range(2):
            assert parts(scores).loss == pytest.approx(whole.loss, abs=1e-12)
            np.testing.assert_allclose(parts(scores).coefficients, whole.coefficients, atol=1e-12)


class TestContests:
    def test_pairs_of_three_gains(self):
        found = Contests.of_all_pairs(np.array([2.0, 0.0, 1.0, 1.0]), np.array([0, 0, 0, 1]))
        lists = np.split(found.documents, found.offsets[1:-1])
        better = np.split(found.better, found.offsets[1:-1])
        assert [(own[side].tolist(), own[~side].tolist()) for own, side in zip(lists, better, strict=True)] == [
            ([0, 2], [1]),
            ([0], [2]),
        ]

    def test_there_may_be_none(self):
        none = Contests.of_all_pairs(np.ones(3), np.array([0, 0, 1]))
        assert len(none) == 0
        for risk in (PairwiseHinge(none), AveragePrecision(none)):
            assert value_of(risk, np.arange(3.0)) == 0.0


class TestCuttingPlanes:
    def optimum(self, C=10.0, tolerance=1e-8):
        examples = planted(0, queries=5, docs=6, noise=1.0)
        risk = PairwiseHinge(Contests.of_all_pairs(examples.labels, examples.query))
        return examples, CuttingPlanes(examples.features).minimum(risk, C, tolerance)

    @pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
    def test_the_optimum_is_that_with_all_orders_listed(self, C):
        from scipy.optimize import minimize

        examples = planted(0, queries=4, docs=5, weights=(1.0, -1.0), noise=0.5)
        worth, q, x = examples.labels > 0, examples.query, examples.features
        risk = AveragePrecision(Contests.between([(worth, ~worth)], q))
        found = CuttingPlanes(x).minimum(risk, C, 1e-9)
        # ½ |w|² + C mean ξ, and for every query and order ξ >= loss + slope · w
        own = [i for i in range(4) if worth[q == i].any() and not worth[q == i].all()]
        listed = [(n, *order) for n, i in enumerate(own) for order in all_orders(x[q == i], worth[q == i])]
        losses = np.array([loss for _, loss, _ in listed])
        left = np.array([np.concatenate((-slope, np.eye(len(own))[n])) for n, _, slope in listed])
        share = np.concatenate((np.zeros(2), np.full(len(own), C / len(own))))
        solved = minimize(
            lambda z: 0.5 * z[:2] @ z[:2] + share @ z,
            np.concatenate((np.zeros(2), np.ones(len(own)))),
            jac=lambda z: share + np.concatenate((z[:2], np.zeros(len(own)))),
            constraints={"type": "ineq", "fun": lambda z: left @ z - losses, "jac": lambda z: left},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert len(own) > 2
        assert found.value == pytest.approx(solved.fun, rel=1e-7)
        np.testing.assert_allclose(found.weights, solved.x[:2], atol=1e-4)

    def test_nothing_lies_below_the_bound(self):
        examples, found = self.optimum()
        assert found.bound <= found.value <= found.bound * (1 + 1e-7)
        risk = PairwiseHinge(Contests.of_all_pairs(examples.labels, examples.query))
        draw = np.random.default_rng(0)
        for _ in range(50):
            w = found.weights + 0.1 * draw.normal(size=len(found.weights))
            assert 0.5 * w @ w + 10 * value_of(risk, examples.features @ w) >= found.bound

    def test_features_of_very_different_sizes(self):
        examples = planted(0, queries=20, noise=1.0)
        risk = PairwiseHinge(Contests.of_all_pairs(examples.labels, examples.query))
        x = examples.features * np.array([1e6, 1.0, 1e-4, 1e3])
        found = CuttingPlanes(x).minimum(risk, 1e4, 1e-4)
        assert found.value <= found.bound * (1 + 2e-4)
        assert found.planes < 200

    def test_planes_that_say_the_same(self):
        # Two documents twice: after the first plane every other one is the same, or 0.
        x = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
        risk = PairwiseHinge(Contests.of_all_pairs(np.array([0.0, 0.0, 1.0, 1.0]), np.zeros(4, dtype=np.int64)))
        found = CuttingPlanes(x).minimum(risk, 1000.0, 1e-9)
        np.testing.assert_allclose(found.weights, [0.5, 0.5])

    def test_other_values_of_C_reuse_the_planes(self):
        examples = planted(0, queries=20, noise=1.0)
        risk = PairwiseHinge(Contests.of_all_pairs(examples.labels, examples.query))
        planes = CuttingPlanes(examples.features)
        warm = [planes.minimum(risk, C, 1e-6) for C in (1.0, 10.0, 2.0)]
        cold = [CuttingPlanes(examples.features).minimum(risk, C, 1e-6) for C in (1.0, 10.0, 2.0)]
        for one, other in zip(warm, cold, strict=True):
            assert one.value == pytest.approx(other.value, rel=2e-6)
        assert warm[2].planes < cold[2].planes

    def test_says_how_far_it_is_when_it_gives_up(self, monkeypatch):
        monkeypatch.setattr(CuttingPlanes, "most", 3)
        with pytest.warns(RankSiftWarning, match=r"C=10: stopped after 3 planes, up to .*% above the minimum"):
            self.optimum()


@pytest.mark.parametrize("kind", [RankSVM, SVMMAP, FocusedSVM])
class TestEverySVM:
    def test_finds_a_planted_ranking(self, kind):
        assert kind(C=10.0).fit(planted(0)).value(planted(1)) > 0.95

    def test_no_label_no_weight(self, kind):
        examples = Examples.from_arrays([[1.0], [2.0]], [1, 1], ["p", "q"])
        model = kind().fit(examples)
        assert model.weights_.tolist() == [0.0]

    def test_validation_chooses_C(self, kind, tmp_path):
        training, validation = planted(0, queries=6, noise=3.0), planted(1, noise=3.0)
        choices = [0.001, 0.1, 10.0]
        model = kind(C=choices).fit(training, validation)
        alone = {C: kind(C=C).fit(training).value(validation) for C in choices}
        assert model.C_ in choices
        assert model.value(validation) >= max(alone.values()) - 0.01
        model.save(tmp_path / "model")
        assert load(tmp_path / "model").C_ == model.C_

    def test_several_C_need_validation(self, kind):
        with pytest.raises(InputError, match="2 values of C, and no validation examples"):
            kind(C=(1, 2)).fit(planted(0, queries=3))

    @pytest.mark.parametrize("C", [0, -1.0, float("nan"), float("inf"), (), "much", ["1"], 1e-30, [1, 1e30]])
    def test_a_C_that_is_not_positive_is_refused(self, kind, C):
        with pytest.raises(InputError, match=r"is not positive|is not a number|is not finite|be computed with"):
            kind(C=C).fit(planted(0, queries=3))

    @pytest.mark.parametrize("tolerance", [0, -1, 1, float("nan"), float("inf")])
    def test_a_tolerance_that_is_no_share_is_refused(self, kind, tolerance):
        with pytest.raises(
            InputError, match=r"tolerance=.* is not (finite|a number between 0 and 1; write tolerance=0.001)"
        ):
            kind(tolerance=tolerance).fit(drawn())


class TestRankSVM:
    def test_the_margin_by_hand(self):
        # One pair, 2 apart: ½ w² + C max(0, 1 - 2w) is lowest at w = ½, or at 2 C where that is less.
        examples = Examples.from_arrays([[2.0], [0.0]], [1, 0], ["q", "q"])
        assert RankSVM(C=10, scaling="none").fit(examples).weights_[0] == pytest.approx(0.5)
        assert RankSVM(C=0.1, scaling="none").fit(examples).weights_[0] == pytest.approx(0.2)

    def test_agrees_with_scikit_learn_on_pair_differences(self):
        from sklearn.svm import LinearSVC

        examples = planted(0, queries=8, docs=6, noise=1.0)
        y, q, x = examples.labels, examples.query, examples.features
        pairs = np.array([(u, v) for u in range(len(y)) for v in range(len(y)) if q[u] == q[v] and y[u] > y[v]])
        difference = x[pairs[:, 0]] - x[pairs[:, 1]]
        per_query = np.bincount(q[pairs[:, 0]])
        weight = 1 / per_query[q[pairs[:, 0]]] / (per_query > 0).sum()
        sign = np.where(np.arange(len(pairs)) % 2, 1, -1)
        machine = LinearSVC(loss="hinge", fit_intercept=False, C=5.0, tol=1e-8, max_iter=1000000)
        machine.fit(sign[:, None] * difference, sign, sample_weight=weight)
        found = RankSVM(C=5.0, scaling="none", tolerance=1e-8).fit(examples)
        np.testing.assert_allclose(found.weights_, machine.coef_[0], atol=1e-3)


class TestFocusedSVM:
    def risk_of(self, beta, listwise="order", k=3):
        examples = drawn(1, queries=4, longest=7, labels=8)
        model = FocusedSVM(k=k, beta=beta, listwise=listwise)
        return examples, topk_truth(examples, k), model._risk(examples)

    def test_the_order_of_the_top_by_all_orders(self):
        examples, truth, risk = self.risk_of(beta=1.0)
        scores = np.random.default_rng(0).normal(size=len(examples))
        per_query = []
        for i in range(4):
            own = (examples.query == i) & (truth > 0)
            levels = [j for j in (1, 2) if (truth[own] > j).any() and (truth[own] <= j).any()]
            if levels:
                per_query.append(np.mean([worst_order(scores[own], truth[own] > j) for j in levels]))
        assert value_of(risk, scores) == pytest.approx(np.mean(per_query), abs=1e-12)

    def test_the_top_against_the_rest(self):
        examples, truth, risk = self.risk_of(beta=1.0, listwise="top")
        scores = np.random.default_rng(0).normal(size=len(examples))
        own = [truth[examples.query == i] > 0 for i in range(4)]
        parts = [scores[examples.query == i] for i in range(4)]
        wanted = [worst_order(s, top) for s, top in zip(parts, own, strict=True) if top.any() and not top.all()]
        assert value_of(risk, scores) == pytest.approx(np.mean(wanted), abs=1e-12)

    def test_beta_mixes_the_two(self):
        scores = np.random.default_rng(0).normal(size=len(self.risk_of(0.0)[0]))
        pairs, order, mixed = (value_of(self.risk_of(beta)[2], scores) for beta in (0.0, 1.0, 0.3))
        assert mixed == pytest.approx(0.3 * order + 0.7 * pairs)

    def test_the_order_of_the_top_is_learned(self):
        # Membership of the top is told by feature 1, the order inside it by feature 2.
        draw = np.random.default_rng(0)
        x, labels = [], []
        for _ in range(30):
            inside = draw.random(4)
            x += [[1.0, v] for v in inside] + [[0.0, v] for v in draw.random(6)]
            labels += [*(inside.argsort().argsort() + 1), *[0] * 6]
        examples = Examples.from_arrays(x, labels, np.repeat(np.arange(30), 10))
        mixed, pairs = (FocusedSVM(C=10, k=4, beta=beta).fit(examples) for beta in (0.5, 0.0))
        assert mixed.value(examples, "kNDCG@4") > 0.99
        assert mixed.weights_[1] / mixed.weights_[0] > 2 * pairs.weights_[1] / pairs.weights_[0]

    def test_what_is_unknown_is_refused(self):
        with pytest.raises(InputError, match="listwise='all' is unknown"):
            FocusedSVM(listwise="all").fit(drawn())
        with pytest.raises(InputError, match="beta=2 is not a number from 0 to 1"):
            FocusedSVM(beta=2).fit(drawn())

    def test_numbers_may_be_numpys(self):
        numpys = FocusedSVM(k=np.int64(3), beta=np.float64(0.3), C=np.float64(2.0)).fit(drawn())
        assert numpys.weights_.tolist() == FocusedSVM(k=3, beta=0.3, C=2.0).fit(drawn()).weights_.tolist()


def test_a_ranker_shows_what_was_changed_and_what_it_learned_from():
    model = RankSVM(C=0.5)
    assert repr(model) == str(model) == "RankSVM(C=0.5)"
    assert "not fitted" in model._repr_html_()
    examples = planted()
    model.fit(examples)
    assert repr(model) == "<RankSVM(C=0.5): learned from 40 queries; drops nothing>"
    model.fit_cutoff(examples, FixedCutoff(0.25))
    assert repr(model).endswith("; keeps score >= 0.25>")
    assert "480 documents" in model._repr_html_()
