"""What every rule does."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from ranksift.collection.examples import Examples
from ranksift.collection.lists import Lists
from ranksift.cutoffs.rules import known_rules
from ranksift.learning import RankSVM


def drawn(queries: int) -> Lists:
    draw = np.random.default_rng(0)
    labels = draw.choice([-4.0, 0, 1, 2], 5 * queries)
    scores = np.maximum(labels, -1) + draw.normal(size=len(labels))
    return Lists.from_arrays(scores, labels, np.repeat(np.arange(queries), 5))


@pytest.mark.parametrize("name", known_rules())
def test_a_fitted_rule_keeps_no_training_data(name):
    lists = drawn(200)
    arrays = [weakref.ref(part) for part in (lists.score, lists.label, lists.query)]
    rule, gone = known_rules()[name]().fit_lists(lists), weakref.ref(lists)
    kept = rule.keep_lists(lists)
    del lists
    gc.collect()
    assert gone() is None
    assert [part() for part in arrays] == [None] * 3
    assert np.array_equal(rule.keep_lists(drawn(200)), kept)
    for curve in ("thresholds_", "values_", "curve_"):  # the measure, or the risk, at every cut: part of the result
        vars(rule).pop(curve, None)
    assert len(pickle.dumps(rule)) < 5_000


def test_nor_does_a_ranker_with_a_cutoff():
    x = np.random.default_rng(0).normal(size=(400, 2))
    examples = Examples.from_arrays(x, x[:, 0].round(), np.repeat(np.arange(80), 5))
    model = RankSVM().fit(examples).fit_cutoff(examples)
    gone = weakref.ref(examples)
    del examples
    gc.collect()
    assert gone() is None
    vars(model.cutoff_).pop("thresholds_")
    vars(model.cutoff_).pop("values_")
    assert len(pickle.dumps(model)) < 5_000
