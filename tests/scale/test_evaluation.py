"""An evaluation on a cluster: every number to its last bit, every error and note, whoever dies on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.measures.classic import AP
from tests.evaluation.test_streaming import HOW, assert_same, collection, every_measure, outcome, write
from tests.scale.conftest import STORE

SUFFIXES = ("run", "parquet", "csv", "run.gz", "jsonl")


def sharded(folder: Path, rows, shards: int, suffixes=SUFFIXES) -> Path:
    """A run in several files of several formats, cut anywhere."""
    folder.mkdir()
    cuts = np.linspace(0, len(rows), shards + 1).astype(int)
    for i in range(shards):
        write(folder / f"part-{i}.{suffixes[i % len(suffixes)]}", rows[cuts[i] : cuts[i + 1]])
    (folder / "_SUCCESS").touch()
    (folder / f"part-{shards}").touch()
    return folder


def judged(folder: Path, qrels, shards: int) -> Path:
    folder.mkdir()
    names = list(qrels)
    for i, some in enumerate(np.array_split(names, shards)):
        rs.read_qrels({q: qrels[q] for q in some.tolist()}).save(folder / f"q{i}.{('txt', 'parquet')[i % 2]}")
    return folder


def on_ray(qrels, runs, measures, **how):
    """Scores, or the error."""
    import warnings

    from ranksift import scale

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return scale.evaluate(qrels, runs, measures, **how)
        except InputError as error:
            return str(error)


@pytest.mark.parametrize("number", range(len(HOW)))
def test_scores_are_those_of_one_machine(cluster, tmp_path, number):
    how, together = HOW[number], bool(number % 2)
    qrels, rows = collection(number, together=together)
    shards = min(4, len(qrels))
    local = {name: write(tmp_path / f"{name}.run", rows[:: i + 1]) for i, name in enumerate("ab")}
    runs = [sharded(tmp_path / name, rows[:: i + 1], 3 + i) for i, name in enumerate("ab")]
    judgments = tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    whole = outcome(judgments, local, every_measure(), **how)
    parts = on_ray(judged(tmp_path / "judged", qrels, shards), runs, every_measure(), memory=9000, **how)
    assert_same(parts, whole)
    assert on_ray(judgments, tmp_path / "none" / "*.run", "AP").endswith("name a file, a folder of files or a pattern")


def test_a_run_is_named_by_its_folder_or_its_pattern(cluster, tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    for name in ("bm25-0.run", "bm25-1.run"):
        (tmp_path / name).write_text(f"q Q0 d{name[5]} 1 2.0 t\n")
    found = on_ray(tmp_path / "qrels.txt", [str(tmp_path / "bm25-*.run"), tmp_path / "bm25-1.run"], "AP")
    assert found.runs == ("bm25", "bm25-1")


def test_errors_name_the_file_and_the_line(cluster, tmp_path):
    qrels = {"q": {"a": 1}, "r": {"b": 2}}
    judgments = tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    folder = tmp_path / "bm25"
    folder.mkdir()
    (folder / "0.run").write_text("q Q0 a 1 3.0 t\nr Q0 c 1 2.0 t\n")
    second = folder / "1.run"
    twice = "document 'a' is listed twice for query 'q', with scores 3 and 2"
    faults = {
        "r Q0 b 1 1.0 t\nq Q0 a 2 2.0 t\n": f"{second}:2: {twice}",
        "r Q0 b 1 x t\n": f"{second}:1: score 'x' is not a number",
        "r Q0 b 1\n": f"{second}:1: 4 columns where 6 are expected",
    }
    for text, said in faults.items():
        second.write_text(text)
        assert on_ray(judgments, folder, "AP").startswith(said)
    kept = on_ray(judgments, folder.parent / "bm25" / "0.run", "AP")
    assert kept.mean_of("AP") == 0.5
    second.write_text("q Q0 a 2 9.0 t\nq Q0 z 2 4.0 t\n")
    local = outcome(judgments, {"bm25": {"q": {"a": 9.0, "z": 4.0}, "r": {"c": 2.0}}}, "AP RR")
    assert_same(on_ray(judgments, folder, "AP RR", on_duplicate="best"), local)
    assert on_ray(judgments, tmp_path / "gone.run", "AP").startswith(f"{tmp_path}/gone.run: ")
    assert on_ray(qrels, folder, "AP").startswith("a dict is not a file that all machines can read; name a file")
    judgments.write_text("q 0 a 1e300\n")
    assert "is too large to be kept exactly" in on_ray(judgments, folder, "AP", on_duplicate="best")


@dataclass(frozen=True, repr=False)
class Waits(AP, abstract=True):
    """AP, which says at its first call in which process it is computed, and waits there to be killed."""

    place: str = ""

    def per_query(self, judged):
        try:
            with Path(self.place, "pid").open("x") as file:
                file.write(f"{os.getpid()}\n")
        except FileExistsError:
            return super().per_query(judged)
        time.sleep(60)
        raise AssertionError("nobody killed this process")


def when_there(place: Path) -> str:
    """What a file says, once somebody has written it."""
    while not (place.exists() and place.read_text().endswith("\n")):
        time.sleep(0.02)
    return place.read_text()


def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path):
    qrels, rows = collection(5, together=False)
    rs.read_qrels(qrels).save(tmp_path / "qrels.txt")
    whole = outcome(tmp_path / "qrels.txt", {"run": write(tmp_path / "run.run", rows)}, "AP")
    run = sharded(tmp_path / "run", rows, 4)
    killed = []

    def kill():
        pid = int(when_there(tmp_path / "pid"))
        title = Path(f"/proc/{pid}/cmdline").read_bytes()
        os.kill(pid, signal.SIGKILL)
        killed.append(title)

    killer = threading.Thread(target=kill)
    killer.start()
    found = on_ray(tmp_path / "qrels.txt", run, Waits(place=str(tmp_path)), memory=9000)
    killer.join()
    assert killed[0].startswith(b"ray::_evaluated")
    assert found.numerators.tobytes() == whole.numerators.tobytes()
    assert found.aggregate().tobytes() == whole.aggregate().tobytes()
    assert found.notes == whole.notes


def test_a_machine_that_is_lost_changes_nothing(cluster, tmp_path):
    """With it go pieces of the files that it has read: they are read again elsewhere."""
    qrels, rows = collection(7, together=False)
    rs.read_qrels(qrels).save(tmp_path / "qrels.txt")
    whole = outcome(tmp_path / "qrels.txt", {"run": write(tmp_path / "run.run", rows)}, "AP")
    run = sharded(tmp_path / "run", rows, 4)
    third = cluster.add_node(num_cpus=4, object_store_memory=STORE)

    def lose():
        pid = int(when_there(tmp_path / "pid"))
        cluster.remove_node(third)
        with suppress(ProcessLookupError):  # it ran there
            os.kill(pid, signal.SIGKILL)

    lost = threading.Thread(target=lose)
    lost.start()
    found = on_ray(tmp_path / "qrels.txt", run, Waits(place=str(tmp_path)), memory=9000)
    lost.join()
    assert found.numerators.tobytes() == whole.numerators.tobytes()


def command(*arguments, **how):
    """The command line, in a process of its own."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ranksift", *map(str, arguments)], capture_output=True, text=True, check=False, **how
    )
    return done, time.monotonic() - started


def test_the_command_prints_what_it_prints_without_a_cluster(cluster, tmp_path):
    qrels, rows = collection(2, together=True)
    judgments = tmp_path / "qrels.txt"
    rs.read_qrels(qrels).save(judgments)
    local, _ = command("evaluate", judgments, write(tmp_path / "bm25.run", rows), "-q", "-f", "csv")
    run = sharded(tmp_path / "bm25", rows, 2)
    done, _ = command("evaluate", judgments, run, "-q", "-f", "csv", "--engine", "ray", "--address", cluster.address)
    assert (done.returncode, done.stdout, done.stderr) == (0, local.stdout, local.stderr)
    assert "the label -1 is taken" in done.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ["--engine", "ray", "--address", "127.0.0.1:9"],
            "there is no Ray cluster at 127.0.0.1:9 (Connection refused)",
        ),
        (["--engine", "ray", "--address", "nowhere"], "--address 'nowhere' is not of the form HOST:PORT"),
        (["--address", "auto"], "--address is only for a Ray cluster; give --engine ray too"),
        (["--engine", "ray", "--cache", "kept"], "--cache is of one machine; leave it out, or leave --engine ray out"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, more, said):
    pytest.importorskip("ray", reason="needs the extra scale: Ray")
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n")
    (tmp_path / "bm25.run").write_text("q Q0 d 1 2.0 t\n")
    done, seconds = command("evaluate", "qrels.txt", "bm25.run", *more, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert seconds < 60


def test_without_ray_the_extra_is_named(tmp_path):
    (tmp_path / "ray.py").write_text("raise ImportError\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done, _ = command("evaluate", "q", "r", "--engine", "ray", env={**os.environ, "PYTHONPATH": path})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the engine ray needs Ray; pip install 'ranksift[scale]'")
