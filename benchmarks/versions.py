"""``python -m benchmarks.versions OTHER/src``: this version beside another one, job by job in fresh processes.

Each job runs in turn with the one and with the other, so that a slow minute of the machine hits both. What is shown are
medians, and how many times as long this version takes as the other; a job that the other does not know is left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.evaluation import FOLDER, SIZES, table
from benchmarks.files import make
from benchmarks.learning import DATA
from benchmarks.worker import MEASURES

# Programs that both versions know; the clock starts at CLOCK and stops at the end.
_TIMED = "import time\n{setup}\nt = time.perf_counter()\n{work}\nprint(time.perf_counter() - t)"

_EVALUATE = "from ranksift.evaluation.evaluate import evaluate", f"evaluate({{qrels!r}}, {{run!r}}, {MEASURES!r})"
_FOLD = """
import warnings; warnings.simplefilter("ignore")
from ranksift.datasets.letor import mq2008
from ranksift.learning.methods import known_rankers
examples = mq2008({data!r}, 1).train
known_rankers()[{method!r}](**{parameters!r}).fit(examples)
"""


def jobs(parts: list[str]) -> dict[str, tuple[list[str], int]]:
    """Commands without the interpreter, and how often each is run; those that print their own seconds end in -c."""
    found: dict[str, tuple[list[str], int]] = {}
    for label, queries in SIZES.items():
        repeats = {"50k": 15, "1M": 9, "7M": 5}[label]
        qrels, run = map(str, make(FOLDER, queries))
        if "files" in parts:
            setup, work = (text.format(qrels=qrels, run=run) for text in _EVALUATE)
            found[f"files: {label} rows"] = ["-c", _TIMED.format(setup=setup, work=work)], repeats
        if "commands" in parts:
            command = ["-m", "ranksift", "evaluate", qrels, run, "-m", " ".join(MEASURES)]
            found[f"commands: evaluate, {label} rows"] = command, repeats
    if "commands" in parts:
        found["commands: import ranksift"] = ["-X", "importtime", "-c", "import ranksift"], 25
        found["commands: --help"] = ["-m", "ranksift", "--help"], 25
        qrels, run = map(str, make(FOLDER, SIZES["50k"]))
        found["commands: explain"] = ["-m", "ranksift", "explain", qrels, run, "-m", "nDCG_f@10"], 9
        found["commands: cutoff fit"] = ["-m", "ranksift", "cutoff", "fit", qrels, run, "--out", os.devnull], 5
        found["commands: study"] = ["-m", "ranksift", "study", qrels, run, run, "--out", str(FOLDER / "study")], 3
    if "learning" in parts and (DATA / "letor4_mq2008").is_dir():
        methods = {"LambdaMARTf": {"trees": 100}, "LambdaMART": {"trees": 100}, "BoostedTrees": {"trees": 100}}
        methods |= {"RankSVM": {}, "RankBoost": {}, "AdaRank": {}, "SVMMAP": {}, "CoordinateAscent": {"restarts": 1}}
        for method, parameters in methods.items():
            about = {"data": str(DATA / "letor4_mq2008"), "method": method}
            setup = _FOLD.format(**about, parameters={**parameters, **({"trees": 2} if "trees" in parameters else {})})
            work = f"known_rankers()[{method!r}](**{parameters!r}).fit(examples)"
            found[f"learning: {method}"] = ["-c", _TIMED.format(setup=setup, work=work)], 7
    return found


def took(source: str, command: list[str]) -> float:
    """Seconds of one run with one version; of the whole process, where it does not print its own."""
    import time

    start = time.perf_counter()
    # Both are compiled by the run that is not counted, as they are for those who use them.
    environment = {**os.environ, "PYTHONPATH": source, "OMP_WAIT_POLICY": "PASSIVE", "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(done.stderr[-300:])
    return float(done.stdout.splitlines()[-1]) if command[0] == "-c" else seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", help="the folder src of the other version")
    parser.add_argument("--only", default="files,commands,learning", help="some of: files, commands, learning")
    options = parser.parse_args()
    ours, rows = str(Path("src").resolve()), []
    for name, (command, repeats) in jobs(options.only.split(",")).items():
        seconds: dict[str, list[float]] = {ours: [], options.other: []}
        try:
            for source in (*seconds, *[*seconds] * repeats):  # the first of each is not counted
                seconds[source].append(took(source, command))
        except RuntimeError as error:
            print(f"{name}: left out ({error.args[0].strip().splitlines()[-1]})", file=sys.stderr)
            continue
        this, that = (median(times[1:]) for times in seconds.values())
        rows.append([name, f"{this:.3f}", f"{that:.3f}", f"{this / that:.2f}"])
        print(*rows[-1], sep="\t", file=sys.stderr, flush=True)
    print(table("this version beside another", ["job", "this, s", "other, s", "this over other"], rows))


if __name__ == "__main__":
    main()
