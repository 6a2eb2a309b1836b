"""``compare`` beside ranx's, on the same values, in one process: 20 runs, 1000 queries, 3 measures, all pairs."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

import numpy as np

import ranksift as rs
from benchmarks.evaluation import table

RUNS, QUERIES, DEPTH = 20, 1000, 20
RANX_MEASURES = ["map@100", "mrr@100", "ndcg@10"]
OUR_MEASURES = ["AP@100", "RR@100", "nDCG@10"]
PERMUTATIONS = 1000

Nested = dict[str, dict[str, Any]]


def report(quick: bool) -> str:
    """Measure, and give a Markdown table."""
    import ranx
    from ranx.statistical_tests import compute_statistical_significance

    runs, queries = (6, 100) if quick else (RUNS, QUERIES)
    permutations = 50 if quick else PERMUTATIONS
    repeats = 3 if quick else 9
    qrels, ranked = collection(runs, queries)
    judged = ranx.Qrels(qrels)
    theirs = [ranx.Run(run, name=name) for name, run in ranked.items()]
    values = {name: evaluated(ranx, judged, run) for name, run in zip(ranked, theirs, strict=True)}
    cube = np.stack([np.stack([values[name][m] for m in RANX_MEASURES], axis=-1) for name in ranked])
    our_qrels, our_runs = rs.read_qrels(qrels), [rs.read_run(run, name=name) for name, run in ranked.items()]

    def ready() -> rs.Scores:
        return rs.Scores.from_array(cube, runs=list(ranked), queries=list(qrels), measures=OUR_MEASURES)

    def whole(_: rs.Scores) -> rs.Comparison:
        return rs.compare(rs.evaluate(our_qrels, our_runs, OUR_MEASURES))

    def randomization(scores: rs.Scores) -> rs.Comparison:
        return rs.compare(scores, test="randomization", samples=permutations)

    def ranx_compare(test: str) -> Any:
        return ranx.compare(judged, theirs, RANX_MEASURES, stat_test=test, n_permutations=permutations)

    def ranx_tests(test: str) -> Any:
        return compute_statistical_significance(list(values), values, test, permutations)

    ours = {job: timed(job, ready, repeats) for job in (rs.compare, whole, randomization)}
    compile_ranx(ranx, judged, theirs)
    agree(rs.compare(ready()), ranx_tests("student"))
    student_tests = timed(lambda _: ranx_tests("student"), ready, 3)
    student = timed(lambda _: ranx_compare("student"), ready, 3)
    start = time.perf_counter()
    ranx_compare("fisher")
    fisher = time.perf_counter() - start

    header = ["test", f"ranx {version('ranx')}: what is timed", "s", "ranksift: what is timed", "s", "ratio"]
    rows = [
        ["t", "compare", student, "compare, from ready scores", ours[rs.compare]],
        ["t", "its tests alone, from ready values", student_tests, "compare, from ready scores", ours[rs.compare]],
        ["t", "compare", student, "evaluate + compare", ours[whole]],
        [f"randomization, {permutations}", "compare", fisher, "compare, from ready scores", ours[randomization]],
    ]
    title = f"compare: {runs} runs, {queries} queries, 3 measures, all {runs * (runs - 1) // 2} pairs"
    note = (
        f"Imports and ranx's compilation are not counted; ranksift: median of {repeats}, ranx: median of 3, its "
        "randomization test once. ranx's compare "
        "evaluates the runs too. Both give the same p values of the t test.\n"
    )
    return table(title, header, [written(row) for row in rows]) + "\n" + note


def collection(runs: int, queries: int) -> tuple[Nested, dict[str, Nested]]:
    """Judgments and runs of different quality."""
    draw = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{d}": int(draw.integers(1, 4)) for d in range(10)} for q in range(queries)}
    ranked: dict[str, Nested] = {}
    for r in range(runs):
        # A run's documents of d0 … d9, the relevant ones, gain on the others by its quality.
        scores = draw.random((queries, 40)) + np.where(np.arange(40) < 10, 0.02 * r, 0.0)
        shown = np.argsort(-scores, axis=1)[:, :DEPTH]
        ranked[f"run{r}"] = {f"q{q}": {f"d{d}": float(scores[q, d]) for d in shown[q]} for q in range(queries)}
    return qrels, ranked


def evaluated(ranx: Any, judged: Any, run: Any) -> dict[str, Any]:
    """Each query's values by ranx."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(ranx.evaluate(judged, run, RANX_MEASURES, return_mean=False))


def compile_ranx(ranx: Any, judged: Any, runs: list[Any]) -> None:
    """Let ranx compile what it will run."""
    for test in ("student", "fisher"):
        ranx.compare(judged, runs[:2], RANX_MEASURES, stat_test=test, n_permutations=2)


def timed(job: Callable[[rs.Scores], Any], ready: Callable[[], rs.Scores], repeats: int) -> float:
    """Median seconds, each time from new scores, after one call that imports."""
    job(ready())
    seconds = []
    for _ in range(repeats):
        scores = ready()
        start = time.perf_counter()
        job(scores)
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def agree(ours: rs.Comparison, theirs: Any) -> None:
    """Stop where the p values differ: then the two do not do the same work."""
    for c, (run, baseline) in enumerate(ours.pairs):
        for m, name in enumerate(RANX_MEASURES):
            other = theirs[frozenset([run, baseline])][name]["p_value"]
            if abs(ours.p[c, m] - other) > 1e-9:
                raise RuntimeError(f"{name} of {run} and {baseline}: p = {ours.p[c, m]}, ranx has {other}")


def written(row: list[Any]) -> list[str]:
    """Numbers as text, and the ratio."""
    test, their_job, theirs, our_job, ours = row
    return [test, their_job, f"{theirs:.3f}", our_job, f"{ours:.4f}", f"{theirs / ours:.0f}x"]


def main(quick: bool = False) -> None:
    """Measure and print."""
    print(report(quick))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="compare beside ranx's")
    parser.add_argument("--quick", action="store_true", help="few runs, queries and permutations")
    main(parser.parse_args().quick)
