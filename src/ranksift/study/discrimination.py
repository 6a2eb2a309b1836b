"""Does a measure tell systems apart: significant pairs, conflicts of measures, percentage differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.compare import CORRECTIONS, TESTS, Comparison, Correction, TestName, compare
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table
from ranksift.measures.names import MeasureLike
from ranksift.parameters import flag, takes
from ranksift.plotting import drawing, legend, shown, styles_of
from ranksift.study.preconditions import ROUNDING, check_scores, peculiarities
from ranksift.study.result import PerMeasure, Picture, Result, pictures_of
from ranksift.study.systems import families, system_scores
from ranksift.study.wording import counted, ranked

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

#: In a table, measures whose conflicts with one another have columns.
_MOST_VERSUS = 8


def percentage_absolute_difference(average: Floats) -> float:
    """PAD: the mean over pairs of systems of 100 |a − b| / max(a, b), for the average score of each system (Eq. 8).

    The maximum is signed, as in the paper's Table 19: with negative averages the number means little. It is NaN if a
    pair's larger average is 0 and the other is not.

    >>> percentage_absolute_difference(np.array([0.5, 0.4, 0.4]))
    13.33...
    """
    i, j = np.triu_indices(len(average), 1)
    gap, larger = np.abs(average[i] - average[j]), np.maximum(average[i], average[j])
    gap[gap <= ROUNDING * np.abs(average).max(initial=0.0)] = 0.0
    with np.errstate(divide="ignore"):
        share = np.divide(gap, larger, out=np.zeros(len(gap)), where=gap > 0)
    return float(100.0 * share.mean()) if np.isfinite(share).all() else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class Discrimination(Result):
    """Results of :func:`discrimination`.

    Attributes
    ----------
    comparison
        The tests: every pair of runs by every measure.
    significant
        For each measure the number of significant pairs; if it stands for several k, over all of them.
    tested
        The number of pairs that were tested, over all k.
    pad
        For each measure the mean percentage absolute difference of the systems' scores.
    notes
        Reasons why these numbers may mean less than they seem to.
    """

    comparison: Comparison
    significant: PerMeasure[int]
    tested: PerMeasure[int]
    pad: PerMeasure[float]
    notes: tuple[str, ...]
    _columns: PerMeasure[list[int]]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The two runs of each pair."""
        return self.comparison.pairs

    def p(self, measure: MeasureLike) -> Floats:
        """The p value of every pair by a measure; pairs × k if it stands for several k."""
        values = self.comparison.corrected_p[:, self._columns_of(measure)]
        return np.asarray(values[:, 0] if values.shape[1] == 1 else values)

    def conflicts(self, measure: MeasureLike, other: MeasureLike) -> int:
        """Number of pairs that only one of two measures finds significant, or that both do in opposite directions."""
        return int(np.count_nonzero(self._conflict(measure, other)))

    def conflicting_pairs(self, measure: MeasureLike, other: MeasureLike) -> tuple[tuple[str, str], ...]:
        """The pairs of runs in :meth:`conflicts`, at any k."""
        found = self._conflict(measure, other).any(axis=1)
        return tuple(self.pairs[i] for i in np.flatnonzero(found))

    def _conflict(self, measure: MeasureLike, other: MeasureLike) -> NDArray[np.bool_]:
        one, two = self._columns_of(measure), self._columns_of(other)
        if len(one) > 1 or len(two) > 1:
            one, two = self._same_k(one, two)
        significant, better = self.comparison.significant, self.comparison.better
        opposite = significant[:, one] & significant[:, two] & (better[:, one] * better[:, two] < 0)
        return np.asarray((significant[:, one] != significant[:, two]) | opposite)

    def _same_k(self, one: list[int], two: list[int]) -> tuple[list[int], list[int]]:
        names = [str(m) for m in self.comparison.scores.measures]
        by_k = [{(re.search(r"@\d+$", names[c]) or [""])[0]: c for c in columns} for columns in (one, two)]
        if by_k[0].keys() != by_k[1].keys():
            raise InputError(
                f"{names[one[0]]} and {names[two[0]]} were not computed for the same k",
                remedy="evaluate both for the same k",
            )
        return list(by_k[0].values()), [by_k[1][k] for k in by_k[0]]

    def _columns_of(self, measure: MeasureLike) -> list[int]:
        return self._columns[str(measure)]

    def _rows(self) -> Iterator[dict[str, Any]]:
        for m, count in self.significant.items():
            pad = self.pad[m]
            yield {
                "measure": m,
                "significant": count,
                "tested": self.tested[m],
                "share": count / self.tested[m],
                "pad": None if np.isnan(pad) else pad,
            }

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per measure."""
        import polars as pl

        return pl.DataFrame(list(self._rows()), schema_overrides={"pad": pl.Float64})

    def conflicts_frame(self) -> pl.DataFrame:
        """A polars frame with one row per pair of measures: their conflicts."""
        import polars as pl

        rows = [(a, b, self.conflicts(a, b)) for a, b in combinations(self.significant, 2)]
        return pl.DataFrame(rows, schema=["measure", "other", "conflicts"], orient="row")

    def table(self) -> Table:
        """One row per measure: significant pairs, PAD, and, for a few measures, their conflicts with the others."""
        names = list(self.significant) if 1 < len(self.significant) <= _MOST_VERSUS else []
        rows = []
        for row in self._rows():
            clashes = [None if n == row["measure"] else self.conflicts(row["measure"], n) for n in names]
            rows.append([*row.values(), *clashes])
        columns = [Column("measure"), Column("significant"), Column("pairs"), Column("share", 1, "percent")]
        columns += [Column("PAD", 2), *(Column(f"vs {n}") for n in names)]
        how = f"{TESTS[self.comparison.test]}, {CORRECTIONS[self.comparison.correction]}"
        size = f"{len(self.comparison.scores.runs)} runs, {len(self.comparison.scores.queries)} queries"
        title = f"Discrimination: {size}, {how}, p <= {self.comparison.alpha:g}"
        notes = ["vs: pairs that only one of the two measures finds significant, or both in opposite directions"]
        return Table(columns, rows, title=title, notes=[*(notes if names else ()), *self.notes])

    def frames(self) -> dict[str, pl.DataFrame]:
        """The frame of measures, and the conflicts of each pair of them."""
        return {"": self.to_frame(), "conflicts": self.conflicts_frame()}

    def plot(self, measures: Sequence[str] | None = None) -> Figure:
        """P values by some measures or by all, largest first: the lower the curve, the more pairs are distinguished."""
        figure, axes = drawing("pairs of runs, by p", "p", title="Discriminative power")
        names = list(measures or self.significant)
        for name, style in zip(names, styles_of(names), strict=True):
            p = np.sort(self.p(name).ravel())[::-1]
            style["marker"] = "" if len(p) > 60 else style["marker"]
            axes.plot(np.arange(1, len(p) + 1), p, label=shown(name), **style)
        axes.axhline(self.comparison.alpha, color="0.4", linewidth=0.8)
        axes.set_ylim(0, min(1.0, 4 * self.comparison.alpha))
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The p values."""
        caption = "p of every pair of runs, largest first: the lower, the more discriminating"
        return pictures_of("p", caption, list(self.significant), self.plot)

    def reading(self) -> list[str]:
        """How many pairs each measure finds significant, and which two measures disagree the most."""
        shares = {m: n / self.tested[m] for m, n in self.significant.items()}
        pairs, tested = f"{counted(len(self.pairs), 'pair')} of runs", max(self.tested.values())
        over_k = tested > len(self.pairs)
        found = [
            f"Significantly different by {TESTS[self.comparison.test]}, of {pairs}{' at every k' * over_k}: "
            f"{ranked(shares, '{:.1%}')}."
        ]
        conflicts = {pair: self.conflicts(*pair) for pair in combinations(self.significant, 2)}
        if conflicts:
            (a, b), most = max(conflicts.items(), key=lambda item: item[1])
            found.append(
                f"{a} and {b} disagree the most, on {counted(most, 'pair')}{f' of {tested} over all k' * over_k}."
                if most
                else "No two measures disagree on any pair."
            )
        return found


@takes(over_k=flag())
def discrimination(
    scores: Scores,
    alpha: float = 0.05,
    *,
    test: TestName = "t",
    correction: Correction = "none",
    over_k: bool = False,
    samples: int = 10_000,
    seed: int = 0,
) -> Discrimination:
    """Test every pair of systems by every measure.

    Parameters
    ----------
    scores
        Scores of at least two runs on at least two queries.
    alpha
        A pair is significant if p is at most this.
    test, correction, samples, seed
        As in :func:`compare`; the paper's are Student's paired t, two-sided, without a correction.
    over_k
        Take measures that differ in nothing but k as one: significant pairs and conflicts are added up over k, PAD is
        that of the mean over k (Karmaker and Feng 2022).

    Examples
    --------
    >>> scores = Scores.from_array(
    ...     [[[0.1, 0.0], [0.2, 0.9], [0.3, 0.1]], [[0.6, 0.1], [0.8, 0.2], [0.9, 1.0]]],
    ...     runs=["old", "new"], queries=["q1", "q2", "q3"], measures=["AP", "RR"],
    ... )
    >>> found = discrimination(scores)
    >>> found.significant, found.conflicts("AP", "RR"), round(found.pad["AP"], 2)
    ({'AP': 1, 'RR': 0}, 1, 73.91)
    """
    check_scores(scores, "discrimination")
    comparison = compare(scores, test=test, correction=correction, alpha=alpha, samples=samples, seed=seed)
    columns = families(scores, over_k)
    averages = {name: system_scores(scores, of) for name, of in columns.items()}
    notes = (*peculiarities(scores), *_about_pad(averages))
    tell(notes)
    significant: Ints = comparison.significant.sum(axis=0)
    return Discrimination(
        comparison,
        PerMeasure({name: int(significant[of].sum()) for name, of in columns.items()}),
        PerMeasure({name: len(comparison.pairs) * len(of) for name, of in columns.items()}),
        PerMeasure({name: percentage_absolute_difference(average) for name, average in averages.items()}),
        notes,
        PerMeasure(columns),
    )


def _about_pad(averages: Mapping[str, Floats]) -> list[str]:
    notes = []
    for name, average in averages.items():
        negative = int(np.count_nonzero(average < 0))
        if negative:
            notes.append(f"the PAD of {name} means little: {negative} of {len(average)} averages are negative")
    return notes
