"""What a list of scores looks like, against plain loops."""

from itertools import pairwise

import numpy as np
import pytest

from ranksift.collection.lists import Lists
from ranksift.cutoffs.score_shape import FEATURES, Shape


def plain(scores):
    s = sorted(scores, reverse=True)
    falls = [a - b for a, b in pairwise(s)]
    return {
        "count": np.log(len(s)),
        "top": s[0],
        "mean": np.mean(s),
        "deviation": np.std(s),
        "lead": falls[0] if falls else 0.0,
        "gap": max(falls, default=0.0),
        "slope": -np.polyfit(np.arange(1, len(s) + 1), s, 1)[0] if falls else 0.0,
    }


@pytest.mark.parametrize("two_scores", [False, True])
def test_features_are_those_of_plain_loops(two_scores):
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), draw.integers(1, 9, 30))
    scores = draw.normal(size=len(groups)).round(1)
    by = draw.normal(size=len(groups)) if two_scores else None
    shape = Shape.of(Lists.from_arrays(scores, None, groups, rank_scores=by))
    found = shape.features(tuple(FEATURES))
    expected = [list(plain(scores[groups == q]).values()) for q in range(30)]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert list(plain([1.0])) == list(FEATURES)


def test_a_list_of_equal_scores_is_flat_to_the_last_digit():
    shape = Shape.of(Lists.from_arrays([0.1] * 7 + [0.3], None, [0] * 7 + [1]))
    assert shape.flat.tolist() == [True, True]
    assert shape.mean.tolist() == [0.1, 0.3]
    assert shape.deviation.tolist() == [0.0, 0.0]
    assert shape.slope.tolist() == [0.0, 0.0]


def test_a_list_without_documents_is_all_zeros():
    shape = Shape.of(Lists.from_run(None, _run()))
    lists = Lists.from_run(_qrels(), _run())
    assert Shape.of(lists).features(tuple(FEATURES))[1].tolist() == [0.0] * len(FEATURES)
    assert shape.top.tolist() == [3.0]


def test_folds_do_not_depend_on_the_order_of_queries():
    draw = np.random.default_rng(1)
    groups, scores = np.repeat(np.arange(40), 3), draw.normal(size=120)
    fold = Shape.of(Lists.from_arrays(scores, None, groups)).folds(5, seed=3)
    turned = Shape.of(Lists.from_arrays(scores[::-1], None, groups[::-1])).folds(5, seed=3)
    assert np.array_equal(turned[::-1], fold)
    assert np.bincount(fold).tolist() == [8] * 5
    assert not np.array_equal(fold, Shape.of(Lists.from_arrays(scores, None, groups)).folds(5, seed=4))


def _run():
    from ranksift import read_run

    return read_run({"q": {"a": 3.0, "b": 1.0}})


def _qrels():
    from ranksift import read_qrels

    return read_qrels({"q": {"a": 1}, "r": {"c": 1}})
