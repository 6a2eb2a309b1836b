"""Rankers on queries that they were not fitted to."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift import Examples, GlobalCutoff, InputError, RankSiftWarning
from ranksift.collection.examples import Fold
from ranksift.cutoffs.baselines import FilterAll
from ranksift.learning import L2LogisticRegression, LambdaMARTf, RankSVM, tune
from ranksift.learning.validation import cross_validated, of_filtered_lists, three_parts, three_way
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
    with pytest.raises(InputError, match="there are no other queries to fit a cutoff to"):
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
    with pytest.raises(InputError, match="3 folds of 2 groups of queries; give at most as many folds as groups"):
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


# -- three parts -----------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.integers(15, 80), st.integers(0, 5), st.integers(1, 4))
def test_three_parts_are_all_of_it_and_keep_groups_together(queries, seed, size):
    examples = Examples.from_texts([f"q{i}?" for i in range(queries)], ["x"] * queries, range(queries))
    belongs = {query: i // size for i, query in enumerate(examples.query_ids)}
    if queries / size < 15:  # a group may be larger than a part
        return
    parts = three_parts(examples, seed=seed, groups=belongs)
    assert sorted(query for part in parts for query in part.query_ids) == sorted(examples.query_ids)
    assert all(part.texts.queries == tuple(f"{query}?" for query in _ids(part)) for part in parts)
    groups = [{belongs[query] for query in part.query_ids} for part in parts]
    assert sum(map(len, groups)) == len(set(belongs.values()))
    for part, share in zip(parts, (0.64, 0.16, 0.2), strict=True):
        assert abs(len(part) - share * queries) <= size


def _ids(part):
    return [f"q{int(query[1:]) - 1}" for query in part.query_ids]


def test_models_that_show_nothing_are_told_of_once():
    labels = np.tile([2, 2, -1, -1, -1], 60)  # of features that say nothing
    examples = Examples.from_arrays(np.zeros((300, 1)), labels, np.repeat(np.arange(60), 5))
    ranker = LambdaMARTf(gains={-1: -10}, trees=2)
    nothing = r"On \d+ held-out queries .* shows no(thing|.* document at all); .*"
    with pytest.warns(RankSiftWarning) as told:
        cross_validated([ranker], three_way(examples, 4), "nDCG_f@3")
    assert [bool(re.fullmatch(nothing + r" \(3 more models have such a cut\)", str(one.message))) for one in told] == [
        True
    ]
    with pytest.warns(RankSiftWarning) as told:
        found = tune(ranker, examples, space={"leaves": [3, 4]}, folds=2)
    assert [str(one.message).rpartition(" (")[2] for one in told] == ["5 more models have such a cut)"]
    with pytest.warns(RankSiftWarning) as told:
        found.fit()
    assert [bool(re.fullmatch(nothing, str(one.message))) for one in told] == [True]


def test_a_rule_that_drops_everything_is_told():
    draw = np.random.default_rng(0)
    examples = Examples.from_arrays(
        draw.normal(size=(200, 2)), np.tile([1, -1, -1, -1], 50), np.repeat(np.arange(50), 4)
    )
    model = RankSVM(gains={-1: -100}).fit(examples)
    with pytest.warns(
        RankSiftWarning, match="examples: the rule global drops every document, .* shows nothing; give more"
    ):
        model.fit_cutoff(examples)
    model.fit_cutoff(examples, FilterAll())  # who asks for that knows


def test_three_parts_follow_the_seed_and_the_shares():
    examples = Examples.from_arrays(np.zeros((200, 1)), np.arange(200) % 2, np.repeat(np.arange(100), 2))
    one, two, other = (three_parts(examples, seed=seed) for seed in (1, 1, 2))
    assert [len(part.query_ids) for part in one] == [64, 16, 20]
    assert one.test.query_ids == two.test.query_ids != other.test.query_ids
    assert [len(part.query_ids) for part in three_parts(examples, (0.5, 0.25, 0.25))] == [50, 25, 25]


def test_groups_in_a_column(tmp_path):
    rows = [f"q{q},{q // 4},{q % 3},{q}\n" for q in range(40) for _ in range(2)]
    (tmp_path / "a.csv").write_text("qid,forum,label,bm25\n" + "".join(rows))
    parts = three_parts(tmp_path / "a.csv", groups="forum")
    assert parts.train.feature_names == ("bm25",)
    forums = [{int(query[1:]) // 4 for query in part.query_ids} for part in parts]
    assert sorted(forum for part in forums for forum in part) == list(range(10))


def test_groups_of_queries_without_ids():
    table = pl.DataFrame(
        {"question": [f"{i}?" for i in range(20)], "answer": ["x"] * 20, "by": [f"u{i // 2}" for i in range(20)]}
    )
    with pytest.warns(RankSiftWarning, match="column 'by' is left out"):
        parts = three_parts(table, groups="by")
    users = [{int(text[:-1]) // 2 for text in part.texts.queries} for part in parts]
    assert sum(map(len, users)) == 10


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ({}, {"shares": (0.5, 0.5)}, "shares of 0.5 / 0.5; give three that sum to 1"),
        ({}, {"shares": (0.6, 0.4, 0.0)}, "shares of 0.6 / 0.4 / 0; give three"),
        ({}, {"shares": (64, 16, 20)}, "shares of 64 / 16 / 20; give three that sum to 1"),
        ({"qid": [1, 2], "f": [1, 2]}, {}, "a part of 2 queries would be empty; give more of them"),
        ({}, {"groups": {"0": 1}}, "query '1' has no group"),
        ({}, {"groups": dict.fromkeys(map(str, range(20)), 1)}, "a part of 20 queries in 1 groups would be empty"),
        ({}, {"groups": "forum"}, "no column 'forum'; it has 'qid', 'f'"),
        (
            {"qid": [1, 1], "f": [1, 2], "forum": [1, 2]},
            {"groups": "forum"},
            "row 2: column 'forum': query '1' had '1'",
        ),
        ({}, {"seed": -1}, "seed=-1"),
    ],
)
def test_parts_that_cannot_be(source, options, message):
    table = pl.DataFrame(source or {"qid": list(range(20)), "f": [1.0] * 20})
    with pytest.raises(InputError, match=message):
        three_parts(table, **options)


def test_a_column_of_what_is_no_table(tmp_path):
    examples = Examples.from_arrays([[1.0]] * 20, None, range(20))
    with pytest.raises(InputError, match="the column 'forum' is not kept in the examples; give their file"):
        three_parts(examples, groups="forum")
    examples.save(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"LETOR's format has no column 'forum'; give a \.csv"):
        three_parts(tmp_path / "a.txt", groups="forum")
