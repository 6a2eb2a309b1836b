"""Tuning, ranking and training on a cluster: byte by byte what one machine gives, also where a process dies."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift import Examples, InputError
from ranksift.cli.main import run
from ranksift.learning import RankSVM, tune
from tests.learning.text.test_ranker import drawn
from tests.learning.text.tiny import write_encoder

ROOT = Path(__file__).parents[2]


def made(seed: int, queries: int = 15) -> Examples:
    """Documents whose labels follow a feature, with noise; -1 is forbidden."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(6 * queries, 3))
    hidden = x[:, 0] + 0.7 * draw.normal(size=len(x))
    names = np.repeat([f"{seed}{q:02d}" for q in range(queries)], 6)
    return Examples.from_arrays(x, np.select([hidden < -0.5, hidden < 0.5], [-1, 0], 1), names)


# -- tune --------------------------------------------------------------------------------------------------------------


def test_a_search_finds_what_it_finds_on_one_machine(cluster, tmp_path):
    from ranksift import scale

    how = {"space": {"C": (0.01, 100.0, "log")}, "trials": 5, "folds": 3, "seed": 2}
    alone = tune(RankSVM(), made(1), **how)
    found = scale.tune(RankSVM(), made(1), storage=tmp_path / "kept", **how)
    assert found.trials == alone.trials
    assert [trial.queries for trial in found.trials] == [trial.queries for trial in alone.trials]
    assert (found.best, found.to_dict()) == (alone.best, alone.to_dict())
    again = scale.tune(RankSVM(), made(1), storage=tmp_path / "kept", **{**how, "trials": 6})
    assert [trial.seconds for trial in again.trials[:5]] == [trial.seconds for trial in found.trials]  # not made again


def test_the_command_tunes_on_a_cluster(cluster, tmp_path, capsys):
    made(1).save(tmp_path / "train.txt")
    command = ["tune", str(tmp_path / "train.txt"), "--model", "rank-svm", "--space", "C=0.01,1,100", "--folds", "3"]
    shown = []
    for more in ([], ["--engine", "ray"]):
        assert run([*command, "--out", str(tmp_path / "model"), *more]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_a_ranker_that_cannot_be_fitted_is_told_before_there_is_a_cluster():
    pytest.importorskip("ray", reason="needs the extra scale: Ray")
    from ranksift import scale

    with pytest.raises(InputError, match="C='high' is not"):
        scale.tune(RankSVM(C="high"), made(1))


def test_tpe_is_refused_before_there_is_a_cluster(tmp_path, capsys):
    pytest.importorskip("ray", reason="needs the extra scale: Ray")
    from ranksift import scale

    with pytest.raises(InputError, match="sampler='tpe' draws each trial from the values of all before it"):
        scale.tune(RankSVM(), made(1), sampler="tpe", address="nowhere:1")
    made(1).save(tmp_path / "train.txt")
    command = ["tune", str(tmp_path / "train.txt"), "--model", "rank-svm", "--sampler", "tpe", "--engine", "ray"]
    assert run(command) == 2
    err = capsys.readouterr().err
    assert (err.count("\n"), err.startswith("--sampler tpe draws each trial")) == (1, True)


# -- rank --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A ranker that drops documents."""
    place = tmp_path_factory.mktemp("ranker") / "model"
    rs.learning.LambdaMART(trees=20).fit(made(1)).fit_cutoff(made(2)).save(place)
    return place


@pytest.fixture
def corpus(tmp_path):
    """Lists in four files."""
    folder = tmp_path / "lists"
    folder.mkdir()
    for i in range(4):
        made(10 + i).save(folder / f"part-{i}.txt")
    return folder


@pytest.mark.parametrize("more", [[], ["--keep-all", "--name", "all"]])
@pytest.mark.parametrize("suffix", ["run", "csv"])
def test_a_corpus_is_ranked_to_the_same_bytes(cluster, model, corpus, suffix, more, tmp_path, capsys):
    files = sorted(str(path) for path in corpus.glob("*.txt"))
    out = [tmp_path / f"{name}.{suffix}" for name in ("alone", "cluster")]
    assert run(["rank", str(model), *files, "--out", str(out[0]), *more]) == 0
    told = capsys.readouterr()
    assert run(["rank", str(model), f"{corpus}/*.txt", "--out", str(out[1]), "--engine", "ray", *more]) == 0
    assert capsys.readouterr() == told
    assert ("documents dropped" in told.err) == (not more)
    assert out[0].read_bytes() == out[1].read_bytes()
    assert len(rs.read_run(out[1])) > 20


def test_a_query_in_two_files_is_refused_and_nothing_is_written(cluster, model, corpus, tmp_path):
    from ranksift import scale

    (corpus / "part-9.txt").write_bytes((corpus / "part-3.txt").read_bytes())
    with pytest.raises(InputError, match=r"9\.txt: query '1300' is also in .*3\.txt'; put each query into one"):
        scale.rank(model, f"{corpus}/*.txt", tmp_path / "out.run")
    (corpus / "part-9.txt").write_text("1 qid:7 1:x\n")
    with pytest.raises(InputError, match=r"part-9\.txt:1: "):
        scale.rank(model, f"{corpus}/*.txt", tmp_path / "out.run")
    assert not (tmp_path / "out.run").exists()


# -- train -------------------------------------------------------------------------------------------------------------


def one_of(title: bytes) -> int:
    """A process by its title."""
    while True:
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if place.read_bytes().startswith(title):
                    return int(place.parent.name)
        time.sleep(0.02)


def weights(model: Path) -> bytes:
    version = json.loads((model / "model.json").read_text())["version"]
    return (model / version / "weights.safetensors").read_bytes()


def test_texts_are_learned_from_as_under_torchrun_though_a_process_dies(cluster, tmp_path, capsys):
    encoder = write_encoder(tmp_path / "bert", "bert")
    for seed, (name, queries) in enumerate({"train": 24, "validation": 10}.items()):
        texts = drawn(queries, seed=seed)
        replace(texts, query_ids=tuple(f"{name}-{q}" for q in texts.query_ids)).save(tmp_path / f"{name}.jsonl")
    settings = (f"encoder={encoder}", "epochs=8", "batch_size=4", "learning_rate=0.003", "max_length=12", "device=cpu")
    words = [word for setting in settings for word in ("--set", setting)]
    given = (tmp_path / "train.jsonl", "--validation", tmp_path / "validation.jsonl", "--gains=-1=-10")
    train = ["train", *map(str, given), "--model", "text", "--loss", "lambdarank_bce", *words]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src"), "GLOO_SOCKET_IFNAME": "lo"}
    launcher = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", "ranksift")
    command = [*launcher, *train, "--out", str(tmp_path / "local")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr

    killed = []

    def kill():
        while not list((tmp_path / "cluster.training").glob("checkpoint.*")):
            time.sleep(0.02)
        killed.append(one_of(b"ray::Process.fit"))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    capsys.readouterr()
    assert run([*train, "--out", str(tmp_path / "cluster"), "--engine", "ray", "--workers", "2"]) == 0
    killer.join()
    shown = capsys.readouterr()
    assert weights(tmp_path / "cluster") == weights(tmp_path / "local")
    assert shown.out.replace(str(tmp_path / "cluster"), "M") == done.stdout.replace(str(tmp_path / "local"), "M")
    assert shown.err.count("of the documents are longer than max_length=12") == 1
    assert len((tmp_path / "cluster.training" / "log.csv").read_text().splitlines()) == 9


def test_more_processes_than_there_are_cores(cluster, tmp_path, capsys):
    encoder = write_encoder(tmp_path / "bert", "bert")
    drawn(6).save(tmp_path / "train.jsonl")
    given = ["train", str(tmp_path / "train.jsonl"), "--model", "text", "--set", f"encoder={encoder}"]
    given += ["--set", "device=cpu", "--out", str(tmp_path / "model")]
    assert run([*given, "--engine", "ray", "--workers", "9"]) == 2
    assert capsys.readouterr().err.startswith("the cluster has fewer than 9 CPUs; ask for fewer processes: --workers")
    assert run([*given, "--workers", "2"]) == 2
    assert capsys.readouterr().err.startswith("--workers is only for a Ray cluster; give --engine ray too")
