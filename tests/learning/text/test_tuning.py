"""A search for the parameters of a ranker of texts: what is searched, and that each text is read once."""

import json
from dataclasses import replace

import pytest

import ranksift as rs
from ranksift.cli.main import run
from ranksift.errors import InputError
from ranksift.learning import ExpectedGainRanker, TextRanker, tune
from ranksift.learning.text import frozen, scoring
from tests.learning.text.test_ranker import drawn


def test_gamma_is_searched_where_the_loss_has_one_and_says_none():
    assert set(TextRanker().natural_space()) == {"learning_rate", "batch_size"}
    assert set(TextRanker("lambdarank_f(gamma=0.2)").natural_space()) == {"learning_rate", "batch_size"}
    assert TextRanker("lambdarank_f(k=3)").natural_space()["loss"] == [
        "lambdarank_f(k=3)",
        *(f"lambdarank_f(gamma={gamma}, k=3)" for gamma in ("0.1", "0.3", "1", "3")),
    ]
    inner = ExpectedGainRanker("TextRanker", {"loss": "lambdarank_bce"}).natural_space()
    assert "options.loss" in inner
    low, high, _ = TextRanker(freeze=True).natural_space()["learning_rate"]
    assert low > TextRanker().natural_space()["learning_rate"][1]
    assert low < 3e-2 < high


@pytest.fixture
def read(monkeypatch):
    """How many texts the encoder reads."""
    usual, seen = scoring._vectors, []
    monkeypatch.setattr(
        scoring, "_vectors", lambda net, tokens, *rest: seen.append(len(tokens)) or usual(net, tokens, *rest)
    )
    return seen


def test_the_command_searches_and_reads_each_text_once(bert, read, tmp_path, capsys):
    parts = {"train": drawn(16), "validation": drawn(8, seed=1)}
    for name, part in parts.items():
        replace(part, query_ids=tuple(f"{name}{q}" for q in part.query_ids)).save(tmp_path / f"{name}.jsonl")
    command = ["tune", str(tmp_path / "train.jsonl"), "--validation", str(tmp_path / "validation.jsonl")]
    command += ["--model", "text", "--freeze", "--loss", "lambdarank_bce", "--gains=-1=-10", "--trials", "4"]
    settings = (f"encoder={bert}", "epochs=3", "max_length=32", "device=cpu")
    command += [word for setting in settings for word in ("--set", setting)]
    assert run([*command, "--out", str(tmp_path / "model")]) == 0
    said = capsys.readouterr()
    assert "TextRanker, the best 4 of 4 trials by validation" in said.out
    assert said.err == ""
    assert sum(read) == sum(map(len, parts.values()))
    assert frozen._HELD == []
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    assert set(card["tuning"]["space"]) == {"learning_rate", "batch_size", "loss"}
    assert card["parameters"]["freeze"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("model")) == [
        "model",
        "model.training",
    ]
    assert rs.load(tmp_path / "model").loss == card["tuning"]["parameters"]["loss"]


def test_trials_of_other_texts_are_not_taken_for_these(bert, tmp_path):
    ranker = TextRanker("bce", encoder=str(bert), freeze=True, epochs=1, device="cpu", max_length=32)
    given, words = drawn(9), {"space": {"batch_size": [2, 4]}, "folds": 3, "storage": tmp_path / "trials"}
    assert len(tune(ranker, given, **words).trials) == 3
    other = replace(given, texts=replace(given.texts, docs=tuple(reversed(given.texts.docs))))
    with pytest.raises(InputError, match="is of another search: examples differs"):
        tune(ranker, other, **words)


def test_one_process_searches(monkeypatch, capsys):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert run(["tune", "train.jsonl", "--model", "text"]) == 2
    assert capsys.readouterr().err == "ranksift tune runs in one process; start it without torchrun\n"


def test_each_process_has_a_gpu_of_its_own(monkeypatch):
    chosen = []
    monkeypatch.setattr(scoring.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(scoring.torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(scoring.torch.cuda, "set_device", chosen.append)
    assert [str(scoring.find_device(name)) for name in ("auto", "cuda", "cuda:1", "cpu")] == [
        "cuda",
        "cuda",
        "cuda:1",
        "cpu",
    ]
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert [str(scoring.find_device(name)) for name in ("auto", "cuda", "cuda:0")] == ["cuda:1", "cuda:1", "cuda:0"]
    assert list(map(str, chosen)) == ["cuda:1"] * 2
