"""Tree models: losses against torch, LightGBM's own, early stopping, context, the natural cut, and the optimal rule."""

import json
import os
import tracemalloc
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.files import with_sum
from ranksift.learning.expected_gain import ExpectedGainRanker, _pools, expected_shares
from ranksift.learning.judged_documents import value_of
from ranksift.learning.lambdas import PairLoss, slope_of, worth_of_showing
from ranksift.learning.methods import meanings_of
from ranksift.learning.tree_text import trees_alone
from ranksift.learning.trees import (
    BoostedTrees,
    InContext,
    LambdaMART,
    LambdaMARTf,
    RandomForests,
    _binned,
    in_context,
    with_context,
)

lightgbm = pytest.importorskip("lightgbm")

DATA = Path(os.environ.get("RANKSIFT_DATA", "../shared/data"))
GAINS = {-1: -10}
AT_0 = FixedCutoff(0.0).fit([1.0, 0.0], [1, -1], ["q", "r"])


def answers(queries=60, seed=0, noise=0.5, lengths=(1, 9)):
    """Lists of several lengths; a document is good, so-so or forbidden by a curve of its features, not surely."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(*lengths, queries)
    x = draw.normal(size=(sizes.sum(), 3))
    hidden = np.abs(x[:, 0]) + x[:, 1] * (x[:, 2] > 0) + noise * draw.normal(size=len(x))
    return Examples.from_arrays(
        x, np.array([-1, 1, 2])[np.searchsorted([0.4, 1.2], hidden)], np.repeat(range(queries), sizes)
    )


@pytest.fixture(scope="module")
def training():
    return answers(200)


@pytest.fixture(scope="module")
def validation():
    return answers(80, seed=1)


@pytest.fixture(scope="module")
def test_set():
    return answers(400, seed=2)


def nDCG_f(model, examples, k=3):
    name = f"nDCG_f@{k}"
    return rs.evaluate(examples.qrels(), model.rank(examples), name, gains=GAINS).mean_of(name)


def scores_by_trees(model, examples):
    """Scores with the first tree alone, with the first two, …: a tree does not depend on how many come after it."""
    (booster,) = model._boosters
    features = model._prepared(examples).features
    return [booster.predict(features, raw_score=True, num_iteration=n) for n in range(1, model.trees_ + 1)]


class TestLambdaMART:
    def test_rankings_are_drawn_by_its_seed(self, training):
        drawn, other, alone = (
            LambdaMART(trees=5, gains=GAINS, feature_share=1.0, document_share=1.0, **options).fit(training)
            for options in ({}, {"seed": 1}, {"draws": 0})
        )
        assert not np.array_equal(drawn.score(training), other.score(training))
        assert not np.array_equal(drawn.score(training), alone.score(training))
        again = LambdaMART(trees=5, gains=GAINS, feature_share=1.0, document_share=1.0, draws=0, seed=1).fit(training)
        assert np.array_equal(again.score(training), alone.score(training))

    def test_a_wrong_depth(self, training):
        with pytest.raises(InputError, match="depth=0 is not a positive integer"):
            LambdaMART(depth=0).fit(training)

    def test_a_wrong_number_of_rankings(self, training):
        with pytest.raises(InputError, match="draws=-1 is not an integer of at least 0"):
            LambdaMART(draws=-1).fit(training)

    def test_with_negative_gains_it_still_learns(self, training, test_set):
        scores = LambdaMART(gains=GAINS).fit(training).score(test_set)
        assert scores.std() > 0.1
        chance = np.mean(
            [value_of(np.random.default_rng(s).random(len(test_set)), test_set, "nDCG_f@3", GAINS) for s in range(5)]
        )
        assert value_of(scores, test_set, "nDCG_f@3", GAINS) > chance + 0.05

    @pytest.mark.skipif(not (DATA / "letor4_mq2008").is_dir(), reason="MQ2008 is not there")
    def test_on_mq2008_it_ranks_as_well_as_lightgbm_does(self):
        from ranksift.datasets.letor import mq2008

        fold = mq2008(DATA / "letor4_mq2008", 1)
        model = LambdaMART(trees=50, feature_share=1.0, document_share=1.0, l2=0.0).fit(fold.train)
        own = lightgbm.LGBMRanker(
            n_estimators=50,
            num_leaves=15,
            learning_rate=0.05,
            label_gain=[0, 1, 2],
            min_child_samples=20,
            n_jobs=1,
            verbosity=-1,
        ).fit(fold.train.features, fold.train.labels, group=fold.train.lengths)
        theirs = value_of(own.predict(fold.test.features), fold.test, "nDCG@10")
        assert model.value(fold.test, "nDCG@10") == pytest.approx(theirs, abs=0.01)
        assert theirs > 0.45


class TestModels:
    def test_several_are_averaged(self, training, test_set, tmp_path):
        seeds = (7, 7 + 1_000_003)
        alone = [BoostedTrees("bce", trees=5, seed=seed, gains=GAINS).fit(training) for seed in seeds]
        both = BoostedTrees("bce", trees=5, seed=7, models=2, gains=GAINS).fit(training)
        np.testing.assert_allclose(
            both.score(test_set), np.mean([m.score(test_set) for m in alone], axis=0), rtol=1e-12
        )
        assert both.trees_ == 10
        both.save(tmp_path / "model")
        (version,) = (tmp_path / "model").glob("version-*")
        assert {"trees.txt", "trees-2.txt"} < {path.name for path in version.iterdir()}
        assert np.array_equal(rs.load(tmp_path / "model").score(test_set), both.score(test_set))
        (version / "trees-2.txt").unlink()
        with pytest.raises(InputError, match=r"has no trees-2\.txt"):
            rs.load(tmp_path / "model")

    def test_a_card_of_very_many_models_is_refused(self, training, tmp_path):
        LambdaMART(trees=3).fit(training).save(tmp_path / "model")
        card = tmp_path / "model" / "model.json"
        text = card.read_text().replace('"models": 1,', '"models": 1000000000000,')
        card.write_text(json.dumps(with_sum(json.loads(text))))
        with pytest.raises(InputError, match="models=1000000000000 does not fit its files"):
            rs.load(tmp_path / "model")

    def test_another_number_after_fitting_cannot_be_saved(self, training, tmp_path):
        model = LambdaMART(models=2, trees=3, gains=GAINS).fit(training).set_params(models=1)
        with pytest.raises(InputError, match="models was changed to 1 after the model was fitted; fit it again"):
            model.save(tmp_path / "model")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("models", [-1, 0, 1, 3])
    def test_a_card_of_another_number_is_refused(self, training, tmp_path, models):
        LambdaMART(models=2, trees=3, gains=GAINS).fit(training).save(tmp_path / "model")
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        card["parameters"]["models"] = models
        (tmp_path / "model" / "model.json").write_text(json.dumps(with_sum(card)))
        with pytest.raises(InputError, match=r"does not fit its files|is not a positive integer"):
            rs.load(tmp_path / "model")

    def test_seeds_of_numpy(self, training):
        one, other = (LambdaMART(trees=3, seed=seed, gains=GAINS).fit(training) for seed in (5, np.int32(5)))
        assert np.array_equal(one.score(training), other.score(training))

    def test_each_stops_by_itself(self, training, test_set):
        options = {"models": 3, "gains": GAINS, "trees": 40, "patience": 3, "learning_rate": 0.5}
        model = LambdaMARTf(**options).fit(training, test_set)
        counts = [booster.current_iteration() for booster in model._boosters]
        assert model.trees_ == sum(counts)
        assert len(set(counts)) > 1
        again = LambdaMARTf(**options).fit(training, test_set)
        assert np.array_equal(again.score(test_set), model.score(test_set))

    def test_nothing_to_learn_from(self, tmp_path):
        examples = Examples.from_arrays(np.zeros((4, 1)), [0, 1, 0, 1], ["q", "q", "r", "r"])
        model = LambdaMART(models=2).fit(examples)
        assert model.score(examples).tolist() == [0.0] * 4
        model.save(tmp_path / "model")
        assert rs.load(tmp_path / "model").score(examples).tolist() == [0.0] * 4

    def test_a_wrong_number(self, training):
        with pytest.raises(InputError, match="models=0 is not a positive integer"):
            LambdaMART(models=0).fit(training)


class TestBoostedTrees:
    def test_long_lists_count_as_much_as_is_asked_for(self):
        # One feature, the same everywhere but for two documents: the mean gain is all that can be learned.
        x, labels = np.zeros((12, 1)), np.array([1.0] * 2 + [0.0] * 10)
        examples = Examples.from_arrays(x, labels, [0, 0, *[1] * 10])
        found = [BoostedTrees("mse", length_weight=w).fit(examples).score(examples)[0] for w in (1.0, 0.5, 0.0)]
        halfway = 2 / 2**0.5 / (2 / 2**0.5 + 10 / 10**0.5)
        assert found == pytest.approx([1 / 2, halfway, 2 / 12])

    @pytest.mark.parametrize("loss", ["bce", "mse", "ordinal", "weighted_ordinal", "lambdarank", "lambdarank_bce"])
    def test_gradients_are_those_of_the_torch_losses(self, loss, training):
        torch = pytest.importorskip("torch")
        from ranksift.learning import losses

        examples = training.of_queries(np.arange(30))
        gain = np.where(examples.labels < 0, -10.0, examples.labels)
        model = BoostedTrees(loss, gamma=0.4, gains=GAINS, trees=1).fit(examples)
        lengths = examples.lengths
        found, _ = model._loss_of(examples, gain, (lengths.mean() / lengths)[examples.query])
        outputs = np.random.default_rng(0).normal(size=(len(examples), model._outputs.width))
        gradient, curvature = found(outputs)
        options = {"levels": model.levels_} if "ordinal" in loss else {"gamma": 0.4} if loss == "lambdarank_bce" else {}
        for i in range(30):
            own = slice(int(examples.offsets[i]), int(examples.offsets[i + 1]))
            s = torch.tensor(outputs[own] if "ordinal" in loss else outputs[own, 0], requires_grad=True)
            getattr(losses, loss)(s, gain[own], **options).backward()
            # A document counts 1 in the mean; squares are halved, which changes no step of Newton's.
            expected = s.grad.numpy().reshape(gradient[own].shape) * lengths.mean() / (2 if loss == "mse" else 1)
            np.testing.assert_allclose(gradient[own], expected, rtol=1e-4, atol=1e-5)
        assert (curvature >= 0).all()

    def test_its_natural_cut_is_where_the_expected_gain_is_0(self, training, test_set):
        good = BoostedTrees("weighted_ordinal", gains=GAINS).fit(training)
        same = BoostedTrees("weighted_ordinal", gains=GAINS, scores="expected_gain").fit(training)
        assert good.natural_cut_ == 10
        assert same.natural_cut_ == 0
        np.testing.assert_allclose(good.score(test_set) - 10, same.score(test_set))

    def test_stopped_by_its_loss_it_is_no_worse_calibrated(self, training, validation, test_set):
        def log_loss(model):
            p = 1 / (1 + np.exp(-model.score(test_set)))
            return -np.mean(np.log(np.where(test_set.labels > 0, p, 1 - p)))

        stopped = BoostedTrees("bce", gains=GAINS, stop_by="loss", learning_rate=0.3).fit(training, validation)
        whole = BoostedTrees("bce", gains=GAINS, learning_rate=0.3).fit(training)
        assert stopped.trees_ < whole.trees_ == 300
        assert log_loss(stopped) < log_loss(whole)

    def test_bad_parameters_are_refused(self, training):
        with pytest.raises(InputError, match="loss='hinge' is unknown; use 'bce', 'mse', "):
            BoostedTrees("hinge").fit(training)
        with pytest.raises(InputError, match="stop_by='loss' with loss='lambdarank'"):
            BoostedTrees("lambdarank", stop_by="loss").fit(training)
        with pytest.raises(InputError, match="gamma=-1 is not a number of at least 0"):
            BoostedTrees("lambdarank_bce", gamma=-1).fit(training)
        with pytest.raises(InputError, match="trees=0 is not a positive integer"):
            BoostedTrees(trees=0).fit(training)
        with pytest.raises(InputError, match="leaves=1 is not an integer from 2 to 131072"):
            BoostedTrees(leaves=1).fit(training)
        with pytest.raises(InputError, match="leaves=131073 is not an integer from 2 to 131072"):
            LambdaMART(leaves=131073).fit(training)
        with pytest.raises(InputError, match="min_documents=2147483648 is not an integer from 1 to 2147483647"):
            LambdaMART(min_documents=2**31).fit(training)
        with pytest.raises(InputError, match=r"document_share=1e-09 of \d+ documents is less than one"):
            LambdaMART(document_share=1e-9).fit(training)
        with pytest.raises(InputError, match="feature_share=0 is not a number above 0 and of at most 1"):
            BoostedTrees(feature_share=0).fit(training)
        with pytest.raises(InputError, match="learning_rate=0 is not a positive number"):
            BoostedTrees(learning_rate=0).fit(training)


class TestEarlyStopping:
    def test_the_model_is_that_of_the_best_number_of_trees(self, training, validation):
        model = LambdaMART(measure="P@1", stop_by="measure", patience=10, gains=GAINS).fit(training, validation)
        assert 1 <= model.trees_ < 300
        # No number of trees that was tried gives a better value on the validation set.
        tried = scores_by_trees(LambdaMART(trees=model.trees_ + 9, gains=GAINS).fit(training), validation)
        assert len(tried) == model.trees_ + 9
        values = [value_of(scores, validation, "P@1") for scores in tried]
        assert values[model.trees_ - 1] == max(values)
        assert np.array_equal(tried[model.trees_ - 1], model.scored(validation))
        alone = LambdaMART(trees=model.trees_, gains=GAINS).fit(training)
        assert np.array_equal(alone.scored(validation), model.scored(validation))

    def test_lambdamart_stops_by_the_loss_of_pairs(self, training, validation):
        model = LambdaMART(patience=10, gains=GAINS).fit(training, validation)
        pairs = PairLoss(validation.offsets, Gains.of(GAINS)(validation.labels))
        tried = scores_by_trees(LambdaMART(trees=model.trees_ + 9, gains=GAINS).fit(training), validation)
        assert len(tried) == model.trees_ + 9
        losses = [pairs(scores) for scores in tried]
        assert losses[model.trees_ - 1] == min(losses)
        assert np.array_equal(tried[model.trees_ - 1], model.scored(validation))
        with pytest.raises(InputError, match="stop_by='luck' is unknown; use 'loss' or 'measure'"):
            LambdaMART(stop_by="luck").fit(training)

    def test_of_a_cost_the_lowest_counts(self, training, validation):
        model, other = (
            LambdaMARTf(measure=name, stop_by="measure", gains=GAINS, patience=5).fit(training, validation)
            for name in ("Fdocs@3", "GoodFiltered")
        )
        assert model.trees_ != other.trees_
        for one in (model, other):  # as the lists are that stop it: before the scores are calibrated
            one._calibration, one.cutoff_ = np.array([1.0, 0.0]), AT_0
        share = [
            rs.evaluate(validation.qrels(), m.rank(validation), "Fdocs@3", gains=GAINS).mean_of("Fdocs@3")
            for m in (model, other)
        ]
        assert share[0] <= share[1]


class TestContext:
    def test_trees_see_the_length_of_the_list_and_its_means(self):
        examples = Examples.from_arrays([[1.0, 5.0], [np.nan, 7.0], [4.0, np.nan]], None, ["q", "r", "q"])
        expected = [[1, 5, np.log(2), 2.5, 5], [4, np.nan, np.log(2), 2.5, 5], [np.nan, 7, 0, np.nan, 7]]
        np.testing.assert_allclose(with_context(examples).features, expected, rtol=1e-7)

    def test_a_document_that_stands_alone_can_be_told_from_one_of_many(self):
        # What is good alone is forbidden in company, and nothing else tells.
        labels = np.array([1] * 50 + [-1] * 100)
        examples = Examples.from_arrays(
            np.random.default_rng(0).normal(size=(150, 1)), labels, [*range(50), *np.repeat(range(50, 100), 2)]
        )
        assert np.array_equal(LambdaMARTf(gains=GAINS).fit(examples).score(examples) > 0, labels > 0)
        with pytest.warns(rs.RankSiftWarning, match="On 100 held-out queries .* so this model filters nothing"):
            blind = LambdaMARTf(gains=GAINS, context=False).fit(examples)
        assert not np.array_equal(blind.score(examples) > 0, labels > 0)

    def test_every_column_has_a_name(self, training):
        model = LambdaMART(trees=2, context=True).fit(training)
        ready = model._prepared(training)
        assert len(ready.feature_names) == ready.features.shape[1] == 7
        assert ready.feature_names[2:5] == ("3", "length of the list", "mean of 1")
        assert model.feature_names_ == training.feature_names

    def test_documents_and_their_lists_are_never_one_matrix(self):
        n, width = 60_000, 40
        x = np.random.default_rng(0).normal(size=(n, width))
        examples = Examples.from_arrays(x, x[:, 0].round(), np.arange(n) // 20)
        model, matrix = BoostedTrees("mse", trees=2, context=True), n * (2 * width + 1) * 8
        tracemalloc.start()
        try:
            model.fit(examples, examples)
            model.score(examples)
            assert tracemalloc.get_traced_memory()[1] < matrix / 2
        finally:
            tracemalloc.stop()

    def test_of_lists_with_unlabelled_documents_it_is_none_either(self):
        examples = Examples.from_arrays([[1.0], [3.0], [8.0], [5.0]], [1, np.nan, 2, 0], ["q", "q", "r", "q"])
        known = in_context(examples).judged_only()
        assert isinstance(known.features, InContext)
        assert known.features[:].round(2).tolist() == [[1, 1.1, 3], [5, 1.1, 3], [8, 0, 8]]

    def test_the_trees_are_those_of_one_matrix(self):
        draw = np.random.default_rng(0)
        x = draw.normal(size=(2000, 11))
        x[:, 5:] *= draw.random(size=(2000, 6)) < 0.03  # rare features, which LightGBM puts into bundles
        x[draw.random(size=x.shape) < 0.1] = np.nan
        examples = Examples.from_arrays(x, np.nan_to_num(x).sum(axis=1), draw.integers(0, 300, size=2000))
        usual = {"objective": "regression", "deterministic": True, "num_threads": 1, "verbosity": -1, "seed": 1}
        usual |= {"feature_pre_filter": False, "feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1}
        bins = {"max_bin_by_feature": [255] * 12 + [63] * 11}
        whole = lightgbm.Dataset(with_context(examples).features, examples.labels, params=usual | bins)
        parts = _binned(in_context(examples).features, usual, label=examples.labels)
        texts = [
            trees_alone(lightgbm.train(how, data, 20).model_to_string())
            for how, data in ((usual | bins, whole), (usual, parts))
        ]
        assert texts[0] == texts[1]
        assert "Tree=19" in texts[0]


class TestRandomForests:
    def test_the_step_and_the_patience_do_nothing_and_the_list_of_parameters_says_so(self, training, validation):
        usual = RandomForests(trees=5).fit(training, validation)
        other = RandomForests(trees=5, learning_rate=0.5, patience=1).fit(training, validation)
        np.testing.assert_array_equal(usual.score(validation), other.score(validation))
        meanings = meanings_of(RandomForests)
        assert meanings["learning_rate"].startswith("Not used here")
        assert meanings["patience"].startswith("Not used here")


def test_the_optimal_rule_tells_the_libraries_of_its_model(training):
    assert set(ExpectedGainRanker(options={"trees": 2}).fit(training).card_["versions"]) >= {"numpy", "lightgbm"}
    assert "lightgbm" not in ExpectedGainRanker("RankSVM").fit(training).card_["versions"]


class TestLambdaMARTf:
    def test_gains_are_the_ranker_s_and_not_the_measure_s(self, training):
        remedy = "give them to the ranker, as its gains"
        with pytest.raises(InputError, match=remedy):
            LambdaMARTf(measure=rs.nDCG_f(k=10, gains={-1: -5})).fit(training)
        with pytest.raises(InputError, match=remedy):
            LambdaMARTf(measure="nDCG(gains=exp)@10", stop_by="measure").fit(training)

    def test_its_cut_is_at_0_and_saved(self, training, test_set, tmp_path):
        model = LambdaMARTf(gains=GAINS).fit(training)
        assert len(model.rank(test_set)) == int((model.score(test_set) >= 0).sum()) < len(test_set)
        model.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        assert again.rank(test_set).to_dict() == model.rank(test_set).to_dict()
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        assert card["cutoff"]["rule"] == "fixed"
        trees = [
            lightgbm.Booster(model_file=file) for file in (tmp_path / "model" / card["version"]).glob("trees*.txt")
        ]
        assert len(trees) == 5
        assert sum(booster.num_trees() for booster in trees) == 2 * model.trees_

    @pytest.mark.parametrize("length", [1, 5, 60])
    @pytest.mark.parametrize("penalty", [-1.0, -10.0])
    def test_a_score_is_what_showing_a_document_is_expected_to_add(self, length, penalty):
        # Five kinds of documents, whose chances are all that features tell; in lists of any length.
        draw = np.random.default_rng(length)
        kind = draw.integers(0, 5, 24_000 // length * length)
        forbidden = np.array([0.02, 0.1, 0.35, 0.6, 0.9])[kind]
        drawn = draw.random((2, len(kind)))
        labels = np.where(drawn[0] < forbidden, -1, np.where(drawn[1] < 0.3 + 0.4 * (kind == 1), 2, 1))
        query = np.repeat(np.arange(len(kind) // length), length)
        examples = Examples.from_arrays(np.eye(5)[kind], labels, query)
        gains = {-1: penalty}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RankSiftWarning)
            model = LambdaMARTf(gains=gains, measure="nDCG_f@3", context=False, learning_rate=0.3).fit(examples)
        worth = worth_of_showing(examples.offsets, rs.Gains.of(gains)(examples.labels), 3)
        expected = np.bincount(kind, worth) / np.bincount(kind)
        found = np.bincount(kind, model.score(examples)) / np.bincount(kind)
        error = 4 * np.abs(worth).max() / np.sqrt(np.bincount(kind))
        assert (np.abs(found - expected) < error + 0.05 * np.abs(expected)).all()
        clear = np.abs(expected) > error
        assert clear.sum() >= 3
        assert ((found > 0) == (expected > 0))[clear].all()

    def test_with_one_fold_a_fifth_is_held_out(self, training):
        model = LambdaMARTf(gains=GAINS, folds=1).fit(training)
        assert model.card_["cut"]["queries"] == len(training.query_ids) // 5
        assert "validation" not in model.card_
        same = LambdaMARTf(gains=GAINS).fit(*training.split(0.8, 0))
        assert np.array_equal(same.score(training), model.score(training))
        # Eight held out: calibrated, not checked.
        few = LambdaMARTf(gains=GAINS, folds=1).fit(training.of_queries(np.arange(40)))
        assert "cut" not in few.card_
        assert few.cutoff_.rule == "fixed"
        assert few._calibration.tolist() != [1.0, 0.0]
        fewer = LambdaMARTf(gains=GAINS).fit(training.of_queries(np.arange(4)))
        assert fewer._calibration.tolist() == [1.0, 0.0]

    def test_equal_scores_do_not_fool_the_check(self):
        # The best documents come first in the file, and features say nothing.
        labels = np.tile([2, 2, 2, -1, -1], 60)
        examples = Examples.from_arrays(np.zeros((300, 1)), labels, np.repeat(np.arange(60), 5))
        with pytest.warns(rs.RankSiftWarning, match="shows no(thing| document at all)"):
            model = LambdaMARTf(gains=GAINS).fit(examples)
        assert len(model.rank(examples)) == 0

    def test_gains_that_are_all_0(self, training):
        model = LambdaMARTf(gains={-1: 0, 1: 0, 2: 0}).fit(training)
        assert np.isfinite(model.score(training)).all()

    def test_a_validation_set_of_good_documents_alone_does_not_calibrate(self, training, validation):
        good = np.bincount(validation.query, validation.labels < 0) == 0
        only = validation.of_queries(np.flatnonzero(good))
        with pytest.warns(rs.RankSiftWarning, match="this model filters nothing; give more examples"):
            model = LambdaMARTf(gains=GAINS).fit(training, only)
        assert model._calibration.tolist() == [1.0, 0.0]
        shown = model.score(training)[training.labels < 0] >= 0
        assert shown.mean() < 0.5

    @pytest.mark.parametrize(("measure", "judged"), [("nDCG@3", "nDCG_f@3"), ("nDCG_f", "nDCG_f"), ("DCG@5", "DCG@5")])
    def test_the_cut_is_checked_by_what_is_learned(self, training, validation, measure, judged):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RankSiftWarning)
            model = LambdaMARTf(gains=GAINS, measure=measure, trees=20).fit(training, validation)
        assert model.card_["cut"]["measure"] == judged
        assert next(iter(model.tradeoff_.values)) == judged

    def test_limits_are_told_and_kept_in_the_card(self, training, validation, tmp_path):
        model = LambdaMARTf(gains=GAINS, trees=20).fit(training, validation)
        model.at_most("GoodFiltered<=0.1").save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        assert again.card_["cut"]["chosen"] == "GoodFiltered<=0.1"
        assert again.rank(validation).to_dict() == model.rank(validation).to_dict()
        assert again.cut_choice_ is None
        with pytest.warns(rs.RankSiftWarning, match="GoodFiltered<=30"):
            again.at_most("GoodFiltered<=30")  # a share, so this limits nothing

    @pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["best last", "best first"])
    def test_equal_scores_are_checked_in_random_order(self, order):
        # All scores are equal, few documents are forbidden: to show everything is right, in whatever order they stand.
        labels = np.tile(np.repeat([-1, 1], [2, 18])[order], 50)
        examples = Examples.from_arrays(np.zeros((1000, 1)), labels, np.repeat(np.arange(50), 20))
        model = LambdaMARTf(gains={-1: -2}, trees=5).fit(examples)
        assert len(model.rank(examples)) == 1000
        comparison = model.cut_choice_.comparison
        assert comparison.value("everything shown", "Fdocs@10") == pytest.approx(0.1, abs=0.04)

    def test_a_cut_that_does_harm_is_not_kept(self, tmp_path):
        draw = np.random.default_rng(0)
        shuffled = Examples.from_arrays(
            draw.normal(size=(2000, 3)), draw.choice([-1, 1, 2], 2000), np.repeat(np.arange(100), 20)
        )
        with pytest.warns(rs.RankSiftWarning, match="shows no(thing| document at all)"):
            model = LambdaMARTf(gains=GAINS).fit(shuffled)
        assert len(model.rank(shuffled)) == 0
        model.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        assert len(again.rank(shuffled)) == 0
        assert again.card_["cut"] == model.card_["cut"]

    def test_it_beats_a_ranker_with_a_tuned_cutoff(self, training, validation, test_set):
        model = LambdaMARTf(gains=GAINS, measure="nDCG_f@3").fit(training, validation)
        peer = LambdaMART(gains=GAINS, measure="nDCG_f@3").fit(training, validation)
        peer.fit_cutoff(validation, rs.GlobalCutoff("nDCG_f@3"))
        assert nDCG_f(model, test_set) > nDCG_f(peer, test_set) + 0.02

    def test_what_is_known_is_shown_and_what_is_forbidden_is_not(self):
        clear = answers(200, noise=0.0)
        assert nDCG_f(LambdaMARTf(gains=GAINS).fit(clear), answers(200, seed=3, noise=0.0)) > 0.93

    def test_the_k_of_the_measure_is_that_of_the_normaliser(self, training):
        scores = {k: LambdaMARTf(gains=GAINS, measure=f"nDCG_f@{k}").fit(training).score(training) for k in (1, 10)}
        assert not np.array_equal(scores[1], scores[10])

    def test_for_dcg_it_shows_less(self, training, validation, test_set):
        normalised, plain = (
            LambdaMARTf(gains=GAINS, measure=m).fit(training, validation) for m in ("nDCG_f@3", "DCG@3")
        )
        assert len(plain.rank(test_set)) < 0.9 * len(normalised.rank(test_set))

    def test_ndcg_is_taken_as_ndcg_f(self, training, validation):
        named, usual = (LambdaMARTf(gains=GAINS, trees=20, measure=m).fit(training) for m in ("nDCG@3", "nDCG_f@3"))
        np.testing.assert_array_equal(named.score(validation), usual.score(validation))

    @pytest.mark.parametrize("measure", ["AP", "nDCG_min@3", "Fdocs@3"])
    def test_other_measures_are_refused_unless_they_stop_it(self, measure, training, validation):
        with pytest.raises(
            InputError, match=r"cannot be used for ranking and cutting; use nDCG_f@10 or DCG@10, or stop_by"
        ):
            LambdaMARTf(gains=GAINS, measure=measure).fit(training)
        usual = {"gains": GAINS, "trees": 60, "patience": 60}
        stopped = LambdaMARTf(measure=measure, stop_by="measure", **usual).fit(training, validation)
        # The trees are those of nDCG_f of the whole list, as many as are best by the measure.
        same = LambdaMARTf(**{**usual, "trees": stopped.trees_, "patience": 1000}, measure="nDCG_f")
        same.fit(training, training)
        assert same.trees_ == stopped.trees_
        np.testing.assert_array_equal(stopped.outputs(validation), same.outputs(validation))

    def test_two_measures_are_refused_whatever_stops_it(self, training):
        with pytest.raises(InputError, match="is 2 measures"):
            LambdaMARTf(measure="AP RR", stop_by="measure").fit(training)

    def test_growing_stops_where_the_loss_of_new_lists_is_lowest(self, training, validation):
        usual = {"gains": GAINS, "measure": "nDCG_f@3", "learning_rate": 0.2, "patience": 300, "seed": 1}
        model = LambdaMARTf(**usual).fit(training, validation)
        assert model.trees_ < 300
        change = worth_of_showing(validation.offsets, np.where(validation.labels < 0, -10.0, validation.labels), 3)
        change /= np.abs(
            worth_of_showing(training.offsets, np.where(training.labels < 0, -10.0, training.labels), 3)
        ).mean()

        def loss(trees):
            fewer = LambdaMARTf(**{**usual, "trees": trees})
            fewer._begin(fewer_features(training), None)
            fewer._learn(fewer_features(training), None)
            s, p = fewer._outputs_of(fewer_features(validation).features).T
            classify = np.abs(change) @ np.logaddexp(0, -np.sign(change) * s)
            return classify + (np.exp(p) - np.maximum(change, 0) * p).sum()

        fewer_features = in_context
        best = loss(model.trees_)
        assert best < min(loss(model.trees_ - 1), loss(model.trees_ + 1), loss(300))

    def test_growing_stops_where_the_measure_of_the_cut_lists_is_highest(self, training, validation):
        usual = {"gains": GAINS, "measure": "nDCG_f@3", "learning_rate": 0.2, "patience": 300, "seed": 1}
        by_loss, by_measure = (LambdaMARTf(**usual, stop_by=s).fit(training, validation) for s in ("loss", "measure"))
        for model in (by_loss, by_measure):  # as the lists are that stop it: before the scores are calibrated
            model._calibration, model.cutoff_ = np.array([1.0, 0.0]), AT_0
        assert nDCG_f(by_measure, validation) > nDCG_f(by_loss, validation)

    def test_bad_parameters_are_refused(self, training):
        with pytest.raises(InputError, match="stop_by='list' is unknown; use 'loss' or 'measure'"):
            LambdaMARTf(stop_by="list").fit(training)


def test_a_forest_of_equal_trees_is_refused(training):
    with pytest.raises(InputError, match=r"document_share=1\.0 is not a number between 0 and 1"):
        RandomForests(document_share=1.0).fit(training)


class TestExpectedShares:
    @pytest.mark.parametrize(
        ("gains", "k"), [([-10, 1, 2], 3), ([-10, 0, 0.1, 1], 2), ([-10, -2, 1], None), ([1, 2], 1)]
    )
    def test_they_are_those_of_all_cases(self, gains, k):
        gain = np.array(gains, dtype=float)
        draw = np.random.default_rng(0)
        lengths = [1, 2, 5, 3]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        chances = draw.dirichlet(np.ones(len(gain)), offsets[-1])
        expected = np.zeros(offsets[-1])
        for start, n in zip(offsets[:-1], lengths, strict=True):
            for case in product(range(len(gain)), repeat=n):
                chance = np.prod(chances[start + np.arange(n), case])
                own = gain[list(case)]
                expected[start : start + n] += chance * own * slope_of(np.array([0, n]), own, k)[0]
        np.testing.assert_allclose(expected_shares(chances, gain, offsets, k), expected, atol=1e-12)

    def test_of_all_lists_theirs_has_the_highest_expectation(self):
        gain, offsets, k = np.array([-10.0, 1.0, 2.0]), np.array([0, 3]), 2
        draw = np.random.default_rng(1)
        for _ in range(5):
            chances = draw.dirichlet([1, 2, 2], 3)
            shares = expected_shares(chances, gain, offsets, k)
            lists = [()] + [p for n in (1, 2, 3) for p in product(range(3), repeat=n) if len(set(p)) == len(p)]
            best = max(lists, key=lambda shown: expectation(shown, chances, gain, k))
            ours = tuple(i for i in np.argsort(-shares).tolist() if shares[i] > 0)
            assert ours[:k] == best[:k]

    def test_k_is_taken_smaller_where_there_are_too_many_cases(self):
        pools = _pools((-10.0, -5.0, 1.0, 2.0, 3.0, 4.0), 50)
        assert len(pools.share) <= 4000

    def test_nothing_to_gain(self):
        assert expected_shares(np.ones((2, 1)), np.zeros(1), np.array([0, 2])).tolist() == [0, 0]
        assert expected_shares(np.zeros((0, 2)), np.array([-1.0, 1.0]), np.array([0])).tolist() == []


def expectation(shown, chances, gain, k):
    """Expected nDCG_f@k of a list, less that of the empty one."""
    total = 0.0
    for case in product(range(len(gain)), repeat=len(chances)):
        chance = np.prod(chances[np.arange(len(chances)), case])
        own = gain[list(case)]
        dcg = sum(own[d] / np.log2(r + 2) for r, d in enumerate(shown[:k]))
        total += chance * dcg * slope_of(np.array([0, len(chances)]), own, k)[0]
    return total


class TestExpectedGainRanker:
    def test_it_shows_a_lone_document_that_is_likelier_good(self):
        # Good with a chance of 0.7: worth showing alone, where one of ten forbidden spoils no more than it can gain.
        draw = np.random.default_rng(0)
        labels = np.where(draw.random(2000) < 0.7, 2, -1)
        examples = Examples.from_arrays(draw.normal(size=(2000, 1)), labels, np.arange(2000))
        shares = ExpectedGainRanker(gains=GAINS).fit(examples)
        with pytest.warns(rs.RankSiftWarning, match="On 2,000 held-out queries the model's own cut shows no document"):
            gains = ExpectedGainRanker(gains=GAINS, measure="DCG").fit(examples)
        assert np.mean(shares.score(examples) > 0) > 0.95
        assert np.mean(gains.score(examples) > 0) < 0.05

    def test_chances_are_calibrated(self, training, validation, test_set):
        for model in (
            ExpectedGainRanker(gains=GAINS).fit(training),
            ExpectedGainRanker("LambdaMART", gains=GAINS).fit(training, validation),
        ):
            chances = model.chances(test_set)
            assert model.gains_.tolist() == [-10, 1, 2]
            np.testing.assert_allclose(chances.sum(axis=1), 1)
            forbidden = chances[:, 0]
            for low, high in ((0, 0.3), (0.3, 0.7), (0.7, 1)):
                inside = (forbidden >= low) & (forbidden < high)
                if inside.sum() >= 100:
                    assert np.mean(test_set.labels[inside] < 0) == pytest.approx(forbidden[inside].mean(), abs=0.12)

    def test_it_beats_a_ranker_with_a_tuned_cutoff(self, training, validation, test_set):
        model = ExpectedGainRanker(gains=GAINS, measure="nDCG_f@3").fit(training, validation)
        peer = BoostedTrees("bce", gains=GAINS).fit(training, validation)
        peer.fit_cutoff(validation, rs.GlobalCutoff("nDCG_f@3"))
        assert nDCG_f(model, test_set) > nDCG_f(peer, test_set)

    @pytest.mark.parametrize(
        ("model", "options"),
        [("BoostedTrees", {"trees": 20}), ("RandomForests", {"trees": 20}), ("L2LogisticRegression", None)],
    )
    def test_any_method_may_be_inside_and_is_saved_with_it(self, model, options, training, test_set, tmp_path):
        made = ExpectedGainRanker(model, options, gains=GAINS, calibration="isotonic").fit(training)
        made.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        np.testing.assert_array_equal(again.score(test_set), made.score(test_set))
        assert (again.model, again.options) == (made.model, made.options)
        assert again.rank(test_set).to_dict() == made.rank(test_set).to_dict()

    def test_ndcg_is_taken_as_ndcg_f_and_not_as_dcg(self, training, validation):
        options = {"trees": 20}
        named, usual, plain = (
            ExpectedGainRanker(options=options, gains=GAINS, measure=m).fit(training).score(validation)
            for m in ("nDCG@3", "nDCG_f@3", "DCG@3")
        )
        np.testing.assert_array_equal(named, usual)
        assert not np.array_equal(named, plain)

    @pytest.mark.parametrize("measure", ["AP", "nDCG_min@3", "Fdocs@3"])
    def test_a_measure_without_such_a_rule_is_refused(self, measure, training):
        model = ExpectedGainRanker(measure=measure)
        with pytest.raises(InputError, match=r"cannot be used for ranking and cutting; use nDCG_f@10 or DCG@10$"):
            model.fit(training)
        with pytest.raises(InputError, match="cannot be used for ranking and cutting"):
            model.natural_space()

    def test_the_model_inside_may_have_a_measure_of_its_own(self, training, validation):
        options = {"trees": 20, "stop_by": "measure", "measure": "AP"}
        assert ExpectedGainRanker(options=options).fit(training, validation).models_[0].measure == "AP"

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"options": 5}, "options=5 is not a mapping such as"),
            ({"options": ["trees"]}, r"options=\['trees'\] is not a mapping such as"),
            ({"options": {"foo": 1}}, "BoostedTrees has no parameter 'foo'; it has: .*trees"),
            ({"options": {1: 1}}, "BoostedTrees has no parameter 1"),
            ({"model": "RankSVM", "options": {"trees": 1}}, "RankSVM has no parameter 'trees'; it has: .*C"),
        ],
    )
    def test_wrong_options_are_refused_at_fit_and_before_a_search(self, wrong, says, training):
        with pytest.raises(InputError, match=says):
            ExpectedGainRanker(**wrong).fit(training)
        with pytest.raises(InputError, match=says):
            ExpectedGainRanker(**wrong).natural_space()

    def test_a_label_of_the_held_out_queries_alone_has_a_chance_too(self, training, validation):
        none = training.of_queries(np.flatnonzero(np.bincount(training.query, training.labels < 0) == 0))
        assert (none.labels > 0).all()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RankSiftWarning)
            model = ExpectedGainRanker(gains=GAINS, options={"trees": 5}).fit(none, validation)
        assert model.gains_.tolist() == [-10, 1, 2]
        assert model.chances(validation)[:, 0].mean() == pytest.approx((validation.labels < 0).mean(), abs=0.05)

    def test_a_model_inside_that_filters_says_nothing_of_its_cut(self):
        draw = np.random.default_rng(0)
        noise = Examples.from_arrays(draw.normal(size=(2000, 2)), draw.choice([-1, 1], 2000), np.arange(2000) // 20)
        with pytest.warns(rs.RankSiftWarning) as told:
            ExpectedGainRanker("LambdaMARTf", gains=GAINS, options={"trees": 5}).fit(noise)
        assert len(told) == 1

    def test_bad_parameters_are_refused(self, training):
        with pytest.raises(InputError, match="model='Oracle' is unknown; use one of: "):
            ExpectedGainRanker("Oracle").fit(training)
        with pytest.raises(InputError, match="model='ExpectedGainRanker' is unknown"):
            ExpectedGainRanker("ExpectedGainRanker").fit(training)
        with pytest.raises(InputError, match="calibration='none' is unknown"):
            ExpectedGainRanker(calibration="none").fit(training)


def test_the_mean_of_a_list_does_not_depend_on_the_order_of_its_documents():
    draw = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 20)
    x = draw.normal(size=(1000, 1))
    x -= (np.bincount(groups, x[:, 0]) / 20)[groups, None]  # its mean is 0 but for rounding
    shuffle = draw.permutation(1000)
    mixed = Examples.from_arrays(x[shuffle], None, groups[shuffle])
    one, two = (with_context(e).features for e in (Examples.from_arrays(x, None, groups), mixed))
    assert (one[:, 2] == 0).all()
    assert np.array_equal(two[np.argsort(mixed.row)], one[shuffle])
