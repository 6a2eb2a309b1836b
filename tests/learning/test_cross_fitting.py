"""Cross-fitting: no document calibrates a model that has seen it, and none is lost to learning."""

from __future__ import annotations

import numpy as np
import pytest

from ranksift import load
from ranksift.collection.examples import Examples, folds_of
from ranksift.errors import InputError
from ranksift.learning import ExpectedGainRanker, LambdaMARTf
from ranksift.learning.cross_fitting import MANY_DOCUMENTS

GAINS = {-1: -2}


def lists(queries: int = 60, length: int = 6, seed: int = 0) -> Examples:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * length, 3))
    label = np.where(x[:, 0] + 0.5 * draw.normal(size=len(x)) > 0.5, 1, -1)
    return Examples.from_arrays(x, label, np.repeat(np.arange(queries), length))


def made(kind, **options):
    trees = options.pop("trees", 20)
    of_trees = {"options": {"trees": trees}} if kind is ExpectedGainRanker else {"trees": trees}
    return kind(**{"gains": GAINS, **of_trees, **options})


both = pytest.mark.parametrize("kind", [LambdaMARTf, ExpectedGainRanker])


@both
def test_a_member_never_sees_what_it_is_calibrated_on(kind, monkeypatch):
    given, seen = lists(), []
    learn = kind._learn

    def noted(self, examples, validation):
        seen.append((set(examples.query_ids), set(validation.query_ids)))
        return learn(self, examples, validation)

    monkeypatch.setattr(kind, "_learn", noted)
    made(kind).fit(given)
    assert len(seen) == 5
    assert all(not learned & held_out and len(learned | held_out) == 60 for learned, held_out in seen)
    assert set.union(*(held_out for _, held_out in seen)) == set(given.query_ids)


@both
def test_documents_that_check_the_cut_are_scored_by_the_member_that_has_not_seen_them(kind, monkeypatch):
    given, checked = lists(), []
    monkeypatch.setattr(kind, "_check_own_cut", lambda self, held_out: checked.append(held_out))
    model = made(kind).fit(given)
    fold = folds_of(60, 5, 0)[given.query]
    # A member of its own, fitted by hand to all folds but one, is what says the raw outputs of that fold.
    for f in (0, 3):
        rest, own = (given.of_queries(np.flatnonzero((folds_of(60, 5, 0) == f) == side)) for side in (False, True))
        member = made(kind).fit(rest, own)
        # Calibrations differ, and both are monotone in lists of one length: so the order of documents is the same.
        alone, in_turn = member.score(own), checked[0].scores[fold == f]
        kept = np.abs(alone) > 1e-12
        assert np.corrcoef(alone[kept], in_turn[kept])[0, 1] > 0.95
    assert not np.allclose(checked[0].scores, model.score(given))


@both
def test_noise_that_is_learned_by_heart_does_not_look_good(kind):
    """Trees that know training labels by heart would pass a check on them; queries held out in turn tell."""
    draw = np.random.default_rng(1)
    given = Examples.from_arrays(draw.normal(size=(300, 5)), draw.choice([-1, 1], 300), np.repeat(np.arange(50), 6))
    with pytest.warns(match="shows nothing|shows no document"):
        model = made(kind, trees=200, gains={-1: -10}, measure="nDCG_f@3").fit(given)
    assert model.rank(given).to_dict()["0"] == {}
    assert model.card_["cut"]["queries"] == 50


@both
@pytest.mark.parametrize(("folds", "members"), [(None, 5), (3, 3), (1, 1)])
def test_as_many_members_as_are_asked_for_are_saved_and_loaded(kind, folds, members, tmp_path):
    given = lists()
    model = made(kind, folds=folds).fit(given)
    found = len(model._texts) if kind is LambdaMARTf else len(model.models_)
    assert found == members
    assert model.card_["data"].get("folds", 1) == members
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.score(given), model.score(given))
    assert again.rank(given).to_dict() == model.rank(given).to_dict()


@both
def test_a_validation_set_takes_the_place_of_folds(kind):
    model = made(kind).fit(lists(), lists(seed=1))
    assert (len(model._texts) if kind is LambdaMARTf else len(model.models_)) == 1
    assert "folds" not in model.card_["data"]


@both
@pytest.mark.filterwarnings("ignore:On .* held-out queries")  # so few of them say that nothing should be shown
def test_fewer_queries_than_folds(kind):
    assert len(made(kind, folds=50).fit(lists(8)).score(lists(8))) == 48
    assert len(made(kind).fit(lists(4)).score(lists(4))) == 24


def test_many_documents_are_learned_from_once():
    model = LambdaMARTf(gains=GAINS)
    assert model._turns(lists(50, 100)) == 5
    many = lists(2, MANY_DOCUMENTS // 2 + 1)
    assert model._turns(Examples.from_arrays(many.features, many.labels, np.arange(len(many)) % 10)) == 1


@both
@pytest.mark.filterwarnings("ignore:On .* held-out queries")
def test_a_fold_may_lack_a_gain_or_a_feature_that_varies(kind):
    given = lists(20, 3)
    features = np.zeros((60, 1))
    features[-1] = 1.0
    label = np.where(np.arange(60) == 59, 2.0, given.labels)
    model = made(kind).fit(Examples.from_arrays(features, label, given.query))
    assert np.isfinite(model.score(Examples.from_arrays(features, None, given.query))).all()


@pytest.mark.parametrize("folds", [0, 2.5, "five"])
def test_folds_that_are_none_are_refused(folds):
    with pytest.raises(InputError, match="folds"):
        LambdaMARTf(folds=folds).fit(lists())
