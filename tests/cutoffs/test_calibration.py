"""Scores as probabilities: values computed by hand, and plain implementations beside the fast ones."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import ranksift as rs
from ranksift import InputError
from ranksift.cutoffs.calibration import Beta, Calibrator, Isotonic, Logistic, Platt, calibrate


def drawn(n=200, seed=0, ties=False):
    draw = np.random.default_rng(seed)
    scores = draw.integers(0, 6, n).astype(float) if ties else draw.normal(0, 1.5, n)
    return scores, draw.random(n) < 1 / (1 + np.exp(0.5 - scores))


# -- plain implementations -----------------------------------------------------------------------------------------


def pooled(scores, outcomes, weights):
    """Pool adjacent violators, a block at a time."""
    blocks = []
    for score in sorted(set(scores.tolist())):
        own = scores == score
        blocks.append([weights[own] @ outcomes[own], weights[own].sum(), [score]])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            top, bottom, members = blocks.pop()
            blocks[-1] = [blocks[-1][0] + top, blocks[-1][1] + bottom, blocks[-1][2] + members]
    return {score: top / bottom for top, bottom, members in blocks for score in members}


def platts_targets(outcomes):
    yes, no = sum(outcomes), len(outcomes) - sum(outcomes)
    return [(yes + 1) / (yes + 2) if y else 1 / (no + 2) for y in outcomes]


def least_loss(columns, targets, penalty, bounds):
    """The minimum of the log loss by a general optimiser."""
    x = np.column_stack([np.ones(len(columns)), columns])

    def loss(w):
        z = x @ w
        p = 1 / (1 + np.exp(-z))
        slope = x.T @ (p - targets) + np.append(0, penalty * w[1:])
        return (np.logaddexp(0, z) - targets * z).sum() + (penalty * w[1:] ** 2).sum() / 2, slope

    best = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", bounds=[(None, None), *bounds], tol=1e-15)
    return best.x


class TestIsotonic:
    def test_by_hand(self):
        # 1, 0 | 0 | 1, 1, 0 | 1: the first three pool to 1/3, the next three to 2/3.
        found = Isotonic().fit([1, 2, 3, 4, 5, 6, 7], [1, 0, 0, 1, 1, 0, 1])
        assert found.probabilities([1, 2, 3, 4, 5, 6, 7]) == pytest.approx([1 / 3] * 3 + [2 / 3] * 3 + [1])
        assert found.scores_.tolist() == [1, 3, 4, 6, 7]
        assert found.probabilities([-9, 3.5, 6.5, 99]) == pytest.approx([1 / 3, 1 / 2, 5 / 6, 1])

    @pytest.mark.parametrize("ties", [False, True])
    def test_as_pooling_block_by_block(self, ties):
        for seed in range(20):
            scores, outcomes = drawn(60, seed, ties)
            weights = np.random.default_rng(seed).random(60) + 0.1
            expected = pooled(scores, outcomes, weights)
            found = Isotonic().fit(scores, outcomes, weights).probabilities(scores)
            assert found == pytest.approx([expected[s] for s in scores.tolist()], abs=1e-12)

    def test_falling(self):
        found = Isotonic(rising=False).fit([1, 2, 3, 4], [1, 0, 1, 0])
        assert found.probabilities([1, 2, 3, 4]) == pytest.approx([1, 0.5, 0.5, 0])


class TestPlatt:
    def test_by_hand(self):
        # Two documents of either kind, at 2 and 6: targets 3/4 and 1/4, met exactly by logits of ±ln 3.
        found = Platt().fit([2, 2, 6, 6], [0, 0, 1, 1])
        assert (found.slope_, found.intercept_) == pytest.approx((math.log(3) / 2, -2 * math.log(3)), rel=1e-12)

    def test_its_targets_are_platts(self):
        scores, outcomes = drawn(90, 3)
        found = Platt().fit(scores, outcomes)
        left = found.probabilities(scores) - platts_targets(outcomes.tolist())
        assert left.sum() == pytest.approx(0, abs=1e-10)
        assert left @ scores == pytest.approx(0, abs=1e-10)

    def test_weights(self):
        scores, outcomes = drawn(50, 1)
        weights = np.random.default_rng(1).random(50)
        found = Platt().fit(scores, outcomes, weights)
        relative = weights / weights.mean()
        yes, no = relative[outcomes].sum(), relative[~outcomes].sum()
        left = found.probabilities(scores) - np.where(outcomes, (yes + 1) / (yes + 2), 1 / (no + 2))
        assert weights @ left == pytest.approx(0, abs=1e-10)
        assert (weights * scores) @ left == pytest.approx(0, abs=1e-10)
        same = Platt().fit(scores, outcomes, np.full(50, 7.0))
        alone = Platt().fit(scores, outcomes)
        assert (same.slope_, same.intercept_) == pytest.approx((alone.slope_, alone.intercept_), rel=1e-10)

    def test_scores_that_say_the_contrary_say_nothing(self):
        found = Platt().fit([1, 2, 3, 4], [1, 1, 0, 0])
        assert found.slope_ == 0
        assert found.probabilities([-5, 5]) == pytest.approx([0.5, 0.5])
        falling = Platt(rising=False).fit([1, 2, 3, 4], [1, 1, 0, 0])
        assert falling.probabilities([1])[0] > 0.6

    def test_told_apart_without_a_fault_it_is_not_infinitely_sure(self):
        found = Platt().fit(np.arange(20), np.arange(20) >= 10).probabilities([0, 19])
        assert 0.001 < found[0] < 0.05
        assert found.sum() == pytest.approx(1)

    def test_large_numbers(self):
        near, far = Platt().fit([1, 2, 3, 4], [0, 1, 0, 1]), Platt().fit([1e9, 2e9, 3e9, 4e9], [0, 1, 0, 1])
        assert far.probabilities([1e9, 4e9]) == pytest.approx(near.probabilities([1, 4]), rel=1e-9)


class TestBeta:
    def test_as_a_general_optimiser_with_bounds(self):
        for seed in range(10):
            scores, outcomes = drawn(80, seed)
            s = 1 / (1 + np.exp(-scores))
            columns = np.column_stack([np.log(s), -np.log(1 - s)])
            c, a, b = least_loss(columns, np.array(platts_targets(outcomes.tolist())), 0.0, [(0, None)] * 2)
            found = Beta().fit(s, outcomes)
            expected = 1 / (1 + np.exp(-(c + columns @ [a, b])))
            assert found.probabilities(s) == pytest.approx(expected, abs=1e-5)
            assert min(found.a_, found.b_) >= 0

    def test_by_hand(self):
        # ln s = −ln(1 − s) · (−1) at ½ ± x: by symmetry a = b and c = 0; targets 3/4 and 1/4 are met exactly.
        found = Beta().fit([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 1])
        assert found.probabilities([0.2, 0.8]) == pytest.approx([0.25, 0.75], abs=1e-9)
        # Two scores do not determine three numbers: between them rounding decides, by processor.
        assert found.probabilities([0.5]) == pytest.approx([0.5], abs=1e-6)

    def test_logits(self):
        scores, outcomes = drawn(100, 2)
        plain = Beta().fit(1 / (1 + np.exp(-scores)), outcomes)
        logits = Beta(logits=True).fit(scores, outcomes)
        assert logits.probabilities(scores) == pytest.approx(plain.probabilities(1 / (1 + np.exp(-scores))), abs=1e-9)
        assert np.isfinite(logits.probabilities([-1e300, 1e300])).all()

    def test_its_ends(self):
        found = Beta().fit([0.0, 0.3, 0.6, 1.0], [0, 1, 0, 1]).probabilities([0.0, 1.0])
        assert np.isfinite(found).all()
        assert found[0] < 0.5 < found[1]

    def test_other_scores_are_refused(self):
        with pytest.raises(InputError, match="takes scores between 0 and 1; use platt"):
            Beta().fit([0.5, 1.5], [0, 1])


class TestLogistic:
    def test_as_a_general_optimiser(self):
        draw = np.random.default_rng(5)
        columns = draw.normal(size=(150, 3)) * [1, 10, 0.1]
        outcomes = draw.random(150) < 1 / (1 + np.exp(-(columns @ [1, -0.2, 2])))
        found = Logistic(names=("a", "b", "c"), risers=("a", "b"), unpenalized=("a",), ridge=5.0).fit(columns, outcomes)
        scale = columns.std(axis=0)
        free = [(0, None), (0, None), (None, None)]
        targets = np.array(platts_targets(outcomes.tolist()))
        best = least_loss((columns - columns.mean(axis=0)) / scale, targets, np.array([0.0, 5, 5]), free)
        assert list(found.weights_.values()) == pytest.approx((best[1:] / scale).tolist(), rel=1e-4, abs=1e-6)
        assert found.weights_["b"] == 0

    def test_a_column_that_does_not_vary(self):
        found = Logistic(names=("a", "b")).fit([[1, 3], [2, 3], [3, 3]], [0, 1, 1])
        assert found.weights_["b"] == 0


class TestLabels:
    def test_by_hand(self):
        found = calibrate([1, 2, 3, 4], [-1, 2, 0, 2], method="isotonic")
        # P(label >= 0): 0, 1, 1, 1; P(label >= 2): 0, 1/2, 1/2, 1.
        assert found.at_least([1, 2, 3, 4]).tolist() == [[1, 0, 0], [1, 1, 0.5], [1, 1, 0.5], [1, 1, 1]]
        assert found.probabilities([3]).tolist() == [[0, 0.5, 0.5]]
        assert found.expected_gain([1, 3, 3.5], gains={-1: -10, 0: -4}).tolist() == [-10, -1, 0.5]
        assert found.forbidden([1, 3, 3.5], gains={-1: -10, 0: -4}).tolist() == [1, 0.5, 0.25]

    @pytest.mark.parametrize("method", ["isotonic", "platt", "beta", "best"])
    def test_they_are_probabilities(self, method):
        draw = np.random.default_rng(0)
        scores = draw.random(300)
        labels = np.where(draw.random(300) < scores, draw.choice([0, 1, 3], 300), -2)
        found = calibrate(scores, labels, method)
        p = found.probabilities(np.linspace(0, 1, 50))
        assert p.sum(axis=1) == pytest.approx(np.ones(50))
        assert p.min() >= 0
        assert (np.diff(found.at_least(np.linspace(0, 1, 50)), axis=0) >= -1e-12).all()
        assert (np.diff(found.expected_gain(np.linspace(0, 1, 50))) >= -1e-12).all()

    def test_crossing_levels_are_put_in_order(self):
        # Label 1 is at 0 as often as at 3, label 2 at 3 only: the flat logistic of ≥ 1 crosses the steep one of ≥ 2.
        found = calibrate([0] * 6 + [3] * 6, [0, 0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2], "platt")
        raw = np.stack([level.probabilities(np.array([0.0, 9.0])) for level in found.levels], axis=1)
        assert raw[1, 0] < raw[1, 1]
        assert found.at_least([9.0])[0].tolist() == [1, raw[1, 1], raw[1, 0]]

    def test_unlabelled_documents_are_left_out(self):
        some = calibrate([1, 2, 3, 4, 9], [0, 1, 0, 1, None], "isotonic")
        assert some.levels[0].scores_.max() == 4

    def test_weights_of_nothing_leave_out_too(self):
        some = calibrate([1, 2, 3, 4, 9], [0, 1, 0, 1, -7], "isotonic", weights=[1, 1, 1, 1, 0])
        assert some.labels.tolist() == [0, 1]

    def test_one_label_only(self):
        found = calibrate([1, 2], [3, 3])
        assert found.probabilities([5]).tolist() == [[1]]
        assert found.expected_gain([5]).tolist() == [3]

    def test_the_true_probabilities_are_found(self):
        draw = np.random.default_rng(8)
        z = draw.normal(0, 2, 20_000)
        p = 1 / (1 + np.exp(-z))
        labels = np.where(draw.random(len(z)) < p, 1, -1)
        for method, score in (("platt", z), ("beta", p), ("isotonic", z), ("best", z), ("best", p**3)):
            found = calibrate(score, labels, method).forbidden(score)
            assert np.abs(found - (1 - p)).mean() < 0.02

    def test_the_best_is_the_one_that_fits(self):
        draw = np.random.default_rng(9)
        z = draw.normal(0, 2, 3000)
        labels = (draw.random(3000) < 1 / (1 + np.exp(-z))).astype(int)
        assert isinstance(calibrate(z, labels).levels[0], Platt)
        assert isinstance(calibrate((1 / (1 + np.exp(-z))) ** 3, labels).levels[0], Beta)
        steps = np.where(z > 1, 0.9, np.where(z > -1, 0.5, 0.1))
        labels = (draw.random(3000) < steps).astype(int)
        assert isinstance(calibrate(z, labels).levels[0], Isotonic)

    def test_any_order_of_documents(self):
        scores, outcomes = drawn(100, 4, ties=True)
        turned = calibrate(scores[::-1], outcomes[::-1].astype(int))
        assert turned.at_least(scores) == pytest.approx(calibrate(scores, outcomes.astype(int)).at_least(scores))

    @pytest.mark.parametrize("method", ["isotonic", "platt", "beta", Beta(logits=True)])
    def test_json_and_back(self, method):
        scores, labels = np.linspace(0.05, 0.95, 30), np.resize([-2, 0, 1, 0.1], 30)
        found = calibrate(scores, labels, method)
        again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
        assert again.probabilities(scores).tolist() == found.probabilities(scores).tolist()
        assert list(found.to_dict()["at_least"]) == ["0", "0.10000000000000001", "1"]

    def test_it_is_public(self):
        assert rs.calibrate is calibrate


class TestBadInput:
    @pytest.mark.parametrize(
        ("use", "fault"),
        [
            (lambda: Platt().fit([1, 2], [1]), "2 scores and 1 outcomes"),
            (lambda: Platt().fit([1, np.nan], [1, 0]), "a score is not finite"),
            (lambda: Platt().fit(["x"], [1]), "a score is not a number"),
            (lambda: Platt().fit([1, 2], [1, 2]), "neither true nor false"),
            (lambda: Platt().fit([], []), "nothing to calibrate on"),
            (lambda: Isotonic().probabilities([1]), "this Isotonic is not fitted"),
            (lambda: calibrate([1, 2], [1]), "2 scores, 1 labels"),
            (lambda: calibrate([1, 2], [None, None]), "no document has a label"),
            (
                lambda: calibrate([1, 2], [1, 0], "magic"),
                "'magic' is unknown; use 'best', 'isotonic'",
            ),
            (lambda: calibrate([1, 2], ["good", "bad"]), "a label is not a number"),
        ],
    )
    def test_one_line_each(self, use, fault):
        with pytest.raises(InputError, match=fault):
            use()


def test_a_calibrator_from_a_dictionary_knows_its_direction():
    found = Platt(rising=False).fit([1, 2, 3, 4], [1, 1, 0, 0])
    again = Calibrator.from_dict(found.to_dict())
    assert again.probabilities([1, 4]).tolist() == found.probabilities([1, 4]).tolist()
