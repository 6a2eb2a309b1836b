"""The cube of results: runs × queries × measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ranksift.collection.gains import LARGEST
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.evaluation.printed import Tabular
from ranksift.evaluation.table import Table
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike, parse_measure

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: Columns of a table that has every value of every query.
PER_QUERY_COLUMNS = ("run", "query_id", "measure", "value")


@dataclass(frozen=True, eq=False)
class Scores(Tabular):
    """Results of :func:`evaluate`: numerators and denominators of every run, query and measure.

    Attributes
    ----------
    runs, queries, measures
        Names of the three axes; measures are :class:`Measure` objects, or plain names if the values came from
        elsewhere.
    numerators, denominators
        Arrays runs × queries × measures. Denominators are 1 unless the measure is micro-averaged.
    degenerate
        For each measure the number of queries in which it cannot distinguish rankings (ideal = worst).
    notes
        Remarks, for example on queries left out and gains out of range.

    Examples
    --------
    >>> scores = Scores.from_array([[[1.0], [0.5]]], runs=["a"], queries=["q1", "q2"], measures=["AP"])
    >>> scores["AP"]
    0.75
    >>> print(scores)
    measure       a
    -------  ------
    AP       0.7500
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[Measure | str, ...]
    numerators: Floats
    denominators: Floats
    degenerate: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def from_array(
        cls, values: ArrayLike, *, runs: Sequence[str], queries: Sequence[str], measures: Sequence[MeasureLike]
    ) -> Scores:
        """Take existing values, runs × queries × measures."""
        try:
            cube = np.asarray(values, dtype=np.float64)
            expected = (len(runs), len(queries), len(measures))
        except (TypeError, ValueError):
            what = "values are not an array of numbers, or runs, queries and measures are not lists of names"
            raise InputError(what, remedy="give an array runs × queries × measures, and a name for each") from None
        if cube.shape != expected:
            raise InputError(
                f"values of shape {cube.shape} for {expected[0]} runs, {expected[1]} queries, {expected[2]} measures",
                remedy="give an array runs × queries × measures",
            )
        for sane, fault, remedy in (
            (np.isfinite(cube), "is not finite", "leave that query out, or give it a value"),
            (np.abs(cube) <= LARGEST, "is too large to add up", "scale the values of this measure"),
        ):
            if not sane.all():
                r, q, m = np.argwhere(~sane)[0]
                place = f"run {runs[r]!r}, query {queries[q]!r}, measure {measures[m]!s}"
                raise InputError(f"the value of {place} {fault}", remedy=remedy)
        known = tuple(measure_or_name(m) for m in measures)
        for axis, names in (("run", runs), ("query", queries), ("measure", [str(m) for m in known])):
            if len(set(names)) < len(names):
                twice = next(n for i, n in enumerate(names) if n in names[:i])
                raise InputError(f"{axis} {twice!r} is named twice", remedy=f"give every {axis} its own name")
        return cls(tuple(map(str, runs)), tuple(map(str, queries)), known, cube, np.ones(cube.shape))

    @classmethod
    def from_frame(cls, frame: Any, measure: MeasureLike | None = None) -> Scores:
        """Take existing values from a polars or pandas frame, in a form described by :func:`read_scores`.

        >>> import polars as pl
        >>> Scores.from_frame(pl.DataFrame({"topic": ["q1", "q2"], "a": [1.0, 0.5], "b": [0.0, 1.0]}), "AP")
        <Scores: 2 runs × 2 queries × 1 measure>
        """
        from ranksift.evaluation.score_table import read_scores

        return read_scores(frame, measure)

    @cached_property
    def values(self) -> Floats:
        """The value of each query: an array of runs × queries × measures."""
        out = np.empty(self.numerators.shape)
        for m, measure in enumerate(self.measures):
            top, bottom = self.numerators[:, :, m], self.denominators[:, :, m]
            out[:, :, m] = measure.values(top, bottom) if isinstance(measure, Measure) else top
        out.setflags(write=False)
        return out

    @cached_property
    def drawing_order(self) -> Ints:
        """Queries by id, shorter ids first (9 before 10): random draws use this order.

        So the same seed draws the same queries, whatever the order of the judgments.
        """
        return np.array(sorted(range(len(self.queries)), key=lambda q: (len(self.queries[q]), self.queries[q])))

    def aggregate(self, queries: Any = slice(None)) -> Floats:
        """Each measure's aggregate over ``queries`` (indices; repeats count): an array runs × measures."""
        return np.stack(
            [self.aggregate_of(m, self.numerators[:, queries, m], self.denominators[:, queries, m])
             for m in range(len(self.measures))],
            axis=-1,
        )  # fmt: skip

    def aggregate_of(self, m: int, numerators: Floats, denominators: Floats) -> Floats:
        """Aggregate measure number ``m`` over the last axis."""
        measure = self.measures[m]
        if isinstance(measure, Measure):
            return measure.aggregate(numerators, denominators)
        return np.asarray(numerators.mean(axis=-1))

    def column(self, measure: MeasureLike) -> int:
        """The index of a measure, in any spelling."""
        names = [str(m) for m in self.measures]
        if str(measure) in names:
            return names.index(str(measure))
        try:
            wanted = parse_measure(measure)
        except InputError:
            wanted = None
        for i, m in enumerate(self.measures):
            if wanted is not None and m == wanted:
                return i
        raise InputError(f"measure {measure!s} was not computed", remedy=f"there are: {', '.join(names)}")

    def row(self, run: str) -> int:
        """The index of a run."""
        if run not in self.runs:
            raise InputError(f"run {run!r} is unknown", remedy=f"there are: {', '.join(self.runs)}")
        return self.runs.index(run)

    def mean_of(self, measure: MeasureLike) -> float | dict[str, float]:
        """The aggregate of one measure: a number if there is one run, otherwise ``{run: number}``."""
        values = self.aggregate()[:, self.column(measure)].tolist()
        return values[0] if len(self.runs) == 1 else dict(zip(self.runs, values, strict=True))

    def __getitem__(self, measure: MeasureLike) -> float | dict[str, float]:
        """:meth:`mean_of` a measure: ``scores["AP"]``."""
        return self.mean_of(measure)

    def __iter__(self) -> Iterator[str]:
        """The names of the measures, as ``scores[name]`` takes them."""
        return map(str, self.measures)

    def __contains__(self, measure: MeasureLike) -> bool:
        """Whether a measure was computed, in any spelling: ``"map" in scores``."""
        with suppress(InputError):
            return self.column(measure) >= 0
        return False

    def table(self, *, per_query: bool = False, digits: int = 4, title: str = "") -> Table:
        """Runs as rows and measures as columns, with the best values in bold; for a single run, measures are rows."""
        from ranksift.evaluation.score_rows import table

        return table(self, per_query=per_query, digits=digits, title=title)

    def to_frame(self) -> pl.DataFrame:
        """:meth:`mean`."""
        return self.mean()

    def to_pandas(self, *, per_query: bool = False) -> pd.DataFrame:
        """:meth:`mean`, or :meth:`per_query`, as a pandas frame, without pyarrow."""
        from ranksift.collection.readers.frames import as_pandas

        return as_pandas(self.per_query() if per_query else self.mean())

    def mean(self) -> pl.DataFrame:
        """A polars frame: run, and one column per measure with its aggregate."""
        import polars as pl

        table = self.aggregate()
        columns: dict[str, Any] = {"run": list(self.runs)}
        columns.update({str(m): table[:, i] for i, m in enumerate(self.measures)})
        return pl.DataFrame(columns)

    def per_query(self) -> pl.DataFrame:
        """A polars frame: run, query_id, measure, value."""
        import polars as pl

        axes = ([*self.runs], [*self.queries], [str(m) for m in self.measures])
        index = (axis.ravel() for axis in np.indices(self.values.shape))
        run, query, measure = (pl.Series(names)[i] for names, i in zip(axes, index, strict=True))
        return pl.DataFrame(dict(zip(PER_QUERY_COLUMNS, (run, query, measure, self.values.ravel()), strict=True)))

    def __repr__(self) -> str:
        r, q, m = self.numerators.shape
        return f"<Scores: {r} run{'s' * (r != 1)} × {q} quer{'y' if q == 1 else 'ies'} × {m} measure{'s' * (m != 1)}>"


def measure_or_name(measure: MeasureLike) -> Measure | str:
    """A measure, or if none has this name the name itself."""
    try:
        return parse_measure(measure)
    except InputError:
        return str(measure)
