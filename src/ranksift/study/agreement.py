"""Do two measures put systems into the same order, and does one measure do so on two collections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, flag, takes
from ranksift.plotting import drawing, shown
from ranksift.study.preconditions import check_scores, peculiarities
from ranksift.study.result import PerMeasure, Picture, Result
from ranksift.study.systems import families, system_levels
from ranksift.study.wording import counted, percent, ranked

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


class Correlation(NamedTuple):
    """How alike two orders of the same systems are. NaN if an order has all systems on one level."""

    tau: float
    """Kendall's τ_a: (concordant − discordant pairs) / pairs; a tie is neither."""
    tau_b: float
    """Kendall's τ_b: the same over the geometric mean of the pairs that each order does not tie."""
    tau_ap: float
    """Yilmaz, Aslam and Robertson's τ_AP of the first order, the second one being the truth: the top counts more."""
    spearman: float
    """Spearman's ρ; systems on one level share their mean rank."""
    swap_rate: float
    """Discordant pairs / pairs (Karmaker and Feng 2022, Tables 10 and 20)."""


def correlation(first: Ints, second: Ints) -> Correlation:
    """How alike two orders are, given each system's level in both (see :func:`levels`).

    >>> correlation(np.array([3, 2, 1, 0]), np.array([3, 1, 2, 0]))
    Correlation(tau=0.666..., tau_b=0.666..., tau_ap=0.666..., spearman=0.8, swap_rate=0.1666...)
    """
    pairs = np.triu_indices(len(first), 1)
    one, two = (np.sign(x[pairs[0]] - x[pairs[1]]) for x in (first, second))
    balance, n = float((one * two).sum()), len(one)
    untied = float(np.sqrt(float(np.count_nonzero(one)) * float(np.count_nonzero(two))))
    return Correlation(
        balance / n if untied else np.nan,
        balance / untied if untied else np.nan,
        _tau_ap(first, second) if untied else np.nan,
        _spearman(first, second) if untied else np.nan,
        float(np.count_nonzero(one * two < 0)) / n,
    )


def _spearman(first: Ints, second: Ints) -> float:
    one, two = (_mean_ranks(x) for x in (first, second))
    one, two = one - one.mean(), two - two.mean()
    return float((one @ two) / np.sqrt((one @ one) * (two @ two)))


def _mean_ranks(level: Ints) -> Floats:
    ordered = np.sort(level)
    return (np.searchsorted(ordered, level, "left") + np.searchsorted(ordered, level, "right") + 1) / 2.0


def _tau_ap(order: Ints, truth: Ints) -> float:
    """τ_AP, in expectation over all ways to break ties in either order.

    A system at rank i contributes the share of the i − 1 systems above it that are rightly above it. Systems on one
    level share their ranks: each has all of the higher systems above it, and some of its equals, half of them rightly.
    """
    right = (np.sign(truth[:, None] - truth[None, :]) + 1) / 2.0  # 1 if the row's system is truly above the column's
    rightly = (right * (order[:, None] > order[None, :])).sum(axis=0)
    total = 0.0
    for level in np.unique(order):
        equals = order == level
        higher, mean = int(np.count_nonzero(order > level)), float(rightly[equals].mean())
        above = np.arange(higher, higher + np.count_nonzero(equals))
        total += float(((mean + (above - higher) / 2.0) / np.maximum(above, 1)).sum())
    return 2.0 * total / (len(order) - 1) - 1.0


class Between(PerMeasure[PerMeasure[float]]):
    """One number per pair of measures: ``tau["AP", "RR"]``, or ``tau["AP"]["RR"]``.

    >>> Between.of(["AP", "RR"], np.array([[1.0, 0.5], [0.5, 1.0]]))["AP", "RR"]
    0.5
    """

    @classmethod
    def of(cls, names: Sequence[str], matrix: Floats) -> Between:
        """Take a number for each row and column."""
        rows = (PerMeasure(zip(names, row, strict=True)) for row in matrix.tolist())
        return cls(zip(names, rows, strict=True))

    def __missing__(self, measure: Any) -> Any:
        if isinstance(measure, tuple) and len(measure) == 2:
            return self[measure[0]][measure[1]]
        return super().__missing__(measure)

    @property
    def matrix(self) -> Floats:
        """Measures × measures."""
        return np.array([list(row.values()) for row in self.values()])


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Results of :func:`agreement`.

    Attributes
    ----------
    runs, measures
        The runs that were ordered, and the measures.
    ranks
        For each measure the rank of every run, 1 for the best; tied runs share their mean rank.
    tau, tau_b, tau_ap, spearman, swap_rate
        One number per pair of measures, as in :class:`Correlation`; ``tau_ap[a, b]`` takes the order of b as the truth.
    notes
        Caveats.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    ranks: PerMeasure[Floats]
    tau: Between
    tau_b: Between
    tau_ap: Between
    spearman: Between
    swap_rate: Between
    notes: tuple[str, ...]

    def _rows(self) -> Iterator[dict[str, Any]]:
        for a, b in combinations(self.measures, 2):
            yield {
                "measure": a,
                "other": b,
                "tau": self.tau[a][b],
                "tau_b": self.tau_b[a][b],
                "tau_ap": self.tau_ap[a][b],
                "tau_ap_reversed": self.tau_ap[b][a],
                "spearman": self.spearman[a][b],
                "swap_rate": self.swap_rate[a][b],
            }

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per pair of measures."""
        import polars as pl

        return pl.DataFrame(list(self._rows()))

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frame of pairs of measures, and the rank of each run by each measure."""
        import polars as pl

        return {**super().frames(), "ranks": pl.DataFrame({"run": self.runs, **self.ranks})}

    def table(self) -> Table:
        """One row per pair of measures."""
        rows = [[_shown(x) for x in row.values()] for row in self._rows()]
        columns = ["measure", "other", "tau", "tau_b", "tau_AP", "tau_AP reversed", "Spearman", "swap rate"]
        title = f"Agreement of {len(self.measures)} measures on the order of {len(self.runs)} runs"
        return Table([Column(c, 3) for c in columns], rows, title=title, notes=self.notes)

    def plot(
        self,
        what: Literal["tau", "ranks"] = "tau",
        measure: MeasureLike | None = None,
        other: MeasureLike | None = None,
    ) -> Figure:
        """A map of τ between the measures, or the ranks of runs by two of them (Gienapp et al. 2020, Table 2c).

        Parameters
        ----------
        what
            ``"tau"`` or ``"ranks"``.
        measure, other
            The two measures for ``"ranks"``; by default those that agree least.
        """
        choice("tau", "ranks").check("plot", what)
        if what == "ranks":
            return self._plot_ranks(*self._two(measure, other))
        if measure is not None or other is not None:
            raise InputError("a map of tau is of all measures", remedy='give two to plot("ranks", a, b) only')
        return self._plot_tau()

    def _two(self, measure: MeasureLike | None, other: MeasureLike | None) -> tuple[str, str]:
        """The names of two measures, by default those that agree least."""
        if measure is None or other is None:
            if measure is not other:
                raise InputError("ranks are by two measures", remedy='write plot("ranks", "AP", "RR")')
            return self._least_alike or (self.measures[0], self.measures[1])
        return self.ranks.name_of(measure), self.ranks.name_of(other)

    @property
    def _least_alike(self) -> tuple[str, str] | None:
        """The two measures of the lowest τ; None if no two have orders to compare."""
        tau = {(a, b): self.tau[a][b] for a, b in combinations(self.measures, 2)}
        return min((pair for pair in tau if not np.isnan(tau[pair])), key=lambda pair: tau[pair], default=None)

    def _plot_ranks(self, first: str, second: str) -> Figure:
        """One dot per run; on the line a run has the same rank by both. Named are the runs that move farthest."""
        figure, axes = drawing(f"rank by {first}", f"rank by {second}", width=4.6, height=4.4)
        one, two = self.ranks[first], self.ranks[second]
        n = len(self.runs)
        axes.plot([1, n], [1, n], color="0.4", linewidth=0.8)
        axes.scatter(one, two, s=18 if n <= 40 else 9, color="#0072B2", zorder=3)
        moved = np.abs(one - two)
        for i in np.argsort(-moved, kind="stable")[: n if n <= 10 else 5]:
            if moved[i] > 0:
                away, side = (5, "left") if one[i] <= (n + 1) / 2 else (-5, "right")  # if there is room for it
                axes.annotate(
                    shown(self.runs[i], most=24), (one[i], two[i]), (away, 0), textcoords="offset points",
                    ha=side, va="center", fontsize="small",
                )  # fmt: skip
        axes.set(xlim=(0.3, n + 0.7), ylim=(n + 0.7, 0.3), aspect="equal")  # the best in the upper left corner
        axes.locator_params(integer=True)
        return figure

    def _plot_tau(self) -> Figure:
        n, matrix = len(self.measures), self.tau.matrix
        cell = 0.6 if n <= 12 else max(0.14, 7.2 / n)  # if there are many there is no room for numbers
        figure, axes = drawing(
            "", "", title="Kendall's tau of the systems' orders", width=2.6 + 1.1 * cell * n, height=1.8 + cell * n
        )
        axes.grid(visible=False)
        image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu")
        names, size = [shown(m, most=32) for m in self.measures], 10.0 if n <= 12 else max(5.0, 120.0 / n)
        axes.set_xticks(range(n), names, rotation=40 if n <= 12 else 90, ha="right" if n <= 12 else "center")
        axes.set_yticks(range(n), names)
        axes.tick_params(labelsize=size)
        for (i, j), value in np.ndenumerate(matrix) if n <= 12 else ():
            axes.text(j, i, f"{value:.2f}", ha="center", va="center", color="white" if abs(value) > 0.6 else "black")
        figure.colorbar(image, ax=axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The map of τ, and the ranks of runs by the two measures that agree least."""
        found = [Picture("tau", "Kendall's τ between the orders of runs", self.plot())]
        if self._least_alike:
            a, b = self._least_alike
            caption = f"Ranks of the runs by {a} and by {b}, the two that agree least; on the line they are the same"
            found.append(Picture("ranks", caption, self.plot("ranks", a, b)))
        return found

    def reading(self) -> list[str]:
        """Which two measures order the runs most and least alike."""
        tau = {(a, b): self.tau[a][b] for a, b in combinations(self.measures, 2) if not np.isnan(self.tau[a][b])}
        if not tau:
            return ["No two measures have orders to compare."]
        (a, b), least = min(tau.items(), key=lambda item: item[1])
        swapped = percent(self.swap_rate[a][b])
        if len(tau) == 1:
            return [
                f"{a} and {b} order the {len(self.runs)} runs with τ = {least:.3f}: {swapped} of pairs are swapped."
            ]
        (c, d), most = max(tau.items(), key=lambda item: item[1])
        return [
            f"{c} and {d} order the {len(self.runs)} runs most alike (τ = {most:.3f}).",
            f"{a} and {b} agree least (τ = {least:.3f}): {swapped} of pairs are in the opposite order.",
        ]


@takes(over_k=flag())
def agreement(scores: Scores, *, over_k: bool = False) -> Agreement:
    """Compare the orders in which measures put systems.

    Systems are ordered by their aggregate over queries; for a cost such as ``Fdocs``, the lowest is the best. Systems
    that differ only by rounding are tied.

    Parameters
    ----------
    scores
        Scores of at least two runs by at least two measures.
    over_k
        Treat measures that differ only in k as one, whose score is the mean over k (Karmaker and Feng 2022).

    Examples
    --------
    >>> scores = Scores.from_array(
    ...     [[[0.9, 0.5]], [[0.6, 0.7]], [[0.1, 0.2]]], runs=["a", "b", "c"], queries=["q"], measures=["AP", "RR"]
    ... )
    >>> found = agreement(scores)
    >>> found.swap_rate["AP", "RR"], found.spearman["AP", "RR"]
    (0.3333333333333333, 0.5)
    """
    check_scores(scores, "agreement", queries=1)
    order = {name: system_levels(scores, columns) for name, columns in families(scores, over_k).items()}
    if len(order) < 2:
        raise InputError(
            f"agreement needs at least 2 measures, there is only {next(iter(order))}",
            remedy="name another one, or use consistency for one measure on two collections",
        )
    notes = (*peculiarities(scores), *_levelled(order))
    tell(notes)
    names = tuple(order)
    cube = np.array([[correlation(order[a], order[b]) for b in names] for a in names])
    numbers = {what: Between.of(names, cube[:, :, i]) for i, what in enumerate(Correlation._fields)}
    ranks = PerMeasure({name: len(level) + 1 - _mean_ranks(level) for name, level in order.items()})
    return Agreement(scores.runs, names, ranks, notes=notes, **numbers)


@dataclass(frozen=True, eq=False, repr=False)
class Consistency(Result):
    """Results of :func:`consistency`.

    Attributes
    ----------
    runs
        The systems that are in both collections.
    tau, tau_b, tau_ap, spearman, swap_rate
        For each measure how alike its two orders are, as in :class:`Correlation`; ``tau_ap`` takes the second as the
        truth.
    notes
        Caveats.
    """

    runs: tuple[str, ...]
    tau: PerMeasure[float]
    tau_b: PerMeasure[float]
    tau_ap: PerMeasure[float]
    spearman: PerMeasure[float]
    swap_rate: PerMeasure[float]
    notes: tuple[str, ...]

    def _rows(self) -> Iterator[dict[str, Any]]:
        for m in self.tau:
            yield {"measure": m, **{what: getattr(self, what)[m] for what in Correlation._fields}}

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per measure."""
        import polars as pl

        return pl.DataFrame(list(self._rows()))

    def table(self) -> Table:
        """One row per measure."""
        rows = [[_shown(x) for x in row.values()] for row in self._rows()]
        columns = ["measure", "tau", "tau_b", "tau_AP", "Spearman", "swap rate"]
        title = f"Consistency of each measure's two orders of {len(self.runs)} runs"
        return Table([Column(c, 3) for c in columns], rows, title=title, notes=self.notes)

    def plot(self) -> Figure:
        """Swap rates as bars."""
        figure, axes = drawing(
            "swap rate", "", title="Pairs of systems in the opposite order", height=1.4 + 0.35 * len(self.tau)
        )
        names = list(self.swap_rate)[::-1]
        axes.barh(range(len(names)), [self.swap_rate[m] for m in names], color="#0072B2")
        axes.set_yticks(range(len(names)), [shown(m) for m in names])
        axes.set_xlim(left=0)
        return figure

    def pictures(self) -> list[Picture]:
        """The swap rates."""
        return [Picture("swap rate", "Pairs of runs in the opposite order", self.plot())]

    def reading(self) -> list[str]:
        """How many pairs of runs each measure puts in the opposite order."""
        pairs = counted(len(self.runs) * (len(self.runs) - 1) // 2, "pair")
        return [f"Of {pairs} of runs that both have, in the opposite order: {ranked(self.swap_rate, '{:.1%}')}."]


def consistency(first: Scores, second: Scores, *, over_k: bool = False) -> Consistency:
    """Compare the orders in which each measure puts the same systems on two collections, or on two sets of queries.

    Parameters
    ----------
    first, second
        Scores of the same systems by the same measures; anything that is in only one of them is left out.
    over_k
        Treat measures that differ only in k as one, whose score is the mean over k (Karmaker and Feng 2022).

    Examples
    --------
    >>> def scores(values):
    ...     return Scores.from_array([[[v]] for v in values], runs=["a", "b", "c"], queries=["q"], measures=["AP"])
    >>> consistency(scores([0.1, 0.2, 0.3]), scores([0.5, 0.4, 0.9])).swap_rate
    {'AP': 0.3333333333333333}
    """
    for scores in (first, second):
        check_scores(scores, "consistency", queries=1)
    runs = [run for run in first.runs if run in second.runs]
    one, two = families(first, over_k), families(second, over_k)
    names = [name for name in one if name in two]
    if len(runs) < 2:
        raise InputError(
            f"the two collections have {len(runs) or 'no'} run{'s' * (len(runs) != 1)} in common",
            remedy="give the same systems the same names in both",
        )
    if not names:
        raise InputError("the two collections have no measure in common", remedy="evaluate both with the same measures")
    notes = []
    for scores, measures in ((first, one), (second, two)):
        left_out = [*(r for r in scores.runs if r not in runs), *(m for m in measures if m not in names)]
        if left_out:
            notes.append(f"in one of the two collections only, and left out: {', '.join(left_out)}")
    orders = [
        {m: system_levels(scores, columns[m])[[scores.row(r) for r in runs]] for m in names}
        for scores, columns in ((first, one), (second, two))
    ]
    notes += [*_levelled(orders[0]), *_levelled(orders[1])]
    tell(notes)
    found = {m: correlation(orders[0][m], orders[1][m]) for m in names}
    numbers = {what: PerMeasure({m: found[m][i] for m in names}) for i, what in enumerate(Correlation._fields)}
    return Consistency(tuple(runs), notes=tuple(notes), **numbers)


def _levelled(order: dict[str, Ints]) -> list[str]:
    flat = [name for name, level in order.items() if not np.ptp(level)]
    return [f"{name} gives every run the same score: it has no order to compare" for name in flat]


def _shown(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value
