"""MQ2007's systems by every reading of the paper's measures, on all, uninformative and ideal queries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bounds.chance import expected_over_k, means, random_rankings
from experiments.bounds.consistency import across_collections, across_sets, by_learning_rate
from experiments.bounds.counts import counts
from experiments.bounds.differences import STUDIED, differences
from experiments.bounds.letor import SETTINGS, methods, mq2007, mq2008
from experiments.bounds.orders import tau
from experiments.bounds.origins import ROWS, listnet_rows, nearest_setting, off_the_line, perfect_msp, with_fewer
from experiments.bounds.pairs import conflicts, significant
from experiments.bounds.queries import Trials, every_query, query_types, without_relevant
from experiments.bounds.readings import (
    DCG_EXACT,
    DCG_PRINTED,
    KS,
    MSP_EXACT,
    MSP_PAPER,
    MSP_PRINTED,
    READINGS,
    Measured,
    at,
    over_k,
    values_of,
)
from experiments.bounds.stable import soundness
from experiments.bounds.trials import SETS, drawn_queries, trials
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.scores import Scores

#: Where the readings are furthest apart.
FURTHEST = 30
#: Of the histograms of expected scores.
EDGES = np.linspace(0, 1, 26)
#: By which measures the systems are presented.
PRESENTED = ("nDCG@10", "DCG_ul2@10", "MSP@10", "MSP_ul2@10")


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures."""
    with warnings.catch_warnings():
        # About ties at the border of a set, and about PAD of negative averages: the page says so itself.
        warnings.simplefilter("ignore", RankSiftWarning)
        return _measure(Measured.of(mq2007(data)), Measured.of(mq2008(data)))


def _measure(one: Measured, two: Measured) -> dict[str, Any]:
    queries = one.scores.queries
    drawn, whole = trials(one, drawn_queries(queries)), trials(one, queries)
    both = {"drawn": drawn, "whole": whole}
    empty, setting = without_relevant(one), nearest_setting(one)
    return {
        "systems": systems(one),
        "listnet": {"setting": setting, "rows": listnet(one.scores, setting)},
        "perfect": perfect_msp(one, FURTHEST),
        "fewer": with_fewer(one, FURTHEST),
        "off the line": {
            reading.name: [max(abs(off_the_line(one, reading, version, k)) for k in KS) for version in (1, 2)]
            for reading in (DCG_EXACT, DCG_PRINTED)
        },
        "chance": chance(one, random_rankings(one.collection)),
        "types": {of: {r.name: query_types(t.types, empty) for r, t in some.items()} for of, some in both.items()},
        "tau": {of: by_kind(some, lambda t, kind: [tau(t, kind, v) for v in (1, 2)]) for of, some in both.items()},
        "tests": drawn[DCG_EXACT].discrimination("all").tested["nDCG"],
        "counts": {name: asdict(found) for name, found in counts(one).items()},
        "significant": {of: shares(some, significant, (0, 1, 2)) for of, some in both.items()},
        "conflicts": shares(drawn, conflicts, (1, 2)),
        "groups": groups(drawn),
        "differences": {r.name: {kind: asdict(differences(t, kind)) for kind in STUDIED} for r, t in drawn.items()},
        "negative": {r.name: int((over_k(t.on("uninformative"), r.v2) < 0).sum()) for r, t in drawn.items()},
        "across sets": across_sets(drawn),
        "across collections": across_collections(one, two),
        "methods": len(methods(list(one.collection.models))),
        "by learning rate": {"MQ2007": by_learning_rate(one), "MQ2008": by_learning_rate(two)},
        "soundness": soundness(whole),
        "means": {
            r.name: [values_of(one.scores, name).mean(axis=1) for name in at(r.measures, [FURTHEST])]
            for r in (DCG_EXACT, DCG_PRINTED, MSP_PAPER, MSP_PRINTED)
        },
        "histograms": histograms(one),
        "every query": {r.name: every_query(whole[r].types) for r in (DCG_EXACT, MSP_EXACT)},
    }


def systems(measured: Measured) -> dict[str, Any]:
    """Who is compared."""
    collection, scores = measured.collection, measured.scores
    members = {
        **SETTINGS,
        "ListNet of the study's authors": [name for name in collection.models if name.startswith("LETOR")],
        "LTR4L's ListNet": [name for name in collection.models if name.startswith("ltr4l")],
        "input rankings of MQ2007-agg": list(collection.rankings),
    }
    return {
        "number": len(scores.runs),
        "models": len(collection.models),
        "rankings": len(collection.rankings),
        "idle": len(collection.idle),
        "queries": len(scores.queries),
        "documents": len(collection.qrels),
        "groups": {name: group(measured, runs) for name, runs in members.items()},
    }


def group(measured: Measured, runs: Sequence[str]) -> dict[str, Any]:
    """How many systems there are, their documents a query, and the range of their scores."""
    rows = [measured.scores.row(run) for run in runs]
    averages = {m: values_of(measured.scores, m)[rows].mean(axis=1) for m in PRESENTED}
    return {
        "number": len(runs),
        "documents": np.mean([len(measured.collection.runs[run]) for run in runs]) / len(measured.scores.queries),
        **{m: [values.min(), values.max()] for m, values in averages.items()},
    }


def listnet(scores: Scores, setting: str) -> dict[str, dict[str, Any]]:
    """ListNet's means by every reading of every printed row, and the middle 95 % of samples of queries."""
    rows = listnet_rows(scores, setting)
    return {
        name: {
            reading.name: {what: getattr(rows[tables, i, reading], what) for what in ("mean", "low", "high")}
            for reading, _ in readings
        }
        for tables, i, name, readings in ROWS
    }


def chance(measured: Measured, random: Scores) -> dict[str, Any]:
    """What each reading takes for a random ranking's score, and what random rankings get."""
    spread = expected_over_k(measured, DCG_EXACT)
    return {
        "middle": np.quantile(spread, [0.1, 0.9]),
        "none": (spread == 0).mean(),
        "expected": {reading.name: means(measured.random, reading.random) for reading in READINGS},
        "simulated": {reading.name: means(random, reading.base) for reading in READINGS},
        "V2": {reading.name: means(random, reading.v2) for reading in READINGS},
    }


def histograms(measured: Measured) -> dict[str, list[int]]:
    """Queries by what a random ranking is expected to get."""
    return {
        reading.name: np.histogram(expected_over_k(measured, reading), EDGES)[0].tolist()
        for reading in (DCG_EXACT, MSP_EXACT, MSP_PAPER)
    }


def by_kind(some: Trials, of: Any) -> dict[str, dict[str, Any]]:
    """Something of each reading and each set."""
    return {reading.name: {kind: of(trial, kind) for kind in SETS} for reading, trial in some.items()}


def shares(some: Trials, of: Any, versions: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    """A share of the paired and of the unpaired tests, by each version of each reading on each set."""
    tests: Mapping[str, bool] = {"paired": True, "unpaired": False}
    return by_kind(
        some,
        lambda t, kind: {name: [of(t, kind, v, paired=paired) for v in versions] for name, paired in tests.items()},
    )


def groups(drawn: Trials) -> dict[str, Any]:
    """Share of significant pairs among the models alone, and among the input rankings alone."""
    collection = drawn[DCG_EXACT].measured.collection
    return {
        reading.name: {
            name: {kind: [significant(drawn[reading], kind, v, runs=list(runs)) for v in (0, 1, 2)] for kind in SETS}
            for name, runs in (("models", collection.models), ("rankings", collection.rankings))
        }
        for reading in (DCG_EXACT, MSP_PAPER, MSP_EXACT)
    }
