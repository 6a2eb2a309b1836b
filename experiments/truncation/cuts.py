"""Systems that differ in where they end their lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from experiments.truncation.wikiqa import RANKERS, Questions

NIL = "NIL"
#: Percent of a system's dev scores that lie below the threshold.
QUANTILES = (*range(10, 80, 10), *range(80, 100))
#: The longest list that ends after a fixed number of sentences, and the lowest rank of a NIL in the midst of one.
LONGEST = {5: 4, None: 10}

#: What ends the lists: nothing, a threshold, a number of sentences; NIL written into every full list; no list at all.
Family = Literal["all", "score", "length", "hedge", "nothing"]
Lists = dict[str, dict[str, float]]


class System(NamedTuple):
    """A system's order of sentences, where it ends, and the lists that come of it."""

    ranker: str
    family: Family
    at: int
    lists: Lists


def ended(ranking: list[str], length: int, limit: int | None) -> list[str]:
    """The first sentences, and NIL where the system left something out that the limit would have let through.

    >>> ended(["a", "b", "c"], 2, limit=5), ended(["a", "b", "c"], 3, limit=5), ended(["a", "b", "c"], 3, limit=2)
    (['a', 'b', 'NIL'], ['a', 'b', 'c'], ['a', 'b'])
    """
    most = len(ranking) if limit is None else min(limit, len(ranking))
    return [*ranking[:length], NIL] if length < most else ranking[:most]


def hedged(ranking: list[str], rank: int, limit: int | None) -> list[str]:
    """The whole list with NIL put in at a rank: a bet on both.

    >>> hedged(["a", "b", "c"], 2, limit=3)
    ['a', 'NIL', 'b']
    """
    return [*ranking[: rank - 1], NIL, *ranking[rank - 1 :]][:limit]


def ranked(documents: list[str]) -> dict[str, float]:
    """A list as a run has it."""
    return {document: -float(rank) for rank, document in enumerate(documents)}


def systems(questions: Questions, dev: Questions, limit: int | None) -> dict[str, System]:
    """Every system by its name; thresholds are quantiles of the dev scores."""
    found = {}
    for ranker in RANKERS:
        scored = questions.rankings[ranker]
        order = {q: list(ranking) for q, ranking in scored.items()}
        for family, at, lists in _cut(scored, order, dict(_thresholds(dev, ranker)), limit):
            found[f"{ranker} {label(family, at)}"] = System(ranker, family, at, _as_run(lists))
    found["nothing"] = System("", "nothing", 0, _as_run({q: [NIL] for q in questions.ids}))
    return found


def _cut(
    scored: Mapping[str, Mapping[str, float]],
    order: Mapping[str, list[str]],
    thresholds: Mapping[int, float],
    limit: int | None,
) -> Iterator[tuple[Family, int, dict[str, list[str]]]]:
    yield "all", 0, {q: ended(ranking, len(ranking), limit) for q, ranking in order.items()}
    for quantile, threshold in thresholds.items():
        kept = {q: sum(score >= threshold for score in ranking.values()) for q, ranking in scored.items()}
        yield "score", quantile, {q: ended(ranking, kept[q], limit) for q, ranking in order.items()}
    for length in range(1, LONGEST[limit] + 1):
        yield "length", length, {q: ended(ranking, length, limit) for q, ranking in order.items()}
        yield "hedge", length, {q: hedged(ranking, length, limit) for q, ranking in order.items()}


def _thresholds(dev: Questions, ranker: str) -> Iterator[tuple[int, float]]:
    scores = dev.scores(ranker)
    for quantile in QUANTILES:
        yield quantile, float(np.quantile(scores, quantile / 100))


def _as_run(lists: Mapping[str, list[str]]) -> Lists:
    return {question: ranked(documents) for question, documents in lists.items()}


def label(family: Family, at: int) -> str:
    """A cut in a table."""
    return {"all": "all", "score": f"q{at}", "length": f"top {at}", "hedge": f"NIL@{at}", "nothing": "nothing"}[family]


def in_one_piece(words: str) -> str:
    """A cell that is not broken into two lines."""
    return words.replace(" ", "\N{NO-BREAK SPACE}").replace("-", "\N{NON-BREAKING HYPHEN}")
