"""nDCG and its relatives: paper 1's propositions, and the bounds by brute force."""

from itertools import chain, combinations_with_replacement, permutations
from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.gains import Gains
from ranksift.collection.pool import Pool
from ranksift.measures.cumulative import ideal, ideal_sublist, worst, worst_sublist

# Collections of a few documents: lists without a judged one, judgments without a forbidden one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no document that it lists is judged",
    "ignore:run '.*' answers",
    "ignore:.*are the same here",
    "ignore:.*are they swapped",
    "ignore:gains name the label",
)

GAINS = [-10, -2, -1, -0.5, 0, 0.5, 1, 2, 3]
pools = st.lists(st.sampled_from(GAINS), min_size=1, max_size=7)
depths = st.integers(1, 9)


@st.composite
def sublists(draw, labels):
    """Some documents of the pool, in some order."""
    order = draw(st.permutations(range(len(labels))))
    return order[: draw(st.integers(0, len(labels)))]


def evaluate(labels, lists, measures, **how):
    """Each list (positions in the pool) as a query of the same pool: an array lists × measures."""
    qrels = {f"q{i}": {f"d{j}": label for j, label in enumerate(labels)} for i in range(len(lists))}
    run = {f"q{i}": {f"d{j}": -rank for rank, j in enumerate(order)} for i, order in enumerate(lists)}
    return rs.evaluate(qrels, run, measures, **how).values[0]


def all_sublists(n):
    return list(chain.from_iterable(permutations(range(n), length) for length in range(n + 1)))


def bounds(labels, k):
    pool = Pool.of(np.array([0, len(labels)]), np.array(labels, dtype=float))
    return [f(pool, Gains(), k)[0] for f in (worst_sublist, worst, ideal, ideal_sublist)]


# -- the bounds --------------------------------------------------------------------------------------------

SMALL_POOLS = [p for n in range(1, 5) for p in combinations_with_replacement([-10, -1, 0, 1, 3], n)]
LARGER_POOLS = np.random.default_rng(0).choice(GAINS, (12, 6)).tolist()


@pytest.mark.parametrize("pools", [SMALL_POOLS, LARGER_POOLS], ids=["up to 4 documents", "6 documents"])
def test_bounds_by_brute_force(pools):
    """I_k and W_k over all orders, I_kf and W_kf over all ordered sublists, the empty one included."""
    for labels in pools:
        discounted = [
            np.cumsum([0.0] + [labels[j] / log2(rank + 2) for rank, j in enumerate(order)])
            for order in permutations(range(len(labels)))
        ]
        prefixes = np.array(discounted)  # column r: DCG of the first r documents of every order
        for k in range(1, len(labels) + 2):
            orders = prefixes[:, min(k, len(labels))]
            # the first k documents of a sublist are the first documents of some order
            lists = prefixes[:, : k + 1]
            expected = [lists.min(), orders.min(), orders.max(), lists.max()]
            assert bounds(labels, k) == pytest.approx(expected, abs=1e-12), (labels, k)


@pytest.mark.parametrize("labels", [[-10, -1, 0, 1, 3], [2, 2, -1, -1, 0], [-2, -2, -1, -10, -1], [1, 2, 3, 0, 0]])
@pytest.mark.parametrize("k", [1, 2, 3, 5, 6])
def test_values_by_brute_force(labels, k):
    """The best and the worst of all lists get 1 and 0: sublists for nDCG_f, whole orders for nDCG_min."""
    lists = all_sublists(len(labels))
    values = evaluate(labels, lists, [f"nDCG_f@{k}", f"nDCG_min@{k}", f"UBQ@{k}"])
    assert [values[:, 0].min(), values[:, 0].max()] == pytest.approx([0.0, 1.0], abs=1e-12)
    whole = values[[len(order) == len(labels) for order in lists]]
    assert [whole[:, 1].min(), whole[:, 1].max()] == pytest.approx([0.0, 1.0], abs=1e-12)
    assert not whole[:, 2].any()


@given(pools, depths)
def test_interval_inclusion(labels, k):
    worst_f, worst_k, ideal_k, ideal_f = bounds(labels, k)
    assert worst_f <= worst_k + 1e-12
    assert worst_k <= ideal_k + 1e-12
    assert ideal_k <= ideal_f + 1e-12
    assert worst_f <= 0 <= ideal_f


# -- the propositions --------------------------------------------------------------------------------------


@given(st.data(), pools, depths)
def test_proposition_3_1_only_filtering_unbounds(data, labels, k):
    """nDCG_min leaves [0, 1] on sublists only, and UBQ says when."""
    order = data.draw(sublists(labels))
    value, over, under, outside = evaluate(labels, [order], [f"{m}@{k}" for m in UNBOUNDED])[0]
    worst_k, ideal_k = bounds(labels, k)[1:3]
    if ideal_k - worst_k > 1e-9:
        assert over == (value > 1 + 1e-9)
        assert under == (value < -1e-9)
    assert outside == max(over, under)
    if len(order) == len(labels):
        assert outside == 0


UNBOUNDED = ["nDCG_min", "UBQ_over", "UBQ_under", "UBQ"]


@given(st.data(), st.lists(st.sampled_from([0, 0.5, 1, 2, 3]), min_size=1, max_size=7), depths)
def test_proposition_3_2_without_forbidden_documents_it_is_nDCG(data, labels, k):
    value_f, value, value_org = evaluate(
        labels, [data.draw(sublists(labels))], [f"nDCG_f@{k}", f"nDCG@{k}", f"nDCG_org@{k}"]
    )[0]
    assert value_f == pytest.approx(value, abs=1e-12)
    assert value_f == pytest.approx(value_org, abs=1e-12)


@given(
    st.data(), pools, depths, st.sampled_from(["zero", "drop"]), st.sampled_from(["linear", "exp", {-2: -10, 0: -3}])
)
def test_proposition_3_3_bounded(data, labels, k, unjudged, gains):
    order = data.draw(sublists([*labels, None, None]))  # two documents that are not judged
    qrels = {"q": {f"d{j}": label for j, label in enumerate(labels)}}
    run = {"q": {f"d{j}": -rank for rank, j in enumerate(order)}}
    scores = rs.evaluate(qrels, run, [f"nDCG_f@{k}", "nDCG_f"], unjudged=unjudged, gains=gains)
    assert (scores.values >= -1e-12).all()
    assert (scores.values <= 1 + 1e-12).all()


@given(st.sampled_from([g for g in GAINS if g]), depths)
def test_proposition_3_4_one_document_is_filtering_accuracy(gain, k):
    shown, filtered = evaluate([gain], [[0], []], [f"nDCG_f@{k}"])[:, 0]
    assert (shown, filtered) == ((1.0, 0.0) if gain > 0 else (0.0, 1.0))


@given(st.data(), pools, depths)
def test_proposition_3_5_same_order_where_the_pool_has_a_range(data, labels, k):
    worst_k, ideal_k = bounds(labels, k)[1:3]
    assume(ideal_k - worst_k > 1e-9)
    first, second = evaluate(
        labels, [data.draw(sublists(labels)), data.draw(sublists(labels))], [f"nDCG_f@{k}", f"nDCG_min@{k}"]
    )
    by_f, by_min = first - second
    assert (by_f > 1e-9) == (by_min > 1e-9) or abs(by_f) < 1e-6
    assert by_f * by_min >= -1e-12


@given(st.data(), pools)
def test_proposition_3_6_equal_where_k_is_small(data, labels):
    not_forbidden = sum(g >= 0 for g in labels)
    not_relevant = sum(g <= 0 for g in labels)
    assume(min(not_forbidden, not_relevant) >= 1)
    k = data.draw(st.integers(1, min(not_forbidden, not_relevant)))
    value_min, value_f = evaluate(labels, [data.draw(sublists(labels))], [f"nDCG_min@{k}", f"nDCG_f@{k}"])[0]
    assert value_min == pytest.approx(value_f, abs=1e-12)


@given(pools, depths)
def test_difficulty_is_the_value_of_the_empty_list(labels, k):
    difficulty, value = evaluate(labels, [[]], [f"Difficulty@{k}", f"nDCG_f@{k}"])[0]
    assert difficulty == value
    worst_f, _, _, ideal_f = bounds(labels, k)
    assert value == pytest.approx(-worst_f / (ideal_f - worst_f) if ideal_f - worst_f > 1e-12 else 0.0, abs=1e-12)


@given(st.data(), pools, depths)
def test_difficulty_does_not_depend_on_the_run(data, labels, k):
    empty, other = evaluate(labels, [[], data.draw(sublists(labels))], [f"Difficulty@{k}"])[:, 0]
    assert empty == other


@given(st.data(), pools)
def test_filtering_a_forbidden_document_at_the_end_never_hurts(data, labels):
    order = data.draw(sublists(labels))
    assume(order and labels[order[-1]] < 0)
    kept, dropped = evaluate(labels, [order, order[:-1]], ["nDCG_f"])[:, 0]
    assert dropped > kept


# -- degenerate queries ------------------------------------------------------------------------------------


def test_degenerate_queries_score_0_and_are_counted():
    qrels = {"flat": {"a": 1, "b": 1}, "nothing": {"a": 0}, "fine": {"a": 1, "b": -1}}
    run = {q: {"a": 2, "b": 1} for q in qrels}
    scores = rs.evaluate(qrels, run, ["nDCG", "nDCG_org", "nDCG_min", "nDCG_f", "DCG"])
    assert scores.degenerate == {"nDCG": 1, "nDCG_org": 1, "nDCG_min": 2, "nDCG_f": 1}
    assert scores.values[0, :, 2].tolist() == [0.0, 0.0, 1.0]
    assert scores.mean_of("nDCG_min") == pytest.approx(1 / 3)


def test_rounding_noise_is_no_range():
    """0.1 + 0.2 and its like leave bounds that differ in the last bits: still degenerate."""
    labels = [0.1] * 7
    values = evaluate(labels, [[0, 1, 2], []], ["nDCG_min"])[:, 0]
    assert values.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("base", [1.5, 2, 3, 10])
def test_the_discount_of_jarvelin_and_kekalainen(base):
    """Their recursive definition: DCG[i] = CG[i] before rank b, DCG[i - 1] + G[i] / log_b(i) from there on."""
    gains = [3, 2, 3, 0, 1, 2, 2, 3, 0, 1, 2, 1]
    qrels = {"q": {f"d{i:02}": gain for i, gain in enumerate(gains)}}
    run = {"q": {f"d{i:02}": -i for i in range(len(gains))}}
    before = 0.0
    for k, gain in enumerate(gains, 1):
        before += gain if k < base else gain / (np.log(k) / np.log(base))
        name = f"DCG(base={base})@{k}"
        assert rs.evaluate(qrels, run, name).mean_of(name) == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("base", [1, 0, -2, True])
def test_a_base_that_has_no_logarithm_is_refused(base):
    with pytest.raises(rs.InputError, match=r"base=\S+ is not a number above 1; write base=2, for example"):
        rs.nDCG(base=base)
