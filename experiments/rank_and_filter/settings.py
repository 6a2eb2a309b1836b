"""What the rankers learn from and are judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ranksift.collection.examples import Examples, Fold, together
from ranksift.datasets.reviews import GAINS as REVIEW_GAINS
from ranksift.datasets.reviews import Reviews, product_reviews
from ranksift.datasets.semeval import semeval2015
from ranksift.learning.validation import three_way

NEEDS: tuple[str, ...] = ("semeval2015_task3_cqa",)

K = 3
MEASURE = f"nDCG_f@{K}"
#: The columns of Carmel et al.'s Table 7.
MEASURES = (MEASURE, f"nDCG@{K}", f"nDCG_min@{K}", f"Fdocs@{K}", "GoodFiltered", "Empty")

FORUM, FOLDS, REVIEWS = "forum, test", "forum, all questions in folds", "product reviews"
SEEDS = {FORUM: 5, FOLDS: 1, REVIEWS: 5}
FORUM_GAINS: Mapping[float, float] = {-1.0: -10.0}

#: Products to learn from, for validation and for the test.
PRODUCTS = (1000, 250, 3000)


@dataclass(frozen=True, eq=False)
class Setting:
    """Folds to learn from, one set for each seed, and what labels are worth."""

    folds: tuple[Fold, ...]
    gains: Mapping[float, float]

    @property
    def test(self) -> Examples:
        """All queries that rankers are judged on, in the order of the folds."""
        return together([fold.test for fold in self.folds])


@lru_cache(maxsize=8)
def setting(name: str, seed: int, data: Path) -> Setting:
    """The forum is the same for all seeds; each seed has products of its own to learn from, and the same test."""
    if name == REVIEWS:
        learn, stop, _ = PRODUCTS
        parts = (product_reviews(learn, seed=1000 + seed), product_reviews(stop, seed=2000 + seed), judged_reviews())
        return Setting((Fold(*(part.examples for part in parts)),), REVIEW_GAINS)
    forum = semeval2015(data / NEEDS[0])
    if name == FORUM:
        return Setting((forum,), FORUM_GAINS)
    assert forum.validation is not None
    every = together([forum.train, forum.validation, forum.test])
    return Setting(tuple(three_way(every, 5, seed)), FORUM_GAINS)


def looked_at(data: Path) -> float:
    """The share of the questions in folds that the defaults of our rankers were chosen on."""
    fold = setting(FORUM, 0, data).folds[0]
    assert fold.validation is not None
    seen, new = len(fold.train.query_ids) + len(fold.validation.query_ids), len(fold.test.query_ids)
    return seen / (seen + new)


@lru_cache(maxsize=1)
def judged_reviews() -> Reviews:
    """The products of the test, with the chances of their labels."""
    return product_reviews(PRODUCTS[2], seed=0)
