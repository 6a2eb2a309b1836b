"""One network in the place of several: what it says, and what is told of it."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError, RankSiftWarning
from ranksift.cli.main import run
from ranksift.collection.examples import Examples
from ranksift.learning import ExpectedGainRanker, StackedRanker
from tests.learning.text.test_ranker import GAINS, drawn

pytestmark = pytest.mark.filterwarnings("ignore:On .* held-out queries", "ignore:.*shows no")


@pytest.fixture(scope="module")
def text(calm_bert: Path):
    options = {"epochs": 8, "batch_size": 8, "learning_rate": 0.003, "max_length": 32, "documents_per_query": 0}
    return {"encoder": str(calm_bert), "pooling": "mean", "device": "cpu", **options}


@pytest.fixture(scope="module")
def examples() -> Examples:
    return named(drawn(60), "a")


@pytest.fixture(scope="module")
def other() -> Examples:
    return named(drawn(40, seed=1), "b")


def named(examples: Examples, prefix: str) -> Examples:
    """The same with ids of their own."""
    return replace(examples, query_ids=tuple(prefix + query for query in examples.query_ids))


@pytest.fixture(scope="module")
def stacked(text):
    top = {"trees": 20, "min_documents": 5}
    return partial(StackedRanker, text=text, top=top, folds=3, gains=GAINS)


@pytest.fixture(scope="module")
def fitted(stacked, examples) -> StackedRanker:
    return stacked().fit(examples)


def said(model: StackedRanker, examples: Examples) -> np.ndarray:
    return model._said_of(examples)


def test_it_says_what_they_say_in_the_mean(fitted, examples, other, tmp_path):
    small = fitted.distilled(examples, other)
    assert [len(member) for member in small.texts_] == [1]
    assert len(fitted.texts_) == 3  # as it was
    mean, one = said(fitted, other), said(small, other)
    apart = np.abs(one - mean).mean()
    assert apart < 0.4 * np.abs(mean - mean.mean(axis=0)).mean()
    members = [np.abs(fitted._said(member, other) - mean).mean() for member in fitted.texts_]
    assert apart < 0.7 * min(members)
    assert small.value(other, "nDCG@5") == pytest.approx(fitted.value(other, "nDCG@5"), abs=0.05)
    small.save(tmp_path / "small")
    again = rs.load(tmp_path / "small")
    assert np.array_equal(again.score(other), small.score(other))
    card = json.loads((tmp_path / "small" / "model.json").read_text())["distilled"]
    assert (card["networks"], card["in_their_place"]) == (3, 1)
    assert card["texts"]["queries"] == 60
    lost = card["held_out"]
    assert (lost["queries"], lost["measure"]) == (40, "nDCG_f@10")
    assert lost["networks"] == pytest.approx(fitted.value(other, "nDCG_f@10", cut=True))
    assert lost["distilled"] == pytest.approx(small.value(other, "nDCG_f@10", cut=True))
    assert lost["difference"] == pytest.approx(lost["distilled"] - lost["networks"])
    assert "distilled" not in fitted.card_


def test_a_head_on_a_frozen_encoder_loses_nothing(stacked, text, examples, other):
    frozen = {**text, "freeze": True, "learning_rate": 0.03}
    model = stacked(text=frozen, texts=[{}, {"loss": "bce"}], seeds=2).fit(examples)
    small = model.distilled(other)
    np.testing.assert_allclose(said(small, examples), said(model, examples), rtol=0, atol=1e-5)
    assert small.card_["distilled"]["in_their_place"] == 2
    assert "held_out" not in small.card_["distilled"]
    ((one,), (two,)) = small.texts_[0]
    assert one._network.encoder is two._network.encoder


def test_labels_are_not_read(fitted, examples):
    unlabelled = replace(examples, labels=np.full(len(examples), np.nan))
    one, other = fitted.distilled(examples), fitted.distilled(unlabelled)
    assert np.array_equal(one.score(examples), other.score(examples))


def test_expected_shares_and_a_fold_that_lacks_a_gain(text, examples, other, tmp_path):
    rare = np.where(np.arange(len(examples)) == 4, 1.0, np.where(examples.labels > 0, 2.0, -1.0))
    given = replace(examples, labels=rare)
    options = {**text, "epochs": 4}
    model = ExpectedGainRanker("TextRanker", options, gains=GAINS, folds=3).fit(given)
    assert {len(one.levels_) for one in model.models_} == {2, 3}
    small = model.distilled(given, replace(other, labels=np.where(other.labels > 0, 2.0, -1.0)))
    assert len(small.models_) == 1
    assert small.models_[0].levels_.tolist() == [-10, 1, 2]
    small.save(tmp_path / "small")
    assert np.array_equal(rs.load(tmp_path / "small").score(other), small.score(other))


def test_what_is_refused_and_what_is_told(fitted, text, examples, other):
    with pytest.raises(InputError, match="is not fitted"):
        StackedRanker().distilled(examples)
    with pytest.raises(InputError, match="has one network already, so there is nothing to distil"):
        fitted.distilled(examples).distilled(examples)
    features = Examples.from_arrays(np.random.default_rng(0).normal(size=(60, 2)), [0, 1] * 30, np.arange(60) // 6)
    with pytest.raises(InputError, match="has no text networks inside; take one with text networks"):
        ExpectedGainRanker(options={"trees": 5}).fit(features).distilled(examples)
    with pytest.raises(InputError, match="has no texts; give a table with query_id, query and doc"):
        fitted.distilled(features)
    with pytest.warns(RankSiftWarning, match="60 of 60 held-out queries have the id of a query used for distilling"):
        fitted.distilled(examples, examples)


def test_the_command(fitted, examples, other, tmp_path, capsys):
    fitted.save(tmp_path / "model")
    examples.save(tmp_path / "train.jsonl")
    other.save(tmp_path / "test.jsonl")
    command = ["distil", str(tmp_path / "model"), str(tmp_path / "train.jsonl"), "--out", str(tmp_path / "small")]
    assert run([*command, "--held-out", str(tmp_path / "test.jsonl")]) == 0
    told = capsys.readouterr().out
    assert "One network instead of 3, on 40 held-out queries" in told
    assert rs.load(tmp_path / "small").card_["distilled"]["networks"] == 3
    assert run([*command[:-1], str(tmp_path / "other")]) == 0
    assert "the loss in quality was not measured: give held-out queries as --held-out" in capsys.readouterr().err
    assert run([*command[:-1], str(tmp_path / "model")]) == 2
    assert "is the model to be distilled; name another folder: --out" in capsys.readouterr().err
    assert len(rs.load(tmp_path / "model").texts_) == 3
    assert run(["distil", str(tmp_path / "small"), str(tmp_path / "train.jsonl"), "--out", str(tmp_path / "x")]) == 2
    assert "has one network already" in capsys.readouterr().err
