"""Rankers on queries that they were not fitted to."""

from dataclasses import replace

import numpy as np
import pytest

import ranksift as rs
from ranksift import Examples, GlobalCutoff, InputError
from ranksift.collection.examples import Fold
from ranksift.learning import L2LogisticRegression, RankSVM, tune
from ranksift.learning.validation import cross_validated, of_filtered_lists, three_way
from ranksift.measures.names import parse_measure
from tests.learning.test_tuning import planted


@pytest.fixture(scope="module")
def examples():
    return planted()


def test_a_cutoff_without_a_validation_set_is_fitted_to_the_other_folds(examples):
    folds = [Fold(a, None, b) for a, b in examples.folds(3)]
    ranker = L2LogisticRegression(gains={-1: -10})
    rule = GlobalCutoff("nDCG_f@3")
    scores = cross_validated([ranker], folds, "nDCG_f@3", cutoff=rule)
    assert scores.mean_of("nDCG_f@3") == pytest.approx(
        tune(ranker, examples, space={"C": [1.0]}, measure="nDCG_f@3", cutoff=rule, folds=3).best_value
    )
    with pytest.raises(InputError, match="a cutoff has no other queries to be fitted to"):
        cross_validated([ranker], folds[:1], "nDCG_f@3", cutoff=rule)


@pytest.mark.parametrize("docs", [("a", "b", "c", "d"), ("d", "c", "b", "a")])
def test_equal_scores_are_in_the_order_of_the_run(docs):
    # The feature is 0 everywhere in the test set: so are the scores.
    train = Examples.from_arrays([[1.0], [0.0]], [1, 0], ["t", "t"])
    test = replace(Examples.from_arrays(np.zeros((4, 1)), [2, 1, 0, 0], ["q"] * 4), docs=docs)
    model = RankSVM().fit(train)
    expected = rs.evaluate(test.qrels(), model.rank(test), "nDCG@2").values[0, 0, 0]
    scores = cross_validated([RankSVM()], [Fold(train, None, test)], "nDCG@2")
    assert scores.values[0, 0, 0] == pytest.approx(expected)
    assert model.value(test, "nDCG@2") == pytest.approx(expected)
    assert (expected == 0.0) == (docs[0] == "a")  # by falling id


def test_queries_without_labels_are_left_out(examples):
    labels = examples.labels.copy()
    labels[examples.query == 4] = np.nan
    scores = cross_validated([RankSVM()], three_way(replace(examples, labels=labels), 3), "nDCG@3 AP")
    assert len(scores.queries) == len(examples.query_ids) - 1
    assert examples.query_ids[4] not in scores.queries


def test_a_query_in_two_test_sets(examples):
    fold = three_way(examples, 3)[0]
    with pytest.raises(InputError, match="is in two test sets"):
        cross_validated([RankSVM()], [fold, fold], "AP")
    with pytest.raises(InputError, match="no ranker is given"):
        cross_validated([], [fold], "AP")


def test_folds_are_of_whole_queries_each_tested_once(examples):
    folds = three_way(examples, 4, seed=1)
    assert sorted(query for fold in folds for query in fold.test.query_ids) == sorted(examples.query_ids)
    for fold in folds:
        parts = [set(part.query_ids) for part in fold]
        assert set.union(*parts) == set(examples.query_ids)
        assert sum(map(len, parts)) == len(examples.query_ids)
    with pytest.raises(InputError, match="2 folds leave nothing to learn from"):
        three_way(examples, 2)
    for wrong in (3.0, "3", True, None):
        with pytest.raises(InputError, match=r"folds=.* is not an integer; write folds=5, for example"):
            three_way(examples, wrong)
    assert len(three_way(examples, np.int64(3))) == 3


def test_queries_of_a_group_stay_in_one_fold(examples):
    groups = {query: i // 4 for i, query in enumerate(examples.query_ids)}
    folds = three_way(examples, 3, seed=1, groups=groups)
    assert sorted(query for fold in folds for query in fold.test.query_ids) == sorted(examples.query_ids)
    for fold in folds:
        parts = [{groups[query] for query in part.query_ids} for part in fold]
        assert all(parts)
        assert sum(map(len, parts)) == len(set(groups.values()))
    each = {query: query for query in examples.query_ids}
    alone = [[fold.test.query_ids for fold in three_way(examples, 3, 1, groups=given)] for given in (each, None)]
    assert alone[0] == alone[1]


def test_groups_that_do_not_fit(examples):
    first, *others = examples.query_ids
    with pytest.raises(InputError, match=f"query '{first}' has no group; give each query a group"):
        three_way(examples, 3, groups=dict.fromkeys(others, "one"))
    two = {query: query == first for query in examples.query_ids}
    with pytest.raises(InputError, match="3 folds of 2 groups of queries; give no more folds than groups"):
        three_way(examples, 3, groups=two)


def test_a_cutoff_is_fitted_to_the_validation_set_where_there_is_one(examples):
    ranker, rule, measure = L2LogisticRegression(gains={-1: -10}), GlobalCutoff("nDCG_f@3"), parse_measure("nDCG_f@3")
    folds = three_way(examples, 3)
    expected = []
    for fold in folds:
        model = ranker.clone().fit(fold.train, fold.validation).fit_cutoff(fold.validation, rule.clone())
        expected.append(model.value(fold.test, measure, cut=True))
    found = cross_validated([ranker], folds, measure, cutoff=rule)
    assert found.mean_of(measure) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("name", "filtered"), [("nDCG_f@3", True), ("Fdocs@3", True), ("DCG@3", True), ("nDCG@3", False), ("AP", False)]
)
def test_measures_of_filtered_lists(name, filtered):
    assert of_filtered_lists(parse_measure(name)) is filtered
