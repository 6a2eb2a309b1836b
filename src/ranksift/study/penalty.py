"""How the order of systems depends on the penalty of forbidden documents (Carmel et al. 2022, section 6)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import Queries
from ranksift.collection.qrels import read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.compare import compare
from ranksift.evaluation.evaluate import evaluate, ready_measures
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table
from ranksift.measures.cumulative import DCG, Cumulative, nDCG
from ranksift.measures.measure import flat
from ranksift.measures.names import MeasureLike
from ranksift.parameters import function, number, optional, path, some, takes
from ranksift.plotting import drawing, legend, shown, styles
from ranksift.study.agreement import correlation
from ranksift.study.crossings import Curves, crossings
from ranksift.study.discrimination import percentage_absolute_difference
from ranksift.study.preconditions import check_scores, peculiarities
from ranksift.study.result import Picture, Result
from ranksift.study.systems import levels
from ranksift.study.wording import counted, joined

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

#: The penalties that are looked at unless others are given.
PENALTIES = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0, 100.0)


class Swap(NamedTuple):
    """A penalty at which one system overtakes another."""

    penalty: float
    overtaken: str
    overtaking: str
    score: float


@dataclass(frozen=True, eq=False, repr=False)
class PenaltySweep(Result):
    """Results of :func:`penalty_sweep`.

    Attributes
    ----------
    measure, labels
        The measure, and the labels whose gain was swept.
    runs
        The systems.
    penalties
        The penalties of the sweep: the labels' gain is minus the penalty.
    scores
        Every system's mean score: penalties × runs.
    significant
        Number of pairs of systems that differ significantly at each penalty.
    pad
        Percentage absolute difference of the systems at each penalty.
    tau
        Kendall's τ_b between the order at each penalty and at the first one.
    swaps
        Every penalty inside the sweep at which two systems swap, smallest first.
    winners
        (penalty, run): from this penalty on the run is the best one.
    tolerance
        The largest error of the penalty of a swap.
    notes
        Reasons why these numbers may mean less than they seem to.
    """

    measure: str
    labels: tuple[float, ...]
    runs: tuple[str, ...]
    penalties: Floats
    scores: Floats
    significant: Ints
    pad: Floats
    tau: Floats
    swaps: tuple[Swap, ...]
    winners: tuple[tuple[float, str], ...]
    tolerance: float
    notes: tuple[str, ...]

    @property
    def winner(self) -> tuple[str, ...]:
        """The best system at each penalty; of equal ones the first."""
        return tuple(self.runs[int(levels(row).argmax())] for row in self.scores)

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per penalty and run: its score and its rank (equals share the best one)."""
        import polars as pl

        rank = np.stack([(levels(row)[None, :] > levels(row)[:, None]).sum(axis=1) + 1 for row in self.scores])
        return pl.DataFrame(
            {
                "penalty": np.repeat(self.penalties, len(self.runs)),
                "run": list(self.runs) * len(self.penalties),
                "score": self.scores.ravel(),
                "rank": rank.ravel(),
            }
        )

    def swaps_frame(self) -> pl.DataFrame:
        """A polars frame with one row per swap."""
        import polars as pl

        kinds = {"penalty": pl.Float64, "overtaken": pl.String, "overtaking": pl.String, "score": pl.Float64}
        return pl.DataFrame(self.swaps, schema=kinds, orient="row")

    def _rows(self) -> Iterator[list[Any]]:
        at = np.array([swap.penalty for swap in self.swaps])
        for i, penalty in enumerate(self.penalties):
            swapped = int(np.count_nonzero((at > self.penalties[i - 1]) & (at <= penalty))) if i else 0
            tau = None if np.isnan(self.tau[i]) else self.tau[i]
            pad = None if np.isnan(self.pad[i]) else self.pad[i]
            yield [penalty, self.winner[i], self.scores[i].max(), tau, swapped, int(self.significant[i]), pad]

    def table(self) -> Table:
        """One row per penalty: the best system, τ with the first order, swaps since the row above, discrimination."""
        columns = [
            Column("penalty", None), Column("best"), Column("its score", 4), Column("tau", 3), Column("swaps"),
            Column("significant pairs"), Column("PAD", 2),
        ]  # fmt: skip
        labels = ", ".join(f"{label:g}" for label in self.labels)
        title = f"{self.measure} of {len(self.runs)} runs as the gain of label {labels} falls"
        first = self.penalties[0]
        notes = [f"tau: with the order at penalty {first:g}; swaps: pairs of systems that swap since the row above"]
        changes = [f"{run} from {penalty:.6g}" for penalty, run in self.winners]
        if len(changes) > 1:
            notes.append(f"best: {', '.join(changes)}")
        return Table(columns, self._rows(), title=title, notes=[*notes, *self.notes])

    def plot(self) -> Figure:
        """Every system's score by penalty, with a dot where two of them swap."""
        figure, axes = drawing(f"penalty of label {', '.join(f'{x:g}' for x in self.labels)}", self.measure)
        few = len(self.runs) <= 10
        for run, score, style in zip(self.runs, self.scores.T, styles(), strict=False):
            axes.plot(
                self.penalties, score, label=shown(run), **{**style, "marker": "", "linewidth": 1.4 if few else 0.7}
            )
        axes.scatter([s.penalty for s in self.swaps], [s.score for s in self.swaps], s=9, color="black", zorder=3)
        axes.set_xscale("symlog", linthresh=1.0)
        if few:
            legend(axes)
        return figure

    def frames(self) -> dict[str, pl.DataFrame]:
        """Scores by penalty, and the swaps."""
        return {"": self.to_frame(), "swaps": self.swaps_frame()}

    def pictures(self) -> list[Picture]:
        """The scores by penalty."""
        return [Picture("scores", f"{self.measure} of every run by penalty; a dot where two runs swap", self.plot())]

    def reading(self) -> list[str]:
        """Which run is the best from which penalty on, and where the order settles."""
        labels = joined(f"{label:g}" for label in self.labels)
        first, last = self.penalties[0], self.penalties[-1]
        (_, best), *later = self.winners
        changes = "".join(f", {run} from {penalty:.3g} on" for penalty, run in later)
        found = [f"By {self.measure}, {best} is the best run at a penalty of {first:g} for label {labels}{changes}."]
        if self.swaps:
            found.append(
                f"Pairs of runs swap {counted(len(self.swaps), 'time')} between {first:g} and {last:g}, "
                f"the last time at {self.swaps[-1].penalty:.3g}."
            )
        else:
            found.append(f"No two runs swap between {first:g} and {last:g}.")
        found.append(
            f"{counted(int(self.significant[0]), 'pair')} of runs differ significantly at {first:g}, "
            f"{int(self.significant[-1])} at {last:g}."
        )
        return found


@takes(progress=function(), cache=optional(path()), labels=optional(some(number(), "a list of labels")))
def penalty_sweep(
    qrels: Any,
    runs: Any,
    measure: MeasureLike = "nDCG_f@20",
    *,
    penalties: Sequence[float] = PENALTIES,
    labels: Sequence[float] | None = None,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    alpha: float = 0.05,
    tolerance: float = 1e-9,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
) -> PenaltySweep:
    """Lower the gain of forbidden labels, and see which systems overtake others.

    Every swap is found, to within the tolerance, unless two systems swap and swap back within it (:mod:`swaps` says
    how).

    If all gains of a query are 0 at penalty 0, no list is better than another there, and its score is 0; just above 0
    this is not so. The order at penalty 0 can differ from that just above it for this reason alone; that does not count
    as a swap.

    Parameters
    ----------
    qrels, runs, gains, unjudged, queries, progress, cache
        As in :func:`evaluate`.
    measure
        DCG, nDCG_org, nDCG_min or nDCG_f.
    penalties
        The penalties to try; swaps are searched for between the smallest and the largest. A penalty of 10 is a gain of
        −10.
    labels
        The labels whose gain is swept together (default: all labels of negative gain).
    alpha
        Two systems differ significantly if p of the two-sided paired t test is at most this.
    tolerance
        How precisely to find the penalties of swaps, as a share of the largest penalty.

    Examples
    --------
    >>> qrels = {"q": {"good": 1, "bad": -1}, "r": {"good": 1}}
    >>> runs = {
    ...     "shows": {"q": {"good": 2, "bad": 1}, "r": {"good": 1}},
    ...     "hides": {"q": {}, "r": {"good": 1}},
    ... }
    >>> found = penalty_sweep(qrels, runs, "nDCG_f@2", penalties=[0, 10])
    >>> [(round(s.penalty, 4), s.overtaking) for s in found.swaps]    # 1 = x / log2(3)
    [(1.585, 'hides')]
    """
    chosen = _sweepable(measure)
    at = _penalties(penalties)
    number(above=0, below=1).check("alpha", alpha, 0.05)
    number(least=1e-14, below=1).check("tolerance", tolerance, 1e-9)
    judgments = read_qrels(qrels)
    base = chosen.gains or Gains.of(gains)
    swept = _labels(labels, judgments.pool.all_labels, base)

    def gains_at(penalty: float) -> Gains:
        return Gains(base.curve, tuple(sorted({**dict(base.overrides), **dict.fromkeys(swept, -penalty)}.items())))

    # DCG is linear in the penalty: two values tell it everywhere.
    ends = [DCG(k=chosen.k, gains=gains_at(penalty), base=chosen.base) for penalty in (0.0, 1.0)]
    dcg = evaluate(judgments, runs, ends, unjudged=unjudged, queries=queries, progress=progress, cache=cache)
    check_scores(dcg, "the penalty sweep")
    pool = judgments.pool_of(dcg.queries)

    def bounds_at(penalty: float) -> tuple[Floats, Floats]:
        found = chosen.bounds(pool, gains_at(penalty))
        return (np.zeros(len(pool)), np.ones(len(pool))) if found is None else found

    turns = -base(np.setdiff1d(judgments.pool.all_labels, swept))
    breaks = np.unique(np.concatenate([at[[0, -1]], turns[(turns > at[0]) & (turns < at[-1])]]))
    curves = Curves.of(dcg.values[:, :, 0], dcg.values[:, :, 0] - dcg.values[:, :, 1], breaks, bounds_at)
    _refuse_poles(chosen, curves, dcg.queries)
    cubes = [
        Scores.from_array(
            _measured(curves, x, *bounds_at(x))[:, :, None], runs=dcg.runs, queries=dcg.queries, measures=[chosen]
        )
        for x in at.tolist()
    ]
    means = np.stack([cube.aggregate()[:, 0] for cube in cubes])
    notes = peculiarities(cubes[-1])
    tell(notes)
    order = [levels(row) for row in means]
    near = float(tolerance * at[-1])
    swaps = tuple(
        Swap(x, dcg.runs[one], dcg.runs[two], float(curves.scores(x)[one])) for x, one, two in crossings(curves, near)
    )
    return PenaltySweep(
        measure=str(chosen),
        labels=swept,
        runs=dcg.runs,
        penalties=at,
        scores=means,
        significant=np.array([compare(c, correction="none", alpha=alpha).significant.sum() for c in cubes]),
        pad=np.array([percentage_absolute_difference(row) for row in means]),
        tau=np.array([correlation(level, order[0]).tau_b for level in order]),
        swaps=swaps,
        winners=_winners(curves, dcg.runs, swaps),
        tolerance=near,
        notes=(*notes, *_about_pad(at, means)),
    )


def _sweepable(measure: MeasureLike) -> Cumulative:
    found = ready_measures([measure])
    one = found[0]
    if len(found) != 1 or not isinstance(one, Cumulative) or isinstance(one, nDCG):
        raise InputError(
            f"{measure!s} does not depend on the gain of forbidden documents in a way that is known here",
            remedy="use DCG, nDCG_org, nDCG_min or nDCG_f, one at a time",
        )
    return one


def _penalties(given: Sequence[float]) -> Floats:
    try:
        at = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        at = np.zeros(0)
    if at.ndim != 1 or len(at) < 2 or not np.isfinite(at).all():
        raise InputError(f"penalties {given!r} are not two numbers or more", remedy="give a list, as [0, 1, 10, 100]")
    if at[0] < 0:
        raise InputError(f"penalty {at[0]:g} is negative", remedy="write 10 for a gain of -10")
    return at + 0.0


def _labels(given: Sequence[float] | None, there: Floats, gains: Gains) -> tuple[float, ...]:
    if given is None:
        swept = there[gains(there) < 0]
        if not len(swept):
            raise InputError(
                "no label of the judgments is forbidden", remedy="say whose gain to sweep: labels=[0], for example"
            )
        return tuple(swept.tolist())
    if not len(given):
        raise InputError("no label to sweep is named", remedy="give labels=[-2], for example")
    for label in given:
        if label not in there:
            known = ", ".join(f"{x:g}" for x in there)
            raise InputError(f"no document has the label {label!r}", remedy=f"the labels are: {known}")
    return tuple(sorted({float(label) for label in given}))


def _refuse_poles(measure: Cumulative, curves: Curves, queries: Sequence[str]) -> None:
    poles = curves.poles()
    if len(poles):
        raise InputError(
            f"{measure} of query {queries[poles[0]]!r} is not finite at some penalty between {curves.breaks[0]:g} and "
            f"{curves.breaks[-1]:g}, where its normaliser is 0",
            remedy="use nDCG_f, whose normaliser never is, or other penalties",
        )


def _measured(curves: Curves, penalty: float, lower: Floats, upper: Floats) -> Floats:
    """The measure itself, runs × queries: 0 if the bounds coincide."""
    degenerate = flat(lower, upper)
    over_lower = curves.fixed - penalty * curves.slope - lower
    return np.where(degenerate, 0.0, over_lower / np.where(degenerate, 1.0, upper - lower))


def _about_pad(penalties: Floats, means: Floats) -> list[str]:
    negative = penalties[(means < 0).any(axis=1)]
    if not len(negative):
        return []
    return [f"PAD means little where scores are negative: at penalty {joined(f'{x:g}' for x in negative)}"]


def _winners(curves: Curves, runs: tuple[str, ...], swaps: Sequence[Swap]) -> tuple[tuple[float, str], ...]:
    """From which penalty on which run is the best, seen in the middle between any two swaps."""
    ends = np.concatenate([curves.breaks[:1], np.unique([s.penalty for s in swaps]), curves.breaks[-1:]])
    found: list[tuple[float, str]] = []
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        best = runs[int(levels(curves.scores((start + stop) / 2.0)).argmax())]
        if not found or found[-1][1] != best:
            found.append((start, best))
    return tuple(found)
