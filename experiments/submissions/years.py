"""The score tables of each year, studied."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

import ranksift as rs
from ranksift import study
from ranksift.study.agreement import Agreement, correlation
from ranksift.study.discrimination import Discrimination
from ranksift.study.reliability import Reliability
from ranksift.study.sensitivity import Sensitivity
from ranksift.study.stability import Stability
from ranksift.study.systems import levels

YEARS = range(2010, 2015)
#: The measures, and how the names of their files end.
MEASURES = {"AP": "ap", "nDCG@20": "ndcg20", "ERR@20": "err20", "P@20": "p20", "P@10": "p10", "RR": "rr"}
#: The size of topic set at which error rates are compared: at most half of any year's topics.
SIZE = 24
#: A level of significance, a share of wrong decisions, and a reliability that are good enough.
ALPHA, ERROR, PHI = 0.05, 0.05, 0.95
#: Random halves of the topics, and the bootstrap samples of each.
HALVES, HALF_SAMPLES = 50, 100


class Year:
    """The submissions of one year: systems × topics × measures."""

    def __init__(self, data: Path, year: int) -> None:
        self.year = year
        folder = data / "trec_web_pertopic_scores"
        with warnings.catch_warnings():  # the page says what there is to know
            warnings.simplefilter("ignore", rs.RankSiftWarning)
            self.scores = rs.read_scores({name: folder / f"web{year}_{end}.csv" for name, end in MEASURES.items()})
            self.stability: Stability = study.stability(self.scores)
            self.relative: Stability = study.stability(self.scores, fuzziness=0.05, fuzz="relative")
            self.sensitivity: Sensitivity = study.sensitivity(self.scores)
            self.reliability: Reliability = study.reliability(self.scores)
            self.uncorrected: Discrimination = study.discrimination(self.scores)
            self.corrected: Discrimination = study.discrimination(self.scores, correction="holm")
            self.agreement: Agreement = study.agreement(self.scores)

    @property
    def topics(self) -> int:
        """How many there are."""
        return len(self.scores.queries)

    @property
    def systems(self) -> int:
        """How many there are."""
        return len(self.scores.runs)

    @property
    def copies(self) -> int:
        """Systems that have the values of another one on every topic, by every measure."""
        return self.systems - len(np.unique(self.scores.values.reshape(self.systems, -1), axis=0))

    def opposite(self, measure: str, other: str) -> int:
        """Pairs that differ significantly by both measures, each in favour of another system; no correction."""
        found = self.uncorrected.comparison
        a, b = self.scores.column(measure), self.scores.column(other)
        both = found.significant[:, a] & found.significant[:, b]
        return int(np.count_nonzero(both & (found.better[:, a] * found.better[:, b] < 0)))

    @cached_property
    def first_on_halves(self) -> dict[str, Counter[str]]:
        """Which measure is the best on random halves of the topics, by reliability and by sensitivity."""
        first: dict[str, Counter[str]] = {"reliability": Counter(), "sensitivity": Counter()}
        random = np.random.default_rng([0, self.year])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rs.RankSiftWarning)
            for _ in range(HALVES):
                chosen = np.sort(random.permutation(self.topics)[: self.topics // 2])
                half = study.on_queries(self.scores, [self.scores.queries[q] for q in chosen])
                phi = study.reliability(half, samples=0).phi
                apart = told_apart(study.sensitivity(half, samples=HALF_SAMPLES))
                first["reliability"][_best(phi)] += 1
                first["sensitivity"][_best(apart)] += 1
        return first


def told_apart(found: Sensitivity) -> dict[str, float]:
    """The share of pairs with an achieved significance level below α."""
    return {m: float(share[0]) for m, share in found.curve([ALPHA]).items()}


def _best(worth: Mapping[str, float]) -> str:
    return max(worth, key=lambda measure: worth[measure])


def places(worth: Mapping[str, float]) -> dict[str, int]:
    """The place of each measure, the best being the first; equals share the better place."""
    level = levels(np.array(list(worth.values())))
    return {m: 1 + int(np.count_nonzero(level > own)) for m, own in zip(worth, level.tolist(), strict=True)}


def agreement_of_years(worths: Iterable[Mapping[str, float]]) -> list[float]:
    """Kendall's τ_b between the orders of the measures in every two years."""
    order = [levels(np.array(list(worth.values()))) for worth in worths]
    return [correlation(a, b).tau_b for a, b in combinations(order, 2)]
