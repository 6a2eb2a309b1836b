"""Which queries can tell a good ranking from a random one: informative, uninformative, ideal, hard, easy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError, tell
from ranksift.evaluation.evaluate import ready_measures
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Table
from ranksift.measures.bounds import CLOSED_FORMS
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, either, instance, integer, optional, some, takes, text
from ranksift.plotting import drawing, legend
from ranksift.study.result import Picture, Result
from ranksift.study.systems import levels
from ranksift.study.wording import counted

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

#: A query's id, or its position where values came without ids.
QueryId = str | int


@takes(queries=optional(some(text(), "a list of queries")))
def expected_scores(
    qrels: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    gains: GainsLike = "linear",
    queries: Sequence[str] | None = None,
) -> Scores:
    """The expected scores of a random ranking of each query's judged documents: :class:`Scores` of a run "random".

    Parameters
    ----------
    qrels, gains
        As in :func:`evaluate`.
    measures
        Measures whose expectation has a closed form, such as ``nDCG@10``, ``MSP@10`` or ``AP``; ``E_nDCG@10`` and the
        like are used directly, so ``E_MSP(expected="paper")@10`` gives Karmaker and Feng's value.
    queries
        The ids of the queries (default: every judged query).

    Examples
    --------
    >>> expected_scores({"q": {"a": 1, "b": 0}, "r": {"c": 1}}, "nDCG@1").values[0, :, 0].tolist()
    [0.5, 1.0]
    """
    judgments, wanted, worth = read_qrels(qrels), ready_measures(measures), Gains.of(gains)
    chosen = judgments.query_ids if queries is None else tuple(dict.fromkeys(map(str, queries)))
    pool = judgments.pool_of(chosen)
    values = np.stack([_expected(measure, pool, measure.gains or worth) for measure in wanted], axis=1)[None]
    return Scores.from_array(values, runs=["random"], queries=chosen, measures=wanted)


def _expected(measure: Measure, pool: Pool, gains: Gains) -> Floats:
    value = measure.expectation(pool, gains)
    if value is None:
        raise InputError(
            f"the expected {measure} of a random ranking has no closed form here",
            remedy=CLOSED_FORMS,
        )
    return value


@takes(scores=instance(Scores), queries=some(either(text(), integer(0)), "a list of queries"))
def on_queries(scores: Scores, queries: Iterable[QueryId]) -> Scores:
    """The same scores on some of the queries, in this order; an integer is a query's position.

    >>> scores = Scores.from_array([[[0.1], [0.9]]], runs=["a"], queries=["q", "r"], measures=["AP"])
    >>> on_queries(scores, ["r"]).mean_of("AP")
    0.9
    """
    place: dict[QueryId, int] = {query: i for i, query in enumerate(scores.queries)}
    place |= {i: i for i in range(len(scores.queries))}
    chosen = list(dict.fromkeys(queries))
    if not chosen:
        raise InputError("no query is named", remedy="name at least one")
    for query in chosen:
        if query not in place:
            raise InputError(f"query {query!r} has no scores", remedy=f"the first that has is {scores.queries[0]!r}")
    at = [place[query] for query in chosen]
    return replace(
        scores,
        queries=tuple(scores.queries[i] for i in at),
        numerators=scores.numerators[:, at],
        denominators=scores.denominators[:, at],
        degenerate={},
    )


@dataclass(frozen=True, eq=False, repr=False)
class QueryTypes(Result):
    """Results of :func:`query_types`.

    Attributes
    ----------
    queries, real, expected
        Each query's id, its real score averaged over systems and measures, and that of a random ranking.
    uninformative
        The queries in which systems beat random by the least, with the smallest difference first.
    ideal
        The queries in which systems beat random by the most, with the largest difference first.
    informative
        All queries that are not uninformative and in which systems are better than random.
    hard, easy
        The uninformative queries in which both scores are low, and in which both are high.
    notes
        Caveats.
    """

    queries: tuple[QueryId, ...]
    real: Floats
    expected: Floats
    uninformative: tuple[QueryId, ...]
    ideal: tuple[QueryId, ...]
    informative: tuple[QueryId, ...]
    hard: tuple[QueryId, ...]
    easy: tuple[QueryId, ...]
    notes: tuple[str, ...]

    @property
    def difference(self) -> Floats:
        """Real − expected."""
        return self.real - self.expected

    @property
    def sets(self) -> dict[str, tuple[QueryId, ...]]:
        """Every set by its name, including that of all queries."""
        names = ("uninformative", "hard", "easy", "informative", "ideal")
        return {"all": self.queries, **{name: getattr(self, name) for name in names}}

    def split(self, scores: Scores) -> dict[str, Scores]:
        """Scores on each set that is not empty, so that every procedure can be repeated on it."""
        return {name: on_queries(scores, chosen) for name, chosen in self.sets.items() if chosen}

    def histogram(self, bins: int = 20) -> tuple[Ints, Floats]:
        """How many queries have an expected score in each of the bins, and the edges of the bins."""
        counts, edges = np.histogram(self.expected, bins, range=_range(self.expected))
        return counts.astype(np.int64), edges

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per query: real, expected, difference, and the sets that it is in."""
        import polars as pl

        named = {name: set(chosen) for name, chosen in self.sets.items() if name != "all"}
        return pl.DataFrame(
            {
                "query_id": list(self.queries),
                "real": self.real,
                "expected": self.expected,
                "difference": self.difference,
                **{name: [query in chosen for query in self.queries] for name, chosen in named.items()},
            }
        )

    def table(self) -> Table:
        """One row per set: its size and the means of its queries."""
        place = {query: i for i, query in enumerate(self.queries)}
        rows: list[list[Any]] = []
        for name, chosen in self.sets.items():
            at = [place[query] for query in chosen]
            means = [part[at].mean() for part in (self.real, self.expected, self.difference)] if at else [None] * 3
            rows.append([name, len(chosen), *means])
        columns = ["queries", "number", "real", "expected", "difference"]
        title = f"Types of {len(self.queries)} queries: real scores against those of a random ranking"
        return Table(columns, rows, title=title, notes=self.notes)

    def plot(self, what: Literal["scatter", "histogram"] = "scatter") -> Figure:
        """Real against expected scores, or the histogram of the expected ones."""
        choice("scatter", "histogram").check("plot", what)
        if what == "histogram":
            counts, edges = self.histogram()
            figure, axes = drawing("expected score of a random ranking", "queries")
            axes.stairs(counts, edges, fill=True, color="#0072B2")
            return figure
        figure, axes = drawing("expected score of a random ranking", "real score", width=4.6, height=4.4)
        kind = {query: name for name in ("uninformative", "ideal") for query in self.sets[name]}
        of = np.array([kind.get(query, "other") for query in self.queries])
        for name, colour in (("other", "0.6"), ("uninformative", "#D55E00"), ("ideal", "#009E73")):
            axes.scatter(self.expected[of == name], self.real[of == name], s=8, color=colour, label=name)
        ends = _range(np.concatenate([self.real, self.expected]))
        axes.plot(ends, ends, color="0.4", linewidth=0.8)
        legend(axes)
        return figure

    def pictures(self) -> list[Picture]:
        """The scatter and the histogram."""
        return [
            Picture(
                "scatter",
                "Real against expected score of every query; on the line, systems are as good as chance",
                self.plot(),
            ),
            Picture("histogram", "What a random ranking is expected to score", self.plot("histogram")),
        ]

    def reading(self) -> list[str]:
        """How far from a random ranking the systems are, in all queries and at both ends."""
        place = {query: i for i, query in enumerate(self.queries)}
        gap = self.difference
        worse = int(np.count_nonzero(gap <= 0))
        ends = [gap[[place[q] for q in chosen]].mean() for chosen in (self.uninformative, self.ideal)]
        return [
            f"A random ranking of all judged documents is expected to score {self.expected.mean():.3f}, "
            f"the systems score {self.real.mean():.3f} on average.",
            f"In {worse} of {counted(len(self.queries), 'query', 'queries')} the systems are no better than that"
            f"{'; a run that misses judged documents can be worse' * (worse > 0)}.",
            f"In the {len(self.uninformative)} uninformative queries they are {ends[0]:+.3f} from it, in the "
            f"{len(self.ideal)} ideal ones {ends[1]:+.3f}; "
            f"{len(self.hard)} of the uninformative are hard, {len(self.easy)} easy.",
        ]


def query_types(
    real: Any,
    expected: Any,
    size: int | float = 0.1,
    *,
    difference: Literal["signed", "absolute"] = "signed",
    low: float = 0.25,
    high: float = 0.75,
) -> QueryTypes:
    """Sort queries by how much better than a random ranking systems do.

    Parameters
    ----------
    real, expected
        A score for every query: :class:`Scores` (averaged over runs and measures), ``{query: score}``, or an array of
        queries, of runs × queries or of runs × queries × measures. :func:`expected_scores` gives the second.
    size
        How many queries are uninformative, and how many ideal: a number, or a share of all (Karmaker and
        Feng 2022: 1,000 of 10,000, and 500 of 1,000). No query is both.
    difference
        ``"signed"``: uninformative are those with the smallest real − expected, where systems struggle to do better
        than random; ``"absolute"``: those nearest to random. Ideal are always those with the largest real − expected.
    low, high
        Uninformative queries with both scores at most ``low`` are hard, and those with both scores at least ``high``
        are easy.

    Examples
    --------
    >>> real = {"a": 0.9, "b": 0.5, "c": 0.2, "d": 0.8}
    >>> found = query_types(real, {"a": 0.3, "b": 0.2, "c": 0.2, "d": 0.75}, size=2)
    >>> found.ideal, found.uninformative, found.hard, found.easy
    (('a', 'b'), ('c', 'd'), ('c',), ('d',))
    """
    choice("signed", "absolute").check("difference", difference)
    queries, real_values, expected_values = _aligned(real, expected)
    n = len(queries)
    many = _size(size, n)
    gap = real_values - expected_values
    signed = levels(gap)
    nearness = signed if difference == "signed" else levels(np.abs(gap))
    uninformative = np.argsort(nearness, kind="stable")[:many]
    best_first = np.argsort(-signed, kind="stable")
    rest = best_first[~np.isin(best_first, uninformative)]
    ideal = rest[:many]
    notes = [*_borders(nearness, signed, uninformative, ideal)]
    better = rest[gap[rest] > 0]
    if (gap[ideal] <= 0).any():
        some = int(np.count_nonzero(gap[ideal] <= 0))
        notes.append(f"in {some} of {many} ideal queries the systems are no better than a random ranking")
    tell(notes)

    def named(chosen: Ints) -> tuple[QueryId, ...]:
        return tuple(queries[i] for i in chosen.tolist())

    both_low = np.maximum(real_values, expected_values)[uninformative] <= low
    both_high = np.minimum(real_values, expected_values)[uninformative] >= high
    return QueryTypes(
        queries=queries,
        real=real_values,
        expected=expected_values,
        uninformative=named(uninformative),
        ideal=named(ideal),
        informative=named(better),
        hard=named(uninformative[both_low]),
        easy=named(uninformative[both_high]),
        notes=tuple(notes),
    )


def _size(size: int | float, n: int) -> int:
    if n < 2:
        raise InputError(f"query types need at least 2 queries, there is {n}", remedy="evaluate more queries")
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    share = isinstance(size, float | np.floating) and 0 < size <= 0.5
    if not whole and not share:
        raise InputError(f"size={size!r} is not a number of queries", remedy="give an integer, or a share up to 0.5")
    many = int(size) if whole else max(1, int(size * n))
    if not 1 <= many <= n // 2:
        raise InputError(
            f"{many} uninformative and {many} ideal queries of {n}", remedy=f"give a size between 1 and {n // 2}"
        )
    return many


def _aligned(real: Any, expected: Any) -> tuple[tuple[QueryId, ...], Floats, Floats]:
    ids, values = _per_query(real, "real")
    other_ids, other = _per_query(expected, "expected")
    if ids is not None and other_ids is not None:
        place = {query: i for i, query in enumerate(other_ids)}
        for query in ids:
            if query not in place:
                raise InputError(f"query {query!r} has a real and no expected score", remedy="give it both")
        return ids, values, other[[place[query] for query in ids]]
    if len(values) != len(other):
        raise InputError(f"{len(values)} real and {len(other)} expected scores", remedy="give one of each per query")
    return ids or other_ids or tuple(range(len(values))), values, other


def _per_query(given: Any, what: str) -> tuple[tuple[QueryId, ...] | None, Floats]:
    ids: tuple[QueryId, ...] | None = None
    if isinstance(given, Scores):
        ids, cube = given.queries, given.values
    elif isinstance(given, Mapping):
        ids, cube = tuple(given), _numbers(list(given.values()), what)
    else:
        cube = _numbers(given, what)
    if not 1 <= cube.ndim <= 3:
        raise InputError(
            f"{what} scores of {cube.ndim} dimensions", remedy="give an array of queries, or runs × queries"
        )
    values = cube if cube.ndim == 1 else cube.mean(axis=0) if cube.ndim == 2 else cube.mean(axis=(0, 2))
    if not np.isfinite(values).all():
        bad = int(np.argmin(np.isfinite(values)))
        raise InputError(
            f"the {what} score of query {bad if ids is None else ids[bad]!r} is not finite",
            remedy="leave that query out, or give it a value",
        )
    return ids, values


def _numbers(given: Any, what: str) -> NDArray[np.float64]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} scores are not numbers", remedy="give Scores, {query: score} or an array of numbers"
        ) from None


def _borders(nearness: Ints, signed: Ints, uninformative: Ints, ideal: Ints) -> list[str]:
    """Sets that could as well be others, because queries tie at their border."""
    notes = []
    for name, level, chosen in (("uninformative", nearness, uninformative), ("ideal", signed, ideal)):
        equals = np.flatnonzero(level == level[chosen[-1]])
        outside = len(equals) - int(np.isin(equals, chosen).sum())
        if outside:
            notes.append(
                f"{outside} more of the queries are as {name} as the last one in that set: the first are in it"
            )
    return notes


def _range(values: Floats) -> tuple[float, float]:
    """0 to 1, or as far as the values go beyond it."""
    return min(0.0, float(values.min())), max(1.0, float(values.max()))
