"""Rankers: LambdaMART-f beside LightGBM's own lambdarank, and what every method takes on one fold of MQ2008.

Both grow the same number of trees with the same number of leaves, on one thread, from the same arrays. LambdaMART-f has
two outputs, so that it grows two trees for one of LightGBM's, and it calibrates and checks its cut. It can also see the
list of a document, which doubles its features. As it comes it does, and its trees have 7 leaves and see some of the
documents and features only; without a validation set it holds each of five folds out in turn.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.evaluation import side_by_side, table
from ranksift.collection.examples import Examples, read_examples
from ranksift.datasets.letor import mq2008
from ranksift.learning.expected_gain import ExpectedGainRanker
from ranksift.learning.methods import known_rankers
from ranksift.learning.trees import LambdaMARTf

DATA = Path(os.environ.get("RANKSIFT_DATA", "../shared/data"))
TREES, LEAVES = 100, 31
#: Methods that no library has, written with arrays.
OWN = ("AdaRank", "RankBoost", "FocusedBoost", "CoordinateAscent", "RankSVM", "SVMMAP", "FocusedSVM")

# No shares are drawn, so that both see the same documents and features.
SAME = {"trees": TREES, "leaves": LEAVES, "feature_share": 1.0, "document_share": 1.0, "context": False}
# What is not relevant is forbidden, so that there is something to filter.
GAINS = {0: -2}

#: Fitted to many documents, each in a process of its own: name, grades that are told apart, and what is fitted.
LARGE_TREES = 60
LARGE: dict[str, tuple[int, Callable[[Examples], Any]]] = {
    "LightGBM lambdarank": (5, lambda examples: lambdarank(examples, LARGE_TREES)),
    "LambdaMARTf": (5, lambda examples: LambdaMARTf(trees=LARGE_TREES, gains=GAINS).fit(examples)),
    "LambdaMARTf, context=False": (
        5,
        lambda examples: LambdaMARTf(trees=LARGE_TREES, gains=GAINS, context=False).fit(examples),
    ),
    "ExpectedGainRanker, 3 grades": (3, lambda examples: optimal(examples)),
    "ExpectedGainRanker, 5 grades": (5, lambda examples: optimal(examples)),
}


def report(quick: bool) -> str:
    """Measure, and give Markdown tables."""
    if not (DATA / "letor4_mq2008").is_dir():
        return f"### learning\n\nLeft out: there is no {DATA / 'letor4_mq2008'}.\n"
    fold = mq2008(DATA / "letor4_mq2008", 1)
    sets = {"MQ2008 Fold1": fold.train}
    web = DATA / "mslr_web30k_fold1_5k" / "msn1.fold1.train.5k.txt.gz"
    if web.is_file():
        sets["MSLR-WEB30K, 5,000 rows"] = read_examples(web)
    parts = [beside_lightgbm(sets, 2 if quick else 3), growth(quick), every_method(fold.train, quick)]
    return "\n".join([*parts, growth_of_methods(quick)])


def beside_lightgbm(sets: dict[str, Examples], repeats: int) -> str:
    """The two in turn, so that a slow minute of the machine hits both; medians of a processor's seconds."""
    rows = []
    for name, examples in sets.items():
        some = examples.split(0.9)[1]
        jobs = {
            "own": lambda e=examples: lambdarank(e),
            "ours": lambda e=examples, v=some: LambdaMARTf(**SAME, gains=GAINS).fit(e, v),
            "list": lambda e=examples, v=some: LambdaMARTf(**{**SAME, "context": True}, gains=GAINS).fit(e, v),
            "usual": lambda e=examples: LambdaMARTf(trees=TREES, gains=GAINS).fit(e),
        }
        found = in_turn(jobs, repeats, time.process_time)
        rows.append(
            [
                name,
                f"{len(examples):,} × {len(examples.feature_names)}",
                f"{found['own']:.3f}",
                *(
                    cell
                    for job in ("ours", "list", "usual")
                    for cell in (f"{found[job]:.3f}", f"{found[job] / found['own']:.2f}x")
                ),
            ]
        )
    title = f"learning: {TREES} trees of {LEAVES} leaves, from arrays to a model (median of {repeats}, one processor)"
    head = [
        "data",
        "documents × features",
        "LightGBM lambdarank, s",
        "LambdaMARTf, s",
        "ratio",
        "with the list, s",
        "ratio",
        "as it comes, s",
        "ratio",
    ]
    return table(title, head, rows)


def lambdarank(examples: Examples, trees: int = TREES) -> Any:
    """LightGBM's own, with the same parameters."""
    import lightgbm

    parameters = {
        "objective": "lambdarank",
        "num_leaves": LEAVES,
        "learning_rate": 0.05,
        "lambda_l2": 1.0,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,  # as ours; by columns it takes a little longer here
        "verbosity": -1,
    }
    data = lightgbm.Dataset(examples.features, examples.labels, group=examples.lengths, params=parameters)
    return lightgbm.train(parameters, data, trees)


def optimal(examples: Examples) -> ExpectedGainRanker:
    """The optimal rule as it comes, with as many trees as the others."""
    return ExpectedGainRanker(gains=GAINS, options={"trees": LARGE_TREES}).fit(examples)


def many_documents(quick: bool) -> str:
    """Seconds and peak memory of fits to many documents, beside LightGBM's own lambdarank; medians."""
    n, features, repeats = (20_000, 20, 1) if quick else (300_000, 50, 3)
    found = side_by_side({name: lambda name=name: alone(name, n, features) for name in LARGE}, repeats)
    own = found["LightGBM lambdarank"]
    rows = [
        [name, *(f"{x[what]:{how}}" for what, how in (("seconds", ".1f"), ("peak_mb", ".0f"))), *over(x, own)]
        for name, x in found.items()
    ]
    title = f"memory: {n:,} × {features}, {LARGE_TREES} trees, num_threads=1 (median of {repeats} fresh processes)"
    return table(title, ["method", "seconds", "peak MB", "time", "memory"], rows)


def over(one: dict[str, float], other: dict[str, float]) -> list[str]:
    """Time and memory as multiples of another's."""
    return [f"{one[what] / other[what]:.2f}x" for what in ("seconds", "peak_mb")]


def alone(name: str, n: int, features: int) -> dict[str, float]:
    """Seconds of one fit, and the peak memory of the process that does nothing else."""
    command = [sys.executable, "-m", "benchmarks.learning", name, str(n), str(features)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def main() -> None:
    """Fit what the first argument names to as many documents and features as the others say."""
    import lightgbm  # noqa: F401 (before the clock starts)

    name, n, features = sys.argv[1:4]
    grades, fit = LARGE[name]
    given = made_up(int(n), int(features))
    examples = replace(given, labels=np.minimum(given.labels, grades - 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = seconds(lambda: fit(examples))
    print(json.dumps({"seconds": taken, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def growth(quick: bool) -> str:
    """What LambdaMART-f takes for more rows and more features."""
    sizes = (
        [(2_000, 20), (4_000, 20)] if quick else [(5_000, 20), (20_000, 20), (80_000, 20), (20_000, 80), (20_000, 320)]
    )
    rows = []
    for n, features in sizes:
        examples = made_up(n, features)
        some = examples.split(0.9)[1]
        jobs = {
            "own": lambda e=examples: lambdarank(e),
            "ours": lambda e=examples, v=some: LambdaMARTf(**SAME, gains=GAINS).fit(e, v),
        }
        found = in_turn(jobs, 1 if quick else 3)
        cost = 1e6 * found["ours"] / n
        rows.append(
            [
                f"{n:,}",
                str(features),
                f"{found['own']:.2f}",
                f"{found['ours']:.2f}",
                f"{found['ours'] / found['own']:.2f}x",
                f"{cost:.0f}",
            ]
        )
    head = ["documents", "features", "LightGBM lambdarank, s", "LambdaMARTf, s", "ratio", "µs a document"]
    return table("learning: cost against rows and features, 20 documents a query", head, rows)


def made_up(n: int, features: int) -> Examples:
    """Documents with labels 0 to 4 that follow some of their features."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(n, features))
    hidden = x[:, 0] + np.abs(x[:, 1]) + draw.normal(size=n)
    labels = np.searchsorted(np.quantile(hidden, [0.5, 0.75, 0.9, 0.97]), hidden)
    return Examples.from_arrays(x, labels, np.arange(n) // 20)


def every_method(examples: Examples, quick: bool) -> str:
    """Each method once, as it comes."""
    rows = []
    for name, kind in sorted(known_rankers().items()):
        if kind.takes_texts:  # benchmarks/text_gpu.py has it
            continue
        if quick and name not in ("LambdaMART", "LambdaMARTf", "RandomForests"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append([name, f"{seconds(lambda kind=kind: kind().fit(examples)):.2f}"])
    title = (
        f"learning: every method on MQ2008 Fold1 ({len(examples):,} documents), its own parameters, no validation set"
    )
    return table(title, ["method", "s"], rows)


def growth_of_methods(quick: bool) -> str:
    """What methods of our own take for more rows and more features, once each."""
    sizes = [(500, 5), (1_000, 5)] if quick else [(5_000, 20), (20_000, 20), (80_000, 20), (20_000, 80)]
    given = [made_up(*size) for size in sizes]
    rows = []
    for name in OWN:
        kind = known_rankers()[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append([name, *(f"{seconds(lambda e=e, kind=kind: kind().fit(e)):.2f}" for e in given)])
    head = ["method, s", *(f"{n:,} × {features}" for n, features in sizes)]
    return table("learning: methods of our own against documents × features, 20 documents a query", head, rows)


def in_turn(
    jobs: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of jobs that run one after another, again and again."""
    for job in jobs.values():
        job()  # imports, and the first touch of memory
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            found[name].append(seconds(job, clock))
    return {name: median(times) for name, times in found.items()}


def seconds(job: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Of one call."""
    start = clock()
    job()
    return clock() - start


if __name__ == "__main__":
    main()
