"""Probabilities against outcomes, by hand and by plain loops."""

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError, reliability_diagram
from ranksift.cutoffs.calibration import Platt


def plain_bins(p, bins, by):
    if by == "width":
        return [min(int(x * bins), bins - 1) for x in p]
    order = sorted(p)
    middle = {x: order.index(x) + order.count(x) / 2 for x in p}
    return [int(middle[x] * bins / len(p)) for x in p]


@pytest.mark.parametrize("by", ["mass", "width"])
@pytest.mark.parametrize("bins", [1, 4, 10])
def test_as_plain_loops(by, bins):
    draw = np.random.default_rng(0)
    p = draw.random(70).round(2).tolist()
    y = (draw.random(70) < 0.4).astype(int).tolist()
    where = plain_bins(p, bins, by)
    rows = [[(a, b) for a, b, w in zip(p, y, where, strict=True) if w == i] for i in range(bins)]
    rows = [row for row in rows if row]
    found = reliability_diagram(p, y, bins, by)
    assert found.count.tolist() == [len(row) for row in rows]
    means = [tuple(np.mean(row, axis=0)) for row in rows]
    assert found.predicted == pytest.approx([m[0] for m in means])
    assert found.observed == pytest.approx([m[1] for m in means])
    assert found.ece == pytest.approx(sum(len(r) * abs(m[0] - m[1]) for r, m in zip(rows, means, strict=True)) / 70)


def test_brier_by_hand():
    # Two bins: 0.2 with 1 of 4, 0.7 with 3 of 4; half of all happened.
    found = reliability_diagram([0.2] * 4 + [0.7] * 4, [1, 0, 0, 0, 1, 1, 1, 0], bins=2).brier
    assert found.score == pytest.approx((0.64 + 3 * 0.04 + 3 * 0.09 + 0.49) / 8)
    assert found.reliability == pytest.approx(0.0025)
    assert found.resolution == pytest.approx(0.0625)
    assert found.uncertainty == pytest.approx(0.25)
    assert found.within == pytest.approx(0, abs=1e-15)


def test_brier_adds_up_with_what_bins_hide():
    draw = np.random.default_rng(1)
    p, y = draw.random(200), draw.random(200) < 0.5
    found = reliability_diagram(p, y, bins=5)
    bins = np.array(plain_bins(p.tolist(), 5, "mass"))
    # Stephenson, Coelho, Jolliffe: the variance inside bins less twice the covariance there.
    inner = sum(((p[bins == b] - p[bins == b].mean()) ** 2).sum() for b in range(5)) / 200
    joint = sum(((p[bins == b] - p[bins == b].mean()) * (y[bins == b] - y[bins == b].mean())).sum() for b in range(5))
    assert found.brier.within == pytest.approx(inner - 2 * joint / 200)
    assert found.brier.score == pytest.approx(((p - y) ** 2).mean())


def test_bins_of_mass_hold_as_many_each_and_equals_together():
    assert reliability_diagram(np.linspace(0, 1, 100), np.ones(100)).count.tolist() == [10] * 10
    assert reliability_diagram([0.1] * 9 + [0.9], [0] * 9 + [1], bins=5).count.tolist() == [9, 1]


def test_calibrated_scores_are_near_the_diagonal():
    draw = np.random.default_rng(3)
    scores = draw.normal(0, 2, 5000)
    outcomes = draw.random(5000) < 1 / (1 + np.exp(-3 * scores))
    raw = reliability_diagram(1 / (1 + np.exp(-scores)), outcomes)
    calibrated = reliability_diagram(Platt().fit(scores, outcomes).probabilities(scores), outcomes)
    assert calibrated.ece < 0.02 < 0.08 < raw.ece
    assert calibrated.brier.score < raw.brier.score


def test_the_picture():
    found = reliability_diagram([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], bins=2)
    axes = found.plot().axes[0]
    points = next(line for line in axes.lines if line.get_marker() == "o")
    assert points.get_xdata().tolist() == found.predicted.tolist()
    assert points.get_ydata().tolist() == [0, 1]
    assert "ECE 0.150" in axes.get_title()
    segments = axes.collections[0].get_segments()
    assert segments[0][0][1] == pytest.approx(0, abs=1e-12)
    assert segments[0][1][1] == pytest.approx(0.65762, abs=1e-5)  # Wilson's interval of 0 of 2


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (([0.1, 0.2], [1]), "2 probabilities and 1 outcomes"),
        (([], []), "0 probabilities"),
        (([1.2], [1]), "not between 0 and 1; calibrate the scores first"),
        (([np.nan], [1]), "not between 0 and 1"),
        (([0.2], [2]), "neither true nor false"),
        (([0.2], [1], 0), "bins=0 is not a positive integer"),
        (([0.2], [1], 3, "count"), "by='count' is unknown"),
    ],
)
def test_bad_input(arguments, fault):
    with pytest.raises(InputError, match=fault):
        rs.reliability_diagram(*arguments)
