"""Lambdas against the torch losses, against finite differences, and against what really happens to nDCG_f."""

from itertools import pairwise, permutations

import numpy as np
import pytest

import ranksift as rs
from ranksift.learning.lambdas import PairLoss, Swaps, _Lower, slope_of, worth_of_showing

LENGTHS = [1, 2, 3, 7, 9, 40, 5, 40]


@pytest.fixture
def lists():
    """Lists of several lengths: offsets, gains and scores, some of them equal."""
    draw = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(LENGTHS)])
    gain = draw.choice([-10.0, 0.0, 1.0, 2.0], offsets[-1])
    gain[-40:] = 0.0
    gain[[-30, -7]] = 2.0, 1.0  # a long list with few pairs of different gains
    return offsets, gain, draw.normal(size=offsets[-1]).round(1)


def nDCG_f(offsets, gain, scores, kept, k):
    """nDCG_f of each query when some documents are shown."""
    queries = [f"q{i}" for i in range(len(offsets) - 1)]
    query = np.repeat(queries, np.diff(offsets))
    qrels = {q: {} for q in queries}
    run = {q: {} for q in queries}
    # Equal scores stand as they come: the places of the ranking are the scores.
    place = np.empty(len(scores))
    place[np.lexsort((-scores, query))] = -np.arange(len(scores))
    for i, q in enumerate(query):
        qrels[q][f"d{i}"] = gain[i]
        if kept[i]:
            run[q][f"d{i}"] = place[i]
    return rs.evaluate(qrels, run, f"nDCG_f@{k}").values[0, :, 0]


class TestSwaps:
    def test_one_pair_by_hand(self):
        gradient, curvature = Swaps(np.array([0, 2]), np.array([2.0, -1.0]))(np.array([1.0, 3.0]))
        # The better one stands second: (2 + 1) / (2 + 1) · (1 - 1 / log2 3) / (1 + exp(1 - 3)).
        p = 1 / (1 + np.exp(-2))
        expected = (1 - 1 / np.log2(3)) * p
        np.testing.assert_allclose(gradient, [-expected, expected], rtol=1e-6)
        np.testing.assert_allclose(curvature, [expected * (1 - p)] * 2, rtol=1e-6)

    def test_the_gradient_is_that_of_the_torch_loss(self, lists):
        torch = pytest.importorskip("torch")
        from ranksift.learning.losses import lambdarank

        offsets, gain, scores = lists
        found = Swaps(offsets, gain, depth=100)(scores)
        for start, end in pairwise(offsets):
            s = torch.tensor(scores[start:end], requires_grad=True)
            lambdarank(s, gain[start:end]).backward()
            # That loss has the logarithm of base 2.
            np.testing.assert_allclose(found.gradient[start:end], s.grad.numpy() * np.log(2), rtol=1e-4, atol=1e-6)

    def test_the_curvature_is_the_slope_of_the_gradient(self, lists):
        offsets, gain, scores = lists
        scores = scores + np.arange(len(scores)) * 1e-3  # no two are equal, so that no rank changes
        swaps, step = Swaps(offsets, gain), 1e-4
        for i in (1, 4, 8, 30):
            moved = [scores + sign * step * (np.arange(len(scores)) == i) for sign in (1, -1)]
            slope = np.diff([swaps(s).gradient[i] for s in reversed(moved)])[0] / (2 * step)
            assert swaps(scores).curvature[i] == pytest.approx(slope, rel=0.02, abs=1e-3)

    def test_pairs_of_documents_far_down_are_left_out(self, lists):
        offsets, gain, scores = lists
        shallow, deep = Swaps(offsets, gain, depth=5)(scores), Swaps(offsets, gain, depth=100)(scores)
        long = slice(int(offsets[5]), int(offsets[6]))  # 40 documents
        order = np.argsort(-scores[long], kind="stable")
        assert (shallow.curvature[long] <= deep.curvature[long] + 1e-7).all()
        # A document among the first meets all others in both.
        np.testing.assert_allclose(
            shallow.gradient[long][order[:5]], deep.gradient[long][order[:5]], rtol=1e-4, atol=1e-6
        )

    @pytest.mark.parametrize("depth", [3, 12, 30, 100])
    def test_short_and_long_lists_add_up_the_same_pairs(self, lists, depth, monkeypatch):
        # Lists with few and with many pairs of different gains take different ways to their sums.
        offsets, gain, scores = lists
        expected = np.zeros((2, len(gain)))
        for q, (start, end) in enumerate(pairwise(offsets)):
            order = start + np.argsort(-scores[start:end], kind="stable")
            rank = dict(zip(order.tolist(), range(1, end - start + 1), strict=True))
            worth = {d: 1 / np.log2(1 + rank[d]) for d in rank}
            slope = slope_of(offsets, gain)[q]
            for u, v in ((u, v) for u in rank for v in rank if gain[u] > gain[v] and min(rank[u], rank[v]) <= depth):
                p = 1 / (1 + np.exp(scores[u] - scores[v]))
                change = slope * (gain[u] - gain[v]) * abs(worth[u] - worth[v])
                expected[:, u] += change * p * np.array([-1, 1 - p])
                expected[:, v] += change * p * np.array([1, 1 - p])
        found = Swaps(offsets, gain, depth=depth)(scores)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        monkeypatch.setattr("ranksift.learning.lambdas._KEPT", 0)  # what does not fit goes the other way
        np.testing.assert_allclose(Swaps(offsets, gain, depth=depth)(scores), expected, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("depth", [1, 30])  # both ways to sums, as two of three documents are above the lowest gain
    def test_weights_are_means_over_rankings_that_are_drawn_by_score(self, depth):
        gain, scores = np.array([2.0, 0.0, 1.0]), np.array([0.3, 1.1, -0.4])
        strength = np.exp(scores)
        expected = np.zeros((2, 3))
        for order in permutations(range(3)):
            chance = np.prod([strength[d] / strength[list(order[i:])].sum() for i, d in enumerate(order)])
            rank = {d: i + 1 for i, d in enumerate(order)}
            for u, v in ((0, 1), (0, 2), (2, 1)):
                if min(rank[u], rank[v]) > depth:
                    continue
                change = (gain[u] - gain[v]) * abs(1 / np.log2(1 + rank[u]) - 1 / np.log2(1 + rank[v]))
                change *= chance / (2 + 1 / np.log2(3))
                p = 1 / (1 + np.exp(scores[u] - scores[v]))
                expected[:, u] += change * p * np.array([-1, 1 - p])
                expected[:, v] += change * p * np.array([1, 1 - p])
        found = Swaps(np.array([0, 3]), gain, depth=depth, draws=40_000)(scores)
        np.testing.assert_allclose(found, expected, atol=0.004)
        assert np.abs(expected[0]).min() > 0.02

    def test_rankings_are_drawn_anew_and_the_same_with_the_same_seed(self, lists):
        offsets, gain, scores = lists
        one, two, other = (Swaps(offsets, gain, draws=2, seed=seed) for seed in (1, 1, 2))
        first, second = one(scores).gradient, one(scores).gradient
        assert np.array_equal(two(scores).gradient, first)
        assert not np.array_equal(second, first)
        assert not np.array_equal(other(scores).gradient, first)

    def test_a_query_with_nothing_to_gain_gives_nothing(self):
        gradient, curvature = Swaps(np.array([0, 2, 5]), np.array([1.0, 1.0, 0.0, 0.0, 0.0]))(np.arange(5.0))
        assert not gradient.any()
        assert not curvature.any()

    def test_the_order_of_equal_scores_is_that_of_the_input(self):
        swaps = Swaps(np.array([0, 3]), np.array([0.0, 1.0, 2.0]))
        one, two = swaps(np.zeros(3)), swaps(np.array([2e-6, 1e-6, 0.0]))
        np.testing.assert_allclose(one.gradient, two.gradient, atol=1e-5)

    def test_far_apart_scores_do_not_overflow(self):
        gradient, curvature = Swaps(np.array([0, 2]), np.array([1.0, 0.0]))(np.array([-1e4, 1e4]))
        assert np.isfinite(gradient).all()
        assert gradient[0] == pytest.approx(-(1 - 1 / np.log2(3)))
        assert np.isfinite(curvature).all()


class TestWorthOfShowing:
    def test_alone_a_document_wins_or_loses_the_query(self):
        assert worth_of_showing(np.array([0, 1, 2]), np.array([1.0, -10.0]), k=3).tolist() == [1.0, -1.0]

    @pytest.mark.filterwarnings("ignore:run 'run' answers")
    @pytest.mark.parametrize("k", [1, 3, 10])
    def test_it_is_what_happens_to_ndcg_f_where_nothing_else_is_shown(self, lists, k):
        offsets, gain, scores = lists
        worth = worth_of_showing(offsets, gain, k)
        nothing = np.zeros(len(scores), dtype=bool)
        before = nDCG_f(offsets, gain, scores, nothing, k)
        query = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
        for i in range(len(scores)):
            after = nDCG_f(offsets, gain, scores, np.arange(len(scores)) == i, k)
            assert worth[i] == pytest.approx((after - before)[query[i]], abs=1e-12)

    def test_of_dcg_it_is_the_gain(self, lists):
        offsets, gain, _ = lists
        assert worth_of_showing(offsets, gain, 3, normalised=False).tolist() == gain.tolist()


def test_the_slope_is_what_a_dcg_of_1_adds():
    gain = np.array([2.0, -10.0, 1.0, 0.0])
    offsets = np.array([0, 3, 4])
    slope = slope_of(offsets, gain, 2)
    assert slope[0] == pytest.approx(1 / (2 + 1 / np.log2(3) + 10))
    assert slope[1] == 0


def test_changes_of_dcg_are_those_of_ndcg_f_times_its_normaliser(lists):
    offsets, gain, scores = lists
    of_query = np.repeat(1 / slope_of(offsets, gain, 3), np.diff(offsets))
    plain, normalised = (Swaps(offsets, gain, 3, normalised=n)(scores) for n in (False, True))
    np.testing.assert_allclose(plain.gradient, normalised.gradient * of_query, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(plain.curvature, normalised.curvature * of_query, rtol=1e-4, atol=1e-5)


class TestPairLoss:
    def test_a_query_counts_once_however_many_pairs_it_has(self):
        # Pairs of the first query: 2 over 1, 2 over 0 and 1 over 0, with weights 1, 2, 1; one of the second. The third
        # has one gain only, and says nothing.
        gain = np.array([1.0, 2.0, 0.0, 0.0, -10.0, 3.0, 3.0])
        s = np.array([0.5, -1.0, 0.2, 0.3, 0.1, 7.0, 9.0])
        first = (np.log1p(np.exp(1.5)) + 2 * np.log1p(np.exp(1.2)) + np.log1p(np.exp(-0.3))) / 4
        second = np.log1p(np.exp(-0.2))
        loss = PairLoss(np.array([0, 3, 5, 7]), gain)(s)
        assert loss == pytest.approx((first + second) / 2, rel=1e-6)

    def test_lists_of_other_lengths_are_worked_on_alike(self):
        draw = np.random.default_rng(0)
        lengths = np.array([1, 40, 3, 0, 17])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        gain, s = draw.integers(-1, 3, lengths.sum()).astype(float), draw.normal(size=lengths.sum())
        alone = [PairLoss(np.array([0, b - a]), gain[a:b])(s[a:b]) for a, b in pairwise(offsets.tolist())]
        several = [value for value in alone if value > 0]
        assert PairLoss(offsets, gain)(s) == pytest.approx(np.mean(several), rel=1e-6)

    def test_pairs_of_many_long_lists_are_drawn_and_tell_the_same(self, monkeypatch):
        draw = np.random.default_rng(0)
        offsets = np.arange(0, 100 * 50 + 1, 50)
        gain = draw.integers(0, 3, 5000).astype(float)
        s = gain + draw.normal(size=5000)
        whole = PairLoss(offsets, gain)(s)
        monkeypatch.setattr("ranksift.learning.lambdas._DRAWN", 1)
        monkeypatch.setattr("ranksift.learning.lambdas._OF_A_QUERY", 100)
        lower = _Lower(offsets, gain)
        assert lower.pairs.tolist() == [(g[:, None] > g).sum() for g in gain.reshape(100, 50)]
        drawn = lower.better_worse(np.ones(100, dtype=bool), 100)
        assert 100 * 100 <= len(drawn.better) < 150 * 100
        assert drawn.stands_for.sum() == pytest.approx(lower.pairs.sum())
        assert (gain[drawn.better] > gain[drawn.worse]).all()
        assert (drawn.better // 50 == drawn.worse // 50).all()
        assert PairLoss(offsets, gain)(s) == PairLoss(offsets, gain)(s) != whole
        assert PairLoss(offsets, gain)(s) == pytest.approx(whole, rel=0.02)

    def test_no_query_is_lost_where_most_documents_are_above_the_lowest(self, monkeypatch):
        monkeypatch.setattr("ranksift.learning.lambdas._DRAWN", 1)
        offsets, gain = np.arange(0, 401, 40), np.zeros(400)
        gain[::40] = -10.0
        drawn = _Lower(offsets, gain).better_worse(np.ones(10, dtype=bool), 10)
        assert np.bincount(drawn.better // 40).tolist() == [39] * 10
        assert PairLoss(offsets, gain)(np.where(gain < 0, 3.0, 0.0)) == pytest.approx(np.log1p(np.exp(3.0)))

    def test_nothing_to_tell_apart_is_no_loss(self):
        assert PairLoss(np.array([0, 2]), np.ones(2))(np.array([3.0, 4.0])) == 0.0
