"""Expectations and normalisations of paper 3 against all orders of small pools."""

from fractions import Fraction
from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.gains import Gains
from ranksift.collection.pool import Pool
from ranksift.measures.bounds import normalise_1, normalise_2
from tests.measures.cases import AROUND, Case, drawn_cases

# Collections of a few documents: lists without a judged one, judgments without a forbidden one.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*no document that it lists is judged",
    "ignore:run '.*' answers",
    "ignore:.*are the same here",
    "ignore:.*are they swapped",
    "ignore:gains name the label",
)

# Some binary, some graded, some with forbidden documents, up to six.
POOLS = [
    [1], [0], [-1], [2, 0], [1, 1], [1, 0, 0], [2, 1, 0], [1, 1, 0, 0], [3, -2, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0],
    [2, 1, 0, 0, -1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 0], [3, 2, 1, 1, 0, 0], [1, 1, 1, 0, 0, -2], [1, 0, 0, 0, 0, 0],
]  # fmt: skip


def all_orders(labels):
    """Every order of the pool as a query of its own."""
    qrels, run = {}, {}
    for i, order in enumerate(permutations(range(len(labels)))):
        qrels[f"q{i}"] = {f"d{j}": label for j, label in enumerate(labels)}
        run[f"q{i}"] = {f"d{j}": -rank for rank, j in enumerate(order)}
    return qrels, run


def with_every_k(name, n):
    return [f"{name}@{k}" for k in range(1, n + 3)]


@pytest.mark.parametrize("labels", POOLS, ids=str)
def test_expected_values_are_the_mean_over_all_orders(labels):
    qrels, run = all_orders(labels)
    n = len(labels)
    for gains in ("linear", "exp"):
        # DCG lets negative gains act, the bounds do not: the ideal turns nDCG back into DCG
        names = [m for name in ("SP", "MSP", "nDCG", "E_SP", "E_MSP", "E_nDCG", "E_DCG") for m in with_every_k(name, n)]
        scores = rs.evaluate(qrels, run, names, gains=gains)
        mean = dict(zip(names, scores.aggregate()[0], strict=True))
        positive = {d: max(0, label) for d, label in qrels["q0"].items()}
        without = rs.evaluate(dict.fromkeys(qrels, positive), run, with_every_k("DCG", n), gains=gains)
        for k in range(1, n + 3):
            for name in ("SP", "MSP", "nDCG"):
                assert mean[f"E_{name}@{k}"] == pytest.approx(mean[f"{name}@{k}"], abs=1e-12), (name, k, gains)
            assert mean[f"E_DCG@{k}"] == pytest.approx(without.mean_of(f"DCG@{k}"), abs=1e-12), (k, gains)


@pytest.mark.parametrize("labels", [p for p in POOLS if len(p) > 1], ids=str)
def test_expectation_and_perfection_of_every_measure(labels):
    qrels, run = all_orders(labels)
    n = len(labels)
    pool = Pool.of(np.array([0, n]), np.array(labels, dtype=float))
    for name in AROUND:
        if name == "DCG" and min(labels) < 0:
            continue  # see above
        depths = [f"@{k}" for k in range(1, n + 3) if "k" in AROUND[name]]
        depths += [""] if name not in ("SP", "MSP") else []
        inside = ["", "(rel=2)"] if "rel" in AROUND[name] else [""]
        measures = [rs.parse_measure(f"{name}{p}{depth}") for p in inside for depth in depths]
        values = rs.evaluate(qrels, run, measures).values[0]
        for m, measure in enumerate(measures):
            assert measure.expectation(pool, Gains())[0] == pytest.approx(values[:, m].mean(), abs=1e-12), measure
            perfect = measure.perfection(pool, Gains())[0]
            if name in ("SP", "MSP"):  # the paper's bound, which needs k relevant documents
                assert perfect >= values[:, m].max() - 1e-12
            else:
                assert perfect == pytest.approx(values[:, m].max(), abs=1e-12), measure


# -- V1 and V2 ---------------------------------------------------------------------------------------------


@given(st.data(), st.lists(st.sampled_from([-2, 0, 1, 2, 3]), min_size=1, max_size=6), st.booleans())
def test_ranges(data, labels, exp):
    order = data.draw(st.permutations(range(len(labels) + 2)))  # two documents are not judged
    shown = order[: data.draw(st.integers(0, len(order)))]
    qrels = {"q": {f"d{j}": label for j, label in enumerate(labels)}}
    run = {"q": {f"d{j}": -rank for rank, j in enumerate(shown)}}
    cases = data.draw(st.lists(st.one_of(drawn_cases("UL1"), drawn_cases("UL2")), min_size=1, max_size=5))
    # Without k a short list's precision can exceed that of the best order of the whole pool.
    cases = [c for c in cases if c.name != "P" or "k" in c.parameters]
    names = [*map(str, cases), "DCG_ul1@3", "DCG_ul2@3", "MSP_ul1@2", "MSP_ul2@2", 'MSP_ul2(upper="attainable")@4']
    scores = rs.evaluate(qrels, run, names, gains="exp" if exp else "linear")
    for measure, value in zip(scores.measures, scores.values[0, 0], strict=True):
        lowest = -1 if "2" in measure.name else 0
        assert lowest - 1e-12 <= value <= 1 + 1e-12, measure


MIXED = st.lists(st.sampled_from([-2, 0, 1, 2]), min_size=2, max_size=6).filter(lambda p: max(p) > 0 >= min(p))
ATTAINABLE = [
    Case(name, {"k": k}, 2) for name in AROUND if name not in ("SP", "MSP") for k in (1, 2, 8) if "k" in AROUND[name]
] + [Case("kERR", {}, 2)]


@given(MIXED)
def test_perfect_is_1_and_nothing_relevant_is_minus_1(labels):
    names = [*map(str, ATTAINABLE), "DCG_ul2@2", 'MSP_ul2(upper="attainable")@2', 'MSP_ul2(upper="attainable")@8']
    qrels = {q: {f"d{j}": label for j, label in enumerate(labels)} for q in ("perfect", "nothing", "empty")}
    best = sorted(range(len(labels)), key=lambda j: -labels[j])
    run = {
        "perfect": {f"d{j}": -rank for rank, j in enumerate(best)},
        "nothing": {f"d{j}": -rank for rank, j in enumerate(best) if labels[j] <= 0} | {"unjudged": 1},
        "empty": {},
    }
    scores = rs.evaluate(qrels, run, names)
    perfect, nothing, empty = scores.values[0]
    flat = [str(m) in scores.degenerate for m in scores.measures]
    assert perfect == pytest.approx([0.0 if f else 1.0 for f in flat], abs=1e-12)
    assert nothing == pytest.approx([0.0 if f else -1.0 for f in flat], abs=1e-12)
    assert empty == pytest.approx(nothing, abs=1e-12)


@given(st.data(), MIXED)
def test_V2_is_positive_above_random_and_negative_below(data, labels):
    order = data.draw(st.permutations(range(len(labels))))
    qrels = {"q": {f"d{j}": label for j, label in enumerate(labels)}}
    run = {"q": {f"d{j}": -rank for rank, j in enumerate(order)}}
    scores = rs.evaluate(qrels, run, ["SP@3", "E_SP@3", "MSP_ul2@3", "nDCG@3", "E_nDCG@3", "DCG_ul2@3"])
    sp, random_sp, of_sp, ndcg, random_ndcg, of_dcg = scores.values[0, 0]
    for value, random, normalised in ((sp, random_sp, of_sp), (ndcg, random_ndcg, of_dcg)):
        if abs(value - random) < 1e-12:
            assert normalised == 0.0
        else:
            assert np.sign(value - random) == np.sign(normalised)


def test_random_level_is_0_and_half_of_the_bound():
    value = random = np.array([0.3])
    assert normalise_2(value, random, np.array([0.9])).tolist() == [0.0]
    assert normalise_1(value, random, np.array([0.9])) == pytest.approx([0.3 / 0.9 / 2])


@pytest.mark.parametrize(
    ("value", "random", "perfect"), [(0, 0, 0), (0, 0, 1), (0.5, 0.5, 0.5), (0.2, 0.5, 0.5), (0.3, 0.1 + 0.2, 0.3)]
)
def test_degenerate_parts_give_0(value, random, perfect):
    parts = [np.array([float(x)]) for x in (value, random, perfect)]
    assert normalise_2(*parts).tolist() == [0.0]


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=6), st.integers(1, 8))
def test_UL_around_a_measure_is_the_named_one(labels, k):
    qrels = {"q": {f"d{j}": label for j, label in enumerate(labels)}}
    run = {"q": {f"d{j}": -j for j in range(0, len(labels), 2)}}
    pairs = {f"DCG_ul{v}@{k}": f"UL{v}(DCG@{k})" for v in (1, 2)} | {
        f"MSP_ul{v}@{k}": f"UL{v}(MSP@{k})" for v in (1, 2)
    }
    scores = rs.evaluate(qrels, run, [*pairs, *pairs.values(), f"UL2(SP@{k})", f"UL2(nDCG@{k})"])
    for named, around in pairs.items():
        assert scores.mean_of(named) == pytest.approx(scores.mean_of(around), abs=1e-12)
    # a constant factor changes nothing
    assert scores.mean_of(f"UL2(SP@{k})") == pytest.approx(scores.mean_of(f"MSP_ul2@{k}"), abs=1e-12)
    assert scores.mean_of(f"UL2(nDCG@{k})") == pytest.approx(scores.mean_of(f"DCG_ul2@{k}"), abs=1e-12)


# -- the expectation of ERR ----------------------------------------------------------------------------------


def exact_expected_err(labels, grade, k):
    """Sum over r of (ē_{r-1} - ē_r) / r, exactly, from the elementary symmetric sums themselves."""
    n, sums = len(labels), [1]  # of 2^grade (1 - R), which are integers
    for label in labels:
        stay = 2**grade - 2**label + 1
        sums = [a + stay * b for a, b in zip([*sums, 0], [0, *sums], strict=True)]
    mean = [Fraction(sums[r], comb(n, r) * 2 ** (grade * r)) for r in range(min(k, n) + 1)]
    return sum((mean[r - 1] - mean[r]) / r for r in range(1, len(mean)))


@pytest.mark.parametrize("labels", [[4, 3, 1, 1, 0, 0], [1] * 5, [0, 0, 0], [2], [3, 3, 2, 1, 1, 4]], ids=str)
def test_expected_err_as_fractions_is_the_mean_over_all_orders(labels):
    """The formula itself, before any rounding."""
    for k in range(1, len(labels) + 2):
        total = Fraction(0)
        for order in permutations(labels):
            going_on = Fraction(1)
            for rank, label in enumerate(order[:k], 1):
                stop = Fraction(2**label - 1, 2**4)
                total += going_on * stop / rank
                going_on *= 1 - stop
        assert total / factorial(len(labels)) == exact_expected_err(labels, 4, k)


@pytest.mark.parametrize("k", [1, 2, 10, None])
@pytest.mark.parametrize("grade", [4, 60])
def test_expected_err_of_large_pools_is_exact_to_the_last_digits(k, grade):
    rng = np.random.default_rng(3)
    pools = [rng.integers(0, 5, 150), rng.integers(0, 2, 130), np.repeat([4, 0], [1, 190]), rng.integers(1, 5, 40)]
    pool = Pool.of(np.cumsum([0, *map(len, pools)]), np.concatenate(pools).astype(float))
    found = rs.ERR(max_grade=grade, k=k).expectation(pool, Gains())
    exact = [float(exact_expected_err(labels.tolist(), grade, k or len(labels))) for labels in pools]
    np.testing.assert_allclose(found, exact, rtol=1e-13, atol=0)


def test_expected_err_of_thousands_of_documents():
    """5,000 documents of one label: the chance to stop at rank r is geometric, whatever the order."""
    stop, ranks = 15 / 16, np.arange(1, 5001)
    pools = {5000: np.full(5000, 4.0), 6000: np.repeat([4.0, 0.0], [1, 5999])}
    pool = Pool.of(np.cumsum([0, *pools]), np.concatenate(list(pools.values())))
    alike, single = rs.ERR(max_grade=4).expectation(pool, Gains())
    assert alike == pytest.approx(np.sum(stop * (1 - stop) ** (ranks - 1.0) / ranks), rel=1e-13)
    assert single == pytest.approx(stop * np.mean(1 / np.arange(1, 6001)), rel=1e-13)


@pytest.mark.parametrize("cells", [1, 7, 100])
def test_expected_err_does_not_depend_on_how_much_is_done_at_once(cells, monkeypatch):
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 30, 40)
    pool = Pool.of(np.concatenate(([0], np.cumsum(sizes))), rng.integers(-2, 5, sizes.sum()).astype(float))
    together = rs.ERR(k=10).expectation(pool, Gains())
    monkeypatch.setattr("ranksift.measures.classic._CELLS", cells)
    np.testing.assert_allclose(rs.ERR(k=10).expectation(pool, Gains()), together, rtol=1e-14)
    for q, size in enumerate(sizes):  # a pool alone is what it is among others
        alone = Pool.of(np.array([0, size]), pool.labels[pool.query == q])
        assert rs.ERR(k=10, max_grade=4).expectation(alone, Gains())[0] == pytest.approx(together[q], rel=1e-13)
