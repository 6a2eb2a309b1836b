"""Stability: how often would another set of topics have said the opposite (Buckley and Voorhees, SIGIR 2000)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import product, times_drawn
from ranksift.evaluation.table import Column, Table
from ranksift.parameters import choice, integer, number, samples_of
from ranksift.plotting import drawing, legend, shown, styles_of
from ranksift.study.preconditions import (
    ROUNDING,
    check_scores,
    peculiarities,
)
from ranksift.study.result import PerMeasure, Picture, Result, pictures_of
from ranksift.study.topic_samples import Samples, aggregates, topics_of
from ranksift.study.wording import counted, joined, ranked

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Counts = Literal["trials", "topics"]
Fuzz = Literal["absolute", "relative", "relative_smaller"]

#: Topic sets of one size: sets × topics.
Drawn = NDArray[np.integer]

#: Given aggregates of two runs, whether the first is above the second by more than the fuzziness.
Above = Callable[[Floats, Floats], NDArray[np.bool_]]

# Decisions, a byte each, that are made at once: they stay in the processor's cache.
_BLOCK = 1 << 17

# Numbers of some pairs of runs, on all topics or topic sets, that are held at once.
_PAIR_BLOCK = 1 << 21


class Rates(NamedTuple):
    """Decisions on topic sets of one size."""

    error: float
    error_deviation: float  # standard error
    tie: float


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Result):
    """Result of :func:`stability`.

    Attributes
    ----------
    error_rate, tie_rate
        ``{measure: {size of the topic set: share of decisions}}``.
    standard_error
        The standard error of the error rate: how much it would vary with other samples of the same topics.
    samples
        ``{size: number of samples}``.
    topics, runs
        The numbers of topics and runs.
    fuzziness, fuzz, counts, seed
        As given; ``seed`` is None if the samples were given.
    notes
        Remarks, for example on runs that are copies and on constant measures.
    """

    error_rate: PerMeasure[dict[int, float]]
    tie_rate: PerMeasure[dict[int, float]]
    standard_error: PerMeasure[dict[int, float]]
    samples: Mapping[int, int]
    topics: int
    runs: int
    fuzziness: float
    fuzz: Fuzz
    counts: Counts
    seed: int | None
    notes: tuple[str, ...] = ()

    def band(self, confidence: float = 0.95) -> PerMeasure[dict[int, tuple[float, float]]]:
        """Confidence interval of each error rate: normal, around the mean of the samples' own error rates.

        It shows how far the curve may move with other samples of these topics, not with other topics.
        """
        from scipy.special import ndtri

        number(above=0, below=1).check("confidence", confidence, 0.95)
        z = float(ndtri((1.0 + confidence) / 2.0))
        return PerMeasure(
            {
                measure: {
                    size: (max(0.0, rate - z * deviation[size]), min(1.0, rate + z * deviation[size]))
                    for size, rate in self.error_rate[measure].items()
                }
                for measure, deviation in self.standard_error.items()
            }
        )

    def topics_needed(self, error_rate: float = 0.05) -> PerMeasure[int | None]:
        """The smallest size from which the error rate stays at or below ``error_rate``; None if none.

        Only sizes that were studied count, and the set of all topics does not: it can be drawn in only one way, so its
        trials cannot disagree. A size at which every pair ties decides nothing.
        """
        number(above=0, below=1).check("error_rate", error_rate, 0.05)
        needed: PerMeasure[int | None] = PerMeasure()
        for measure, rates in self.error_rate.items():
            needed[measure] = None
            for size in sorted(rates, reverse=True):
                if rates[size] > error_rate or self.tie_rate[measure][size] == 1.0:
                    break
                if size < self.topics or self.counts == "topics":
                    needed[measure] = size
        return needed

    def to_frame(self, confidence: float = 0.95) -> pl.DataFrame:
        """A polars frame: measure, topics, samples, error_rate, low, high, tie_rate."""
        import polars as pl

        band = self.band(confidence)
        rows = [
            (measure, size, self.samples[size], rate, *band[measure][size], self.tie_rate[measure][size])
            for measure, rates in self.error_rate.items()
            for size, rate in rates.items()
        ]
        columns = ["measure", "topics", "samples", "error_rate", "low", "high", "tie_rate"]
        return pl.DataFrame(rows, schema=columns, orient="row")

    def plot(self, confidence: float = 0.95, measures: Sequence[str] | None = None) -> Figure:
        """Error rate by number of topics: a line with a band for each measure (some or all)."""
        figure, axes = drawing("topics", "error rate")
        band = self.band(confidence)
        for measure, style in zip(measures or band, styles_of(list(measures or band)), strict=True):
            bands = band[measure]
            sizes, rates = list(bands), list(self.error_rate[measure].values())
            low, high = zip(*bands.values(), strict=True)
            axes.plot(
                sizes, rates, label=shown(measure), **{**style, "marker": style["marker"] if len(sizes) < 12 else ""}
            )
            axes.fill_between(sizes, low, high, color=style["color"], alpha=0.18, linewidth=0)
        axes.set_ylim(bottom=0)
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The error rates."""
        caption = "Error rate by number of topics, with 95% bands"
        return pictures_of("error rate", caption, list(self.error_rate), lambda names: self.plot(measures=names))

    @property
    def half(self) -> int | None:
        """The size nearest to half of the topics at which sets can disagree; None if only the full set was studied."""
        sizes = [size for size in self.samples if size < self.topics or self.counts == "topics"]
        return min(sizes, key=lambda size: abs(size - self.topics / 2), default=None)

    def reading(self) -> list[str]:
        """Which measure needs how many topics for the same error rate, and how often it decides nothing."""
        half = self.half
        if half is None:
            return ["No smaller set of topics was studied, so no decision could change."]
        curves = {m: r for m, r in self.error_rate.items() if max(self.tie_rate[m].values()) < 1.0}
        if not curves:
            return ["No measure decides between any two runs: their differences are within the fuzziness."]
        at_half = {m: rates[half] for m, rates in curves.items()}
        found = [f"Wrong decisions with {counted(half, 'topic')}: {ranked(at_half, '{:.2%}')}."]
        for level in (0.05, 0.02, 0.01):
            needed = {m: size for m, size in self.topics_needed(level).items() if m in curves}
            # Beyond half of the topics sets overlap, and their error rate falls for that reason alone.
            there = {m: size for m, size in needed.items() if size is not None and size <= max(half, self.topics / 2)}
            if len(set(needed.values())) > 1 and there:
                found.append(f"Topics for an error rate of {level:.0%}: {ranked(there, '{}', largest_first=False)}.")
                later = [m for m in needed if m not in there]
                if later:
                    found[-1] += f" Half of the topics are not enough for {joined(later)}."
                break
        found.append(
            "Stable is not the same as right: a decision counts as wrong if other topics decide differently, and a "
            "measure that prefers the same bad run on all of them makes no such mistake."
        )
        ties = {m: self.tie_rate[m][half] for m in curves}
        if max(ties.values()) - min(ties.values()) > 0.1:
            share = (
                ""
                if self.fuzz == "absolute"
                else f" of the {'smaller' if self.fuzz == 'relative_smaller' else 'larger'} value"
            )
            found.append(
                f"A tie is not an error, and differences within {self.fuzziness:g}{share} are ties. "
                f"Ties with {counted(half, 'topic')}: {ranked(ties, '{:.0%}')}. "
                "A measure with small differences makes fewer errors because it decides less often."
            )
        return found

    def table(self) -> Table:
        """One row per measure: error rates at some sizes, ties at the largest, topics needed for 5 % errors."""
        sizes = list(self.samples)
        shown = sorted({sizes[round(i * (len(sizes) - 1) / 5)] for i in range(6)})
        needed = self.topics_needed(0.05)
        rows = [
            [measure, *(rates[n] for n in shown), self.tie_rate[measure][shown[-1]], needed[measure]]
            for measure, rates in self.error_rate.items()
        ]
        columns = [Column("measure"), *(Column(f"{n} topics", 2, "percent") for n in shown)]
        columns += [Column(f"ties, {shown[-1]} topics", 2, "percent"), Column("topics for 5%")]
        fuzzy = f"fuzziness {self.fuzziness:g} ({self.fuzz.replace('_', ', ')})"
        title = f"Stability: error rates of {self.runs} runs on {self.topics} topics, counting {self.counts}, {fuzzy}"
        return Table(columns, rows, title=title, notes=self.notes)


def stability(
    scores: Scores,
    samples: Samples = 200,
    fuzziness: float = 0.01,
    seed: int = 0,
    *,
    fuzz: Fuzz = "absolute",
    counts: Counts = "trials",
    sizes: Sequence[int] | None = None,
) -> Stability:
    r"""Error rate and tie rate by size of the topic set, over all pairs of runs.

    Topic sets of each size are drawn without replacement, the same ones for every measure, and every pair of runs is
    compared on each. A pair's decision for the run that is better less often is an error:

    .. math:: \text{error rate} = \frac{\sum_{a,b} \min(|a > b|, |a < b|)}{\sum_{a,b} (|a > b| + |a < b| + |a = b|)}

    Parameters
    ----------
    scores
        Scores of at least two runs on at least two queries. Micro measures and c@1 are aggregated again on each topic
        set.
    samples
        Topic sets of each size; or the topic sets themselves, each a list of indices into ``scores.queries``.
    fuzziness
        Runs count as equal if their difference does not exceed this.
    seed
        The seed of the topic sets. The sets of one size do not depend on the other sizes.
    fuzz
        ``"absolute"``: the difference itself counts; ``"relative"``: as a share of the larger of the two values, by
        absolute value; ``"relative_smaller"``: of the smaller one.
    counts
        ``"trials"`` (Buckley and Voorhees): :math:`|a > b|` counts the topic sets on which a is above b; then the error
        rate of the full set is 0. ``"topics"``: it counts the topics of a set on which a is above b, and the error rate
        is the mean over sets.
    sizes
        Sizes to study; None: 2 to the number of queries, or those of the given samples.

    Notes
    -----
    Topic sets of more than half of all topics overlap, and more so the larger they are: for that reason alone, the
    error rate falls to 0. Compare measures at the same size, and trust the first half of a curve.

    Examples
    --------
    Two runs, each better on one topic; the third topic does not decide. Of the three topic sets of size 1, one says a,
    one says b, one is a tie:

    >>> scores = Scores.from_array(
    ...     [[[0.9], [0.1], [0.5]], [[0.2], [0.4], [0.5]]], runs=["a", "b"], queries=["p", "q", "r"], measures=["AP"]
    ... )
    >>> found = stability(scores, samples=[[0], [1], [2]])
    >>> found.error_rate, found.tie_rate
    ({'AP': {1: 0.3333333333333333}}, {'AP': {1: 0.3333333333333333}})
    """
    check_scores(scores, "stability")
    choice("absolute", "relative", "relative_smaller").check("fuzz", fuzz)
    choice("trials", "topics").check("counts", counts)
    number(least=0).check("fuzziness", fuzziness, 0.01)
    notes = peculiarities(scores)
    tell(notes)
    given = not isinstance(samples, int | np.integer)
    drawn = _given(samples, scores, sizes) if given else _drawn(samples, scores, sizes, seed)  # type: ignore[arg-type]
    found: dict[str, dict[int, Rates]] = {}
    for m, measure in enumerate(scores.measures):
        above = _rule(fuzz, float(fuzziness), ROUNDING * float(np.abs(scores.values[:, :, m]).max()))
        if counts == "trials":
            found[str(measure)] = {size: _trials(aggregates(scores, m, sets), above) for size, sets in drawn.items()}
        else:
            found[str(measure)] = dict(_topics(scores.values[:, :, m], drawn, above))
    return Stability(
        error_rate=PerMeasure({m: {size: r.error for size, r in rates.items()} for m, rates in found.items()}),
        tie_rate=PerMeasure({m: {size: r.tie for size, r in rates.items()} for m, rates in found.items()}),
        standard_error=PerMeasure(
            {m: {size: r.error_deviation for size, r in rates.items()} for m, rates in found.items()}
        ),
        samples={size: len(sets) for size, sets in drawn.items()},
        topics=len(scores.queries),
        runs=len(scores.runs),
        fuzziness=float(fuzziness),
        fuzz=fuzz,
        counts=counts,
        seed=None if given else seed,
        notes=notes,
    )


# -- topic sets --------------------------------------------------------------------------------------------------------


def _drawn(samples: int, scores: Scores, sizes: Sequence[int] | None, seed: int) -> dict[int, Drawn]:
    """Topic sets of each size: samples × size."""
    topics = len(scores.queries)
    wanted = range(2, topics + 1) if sizes is None else sorted(set(_checked(sizes, topics)))
    samples_of(width=3 * topics + sum(wanted) // 4).check("samples", samples)  # of all sizes two bytes per topic
    integer(0).check("seed", seed)
    order = scores.drawing_order
    return {size: _subsets(order, size, samples, np.random.default_rng([seed, size])) for size in wanted}


def _subsets(order: Ints, size: int, samples: int, random: np.random.Generator) -> Drawn:
    places = np.argsort(random.random((samples, len(order))), axis=1, kind="stable")[:, :size]
    return order[places].astype(np.min_scalar_type(len(order)))  # all sizes are held at once


def _checked(sizes: Sequence[int], topics: int) -> list[int]:
    if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str | bytes) or not len(sizes):
        raise InputError(f"sizes={sizes!r} is not a list of sizes", remedy="give some, as [5, 10, 20]")
    for size in sizes:
        integer(1).check("a size", size)
        if size > topics:
            raise InputError(
                f"a topic set of {size} cannot be drawn from {topics} queries", remedy=f"give sizes up to {topics}"
            )
    return [int(size) for size in sizes]


def _given(samples: Any, scores: Scores, sizes: Sequence[int] | None) -> dict[int, Drawn]:
    """Samples by their sizes."""
    by_size: dict[int, list[Ints]] = defaultdict(list)
    for sample in topics_of(samples, len(scores.queries)):
        by_size[len(sample)].append(sample)
    wanted = sorted(by_size if sizes is None else set(_checked(sizes, len(scores.queries))))
    for size in wanted:
        if size not in by_size:
            raise InputError(f"no sample has {size} topics", remedy="give some, or leave that size out")
    return {size: np.stack(by_size[size]) for size in wanted}


# -- decisions ---------------------------------------------------------------------------------------------------------


def _rule(fuzz: Fuzz, fuzziness: float, rounding: float) -> Above:
    """When a run is above another."""

    def absolute(a: Floats, b: Floats) -> NDArray[np.bool_]:
        return np.asarray(a > b + (fuzziness + rounding))

    # a − b exceeds a share of the larger value where it exceeds that share of both, of the smaller where of either.
    def of_first(a: Floats, b: Floats) -> NDArray[np.bool_]:
        return np.asarray(a - fuzziness * np.abs(a) > b + rounding)

    def of_second(a: Floats, b: Floats) -> NDArray[np.bool_]:
        return np.asarray(a > b + (fuzziness * np.abs(b) + rounding))

    def relative(a: Floats, b: Floats) -> NDArray[np.bool_]:
        return of_first(a, b) & of_second(a, b)

    def relative_smaller(a: Floats, b: Floats) -> NDArray[np.bool_]:
        return of_first(a, b) | of_second(a, b)

    return {"absolute": absolute, "relative": relative, "relative_smaller": relative_smaller}[fuzz]


def _trials(aggregate: Floats, above: Above) -> Rates:
    """Count topic sets; ``aggregate`` is runs × topic sets."""
    runs, samples = aggregate.shape
    pairs = runs * (runs - 1) // 2
    order = np.arange(runs)
    errors, decided = np.zeros(samples, dtype=np.int64), 0
    step = min(255, max(1, _BLOCK // (runs * samples)))  # up to 255 are counted in a byte
    for first in range(0, runs - 1, step):
        left, right = aggregate[first : first + step, None, :], aggregate[None, first + 1 :, :]
        higher, lower = above(left, right), above(right, left)
        wins, losses = _counted(higher), _counted(lower)
        pair = order[: len(wins), None] <= order[: wins.shape[1]]
        decided += int((wins + losses)[pair].sum())
        # A pair's errors are its decisions for the run that loses more often.
        loses = wins < losses
        higher &= (pair & loses)[:, :, None]
        lower &= (pair & ~loses)[:, :, None]
        higher |= lower
        errors += np.add.reduce(higher.view(np.uint8), axis=0, dtype=np.uint8).sum(axis=0, dtype=np.int64)
    return _rates(errors, samples * pairs - decided, pairs)


def _counted(flags: NDArray[np.bool_]) -> Ints:
    """How many are true along the last axis."""
    return np.asarray(np.add.reduce(np.bitwise_count(np.packbits(flags, axis=-1)), axis=-1, dtype=np.int64))


def _topics(values: Floats, drawn: Mapping[int, Drawn], above: Above) -> Iterator[tuple[int, Rates]]:
    """Count topics in each topic set; ``values`` is runs × topics."""
    left, right = np.triu_indices(len(values), 1)
    pairs, topics = len(left), values.shape[1]
    errors, decided = {size: np.zeros(len(sets)) for size, sets in drawn.items()}, dict.fromkeys(drawn, 0.0)
    step = max(1, _PAIR_BLOCK // max(topics, *map(len, drawn.values())))
    for start in range(0, pairs, step):
        some, others = values[left[start : start + step]], values[right[start : start + step]]
        higher, lower = (above(a, b).astype(np.float64) for a, b in ((some, others), (others, some)))
        for size, sets in drawn.items():
            weights = times_drawn(sets, topics)
            wins, losses = product(weights, higher), product(weights, lower)
            decided[size] += wins.sum() + losses.sum()
            errors[size] += np.minimum(wins, losses).sum(axis=1)
    for size, sets in drawn.items():
        yield size, _rates(errors[size], len(sets) * size * pairs - decided[size], size * pairs)


def _rates(errors: Floats | Ints, ties: float, decisions: int) -> Rates:
    """Rates from each topic set's errors, the number of ties in all, and the number of decisions in each topic set."""
    samples = len(errors)
    deviation = float(errors.std(ddof=1)) / samples**0.5 if samples > 1 else 0.0
    total = samples * decisions
    return Rates(float(errors.sum()) / total, deviation / decisions, float(ties) / total)
