"""Simulated assessors, and what strategies cost and find with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import exp, pi, sin, sqrt, tan
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from ranksift.errors import InputError
from ranksift.labelling.floor import floor
from ranksift.labelling.judgments import GRADES, Judgment, Question
from ranksift.labelling.strategies import STRATEGIES, State
from ranksift.labelling.strategies import strategy as strategy_of
from ranksift.labelling.strategies.pairwise import Course, Pairwise

#: Seconds for a judgment in the paper's Table 1.
SECONDS_PER_PAIR, SECONDS_PER_GRADE = 5.51, 13.87

#: How errors come about: every judgment is turned round with the same probability, or closer items more often.
Noise = Literal["flip", "thurstone"]

#: What a second assessor is shown of an order: neighbours in the top k, or the last of them beside all others, too.
Shown = Literal["neighbours", "all"]

#: Which share of the items has at most each grade, from the worst; the rest has the best one.
_UP_TO_GRADE = (0.4, 0.65, 0.85, 0.95)

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Truth:
    """The truth about the items of a query.

    Attributes
    ----------
    score
        The score of each item; standard normal if it is synthetic. Equal scores are ties.
    forbidden
        Items that every assessor flags.
    """

    score: dict[str, float]
    forbidden: frozenset[str] = frozenset()

    @classmethod
    def made_up(cls, items: Sequence[str], ties: float = 0.0, forbidden: float = 0.0, seed: int = 0) -> Truth:
        """Scores that are drawn; ``ties`` is the share of all pairs that are tied, ``forbidden`` of the items.

        Examples
        --------
        >>> truth = Truth.made_up(["a", "b", "c", "d"], forbidden=0.25, seed=1)
        >>> len(truth.order), len(truth.forbidden)
        (3, 1)
        """
        chance = np.random.default_rng([seed, 1])
        score = chance.standard_normal(len(items))
        if ties > 0:  # equally frequent levels
            levels = max(round(1 / ties), 1)
            share = np.array([_NORMAL.cdf(one) for one in score])
            middle = (np.minimum(np.floor(share * levels), levels - 1) + 0.5) / levels
            score = np.array([_NORMAL.inv_cdf(one) for one in middle])
        flagged = chance.permutation(len(items))[: round(forbidden * len(items))]
        return cls(
            dict(zip(items, map(float, score), strict=True)), frozenset(items[int(place)] for place in sorted(flagged))
        )

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Items that are not forbidden, best first."""
        return tuple(sorted((i for i in self.score if i not in self.forbidden), key=lambda i: -self.score[i]))

    def labels(self, k: int) -> dict[str, int]:
        """Position labels of the top k: tied items have that of the first of them; −1 of forbidden items."""
        label: dict[str, int] = dict.fromkeys(self.forbidden, -1)
        above, last = 0, None
        for place, item in enumerate(self.order):
            if self.score[item] != last:
                above, last = place, self.score[item]
            label[item] = max(k - above, 0)
        return label


@dataclass(frozen=True)
class SimulatedAssessor:
    """An assessor who answers according to a truth, with noise: the same question always gets the same answer.

    Attributes
    ----------
    truth
        The truth that the assessor sees through the noise. :meth:`Truth.made_up` draws one.
    noise
        The share of pairs of items, drawn at random, on which the assessor is wrong; with grades, the share on which
        the assessor gives the next grade up or down. Flags are never wrong.
    model
        ``"flip"``: any judgment is reversed with the same probability; a judgment of tied items becomes a preference.
        ``"thurstone"``: normal noise on the difference of scores, so that closer items are confused more often.
    seed
        The seed of the noise: assessors with different seeds err independently.
    seconds_per_pair, seconds_per_grade
        The mean time of a judgment.

    Examples
    --------
    >>> truth = Truth({"good": 1.0, "bad": -1.0, "spam": 0.3}, frozenset({"spam"}))
    >>> assessor = SimulatedAssessor(truth)
    >>> assessor.answer(Question("bad", "good")).answer
    'right'
    >>> assessor.answer(Question("bad", "spam")).forbidden
    ('spam',)
    """

    truth: Truth
    noise: float = 0.0
    model: Noise = "flip"
    seed: int = 0
    seconds_per_pair: float = SECONDS_PER_PAIR
    seconds_per_grade: float = SECONDS_PER_GRADE

    def answer(self, question: Question) -> Judgment:
        """The assessor's answer."""
        flagged = tuple(item for item in question.items if item in self.truth.forbidden)
        if question.right is None:
            grade = None if flagged else self._grade(question.left)
            return Judgment("grade", question.left, grade=grade, forbidden=flagged)
        if flagged:
            return Judgment("prefer", question.left, question.right, forbidden=flagged)
        sign = self._sign(question.left, question.right)
        said: Literal["left", "right", "tie"] = "left" if sign > 0 else "right" if sign < 0 else "tie"
        return Judgment("prefer", question.left, question.right, answer=said)

    def seconds(self, question: Question) -> float:
        """How long it takes: log-normal around the mean, the same for the same question."""
        spread = 0.5
        mean = self.seconds_per_grade if question.right is None else self.seconds_per_pair
        drawn = _NORMAL.inv_cdf(self._chance("seconds", *sorted(question.items)))
        return mean * exp(spread * drawn - spread**2 / 2)

    def _sign(self, left: str, right: str) -> int:
        difference = self.truth.score[left] - self.truth.score[right]
        sign = (difference > 0) - (difference < 0)
        if self.noise <= 0:
            return sign
        first, second = sorted((left, right))
        side = 1 if left == first else -1
        chance = self._chance("pair", first, second)
        if self.model == "flip":
            if chance >= self.noise:
                return sign
            return -sign if sign else side * (1 if chance < self.noise / 2 else -1)
        # Of two standard normal scores the difference has variance 2, and the wrong sign with arctan(s / √2) / π.
        spread = sqrt(2) * tan(pi * min(self.noise, 0.499))
        if sign == 0:
            return 0
        seen = difference + side * spread * _NORMAL.inv_cdf(chance)
        return 1 if seen > 0 else -1

    def _grade(self, item: str) -> int:
        share = _NORMAL.cdf(self.truth.score[item])
        grade = sum(share > most for most in _UP_TO_GRADE)
        chance = self._chance("grade", item) if self.noise > 0 else 1.0
        if chance < self.noise:
            grade += 1 if (chance < self.noise / 2 and grade < len(GRADES) - 1) or grade == 0 else -1
        return grade

    def _chance(self, *about: str) -> float:
        """Between 0 and 1, without the ends; a function of the seed and of what it is about."""
        text = "\0".join((str(self.seed), *about))
        return (int.from_bytes(blake2b(text.encode(), digest_size=7).digest()) + 0.5) / 2**56


def with_tau(truth: Truth, tau: float | None, seed: int = 0) -> list[str]:
    """Items in the order of a prior run whose Kendall's τ with the truth is ``tau`` on average; None: in no order.

    Examples
    --------
    >>> truth = Truth({"a": 1.0, "b": 0.5, "c": -2.0})
    >>> with_tau(truth, tau=1.0)
    ['a', 'b', 'c']
    """
    chance = np.random.default_rng([seed, 2]).standard_normal(len(truth.score))
    correlation = 0.0 if tau is None else sin(pi * tau / 2)  # of two normal variables
    seen = {
        item: correlation * score + sqrt(max(1 - correlation**2, 0.0)) * noise
        for (item, score), noise in zip(truth.score.items(), chance, strict=True)
    }
    return sorted(seen, key=lambda item: -seen[item])


@dataclass(frozen=True)
class Simulation:
    """What a strategy costs and finds, over many queries.

    Attributes
    ----------
    strategy, n, k, queries, noise, model, ties, forbidden, prior_tau, assessors, seed
        The arguments given to :func:`simulate`.
    mean, sd, standard_error
        Judgments per query by all assessors: the mean, the standard deviation over queries, and the standard error of
        the mean.
    verifying
        The number of these judgments that are by assessors other than the first.
    minutes
        Minutes per query, on average, by all assessors.
    kndcg
        Mean κ-NDCG@k of the order found, against the truth.
    right
        The share of queries whose top k is right and in the right order.
    floor
        Bits in the ordered top k: no strategy needs fewer judgments without ties and a prior.
    """

    strategy: str
    n: int
    k: int
    queries: int
    noise: float
    model: Noise
    ties: float
    forbidden: float
    prior_tau: float | None
    assessors: int
    seed: int
    mean: float
    sd: float
    standard_error: float
    verifying: float
    minutes: float
    kndcg: float
    right: float
    floor: float

    def to_json(self) -> dict[str, Any]:
        """A dictionary, as the command writes it."""
        given = (
            "strategy",
            "n",
            "k",
            "queries",
            "noise",
            "model",
            "ties",
            "forbidden",
            "prior_tau",
            "assessors",
            "seed",
        )
        return {
            **{name: getattr(self, name) for name in given},
            "judgments": {"mean": self.mean, "sd": self.sd, "standard_error": self.standard_error},
            "verifying": self.verifying,
            "minutes": self.minutes,
            f"kNDCG@{self.k}": self.kndcg,
            "right": self.right,
            "floor": self.floor,
        }


def simulate(
    strategy: str = "tournament",
    n: int = 50,
    k: int = 10,
    queries: int = 1000,
    noise: float = 0.0,
    ties: float = 0.0,
    forbidden: float = 0.0,
    prior_tau: float | None = None,
    assessors: int = 1,
    seed: int = 0,
    model: Noise = "flip",
    shown: Shown = "neighbours",
    seconds_per_pair: float = SECONDS_PER_PAIR,
    seconds_per_grade: float = SECONDS_PER_GRADE,
) -> Simulation:
    """Label synthetic queries with a strategy.

    Parameters
    ----------
    strategy
        The name of the strategy.
    n, k, queries
        The number of items per query, how many of the best to find, in order, and the number of queries.
    noise, model
        The noise of each assessor: see :class:`SimulatedAssessor`.
    ties, forbidden
        The share of pairs that are tied, and of items that are flagged.
    prior_tau
        Mean Kendall's τ between the order in which items are given and the truth; None: the order is random.
    assessors
        With 2, a second assessor verifies the order that the first one found, and a third one settles their
        disagreements: see :func:`verify`.
    shown
        What the second assessor sees.
    seed
        The seed of all random choices.
    seconds_per_pair, seconds_per_grade
        The mean time of a judgment, in seconds.

    Examples
    --------
    >>> found = simulate("heap", n=20, k=5, queries=10)
    >>> found.right, round(found.kndcg, 4), found.mean > found.floor
    (1.0, 1.0, True)
    """
    _check(strategy, n, k, queries, noise, ties, forbidden, prior_tau, assessors)
    from ranksift.evaluation.evaluate import evaluate

    counts = np.zeros((queries, 2))
    seconds = 0.0
    right = 0
    truths: dict[str, dict[str, int]] = {}
    found: dict[str, dict[str, float]] = {}
    names = [f"d{number:0{len(str(n))}d}" for number in range(1, n + 1)]
    for query in range(queries):
        here = seed * 1_000_003 + query
        truth = Truth.made_up(names, ties, forbidden, here)
        first, *others = (
            SimulatedAssessor(truth, noise, model, 3 * here + each, seconds_per_pair, seconds_per_grade)
            for each in range(3 if assessors == 2 else 1)
        )
        state, spent = label(strategy, with_tau(truth, prior_tau, here), first, k, here)
        order, verifying = state.order, 0
        if others:
            order, verifying = verify(state, others[0], others[1], k, shown)
        counts[query] = state.judgments, verifying
        seconds += spent + verifying * seconds_per_pair
        score = truth.score
        right += [score[item] for item in order[:k]] == [score[item] for item in truth.order[:k]]
        truths[str(query)] = truth.labels(k)
        found[str(query)] = {item: float(-place) for place, item in enumerate(order)}
    all_ = counts.sum(axis=1)
    sd = float(all_.std(ddof=1)) if queries > 1 else 0.0
    kndcg = evaluate(truths, found, [f"kNDCG@{k}"]).mean_of(f"kNDCG@{k}")
    assert isinstance(kndcg, float)  # of one run
    return Simulation(
        strategy, n, k, queries, noise, model, ties, forbidden, prior_tau, assessors, seed,
        mean=float(all_.mean()),
        sd=sd,
        standard_error=sd / sqrt(queries),
        verifying=float(counts[:, 1].mean()),
        minutes=seconds / queries / 60,
        kndcg=kndcg,
        right=right / queries,
        floor=floor(n, k, forbidden),
    )  # fmt: skip


def label(
    name: str, items: Sequence[str], assessor: SimulatedAssessor, k: int = 10, seed: int = 0
) -> tuple[State, float]:
    """Label one query to the end; the last state, and the seconds on average that it took.

    Examples
    --------
    >>> truth = Truth.made_up([f"d{i}" for i in range(20)])
    >>> state, _ = label("tournament", list(truth.score), SimulatedAssessor(truth), k=3)
    >>> state.order[:3] == truth.order[:3]
    True
    """
    chosen = strategy_of(name, k=k, seed=seed)
    if isinstance(chosen, Pairwise):
        course = Course(chosen, items)
        while (question := course.question) is not None:
            course.add(assessor.answer(question))
        state = course.state()
        return state, state.judgments * assessor.seconds_per_pair
    said = [assessor.answer(Question(item)) for item in items]
    state = chosen.state(items, said)
    return state, state.judgments * assessor.seconds_per_grade


def verify(
    state: State, second: SimulatedAssessor, third: SimulatedAssessor, k: int = 10, shown: Shown = "neighbours"
) -> tuple[tuple[str, ...], int]:
    """Let a second assessor verify a top k, and a third one settle the disagreements.

    Neighbours in the order are shown: these are the pairs on which the order stands, and the likeliest to be wrong.
    If two of three say that a pair is the other way round, it is reversed, and the better one is compared with its new
    neighbour. ``"all"`` also shows the last of the top k with every item below it, so that an item that was lost on
    the way can come back. It gives the order and the number of judgments that it took.

    Examples
    --------
    >>> truth = Truth({"a": 2.0, "b": 1.0, "c": 0.0})
    >>> wrong = State(None, (("b",), ("a",)), ("c",), (), 3, 0.0)
    >>> verify(wrong, SimulatedAssessor(truth), SimulatedAssessor(truth), k=2)
    (('a', 'b', 'c'), 2)
    """
    order, judgments = list(state.order), 0
    tied = {item: number for number, group in enumerate(state.groups) for item in group}

    def turned(upper: str, lower: str) -> bool:
        nonlocal judgments
        if upper in tied and tied[upper] == tied.get(lower):
            return False
        for assessor in (second, third):
            judgments += 1
            if assessor.answer(Question(upper, lower)).answer != "right":
                return False
        return True

    for start in range(1, len(order) if shown == "all" else min(k, len(order))):
        place = start
        if start >= k:  # below the top: beside its last one
            if not turned(order[k - 1], order[start]):
                continue
            order.insert(k - 1, order.pop(start))
            place = k - 1
        while place > 0 and turned(order[place - 1], order[place]):
            order[place - 1], order[place] = order[place], order[place - 1]
            place -= 1
    return tuple(order), judgments


def _check(
    name: str,
    n: int,
    k: int,
    queries: int,
    noise: float,
    ties: float,
    forbidden: float,
    prior_tau: float | None,
    assessors: int,
) -> None:
    if name not in STRATEGIES:
        raise InputError(f"there is no strategy {name!r}", remedy=f"choose one of {', '.join(STRATEGIES)}")
    for what, count in (("n", n), ("k", k), ("queries", queries)):
        if count < 1:
            raise InputError(f"{what} is {count}", remedy="give a whole number from 1")
    for what, share, most in (("noise", noise, 0.5), ("ties", ties, 1.0), ("forbidden", forbidden, 1.0)):
        if not 0 <= share <= most:
            raise InputError(f"{what} is {share}", remedy=f"give a share between 0 and {most:g}")
    if prior_tau is not None and not -1 <= prior_tau <= 1:
        raise InputError(f"the prior's τ is {prior_tau}", remedy="give a correlation between -1 and 1")
    if assessors not in (1, 2):
        raise InputError(f"{assessors} assessors cannot be simulated", remedy="give 1 or 2")
