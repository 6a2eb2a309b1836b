"""What networks said of folds that they had not seen, cut and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from experiments.text.fits import kept_outputs
from experiments.text.settings import FOLDS, GAINS, PAIRS, Collection
from experiments.text.settings import collection as read
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.calibration import Platt
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.learning.expected_gain import expected_shares
from ranksift.learning.judged_documents import JudgedDocuments

K = 3
MEASURE = f"nDCG_f@{K}"
MEASURES = (MEASURE, "nDCG_f@10", f"Fdocs@{K}", "GoodFiltered", "Empty")


class Said(NamedTuple):
    """A collection with what networks said of it."""

    collection: Collection
    outputs: Mapping[str, NDArray[np.float32]]

    @property
    def examples(self) -> Examples:
        return self.collection.examples

    @property
    def fold(self) -> NDArray[np.int64]:
        """Of each document."""
        return self.collection.fold[self.examples.query]

    def of(self, name: str, seed: int, unseen: tuple[int, int]) -> NDArray[np.float64]:
        """Documents × (score, outputs); NaN of folds that the network has learned from."""
        own = self.outputs[f"{name}|{seed}|{unseen[0]}{unseen[1]}"].astype(float)
        found = np.full((len(self.examples), own.shape[1]), np.nan)
        found[np.isin(self.fold, unseen)] = own
        return found

    def crossed(self, networks: Sequence[tuple[str, int]], test: int, column: slice) -> NDArray[np.float64]:
        """Of documents outside the test fold what networks without their fold say; inside, the mean of all of these.

        No network has seen the test fold. Networks are names with seeds, and are averaged.
        """
        total = np.zeros(())
        for name, seed in networks:
            found = np.zeros(self.of(name, seed, PAIRS[0])[:, column].shape)
            for unseen in PAIRS:
                if test in unseen:
                    said = self.of(name, seed, unseen)[:, column]
                    other = sum(unseen) - test
                    found[self.fold == other] = said[self.fold == other]
                    found[self.fold == test] += said[self.fold == test] / (FOLDS - 1)
            total = total + found
        return np.asarray(total / len(networks))


@lru_cache
def said_of(name: str, data: Path, outputs: Path) -> Said:
    """A collection and all outputs that were kept of it."""
    return Said(read(name, data), kept_outputs(outputs, name))


class Judged(NamedTuple):
    """Values of all queries together, and nDCG_f of each query."""

    values: tuple[float, ...]
    of_queries: Floats


def judged(examples: Examples, scores: Floats, kept: NDArray[np.bool_]) -> Judged:
    """What measures say of what is kept."""
    known = examples.judged
    shown = JudgedDocuments(examples.judged_only(), scores[known], kept[known])
    values = tuple(shown.value(measure, GAINS, cut=True) for measure in MEASURES)
    return Judged(values, shown.per_query(MEASURE, GAINS))


def lists_of(examples: Examples, scores: Floats) -> Lists:
    """Labelled documents with their scores."""
    return JudgedDocuments(examples.judged_only(), scores[examples.judged], None).lists(GAINS)


def best_cut(examples: Examples, scores: Floats, where: NDArray[np.bool_]) -> float:
    """The threshold of the best nDCG_f on some documents, which are of whole queries."""
    some = examples.of_queries(np.unique(examples.query[where]))
    return float(GlobalCutoff(MEASURE).fit_lists(lists_of(some, scores[where])).threshold_)


def chances(said: Said, networks: Sequence[tuple[str, int]]) -> NDArray[np.float64]:
    """Calibrated chances of each grade, of documents that were not seen."""
    examples, fold = said.examples, said.fold
    gain = Gains.of(GAINS)(np.where(examples.judged, examples.labels, 0.0))
    levels = np.unique(gain[examples.judged])
    found = np.zeros((len(examples), len(levels)))
    for test in range(FOLDS):
        outputs = said.crossed(networks, test, slice(1, None))
        inside, known = fold == test, (fold != test) & examples.judged
        above = [
            Platt().fit(column[known], gain[known] >= level).probabilities(column[inside])
            for column, level in zip(outputs.T, levels[1:], strict=True)
        ]
        ordered = -np.sort(-np.column_stack([np.ones(inside.sum()), *above, np.zeros(inside.sum())]), axis=1)
        found[inside] = -np.diff(ordered, axis=1)
    return found


def shares(said: Said, networks: Sequence[tuple[str, int]]) -> Floats:
    """Expected shares of nDCG_f from these chances: worth showing from 0 on."""
    examples = said.examples
    levels = np.unique(Gains.of(GAINS)(examples.labels[examples.judged]))
    return expected_shares(chances(said, networks), levels, examples.offsets, K)


def told(found: Sequence[Judged]) -> dict[str, Any]:
    """Values of each seed."""
    return {"values": {name: [one.values[m] for one in found] for m, name in enumerate(MEASURES)}}


def against(ours: Sequence[Judged], other: Sequence[Judged]) -> list[float]:
    """How much better ours is, its standard error, and p of a paired t test over queries; seeds are averaged."""
    apart = np.mean([one.of_queries for one in ours], axis=0) - np.mean([one.of_queries for one in other], axis=0)
    if not apart.any():
        return [0.0, 0.0, 1.0]
    found = ttest_rel(apart, np.zeros(len(apart)))
    return [float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))), float(found.pvalue)]
