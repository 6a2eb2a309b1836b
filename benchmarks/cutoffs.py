"""The exact threshold beside grids of thresholds, on the same documents.

A grid tries a thousand thresholds and gets the best of those; the sweep gets the best of all. Two grids: one that calls
``evaluate`` at each point, as one does without this library, and the cleverest one, which ranks once, takes every
document's share of the measure beforehand and only adds up what each point keeps.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from benchmarks.evaluation import table
from ranksift.collection._engine.grouping import Grouped
from ranksift.collection._engine.ids import Ids
from ranksift.collection.lists import Lists
from ranksift.cutoffs.sweep import Sweep
from ranksift.measures.cumulative import nDCG_f

Floats = NDArray[np.float64]
PER_QUERY, POINTS, K = 100, 1000, 10
MEASURE = f"nDCG_f@{K}"
GAINS = {-2.0: -10.0}


def documents(n: int) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
    """Scores, scores to cut on, labels, and queries of a hundred documents each."""
    draw = np.random.default_rng(0)
    labels = draw.choice([-2.0, 0, 1, 2], n, p=[0.2, 0.5, 0.2, 0.1])
    return 0.3 * labels + draw.normal(size=n), draw.normal(size=n) - (labels < 0), labels, np.arange(n) // PER_QUERY


def report(quick: bool) -> str:
    """Measure, and give Markdown tables."""
    sizes = [1_000, 10_000] if quick else [10_000, 100_000, 1_000_000, 10_000_000]
    middle = sizes[-1] if quick else 1_000_000
    rows = []
    for n in sizes:
        scores, spam, labels, groups = documents(n)
        repeats = 5 if n <= 1_000_000 else 3
        one = seconds(partial(fitted, scores, labels, groups), repeats)
        two = seconds(partial(fitted, spam, labels, groups, rank_scores=scores), 3)
        rows.append([f"{n:,}", f"{one:.3f}", f"{1e9 * one / n:.0f}", f"{two:.3f}", f"{1e9 * two / n:.0f}"])
    title = f"cutoff: the exact best threshold of {MEASURE}, from arrays, {PER_QUERY} documents a query"
    growth = table(title, ["documents", "one score, s", "ns a document", "two scores, s", "ns a document"], rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{growth}\nPeak memory: {peak:.0f} MB.\n\n{beside_grids(middle, quick)}"


def fitted(
    scores: Floats, labels: Floats, groups: NDArray[np.int64], rank_scores: Floats | None = None
) -> rs.GlobalCutoff:
    """What is timed."""
    return rs.GlobalCutoff(MEASURE).fit(scores, labels, groups, rank_scores=rank_scores, gains=GAINS)


def beside_grids(n: int, quick: bool) -> str:
    """The sweep and the two grids, and how far the grids are from the best."""
    scores, _, labels, groups = documents(n)
    points = np.quantile(scores, np.linspace(0.0, 1.0, POINTS))
    cut = fitted(scores, labels, groups)
    sweep = seconds(partial(fitted, scores, labels, groups), 5)
    clever, found = timed(lambda: ranked_grid(scores, labels, groups, points))
    qrels, run = collection(scores, labels, groups)
    some = points[:: POINTS // (5 if quick else 20)]
    slow, values = timed(lambda: [evaluated(qrels, run, t) for t in some])
    slow *= POINTS / len(some)
    agree = np.abs(np.array(values) - found[np.searchsorted(points, some)]).max()
    if agree > 1e-9 or found.max() > cut.value_ + 1e-12:
        raise RuntimeError(f"the grids disagree by {agree}, their best is {found.max()}, the sweep's {cut.value_}")
    short = cut.value_ - found.max()
    rows = [
        ["sweep over all cuts", f"{len(cut.thresholds_):,}", f"{sweep:.3f}", "", "0"],
        ["pre-ranked grid", f"{POINTS:,}", f"{clever:.2f}", f"{clever / sweep:.1f}x", f"{short:.1e}"],
        ["evaluate at each point", f"{POINTS:,}", f"{slow:.0f}", f"{slow / sweep:.0f}x", f"{short:.1e}"],
    ]
    note = f"evaluate: measured at {len(some)} points, times {POINTS // len(some)}. The values agree."
    head = ["method", "thresholds", "s", "sweep is faster", "short of the best"]
    return table(f"cutoff: beside grids, {n:,} documents", head, rows) + "\n" + note + "\n"


def ranked_grid(scores: Floats, labels: Floats, groups: NDArray[np.int64], points: Floats) -> Floats:
    """The measure at each point: ranked once, each document's share computed once, added up point by point."""
    lists = Lists.from_arrays(scores, labels, groups, gains=GAINS)
    sweep = Sweep.of(lists, nDCG_f(k=K))
    share = np.zeros(len(scores))
    share[sweep.order] = sweep.change[0]
    top = lists.rank <= K
    score, share = lists.score[top], share[top]
    start = sweep.start[0].sum()
    return np.array([start + share[score >= t].sum() for t in points]) / len(lists)


def collection(scores: Floats, labels: Floats, groups: NDArray[np.int64]) -> tuple[rs.Qrels, rs.Run]:
    """The same documents as judgments and a run."""
    order = np.lexsort((-scores, groups))
    names = tuple(map(str, range(int(groups.max()) + 1)))
    offsets = np.append(0, np.cumsum(np.bincount(groups)))
    docs = Ids.from_strings([f"d{i}" for i in order.tolist()])
    run = rs.Run(Grouped(names, offsets, docs, scores[order]))
    return rs.Qrels(Grouped(names, offsets, docs, labels[order]), whole=True), run


def evaluated(qrels: rs.Qrels, run: rs.Run, threshold: float) -> float:
    """The measure with documents below a threshold dropped."""
    value = rs.evaluate(qrels, run.where(run.scores >= threshold), MEASURE, gains=GAINS).mean_of(MEASURE)
    assert isinstance(value, float)
    return value


def seconds(job: Callable[[], object], repeats: int) -> float:
    """The median time of a job."""
    return median(timed(job)[0] for _ in range(repeats))


def timed(job):  # type: ignore[no-untyped-def]
    """Seconds, and what the job gave."""
    start = time.perf_counter()
    found = job()
    return time.perf_counter() - start, found
