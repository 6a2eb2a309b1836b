"""The same door in Python: ``fit(..., checkpoints=)``, for one network and for those of a cross-fitted ranker."""

import csv

import numpy as np
import pytest

import ranksift as rs
from ranksift.cli.main import run
from ranksift.errors import InputError
from ranksift.learning import ExpectedGainRanker, TextRanker, TrainingFolder
from ranksift.learning.text import training
from tests.learning.text.test_ranker import drawn

GAINS = {-1: -10}


@pytest.fixture
def options(bert):
    return {"encoder": str(bert), "epochs": 2, "batch_size": 4, "max_length": 32, "device": "cpu", "matching": False}


@pytest.fixture
def steps(monkeypatch):
    """Steps of all trainings; at ``last`` someone interrupts."""
    usual, seen = training._Loop._step, []

    def step(*args):
        if len(seen) == getattr(step, "last", None):
            raise KeyboardInterrupt
        seen.append(1)
        return usual(*args)

    monkeypatch.setattr(training._Loop, "_step", step)
    return seen, step


def test_an_interrupted_fit_goes_on(options, steps, tmp_path):
    given, (seen, step) = drawn(12), steps
    whole = TextRanker(gains=GAINS, **options).fit(given)
    assert len(seen) == 6
    step.last = 10
    with pytest.raises(KeyboardInterrupt):
        TextRanker(gains=GAINS, **options).fit(given, checkpoints=tmp_path / "state")
    step.last = None
    again = TextRanker(gains=GAINS, **options).fit(given, checkpoints=str(tmp_path / "state"))
    assert len(seen) == 10 + 3  # from the end of the first epoch
    assert np.array_equal(again.score(given), whole.score(given))
    assert again.get_params() == whole.get_params()
    assert again.losses_ == whole.losses_
    with (tmp_path / "state" / "log.csv").open() as file:
        assert [float(row["loss"]) for row in csv.DictReader(file)] == whole.losses_
    with pytest.raises(InputError, match="is a checkpoint of a different training run"):
        TextRanker(gains={-1: -5}, **options).fit(given, checkpoints=tmp_path / "state")
    other = {"stop_by": "measure", "measure": "nDCG_f@3", "loss": "weighted_ordinal"}
    TextRanker(gains=GAINS, **options | other).fit(given, given, checkpoints=tmp_path / "own")
    with pytest.raises(InputError, match="is a checkpoint of a different training run"):
        TextRanker(gains=GAINS, scores="expected_gain", **options | other).fit(
            given, given, checkpoints=tmp_path / "own"
        )
    del seen[10 + 3 :]
    again.fit(given)  # a folder is of one call
    assert len(seen) == 19


def test_folds_that_are_done_are_not_trained_again(options, steps, tmp_path):
    given, (seen, step) = drawn(12), steps
    model = ExpectedGainRanker("TextRanker", options, gains=GAINS, folds=3)
    step.last = 9
    with pytest.raises(KeyboardInterrupt):
        model.clone().fit(given, checkpoints=tmp_path / "state")
    step.last = None
    again = model.clone().fit(given, checkpoints=tmp_path / "state")
    assert len(seen) == 9 + 4  # 3 folds of 2 epochs of 2 steps; the ninth ended no epoch
    assert np.array_equal(again.score(given), model.fit(given).score(given))
    assert {place.name for place in (tmp_path / "state").glob("log*")} == {f"log.fold-{f}.csv" for f in (1, 2, 3)}


@pytest.mark.parametrize("freeze", [False, True])
def test_a_loop_is_watched_and_what_is_cut_is_told(freeze, options, tmp_path):
    watched, told = {}, []

    def progress(doing):
        def wrap(items):
            watched.setdefault(doing, []).append(len(items))
            return iter(items)

        return wrap

    folder = TrainingFolder(tmp_path / "state", progress=progress, note=told.append)
    short = {**options, "max_length": 12, "freeze": freeze}
    model = ExpectedGainRanker("TextRanker", short, gains=GAINS, folds=3).fit(drawn(12), checkpoints=folder)
    assert set(watched) == {f"Training fold-{f}" for f in (1, 2, 3)}
    assert [counts[-1] for counts in watched.values()] == [4, 4, 4]  # steps; of frozen encoders, batches before
    assert [len(counts) > 1 for counts in watched.values()] == [freeze] * 3
    (said,) = told
    share = model.models_[0].card_["texts"]["longer"]
    assert said.startswith(f"{share:.1%} of the documents are longer than max_length=12; ")
    assert model.card_["texts"]["longer"] == share > 0


def test_who_interrupts_the_command_is_told_how_it_goes_on(options, steps, tmp_path, capsys):
    drawn(12).save(tmp_path / "train.jsonl")
    _, step = steps
    words = [word for name, value in options.items() for word in ("--set", f"{name}={value}")]
    command = ["train", str(tmp_path / "train.jsonl"), "--model", "text", "--out", str(tmp_path / "model"), *words]
    step.last = 1  # before there is a checkpoint
    assert run(command) == 130
    assert capsys.readouterr().err == ""
    step.last = 5
    assert run(command) == 130
    assert capsys.readouterr().err == f"note: stopped; the same command resumes from {tmp_path / 'model.training'}\n"
    step.last = None
    assert run(command) == 0


def test_freeze_is_a_flag_of_what_reads_texts(options, tmp_path, capsys):
    drawn(12).save(tmp_path / "train.jsonl")
    words = ["train", str(tmp_path / "train.jsonl"), "--freeze", "--out", str(tmp_path / "model"), "--model"]
    assert run([*words, "ExpectedGainRanker", "--set", "model=TextRanker", "--set", f"options={options}"]) == 0
    assert rs.load(tmp_path / "model").models_[0].freeze
    capsys.readouterr()
    for name in ("RankSVM", "LambdaMARTf", "ExpectedGainRanker"):
        assert run([*words, name]) == 2
        said = capsys.readouterr().err
        assert "has no parameter 'freeze'; it has: " in said
        assert said.count("\n") == 1
