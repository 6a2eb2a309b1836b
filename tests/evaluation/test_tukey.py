"""Tukey's HSD: against plain sums, Student's t, and scipy's distribution of the studentized range."""

import numpy as np
import pytest
from scipy.stats import studentized_range

import ranksift as rs
from ranksift.evaluation.tukey import critical_range, range_exceeds


def scores(values, measures=("AP",)):
    cube = np.asarray(values, dtype=float)
    cube = cube[:, :, None] if cube.ndim == 2 else cube
    runs, queries = ([f"{name}{i}" for i in range(size)] for name, size in zip("rq", cube.shape[:2], strict=True))
    return rs.Scores.from_array(cube, runs=runs, queries=queries, measures=measures)


@pytest.mark.parametrize(("runs", "freedom"), [(2, 1), (2, 30), (3, 2), (5, 196), (20, 18981), (100, 99)])
def test_the_distribution_is_scipys(runs, freedom):
    q = np.array([0.0, 0.1, 1.0, 2.5, 4.0, 7.0, 30.0])
    assert range_exceeds(q, runs, freedom) == pytest.approx(studentized_range.sf(q, runs, freedom), abs=1e-9)


@pytest.mark.parametrize(
    ("runs", "freedom", "printed"), [(3, 10, 3.877), (5, 20, 4.232), (10, 60, 4.646), (2, 5, 3.635)]
)
def test_critical_values_are_those_of_printed_tables(runs, freedom, printed):
    assert critical_range(0.05, runs, freedom) == pytest.approx(printed, abs=6e-4)


def test_of_two_runs_it_is_students_t():
    given = scores(np.random.default_rng(1).random((2, 30)))
    t, hsd = rs.compare(given, test="t", correction="none"), rs.compare(given, test="tukey")
    assert hsd.p == pytest.approx(t.p, abs=1e-9)
    assert hsd.statistic == pytest.approx(np.sqrt(2) * np.abs(t.statistic))
    assert hsd.low == pytest.approx(t.low, abs=1e-9)
    assert hsd.high == pytest.approx(t.high, abs=1e-9)


def test_plain_sums():
    rng = np.random.default_rng(2)
    cube = rng.random((4, 12, 2)) + np.array([0.0, 0.1, 0.5, 0.5])[:, None, None]
    found = rs.compare(scores(cube, ["AP", "RR"]), test="tukey", confidence=0.9)
    assert found.correction == "none"
    assert (found.corrected_p == found.p).all()
    for m in range(2):
        squares = 0.0
        for r in range(4):
            for q in range(12):
                expected = cube[r, :, m].mean() + cube[:, q, m].mean() - cube[:, :, m].mean()
                squares += (cube[r, q, m] - expected) ** 2
        error = np.sqrt(squares / (3 * 11) / 12)
        for c, (one, other) in enumerate(found.pairs):
            difference = cube[int(one[1]), :, m].mean() - cube[int(other[1]), :, m].mean()
            q = abs(difference) / error
            assert found.statistic[c, m] == pytest.approx(q)
            assert found.p[c, m] == pytest.approx(studentized_range.sf(q, 4, 33), abs=1e-9)
            half = studentized_range.isf(0.1, 4, 33) * error
            assert (found.low[c, m], found.high[c, m]) == pytest.approx((difference - half, difference + half))
    assert "Tukey's HSD of all runs, p <= 0.05" in str(found)


def test_a_baseline_is_compared_beside_all_others():
    given = scores(np.random.default_rng(3).random((5, 20)))
    every, some = rs.compare(given, test="tukey"), rs.compare(given, "r2", test="tukey")
    for c, (one, other) in enumerate(some.pairs):
        same = [p for p, pair in zip(every.p, every.pairs, strict=True) if set(pair) == {one, other}]
        assert some.p[c] == same[0]


def test_runs_that_differ_by_constants():
    base = np.random.default_rng(4).random(9)
    found = rs.compare(scores([base, base, base + 0.25]), test="tukey")
    assert found.p.ravel().tolist() == [1.0, 0.0, 0.0]
    assert found.statistic.ravel().tolist() == [0.0, np.inf, np.inf]
    assert None in [row["statistic"] for row in found.to_dict()["comparisons"]]
