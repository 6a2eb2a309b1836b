"""ranksift tune, and what is left where it or ranksift train is killed."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import ranksift as rs
from ranksift.cli.tune import space_of
from ranksift.learning import tune
from tests.cli.conftest import Command
from tests.cli.test_main import imported

SPACE = ("--space", "C=0.01..100:log")


@pytest.fixture
def letor(tmp_path):
    """Training and validation files whose labels follow a feature, with noise; -1 is forbidden."""

    def written(name: str, seed: int):
        draw = np.random.default_rng(seed)
        x = draw.normal(size=(90, 3))
        hidden = x[:, 0] + 0.7 * draw.normal(size=90)
        labels = np.select([hidden < -0.5, hidden < 0.5], [-1, 0], 1)
        lines = [
            f"{label} qid:{seed}{i // 6:02d} " + " ".join(f"{j}:{v:.5f}" for j, v in enumerate(row, 1))
            for i, (label, row) in enumerate(zip(labels, x, strict=True))
        ]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return {name: written(f"{name}.txt", seed) for seed, name in enumerate(("train", "vali"), 1)}


def test_the_best_is_shown_and_saved(ranksift: Command, letor, tmp_path):
    model = tmp_path / "new" / "model"
    command = ["tune", letor["train"], "--validation", letor["vali"], "--model", "rank-svm", *SPACE, "--trials", 6]
    done = ranksift(*command, "--out", model)
    assert (done.code, done.err) == (0, "")
    found = tune(rs.learning.RankSVM(), letor["train"], letor["vali"], space={"C": (0.01, 100.0, "log")}, trials=6)
    assert "RankSVM, the best 6 of 6 trials by validation" in done.out
    first = done.out.splitlines()[3].split()
    assert (int(first[0]), first[-1]) == (found.best.number, f"{found.best_value:.4f}")
    assert f"The model: {model}" in done.out
    card = json.loads((model / "model.json").read_text())
    assert card["parameters"]["C"] == found.best_params["C"]
    assert card["tuning"]["value"] == found.best_value
    examples = rs.read_examples(letor["vali"])
    assert np.array_equal(rs.load(model).score(examples), found.fit().score(examples))
    assert [path.name for path in model.parent.iterdir()] == ["model"]  # the storage is not needed any more


def test_a_margin_keeps_what_is_given(ranksift: Command, letor, tmp_path):
    command = ["tune", letor["train"], "--validation", letor["vali"], "--model", "rank-svm", *SPACE, "--trials", 4]
    done = ranksift(*command, "--margin", 1000)
    assert (done.code, done.err) == (0, "")
    assert "chosen: trial 0, because no other is better by 1000 standard errors" in done.out
    done = ranksift(*command, "--margin", 1e-9)
    best = done.out.splitlines()[3].split()[0]
    assert f"chosen: trial {best}, " in done.out
    assert ranksift(*command, "--margin", -1).code == 2
    many = ranksift(*command[:-1], 15, "--margin", 1000)  # more than are shown
    assert any(line.split()[:1] == ["0"] for line in many.out.splitlines()[3:13])


def test_cross_validation_with_a_cutoff(ranksift: Command, letor, tmp_path):
    command = ["tune", letor["train"], "--model", "L2LogisticRegression", "--gains=-1=-10", "--cutoff", "global"]
    done = ranksift(*command, "--folds", 3, "--trials", 3, "--out", tmp_path / "model")
    assert (done.code, done.err) == (0, "")
    assert "3 trials by 3 folds" in done.out
    assert "nDCG_f@10" in done.out
    model = rs.load(tmp_path / "model")
    assert model.cutoff_.rule == "global"
    assert model.measure == "nDCG_f@10"
    assert model.card_["tuning"]["cutoff"] == {"rule": "global", "measure": "nDCG_f@10", "at_most": None}


def test_what_is_set_is_not_searched(ranksift: Command, letor):
    command = ["tune", letor["train"], "--model", "FocusedSVM", "--trials", 3, "--folds", 2]
    done = ranksift(*command, "--set", "C=0.5", "--set", "k=2")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == ["trial", "beta", "nDCG@10"]


def test_failed_trials_are_told(ranksift: Command, letor):
    command = ["tune", letor["train"], "--model", "LambdaMART", "--set", "trees=2", "--folds", 2]
    done = ranksift(*command, "--space", "document_share=0.00001,0.5,0.8")
    assert done.code == 0
    assert "1 failed; the first one: document_share=1e-05 of" in done.out


def test_a_named_storage_is_kept_and_goes_on(ranksift: Command, letor, tmp_path):
    command = ["tune", letor["train"], "--model", "RankSVM", *SPACE, "--folds", 2, "--storage", tmp_path / "s"]
    assert ranksift(*command, "--trials", 3, "--out", tmp_path / "model").code == 0
    lines = (tmp_path / "s").read_text().splitlines()
    assert ranksift(*command, "--trials", 5).code == 0
    more = (tmp_path / "s").read_text().splitlines()
    assert (more[: len(lines)], len(more)) == (lines, len(lines) + 2)
    done = ranksift(*command, "--trials", 5, "--seed", 1)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is of another search: parameters and seed differ" in done.err


def test_tpe_is_named_in_the_card_and_goes_on_from_its_own_storage_only(ranksift: Command, letor, tmp_path):
    command = ["tune", letor["train"], "--model", "RankSVM", *SPACE, "--folds", 2]
    given = [*command, "--sampler", "tpe", "--storage", tmp_path / "s"]
    assert ranksift(*given, "--trials", 11).code == 0
    done = ranksift(*given, "--trials", 14, "--out", tmp_path / "model")
    assert (done.code, done.err) == (0, "")
    whole = ranksift(*command, "--sampler", "tpe", "--trials", 14, "--out", tmp_path / "model")
    assert done.out == whole.out
    assert rs.load(tmp_path / "model").card_["tuning"]["sampler"] == "tpe"
    refused = ranksift(*command, "--storage", tmp_path / "s")
    assert (refused.code, refused.err.count("\n"), refused.out) == (2, 1, "")
    assert "is of another search: sampler differs" in refused.err


def test_interrupted_it_says_how_to_go_on(ranksift: Command, letor, tmp_path, monkeypatch):
    command = ["tune", letor["train"], "--model", "RankSVM", *SPACE, "--folds", 2]
    fits = []
    fit = rs.learning.RankSVM.fit

    def interrupted(self, *data):
        fits.append(self.C)
        if len(fits) == 4:
            raise KeyboardInterrupt
        return fit(self, *data)

    monkeypatch.setattr(rs.learning.RankSVM, "fit", interrupted)
    done = ranksift(*command, "--out", tmp_path / "model")
    assert (done.code, done.out) == (130, "")
    assert done.err == f"note: stopped; the same command resumes from {tmp_path / 'model.tuning'}\n"
    assert not (tmp_path / "model").exists()
    fits.clear()
    assert ranksift(*command).err == "note: stopped; the trials are lost: --storage would keep them\n"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["{train}"], "no method is named"),
        (["--model", "RankSVM"], "no examples are given"),
        (["{train}", "--model", "Magic"], "method 'Magic' is unknown"),
        (["{train}", "--model", "RankSVM", "--space", "C"], "--space 'C' is not of the form NAME=VALUES"),
        (["{train}", "--model", "RankSVM", "--space", "C=1..x"], "'x' is not a number"),
        (["{train}", "--model", "RankSVM", "--space", "C=2..1"], "space of C: 2 is not below 1"),
        (["{train}", "--model", "RankSVM", "--space", "C=1", "--space", "C=2"], "--space names 'C' twice"),
        (["{train}", "--model", "RankSVM", "--space", "D=1,2"], "RankSVM has no parameter 'D'"),
        (["{train}", "--model", "RankSVM", "--space", "C=1,2", "--set", "C=1"], "C is both --set and in --space"),
        (["{train}", "--model", "RankSVM", "--set", "C=1"], "RankSVM has nothing to tune by itself"),
        (
            ["{train}", "--model", "RankSVM", "--set", "C=-1", "--space", "tolerance=1e-3,1e-2"],
            "C=-1 is not a number",
        ),
        (["{train}", "--model", "RankSVM", "--folds", "16"], "16 folds of 15 queries"),
        (["{train}", "--model", "RankSVM", "--measure", "AP P@5"], "is 2 measures"),
        (["{train}", "--model", "RankSVM", "--cutoff", "magic"], "rule 'magic' is unknown"),
        (["{train}", "--model", "RankSVM", "--sampler", "magic"], "'magic' is not one of 'random', 'tpe'"),
        (["absent.txt", "--model", "RankSVM"], "absent.txt"),
        (["{train}", "--model", "RankSVM", "--storage", "{vali}"], "vali.txt:1: is not a storage of a search"),
    ],
)
@pytest.mark.parametrize("out", [[], ["--out", "m"]])
def test_bad_input_is_one_line_and_leaves_nothing(
    ranksift: Command, letor, tmp_path, monkeypatch, arguments, fault, out
):
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = ranksift("tune", *(str(a).format(**letor) for a in arguments), *out)
    assert (done.code, done.err.count("\n"), done.out) == (2, 1, ""), done.err
    assert fault in done.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_where_to_search_in_words():
    assert space_of(["C=1e-2..1e2:log", "k=5", "scaling=standard,query,none", "loss=a(k=3,b=1),c"]) == {
        "C": (0.01, 100.0, "log"),
        "k": [5],
        "scaling": ["standard", "query", "none"],
        "loss": ["a(k=3,b=1)", "c"],
    }
    assert space_of(["options={'trees': 10, 'hidden': (8,)},{'trees': 20}"]) == {
        "options": [{"trees": 10, "hidden": (8,)}, {"trees": 20}]
    }
    assert space_of(["loss='a,b','c'"]) == {"loss": ["a,b", "c"]}


def test_other_commands_do_without_optuna(letor, tmp_path):
    command = ["train", str(letor["train"]), "--model", "RankSVM", "--out", str(tmp_path / "model")]
    assert not imported(command) & {"optuna", "sqlalchemy", "torch", "lightgbm"}
    assert rs.load(tmp_path / "model").card_["data"]["queries"] == 15


# -- killed ------------------------------------------------------------------------------------------------------------


def killed(place: str, times: int, *arguments: object) -> None:
    """Run a command in a process that is killed (nothing can be tidied up) as it enters a method for the nth time."""
    module, _, method = place.rpartition(":")
    kind, _, name = method.partition(".")
    program = f"""
import os, signal, sys
from ranksift.cli.main import run
from {module} import {kind}
whole, entered = {kind}.{name}, []
def replaced(self, *given):
    entered.append(1)
    if len(entered) == {times}:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, *given)
{kind}.{name} = replaced
sys.exit(run(sys.argv[1:]))
"""
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed so here")
class TestKilled:
    def test_tuning_goes_on_to_the_result_of_a_search_that_nothing_stopped(self, ranksift: Command, letor, tmp_path):
        command = ["tune", letor["train"], "--model", "RankSVM", *SPACE, "--folds", 3, "--trials", 8]
        whole = ranksift(*command, "--out", tmp_path / "whole")
        model, storage = tmp_path / "model", tmp_path / "model.tuning"
        killed("ranksift.learning.svm:RankSVM._train", 3 * 4 + 2, *command, "--out", model)  # in the fifth trial
        assert not model.exists()
        assert sum('"op_code":4' in line for line in storage.read_text().splitlines()) == 4
        storage.write_text(storage.read_text() + '{"op_code":4,"wor')  # as if it had been in the middle of a line
        done = ranksift(*command, "--out", model)
        assert (done.code, done.err) == (0, "")
        assert done.out == whole.out.replace(str(tmp_path / "whole"), str(model))
        again, card = (json.loads((path / "model.json").read_text()) for path in (model, tmp_path / "whole"))
        assert {**again, "version": card["version"], "sum": card["sum"]} == card
        assert not storage.exists()

    @pytest.mark.parametrize(
        ("place", "times"),
        [
            ("ranksift.learning.svm:RankSVM._train", 1),  # while it learns
            ("ranksift.learning:model_folder._write", 2),  # when half of the files are written
        ],
    )
    def test_training_leaves_the_model_that_was_there(self, ranksift: Command, letor, tmp_path, place, times):
        model = tmp_path / "model"
        command = ["train", letor["train"], "--model", "RankSVM", "--out", model]
        killed(place, times, *command)
        assert not (model / "model.json").exists()
        assert ranksift(*command).code == 0
        before = (model / "model.json").read_bytes()
        killed(place, times, *command, "--set", "C=7")
        assert (model / "model.json").read_bytes() == before
        assert rs.load(model).C == 1.0
        assert ranksift(*command, "--set", "C=7").code == 0
        assert rs.load(model).C == 7

    def test_training_killed_after_one_model_took_the_place_of_another(self, ranksift: Command, letor, tmp_path):
        model = tmp_path / "model"
        command = ["train", letor["train"], "--model", "RankSVM", "--out", model]
        assert ranksift(*command).code == 0
        killed("ranksift.learning:model_folder._clear_up", 1, *command, "--set", "C=7")
        assert rs.load(model).C == 7


@pytest.mark.parametrize(
    ("space", "fault"),
    [
        ("trees=4..9:lin", "is not a positive integer"),
        ("trees=a,b", "is not a positive integer"),
        ("trees=4.5..7.2", "is not a positive integer"),
        ("leaves=1,4", "leaves=1 is not an integer from 2"),
    ],
)
def test_words_for_numbers_are_found_before_the_first_trial(ranksift: Command, letor, tmp_path, space, fault):
    tune = ("tune", letor["train"], "--validation", letor["vali"], "--model", "LambdaMART", "--trials", "2")
    done = ranksift(*tune, "--out", tmp_path / "model", "--space", space)
    assert (done.code, done.out) == (2, "")
    assert fault in done.err
    assert not (tmp_path / "model").exists()
