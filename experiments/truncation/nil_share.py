"""The same systems where fewer or more questions have no answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.truncation.setting import MODIFIED, ORIGINAL, Setting
from experiments.truncation.wikiqa import Floats
from ranksift.study.agreement import correlation
from ranksift.study.systems import levels

#: Shares of questions without an answer.
SHARES = np.arange(0, 101) / 100


def at_share(setting: Setting, kind: str, measure: str, share: float) -> Floats:
    """Each system's score where a share of the questions has no answer: both kinds of questions weighted anew."""
    values, nil = setting.by_question(kind, measure), setting.questions.nil
    return share * values[:, nil].mean(axis=1) + (1 - share) * values[:, ~nil].mean(axis=1)


def tau(setting: Setting, measure: str, share: float, among: NDArray[np.bool_], original: str = ORIGINAL) -> float:
    """Kendall's tau between the orders by the original and by the modified measure, of some of the systems."""
    orders = (levels(at_share(setting, kind, measure, share)[among]) for kind in (original, MODIFIED))
    return correlation(*orders).tau


def best_at(setting: Setting, kind: str, measure: str, share: float, among: NDArray[np.bool_]) -> int:
    """The number of the best of some systems."""
    return int(np.where(among, at_share(setting, kind, measure, share), -np.inf).argmax())


def best_by_chance(setting: Setting, kind: str, measure: str, samples: int, seed: int) -> NDArray[np.int64]:
    """The number of the best system that ends its lists, in samples of as many questions drawn with replacement."""
    values = setting.by_question(kind, measure)
    n = values.shape[1]
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=samples)
    means = np.where(setting.honest[:, None], values @ drawn.T, -np.inf)
    return means.argmax(axis=0)
