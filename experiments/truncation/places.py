"""Stopping at the right place: the same lists ended elsewhere, at random, and as well as can be."""

from __future__ import annotations

import numpy as np

from experiments.truncation.setting import Setting
from experiments.truncation.wikiqa import Floats, Ints

LIMIT = 5


def by_length(setting: Setting, ranker: str, kind: str, measure: str) -> Floats:
    """What each question would score with 0, 1, ... 5 sentences of a system's order: lengths × questions."""
    rows = ["nothing", *(f"{ranker} top {n}" for n in range(1, LIMIT)), f"{ranker} all"]
    return setting.by_question(kind, measure)[[setting.names.index(row) for row in rows]]


def _groups(setting: Setting) -> list[Ints]:
    """Questions with the same number of sentences, five or more being the same."""
    size = np.minimum(setting.questions.candidates, LIMIT)
    return [np.flatnonzero(size == n) for n in np.unique(size)]


def dealt(setting: Setting, system: str, kind: str, measure: str) -> float:
    """The expected score where a system's lengths are dealt out among questions with as many sentences at random."""
    values = by_length(setting, setting.systems[system].ranker, kind, measure)
    lengths = setting.lengths[setting.names.index(system)]
    total = 0.0
    for group in _groups(setting):
        share = np.bincount(lengths[group], minlength=LIMIT + 1) / len(group)
        total += float((share @ values[:, group]).sum())
    return total / len(lengths)


def luck(setting: Setting, system: str, kind: str, measure: str, deals: int, seed: int) -> float:
    """How likely it is that dealing the lengths at random scores as high as the system, from some random deals."""
    values = by_length(setting, setting.systems[system].ranker, kind, measure)
    lengths = setting.lengths[setting.names.index(system)]
    draw = np.random.default_rng(seed)
    totals = np.zeros(deals)
    for group in _groups(setting):
        random = draw.permuted(np.tile(lengths[group], (deals, 1)), axis=1)
        totals += values[random, group].sum(axis=1)
    real = setting.by_question(kind, measure)[setting.names.index(system)].sum()
    return (1 + int((totals >= real - 1e-9).sum())) / (1 + deals)


def perfect(setting: Setting, ranker: str, kind: str, measure: str) -> float:
    """The score of a system that ends each list where that list scores the most."""
    return float(by_length(setting, ranker, kind, measure).max(axis=0).mean())


def telling_apart(setting: Setting, ranker: str) -> float:
    """How often the top score of a question with an answer is above that of one without: 0.5 is chance (AUC)."""
    top, nil = setting.questions.top_scores(ranker), setting.questions.nil
    above = np.sign(top[~nil][:, None] - top[nil][None, :])
    return float((above.mean() + 1) / 2)


def by_top_score(setting: Setting, ranker: str, parts: int = 5) -> list[tuple[float, float]]:
    """Questions in order of their top score, in equal parts: the share without an answer, and that of right tops."""
    order = np.argsort(setting.questions.top_scores(ranker), kind="stable")
    nil, right = setting.questions.nil, setting.questions.top_is_right(ranker)
    return [(float(nil[part].mean()), float(right[part].mean())) for part in np.array_split(order, parts)]
