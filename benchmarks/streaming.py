"""Runs larger than memory: what streams, within a limit, beside peers as far as they get."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.evaluation import table
from benchmarks.files import make

DEPTH = 1000
MEASURES = "nDCG_f@10 nDCG@10 AP Fdocs@10 GoodFiltered"
RULES = "filter-all rank-only global oracle"
LIMIT = "500MB"  # what the rows of a run may take
PEER_LIMIT = 7500  # MB: a peer that would take more, by what it took of fewer rows, is not started
#: What holds all rows of a run.
WHOLE = ("pytrec_eval", "ir_measures", "evaluate, read whole")

# Seconds between two looks at the memory, and points of a curve that are kept.
_EVERY = 0.2
_POINTS = 120


def files(folder: Path, rows: int) -> dict[str, Path]:
    """Judgments, a run, another one as Parquet, and the first one with each query in two places."""
    qrels, run = make(folder, rows // DEPTH)
    found = {"qrels": qrels, "run": run, "parquet": run.with_suffix(".parquet"), "apart": run.with_suffix(".apart.run")}
    if not found["parquet"].exists():
        subprocess.run([sys.executable, "-c", _PARQUET, str(run), str(found["parquet"])], check=True)
    if not found["apart"].exists():
        halves(run, found["apart"])
    return found


_PARQUET = """
import sys, polars as pl
names = ["query_id", "q0", "doc_id", "rank", "score", "tag"]
text = {"query_id": pl.String, "doc_id": pl.String}
run = pl.scan_csv(sys.argv[1], separator=" ", has_header=False, new_columns=names, schema_overrides=text)
noise = pl.col("doc_id").str.slice(-1).cast(pl.Float64)  # 0 to 9
run.select("query_id", "doc_id", (pl.col("score") + noise).round(6)).sink_parquet(sys.argv[2])
"""


def halves(run: Path, target: Path) -> None:
    """Write the upper half of each list, query after query, and then the lower halves."""
    part = target.with_suffix(".part")
    with part.open("wb") as out:
        for lower in (False, True):
            with run.open("rb") as lines:
                while block := list(islice(lines, DEPTH)):
                    out.writelines(block[DEPTH // 2 :] if lower else block[: DEPTH // 2])
    part.rename(target)


def commands(given: dict[str, Path]) -> dict[str, list[str]]:
    """What is measured."""
    qrels, run, parquet, apart = (str(given[name]) for name in ("qrels", "run", "parquet", "apart"))
    ranksift = [sys.executable, "-m", "ranksift"]
    within = ["--memory", LIMIT]
    return {
        "evaluate": [*ranksift, "evaluate", qrels, run, "-m", MEASURES, *within],
        "evaluate, Parquet": [*ranksift, "evaluate", qrels, parquet, "-m", MEASURES, *within],
        "evaluate, queries apart": [*ranksift, "evaluate", qrels, apart, "-m", MEASURES, *within],
        "compare": [*ranksift, "compare", qrels, run, parquet, "-m", MEASURES, *within],
        "cutoff fit": [*ranksift, "cutoff", "fit", qrels, run, "--gains=0=-1", "--out", os.devnull, *within],
        "cutoff compare": [*ranksift, "cutoff", "compare", qrels, run, "--gains=0=-1", "--rules", RULES, *within],
        "evaluate, read whole": [*ranksift, "evaluate", qrels, run, "-m", MEASURES, "--memory", "1000GB"],
        "pytrec_eval": [sys.executable, "-m", "benchmarks.worker", "pytrec_eval", qrels, run],
        "ir_measures": [sys.executable, "-m", "benchmarks.worker", "ir_measures", qrels, run],
    }


def measured(command: list[str]) -> dict[str, object]:
    """Seconds by the clock and of all processors, the largest memory of all processes of a command, and its curve."""
    curve: list[tuple[float, float]] = []
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=said)
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            curve.append((time.perf_counter() - start, megabytes(process.pid)))
            time.sleep(_EVERY)
        seconds = time.perf_counter() - start
        said.seek(0)
        words = said.read().decode()
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise RuntimeError(f"{' '.join(command)} failed: {words[-300:]}")
    step = max(1, len(curve) // _POINTS)
    return {
        "seconds": seconds,
        "processor": usage.ru_utime + usage.ru_stime,
        "peak_mb": max(mb for _, mb in curve),
        "curve": [[round(curve[i][0], 1), round(max(mb for _, mb in curve[i : i + step]))]
                  for i in range(0, len(curve), step)],
        "said": words[-2000:],
    }  # fmt: skip


def megabytes(pid: int) -> float:
    """Memory of a process and of all that it has started; what they share counts once."""
    total, left = 0, [pid]
    while left:
        own = left.pop()
        try:
            lines = Path(f"/proc/{own}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
            left += map(int, Path(f"/proc/{own}/task/{own}/children").read_text().split())
        except (OSError, StopIteration):  # it has ended
            continue
    return total / 1024


def size_of(text: str) -> int:
    """1M, 100M: a number of rows.

    >>> size_of("30M")
    30000000
    """
    return int(text[:-1]) * {"k": 1000, "M": 1_000_000}[text[-1]]


def report(quick: bool, folder: Path, sizes: str = "1M,10M", only: str = "") -> str:
    """Every command at every size."""
    names = ["10k", "50k"] if quick else sizes.split(",")
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "streaming.json"
    found: dict[str, dict[str, dict[str, object]]] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in names:
        for job, command in commands(files(folder, size_of(name))).items():
            done = found.setdefault(job, {})
            if name in done or (only and job not in only.split(";")) or _too_much(job, done, size_of(name)):
                continue
            done[name] = measured(command)
            kept.write_text(json.dumps(found))
            print(f"{name} {job}: {_cell(done[name])}", file=sys.stderr, flush=True)
    draw(found, names, folder)
    rows = [[job, *(_cell(done.get(name)) for name in names)] for job, done in found.items()]
    title = f"larger than memory: seconds by the clock / of all processors, peak MB of all processes, --memory {LIMIT}"
    return table(title, ["command", *(f"{name} rows" for name in names)], rows)


def _too_much(job: str, done: dict[str, dict[str, object]], rows: int) -> bool:
    """Whether what reads a run whole would take more memory than others on the machine can spare."""
    if job not in WHOLE or not done:
        return False
    name, last = max(done.items(), key=lambda item: size_of(item[0]))
    return float(last["peak_mb"]) / size_of(name) * rows > PEER_LIMIT  # type: ignore[arg-type]


def _cell(found: dict[str, object] | None) -> str:
    return "-" if found is None else f"{found['seconds']:.1f} / {found['processor']:.1f} s, {found['peak_mb']:.0f} MB"


def draw(found: dict[str, dict[str, dict[str, object]]], names: list[str], folder: Path) -> None:
    """The memory over time, at the largest size that each of them was run at."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.6, 3.6), layout="constrained")
    for job, done in found.items():
        there = [name for name in names if name in done]
        if not there:
            continue
        curve = [(at, memory) for at, memory in done[there[-1]]["curve"] if at >= 1]  # type: ignore[attr-defined]
        axes.plot(
            *zip(*curve, strict=True), "--" if job in WHOLE else "-", linewidth=1.3, label=f"{job}, {there[-1]} rows"
        )
    axes.axhline(2000, color="0.6", linewidth=0.8, linestyle=":")
    axes.set(xlabel="seconds", ylabel="MB, all processes", yscale="log", xscale="log", ylim=(20, None))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(folder / "streaming.svg", metadata={"Date": None})
