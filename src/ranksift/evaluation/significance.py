"""Whether a difference is more than chance: paired tests, corrections for many comparisons, intervals and effect sizes.

Everything here works on plain arrays: the values of several systems on the same queries, and the pairs of systems to
compare. All pairs are worked on together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints, sums

#: A difference this small beside the values is rounding: the two values are equal.
ROUNDING = 1e-14

# A difference this small counts as none: its square is lost, and with it the spread of such differences.
_NOTHING = 1e-130

#: Two statistics of resamples nearer than this (relative) are the same statistic, added up in another order.
SAME = 1e-10

# Numbers that are worked on at once, so that they stay in the processor's cache; it bounds the memory too.
_PAIR_BLOCK = 1 << 16
_SAMPLE_BLOCK = 1 << 20

# Multiplications of a matrix product that BLAS does in one thread: two wait for each other, long on a busy machine.
_SINGLE_THREAD = 1 << 18


class Outcome(NamedTuple):
    """A test of each pair: its statistic, the two-sided p value, and the sign of what it found."""

    statistic: Floats
    p: Floats
    sign: Floats


class Summary(NamedTuple):
    """Each pair's differences in short."""

    mean: Floats
    deviation: Floats  # standard deviation, n − 1
    size: Floats  # sum of absolute differences
    above: Ints  # queries in which left is above right
    below: Ints


@dataclass(frozen=True, eq=False)
class Paired:
    """Values of systems on the same queries, and the pairs to compare.

    Attributes
    ----------
    values
        Systems × queries.
    left, right
        A pair's two rows in ``values``; its differences are left − right. Differences within rounding of the values,
        and those below 1e-130, count as 0. The tests need two queries or more.

    Examples
    --------
    >>> paired = Paired.all(np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]))
    >>> paired.summary.mean, paired.summary.above, paired.effect_size
    (array([2.]), array([3]), array([2.]))
    """

    values: Floats
    left: Ints
    right: Ints

    @classmethod
    def all(cls, values: Floats) -> Paired:
        """Every system against every earlier one."""
        right, left = np.triu_indices(len(values), 1)
        return cls(values, left, right)

    def __len__(self) -> int:
        return len(self.left)

    @property
    def queries(self) -> int:
        """Number of queries."""
        return int(self.values.shape[1])

    def differences(self, pairs: slice | NDArray[np.integer] | NDArray[np.bool_] = slice(None)) -> Floats:
        """Differences of some pairs, pairs × queries."""
        left = self.values[self.left[pairs]]
        out = left - self.values[self.right[pairs]]
        np.abs(left, out=left)
        left *= ROUNDING
        left += _NOTHING
        out[np.abs(out) <= left] = 0.0
        return out

    def blocks(self, width: int) -> Iterator[slice]:
        """All pairs, in runs of as many as can be worked on at once with ``width`` numbers each."""
        step = max(1, _PAIR_BLOCK // max(1, width))
        return (slice(start, min(start + step, len(self))) for start in range(0, len(self), step))

    @cached_property
    def summary(self) -> Summary:
        """Mean, spread and signs of the differences."""
        pairs, n = len(self), self.queries
        mean, deviation, size = np.empty(pairs), np.empty(pairs), np.empty(pairs)
        above, below = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int64)
        largest = np.abs(self.values).max(axis=1)
        noise = ROUNDING * np.maximum(largest[self.left], largest[self.right])
        for block in self.blocks(n):
            difference = self.differences(block)
            above[block] = np.count_nonzero(difference > 0, axis=1)
            below[block] = np.count_nonzero(difference < 0, axis=1)
            size[block] = np.linalg.norm(difference, ord=1, axis=1)
            mean[block] = difference.mean(axis=1)
            difference -= mean[block, None]
            deviation[block] = np.linalg.norm(difference, axis=1) / np.sqrt(n - 1)
            # What rounding leaves of a constant difference is not a spread.
            small = np.flatnonzero(deviation[block] <= noise[block])
            if len(small):
                constant = np.abs(difference[small]) <= self._noise(block.start + small)
                deviation[block.start + small[constant.all(axis=1)]] = 0.0
        return Summary(mean, deviation, size, above, below)

    def _noise(self, pairs: Ints) -> Floats:
        """What rounding may add to each difference of some pairs, or take from it."""
        left, right = self.values[self.left[pairs]], self.values[self.right[pairs]]
        return ROUNDING * np.maximum(np.abs(left), np.abs(right)) + _NOTHING

    @property
    def effect_size(self) -> Floats:
        """Cohen's d_z of each pair, mean / deviation: 0 for equal systems, ±inf for a constant difference."""
        mean, deviation = self.summary.mean, self.summary.deviation
        out = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
        return np.divide(mean, deviation, out=out, where=deviation > 0)

    @property
    def t(self) -> Floats:
        """Student's t of each pair: 0 for equal systems, ±inf for a constant difference."""
        return self.effect_size * float(np.sqrt(self.queries))

    def totals(self, weights: Floats) -> Iterator[tuple[slice, Floats]]:
        """Weighted sums of differences, pairs × weightings, some pairs at a time; ``weights`` is weightings × queries.

        A sum of differences is the difference of sums: one product for each system serves all pairs.
        """
        each = product(self.values, weights)
        for block in self.blocks(len(weights)):
            out = each[self.left[block]]
            out -= each[self.right[block]]
            drowned = np.flatnonzero(self._drowned[block])
            if len(drowned):
                out[drowned] = product(self.differences(block.start + drowned), weights)
            yield block, out

    @cached_property
    def _drowned(self) -> NDArray[np.bool_]:
        """Pairs so nearly equal that the difference of their sums would be mostly rounding."""
        size = np.abs(self.values).sum(axis=1)
        return np.asarray(self.summary.size < 1e-4 * (size[self.left] + size[self.right]))


def t_test(paired: Paired) -> Outcome:
    """Student's paired t test.

    Equal systems have t = 0 and p = 1; a constant difference has an infinite t and p = 0.

    Examples
    --------
    >>> t_test(Paired.all(np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]))).p.round(4)
    array([0.0742])
    """
    from scipy.special import stdtr

    t = paired.t
    return Outcome(t, 2.0 * stdtr(paired.queries - 1, -np.abs(t)), np.sign(t))


def t_interval(paired: Paired, confidence: float) -> tuple[Floats, Floats]:
    """Confidence interval of the mean difference by Student's t."""
    from scipy.special import stdtrit

    half = stdtrit(paired.queries - 1, (1.0 + confidence) / 2.0) * paired.summary.deviation / np.sqrt(paired.queries)
    return paired.summary.mean - half, paired.summary.mean + half


class Unpaired(NamedTuple):
    """Each pair's two systems as if they had been run on different queries."""

    difference: Floats  # of the means
    spread: Floats  # standard deviation within a system, from both
    queries: int  # of each system

    @classmethod
    def of(cls, paired: Paired) -> Unpaired:
        """Forget which values belong together."""
        mean = paired.values.mean(axis=1)
        deviation = np.linalg.norm(paired.values - mean[:, None], axis=1) / np.sqrt(paired.queries - 1)
        deviation[deviation <= ROUNDING * np.abs(paired.values).max(axis=1)] = 0.0  # rounding is not spread
        spread = np.hypot(deviation[paired.left], deviation[paired.right]) / np.sqrt(2.0)
        return cls(paired.summary.mean, spread, paired.queries)

    @property
    def effect_size(self) -> Floats:
        """Cohen's d of each pair: 0 for equal means, ±inf if neither system varies."""
        out = np.where(self.difference == 0, 0.0, np.copysign(np.inf, self.difference))
        return np.divide(self.difference, self.spread, out=out, where=self.spread > 0)

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return 2 * self.queries - 2

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Confidence interval of the difference."""
        from scipy.special import stdtrit

        half = stdtrit(self.freedom, (1.0 + confidence) / 2.0) * self.spread * np.sqrt(2.0 / self.queries)
        return self.difference - half, self.difference + half


def unpaired_t(unpaired: Unpaired) -> Outcome:
    """Student's t test of two independent samples of equal variance.

    Examples
    --------
    >>> unpaired_t(Unpaired.of(Paired.all(np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])))).p.round(4)
    array([0.0705])
    """
    from scipy.special import stdtr

    t = unpaired.effect_size * float(np.sqrt(unpaired.queries / 2.0))
    return Outcome(t, 2.0 * stdtr(unpaired.freedom, -np.abs(t)), np.sign(t))


def wilcoxon(paired: Paired) -> Outcome:
    """Wilcoxon's signed-rank test, with the values of :func:`scipy.stats.wilcoxon`.

    Zeros are left out and ties share their rank. p is exact with up to 13 queries, and with up to 50 if there are
    neither zeros nor ties; else it is the normal approximation. The statistic is the smaller sum of ranks. Equal
    systems have p = 1.

    Examples
    --------
    >>> wilcoxon(Paired.all(np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, -3.0, 4.0]])))
    Outcome(statistic=array([3.]), p=array([0.625]), sign=array([1.]))
    """
    n = paired.queries
    statistic, p, sign = (np.empty(len(paired)) for _ in range(3))
    for block in paired.blocks(n):
        ranks, ties = _signed_ranks(paired.differences(block))
        total, balance = np.abs(ranks).sum(axis=1), ranks.sum(axis=1)
        statistic[block], sign[block] = (total - np.abs(balance)) / 2.0, np.sign(balance)
        if n <= 13:
            # The test is a randomization test of the ranks.
            against = Paired(np.vstack([np.zeros(n), ranks]), np.arange(1, len(ranks) + 1), np.zeros(len(ranks), int))
            p[block] = randomization(against, 2**n, seed=0).p
            continue
        p[block] = _normal_rank_sum(statistic[block], np.count_nonzero(ranks, axis=1), ties)
        if n <= 50:
            smooth = (ties == 0) & (ranks != 0).all(axis=1)
            p[block][smooth] = _exact_rank_sum(statistic[block][smooth], n)
    return Outcome(statistic, p, sign)


def _signed_ranks(differences: Floats) -> tuple[Floats, Floats]:
    """Ranks of the sizes of non-zero differences, with their signs; and each row's sum of t³ − t over ties of t."""
    rows, n = differences.shape
    size = np.abs(differences)
    order = np.argsort(size, axis=1)
    ordered = np.take_along_axis(size, order, axis=1)
    opens = np.ones((rows, n), dtype=np.bool_)
    opens[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.flatnonzero(opens)
    counts = np.diff(first, append=rows * n)
    zeros = np.count_nonzero(size == 0, axis=1)
    rank = first % n + (counts + 1) / 2.0 - zeros[first // n]
    ranks = np.empty((rows, n))
    np.put_along_axis(ranks, order, np.repeat(rank, counts).reshape(rows, n), axis=1)
    cubes = np.where(ordered.ravel()[first] > 0, counts.astype(np.float64) ** 3 - counts, 0.0)
    return ranks * np.sign(differences), sums(cubes, first // n, rows)


def _normal_rank_sum(smaller: Floats, count: Ints, ties: Floats) -> Floats:
    from scipy.special import ndtr

    variance = (count * (count + 1.0) * (2.0 * count + 1.0) - ties / 2.0) / 24.0
    below = smaller - count * (count + 1.0) / 4.0
    return np.asarray(2.0 * ndtr(np.divide(below, np.sqrt(variance), out=np.zeros(len(count)), where=variance > 0)))


def _exact_rank_sum(smaller: Floats, n: int) -> Floats:
    """Twice the share of subsets of the ranks 1 … n with at most this sum."""
    ways = np.ones(1)
    for rank in range(1, n + 1):
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    return np.minimum(2.0 * np.cumsum(ways)[smaller.astype(np.int64)] / 2.0**n, 1.0)


def randomization(paired: Paired, samples: int, seed: int) -> Outcome:
    """Fisher's paired randomization test of the mean: the signs of the differences are flipped at random.

    If there are no more than ``samples`` ways to flip the signs, all of them are taken, once each, and p is exact;
    else p is (1 + as extreme) / (1 + samples). The statistic is the mean difference.

    Examples
    --------
    >>> paired = Paired.all(np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]))
    >>> randomization(paired, samples=1000, seed=0).p     # all signs alike: 2 of 8 ways
    array([0.25])
    """
    n = paired.queries
    exact = n < 63 and 2**n <= samples
    # The weights are halves, so the sums to reach are half the observed ones.
    observed = np.abs(paired.summary.mean) * n / 2.0 - SAME * paired.summary.size
    extreme = np.zeros(len(paired))
    for signs in _all_signs(n) if exact else _random_signs(n, samples, np.random.default_rng(seed)):
        for block, flipped in paired.totals(signs):
            np.abs(flipped, out=flipped)
            extreme[block] += np.count_nonzero(flipped >= observed[block, None], axis=1)
    p = extreme / float(2**n) if exact else (1.0 + extreme) / (1.0 + samples)
    return Outcome(paired.summary.mean, p, np.sign(paired.summary.mean))


def _all_signs(n: int) -> Iterator[Floats]:
    """Every way to choose n signs: rows of ±½."""
    for start, stop in _sample_blocks(2**n, n):
        ways = np.arange(start, stop, dtype=np.uint64)[:, None]
        yield ((ways >> np.arange(n, dtype=np.uint64)) & np.uint64(1)).astype(np.float64) - 0.5


def _random_signs(n: int, samples: int, random: np.random.Generator) -> Iterator[Floats]:
    """Random rows of ±½, each from its own 64-bit words so that blocks of any size give the same rows."""
    words = -(-n // 64)
    for start, stop in _sample_blocks(samples, n):
        bits = random.integers(0, 2**64, size=(stop - start, words), dtype=np.uint64, endpoint=False)
        yield np.subtract(np.unpackbits(bits.view(np.uint8), axis=1, count=n), 0.5, dtype=np.float64)


def _sample_blocks(samples: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(1, _SAMPLE_BLOCK // width)
    return ((start, min(start + step, samples)) for start in range(0, samples, step))


def resamples(n: int, samples: int, seed: int) -> Iterator[Floats]:
    """Bootstrap samples of n queries, drawn with replacement: how often each query was drawn, samples × queries."""
    random = np.random.default_rng(seed)
    for start, stop in _sample_blocks(samples, n):
        drawn = random.integers(0, n, size=(stop - start, n))
        yield times_drawn(drawn, n)


def times_drawn(drawn: NDArray[np.integer], n: int) -> Floats:
    """How often each of n queries occurs in each row.

    >>> times_drawn(np.array([[0, 2, 2], [1, 1, 1]]), 3)
    array([[1., 0., 2.],
           [0., 3., 0.]])
    """
    rows = len(drawn)
    flat = np.bincount((drawn + n * np.arange(rows)[:, None]).ravel(), minlength=rows * n)
    return flat.reshape(rows, n).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A paired bootstrap of the mean difference.

    Attributes
    ----------
    paired
        What was resampled.
    samples
        How many resamples there are.
    extreme
        For each pair the number of resamples in which Student's t, with differences shifted to mean 0 as the null
        hypothesis has it, is as far from 0 as the observed t.
    totals
        Each system's sum over the queries of each resample: systems × samples.
    """

    paired: Paired
    samples: int
    extreme: Floats
    totals: Floats

    @property
    def p(self) -> Floats:
        """(1 + extreme) / (1 + samples): never 0."""
        return (1.0 + self.extreme) / (1.0 + self.samples)

    @property
    def achieved_level(self) -> Floats:
        """Sakai's achieved significance level: extreme / samples."""
        return self.extreme / self.samples

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Percentile interval of the mean difference."""
        ends = np.empty((2, len(self.paired)))
        for block in self.paired.blocks(self.samples):
            means = (self.totals[self.paired.left[block]] - self.totals[self.paired.right[block]]) / self.paired.queries
            ends[:, block] = np.quantile(means, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0], axis=1)
        return ends[0], ends[1]


def bootstrap(paired: Paired, resampled: Iterable[Floats]) -> Bootstrap:
    """Sakai's shifted, studentised paired bootstrap test (SIGIR 2006).

    Parameters
    ----------
    paired
        The pairs to test.
    resampled
        How often each query was drawn in each sample, some samples at a time: see :func:`resamples`.

    Examples
    --------
    >>> paired = Paired.all(np.random.default_rng(1).random((2, 50)))
    >>> bool(abs(bootstrap(paired, resamples(50, 2000, seed=0)).p - t_test(paired).p)[0] < 0.03)
    True
    """
    n, t2 = paired.queries, paired.t**2 * (1.0 - SAME)
    extreme = np.zeros(len(paired))
    samples, each = 0, []
    for counts in resampled:
        samples += len(counts)
        each.append(product(paired.values, counts))
        for block, mean, variance in shifted_resamples(paired, counts):
            # A constant difference has an infinite t, and no resample with it: 0 · inf compares as false.
            with np.errstate(invalid="ignore"):
                reached = n * mean**2 >= t2[block, None] * variance
            extreme[block] += np.count_nonzero(reached, axis=1)
    return Bootstrap(paired, samples, extreme, np.concatenate(each, axis=1))


def shifted_resamples(paired: Paired, counts: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
    """Mean and variance of the differences, shifted to mean 0, in each resample: pairs × samples, some pairs at a time.

    ``counts`` says how often each query was drawn, samples × queries.
    """
    n, smallest = paired.queries, (1e-12 * paired.summary.deviation) ** 2
    for block, totals in paired.totals(counts):
        observed = paired.summary.mean[block, None]
        mean = totals / n - observed
        variance = (product((paired.differences(block) - observed) ** 2, counts) - n * mean**2) / (n - 1)
        # One query drawn over and over has no spread: t is infinite, or 0 if its shifted difference is 0.
        np.maximum(variance, smallest[block, None], out=variance)
        yield block, mean, variance


def product(rows: Floats, weights: Floats) -> Floats:
    """Weighted sums of rows: ``rows @ weights.T``, in pieces that one thread does.

    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [0.0, 2.0], [2.0, 0.0]]))
    array([[3., 4., 2.],
           [7., 8., 6.]])
    """
    out = np.empty((len(rows), len(weights)))
    side = max(8, int((_SINGLE_THREAD / max(1, rows.shape[1])) ** 0.5))
    for start in range(0, len(rows), side):
        some = rows[start : start + side]
        step = max(8, _SINGLE_THREAD // max(1, some.size))
        for first in range(0, len(weights), step):
            np.matmul(some, weights[first : first + step].T, out=out[start : start + side, first : first + step])
    return out


# -- corrections: p values of one family of comparisons lie along the first axis ---------------------------------------


def bonferroni(p: Floats) -> Floats:
    """Multiply by the number of comparisons.

    >>> bonferroni(np.array([0.01, 0.04, 0.5]))
    array([0.03, 0.12, 1.  ])
    """
    return np.minimum(p * len(p), 1.0)


def holm(p: Floats) -> Floats:
    """Holm's step-down correction: the smallest p times m, the next times m − 1, and so on, never falling.

    >>> holm(np.array([0.01, 0.04, 0.5]))
    array([0.03, 0.08, 0.5 ])
    """
    order = np.argsort(p, axis=0, kind="stable")
    factors = np.arange(len(p), 0, -1).reshape(-1, *[1] * (p.ndim - 1))
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=0) * factors, axis=0)
    return _put_back(np.minimum(stepped, 1.0), order)


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's control of the false discovery rate: the i-th smallest p times m / i, never rising.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.5]))
    array([0.03, 0.06, 0.5 ])
    """
    order = np.argsort(p, axis=0, kind="stable")
    factors = (len(p) / np.arange(1, len(p) + 1)).reshape(-1, *[1] * (p.ndim - 1))
    stepped = np.minimum.accumulate((np.take_along_axis(p, order, axis=0) * factors)[::-1], axis=0)[::-1]
    return _put_back(np.minimum(stepped, 1.0), order)


def _put_back(stepped: Floats, order: Ints) -> Floats:
    out = np.empty_like(stepped)
    np.put_along_axis(out, order, stepped, axis=0)
    return out
