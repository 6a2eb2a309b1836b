"""A measure under many scores, against the same measure asked once, and sorting against numpy's."""

import numpy as np
import pytest

from ranksift import InputError
from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.learning.judged_documents import value_of
from ranksift.learning.objective import Objective, Rounds, stopping_value, with_several_gains
from ranksift.learning.sorted_lists import ListOrder


def some_examples(seed=0, queries=12):
    draw = np.random.default_rng(seed)
    groups = np.repeat(np.arange(queries), draw.integers(1, 20, queries))
    return Examples.from_arrays(draw.normal(size=(len(groups), 3)), draw.integers(-1, 3, len(groups)), groups)


class TestObjective:
    @pytest.mark.parametrize("measure", ["nDCG@10", "AP", "nDCG_f@3", "ERR@5", "RBP_qwa(p=0.8)"])
    def test_is_the_measure_of_each_ranking(self, measure):
        examples = some_examples()
        scores = np.random.default_rng(1).normal(size=(7, len(examples)))
        found = Objective(examples, measure, {-1: -10}).of_each(scores)
        assert found.tolist() == [value_of(row, examples, measure, {-1: -10}) for row in scores]

    def test_ranks_in_parts_where_there_are_many(self, monkeypatch):
        examples = some_examples()
        scores = np.random.default_rng(1).normal(size=(7, len(examples)))
        whole = Objective(examples, "nDCG@10").per_query(scores)
        monkeypatch.setattr("ranksift.learning.objective.TOGETHER", 3 * len(examples))
        assert np.array_equal(Objective(examples, "nDCG@10").per_query(scores), whole)
        assert whole.shape == (7, 12)

    def test_of_a_cost_it_is_the_negative(self):
        examples = some_examples()
        scores = np.random.default_rng(1).normal(size=len(examples))
        assert Objective(examples, "Fdocs@3")(scores) == -value_of(scores, examples, "Fdocs@3")

    def test_equal_scores_are_the_worst_order(self):
        examples = Examples.from_arrays([[0.0]] * 3, [2, 1, 0], ["q"] * 3)
        worst = value_of(np.array([1.0, 2.0, 3.0]), examples, "nDCG@3")
        assert Objective(examples, "nDCG@3")(np.zeros(3)) == worst
        assert value_of(np.zeros(3), examples, "nDCG@3") == 1.0

    def test_several_measures_are_refused(self):
        with pytest.raises(InputError, match="is 2 measures"):
            Objective(some_examples(), "AP nDCG@10")


def test_lists_are_sorted_as_by_list_and_value():
    draw = np.random.default_rng(0)
    lengths = np.array([0, 1, 5, 70, 3, 0, 33, 2])
    values = draw.integers(0, 6, (4, lengths.sum())).astype(float)
    found = ListOrder(ragged.offsets_of(lengths)).falling(values)
    lists = np.repeat(np.arange(len(lengths)), lengths)
    for row, order in zip(values, found, strict=True):
        assert order.tolist() == np.lexsort((-row, lists)).tolist()


def test_queries_of_one_gain_are_left_out():
    examples = Examples.from_arrays([[0.0]] * 6, [1, 1, 0, 1, -1, 0], ["a", "a", "b", "b", "c", "c"])
    assert with_several_gains(examples, "linear").query_ids == ("b", "c")
    assert with_several_gains(examples, {-1: 0}).query_ids == ("b",)
    assert len(with_several_gains(examples, {-1: 0, 1: 0})) == 0


class TestRounds:
    def test_up_to_the_best_are_kept(self):
        examples = Examples.from_arrays([[1.0], [0.0]], [1, 0], ["q", "q"])
        rounds = Rounds.of(examples, "P@1", "linear", patience=2)
        assert not rounds.are_over(lambda x: -x[:, 0])
        assert not rounds.are_over(lambda x: 2 * x[:, 0])
        assert not rounds.are_over(lambda x: x[:, 0])
        assert rounds.are_over(lambda x: x[:, 0])
        assert rounds.best == 2

    def test_all_are_kept_where_nothing_is_held_out(self):
        rounds = Rounds.of(None, "P@1", "linear", patience=1)
        assert not any(rounds.are_over(lambda x: x[:, 0]) for _ in range(5))
        assert rounds.best == 5


class TestStoppingValue:
    @pytest.mark.parametrize("measure", ["nDCG_f@3", "DCG@5"])
    def test_with_forbidden_documents_it_is_that_of_the_best_cut(self, measure):
        examples = some_examples(queries=60)
        scores = examples.labels + 2 * np.random.default_rng(1).normal(size=len(examples))
        cutoff = GlobalCutoff(measure).fit(scores, examples.labels, examples.query, gains={-1: -10})
        found = stopping_value(examples, measure, {-1: -10})(scores)
        assert found == pytest.approx(cutoff.value_, abs=1e-12)
        assert found > Objective(examples, measure, {-1: -10})(scores)

    def test_equal_scores_are_kept_or_dropped_together_in_their_worst_order(self):
        examples = Examples.from_arrays([[0.0]] * 3, [2, 1, -10], ["q"] * 3)
        value = stopping_value(examples, "nDCG_f@1", "linear")
        nothing, worst = 10 / 12, 11 / 12  # the list of 1 and 2 begins with 1
        assert value(np.array([1.0, 1.0, 0.0])) == pytest.approx(worst)
        assert value(np.array([1.0, 1.0, 1.0])) == pytest.approx(nothing)

    @pytest.mark.parametrize(("measure", "gains"), [("nDCG_f@3", {-1: 0}), ("AP", {-1: -10}), ("Fdocs@3", {-1: -10})])
    def test_else_it_is_the_measure_of_whole_lists(self, measure, gains):
        examples = some_examples()
        scores = np.random.default_rng(1).normal(size=len(examples))
        assert stopping_value(examples, measure, gains)(scores) == Objective(examples, measure, gains)(scores)
