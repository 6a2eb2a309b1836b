"""Queries that are all there are: the true risk of every threshold is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.lists import Lists
from ranksift.cutoffs.risk import RiskCurve
from ranksift.cutoffs.sweep import Sweep
from ranksift.measures.filtering import Fdocs

Floats = NDArray[np.float64]
Draw = np.random.Generator

QUERIES = 20_000
SEED = 2026


@dataclass(frozen=True, eq=False)
class Population:
    """Queries with their documents, scored and judged."""

    name: str
    lists: Lists
    k: int = 3

    @cached_property
    def _shown(self) -> tuple[Floats, Floats]:
        """Every threshold, and the share of places that forbidden documents take there (not the largest above it)."""
        sweep = Sweep.of(self.lists, Fdocs(k=self.k))
        forbidden = np.cumsum(sweep.change[0])[sweep.last]
        return sweep.thresholds, np.concatenate(([0.0], forbidden)) / (self.k * len(self.lists))

    def risk(self, thresholds: Floats) -> Floats:
        """The true risk of each threshold."""
        at, risk = self._shown
        return risk[np.searchsorted(-at, -thresholds, side="right") - 1]

    @cached_property
    def _good(self) -> Floats:
        return np.sort(self.lists.score[self.lists.judged & (self.lists.gain >= 0)])

    def dropped(self, thresholds: Floats | float) -> Floats:
        """The share of the good documents that each threshold drops."""
        return np.searchsorted(self._good, thresholds, side="left") / len(self._good)

    def ideal(self, alpha: float) -> float:
        """The threshold of someone who knows the true risk: the lowest down to which it is at most alpha."""
        at, risk = self._shown
        return float(at[np.flatnonzero(np.maximum.accumulate(risk) <= alpha)[-1]])

    def sample(self, draw: Draw, queries: int) -> RiskCurve:
        """Some of the queries, each drawn on its own."""
        drawn = draw.integers(0, len(self.lists), queries)
        return RiskCurve.of(self.lists.of_queries(drawn), self.k)


def made_up() -> list[Population]:
    """Kinds of scores that a guarantee must not mind."""
    return [
        Population(name, make(np.random.default_rng([SEED, i])), k) for i, (name, (make, k)) in enumerate(KINDS.items())
    ]


def _lists(scores: Floats, forbidden: NDArray[np.bool_], rank_scores: Floats | None = None) -> Lists:
    """One row of documents a query."""
    queries = np.repeat(np.arange(len(scores)), scores.shape[1])
    by = None if rank_scores is None else rank_scores.ravel()
    return Lists.from_arrays(scores.ravel(), np.where(forbidden, -1.0, 1.0).ravel(), queries, rank_scores=by)


def _plain(draw: Draw, each: int, share: float, away: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores of forbidden documents lie lower than the others', by so many standard deviations."""
    forbidden = draw.random((QUERIES, each)) < share
    return draw.normal(np.where(forbidden, -away, 0.0), 1.0), forbidden


def _spread(draw: Draw) -> Lists:
    return _lists(*_plain(draw, 5, 0.4, 1.5))


def _near(draw: Draw) -> Lists:
    return _lists(*_plain(draw, 5, 0.4, 1.0))


def _grades(draw: Draw) -> Lists:
    scores, forbidden = _plain(draw, 5, 0.4, 1.5)
    return _lists(np.clip(np.round(scores), -3, 1), forbidden)


def _rare(draw: Draw) -> Lists:
    return _lists(*_plain(draw, 10, 0.05, -1.0))


def _clustered(draw: Draw) -> Lists:
    """Of every tenth query nearly all documents are forbidden, and score only a little lower."""
    hard = draw.random((QUERIES, 1)) < 0.1
    forbidden = draw.random((QUERIES, 10)) < np.where(hard, 0.95, 0.02)
    return _lists(draw.normal(np.where(hard, -1.0, 0.0), 1.0, (QUERIES, 10)), forbidden)


def _short(draw: Draw) -> Lists:
    """Mostly one or two documents a query."""
    scores, forbidden = _plain(draw, 4, 0.25, 2.0)
    there = np.arange(4) < draw.geometric(0.6, QUERIES)[:, None]
    query = np.repeat(np.arange(QUERIES), there.sum(axis=1))
    return Lists.from_arrays(scores[there], np.where(forbidden[there], -1.0, 1.0), query)


def _uninformative(draw: Draw) -> Lists:
    return _lists(*_plain(draw, 10, 0.2, 0.0))


def _two_scores(draw: Draw) -> Lists:
    spam, forbidden = _plain(draw, 10, 0.25, 2.0)
    return _lists(spam, forbidden, rank_scores=draw.normal(0.0, 1.0, spam.shape))


KINDS: dict[str, tuple[Callable[[Draw], Lists], int]] = {
    "spread": (_spread, 3),
    "five grades": (_grades, 3),
    "rare, on top": (_rare, 3),
    "clustered": (_clustered, 3),
    "short lists": (_short, 3),
    "uninformative": (_uninformative, 3),
    "two scores": (_two_scores, 3),
    "first place": (_near, 1),
}
