"""Cuts, stacks and tests on what networks said: see :mod:`~experiments.text.trials`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.learning import in_parallel
from experiments.rank_and_filter.rows import IN_TURN, rows
from experiments.text.judged import (
    MEASURE,
    MEASURES,
    Judged,
    Said,
    against,
    best_cut,
    chances,
    judged,
    lists_of,
    said_of,
    shares,
    told,
)
from experiments.text.settings import (
    BASELINES,
    COLLECTIONS,
    EVERY,
    FILTER_ALL,
    FILTER_ONLY,
    FOLDS,
    GAINS,
    HIDDEN,
    JOINT,
    LOSSES,
    NOISE,
    OPTIMAL,
    PEER,
    PEER_ALONE,
    PEER_AVERAGED,
    PEER_SEEDS,
    PEER_STACKED,
    PEER_TREES,
    RANK_ONLY,
    SETUPS,
    STACK_SEEDS,
    STACKED,
    TABLE_SEEDS,
    THREADS,
)
from ranksift.collection.examples import together
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.tradeoff import Tradeoff
from ranksift.datasets.simple_features import thread_features
from ranksift.errors import RankSiftWarning
from ranksift.learning.expected_gain import ExpectedGainRanker
from ranksift.learning.ranker import Ranker
from ranksift.learning.trees import LambdaMARTf

#: What ``python -m experiments.text.fits`` writes.
OUTPUTS = Path("out/text")

_RANKERS: Mapping[str, Callable[..., Ranker]] = {JOINT: LambdaMARTf, OPTIMAL: ExpectedGainRanker}


# -- the table of losses --------------------------------------------------------------------------------------------


def _of_folds(said: Said, name: str, seed: int) -> tuple[Floats, Floats]:
    """Scores of all documents, each of its test fold's network, and the thresholds tuned on the next fold."""
    scores, cuts = np.zeros(len(said.examples)), np.zeros(FOLDS)
    for test in range(FOLDS):
        unseen = (test, (test + 1) % FOLDS)
        found = said.of(name, seed, unseen if name in LOSSES else (min(unseen), max(unseen)))[:, 0]
        tuning = said.fold == unseen[1]
        cuts[test] = best_cut(said.examples, found, tuning)
        scores[said.fold == test] = found[said.fold == test]
    return scores, cuts


def table(said: Said) -> dict[str, Any]:
    """Each loss with a tuned cut, and the paper's baselines."""
    examples, everything = said.examples, np.ones(len(said.examples), dtype=bool)
    found: dict[str, list[Judged]] = {name: [] for name in (*BASELINES, *LOSSES)}
    curves: dict[str, list[list[float]]] = {}
    for seed in range(TABLE_SEEDS):
        shuffled = np.random.default_rng(seed).random(len(examples))
        for name in LOSSES:
            scores, cuts = _of_folds(said, name, seed)
            kept = scores >= cuts[said.fold]
            found[name].append(judged(examples, scores, kept))
            curves.setdefault(name, []).append(_curve(said, scores))
            if name == "ordinal":
                found[RANK_ONLY].append(judged(examples, scores, everything))
            if name == "bce":
                found[FILTER_ONLY].append(judged(examples, shuffled, kept))
        found[FILTER_ALL].append(judged(examples, shuffled, ~everything))
    best = max(BASELINES, key=lambda name: np.mean([one.values[0] for one in found[name]]))
    return {
        "rows": {name: told(own) for name, own in found.items()},
        "best baseline": best,
        "beside it": {name: against(found[name], found[best]) for name in LOSSES},
        "less ordinal": {name: against(found[name], found["ordinal"]) for name in LOSSES if name != "ordinal"},
        "curves": {name: np.mean(own, axis=0).tolist() for name, own in curves.items()},
    }


def _curve(said: Said, scores: Floats) -> list[list[float]]:
    """At most so much good hidden: the least Fdocs; so many documents shown: nDCG_f. Folds have the same shares."""
    examples = said.examples
    ranks = np.zeros(len(examples))
    for test in range(FOLDS):  # scores of different networks are not on one scale, ranks of folds are
        inside = said.fold == test
        ranks[inside] = scores[inside].argsort().argsort() / max(1, inside.sum() - 1)
    curve = Tradeoff.of(lists_of(examples, ranks), [MEASURE, MEASURES[2], "GoodFiltered"])
    least = [float(curve[MEASURES[2]][curve["GoodFiltered"] <= most + 1e-12].min()) for most in HIDDEN]
    at = [float(curve[MEASURE][int((curve.thresholds >= 1.0 - share).sum()) - 1]) for share in HIDDEN]
    return [least, at]


# -- what stands on top ---------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """A row of the second table."""

    data: str
    row: str
    top: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.row}: {self.top}" if self.top else self.row


def stack_tasks() -> list[Task]:
    """Every row with every seed."""
    found = []
    for data in COLLECTIONS:
        for seed in range(STACK_SEEDS[data]):
            found += [Task(data, row, top, seed) for row in STACKED[data] for top in _RANKERS]
            found.append(Task(data, PEER_TREES, "", seed))
            if data == THREADS and seed < PEER_SEEDS:
                found += [Task(data, row, "", seed) for row in (PEER_ALONE, PEER_AVERAGED, PEER_STACKED)]
    return found


def stacked(data: Path, outputs: Path, task: Task) -> Judged:
    """Fit what a row says, and judge it on the folds in turn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)
        said = said_of(task.data, data, outputs)
        if task.row == PEER_ALONE:
            scores, cuts = _of_folds(said, PEER, task.seed)
            return judged(said.examples, scores, scores >= cuts[said.fold])
        if task.row == PEER_AVERAGED:
            return _averaged(said, task.seed)
        return _stacked(said, task)


def _averaged(said: Said, seed: int) -> Judged:
    scores, kept = np.zeros(len(said.examples)), np.zeros(len(said.examples), dtype=bool)
    for test in range(FOLDS):
        found = said.crossed([(PEER, seed)], test, slice(0, 1))[:, 0]
        inside = said.fold == test
        scores[inside] = found[inside]
        kept[inside] = found[inside] >= best_cut(said.examples, found, ~inside)
    return judged(said.examples, scores, kept)


def _stacked(said: Said, task: Task) -> Judged:
    features, fold = thread_features(said.collection.threads), said.collection.fold
    scores, kept = np.zeros(len(features)), np.zeros(len(features), dtype=bool)
    for test in range(FOLDS):
        columns: list[NDArray[np.float64]] = [features.features]
        if task.row == PEER_STACKED:
            columns.append(said.crossed([(PEER, task.seed)], test, slice(0, 1)))
        networks = _networks(task)
        if networks:
            columns.append(said.crossed(networks, test, slice(1, None)))
        examples = features.with_features(np.hstack(columns))
        parts = [examples.of_queries(np.flatnonzero(fold == f)) for f in range(FOLDS)]
        others = [part for f, part in enumerate(parts) if f != test]
        model = (
            _RANKERS[task.top](gains=GAINS, measure=MEASURE, seed=task.seed)
            if task.top
            else rows()[IN_TURN].ranker(GAINS, task.seed)
        )
        if task.top:
            model.fit(together(others))
        else:
            model.fit(together(others[1:]), others[0])
        shown = model.scored(parts[test])
        inside = said.fold == test
        scores[inside], own = shown, model._kept(parts[test], shown)
        kept[inside] = True if own is None else own
    return judged(features, scores, kept)


def _networks(task: Task) -> list[tuple[str, int]]:
    names = STACKED[task.data].get(task.row, ())
    return [(name, seed) for name in names for seed in range(SETUPS[task.data][name].seeds)]


def networks_alone(said: Said) -> dict[str, list[Judged]]:
    """Each set-up by expected shares, one network per seed, and all of them averaged."""
    found: dict[str, list[Judged]] = {}

    def add(name: str, networks: Sequence[tuple[str, int]]) -> None:
        scores = shares(said, networks)
        found.setdefault(name, []).append(judged(said.examples, scores, scores >= 0))

    for name, setup in SETUPS[said.collection.name].items():
        for seed in range(setup.seeds):
            add(name, [(name, seed)])
    for row, names in STACKED[said.collection.name].items():
        if names:
            seeds = [(name, seed) for name in names for seed in range(SETUPS[said.collection.name][name].seeds)]
            add(f"{row}, averaged", seeds)
    return found


# -- the noise of labels --------------------------------------------------------------------------------------------


def ceiling(said: Said, networks: Sequence[tuple[str, int]], draws: int = 20) -> dict[str, Any]:
    """What perfect knowledge would be worth, if so many labels were wrong.

    Which grade is taken for which follows confident learning (Northcutt et al. 2021): a document counts as one of
    another grade where the chance of that grade is at least the mean chance that documents with its label have of it.
    How many are wrong cannot be known that way, as what networks do not know looks like noise, so it is varied. From
    each label a true grade is drawn; a ranker that knows the true grades shows what is good, and is judged by labels.
    """
    examples = said.examples.judged_only()
    levels, label = np.unique(Gains.of(GAINS)(examples.labels), return_inverse=True)
    found = chances(said, networks)[said.examples.judged]
    sure = np.array([found[label == n, n].mean() for n in range(len(levels))])
    above = np.where(found >= sure, found, -1.0)
    counted = above.max(axis=1) >= 0
    joint = np.zeros((len(levels), len(levels)))
    np.add.at(joint, (label[counted], above.argmax(axis=1)[counted]), 1.0)
    wrong = joint / joint.sum(axis=1, keepdims=True)
    np.fill_diagonal(wrong, 0.0)
    own = np.bincount(label, minlength=len(levels)) / len(label)
    values = {}
    for rate in NOISE:
        share = wrong * rate / (own @ wrong.sum(axis=1))
        np.fill_diagonal(share, 1.0 - share.sum(axis=1))
        draw = np.random.default_rng(0)
        drawn = (draw.random((draws, len(label), 1)) > share.cumsum(axis=1)[label]).sum(axis=2)
        values[f"{rate:g}"] = float(
            np.mean([judged(examples, levels[true], levels[true] > 0).values[0] for true in drawn])
        )
    return {"values": values, "wrong": wrong.tolist()}


def measure(data: Path, outputs: Path = OUTPUTS) -> dict[str, Any]:
    """All numbers of the page and of its figures, from what networks said: a quarter of an hour on two processors."""
    tasks = stack_tasks()
    of_rows = in_parallel(partial(stacked, data, outputs), tasks)
    found: dict[str, Any] = {"tables": {}, "stacks": {}, "ceilings": {}}
    for name in COLLECTIONS:
        said = said_of(name, data, outputs)
        found["tables"][name] = table(said)
        judgments = networks_alone(said)
        for task, own in zip(tasks, of_rows, strict=True):
            if task.data == name:
                judgments.setdefault(task.name, []).append(own)
        ours = {top: judgments[f"{EVERY}: {top}"] for top in _RANKERS}
        found["stacks"][name] = {
            "queries": len(next(iter(judgments.values()))[0].of_queries),
            "documents": int(said.examples.judged.sum()),
            "forbidden": float((said.examples.labels[said.examples.judged] < 0).mean()),
            "rows": {row: told(own) for row, own in judgments.items()},
            "against": {
                top: {row: against(own, other) for row, other in judgments.items()} for top, own in ours.items()
            },
        }
        networks = _networks(Task(name, EVERY, "", 0))
        found["ceilings"][name] = ceiling(said, networks)
    return found
