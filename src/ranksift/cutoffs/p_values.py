r"""How surprising so few losses would be, if the risk were higher.

Every query loses 0, 1, …, or k of its k places, so its loss lies in [0, 1]. The risk is the mean loss over all queries
there are; a sample of n of them is known, each drawn on its own. A p-value bounds the chance that a sample shows losses
as small as these, or smaller, where the risk is ``risk`` or more. Every p-value here falls as ``risk`` rises and never
falls as any query loses more: that is what lets a cut be searched without correction (:mod:`ranksift.cutoffs.risk`).

``lost[j]`` is the number of queries that lost j places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, log, log1p

import numpy as np

from ranksift.collection.ragged import Floats, Ints

PValue = Callable[[Ints, float], float]


def mean_loss(lost: Ints) -> float:
    """The mean loss of a sample.

    >>> mean_loss(np.array([8, 1, 1]))
    0.15
    """
    return places(lost) / ((len(lost) - 1) * int(lost.sum()))


def places(lost: Ints) -> int:
    """How many places all queries lost together."""
    return int(lost @ np.arange(len(lost)))


def binomial(lost: Ints, risk: float) -> float:
    r"""Losses of all or nothing (k = 1): exactly :math:`P(Bin(n, risk) \le losses)`.

    >>> round(binomial(np.array([28, 0]), 0.1), 4)
    0.0523
    """
    from scipy.special import bdtr

    return float(bdtr(places(lost), int(lost.sum()), risk))


def hoeffding_bentkus(lost: Ints, risk: float) -> float:
    r"""Any losses in [0, 1], known by their mean :math:`\hat r` (Bates et al. 2021).

    .. math:: \min\left(e^{-n\,kl(\min(\hat r, risk),\ risk)},\; e\,P(Bin(n, risk) \le \lceil n \hat r \rceil)\right)

    >>> round(hoeffding_bentkus(np.array([90, 9, 1, 0]), 0.1), 4)
    0.0566
    """
    from scipy.special import bdtr

    queries, whole = int(lost.sum()), len(lost) - 1
    mean = mean_loss(lost)
    hoeffding = exp(-queries * _divergence(min(mean, risk), risk))
    bentkus = exp(1.0) * float(bdtr(-(-places(lost) // whole), queries, risk))
    return min(1.0, hoeffding, bentkus)


def _divergence(p: float, q: float) -> float:
    """Between coins that fall on heads with probability p and q."""
    heads = p * log(p / q) if p else 0.0
    return heads + ((1.0 - p) * log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0)


@dataclass(frozen=True)
class Betting:
    r"""Any losses in [0, 1], known one by one: what gamblers win against the claim that the risk is higher.

    With each query a gambler stakes the share θ of what he has, and buys with it what is safe, 1 − loss, at the price
    1 − risk:

    .. math:: \prod_i \left( (1 - \theta) + \theta\, \frac{1 - loss_i}{1 - risk} \right)

    If the risk is ``risk`` or more, no such product is expected to exceed 1, nor is the mean over gamblers whose stakes
    were fixed before the data were seen. So the chance that it reaches 1/δ is at most δ (Markov), and its inverse is a
    p-value. Where losses are smaller than 1, the same mean varies less: that is what it gains over bounds that know
    the mean only. The idea is Waudby-Smith and Ramdas's (2024). Their stakes follow the data; ours are fixed, so that
    the p-value does not depend on the order of the queries and moves one way only as losses grow.

    Examples
    --------
    >>> round(Betting.against(0.1, 0.1, queries=100, k=3)(np.array([90, 9, 1, 0]), 0.1), 4)
    0.005
    """

    stakes: tuple[float, ...]

    @classmethod
    @lru_cache(maxsize=256)
    def against(cls, risk: float, delta: float, *, queries: int, k: int) -> Betting:
        """Gamblers who are each at their best where all losses are of one size: 1, 2, 4, … and k of the k places."""
        sizes = sorted({min(1 << i, k) for i in range(int(k).bit_length() + 1)})
        goal = log(len(sizes) / delta)
        return cls(tuple(_best_stake(size / k, risk, goal / queries) for size in sizes))

    def __call__(self, lost: Ints, risk: float) -> float:
        """The p-value."""
        stakes: Floats = np.array(self.stakes)[:, None]
        seen = np.flatnonzero(lost)
        safe = 1.0 - seen / (len(lost) - 1)
        with np.errstate(divide="ignore"):  # who stakes all, and loses all, has nothing left
            won = np.log((1.0 - stakes) + stakes * safe / (1.0 - risk)) @ lost[seen]
        return exp(min(0.0, log(len(won)) - float(np.logaddexp.reduce(won))))


def _best_stake(size: float, risk: float, rate: float) -> float:
    """The stake of a gambler who gains at this rate a query from as many losses of one size as can be.

    With a share p of losses, of size l, Kelly's stake is (1 − p)/b − p/a, where a = risk/(1 − risk) is gained on every
    other query and b = (l − risk)/(1 − risk) is lost on these.
    """
    if size <= risk:
        return 1.0
    a, b = risk / (1.0 - risk), (size - risk) / (1.0 - risk)

    def stake(p: float) -> float:
        return min(1.0, max(0.0, (1.0 - p) / b - p / a))

    def growth(p: float) -> float:
        return (1.0 - p) * log1p(stake(p) * a) + p * log1p(-stake(p) * b)

    few, many = 0.0, risk / size  # with the latter share of losses the game is fair
    for _ in range(40):
        middle = (few + many) / 2.0
        few, many = (middle, many) if growth(middle) >= rate else (few, middle)
    return stake(few)


def upper_bound(p_value: PValue, lost: Ints, delta: float) -> float:
    """The smallest risk that the sample speaks against at the level ``delta``: with confidence 1 − delta, none above.

    >>> round(upper_bound(binomial, np.array([100, 0]), 0.05), 4)
    0.0295
    """
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2.0
        low, high = (low, middle) if p_value(lost, middle) <= delta else (middle, high)
    return high


def fewest_queries(passes: Callable[[Ints], bool], shares: Floats) -> int | None:
    """About how many queries would pass, if they lost 0, 1, …, k places in these shares; None: no number of them.

    >>> fewest_queries(lambda lost: binomial(lost, 0.05) <= 0.1, np.array([1.0, 0.0]))
    45
    """

    def of(queries: int) -> Ints:
        losing = np.ceil(shares[1:] * queries - 1e-9).astype(np.int64)
        return np.concatenate(([max(0, queries - int(losing.sum()))], losing))

    most = 1
    while not passes(of(most)):
        most *= 2
        if most > 1 << 40:
            return None
    few = most // 2
    while most - few > 1:
        middle = ceil((few + most) / 2)
        few, most = (few, middle) if passes(of(middle)) else (middle, most)
    return most
