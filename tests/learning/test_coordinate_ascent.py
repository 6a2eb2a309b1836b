"""Coordinate ascent: line searches by hand, planted weights, starts and validation."""

import numpy as np
import pytest

from ranksift import InputError
from ranksift.collection.examples import Examples
from ranksift.learning import CoordinateAscent
from ranksift.learning.coordinate_ascent import STEPS, _line_search, _useful
from ranksift.learning.objective import Objective


def planted(seed=0, queries=30, docs=10, weights=(1.0, -0.8, 0.5, 0.0), noise=0.0):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * docs, len(weights)))
    hidden = x @ np.array(weights) + noise * draw.normal(size=len(x))
    return Examples.from_arrays(x, np.digitize(hidden, [0, 1, 2]), np.repeat(np.arange(queries), docs))


class TestLineSearch:
    def test_takes_the_best_of_all_weights_tried(self):
        examples = planted()
        objective = Objective(examples, "nDCG@10")
        weights = np.array([0.25, 0.25, 0.25, 0.25])
        value = objective(examples.features @ weights)
        tried = {}
        for move in [*STEPS, *-STEPS, -0.25]:
            moved = weights + np.array([0, move, 0, 0])
            tried[move] = objective(examples.features @ moved)
        found, reached = _line_search(weights, value, 1, examples, objective)
        assert reached == max(tried.values()) > value
        assert np.abs(found).sum() == pytest.approx(1.0)
        assert objective(examples.features @ found) == reached
        assert found[1] < 0

    def test_stays_where_nothing_is_better(self):
        examples = Examples.from_arrays([[1.0, 0.0], [0.0, 1.0]], [1, 0], ["q", "q"])
        weights = np.array([1.0, 0.0])
        found, value = _line_search(weights, 1.0, 1, examples, Objective(examples, "P@1"))
        assert found is weights
        assert value == 1.0

    def test_the_last_weight_is_not_taken_away(self):
        examples = Examples.from_arrays([[0.0], [1.0]], [1, 0], ["q", "q"])
        found, _ = _line_search(np.array([1.0]), 0.0, 0, examples, Objective(examples, "P@1"))
        assert found.tolist() == [-1.0]


class TestCoordinateAscent:
    @pytest.mark.parametrize("measure", ["nDCG@10", "AP(rel=2)"])
    def test_finds_planted_weights(self, measure):
        model = CoordinateAscent(measure=measure, restarts=2).fit(planted(0))
        found = model.weights_ / model.weights_[0]
        np.testing.assert_allclose(found, [1, -0.8, 0.5, 0], atol=0.2)
        assert model.value(planted(1)) > 0.95

    def test_every_sweep_raises_the_measure(self):
        examples = planted(0, noise=1.0)
        reached = [CoordinateAscent(restarts=1, sweeps=n, tolerance=0.0).fit(examples).value_ for n in range(1, 5)]
        assert (np.diff(reached) >= 0).all()
        assert reached[-1] == pytest.approx(
            CoordinateAscent(restarts=1, sweeps=4).fit(examples).value(examples), abs=1e-3
        )

    def test_another_start_is_never_worse(self):
        examples = planted(0, queries=10, noise=2.0)
        values = [CoordinateAscent(restarts=n).fit(examples).value_ for n in (1, 2, 4)]
        assert values[0] <= values[1] <= values[2]

    def test_the_best_sweep_on_validation_is_kept(self):
        training, validation = planted(0, queries=6, noise=3.0), planted(1, noise=3.0)
        model = CoordinateAscent().fit(training, validation)
        alone = CoordinateAscent().fit(training)
        assert model.value_ == pytest.approx(model.value(validation), abs=1e-12)
        assert model.value_ > alone.value(validation)

    def test_the_seed_draws_the_starts(self):
        examples = planted(0, queries=6, noise=3.0)
        one, two = (CoordinateAscent(seed=seed).fit(examples).weights_ for seed in (0, 1))
        assert not np.array_equal(one, two)

    def test_lowers_a_cost(self):
        examples = planted(0)
        forbidden = Examples.from_arrays(examples.features, examples.labels - 1, examples.query)
        model = CoordinateAscent(measure="Fdocs@3", restarts=2).fit(forbidden)
        assert model.value(forbidden) < 0.05
        assert model.value_ <= 0

    def test_no_start_at_all_is_refused(self):
        with pytest.raises(InputError, match="restarts=0 is not a positive integer"):
            CoordinateAscent(restarts=0).fit(planted(0, queries=2))

    def test_features_that_tell_no_documents_apart_are_left_alone(self):
        x = np.column_stack([[1.0, 0.0, 2.0, 1.0], [5.0, 5.0, 7.0, 7.0]])
        examples = Examples.from_arrays(x, [1, 0, 1, 0], ["p", "p", "q", "q"])
        assert _useful(examples).tolist() == [0]
        assert CoordinateAscent().fit(examples).weights_.tolist() == [1.0, 0.0]


def test_the_value_is_that_of_the_weights_where_many_documents_are_equal():
    for seed in range(30):
        draw = np.random.default_rng(seed)
        labels = np.concatenate([draw.permutation([3, 2, 1, 0]) for _ in range(4)])
        examples = Examples.from_arrays(draw.normal(size=(16, 2)).round(1), labels, np.repeat(np.arange(4), 4))
        model = CoordinateAscent(restarts=8, tolerance=1e-9).fit(examples)
        assert Objective(examples, "nDCG@10")(model.score(examples)) == pytest.approx(model.value_, abs=1e-12)
