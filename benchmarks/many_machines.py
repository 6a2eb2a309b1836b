"""The same evaluation on 1, 2 and 4 workers of a Ray cluster, beside one process: time, processors and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.evaluation import table
from benchmarks.files import make
from benchmarks.streaming import DEPTH, MEASURES, megabytes, size_of

WORKERS = (1, 2, 4)
SHARDS = 8
STORE = 1 << 30  # bytes of its objects
_EVERY = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")

# A machine for so many workers; it stands until somebody closes the standard input. A busy one may need several tries.
_CLUSTER = """
import sys
from ray.cluster_utils import Cluster
for _ in range(10):
    cluster = Cluster()
    try:
        cluster.add_node(num_cpus=int(sys.argv[1]), object_store_memory=int(sys.argv[2]), include_dashboard=False)
        break
    except Exception:
        cluster.shutdown()
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


class Used(NamedTuple):
    """Seconds by the clock and of all processors, the largest memory of all processes, and what was printed."""

    seconds: float
    processor: float
    peak_mb: float
    said: str


def report(quick: bool, folder: Path, sizes: str = "100k,1M,10M", repeats: int = 3) -> str:
    """Every number of workers at every size; the numbers that they print are those of one process."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    names, repeats = (["10k"], 1) if quick else (sizes.split(","), repeats)
    found: dict[str, dict[str, list[Used]]] = {}
    for name in names:
        qrels, run = make(folder, size_of(name) // DEPTH)
        shards = split(run, SHARDS)
        local = [sys.executable, "-m", "ranksift", "evaluate", str(qrels), str(run), "-m", MEASURES, "-f", "json"]
        remote = [*local[:5], str(shards), *local[6:], "--engine", "ray", "--address"]
        for _ in range(repeats):
            used = {"one process, one thread": measured(local, RANKSIFT_THREADS="1")}
            for workers in WORKERS:
                with cluster(workers) as (address, pid):
                    used[f"Ray, {workers} worker{'s' * (workers > 1)}"] = measured([*remote, address], beside=pid)
            for job, one in used.items():
                assert scores_in(one.said) == scores_in(used["one process, one thread"].said), job
                found.setdefault(job, {}).setdefault(name, []).append(one)
                print(f"{name} {job}: {one[:3]}", file=sys.stderr, flush=True)
    rows = [[job, *(cell(done[name]) for name in names)] for job, done in found.items()]
    title = f"one machine and a cluster: seconds by the clock / of all processors, peak MB, median of {repeats}"
    return table(title, ["", *(f"{name} rows" for name in names)], rows)


def split(run: Path, shards: int) -> Path:
    """The run in so many files, whole lists in each, in a folder of its name."""
    folder = run.with_suffix(".shards") / run.stem
    if not folder.exists():
        part = folder.with_suffix(".part")
        part.mkdir(parents=True)
        with run.open("rb") as lines:
            outs = [(part / f"part-{i}.run").open("wb") for i in range(shards)]
            n = 0
            while block := list(islice(lines, DEPTH)):
                outs[n % shards].writelines(block)
                n += 1
            for out in outs:
                out.close()
        part.rename(folder)
    return folder


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, int]]:
    """The address of a cluster with so many workers, and the process to which all of its processes belong."""
    command = [sys.executable, "-c", _CLUSTER, str(workers), str(STORE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().decode().split()[-1], process.pid
        process.stdin.close()


def measured(command: list[str], beside: int | None = None, **environment: str) -> Used:
    """What a command takes, with the processes that work for it, less what those took before."""
    others = [] if beside is None else [beside]
    idle, peak = ticks(others), 0.0
    seen = dict(idle)
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak = max(peak, sum(map(megabytes, [process.pid, *others])))
            seen |= ticks(others)  # Ray's workers are gone when the command has ended
            time.sleep(_EVERY)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} failed")
        said.seek(0)
        text = said.read().decode()
    seen |= ticks(others)
    usage = ended[2]
    computed = usage.ru_utime + usage.ru_stime + (sum(seen.values()) - sum(idle.values())) / _TICKS
    return Used(seconds, computed, max(peak, usage.ru_maxrss / 1024), text)


def ticks(pids: list[int]) -> dict[int, int]:
    """What processes, and those that they have started, have computed."""
    found, left = {}, list(pids)
    while left:
        own = left.pop()
        try:
            fields = Path(f"/proc/{own}/stat").read_text().rpartition(")")[2].split()
            found[own] = sum(map(int, fields[11:13]))
            left += map(int, Path(f"/proc/{own}/task/{own}/children").read_text().split())
        except OSError:  # it has ended
            continue
    return found


def scores_in(said: str) -> list[str]:
    """The lines that hold numbers; those with names of files differ."""
    return [line for line in said.splitlines() if any(c.isdigit() for c in line) and ".run" not in line]


def cell(used: list[Used]) -> str:
    """Medians."""
    seconds, cpu, mb = (median(each[i] for each in used) for i in range(3))  # type: ignore[type-var]
    return f"{seconds:.1f} / {cpu:.1f} s, {mb:.0f} MB"
