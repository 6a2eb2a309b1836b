"""The sweep is what trying every cut gives, to the last digit."""

import numpy as np
import pytest

from ranksift import InputError
from ranksift.collection.lists import Lists
from ranksift.cutoffs import sweep as module
from ranksift.cutoffs.sweep import Sweep
from ranksift.measures.names import parse_measure
from tests.cutoffs.brute import all_thresholds, at_threshold, small_case

CUMULATIVE = ["nDCG_f@3", "nDCG_f", "nDCG_min@2", "nDCG_org@3", "nDCG@3", "DCG@2", "nDCG_f@50", "DCG"]
CUMULATIVE += ["nDCG_f(base=2)@3", "DCG(base=3)"]
OTHERS = ["AP", "RR_qwa", "P@2", "Fdocs@2", "GoodFiltered", "RBP(p=0.5)", 'Fdocs(average="macro")@3', "ERR@3", "Empty",
          'nDCG_qwa(scale="max")', "AP_qwa", "NumRet"]  # fmt: skip


def swept(measure, case, **how):
    scores, labels, groups, rank_scores = case
    return Sweep.of(Lists.from_arrays(scores, labels, groups, rank_scores=rank_scores, **how), parse_measure(measure))


def check(measure: str, case, **how) -> None:
    scores, labels, groups, rank_scores = case
    found = swept(measure, case, **how)
    thresholds = all_thresholds(scores if how.get("unjudged") != "drop" else scores[~np.isnan(labels)])
    assert found.thresholds.tolist() == thresholds
    own, mean = zip(
        *(at_threshold(found.measure, scores, labels, groups, t, rank_scores, **how) for t in thresholds), strict=True
    )
    np.testing.assert_allclose(found.values(), mean, rtol=0, atol=1e-12)
    for t, values in zip(thresholds, own, strict=True):
        np.testing.assert_allclose(found.per_query(t), values, rtol=0, atol=1e-12)
    best = (np.max if found.measure.higher_is_better else np.min)(own, axis=0)
    threshold, value = found.oracle()
    np.testing.assert_allclose(value, best, rtol=0, atol=1e-12)
    for q, t in enumerate(threshold):
        np.testing.assert_allclose(found.per_query(t)[q], best[q], rtol=0, atol=1e-12)


@pytest.mark.parametrize("measure", CUMULATIVE)
def test_cumulative_measures_at_every_cut(measure):
    draw = np.random.default_rng(0)
    for kind in range(400):
        check(measure, small_case(draw, kind))


@pytest.mark.parametrize("measure", OTHERS)
@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
def test_other_measures_at_every_cut(measure):
    draw = np.random.default_rng(1)
    for kind in range(120):
        check(measure, small_case(draw, kind))


@pytest.mark.parametrize("how", [{"gains": {-2: -10}}, {"gains": "exp"}, {"unjudged": "drop"}])
@pytest.mark.parametrize("measure", ["nDCG_f@2", "AP", "Fdocs@3", "nDCG_f(gains={-1: -5})@3"])
def test_gains_and_unjudged_documents(measure, how):
    draw = np.random.default_rng(2)
    for kind in range(60):
        case = small_case(draw, kind)
        if how.get("unjudged") != "drop" or not np.isnan(case[1]).all():
            check(measure, case, **how)


def test_long_lists_are_gone_through_alike(monkeypatch):
    draw = np.random.default_rng(3)
    groups = draw.choice(["a", "b", "c"], 300, p=[0.8, 0.15, 0.05])
    case = draw.normal(size=300), draw.choice([-2.0, 0, 1, 2], 300), groups, draw.normal(size=300)
    for measure in ("nDCG_f@5", "nDCG_f@1", "nDCG_f"):
        with monkeypatch.context() as patch:
            patch.setattr(module, "_LONG", 20)
            patched = swept(measure, case).values()
        np.testing.assert_allclose(patched, swept(measure, case).values(), rtol=0, atol=1e-12)
        check(measure, case)


def test_partial_lists_in_small_blocks_are_the_same(monkeypatch):
    draw = np.random.default_rng(4)
    case = draw.normal(size=80), draw.choice([-1.0, 0, 1], 80), draw.choice(["a", "b", "c", "d"], 80), None
    expected = swept("AP", case).values()
    for block in (1, 10, 500):
        monkeypatch.setattr(module, "_BLOCK", block)
        np.testing.assert_allclose(swept("AP", case).values(), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("measure", ["nDCG_f@2", "Fdocs@2", "AP"])
def test_weights_repeat_queries(measure):
    draw = np.random.default_rng(5)
    for kind in range(40):
        scores, labels, groups, rank_scores = small_case(draw, kind)
        found = swept(measure, (scores, labels, groups, rank_scores))
        weight = draw.integers(0, 3, len(found.lists)).astype(float)
        if not weight.sum():
            continue
        times = np.array([int(weight[list(found.lists.names).index(g)]) for g in groups])
        if not (found.lists.lengths > 0).all() or not times.sum():
            continue
        again = np.repeat(np.arange(len(scores)), times)
        copy = np.concatenate([np.arange(t) for t in times])
        repeated = swept(
            measure,
            (
                scores[again],
                labels[again],
                np.array([f"{groups[i]}{c}" for i, c in zip(again, copy, strict=True)]),
                None if rank_scores is None else rank_scores[again],
            ),
        )
        values = dict(zip(found.thresholds.tolist(), found.values(weight), strict=True))
        np.testing.assert_allclose(
            repeated.values(), [values[t] for t in repeated.thresholds.tolist()], rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("measure", ["nDCG_f@2", "AP", "Fdocs@1"])
def test_condensed_has_the_same_best(measure):
    draw = np.random.default_rng(6)
    for kind in range(150):
        found = swept(measure, small_case(draw, kind))
        few = found.condensed()
        assert len(few.score) <= len(found.score)
        assert few.threshold(few.best(few.values())) == found.threshold(found.best(found.values()))


def test_a_million_changes_add_up():
    n = 200_000
    draw = np.random.default_rng(7)
    scores, labels = draw.normal(size=n), draw.choice([-2.0, 0, 1, 2], n)
    groups = np.repeat(np.arange(n // 10), 10)
    found = swept("nDCG_f@3", (scores, labels, groups, None))
    for t in (found.thresholds[1000], found.thresholds[n // 2], found.thresholds[-1]):
        _, mean = at_threshold(found.measure, scores, labels, groups, t)
        at = np.flatnonzero(found.thresholds == t)[0]
        assert abs(found.values()[at] - mean) < 1e-12


def test_c_at_1_is_refused():
    with pytest.raises(InputError, match="c_at_1 is neither a mean"):
        swept("c_at_1", (np.array([1.0]), np.array([1.0]), np.array(["a"]), None))
