"""What every ranker must do, whoever wrote it."""

import json
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ranksift import GlobalCutoff, InputError, RankSiftWarning, RiskCutoff, evaluate, load
from ranksift.collection.examples import Examples
from ranksift.learning.judged_documents import value_of
from ranksift.learning.methods import FocusedBoost, L2LogisticRegression, RankSVM, known_rankers
from ranksift.learning.ranker import RANKERS
from ranksift.learning.validation import cross_validated, three_way

pytestmark = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

#: Those that learn from features; texts have tests of their own.
NAMES = sorted(name for name, kind in known_rankers().items() if not kind.takes_texts)

#: Parameters that make a method quick on a handful of documents.
QUICK = {"epochs": 60, "iterations": 30, "trees": 30, "restarts": 2, "rounds": 30}

#: Methods that are no function of one weighted sum of features.
NON_LINEAR = {
    "LambdaMART",
    "LambdaMARTf",
    "RandomForests",
    "BoostedTrees",
    "MLPRanker",
    "RankNet",
    "ExpectedGainRanker",
}


def made(name: str, **parameters):
    kind = RANKERS[name]
    known = kind().get_params()
    quick = {key: value for key, value in QUICK.items() if key in known}
    return kind(**{**quick, **parameters})


def planted(queries=40, docs=10, features=4, seed=0, linear=True, labels=(0, 1, 2)):
    """Documents whose labels follow a hidden function of their features."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(queries * docs, features))
    hidden = 2 * x[:, 0] - x[:, 1] if linear else np.abs(x[:, 0]) + 0.5 * np.abs(x[:, 1])
    cuts = np.quantile(hidden, np.linspace(0, 1, len(labels) + 1)[1:-1])
    return Examples.from_arrays(
        x, np.array(labels, float)[np.searchsorted(cuts, hidden)], np.repeat(np.arange(queries), docs)
    )


@pytest.fixture(scope="module")
def examples():
    return planted()


@pytest.fixture(scope="module")
def fitted(examples):
    """A ranker fitted to the examples, once for all tests that only ask it."""
    return cache(lambda name: made(name).fit(examples))


@pytest.mark.parametrize("name", NAMES)
class TestEveryRanker:
    def test_a_planted_ranking_is_found(self, name, fitted):
        other = planted(seed=1)
        model = fitted(name)
        random = np.mean(
            [value_of(np.random.default_rng(s).normal(size=len(other)), other, "nDCG@5") for s in range(20)]
        )
        assert model.value(other, "nDCG@5") > random + 0.6 * (1 - random)

    def test_a_clone_is_not_fitted_and_same_seed_same_scores(self, name, examples):
        model = made(name, seed=3)
        one, two = model.clone().fit(examples), model.clone().fit(examples)
        assert model.clone().get_params() == model.get_params()
        with pytest.raises(InputError, match="is not fitted"):
            model.score(examples)
        assert np.array_equal(one.score(examples), two.score(examples))

    def test_saved_and_loaded_it_scores_the_same(self, name, examples, fitted, tmp_path):
        model = fitted(name)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert type(again) is type(model)
        assert np.array_equal(again.score(examples), model.score(examples))
        assert not list(tmp_path.glob("model/*.pkl"))
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        assert card["data"]["queries"] == 40

    def test_documents_in_any_order_have_the_same_scores(self, name, examples, fitted):
        model = fitted(name)
        shuffle = np.random.default_rng(0).permutation(len(examples))
        groups = np.array(examples.query_ids)[examples.query][shuffle]
        mixed = Examples.from_arrays(examples.features[shuffle], examples.labels[shuffle], groups)
        np.testing.assert_allclose(model.score(mixed), model.score(examples)[shuffle], rtol=0, atol=1e-9)

    def test_single_documents_one_label_and_one_query(self, name):
        draw = np.random.default_rng(0)
        x = draw.normal(size=(30, 3))
        groups = [*range(10), *np.repeat([100, 101], 10)]
        labels = [*draw.integers(0, 2, 10), *[1] * 10, *draw.integers(0, 3, 10)]
        model = made(name).fit(Examples.from_arrays(x, labels, groups))
        assert np.isfinite(model.score(Examples.from_arrays(x, labels, groups))).all()
        one = Examples.from_arrays(x, draw.integers(0, 3, 30), ["q"] * 30)
        assert np.isfinite(made(name).fit(one).score(one)).all()

    def test_nothing_to_learn_is_no_fault(self, name):
        x = np.random.default_rng(0).normal(size=(20, 2))
        same = Examples.from_arrays(x, [1] * 20, np.repeat([0, 1], 10))
        assert np.isfinite(made(name).fit(same).score(same)).all()

    def test_negative_labels(self, name):
        bad = planted(labels=(-2, 0, 1))
        model = made(name, gains={-2: -10}).fit(bad)
        other = planted(seed=1, labels=(-2, 0, 1))
        scores = model.score(other)
        assert np.isfinite(scores).all()
        forbidden, good = scores[other.labels < 0], scores[other.labels > 0]
        assert np.median(forbidden) < np.median(good)

    def test_a_constant_feature_and_missing_values(self, name, examples):
        x = np.column_stack([examples.features, np.full(len(examples), 7.0)])
        x[np.random.default_rng(0).random(x.shape) < 0.05] = np.nan
        x[:, -1] = 7.0
        holes = Examples.from_arrays(x, examples.labels, examples.query)
        model = made(name).fit(holes)
        scores = model.score(holes)
        assert np.isfinite(scores).all()
        assert value_of(scores, holes, "nDCG@5") > 0.75

    def test_a_validation_set_may_stop_it(self, name, examples):
        model = made(name, measure="nDCG@5").fit(examples, planted(seed=2))
        assert model.value(planted(seed=1), "nDCG@5") > 0.75

    def test_ranks_without_what_its_cutoff_drops(self, name):
        bad = planted(labels=(-2, 0, 1))
        model = made(name, gains={-2: -10}).fit(bad)
        model.fit_cutoff(planted(seed=2, labels=(-2, 0, 1)))
        run = model.rank(bad)
        assert 0 < len(run) < len(bad)
        kept = model.cutoff_.keep(model.score(bad), bad.query)
        assert len(run) == int(kept.sum())

    def test_other_features_are_refused(self, name, examples, fitted):
        model = fitted(name)
        fewer = Examples.from_arrays(examples.features[:, :2], examples.labels, examples.query)
        with pytest.raises(InputError, match="has 2 features, and the model was fitted to 4; '3' is missing"):
            model.score(fewer)


@pytest.mark.parametrize("name", sorted(NON_LINEAR & set(NAMES)))
def test_a_planted_curve_is_found(name):
    curved, other = planted(80, linear=False), planted(80, seed=1, linear=False)
    model = made(name, **({"epochs": 300} if "epochs" in RANKERS[name]().get_params() else {})).fit(curved)
    random = np.mean([value_of(np.random.default_rng(s).normal(size=len(other)), other, "nDCG@5") for s in range(20)])
    assert model.value(other, "nDCG@5") > random + 0.5 * (1 - random)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_features_may_be_huge_or_tiny(name, examples):
    sized = examples.with_features(examples.features * 2.0 ** np.array([1000, -1000, 0, -1000]))
    assert np.isfinite(made(name).fit(sized).score(sized)).all()
    scaling = "query" if name == "FocusedBoost" else "standard"  # its features go from 0 to 1
    scaled, usual = made(name, scaling=scaling).fit(sized), made(name, scaling=scaling).fit(examples)
    assert np.array_equal(scaled.score(sized), usual.score(examples))


@pytest.mark.parametrize("name", NAMES)
def test_texts_alone_are_refused(name):
    texts = Examples.from_texts(["a?"] * 4 + ["b?"] * 4, list("abcdefgh"), [2, 1, 0, -1] * 2)
    with pytest.raises(
        InputError, match=f"there are texts but no features, and {name} learns from features; give columns"
    ):
        made(name).fit(texts)


@pytest.mark.parametrize("name", NAMES)
def test_no_feature_at_all(name, examples):
    nothing = Examples.from_arrays(np.zeros((len(examples), 0)), examples.labels, examples.query)
    assert np.ptp(made(name).fit(nothing).score(nothing)) < 1e-12


@pytest.mark.parametrize("scaling", ["standard", "query"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_huge_number_in_the_place_of_a_missing_one_is_told(scaling, examples):
    features = 0.001 * examples.features
    model = made("RankSVM", scaling=scaling).fit(examples.with_features(features.copy()))
    features[3, 1], features[4, 1] = -1.7e308, 1.7e308
    with pytest.raises(InputError, match="the values of feature '2' lie too far apart to be scaled; leave a missing"):
        model.score(examples.with_features(features))


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_that_of_the_run_where_some_documents_have_no_label(name):
    whole = planted(30, 6, 3, labels=(-1, 0, 1))
    unknown = np.random.default_rng(1).random(len(whole)) < 0.4
    unknown[:12] = True  # nothing is known of two queries
    given = replace(whole, labels=np.where(unknown, np.nan, whole.labels))
    scaling = {} if name in NON_LINEAR else {"scaling": "query"}
    model = made(name, gains={-1: -10}, **scaling).fit(given)
    if model.cutoff_ is None:
        model.fit_cutoff(given)
    assert model.card_["data"]["queries"] == 28
    with pytest.warns(RankSiftWarning, match="2 queries without judgments left out"):
        found = evaluate(given.qrels(), model.rank(given), "nDCG_f@10", gains={-1: -10}, unjudged="drop")
    assert model.value(given, "nDCG_f@10", cut=True) == pytest.approx(found.mean()["nDCG_f@10"][0], abs=1e-12)


@pytest.mark.parametrize("name", ["LambdaMARTf", "ExpectedGainRanker", "RankSVM"])
def test_training_sees_lists_whole_as_ranking_does(name, monkeypatch):
    whole = planted(30, 6, 3)
    given = replace(whole, labels=np.where(np.arange(len(whole)) % 2, np.nan, whole.labels))
    model = made(name, scaling="query").fit(given)
    kind, seen = type(getattr(model, "models_", [model])[0]), []
    prepared = kind._prepared
    monkeypatch.setattr(
        kind, "_prepared", lambda self, examples: seen.append(len(examples)) or prepared(self, examples)
    )
    made(name, scaling="query").fit(given, given)
    assert set(seen) == {len(whole)}


def test_equal_scores_are_not_valued_in_the_order_of_a_file():
    best_first = Examples.from_arrays(np.zeros((3, 1)), [2, 1, 0], ["q"] * 3)
    assert made("RankSVM").fit(best_first).value(best_first, "P@1") == 0.0  # d3 is first in a run


def test_a_rule_that_is_given_is_not_changed_by_another_model(examples):
    rule = GlobalCutoff()
    one = L2LogisticRegression().fit(examples).fit_cutoff(examples, rule)
    before = one.cutoff_.threshold_
    L2LogisticRegression(C=1e-6).fit(examples).fit_cutoff(examples, rule)
    assert one.cutoff_.threshold_ == before
    assert not hasattr(rule, "threshold_")


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was(examples):
    one_label = replace(examples, labels=np.ones(len(examples)))
    model, before = RankSVM().fit(examples), RankSVM().fit(examples).score(examples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RankSiftWarning, match="cannot decide when to stop"):
            model.fit(examples, one_label)
        with pytest.raises(RankSiftWarning):
            (never := RankSVM()).fit(examples, one_label)
    assert np.array_equal(model.score(examples), before)
    assert "validation" not in model.card_
    with pytest.raises(InputError, match="is not fitted"):
        never.score(examples)


def test_what_could_not_be_fitted_is_not_fitted(examples):
    model = FocusedBoost(rounds=3).fit(examples)
    with pytest.raises(InputError, match=r"goes from .* not from 0 to 1"):
        model.set_params(scaling="standard").fit(examples)
    with pytest.raises(InputError, match="is not fitted"):
        model.score(examples)
    with pytest.raises(InputError, match="measure"):
        RankSVM(measure=5).fit(examples)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_that_are_changed_after_fitting_are_not_saved(name, examples, tmp_path):
    model = made(name).fit(examples)
    with pytest.raises(InputError, match="seed was changed to 7 after the model was fitted; fit it again"):
        model.set_params(seed=7).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    model.set_params(seed=0).save(tmp_path / "model")
    again = load(tmp_path / "model")
    again.save(tmp_path / "model")
    with pytest.raises(InputError, match="measure was changed"):
        again.set_params(measure="AP").save(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "parameters", "what"),
    [
        ("L2LogisticRegression", {"C": float("inf")}, "C=inf is not finite"),
        ("CoordinateAscent", {"tolerance": float("nan")}, "tolerance=nan is not finite"),
        ("LambdaMART", {"l2": np.float64("inf")}, "l2=inf is not finite"),
        ("ExpectedGainRanker", {"options": {"l2": float("inf")}}, "l2=inf is not finite"),
        ("LinearRanker", {"l2": 10**400}, "l2=10000000000000000000… is too large"),
        ("TopKListMLE", {"k": 10**20}, "is too large"),
        ("RankNet", {"pairs": np.array(["sum", "mean"])}, "is unknown; use 'mean' or 'sum'"),
        ("RankSVM", {"scaling": np.array(["none"])}, "is unknown"),
        ("RankSVM", {"C": np.array(3)}, "or a list of such numbers"),
        ("RankSVM", {"seed": -1}, "seed=-1 is not an integer of at least 0"),
    ],
)
def test_what_no_card_could_say_is_refused(name, parameters, what, examples):
    with pytest.raises(InputError, match=what):
        made(name, **parameters).fit(examples)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("LambdaMART", {"patience": np.int64(5), "depth": np.uint8(2), "trees": np.int32(3)}),
        ("LambdaMARTf", {"leaves": np.uint8(2), "trees": np.int64(3)}),
        ("RankNet", {"pairs": np.str_("sum"), "hidden": np.array([4])}),
        ("FocusedNet", {"orders": np.str_("first"), "k": np.int64(2), "beta": np.float32(0.5)}),
        ("MLPRanker", {"hidden": [np.int64(4), 3]}),
        ("RankSVM", {"C": np.array([0.1, 1.0]), "scaling": np.str_("query")}),
    ],
)
def test_numpy_s_numbers_and_words_are_numbers_and_words(name, parameters, examples, tmp_path):
    training, validation = examples.split(0.7)
    model = made(name, **parameters).fit(training, validation)
    model.save(tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").score(examples), model.score(examples))


def test_the_name_of_a_file_may_have_any_bytes(examples, tmp_path):
    model = RankSVM().fit(replace(examples, name="tr\udcff.csv"))
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").card_["data"]["name"] == "tr\udcff.csv"


def test_what_is_no_rule_and_no_ranker_is_refused(examples):
    with pytest.raises(InputError, match="cutoff 'global' is not a rule"):
        RankSVM().fit(examples).fit_cutoff(examples, "global")
    with pytest.raises(InputError, match="alpha=2 is not a number between 0 and 1"):
        RankSVM().fit(examples).fit_cutoff(examples, RiskCutoff(alpha=2))
    with pytest.raises(InputError, match="is not a ranker; give one, as RankSVM\\(\\)"):
        cross_validated([RankSVM], three_way(examples), "AP")
    with pytest.raises(InputError, match="cutoff 'global' is not a rule"):
        cross_validated([RankSVM()], three_way(examples), "AP", cutoff="global")
