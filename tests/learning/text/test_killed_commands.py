"""ranksift train is killed, at moments that a seed draws, and run again: it comes to the same model, bit for bit."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from tests.learning.text.test_ranker import drawn

ROOT = Path(__file__).parents[3]

#: Where a process may die: before a step; with half a checkpoint on the disk; with one that has not got its name.
MOMENTS = ("step", "half", "named")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for seed, (name, queries) in enumerate({"train": 24, "validation": 10, "test": 12}.items()):
        made = drawn(queries, seed=seed)
        replace(made, query_ids=tuple(f"{name}-{q}" for q in made.query_ids)).save(folder / f"{name}.jsonl")
    return folder


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Runs ``ranksift`` in a process of its own, which may die."""
    place = tmp_path_factory.mktemp("said")
    env = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    started = [sys.executable, "-W", "ignore", "-m", "tests.learning.text.commands", str(place)]
    with subprocess.Popen(
        started, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def run(*arguments, die=None):
            process.stdin.write(json.dumps({"arguments": [*map(str, arguments)], "die": die}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield run


@pytest.fixture(scope="module")
def text(data, bert):
    """A training of two networks, one after the other, without --out."""
    settings = (f"encoder={bert}", "epochs=3", "batch_size=4", "learning_rate=0.003", "max_length=32", "device=cpu")
    words = [word for setting in (*settings, "matching=true") for word in ("--set", setting)]
    given = (data / "train.jsonl", "--validation", data / "validation.jsonl", "--gains=-1=-10", "--cutoff", "global")
    return ("train", *given, "--model", "text", "--loss", "lambdarank_bce", *words)


@pytest.fixture(scope="module")
def folds(data, bert):
    """Three of these, each of other folds."""
    options = {"encoder": str(bert), "epochs": 2, "batch_size": 4, "learning_rate": 0.003, "max_length": 32}
    options["matching"] = True
    words = ("--set", "model=TextRanker", "--set", f"options={options}", "--set", "folds=3")
    return ("train", data / "train.jsonl", "--gains=-1=-10", "--model", "ExpectedGainRanker", *words)


@pytest.fixture(scope="module")
def whole(command, text, folds, tmp_path_factory):
    """What both come to where nobody kills them, and in how many steps."""
    folder, steps = tmp_path_factory.mktemp("whole"), {}
    for name, train in (("text", text), ("folds", folds)):
        done = command(*train, "--out", folder / name)
        assert done["code"] == 0, done["err"]
        steps[name] = done["steps"]
    assert min(steps.values()) > 18
    return folder, steps


def weights(model):
    version = json.loads((model / "model.json").read_text())["version"]
    return (model / version / "weights.safetensors").read_bytes()


def killed(seed, kills):
    """Moments that a seed draws."""
    draw = np.random.default_rng(seed)
    return [(MOMENTS[draw.integers(3)], int(draw.integers(1, 6))) for _ in range(kills)]


@pytest.mark.parametrize(("name", "kills"), [("text", 4), ("folds", 6)])
def test_killed_and_run_again_it_comes_to_the_same_model(name, kills, command, text, folds, whole, data, tmp_path):
    train = (*{"text": text, "folds": folds}[name], "--out", tmp_path / "model")
    folder, total = whole[0], whole[1][name]
    steps = 0
    for moment in killed(3, kills):
        done = command(*train, die=moment)
        assert done["code"] == -signal.SIGKILL, (moment, done)
        assert not (tmp_path / "model" / "model.json").exists()
        steps += done["steps"]
    done = command(*train)
    assert (done["code"], done["err"]) == (0, "")
    # Of each process at most the step that it died in is done again.
    assert done["steps"] < total <= steps + done["steps"] <= total + kills
    assert weights(tmp_path / "model") == weights(folder / name)
    runs = []
    for model in (tmp_path / "model", folder / name):
        assert command("rank", model, data / "test.jsonl", "--name", "run", "--out", tmp_path / "run")["code"] == 0
        runs.append((tmp_path / "run").read_bytes())
    assert runs[0] == runs[1] != b""
    parts = {"text": [""], "folds": [".fold-1", ".fold-2", ".fold-3"]}[name]
    logs = {f"log{part}{suffix}" for part in parts for suffix in (".csv", "-matching.csv")}
    logs = {log.replace("log-", "log.") for log in logs}
    assert {path.name for path in (tmp_path / "model.training").iterdir()} == {*logs, "log.svg"}


def test_killed_between_the_model_and_the_end_it_is_saved_again(command, text, whole, tmp_path):
    train = (*text, "--out", tmp_path / "model")
    folder, steps = whole
    assert command(*train, die=("half", steps["text"]))["code"] == -signal.SIGKILL
    left = {place: place.read_bytes() for place in (tmp_path / "model.training").glob("checkpoint.*")}
    assert len(left) == 2
    assert command(*train)["steps"] == 1
    for place, content in left.items():
        place.write_bytes(content)
    assert command(*train)["steps"] == 1
    assert weights(tmp_path / "model") == weights(folder / "text")
    assert rs.load(tmp_path / "model").cutoff_ is not None


def test_another_command_does_not_go_on_from_there(command, text, whole, tmp_path):
    train = (*text, "--out", tmp_path / "model")
    assert command(*train, die=("step", 4))["code"] == -signal.SIGKILL
    left = (tmp_path / "model.training" / "checkpoint.safetensors").read_bytes()
    for other in (("--seed", 1), ("--set", "stop_by=measure"), ("--set", "pooling=mean"), ("--set", "layer_decay=0.5")):
        done = command(*train, *other)
        assert (done["code"], done["err"].count("\n"), done["steps"]) == (2, 1, 0), done["err"]
        assert "safetensors: is a checkpoint of a different training run" in done["err"]
    assert (tmp_path / "model.training" / "checkpoint.safetensors").read_bytes() == left
    # What has no part in training may be another: the cut is made afterwards.
    assert command(*train, "--cutoff-set", "at_most=Empty<=0.9")["steps"] == whole[1]["text"] - 3


def test_two_processes_of_torchrun_write_one_model(calm_bert, data, tmp_path):
    settings = (f"encoder={calm_bert}", "epochs=2", "batch_size=4", "learning_rate=0.003", "max_length=12")
    words = [word for setting in (*settings, "pooling=mean", "device=cpu") for word in ("--set", setting)]
    given = (data / "train.jsonl", "--validation", data / "validation.jsonl", "--gains=-1=-10")
    train = ("train", *given, "--model", "text", "--loss", "lambdarank_bce", *words)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src"), "GLOO_SOCKET_IFNAME": "lo"}
    python, launcher = (sys.executable, "-m"), ("torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m")
    said = {}
    for name, begin in (("alone", python), ("several", (*python, *launcher))):
        command = [*begin, "ranksift", *map(str, train), "--out", str(tmp_path / name)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        said[name] = [line.split("  ")[0] for line in done.stdout.replace(str(tmp_path / name), "model").splitlines()]
        assert done.stderr.count("of the documents are longer than max_length=12") == 1
    assert said["alone"] == said["several"] != []
    assert len(list((tmp_path / "several").glob("version-*"))) == 1
    test = str(data / "test.jsonl")
    one, both = (rs.load(tmp_path / name).score(test) for name in ("alone", "several"))
    assert np.corrcoef(one, both)[0, 1] > 0.85  # but for rounding, and for what dropout draws
    assert not np.array_equal(one, both)  # else one process did all of it
