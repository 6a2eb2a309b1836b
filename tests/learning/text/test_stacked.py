"""A ranker of features on top of text rankers: no column is of a network that has seen the query."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.cli.main import run
from ranksift.collection.examples import Examples, folds_of
from ranksift.learning import ExpectedGainRanker, LambdaMARTf, StackedRanker, TextRanker
from ranksift.learning.text import scoring
from tests.learning.text.test_ranker import GAINS, drawn

pytestmark = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

TREES = {"trees": 20, "min_documents": 5}


@pytest.fixture(scope="module")
def text(calm_bert: Path):
    """Parameters of a text ranker that learns quickly; frozen, it learns in a moment."""
    options = {"epochs": 12, "batch_size": 8, "learning_rate": 0.003, "max_length": 32, "documents_per_query": 0}
    return {"encoder": str(calm_bert), "pooling": "mean", "device": "cpu", **options}


@pytest.fixture(scope="module")
def frozen(text):
    return {**text, "freeze": True, "learning_rate": 0.03}


@pytest.fixture(scope="module")
def quick(frozen):
    return partial(StackedRanker, text=frozen, top=TREES, folds=3, gains=GAINS)


@pytest.fixture(scope="module")
def examples() -> Examples:
    return drawn(60)


@pytest.fixture(scope="module")
def fitted(quick, examples) -> StackedRanker:
    return quick().fit(examples)


def beside(examples: Examples, **columns) -> Examples:
    """The same with features."""
    return replace(examples, features=np.column_stack([*columns.values()]), feature_names=tuple(columns))


class TestHeldOut:
    def test_columns_of_labels_that_are_chance_say_nothing_of_them(self, text, monkeypatch):
        """Networks that learn texts by heart would give a label away: a query must meet none that has seen it."""
        given = drawn(40)
        chance = replace(given, labels=np.random.default_rng(3).choice([-1.0, 2.0], len(given)))
        seen = []
        fit = LambdaMARTf.fit
        monkeypatch.setattr(
            LambdaMARTf, "fit", lambda self, some, told=None: seen.append(some) or fit(self, some, told)
        )
        model = StackedRanker(text={**text, "epochs": 40}, top=TREES, folds=2, gains=GAINS, simple=False).fit(chance)
        (column,) = seen[0].features.T
        by_heart = model.texts_[0][0][0].outputs(chance)[:, 0]
        learned = folds_of(40, 2, 0)[chance.query] != 0
        assert np.corrcoef(by_heart[learned], chance.labels[learned])[0, 1] > 0.8
        assert abs(np.corrcoef(column, chance.labels)[0, 1]) < 0.25

    def test_each_network_is_fitted_to_the_other_folds_and_stopped_by_none(self, quick, examples, monkeypatch):
        learned, said = [], []
        fit, outputs = TextRanker.fit, TextRanker.outputs
        monkeypatch.setattr(
            TextRanker,
            "fit",
            lambda self, some, told=None, **how: learned.append((self, some, told)) or fit(self, some, told, **how),
        )
        monkeypatch.setattr(
            TextRanker, "outputs", lambda self, some: said.append((self, some.query_ids)) or outputs(self, some)
        )
        quick(seeds=2).fit(examples)
        assert len(learned) == len(said) == 6
        for (network, some, told), (speaks, queries) in zip(
            sorted(learned, key=lambda one: id(one[0])), sorted(said, key=lambda one: id(one[0])), strict=True
        ):
            assert network is speaks
            assert told is None
            assert not {*some.query_ids} & {*queries}
            assert len({*some.query_ids, *queries}) == 60

    def test_the_ranker_on_top_sees_them_and_holds_out_the_same_folds(self, quick, fitted, examples, monkeypatch):
        seen, folds = [], []
        fit, learn = LambdaMARTf.fit, LambdaMARTf._learn
        monkeypatch.setattr(
            LambdaMARTf, "fit", lambda self, some, told=None: seen.append(some) or fit(self, some, told)
        )
        monkeypatch.setattr(
            LambdaMARTf, "_learn", lambda self, some, told: folds.append({*told.query_ids}) or learn(self, some, told)
        )
        quick().fit(examples)
        fold = folds_of(60, 3, 0)
        assert folds == [{examples.query_ids[i] for i in np.flatnonzero(fold == f)} for f in range(3)]
        for f, ((network,),) in enumerate(fitted.texts_):
            own = examples.of_queries(np.flatnonzero(fold == f))
            np.testing.assert_allclose(
                seen[0].features[fold[examples.query] == f][:, -2:], network.outputs(own), rtol=0, atol=1e-6
            )

    def test_new_queries_have_the_mean_over_the_networks(self, fitted, monkeypatch):
        other, seen = drawn(10, seed=1), []
        monkeypatch.setattr(type(fitted.top_), "scored", lambda self, some: seen.append(some) or np.zeros(len(some)))
        fitted.score(other)
        mean = np.mean([network.outputs(other) for ((network,),) in fitted.texts_], axis=0)
        np.testing.assert_allclose(seen[0].features[:, -2:], mean, rtol=0, atol=1e-6)
        assert seen[0].feature_names == fitted.columns_

    def test_a_validation_set_stops_networks_and_the_ranker_on_top(self, quick, examples):
        other = drawn(20, seed=1)
        model = quick().fit(examples, other)
        ((network,),) = model.texts_[0]
        assert len(network.values_) == 12
        assert model.card_["validation"]["queries"] == 20
        assert "folds" not in model.top_.card_["data"]

    def test_a_training_that_was_killed_goes_on(self, quick, examples, tmp_path, monkeypatch):
        whole = quick(texts=[{}, {"loss": "bce"}]).fit(examples, checkpoints=tmp_path / "whole")
        names = {path.name for path in (tmp_path / "whole").glob("*.csv")}
        assert names == {f"log.fold-{f}-text-{n}.csv" for f in (1, 2, 3) for n in (1, 2)}
        done, train = [], TextRanker._train

        def killed(self, some, told):
            if len(done) == 3:
                raise KeyboardInterrupt
            done.append(train(self, some, told))

        with monkeypatch.context() as patched:
            patched.setattr(TextRanker, "_train", killed)
            with pytest.raises(KeyboardInterrupt):
                quick(texts=[{}, {"loss": "bce"}]).fit(examples, checkpoints=tmp_path / "broken")
        again = quick(texts=[{}, {"loss": "bce"}]).fit(examples, checkpoints=tmp_path / "broken")
        assert np.array_equal(again.score(examples), whole.score(examples))


class TestColumns:
    def test_texts_alone(self, fitted):
        assert fitted.columns_[:2] == ("answers", "words")
        assert fitted.columns_[-2:] == ("text: gain above -10", "text: gain above 1")
        assert fitted.feature_names_ == ()
        assert fitted.value(drawn(40, seed=1), "nDCG@5") > 0.6

    def test_texts_and_features_are_both_used(self, quick, examples):
        """One feature tells what no word does, and words tell what no feature does."""
        draw = np.random.default_rng(0)
        hint = examples.labels == 2
        noise = draw.normal(size=len(examples))
        labels = np.where(draw.random(len(examples)) < 0.5, examples.labels, np.where(noise > 0, 2.0, -1.0))
        given = beside(replace(examples, labels=labels), noise=noise, hint=hint)
        model = quick().fit(given)
        assert model.columns_[:2] == ("noise", "hint")
        used = dict(zip(model.columns_, np.abs(_splits(model)), strict=True))
        assert used["noise"] > 0
        assert used["text: gain above 1"] + used["text: gain above -10"] > 0

    def test_what_is_known_of_the_list_is_a_column_and_a_feature_of_the_same_name_takes_its_place(
        self, quick, examples
    ):
        place = np.concatenate([np.arange(n) for n in examples.lengths]).astype(float)
        placed = replace(examples, texts=replace(examples.texts, position=place))
        assert quick().fit(placed).columns_[0] == "place"
        own = quick().fit(beside(placed, words=np.zeros(len(placed))))
        assert own.columns_[:2] == ("words", "place")
        assert own.columns_.count("words") == 1
        bare = quick(simple=False).fit(placed)
        assert bare.columns_ == ("text: gain above -10", "text: gain above 1")
        # What is not known of new documents is missing.
        assert np.isfinite(quick().fit(placed).score(examples)).all()

    def test_several_text_rankers(self, quick, frozen, examples, tmp_path):
        texts = [{}, {"loss": "bce"}, {"loss": "expected_share"}]
        model = quick("RankSVM", top=None, texts=texts, seeds=2).fit(examples)
        assert model.columns_[-5:] == (
            "text 1: gain above -10",
            "text 1: gain above 1",
            "text 2",
            "text 3: good",
            "text 3: prize",
        )
        assert [len(own) for own in model.texts_[0]] == [2, 2, 2]
        assert model.cutoff_ is None
        assert not model.brings_cut()
        model.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        assert np.array_equal(again.score(examples), model.score(examples))
        assert again.columns_ == model.columns_
        assert again.card_["stack"]["cross_fitted"]["networks"] == 18

    @pytest.mark.parametrize("on_top", ["ExpectedGainRanker", "LambdaMART", "L2LogisticRegression"])
    def test_any_ranker_of_features_on_top(self, on_top, frozen, examples, tmp_path):
        options = {"options": {"trees": 20}} if on_top == "ExpectedGainRanker" else None
        model = StackedRanker(on_top, text=frozen, top=options, folds=3, gains=GAINS).fit(examples)
        assert model.value(examples, "nDCG@5") > 0.7
        assert (model.cutoff_ is not None) == (on_top == "ExpectedGainRanker")
        model.save(tmp_path / "model")
        assert np.array_equal(rs.load(tmp_path / "model").score(examples), model.score(examples))

    def test_a_fold_may_lack_a_gain(self, quick, examples):
        rare = np.where(np.arange(len(examples)) == 4, 1.0, np.where(examples.labels > 0, 2.0, -1.0))
        model = quick().fit(replace(examples, labels=rare))
        assert model.columns_[-2:] == ("text: gain above -10", "text: gain above 1")
        assert np.isfinite(model.score(examples)).all()

    def test_a_fold_without_which_labels_are_equal_is_refused_at_once(self, quick, examples, monkeypatch):
        alone = np.where(examples.query == 3, examples.labels, -1.0)
        alone[np.flatnonzero(examples.query == 3)[0]] = 2.0
        monkeypatch.setattr(TextRanker, "_train", lambda *_: pytest.fail("a network is trained"))
        with pytest.raises(InputError, match=r"without fold . of ., every label is the same; give more queries"):
            quick().fit(replace(examples, labels=alone))

    def test_unlabelled_documents_are_part_of_their_lists(self, quick, examples):
        some = replace(examples, labels=np.where(np.arange(len(examples)) % 4, examples.labels, np.nan))
        model = quick().fit(some)
        assert len(model.score(some)) == len(some)

    def test_frozen_networks_read_each_text_once(self, quick, frozen, monkeypatch):
        read, real, new = [], scoring._vectors, drawn(30, seed=9)
        monkeypatch.setattr(scoring, "_vectors", lambda n, t, *rest: read.append(len(t)) or real(n, t, *rest))
        quick(texts=[{}, {"loss": "bce"}], seeds=2).fit(new).score(new)
        assert sum(read) == len(new)


class TestSaved:
    def test_the_same_scores_and_what_was_cross_fitted(self, fitted, examples, tmp_path):
        fitted.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        other = drawn(30, seed=1)
        assert np.array_equal(again.score(other), fitted.score(other))
        assert again.rank(other).to_dict() == fitted.rank(other).to_dict()
        names = {path.name for path in (tmp_path / "model").glob("version-*/*")}
        assert {name for name in names if "tokenizer" in name} == {"model-models-tokenizer.json"}
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        stack = card["stack"]
        assert stack["top"] == "LambdaMARTf"
        assert stack["cross_fitted"]["folds"] == 3
        assert stack["cross_fitted"]["queries"] == 60
        assert stack["columns"]["text (networks)"] == ["text: gain above -10", "text: gain above 1"]
        assert stack["columns"]["given"] == []
        assert "words" in stack["columns"]["simple"]
        assert card["cut"]["queries"] == 60

    def test_limits_of_a_saved_model(self, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        again = rs.load(tmp_path / "model").at_most("GoodFiltered<=0.1")
        assert again.cutoff_.fitted_on_["limits"]["GoodFiltered"] <= 0.1

    def test_a_query_and_its_documents(self, fitted):
        found = fitted.rank("w101 w102", ["w150 w1", "w151 w3", "w152 w2"], explain=True)
        assert sorted(one.index for one in found) == [0, 1, 2]
        assert found[-1].index == 0

    def test_trained_encoders_are_saved_each(self, text, examples, tmp_path):
        model = StackedRanker(text={**text, "epochs": 2}, top=TREES, folds=2, gains=GAINS).fit(examples)
        model.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        assert np.array_equal(again.score(examples), model.score(examples))


class TestRefused:
    @pytest.mark.parametrize(
        ("parameters", "what"),
        [
            ({"model": "TextRanker"}, "model='TextRanker' reads texts; use one of"),
            ({"model": "Magic"}, "model='Magic' is unknown"),
            ({"text": {"epoch": 2}}, "TextRanker has no parameter 'epoch'"),
            ({"top": {"tree": 2}}, "LambdaMARTf has no parameter 'tree'"),
            ({"top": {"trees": -2}}, "trees=-2 is not"),
            ({"texts": [{"loss": "magic"}]}, "magic"),
            ({"texts": []}, "a list of mappings"),
            ({"folds": 1}, "folds=1 is not"),
            ({"model": "ExpectedGainRanker", "top": {"model": "TextRanker"}}, "a ranker that reads texts"),
        ],
    )
    def test_parameters(self, parameters, what, quick, examples):
        with pytest.raises(InputError, match=what) as told:
            quick(**{"top": None, **parameters}).fit(examples)
        assert "\n" not in str(told.value)

    def test_examples(self, quick, fitted, examples):
        features = Examples.from_arrays([[0.0], [1.0]], [0, 1], ["q", "q"])
        for ask in (quick().fit, fitted.rank):
            with pytest.raises(InputError, match=r"has (no texts, and StackedRanker reads texts|1 features)"):
                ask(features)
        both = beside(examples, bm25=np.arange(len(examples)))
        model = quick().fit(both)
        with pytest.raises(InputError, match="has 0 features, and the model was fitted to 1; 'bm25' is missing"):
            model.score(examples)
        with pytest.raises(InputError, match="fitted to texts and features, such as 'bm25', but only texts are given"):
            model.rank("w101", ["w1"])
        with pytest.raises(InputError, match="has no texts"):
            model.score(replace(both, texts=None))
        with pytest.raises(InputError, match="one query cannot be held out in turn; give at least two"):
            quick().fit(examples.of_queries([0]))
        named = beside(examples, **{"text: gain above 1": np.zeros(len(examples))})
        with pytest.raises(InputError, match="has the name of a column of the networks; call it something else"):
            quick().fit(named)


class TestCommands:
    def settings(self, frozen):
        given = {**frozen, "encoder": frozen["encoder"], "text.learning_rate": 0.03}
        del given["learning_rate"]  # both the networks and the trees have it
        return [word for name, value in given.items() for word in ("--set", f"{name}={value}")]

    def test_train_and_rank(self, frozen, tmp_path, capsys):
        beside(drawn(40), bm25=np.arange(len(drawn(40)))).save(tmp_path / "train.jsonl")
        other = drawn(12, seed=2)
        beside(other, bm25=np.arange(len(other))).save(tmp_path / "test.jsonl")
        command = ["train", str(tmp_path / "train.jsonl"), "--model", "text+LambdaMARTf", "--out", str(tmp_path / "m")]
        command += ["--loss", "weighted_ordinal", "--gains", "{-1: -10}", "--set", "folds=2", "--set", "top.trees=20"]
        assert run([*command, *self.settings(frozen)]) == 0
        said = capsys.readouterr()
        assert "StackedRanker from texts and 1 feature" in said.out
        model = rs.load(tmp_path / "m")
        assert model.get_params()["text"]["loss"] == "weighted_ordinal"
        assert model.get_params()["top"] == {"trees": 20}
        assert run(["rank", str(tmp_path / "m"), str(tmp_path / "test.jsonl"), "--out", str(tmp_path / "run")]) == 0
        assert "are longer than the input" not in capsys.readouterr().err
        assert run([*command, *self.settings({**frozen, "max_length": 8})]) == 0
        capsys.readouterr()
        assert run(["rank", str(tmp_path / "m"), str(tmp_path / "test.jsonl"), "--out", str(tmp_path / "run")]) == 0
        assert "are longer than the input" in capsys.readouterr().err
        model = rs.load(tmp_path / "m")
        ranked = model.rank(str(tmp_path / "test.jsonl"))
        assert rs.read_run(tmp_path / "run").to_dict() == {q: d for q, d in ranked.to_dict().items() if d}

    def test_text_and_the_optimal_rule_within_limits(self, frozen, tmp_path, capsys):
        drawn(30).save(tmp_path / "train.jsonl")
        drawn(20, seed=1).save(tmp_path / "vali.jsonl")
        command = ["train", str(tmp_path / "train.jsonl"), "--model", "text+optimal", "--out", str(tmp_path / "m")]
        command += ["--validation", str(tmp_path / "vali.jsonl"), "--set", "folds=2", "--gains", "{-1: -10}"]
        assert run([*command, *self.settings(frozen), "--at-most", "GoodFiltered<=0.5"]) == 0
        assert "Within GoodFiltered<=0.5 the best nDCG_f@10" in capsys.readouterr().out
        assert isinstance(rs.load(tmp_path / "m").top_, ExpectedGainRanker)

    @pytest.mark.parametrize(
        ("words", "what"),
        [
            (["--model", "text+Magic"], "method 'Magic' is unknown"),
            (["--model", "LambdaMART+text"], "only a text ranker can be combined with another method"),
            (["--model", "text+LambdaMARTf", "--set", "learning_rate=1"], "write text.learning_rate or top.learning"),
            (["--model", "text+LambdaMARTf", "--set", "loops=1"], "StackedRanker has no parameter 'loops'"),
            (["--model", "text+LambdaMARTf", "--set", "folds.x=1"], "parameter 'folds' has no 'x'"),
            (["--model", "text+LambdaMARTf", "--set", "top.x=1"], "LambdaMARTf has no parameter 'x'"),
            (
                ["--model", "text+LambdaMARTf", "--loss", "bce", "--set", "text.loss=mse"],
                "given both by --loss and by --set",
            ),
        ],
    )
    def test_what_is_refused(self, words, what, tmp_path, capsys):
        drawn(5).save(tmp_path / "train.jsonl")
        assert run(["train", str(tmp_path / "train.jsonl"), *words, "--out", str(tmp_path / "m")]) == 2
        assert what in capsys.readouterr().err

    def test_its_parameters_can_be_searched(self, quick, frozen):
        space = quick().natural_space()
        assert {"text.learning_rate", "top.leaves"} <= {*space}
        found = rs.learning.tune(quick(), drawn(20), drawn(20, seed=1), trials=2)
        assert [trial.value is not None for trial in found.trials] == [True, True]
        assert "text.learning_rate" in found.trials[1].params


def _splits(model: StackedRanker) -> np.ndarray:
    """How often trees split by each column itself (not by its mean over the list)."""
    count = len(model.columns_)
    found = np.zeros(count)
    for booster in model.top_._boosters:
        found += booster.feature_importance()[:count]
    return found
