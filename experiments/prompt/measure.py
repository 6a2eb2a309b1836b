"""Forbidden passages in prompts, without a filter, with a guessed threshold, and with a fitted cutoff."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import ranksift as rs
from experiments.prompt import EXPERIMENT
from experiments.prompt.passages import Prompts, answered, as_found, prompts_of
from ranksift.collection.examples import Examples
from ranksift.cutoffs import FixedCutoff
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.datasets import semeval2015, synthetic_forum
from ranksift.learning import L2LogisticRegression, Ranker, TextRanker

#: Passages of a prompt.
LENGTHS = (3, 5)
#: Thresholds that somebody guesses: shown is what is helpful with such a probability.
GUESSES = (0.5, 0.9)
#: What a forbidden passage costs, where a good one earns 2, and one that may help 1.
COSTS = (10, 2)
FOUND, RANKED = "first found", "ranked, no filter"

#: What reaches the prompts, by their length and by what chooses the passages.
Outcomes = Mapping[tuple[int, str], Prompts]


@dataclass(frozen=True)
class Split:
    """A ranker, what it learns from, what its cutoff is fitted to, and what neither has seen."""

    model: Ranker
    train: Examples
    dev: Examples
    test: Examples


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page."""
    splits = {"forum": forum(), "SemEval": semeval(data)}
    return {name: told(split, outcomes(split)) for name, split in splits.items()}


def forum(threads: int = 200) -> Split:
    """The synthetic forum: three draws of it."""
    parts = (synthetic_forum(count, seed=seed).examples for seed, count in enumerate((threads, threads // 2, threads)))
    return Split(TextRanker("bce", freeze=True, context=False), *parts)


def semeval(data: Path) -> Split:
    """SemEval-2015, by the features that come with it."""
    fold = semeval2015(data / EXPERIMENT.needs[0])
    return Split(L2LogisticRegression(), fold.train, fold.validation, fold.test)


def outcomes(split: Split) -> Outcomes:
    """What the service lets through."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        folder, files = Path(place), {}
        ranker = split.model.fit(split.train).fit_cutoff(split.dev, FixedCutoff(-1e300))  # it keeps everything
        ranker.save(folder / "ranker")
        scores, groups = ranker.score(split.dev), split.dev.query
        for name, (rule, cost) in rules().items():
            files[name] = folder / f"{len(files)}.json"
            rule.fit(scores, split.dev.labels, groups, gains={-1: -cost}).save(files[name])
        lists = answered(folder / "ranker", files, split.test)
    found = {}
    for most in LENGTHS:
        ways = {FOUND: as_found(split.test), RANKED: lists[""]}
        ways |= {guess(chance): lists[guess(chance)] for chance in GUESSES}
        ways |= {fitted(cost): lists[f"{fitted(cost)} {most}"] for cost in COSTS}
        found |= {(most, way): prompts_of(split.test, own, most, COSTS) for way, own in ways.items()}
    return found


def rules() -> dict[str, tuple[Cutoff, int]]:
    """Every cutoff, with what a forbidden passage costs where it is fitted."""
    made: dict[str, tuple[Cutoff, int]] = {
        guess(chance): (FixedCutoff(float(np.log(chance / (1 - chance)))), COSTS[0]) for chance in GUESSES
    }
    for cost, most in product(COSTS, LENGTHS):
        made[f"{fitted(cost)} {most}"] = rs.GlobalCutoff(f"nDCG_f@{most}"), cost
    return made


def guess(chance: float) -> str:
    """A threshold that somebody guesses, in words."""
    return f"ranked, {chance} guessed"


def fitted(cost: int) -> str:
    """A fitted one."""
    return f"ranked, fitted at a cost of {cost}"


def told(split: Split, found: Outcomes) -> dict[str, Any]:
    """The collection, and what stood in its prompts."""
    nothing = prompts_of(split.test, [[] for _ in split.test.query_ids], LENGTHS[0], COSTS)
    return {
        "features": split.test.features.shape[1] if split.test.texts is None else 0,
        "questions": [len(part.query_ids) for part in (split.train, split.dev, split.test)],
        "answers": len(split.test.labels),
        "forbidden": (split.test.labels < 0).mean(),
        "nothing shown": nothing.values,
        "prompts": {
            most: {way: counted(got, found[most, RANKED]) for (of, way), got in found.items() if of == most}
            for most in LENGTHS
        },
    }


def counted(got: Prompts, plain: Prompts) -> dict[str, Any]:
    """Prompts, and what a cutoff took out of them against the ranker without one."""
    empty = got.shown == 0
    return {
        "forbidden": got.forbidden.mean(),
        "with a forbidden one": (got.forbidden > 0).mean(),
        "forbidden out": 1 - got.forbidden.sum() / plain.forbidden.sum(),
        "good lost": 1 - got.good.sum() / plain.good.sum(),
        "empty": empty.mean(),
        "empty, though": (empty & (plain.good > 0)).mean(),
        "nDCG_f": got.values,
    }
