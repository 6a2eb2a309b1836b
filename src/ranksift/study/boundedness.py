"""Does a measure stay between 0 and 1: what lists score, and what they could have scored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import Queries
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import read_qrels
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import evaluate, ready_measures
from ranksift.evaluation.table import Column, Table
from ranksift.measures.cumulative import Normalised, dcg_of_pool, nDCG, nDCG_f, nDCG_min, negative, positive
from ranksift.measures.filtering import UBQ_over, UBQ_under
from ranksift.measures.measure import TOLERANCE, Measure, flat, ratio
from ranksift.measures.names import MeasureLike
from ranksift.parameters import flag, function, optional, path, takes
from ranksift.plotting import drawing
from ranksift.study.result import PerMeasure, Picture, Result
from ranksift.study.wording import joined, percent

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def attainable(measure: Normalised, pool: Pool, gains: Gains, *, partial: bool = False) -> tuple[Floats, Floats]:
    """The lowest and the highest score of each query: over all orders of its pool, or of all parts of it.

    >>> from ranksift import parse_measure, read_qrels
    >>> pool = read_qrels({"q": {"a": 1, "b": -1}}).pool
    >>> [float(end[0]) for end in attainable(parse_measure("nDCG_min@2"), pool, Gains())]
    [0.0, 1.0]
    >>> [round(float(end[0]), 3) for end in attainable(parse_measure("nDCG_min@2"), pool, Gains(), partial=True)]
    [-0.855, 1.855]
    """
    best, worst = pool.best_first(gains), pool.worst_first(gains)
    if isinstance(measure, nDCG):
        best, worst = positive(best), positive(worst)
    if partial:
        best, worst = positive(best), negative(worst)
    zero, one = measure.bounds(pool, gains)
    degenerate = flat(zero, one)
    ends = [
        ratio(dcg_of_pool(pool, gain, measure.k, measure.base) - zero, one - zero, degenerate) for gain in (best, worst)
    ]
    # Where the ideal of nDCG_org is negative, the best order has the lowest score.
    return np.minimum(*ends), np.maximum(*ends)


@dataclass(frozen=True, eq=False, repr=False)
class Boundedness(Result):
    """Results of :func:`boundedness`. Shares are between 0 and 1.

    Attributes
    ----------
    queries, runs
        The topics, and the names of the runs.
    over, under
        For each measure the share of unbounded queries: lists scored above 1 and below 0, averaged over
        runs (Carmel et al. 2022, Table 5). By nDCG_min these have DCG@k > I_k and DCG@k < W_k, as in ``UBQ_over`` and
        ``UBQ_under``. NaN if no run is given.
    below_zero, below_minus_one, above_one
        For each measure the share of topics whose lowest attainable score is below 0 and below −1 (Gienapp et al. 2020,
        Table 2a), and whose highest is above 1.
    can_leave
        For each measure the share of topics in which some list, of all or some judged documents, scores below 0 or
        above 1. If it is 0, the measure is bounded.
    lowest, highest
        For each measure the range of attainable scores of every topic.
    difficulty
        For each measure's k and gains the filtering difficulty of every topic: nDCG_f@k of the empty list.
    over_by_topic, under_by_topic
        For each measure the share of runs whose list is unbounded in each topic.
    partial
        Whether lists that leave documents out count as attainable in ``lowest``, ``highest`` and the shares above.
    """

    queries: tuple[str, ...]
    runs: tuple[str, ...]
    over: PerMeasure[float]
    under: PerMeasure[float]
    below_zero: PerMeasure[float]
    below_minus_one: PerMeasure[float]
    above_one: PerMeasure[float]
    can_leave: PerMeasure[float]
    lowest: PerMeasure[Floats]
    highest: PerMeasure[Floats]
    difficulty: PerMeasure[Floats]
    over_by_topic: PerMeasure[Floats]
    under_by_topic: PerMeasure[Floats]
    partial: bool

    @property
    def unbounded(self) -> PerMeasure[float]:
        """``over`` and ``under`` together."""
        return PerMeasure({m: self.over[m] + self.under[m] for m in self.over})

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per measure and topic; ``over`` and ``under`` are shares of runs."""
        import polars as pl

        parts = [
            pl.DataFrame(
                {
                    "measure": [m] * len(self.queries),
                    "query_id": list(self.queries),
                    "lowest": self.lowest[m],
                    "highest": self.highest[m],
                    "difficulty": self.difficulty[m],
                    "over": pl.Series(self.over_by_topic[m], nan_to_null=True),
                    "under": pl.Series(self.under_by_topic[m], nan_to_null=True),
                }
            )
            for m in self.lowest
        ]
        return pl.concat(parts)

    def _rows(self) -> Iterator[list[Any]]:
        for m in self.lowest:
            seen = [self.unbounded[m], self.over[m], self.under[m]] if self.runs else [None] * 3
            can = [self.below_zero[m], self.below_minus_one[m], self.above_one[m], self.can_leave[m]]
            yield [m, *seen, *can, self.difficulty[m].mean()]

    def table(self) -> Table:
        """One row per measure: shares of unbounded queries, of topics with unbounded ranges, and mean difficulty."""
        heads = ("unbounded", "over", "under", "can be < 0", "can be < -1", "can be > 1", "any list")
        columns = [Column("measure"), *(Column(h, 1, "percent") for h in heads), Column("difficulty", 4)]
        lists = "lists that may leave documents out" if self.partial else "orders of the whole pool"
        title = f"Boundedness: {len(self.runs)} runs, {len(self.queries)} topics"
        notes = [
            "unbounded: lists of the runs that score above 1 (over) or below 0 (under)",
            f"can be: topics in which some list has such a score, over all {lists}",
            "any list: topics in which some list, of all or some documents, scores below 0 or above 1",
            "difficulty: the score of an empty list by nDCG_f",
        ]
        return Table(columns, self._rows(), title=title, notes=notes)

    def plot(self, measure: MeasureLike | None = None) -> Figure:
        """The range of attainable scores of every topic, lowest first, by one measure (the first one)."""
        name = next(iter(self.lowest)) if measure is None else str(measure)
        low, high = self.lowest[name], self.highest[name]
        order = np.lexsort((high, low))
        figure, axes = drawing("topics", name, title="Attainable scores")
        axes.axhspan(0, 1, color="0.94", zorder=0)
        axes.vlines(np.arange(len(order)), low[order], high[order], color="#0072B2", linewidth=1.4)
        axes.set_xticks([])
        if max(-low.min(), high.max()) > 10:
            axes.set_yscale("symlog", linthresh=1.0)
        return figure

    def pictures(self) -> list[Picture]:
        """The ranges of the measures that can leave [0, 1]."""
        return [
            Picture(f"range of {m}", f"Lowest and highest attainable {m} of every topic; shaded: 0 to 1", self.plot(m))
            for m in self.lowest
            if self._outside(m)
        ]

    def _outside(self, measure: str) -> float:
        """The share of topics whose range leaves [0, 1]."""
        return float(np.mean(_outside(self.lowest[measure], self.highest[measure])))

    def reading(self) -> list[str]:
        """Which measures leave [0, 1], how often and how far."""
        found, safe = [], []
        for m in self.lowest:
            did = f", and did in {percent(self.unbounded[m])} of the lists given" if self.unbounded[m] > 0 else ""
            outside = self._outside(m)
            if outside:
                ends = (
                    ("low", self.below_zero[m], self.lowest[m].min()),
                    ("high", self.above_one[m], self.highest[m].max()),
                )
                far = joined(f"as {word} as {end:.4g}" for word, share, end in ends if share)
                found.append(f"{m} can leave 0 to 1 in {percent(outside)} of topics, {far}{did}.")
            elif self.can_leave[m]:
                found.append(
                    f"By {m} all judged documents in any order score between 0 and 1, but a list without some of them "
                    f"can score outside in {percent(self.can_leave[m])} of topics{did}."
                )
            else:
                safe.append(m)
        if safe:
            stay = "stays" if len(safe) == 1 else "stay"
            found.append(f"{joined(safe)} {stay} between 0 and 1 in every topic, whatever the list.")
        return found


def _outside(low: Floats, high: Floats) -> NDArray[np.bool_]:
    return np.asarray((low < -TOLERANCE) | (high > 1.0 + TOLERANCE))


@takes(progress=function(), cache=optional(path()), partial=flag())
def boundedness(
    qrels: Any,
    runs: Any = None,
    measures: MeasureLike | Iterable[MeasureLike] = "nDCG_org@20 nDCG_min@20 nDCG_f@20",
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    partial: bool = False,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
) -> Boundedness:
    """Find out which scores are outside [0, 1], and which could be.

    Parameters
    ----------
    qrels, runs, measures, gains, unjudged, queries, progress, cache
        As in :func:`evaluate`; without ``runs``, only the judgments are used. The measures are normalised DCGs: nDCG,
        nDCG_org, nDCG_min, nDCG_f.
    partial
        Which lists are attainable: orders of the whole pool (Gienapp et al. 2020), or also lists that leave documents
        out (Carmel et al. 2022).

    Examples
    --------
    >>> qrels = {"q": {"a": 1, "b": -1}, "r": {"c": 1}}
    >>> found = boundedness(qrels, {"q": {"a": 2}, "r": {"c": 1}}, ["nDCG_org@2", "nDCG_min@2"])
    >>> found.below_zero, found.over
    ({'nDCG_org@2': 0.5, 'nDCG_min@2': 0.0}, {'nDCG_org@2': 0.5, 'nDCG_min@2': 0.5})
    """
    wanted = [_normalised(m) for m in ready_measures(measures)]
    names = [str(m) for m in wanted]
    judgments, worth = read_qrels(qrels), Gains.of(gains)
    if runs is None:
        chosen = judgments.query_ids if isinstance(queries, str) else tuple(dict.fromkeys(map(str, queries)))
        seen: tuple[str, ...] = ()
        over = under = np.full((len(chosen), len(wanted)), np.nan)
    else:
        chosen, seen, over, under = _unbounded(
            wanted, judgments, runs, gains=worth, unjudged=unjudged, queries=queries, progress=progress, cache=cache
        )
    pool = judgments.pool_of(chosen)
    ranges = {str(m): attainable(m, pool, m.gains or worth, partial=partial) for m in wanted}

    every = {str(m): attainable(m, pool, m.gains or worth, partial=True) for m in wanted}

    def share(at: Callable[[Floats, Floats], Any]) -> PerMeasure[float]:
        return PerMeasure({m: float(np.mean(at(*ends))) for m, ends in ranges.items()})

    return Boundedness(
        queries=tuple(chosen),
        runs=seen,
        over=PerMeasure(zip(names, over.mean(axis=0).tolist(), strict=True)),
        under=PerMeasure(zip(names, under.mean(axis=0).tolist(), strict=True)),
        below_zero=share(lambda low, high: low < -TOLERANCE),
        below_minus_one=share(lambda low, high: low < -1.0 - TOLERANCE),
        above_one=share(lambda low, high: high > 1.0 + TOLERANCE),
        can_leave=PerMeasure({m: float(np.mean(_outside(*ends))) for m, ends in every.items()}),
        lowest=PerMeasure({m: low for m, (low, _) in ranges.items()}),
        highest=PerMeasure({m: high for m, (_, high) in ranges.items()}),
        difficulty=PerMeasure({str(m): _difficulty(m, pool, m.gains or worth) for m in wanted}),
        over_by_topic=PerMeasure(zip(names, over.T, strict=True)),
        under_by_topic=PerMeasure(zip(names, under.T, strict=True)),
        partial=partial,
    )


def _normalised(measure: Measure) -> Normalised:
    if not isinstance(measure, Normalised):
        raise InputError(
            f"what {measure} can attain has no closed form here", remedy="use nDCG, nDCG_org, nDCG_min or nDCG_f"
        )
    return measure


def _unbounded(
    measures: list[Normalised], qrels: Any, runs: Any, **how: Any
) -> tuple[tuple[str, ...], tuple[str, ...], Floats, Floats]:
    """The queries, the runs, and the share of runs above and below [0, 1]: queries × measures."""
    # An nDCG_min whose bounds coincide is 0, but the list can have left them all the same.
    tests = {m: tuple(end(k=m.k, gains=m.gains, base=m.base) for end in (UBQ_over, UBQ_under)) for m in measures}
    scores = evaluate(qrels, runs, [*measures, *(t for both in tests.values() for t in both)], **how)

    def values(measure: Any) -> Floats:
        return np.asarray(scores.values[:, :, scores.column(measure)])

    over, under = [], []
    for m in measures:
        if isinstance(m, nDCG_min):
            outside = values(tests[m][0]) > 0, values(tests[m][1]) > 0
        else:
            outside = values(m) > 1.0 + TOLERANCE, values(m) < -TOLERANCE
        over.append(outside[0].mean(axis=0))
        under.append(outside[1].mean(axis=0))
    return scores.queries, scores.runs, np.stack(over, axis=1), np.stack(under, axis=1)


def _difficulty(measure: Normalised, pool: Pool, gains: Gains) -> Floats:
    """nDCG_f@k of the empty list."""
    lower, upper = nDCG_f(k=measure.k, base=measure.base).bounds(pool, gains)
    return ratio(-lower, upper - lower, flat(lower, upper))
