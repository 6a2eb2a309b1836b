"""Losses against numbers by hand, against loops, and their gradients against finite differences."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch

import ranksift as rs
from ranksift.errors import InputError
from ranksift.learning import losses
from ranksift.learning.losses import check_loss
from ranksift.learning.outputs import Outputs, parse_loss

LEVELS = [-10.0, 0.0, 1.0, 2.0]

#: Every loss of one score a document, with its options.
SPECS = [
    "bce",
    "mse",
    "ranknet",
    "ranknet(pairs='mean')",
    "lambdarank",
    "lambdarank(normaliser='ideal')",
    "lambdarank(k=2, sigma=0.7)",
    "lambdarank_bce(gamma=0.3)",
    "lambdarank_f",
    "lambdarank_f(gamma=0.3, k=2, sigma=0.7)",
    "listnet",
    "listnet(k=2)",
    "listnet(k=None)",
    "listmle",
    "listmle(k=2)",
    "focused(k=2, beta=0.3)",
    "focused(k=2, beta=0.3, orders='first')",
    "focused(k=3, beta=0.8, normalised=False)",
]


def log1pexp(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def entropy(score, yes):
    return log1pexp(-score) if yes else log1pexp(score)


def plain_bce(s, g):
    return sum(entropy(a, b > 0) for a, b in zip(s, g, strict=True)) / len(s)


def plain_mse(s, g):
    return sum((a - b) ** 2 for a, b in zip(s, g, strict=True)) / len(s)


def ordered_pairs(g):
    return [(u, v) for u in range(len(g)) for v in range(len(g)) if g[u] > g[v]]


def plain_ranknet(s, g, pairs="sum"):
    terms = [log1pexp(s[v] - s[u]) for u, v in ordered_pairs(g)]
    return sum(terms) if pairs == "sum" else sum(terms) / max(1, len(terms))


def dcg(gains, k=None):
    return sum(g / math.log2(r + 2) for r, g in enumerate(gains[:k]))


def plain_lambdarank(s, g, normaliser="f", k=None, sigma=1.0):
    order = sorted(range(len(s)), key=lambda d: -s[d])
    if normaliser == "ideal":
        scale = dcg(sorted(g, reverse=True), k)
    else:
        scale = dcg(sorted((x for x in g if x > 0), reverse=True), k) - dcg(sorted(x for x in g if x < 0), k)
    total = 0.0
    for u, v in ordered_pairs(g):
        swapped = [{u: v, v: u}.get(d, d) for d in order]
        change = abs(dcg([g[d] for d in swapped], k) - dcg([g[d] for d in order], k))
        if scale > 0:
            total += change / scale * log1pexp(-sigma * (s[u] - s[v])) / math.log(2)
    return total


def plain_lambdarank_bce(s, g, gamma=1.0):
    return plain_lambdarank(s, g) + gamma * plain_bce(s, g)


def plain_lambdarank_f(s, g, gamma=0.0, k=None, sigma=1.0):
    return plain_lambdarank([*s, 0.0], [*g, 0.0], k=k, sigma=sigma) + gamma * plain_bce(s, g)


def likelihood(z, order):
    """Plackett-Luce probability that these come first, in this order."""
    left, value = set(range(len(z))), 1.0
    for d in order:
        value *= math.exp(z[d]) / sum(math.exp(z[other]) for other in left)
        left.remove(d)
    return value


def plain_listnet(s, g, k=1):
    places = len(s) if k is None else min(k, len(s))
    orders = permutations(range(len(s)), places)
    return -sum(likelihood(g, order) * math.log(likelihood(s, order)) for order in orders)


def plain_listmle(s, g, k=None):
    order = sorted(range(len(s)), key=lambda d: -g[d])
    return -math.log(likelihood(s, order[:k]))


def plain_focused(s, g, k=10, beta=0.5, orders="all", normalised=True):
    order = sorted(range(len(s)), key=lambda d: -g[d])
    top, rest = order[:k], order[k:]
    listwise = plain_listnet([s[d] for d in top], [g[d] for d in top], None if orders == "all" else 1)
    pairs = [log1pexp(s[v] - s[u]) for u in top for v in rest]
    if normalised:
        listwise /= len(top) if orders == "all" else 1
        return beta * listwise + (1 - beta) * sum(pairs) / max(1, len(pairs))
    return beta * listwise + (1 - beta) * sum(pairs)


PLAIN = {name.removeprefix("plain_"): f for name, f in list(globals().items()) if name.startswith("plain_")}


def drawn(seed=0, lengths=(4, 1, 0, 5, 3, 2), dtype=torch.float64):
    """Lists with negative gains, of one label, of one document and of none; what is no document is nonsense."""
    draw = np.random.default_rng(seed)
    shape = (len(lengths), max(lengths))
    mask = np.arange(shape[1]) < np.array(lengths)[:, None]
    # Documents need not stand first.
    mask = np.take_along_axis(mask, draw.permuted(np.tile(np.arange(shape[1]), (shape[0], 1)), axis=1), axis=1)
    scores, gains = draw.normal(size=shape), draw.choice(LEVELS, shape)
    gains[-2] = -10.0
    scores[~mask], gains[~mask] = np.nan, 1e9
    return torch.tensor(scores, dtype=dtype), torch.tensor(gains, dtype=dtype), torch.tensor(mask)


def each(scores, gains, mask):
    """The lists that have documents, as plain lists."""
    for s, g, m in zip(scores, gains, mask, strict=True):
        if m.any():
            yield s[m].tolist(), g[m].tolist()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("seed", range(3))
def test_a_loss_is_what_a_loop_makes_of_it(spec, seed):
    scores, gains, mask = drawn(seed)
    name, options = losses.parse_loss(spec)
    expected = np.mean([PLAIN[name](s, g, **options) for s, g in each(scores, gains, mask)])
    assert losses.loss_of(spec)(scores, gains, mask).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_ordinal_losses_are_what_a_loop_makes_of_them(weighted):
    _, gains, mask = drawn()
    logits = torch.tensor(np.random.default_rng(1).normal(size=(*gains.shape, 3)))
    logits[~mask] = float("nan")
    loss = losses.weighted_ordinal if weighted else losses.ordinal
    weight = [10.0, 1.0, 1.0] if weighted else [1.0, 1.0, 1.0]
    per_list = []
    for s, g, m in zip(logits, gains, mask, strict=True):
        if m.any():
            documents = [
                sum(weight[i] * entropy(x[i].item(), y > LEVELS[i]) for i in range(3))
                for x, y in zip(s[m], g[m].tolist(), strict=True)
            ]
            per_list.append(np.mean(documents))
    assert loss(logits, gains, mask, levels=LEVELS).item() == pytest.approx(np.mean(per_list), rel=1e-12)


@pytest.mark.parametrize("normalised", [False, True])
def test_expected_share_is_what_a_loop_makes_of_it(normalised):
    _, gains, mask = drawn()
    logits = torch.tensor(np.random.default_rng(1).normal(size=(*gains.shape, 2)))
    stands_for = torch.arange(1.0, gains.numel() + 1).view(gains.shape)
    for weights in (None, stands_for):
        per_list = []
        for s, g, m, w in zip(logits, gains, mask, stands_for, strict=True):
            if m.any():
                g, total = g[m].tolist(), 0.0
                up = dcg(sorted((x for x in g if x > 0), reverse=True), 2)
                down = dcg(sorted(x for x in g if x < 0), 2)
                for (a, p), gain, count in zip(s[m].tolist(), g, w[m].tolist(), strict=True):
                    share = gain / (up - down) if normalised and up > down else gain if not normalised else 0.0
                    cost = abs(share) * entropy(a, share > 0) + math.exp(p) - max(0.0, share) * p
                    total += cost * (1.0 if weights is None else count)
                per_list.append(total)
        loss = losses.expected_share(logits, gains, mask, k=2, normalised=normalised, stands_for=weights)
        assert loss.item() == pytest.approx(np.mean(per_list), rel=1e-12)


def test_gradients_of_expected_share_are_those_of_finite_differences():
    _, gains, mask = drawn(lengths=(3, 1, 0, 2, 1))
    logits = torch.tensor(np.random.default_rng(1).normal(size=(*gains.shape, 2)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: losses.expected_share(s, gains, mask), (logits,))


def test_expected_share_is_lowest_at_what_showing_a_document_adds():
    """Three lists have a good document, and one a forbidden one: worth 1 and −1, whatever the gains."""
    gains = torch.tensor([[2.0], [-10.0], [2.0], [2.0]], dtype=torch.float64)
    outputs = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.LBFGS([outputs], max_iter=50, tolerance_grad=1e-10)

    def cost():
        descent.zero_grad()
        loss = losses.expected_share(outputs.expand(4, 1, 2), gains)
        loss.backward()
        return loss

    descent.step(cost)
    (score,) = Outputs.of("expected_share", np.zeros(1)).score(outputs.detach().numpy()[None])
    assert score == pytest.approx((3 - 1) / 4, abs=1e-4)
    with pytest.raises(InputError, match="1 outputs per document; give two"):
        losses.expected_share(torch.zeros(3, 1), [1, 2, 3])


def test_numbers_by_hand():
    zero = torch.zeros(3)
    assert losses.bce(zero, [2, 0, -10]).item() == pytest.approx(math.log(2))
    # A gain of 0 is not worth showing: a high score costs.
    assert losses.bce(torch.tensor([3.0]), [0]).item() == pytest.approx(math.log(1 + math.exp(3)))
    assert losses.mse(torch.tensor([1.0, 1.0]), [2, -10]).item() == pytest.approx((1 + 121) / 2)
    # Three pairs, log 2 each.
    assert losses.ranknet(zero, [2, 1, 0]).item() == pytest.approx(3 * math.log(2))
    # In order as they stand. I_f = 2, W_f = -10; swaps cost 2 (1 - 1/log2(3)), 12 (1 - 1/2), 10 (1/log2(3) - 1/2).
    changes = [2 * (1 - 0.6309297536), 12 * 0.5, 10 * (0.6309297536 - 0.5)]
    assert losses.lambdarank(zero, [2, 0, -10]).item() == pytest.approx(sum(changes) / 12, rel=1e-6)
    # The best order of all has a DCG of 2 - 10/2 = -3: nothing to normalise by.
    assert losses.lambdarank(zero, [2, 0, -10], normaliser="ideal").item() == 0
    # Targets 3/4 and 1/4 against 1/2 each.
    assert losses.listnet(torch.zeros(2), [math.log(3), 0.0]).item() == pytest.approx(math.log(2))
    # And against 1/4 and 3/4.
    hand = -(0.75 * math.log(0.25) + 0.25 * math.log(0.75))
    assert losses.listnet(torch.tensor([0.0, math.log(3)]), [math.log(3), 0.0]).item() == pytest.approx(hand)
    assert losses.listmle(zero, [0, 1, 2]).item() == pytest.approx(math.log(6))
    assert losses.listmle(zero, [0, 1, 2], k=2).item() == pytest.approx(math.log(6))
    assert losses.listmle(zero, [0, 1, 2], k=1).item() == pytest.approx(math.log(3))
    # Three pairs between the top and the rest, log 2 each; 1 order of 1 document.
    alone = losses.focused(torch.zeros(4), [3, 0, 0, 0], k=1, beta=0.25, normalised=False)
    assert alone.item() == pytest.approx(0.75 * 3 * math.log(2))


def test_a_loss_is_the_mean_over_lists():
    scores, gains, mask = drawn()
    alone = [losses.ranknet(s[m], g[m]).item() for s, g, m in zip(scores, gains, mask, strict=True) if m.any()]
    assert losses.ranknet(scores, gains, mask).item() == pytest.approx(np.mean(alone))


@pytest.mark.parametrize("spec", SPECS)
def test_gradients_are_those_of_finite_differences(spec):
    scores, gains, mask = drawn(lengths=(4, 1, 0, 2, 3))
    scores = scores.nan_to_num(7.0).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: losses.loss_of(spec)(s, gains, mask), (scores,))
    losses.loss_of(spec)(scores, gains, mask).backward()
    assert (scores.grad[~mask] == 0).all()


@pytest.mark.parametrize("name", ["ordinal", "weighted_ordinal"])
def test_gradients_of_ordinal_losses_are_those_of_finite_differences(name):
    _, gains, mask = drawn(lengths=(3, 1, 0, 2, 1))
    logits = torch.tensor(np.random.default_rng(1).normal(size=(*gains.shape, 3)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: losses.LOSSES[name](s, gains, mask, levels=LEVELS), (logits,))


def test_a_pair_counts_in_lambdarank_by_what_swapping_it_does_to_ndcg_f():
    gains = [2.0, -10.0, 1.0, 0.0, 1.0, -10.0]
    scores = [0.3, 2.0, -1.0, 0.4, 1.1, -0.2]
    docs = [f"d{i}" for i in range(6)]
    order = sorted(range(6), key=lambda d: -scores[d])
    qrels = {"q": dict(zip(docs, map(int, gains), strict=True))}

    def value(order):
        run = {"q": {docs[d]: float(-place) for place, d in enumerate(order)}}
        return rs.evaluate(qrels, run, ["nDCG_f"]).mean_of("nDCG_f")

    total = 0.0
    for u, v in ordered_pairs(gains):
        swapped = [{u: v, v: u}.get(d, d) for d in order]
        total += abs(value(swapped) - value(order)) * log1pexp(scores[v] - scores[u]) / math.log(2)
    given = torch.tensor(scores, dtype=torch.float64)
    assert losses.lambdarank(given, gains).item() == pytest.approx(total, rel=1e-12)


def test_normalisers_are_the_same_without_negative_gains():
    scores, gains, mask = drawn()
    ours, ideal = (losses.lambdarank(scores, gains.clamp(min=0), mask, normaliser=n) for n in ("f", "ideal"))
    assert ours.item() == ideal.item() > 0


def test_listnet_over_all_orders_of_ten_is_exact_where_it_is_known():
    # Equal scores: every order is as likely as any other, whatever is wanted.
    gains = torch.arange(10, 0, -1, dtype=torch.float64)
    assert losses.listnet(torch.zeros(10, dtype=torch.float64), gains, k=None).item() == pytest.approx(
        math.lgamma(11), rel=1e-12
    )
    # The gains themselves are the best scores.
    best = gains.clone().requires_grad_()
    losses.listnet(best, gains, k=None).backward()
    assert best.grad.abs().max() < 1e-12


@pytest.mark.parametrize("spec", [s for s in SPECS if s != "mse" and "bce" not in s and "_f" not in s])
def test_a_document_alone_costs_nothing_where_only_order_counts(spec):
    score = torch.tensor([3.0], requires_grad=True)
    loss = losses.loss_of(spec)(score, [-10])
    loss.backward()
    assert loss.item() == 0
    assert score.grad.tolist() == [0.0]


@pytest.mark.parametrize("spec", ["ranknet", "ranknet(pairs='mean')", "lambdarank", "lambdarank(normaliser='ideal')"])
def test_lists_of_one_label_say_nothing_to_pairs(spec):
    score = torch.tensor([3.0, 1.0], requires_grad=True)
    loss = losses.loss_of(spec)(score, [1, 1])
    loss.backward()
    assert loss.item() == 0
    assert score.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("spec", SPECS)
def test_without_any_document_the_loss_is_zero(spec):
    scores = torch.tensor([[float("nan"), 1.0]], requires_grad=True)
    loss = losses.loss_of(spec)(scores, [[1, 2]], [[False, False]])
    loss.backward()
    assert loss.item() == 0
    assert scores.grad.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("spec", [s for s in SPECS if s != "mse"])
@pytest.mark.parametrize("size", [1e2, 1e4, 1e30])
def test_large_scores_do_not_overflow(spec, size):
    scores = torch.tensor([[-size, size, 0.0, size / 2], [size, -size, size, 9.0]], requires_grad=True)
    mask = torch.tensor([[True] * 4, [True] * 3 + [False]])
    loss = losses.loss_of(spec)(scores, [[2, -10, 1, 0], [1, 2, 1, 0]], mask)
    loss.backward()
    assert torch.isfinite(loss)
    assert loss.item() >= size / 100
    assert torch.isfinite(scores.grad).all()


def test_half_precision_is_computed_in_single():
    scores = torch.tensor([1.5, 0.25, -3.0], dtype=torch.bfloat16)
    assert losses.ranknet(scores, [0, 1, 2]).item() == losses.ranknet(scores.float(), [0, 1, 2]).item()


def test_equal_gains_stand_as_they_come():
    scores = torch.tensor([0.5, 1.5, -1.0])
    assert losses.listmle(scores, [1, 1, 0], k=1) == losses.listmle(scores, [2, 1, 0], k=1)
    assert losses.focused(scores, [1, 1, 0], k=1) == losses.focused(scores, [2, 1, 0], k=1)


def test_what_does_not_belong_together_is_refused():
    scores = torch.zeros(2, 3)
    for gains, mask in [([1, 2, 3], None), (np.zeros((2, 3)), np.ones((2, 2))), (np.zeros((2, 3, 1)), None)]:
        with pytest.raises(InputError, match="do not belong together"):
            losses.bce(scores, gains, mask)
    with pytest.raises(InputError, match="ascending"):
        losses.ordinal(torch.zeros(3, 2), [1, 2, 3], levels=[1, 2])
    with pytest.raises(InputError, match="ascending"):
        losses.ordinal(torch.zeros(3, 1), [1, 2, 2], levels=[2, 1])
    with pytest.raises(InputError, match="sums over 1048575 sets"):
        losses.listnet(torch.zeros(20), np.zeros(20), k=None)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("hinge", "known are: bce, mse"),
        ("bce(gamma=1)", "its options are: none"),
        ("ordinal(levels=[1, 2])", "has no option 'levels'"),
        ("listnet(k=", "is not understood"),
        ("listnet(3)", "is not understood"),
        ("listnet(k=0)", "k=0 is not a positive integer"),
        ("ranknet(pairs='median')", "use 'sum' or 'mean'"),
        ("lambdarank(normaliser='max')", "use 'f' or 'ideal'"),
        ("focused(orders='some')", "use 'all' or 'first'"),
    ],
)
def test_options_that_are_unknown_are_refused(spec, says):
    with pytest.raises(InputError, match=says):
        losses.loss_of(spec)(torch.zeros(3), [0, 1, 2])


def test_listnet_of_orders_where_exponentials_vanish_is_that_where_they_do_not():
    """Single precision adds one document after the other there, double precision still all at once."""
    scores = torch.tensor([[0.0, -60.0, -120.0, -30.0], [-200.0, 0.0, 1.0, 2.0]])
    gains, mask = torch.tensor([[1.0, 3, 0, 2], [3, 0, 1, 2]]), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 1]]).bool()
    found = {}
    for kind in (torch.float32, torch.float64):
        s = scores.to(kind).requires_grad_()
        value = losses.listnet(s, gains, mask, k=None)
        found[kind] = value.item(), *torch.autograd.grad(value, s)[0].flatten().tolist()
    np.testing.assert_allclose(found[torch.float32], found[torch.float64], rtol=1e-5, atol=1e-6)


def test_k_may_be_a_number_of_numpy():
    scores, gains = torch.tensor([0.5, -1.0, 2.0]), [0, 1, 2]
    for loss in (losses.listnet, losses.listmle, losses.focused, losses.lambdarank):
        assert loss(scores, gains, k=np.int64(2)).item() == loss(scores, gains, k=2).item()


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("lambdarank(sigma=-1)", "sigma=-1 is not a positive number"),
        ("lambdarank(sigma=0)", "sigma=0 is not a positive number"),
        ("lambdarank(sigma=1e999)", "sigma=inf is not finite"),
        ("lambdarank(sigma=1j)", "sigma=1j is not a positive number"),
        ("lambdarank_bce(gamma=-1)", "gamma=-1 is not a number of at least 0"),
        ("lambdarank_bce(gamma=10000000000000000000000)", "does not work"),
        ("focused(normalised='no')", "normalised='no' is not True or False"),
        ("listnet(k=1, k=2)", "is not understood"),
        ("listnet(k={[]: 1})", "is not understood"),
        ("-" * 100_000 + "1", "is not understood"),
        ("weighted_ordinal(levels=[1, 2])", "has no option 'levels'; its options are: none"),
    ],
)
def test_options_that_cannot_be_are_refused(spec, what):
    with pytest.raises(InputError, match=what):
        check_loss(spec)


@pytest.mark.parametrize("spec", ["(ordinal)", " ordinal  # of gains", "ordinal()"])
def test_a_name_may_be_written_in_several_ways(spec):
    assert parse_loss(spec) == ("ordinal", {})
    check_loss(spec)
