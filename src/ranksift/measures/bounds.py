"""Normalisation between what a random ranking and what a perfect ranking gets (Karmaker and Feng 2022)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.measures.classic import expected_sum_of_precisions
from ranksift.measures.cumulative import DCG, dcg_of_list, nDCG, positive
from ranksift.measures.measure import (
    Measure,
    PerQuery,
    base_parameter,
    flat,
    gains_parameter,
    k_parameter,
    ratio,
)
from ranksift.measures.names import parse_measure
from ranksift.parameters import choice, parameter

#: What to do where a measure has no expectation.
CLOSED_FORMS = "use DCG, nDCG, SP, MSP, AP, P, R, RR, ERR, kERR, RBP or Success"

PAPER_3 = "Karmaker, Feng: Joint upper & lower bound normalization for IR evaluation, 2022"


def nothing(values: Floats) -> NDArray[np.bool_]:
    """Where a value is 0 up to rounding."""
    return flat(np.zeros(len(values)), values)


def normalise_1(value: Floats, random: Floats, perfect: Floats) -> Floats:
    """V1 (Eq. 5): value / perfect, multiplied by value / (value + random)."""
    damping = ratio(value, value + random, nothing(value + random))
    return ratio(value, perfect, nothing(perfect)) * damping


def normalise_2(value: Floats, random: Floats, perfect: Floats) -> Floats:
    """V2 (Eq. 6): 0 for a random ranking's value, 1 for a perfect one, down to -1 for nothing at all.

    If all orders are equally good, there is nothing to normalise and the value is 0, even for a list that
    leaves documents out.
    """
    above = ratio(value - random, perfect - random, flat(random, perfect))
    below = ratio(value - random, random, nothing(random) | flat(random, perfect))
    return np.where(flat(value, random), 0.0, np.where(value >= random, above, below))


class V1(Measure, abstract=True):
    """The first normalisation of a value that lies between a random and a perfect one."""

    def value(self, judged: JudgedRun) -> Floats:
        """What is normalised, for each list."""
        raise NotImplementedError

    def random_and_perfect(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """The expected value of a random ranking of each pool, and that of a perfect one."""
        raise NotImplementedError

    @property
    def inner(self) -> Measure:
        """The measure that is normalised, as it is without a lower bound."""
        raise NotImplementedError

    @property
    def lower_bound(self) -> Measure:
        """The measure whose :meth:`expectation` is taken for the base's value of a random ranking."""
        return self.inner

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The value over the perfect one, damped."""
        ends = self.random_and_perfect(judged.pool, self.gains or judged.gains)
        return PerQuery(normalise_1(self.value(judged), *ends))

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries in which no ranking gets anything."""
        random, perfect = self.random_and_perfect(pool, gains)
        return nothing(random) | nothing(perfect)


class V2(V1, abstract=True):
    """The second normalisation of a value that lies between a random and a perfect one."""

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The value between the random and the perfect one."""
        ends = self.random_and_perfect(judged.pool, self.gains or judged.gains)
        return PerQuery(normalise_2(self.value(judged), *ends))

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries in which no ranking gets anything, or every one the same."""
        random, perfect = self.random_and_perfect(pool, gains)
        return nothing(random) | flat(random, perfect)


def is_relevant(label: Floats) -> NDArray[np.bool_]:
    """Karmaker and Feng's relevance: label > 0."""
    return label > 0


def sum_of_precisions(judged: JudgedRun, k: int) -> Floats:
    """SP@k of each list."""
    hit = judged.select(is_relevant(judged.label))
    nth = hit.running(np.add, np.ones(len(hit.rank)))
    return hit.sum(nth / hit.rank * (hit.rank <= k))


def expectation_of_sp() -> Any:
    """Declare ``expected``."""
    meaning = "The expectation: exact, or the paper's k p², which is too small for 0 < p < 1."
    return parameter("exact", choice("exact", "paper"), meaning)


def expected_sp(pool: Pool, k: int, expected: str) -> Floats:
    """E[SP@k]: exact, or the paper's k p² (which takes precision and relevance at a rank as independent)."""
    relevant = pool.count(is_relevant)
    if expected == "paper":
        return k * (relevant / np.maximum(pool.size, 1)) ** 2
    return expected_sum_of_precisions(pool, relevant, k)


def perfect_sp(pool: Pool, k: int, upper: str) -> Floats:
    """IUB[SP@k]: k, or what can be attained, min(k, relevant documents)."""
    relevant: Ints = pool.count(is_relevant)
    return np.full(len(pool), float(k)) if upper == "k" else np.minimum(relevant, k).astype(np.float64)


@dataclass(frozen=True, repr=False)
class Bounded(Measure, abstract=True):
    """A measure of Karmaker and Feng 2022."""

    family = "bounds"
    paper = PAPER_3
    needs_k = True

    k: int | None = k_parameter()

    @property
    def depth(self) -> int:
        """k, which :func:`evaluate` ensures is given."""
        assert self.k is not None
        return self.k


class SP(Bounded):
    r"""Sum of precisions at the relevant documents (label > 0) of the top k.

    .. math:: SP@k = \sum_{i=1}^{k} [l_i > 0] \, P@i

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 3, "x": 2, "b": 1}}, ["SP@3"]).mean_of("SP@3")
    1.6666666666666665
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Sum of precisions."""
        return PerQuery(sum_of_precisions(judged, self.depth))

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """The exact expectation."""
        return expected_sp(pool, self.depth, "exact")

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """K, as in the paper."""
        return perfect_sp(pool, self.depth, "k")


class MSP(SP):
    r"""Mean sum of precisions, SP@k / k, which Karmaker and Feng 2022 call AP@k (not trec_eval's AP).

    .. math:: MSP@k = \frac{SP@k}{k}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 3, "b": 2}}, ["MSP@4"]).mean_of("MSP@4")
    0.5
    """

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """Sum of precisions over k."""
        return PerQuery(sum_of_precisions(judged, self.depth) / self.depth)

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """The exact expectation over k."""
        return super().expectation(pool, gains) / self.depth

    def perfection(self, pool: Pool, gains: Gains) -> Floats:
        """1, as in the paper."""
        return super().perfection(pool, gains) / self.depth


@dataclass(frozen=True, repr=False)
class BoundedDCG(Bounded, abstract=True):
    """DCG (negative gains as 0) between its expectation and its ideal."""

    gains: Gains | None = gains_parameter()
    expected: str = parameter(
        "exact", choice("exact", "paper"), "Both values mean the same here: the paper's expectation of DCG is exact."
    )
    base: float | None = base_parameter()

    def value(self, judged: JudgedRun) -> Floats:
        """DCG@k of each list."""
        return dcg_of_list(judged, positive(self.gain(judged.label, judged.gains)), self.k, self.base)

    @property
    def inner(self) -> Measure:
        """``nDCG``, which is DCG with an upper bound alone."""
        return nDCG(k=self.k, gains=self.gains, base=self.base)

    def random_and_perfect(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """DCG@k of a random and of a perfect ranking."""
        dcg = DCG(k=self.k, base=self.base)
        return dcg.expectation(pool, gains), dcg.perfection(pool, gains)


class DCG_ul1(BoundedDCG, V1):
    r"""DCG over its ideal, reduced where a random ranking does as well (Karmaker and Feng's DCG, V1).

    .. math:: \frac{A}{I} \cdot \frac{A}{A + E}, \quad A = DCG@k,\ E = E[DCG@k],\ I = I_k

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "b": 2}}, ["DCG_ul1@2"]).mean_of("DCG_ul1@2")
    0.5
    """


class DCG_ul2(BoundedDCG, V2):
    r"""DCG between a random ranking (0) and the ideal (1); -1 if nothing relevant is found (Karmaker and Feng, V2).

    .. math:: \frac{A - E}{I - E} \text{ where } A \ge E, \quad \frac{A - E}{E} \text{ elsewhere}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"x": 3, "b": 2}}, ["DCG_ul2@2"]).mean_of("DCG_ul2@2")
    -1.0
    """


@dataclass(frozen=True, repr=False)
class BoundedMSP(Bounded, abstract=True):
    """MSP between its expectation and its upper bound."""

    expected: str = expectation_of_sp()
    upper: str = parameter(
        "k", choice("k", "attainable"), "The upper bound: k, or min(k, relevant documents), which can be attained."
    )

    def value(self, judged: JudgedRun) -> Floats:
        """MSP@k of each list."""
        return sum_of_precisions(judged, self.depth) / self.depth

    @property
    def inner(self) -> Measure:
        """``MSP``."""
        return MSP(k=self.k)

    @property
    def lower_bound(self) -> Measure:
        """``MSP`` itself, or ``E_MSP`` by the paper's formula."""
        return self.inner if self.expected == "exact" else E_MSP(k=self.k, expected=self.expected)

    def random_and_perfect(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """MSP@k of a random and of a perfect ranking."""
        k = self.depth
        return expected_sp(pool, k, self.expected) / k, perfect_sp(pool, k, self.upper) / k


class MSP_ul1(BoundedMSP, V1):
    r"""MSP over its bound, reduced where a random ranking does as well (Karmaker and Feng's MAP, V1).

    .. math:: \frac{A}{I} \cdot \frac{A}{A + E}, \quad A = MSP@k,\ E = E[MSP@k],\ I = 1

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "b": 2}}, ["MSP_ul1@2"]).mean_of("MSP_ul1@2")
    0.5
    """


class MSP_ul2(BoundedMSP, V2):
    r"""MSP between a random ranking (0) and its bound (1); -1 if nothing relevant is found (Karmaker and Feng, V2).

    .. math:: \frac{A - E}{I - E} \text{ where } A \ge E, \quad \frac{A - E}{E} \text{ elsewhere}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2}}, ["MSP_ul2@1"]).mean_of("MSP_ul2@1")
    1.0
    """


@dataclass(frozen=True, repr=False)
class E_DCG(Bounded):
    r"""Expected DCG@k of a random ranking of the pool (negative gains as 0); it does not depend on the run.

    .. math:: E[DCG@k] = \bar g \sum_{i=1}^{\min(k, n)} \frac{1}{\log_2(i+1)}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 3}}, ["E_DCG@1"]).mean_of("E_DCG@1")
    0.5
    """

    gains: Gains | None = gains_parameter()
    base: float | None = base_parameter()

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """Mean gain times the discounts of the ranks that the pool fills."""
        return DCG(k=self.k, base=self.base).expectation(pool, gains)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The expected value, whatever the list."""
        return PerQuery(self.expectation(judged.pool, self.gains or judged.gains))


class E_nDCG(E_DCG):
    r"""Expected nDCG@k of a random ranking of the pool; it does not depend on the run.

    .. math:: E[nDCG@k] = \frac{E[DCG@k]}{I_k}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 2, "b": 0}}, {"q": {"a": 3}}, ["E_nDCG@1"]).mean_of("E_nDCG@1")
    0.5
    """

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """E[DCG@k] over the ideal."""
        return nDCG(k=self.k, base=self.base).expectation(pool, gains)

    def degenerate(self, pool: Pool, gains: Gains) -> NDArray[np.bool_] | None:
        """Queries in which nothing is relevant."""
        return nDCG(k=self.k, base=self.base).degenerate(pool, gains)


@dataclass(frozen=True, repr=False)
class E_SP(Bounded):
    r"""Expected SP@k of a random ranking of the pool; it does not depend on the run.

    .. math:: E[SP@k] = \sum_{i=1}^{\min(k,n)} \frac{p}{i} \left(1 + (i-1) \frac{N_p - 1}{n - 1}\right),
              \quad p = N_p / n

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 3}}, ["E_SP@2"]).mean_of("E_SP@2")
    0.75
    """

    expected: str = expectation_of_sp()

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """E[SP@k]."""
        return expected_sp(pool, self.depth, self.expected)

    def per_query(self, judged: JudgedRun) -> PerQuery:
        """The expected value, whatever the list."""
        return PerQuery(self.expectation(judged.pool, judged.gains))


class E_MSP(E_SP):
    r"""Expected MSP@k of a random ranking of the pool; it does not depend on the run.

    .. math:: E[MSP@k] = E[SP@k] / k

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 3}}, ["E_MSP@2"]).mean_of("E_MSP@2")
    0.375
    """

    def expectation(self, pool: Pool, gains: Gains) -> Floats:
        """E[SP@k] over k."""
        return super().expectation(pool, gains) / self.depth


@dataclass(frozen=True, repr=False)
class Around(Measure, abstract=True):
    """A normalisation of another measure whose values for random and perfect rankings have a closed form."""

    family = "bounds"
    paper = PAPER_3

    measure: Measure = field(default_factory=lambda: DCG(k=10))  # what it is around, written first: UL2(nDCG@10)

    def __call__(self, *around: Any, **parameters: Any) -> Self:
        """The same normalisation around another measure: ``UL2(nDCG @ 10)``."""
        if around:
            parameters = {"measure": around[0], **parameters}
        return super().__call__(*around[1:], **parameters)

    def __post_init__(self) -> None:
        if isinstance(self.measure, str):
            try:
                object.__setattr__(self, "measure", parse_measure(self.measure))
            except RecursionError:
                raise InputError(f"{self.name} is nested too deeply", remedy=f"write {self.name}(DCG@10)") from None
        inner = self.measure
        if not isinstance(inner, Measure):
            raise InputError(f"{self.name}({inner!r}) does not contain a measure", remedy=f"write {self.name}(DCG@10)")
        if inner.needs_k and inner.k is None:
            raise InputError(f"{inner} needs a cutoff", remedy=f"write {self.name}({inner}@10)")
        empty = Pool.of(np.zeros(1, dtype=np.int64), np.zeros(0)), Gains()
        if inner.expectation(*empty) is None or inner.perfection(*empty) is None:
            raise InputError(
                f"{self.name}({inner}): the values of a random and of a perfect ranking have no closed form here",
                remedy=CLOSED_FORMS,
            )

    def __str__(self) -> str:
        return f"{self.name}({self.measure})"

    def __repr__(self) -> str:
        return str(self)

    @property
    def k(self) -> int | None:
        """As for the inner measure."""
        return self.measure.k

    @property
    def gains(self) -> Gains | None:
        """As for the inner measure."""
        return self.measure.gains

    @property
    def base(self) -> float | None:
        """As for the inner measure."""
        return self.measure.base

    @property
    def nil(self) -> str | None:
        """As for the inner measure."""
        return self.measure.nil

    @property
    def inner(self) -> Measure:
        """The inner measure."""
        return self.measure

    def at_level(self, rel: float) -> Measure:
        """The same around the measure with another smallest relevant label."""
        return self(self.measure.at_level(rel))

    def worth(self, labels: Floats, gains: Gains) -> Floats:
        """What a label is worth to the measure inside."""
        return self.measure.worth(labels, gains)

    def value(self, judged: JudgedRun) -> Floats:
        """The measure's value for each list."""
        if isinstance(self.measure, DCG):  # with negative gains the normalisation would flip its sign
            return dcg_of_list(judged, positive(self.gain(judged.label, judged.gains)), self.k, self.base)
        return self.measure.per_query(judged).numerator

    def random_and_perfect(self, pool: Pool, gains: Gains) -> tuple[Floats, Floats]:
        """What the measure gives a random and a perfect ranking."""
        random, perfect = self.measure.expectation(pool, gains), self.measure.perfection(pool, gains)
        assert random is not None and perfect is not None
        return random, perfect


class UL1(Around, V1):
    r"""V1 of any measure whose expectation has a closed form: ``UL1(P@10)``.

    .. math:: \frac{A}{I} \cdot \frac{A}{A + E}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3, "b": 2}}, ["UL1(P@2)"]).mean_of("UL1(P@2)")
    0.5
    """


class UL2(Around, V2):
    r"""V2 of any measure whose expectation has a closed form: ``UL2(nDCG@10)``.

    .. math:: \frac{A - E}{I - E} \text{ where } A \ge E, \quad \frac{A - E}{E} \text{ elsewhere}

    Examples
    --------
    >>> from ranksift import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2}}, ["UL2(RR)"]).mean_of("UL2(RR)")
    1.0
    """
