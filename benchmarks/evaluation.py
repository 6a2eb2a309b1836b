"""Files to numbers, and whole commands, beside pytrec_eval, ir_measures and ranx."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.files import make
from benchmarks.worker import MEASURES

FOLDER = Path("out/bench")
SIZES = {"50k": 50, "1M": 1000, "7M": 6980}
AWKWARD = ("shuffled", "tied", "mixed")


def table(title: str, header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table under a heading."""
    lines = [f"### {title}", "", f"| {' | '.join(header)} |", f"|{'|'.join('---' for _ in header)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])


def in_python(tool: str, qrels: Path, run: Path) -> dict[str, float]:
    """Seconds, peak memory and the six numbers of one tool in a fresh process, imports not counted."""
    command = [sys.executable, "-m", "benchmarks.worker", tool, str(qrels), str(run)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def cold(command: list[str]) -> dict[str, float]:
    """Seconds and peak memory of a whole command, from the shell's point of view."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{command[0]} failed: {process.stderr.read().decode()[-300:]}")  # type: ignore[union-attr]
    return {"seconds": seconds, "peak_mb": usage.ru_maxrss / 1024}


def side_by_side(jobs: dict[str, object], repeats: int) -> dict[str, dict[str, float]]:
    """Run the jobs in turn, again and again, so that a slow minute of the machine hits them all; medians."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            found[name].append(job())  # type: ignore[operator]
    check_agreement({name: runs[0].get("numbers") for name, runs in found.items()})
    return {n: {k: median(r[k] for r in runs) for k in ("seconds", "peak_mb")} for n, runs in found.items()}


def check_agreement(numbers: dict[str, list[float] | None]) -> None:
    """A fast wrong answer must not win: ranx breaks ties otherwise, all others give the same numbers."""
    given = {n: v for n, v in numbers.items() if v is not None and n != "ranx"}
    for name, values in given.items():
        if any(abs(a - b) > 1e-9 for a, b in zip(values, given["ranksift"], strict=True)):
            raise RuntimeError(f"{name} gives {values}, ranksift {given['ranksift']}")


def rows_of(found: dict[str, dict[str, float]], ours: str = "ranksift") -> list[list[str]]:
    """Seconds, memory and how many times as long as ours."""
    base = found[ours]["seconds"]
    return [
        [n, f"{r['seconds']:.3f}", f"{r['peak_mb']:.0f}", "1" if n == ours else f"{r['seconds'] / base:.1f}x"]
        for n, r in found.items()
    ]


def files_to_numbers(quick: bool) -> str:
    """Three sizes, four tools."""
    out = []
    for label, queries in SIZES.items():
        if quick and label == "7M":
            continue
        qrels, run = make(FOLDER, queries)
        tools = ["ranksift", "pytrec_eval", "ir_measures", "ranx"]
        repeats = {"50k": 7, "1M": 5, "7M": 3}[label] if not quick else 2
        jobs = {t: lambda t=t, q=qrels, r=run: in_python(t, q, r) for t in tools}
        found = side_by_side(jobs, repeats)
        title = (
            f"Files to six numbers in Python, {label} rows (median of {repeats} fresh processes, imports not counted)"
        )
        out.append(table(title, ["tool", "seconds", "peak MB", "time over ours"], rows_of(found)))
    return "\n".join(out)


def awkward_files(quick: bool) -> str:
    """Files that are not as tidy as they could be."""
    out = []
    for kind in AWKWARD:
        qrels, run = make(FOLDER, SIZES["1M"], kind=kind)
        jobs = {t: lambda t=t, q=qrels, r=run: in_python(t, q, r) for t in ("ranksift", "pytrec_eval")}
        found = side_by_side(jobs, 2 if quick else 5)
        out.append(table(f"{kind} file, 1M rows", ["tool", "seconds", "peak MB", "time over ours"], rows_of(found)))
    return "\n".join(out)


def whole_commands(quick: bool) -> str:
    """The command line, cold."""
    ranksift = shutil.which("ranksift", path=str(Path(sys.executable).parent)) or "ranksift"
    other = shutil.which("ir_measures", path=str(Path(sys.executable).parent)) or "ir_measures"
    out = []
    for label, queries in SIZES.items():
        if quick and label == "7M":
            continue
        qrels, run = make(FOLDER, queries)
        jobs = {
            "ranksift": lambda q=qrels, r=run: cold([ranksift, "evaluate", str(q), str(r), "-m", " ".join(MEASURES)]),
            "ir_measures": lambda q=qrels, r=run: cold([other, str(q), str(r), *MEASURES]),
            "python -c 'import polars'": lambda: cold([sys.executable, "-c", "import polars"]),
        }
        found = side_by_side(jobs, 2 if quick else {"50k": 9, "1M": 5, "7M": 3}[label])
        title = f"The whole command, cold, {label} rows"
        out.append(table(title, ["command", "seconds", "peak MB", "time over ours"], rows_of(found)))
    jobs = {
        "python -c pass": lambda: cold([sys.executable, "-c", "pass"]),
        "python -c 'import ranksift'": lambda: cold([sys.executable, "-c", "import ranksift"]),
        "ranksift --help": lambda: cold([ranksift, "--help"]),
    }
    found = side_by_side(jobs, 15)
    rows = [[n, f"{1000 * r['seconds']:.0f}"] for n, r in found.items()]
    out.append(table("Start", ["command", "milliseconds"], rows))
    return "\n".join(out)


def several_runs(quick: bool) -> str:
    """Cost against the number of runs."""
    qrels, run = make(FOLDER, SIZES["50k" if quick else "1M"])
    code = (
        "import sys, time; from ranksift.evaluation.evaluate import evaluate; t = time.perf_counter(); "
        f"evaluate(sys.argv[1], [sys.argv[2]] * int(sys.argv[3]), {MEASURES!r}); print(time.perf_counter() - t)"
    )
    rows = []
    for n in (1, 2, 4, 8):
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", code, str(qrels), str(run), str(n)],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            )
            for _ in range(3)
        ]
        rows.append([str(n), f"{median(times):.3f}", f"{median(times) / n:.3f}"])
    return table(f"Runs of {run.stem.split('-')[1]} rows", ["runs", "seconds", "seconds a run"], rows)
