"""Rankers fitted and judged, on several processes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.learning import in_parallel
from experiments.rank_and_filter.rows import BEST_CUT, FILTER, OWN_CUT, PEER, YETIRANK, Row, rows
from experiments.rank_and_filter.settings import MEASURE, MEASURES, REVIEWS, SEEDS, judged_reviews, setting
from ranksift.collection.gains import Gains
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.evaluation.compare import compare
from ranksift.evaluation.evaluate import ready_measures
from ranksift.evaluation.scores import Scores
from ranksift.learning.expected_gain import expected_shares
from ranksift.learning.validation import HeldOut, Scored

_MEASURES = ready_measures(list(MEASURES))

#: What the known chances of the labels of the made-up reviews allow.
KNOWN_SHARES, KNOWN_GAINS = "known chances, E[g/(I − W)] ≥ 0", "known chances, E[g], best cut"


class Task(NamedTuple):
    """Rankers that share their trees, in one setting, with one seed."""

    setting: str
    rows: tuple[str, ...]
    seed: int


class Values(NamedTuple):
    """Numerators and denominators: queries × measures."""

    top: NDArray[np.float64]
    bottom: NDArray[np.float64]


def judged(data: Path, task: Task) -> list[Values]:
    """Fit rankers and judge what they show."""
    given, found = setting(task.setting, task.seed, data), []
    chosen = [rows()[name] for name in task.rows]
    parts: list[list[Scored]] = [[] for _ in chosen]
    for fold in given.folds:
        for row, own in zip(chosen, parts, strict=True):
            own.append(Scored(row.ranker(given.gains, task.seed), fold, row.cutoff))
    for row, own in zip(chosen, parts, strict=True):
        if row.shuffled:
            draw = np.random.default_rng(task.seed)
            for part in own:
                part.scores = draw.random(len(part.scores))
        # A ranker's own cut counts for all measures here, as in the paper's table.
        values = HeldOut.of(own, row.ranker(given.gains, task.seed), asked=True).values(_MEASURES)
        found.append(Values(values.numerators, values.denominators))
    return found


@dataclass(frozen=True, eq=False)
class Outcome:
    """All rankers of one setting.

    Attributes
    ----------
    names
        Of the rankers.
    values
        One set of values for each seed, for each ranker.
    """

    setting: str
    names: tuple[str, ...]
    values: tuple[tuple[Values, ...], ...]

    def of(self, name: str, measure: str = MEASURE) -> Floats:
        """The measure for each seed."""
        m = MEASURES.index(measure)
        own = self.values[self.names.index(name)]
        return np.array([_MEASURES[m].aggregate(v.top[:, m], v.bottom[:, m]) for v in own])

    def mean(self, name: str, measure: str = MEASURE) -> float:
        """The mean over seeds."""
        return float(self.of(name, measure).mean())

    def group(self, *groups: str) -> list[str]:
        """The rankers of some groups, in their order."""
        known = rows()
        return [name for name in self.names if name in known and known[name].group in groups]

    @property
    def queries(self) -> int:
        return len(self.values[0][0].top)

    @cached_property
    def scores(self) -> Scores:
        """Every query's value, as the mean over seeds."""
        cube = np.array([[np.mean([v.top[:, 0] for v in own], axis=0)] for own in self.values]).transpose(0, 2, 1)
        queries = [str(i) for i in range(self.queries)]
        return Scores.from_array(cube, runs=self.names, queries=queries, measures=[MEASURE])

    def against(self, baseline: str, others: Sequence[str]) -> Mapping[str, tuple[float, float]]:
        """How much better a ranker is than others, and p after Holm's correction over all of them."""
        chosen = [self.names.index(name) for name in (baseline, *others)]
        few = Scores.from_array(
            self.scores.values[chosen], runs=[baseline, *others], queries=self.scores.queries, measures=[MEASURE]
        )
        found = compare(few, baseline, "t", "holm").to_frame()
        return {row["run"]: (-row["difference"], row["corrected_p"]) for row in found.iter_rows(named=True)}

    def wins(self, name: str, other: str) -> int:
        """Of how many seeds one ranker is better than another."""
        return int((self.of(name) > self.of(other)).sum())

    def best(self, *groups: str) -> str:
        """The best ranker of some groups."""
        return max(self.group(*groups), key=self.mean)

    @property
    def peers(self) -> list[str]:
        return self.group(PEER)


def outcomes(data: Path, settings: Sequence[str], names: Sequence[str] | None = None) -> dict[str, Outcome]:
    """Fit all rankers in some settings, with all seeds."""
    known: Mapping[str, Row] = rows()
    wanted = {
        word: [name for name, row in known.items() if word in row.where and (names is None or name in names)]
        for word in settings
    }
    tasks = [
        Task(word, shared, seed)
        for word in settings
        for shared in _sharing(wanted[word])
        for seed in range(SEEDS[word])
    ]
    # Slow ones first, so that no process waits for the other at the end.
    tasks.sort(key=lambda task: not task.rows[0].startswith("CatBoost"))
    found: dict[tuple[str, str, int], Values] = {}
    for task, of_rows in zip(tasks, in_parallel(partial(judged, data), tasks), strict=True):
        found |= {(task.setting, name, task.seed): own for name, own in zip(task.rows, of_rows, strict=True)}
    every: dict[str, Outcome] = {}
    for word in settings:
        values: dict[str, tuple[Values, ...]] = {
            name: tuple(found[word, name, seed] for seed in range(SEEDS[word])) for name in wanted[word]
        }
        if word == REVIEWS:
            values |= _known()
        every[word] = Outcome(word, tuple(values), tuple(values.values()))
    return every


def _sharing(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Rankers in parts that have trees in common: CatBoost's take half a minute for each fold."""
    together: dict[str, tuple[str, ...]] = {}
    for name in names:
        key = name
        if name.startswith("CatBoost"):  # its filter drops documents from the ranking of YetiRank
            key = name.removesuffix(f", {OWN_CUT}").removesuffix(f", {BEST_CUT}").replace(FILTER, YETIRANK)
        together[key] = (*together.get(key, ()), name)
    return list(together.values())


def _known() -> dict[str, tuple[Values, ...]]:
    """Lists by the chances that the made-up labels were drawn with."""
    reviews, gains = judged_reviews(), setting(REVIEWS, 0, Path()).gains
    examples = reviews.examples
    worth = Gains.of(gains)(np.array([-1.0, 0.0, 1.0, 2.0]))
    shares = expected_shares(reviews.chances, worth, examples.offsets, 3)
    lists = Lists.from_arrays(reviews.chances @ worth, examples.labels, examples.query, gains=gains)
    cut = GlobalCutoff(MEASURE).fit_lists(lists).keep_lists(lists)
    by_share = Lists.from_arrays(shares, examples.labels, examples.query, gains=gains)
    found: dict[str, tuple[Values, ...]] = {}
    for name, own, kept in ((KNOWN_SHARES, by_share, by_share.score >= 0), (KNOWN_GAINS, lists, cut)):
        held_out = HeldOut(examples.query_ids, own, np.zeros(len(examples.query_ids), dtype=np.int64), kept, True)
        values = held_out.values(_MEASURES)
        found[name] = (Values(values.numerators, values.denominators),)
    return found
