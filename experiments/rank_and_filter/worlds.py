"""Known chances in many worlds: lengths of lists, shares of forbidden documents, penalties, features of use or none."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from experiments.learning import in_parallel
from experiments.rank_and_filter.made_up import LABELS, MadeUp, made_up
from experiments.rank_and_filter.rows import AT_0, EVERYTHING, JOINT, MEASURE, NOTHING, OPTIMAL, K, rows
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import RankSiftWarning
from ranksift.learning.expected_gain import expected_shares
from ranksift.learning.judged_documents import JudgedDocuments

LENGTHS = (1, 10, 100, 1000)
SHARES = (0.05, 0.2, 0.5, 0.8, 0.95)
PENALTIES = (1, 10, 100)
#: Whether features tell anything of labels.
USE = ("informative", "useless")
SEEDS = 1
#: Documents to learn from, for validation and for the test.
DOCUMENTS = (12_000, 6_000, 40_000)
BEST = "known chances"
SHOWN = (JOINT, OPTIMAL, AT_0)


class World(NamedTuple):
    """What lists are like."""

    length: int
    share: float
    penalty: int
    use: str

    @property
    def name(self) -> str:
        """As it is kept."""
        return f"{self.length}, {self.share:g}, {self.penalty}, {self.use}"


class Task(NamedTuple):
    """A world and a seed."""

    world: World
    seed: int


def worlds() -> list[World]:
    """All of them."""
    return [World(*of) for of in product(LENGTHS, SHARES, PENALTIES, USE)]


def shift_for(share: float) -> float:
    """What is added to the log-odds of being forbidden, so that a share of the documents is.

    >>> round(float(made_up(4000, 10, 5, shift=shift_for(0.2)).chances[:, 0].mean()), 2)
    0.2
    """

    def apart(shift: float) -> float:
        return float(made_up(20_000, 3, 11, shift=shift).chances[:, 0].mean()) - share

    return float(brentq(apart, -12.0, 12.0, xtol=1e-3))


def lists_of(world: World, documents: int, seed: int, shift: float) -> MadeUp:
    """So many documents; where features are of no use they are those of other documents."""
    made = made_up(max(documents // world.length, 2), world.length, seed, shift=shift)
    named = tuple(f"{seed}-{query}" for query in made.examples.query_ids)
    made = made._replace(examples=replace(made.examples, query_ids=named))
    if world.use == "useless":
        shuffled = np.random.default_rng(seed).permutation(made.examples.features)
        made = made._replace(examples=made.examples.with_features(shuffled))
    return made


def values(task: Task) -> dict[str, list[float]]:
    """Of each ranker nDCG_f, how far it is above nothing, how far above everything in its own order, and the errors."""
    world, seed = task
    shift = shift_for(world.share)
    gains = {-1.0: -float(world.penalty)}
    train, validation, test = (lists_of(world, n, 1000 * (part + 1) + seed, shift) for part, n in enumerate(DOCUMENTS))
    if world.use == "useless":  # Nothing is known of a document but what holds for all.
        chances: Floats = np.broadcast_to(train.chances.mean(axis=0), test.chances.shape)
    else:
        chances = test.chances
    best = expected_shares(chances, Gains.of(gains)(LABELS), test.examples.offsets, K)
    nothing, everything = np.zeros(len(best), dtype=bool), np.ones(len(best), dtype=bool)
    shown = {NOTHING: (best, nothing), EVERYTHING: (best, everything), BEST: (best, best >= 0)}
    for name in SHOWN:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            model = rows()[name].fitted(gains, seed, train.examples, validation.examples)
        judged = model.judged(test.examples)
        assert judged.kept is not None
        shown[name] = judged.scores, judged.kept
    found = {}
    for name, (scores, kept) in shown.items():
        own, none, every = (_per_query(test.examples, gains, scores, by) for by in (kept, nothing, everything))
        found[name] = [float(own.mean()), *_above(own, none), *_above(own, every)]
    return found


def _per_query(test: Examples, gains: dict[float, float], scores: Floats, kept: NDArray[np.bool_]) -> Floats:
    lists = JudgedDocuments(test, scores, None).lists(gains)
    return np.asarray(one_measure(MEASURE).per_query(lists.judged_by(kept[lists.row])).numerator)


def _above(own: Floats, other: Floats) -> tuple[float, float]:
    apart = own - other
    return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))


def in_many_worlds(folder: Path) -> dict[str, Any]:
    """By the name of a world: of each ranker the values of every seed."""
    tasks = [Task(world, seed) for world in worlds() for seed in range(SEEDS)]
    found = in_parallel(values, tasks)
    told: dict[str, Any] = {}
    for (world, _), of in zip(tasks, found, strict=True):
        for name, own in of.items():
            told.setdefault(world.name, {}).setdefault(name, []).append(own)
    return told
