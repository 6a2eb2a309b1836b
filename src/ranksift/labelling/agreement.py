"""Agreement of assessors: preference matrices, κ and α from the log of a project, or from plain arrays.

Every statistic here is a function of tallies that add up over queries, so that one bootstrap serves them all: draw
queries, add up their tallies, apply the function. Judgments of one query are not independent, and therefore the
bootstrap draws queries, not judgments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.labelling.records import Entry, Purpose, Tool

Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["none", "linear", "quadratic"]

#: What an assessor says about two documents, in the order of the paper's rows and columns.
PREFERENCES = (1.0, 0.0, -1.0)
PREFERENCE_NAMES = ("A>B", "A~B", "A<B")

#: Whose judgments are compared: those of people who did not know of each other's.
INDEPENDENT: tuple[Purpose, ...] = ("label", "overlap")

_ORDER: tuple[Purpose, ...] = ("label", "overlap", "verify", "adjudicate")
_MOST_CELLS = 4_000_000  # of a bootstrap in memory at once


class Estimate(NamedTuple):
    """A value with its interval; NaN if it is not defined, such as κ when everyone always gives the same answer."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """For JSON: undefined values are None."""
        return {name: float(x) if np.isfinite(x) else None for name, x in self._asdict().items()}


# -- statistics of plain arrays ----------------------------------------------------------------------------------------


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: Weights = "none",
    categories: Sequence[float] | None = None,
    queries: ArrayLike | None = None,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Cohen's κ of two assessors, unweighted or with weights that grow with the distance of categories.

    Parameters
    ----------
    first, second
        The answers of each assessor about the same items, as numbers; NaN if there is no answer.
    weights
        ``"linear"`` and ``"quadratic"`` count the distance of two answers in categories.
    categories
        All categories in their order; by default those that occur.
    queries
        The query to which each item belongs: the bootstrap resamples queries. By default, it resamples items.
    samples, seed, confidence
        The settings of the bootstrap interval (percentiles).

    Examples
    --------
    >>> cohen_kappa([1, 1, 0, 0, 1], [1, 0, 0, 0, 1], samples=0).value.__round__(3)
    0.615
    """
    values = np.stack([_numbers(first, "first"), _numbers(second, "second")], axis=1)
    values = _in_range(values, categories)
    groups = _groups(queries, len(values))
    both = np.isfinite(values).all(axis=1)  # a query without an item that both judged is not drawn
    groups = np.unique(groups[both], return_inverse=True)[1].reshape(-1)
    counts = _confusions(values[both], categories, groups, int(groups.max(initial=-1)) + 1)
    return _estimate(partial(_cohen, weights=weights), counts, None, samples, seed, confidence)


def fleiss_kappa(
    counts: ArrayLike,
    *,
    queries: ArrayLike | None = None,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Fleiss' κ of any number of assessors.

    If items have different numbers of assessors, each item counts the same, and items with one assessor are left out;
    with the same number for each, this is the κ of Fleiss (1971).

    Parameters
    ----------
    counts
        Items × categories: how many assessors chose the category.
    queries, samples, seed, confidence
        As in :func:`cohen_kappa`.

    Examples
    --------
    >>> fleiss_kappa([[3, 0], [0, 3], [2, 1]], samples=0).value.__round__(3)
    0.55
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all() or (table < 0).any():
        raise InputError("counts are not a table of items × categories", remedy="give one count per item and category")
    tallies, groups = _fleiss_tallies(table, _groups(queries, len(table)))
    return _estimate(_fleiss, tallies, groups, samples, seed, confidence)


def krippendorff_alpha(
    values: ArrayLike,
    *,
    level: Level = "nominal",
    queries: ArrayLike | None = None,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Krippendorff's α of any number of assessors, of whom not everyone has to judge everything.

    Parameters
    ----------
    values
        Assessors × items, as in Krippendorff's tables; NaN if an assessor gave no answer.
    level
        The distance of two values: ``"nominal"`` equal or not, ``"ordinal"`` by how many values lie between them,
        ``"interval"`` by their difference.
    queries, samples, seed, confidence
        As in :func:`cohen_kappa`.

    Examples
    --------
    >>> krippendorff_alpha([[1, 2, 3, np.nan], [1, 2, 2, 4], [1, 2, 3, 4]], samples=0).value.__round__(3)
    0.773
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise InputError("values are not a table of assessors × items", remedy="give one row per assessor")
    return _alpha_of(table.T, level, queries, samples, seed, confidence)


def chi_square(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """χ² (one degree of freedom, no continuity correction) and p of two ratios, such as agreed to disagreed pairs.

    It treats pairs as independent, as the paper does. They are not independent if one query gives many of them;
    :func:`difference` resamples queries instead.

    Examples
    --------
    >>> statistic, p = chi_square((745, 255), (547, 453))
    >>> round(statistic, 2), p < 0.001
    (85.72, True)
    """
    from scipy.special import chdtrc

    table = np.array([first, second], dtype=np.float64)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1.0)
    if (table < 0).any() or (expected == 0).any():
        return np.nan, np.nan
    statistic = float(((table - expected) ** 2 / expected).sum())
    return statistic, float(chdtrc(1, statistic))


# -- what assessors said about the same things -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Ratings:
    """Judgments of several assessors about the same documents or pairs of documents.

    Attributes
    ----------
    queries
        The ids of the queries.
    query
        The query of each unit, as an index into ``queries``.
    units
        The document or the two documents; of two, A is the one on the left of the first assessor who was asked about
        them, or of grades the one that the first assessor graded first.
    values
        Units × assessors; NaN if one said nothing. Of pairs: 1, 0 and −1 for A>B, A~B and A<B.
    raters
        For each query the names of its assessors, in the order of the columns: who labels comes before who overlaps.
    """

    queries: tuple[str, ...]
    query: Ints
    units: tuple[tuple[str, ...], ...]
    values: Floats
    raters: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.units)

    @property
    def people(self) -> tuple[str, ...]:
        """Everyone who gave an answer."""
        return tuple(sorted({name for names in self.raters for name in names}))

    def only(self, kept: NDArray[np.bool_]) -> Ratings:
        """Some of the units."""
        units = tuple(unit for unit, keep in zip(self.units, kept.tolist(), strict=True) if keep)
        return Ratings(self.queries, self.query[kept], units, self.values[kept], self.raters)

    def of(self, first: str, second: str) -> Floats:
        """The judgments of two assessors, one column each, for units that both judged."""
        columns = [[names.index(name) if name in names else -1 for names in self.raters] for name in (first, second)]
        chosen = np.array(columns, dtype=np.int64).reshape(2, -1)[:, self.query]
        found = np.take_along_axis(self.values, np.maximum(chosen, 0).T, axis=1) if len(self) else np.empty((0, 2))
        found = np.where(chosen.T < 0, np.nan, found)
        return np.asarray(found[np.isfinite(found).all(axis=1)])


def effective_entries(entries: Iterable[Entry]) -> list[Entry]:
    """The entries that count, task by task: without undone ones and without undos.

    The same as :func:`ranksift.labelling.judgments.effective`, with the times and notes of each judgment.
    """
    counting: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: (e.query_id, e.person, e.tool, _ORDER.index(e.purpose), e.number)):
        own = counting.setdefault(entry.task, [])
        if entry.judgment.kind != "undo":
            own.append(entry)
        elif own:
            own.pop()
    return [entry for own in counting.values() for entry in own]


def pairwise(entries: Iterable[Entry], *, inferred: bool = False, purposes: Sequence[Purpose] = INDEPENDENT) -> Ratings:
    """Preferences of at least two assessors about the same pair.

    Parameters
    ----------
    entries
        The log.
    inferred
        Also preferences that follow by transitivity; direct judgments of the pair take precedence, and contradictions
        are left out.
    purposes
        The purposes of the tasks that count.
    """
    found = _Collected()
    for query, people in _by_query(entries, "pairs", purposes):
        said = [_preferences(own) for _, own in people]
        position = {doc: i for i, doc in enumerate(dict.fromkeys(doc for one in said for pair in one for doc in pair))}
        shape = (len(people), len(position), len(position))
        tables = np.full(shape, np.nan)
        for table, one in zip(tables, said, strict=True):
            for (left, right), value in one.items():
                table[position[left], position[right]] = value
                table[position[right], position[left]] = -value
            if inferred:
                _close(table)
        swapped = np.zeros(shape[1:], dtype=bool)
        for one in reversed(said):  # the first assessor's sides come last, and stand
            for left, right in one:
                a, b = position[left], position[right]
                swapped[min(a, b), max(a, b)] = a > b
        found.add_pairs(query, [name for name, _ in people], list(position), tables, swapped)
    return found.ratings()


def from_grades(entries: Iterable[Entry], *, purposes: Sequence[Purpose] = INDEPENDENT) -> Ratings:
    """Preferences inferred from grades, as in the paper: the higher grade is preferred, equal ones are ties."""
    found = _Collected()
    for query, people in _by_query(entries, "grades", purposes):
        docs, values = _graded(people)
        with np.errstate(invalid="ignore"):
            tables = np.sign(values[:, :, None] - values[:, None, :])
        found.add_pairs(query, [name for name, _ in people], docs, tables, np.zeros(tables.shape[1:], dtype=bool))
    return found.ratings()


def grades(entries: Iterable[Entry], *, purposes: Sequence[Purpose] = INDEPENDENT) -> Ratings:
    """Grades that at least two assessors gave to the same document."""
    found = _Collected()
    for query, people in _by_query(entries, "grades", purposes):
        docs, values = _graded(people)
        found.add(query, [name for name, _ in people], [(doc,) for doc in docs], values.T)
    return found.ratings()


def flags(entries: Iterable[Entry], *, tool: Tool | None = None, purposes: Sequence[Purpose] = INDEPENDENT) -> Ratings:
    """Whether assessors flagged a document as forbidden (1) or not (0), of those that two or more have judged."""
    found = _Collected()
    for query, people in _by_query(entries, tool, purposes):
        said = [flagged(own) for _, own in people]
        docs = list(dict.fromkeys(doc for one in said for doc in one))
        values = np.array([[float(one[doc]) if doc in one else np.nan for one in said] for doc in docs])
        found.add(query, [name for name, _ in people], [(doc,) for doc in docs], values)
    return found.ratings()


def verification(entries: Iterable[Entry]) -> Ratings:
    """Pairs that a second assessor was given to verify, with the first assessor's answer or what follows from it."""
    log = list(entries)
    checked = {
        (e.query_id, frozenset((e.judgment.left, e.judgment.right)))
        for e in effective_entries(e for e in log if e.purpose == "verify")
        if e.judgment.kind == "prefer"
    }
    found = pairwise(log, inferred=True, purposes=("label", "overlap", "verify"))
    kept = [
        (found.queries[q], frozenset(unit)) in checked
        for q, unit in zip(found.query.tolist(), found.units, strict=True)
    ]
    return found.only(np.array(kept, dtype=bool))


def flagged(own: Iterable[Entry]) -> dict[str, bool]:
    """Whether each document in an assessor's answers was flagged."""
    found: dict[str, bool] = {}
    for entry in own:
        if entry.judgment.kind in ("prefer", "grade"):
            for doc in entry.judgment.question.items:
                found[doc] = found.get(doc, False) or doc in entry.judgment.forbidden
    return found


class Repeats(NamedTuple):
    """How often assessors were asked about a pair again, and how often they gave the same answer."""

    asked: int
    same: int


def repeats(entries: Iterable[Entry]) -> Repeats:
    """Pairs that one assessor judged again within a task: the paper's heap asks again."""
    last: dict[tuple[str, str, str], float] = {}
    asked = same = 0
    for entry in effective_entries(entries):
        value = _value(entry)
        if value is None:
            continue
        left, right = entry.judgment.left, str(entry.judgment.right)
        key = (entry.task, min(left, right), max(left, right))
        value = value if left < right else -value
        if key in last:
            asked, same = asked + 1, same + (last[key] == value)
        last[key] = value
    return Repeats(asked, same)


class Dispute(NamedTuple):
    """A unit about which assessors disagree."""

    query_id: str
    docs: tuple[str, ...]
    said: Mapping[str, float]


def disputes(ratings: Ratings) -> list[Dispute]:
    """Units on which assessors give opposite answers, the furthest apart first; a tie is not opposite."""
    if not len(ratings):
        return []
    finite = np.isfinite(ratings.values)
    low = np.where(finite, ratings.values, np.inf).min(axis=1)
    high = np.where(finite, ratings.values, -np.inf).max(axis=1)
    apart = high - low
    least = 2.0 if len(ratings.units[0]) == 2 else 1.0
    found = []
    for i in np.argsort(-apart, kind="stable").tolist():
        if apart[i] < least:
            break
        names = ratings.raters[ratings.query[i]]
        said = {name: float(v) for name, v in zip(names, ratings.values[i], strict=False) if np.isfinite(v)}
        found.append(Dispute(ratings.queries[ratings.query[i]], ratings.units[i], said))
    return found


# -- agreement ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Agreement:
    """How well assessors agree about one kind of judgment.

    Attributes
    ----------
    categories
        What can be said.
    units, queries, people
        The number of units judged by at least two assessors, the number of their queries, and the number of people.
    counts
        Answers of the first assessor × answers of the second, over all pairs of assessors.
    of_queries
        The same for each query.
    overall
        The share of agreeing judgments.
    untied
        The same for judgments in which both have a preference; NaN if the judgments are not preferences.
    kappa, kappa_linear, kappa_quadratic
        Cohen's κ; with more than two assessors over all pairs of them.
    fleiss
        Fleiss' κ.
    alpha_nominal, alpha_ordinal, alpha_interval
        Krippendorff's α.
    """

    categories: tuple[float, ...]
    units: int
    queries: int
    people: int
    counts: Ints
    of_queries: Ints
    overall: Estimate
    untied: Estimate
    kappa: Estimate
    kappa_linear: Estimate
    kappa_quadratic: Estimate
    fleiss: Estimate
    alpha_nominal: Estimate
    alpha_ordinal: Estimate
    alpha_interval: Estimate

    def matrix(self, *, symmetrised: bool = False) -> Floats:
        """The counts, each row divided by its sum: the probability that another assessor answers as in the column.

        Symmetrised, each judgment is counted from the side of both assessors and under both names of the documents.
        """
        counts: Floats = self.counts.astype(np.float64)
        if symmetrised:
            counts = counts + counts.T
            counts = counts + counts[::-1, ::-1] if self.categories == PREFERENCES else counts
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    @property
    def agreed(self) -> tuple[int, int]:
        """Agreeing and disagreeing judgments."""
        same = int(np.trace(self.counts))
        return same, int(self.counts.sum()) - same

    @property
    def agreed_untied(self) -> tuple[int, int]:
        """The same for judgments in which both have a preference."""
        same, other = _untied_counts(self.counts)
        return int(same), int(other)

    def estimates(self) -> dict[str, Estimate]:
        """Everything with an interval, by name."""
        return {name: getattr(self, name) for name in ESTIMATES}

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "categories": list(self.categories),
            "units": self.units,
            "queries": self.queries,
            "people": self.people,
            "counts": self.counts.tolist(),
            **{name: estimate.to_dict() for name, estimate in self.estimates().items()},
        }


#: Names of the estimates of an agreement, and what they are called.
ESTIMATES = {
    "overall": "overall agreement",
    "untied": "agreement without ties",
    "kappa": "Cohen's κ",
    "kappa_linear": "Cohen's κ, linear weights",
    "kappa_quadratic": "Cohen's κ, quadratic weights",
    "fleiss": "Fleiss' κ",
    "alpha_nominal": "Krippendorff's α, nominal",
    "alpha_ordinal": "Krippendorff's α, ordinal",
    "alpha_interval": "Krippendorff's α, interval",
}


def agreement_among(
    ratings: Ratings,
    categories: Sequence[float] | None = None,
    *,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Agreement:
    """All measures of agreement at once, with intervals from a bootstrap over queries.

    Parameters
    ----------
    ratings
        What :func:`pairwise`, :func:`from_grades`, :func:`grades` or :func:`flags` found.
    categories
        The categories, in order; by default the three preferences for pairs, and otherwise those that occur.
    samples, seed, confidence
        The settings of the bootstrap.
    """
    of_pairs = len(ratings) == 0 or len(ratings.units[0]) == 2
    chosen = tuple(categories) if categories is not None else PREFERENCES if of_pairs else None
    known = chosen or tuple(np.unique(ratings.values[np.isfinite(ratings.values)]).tolist())
    counts = _confusions(ratings.values, known, ratings.query, len(ratings.queries))
    both = counts.sum(axis=(1, 2)) > 0

    def drawn(statistic: Callable[[Floats], Floats], tallies: Floats) -> Estimate:
        return _estimate(statistic, tallies[both], None, samples, seed, confidence)

    of_units = _chosen(ratings.values, known)
    tallies, owners = _fleiss_tallies(of_units, ratings.query)
    per_query = _summed(tallies, owners, len(ratings.queries))
    coincidences = _summed(*_coincidences(of_units, ratings.query), len(ratings.queries))
    points = np.array(known)
    return Agreement(
        known,
        int((np.isfinite(ratings.values).sum(axis=1) > 1).sum()) if len(ratings) else 0,
        int(both.sum()),
        len({name for q in np.flatnonzero(both).tolist() for name in ratings.raters[q]}),
        counts.sum(axis=0).astype(np.int64),
        counts[both].astype(np.int64),
        drawn(_overall, counts),
        drawn(_untied, counts) if known == PREFERENCES else Estimate(np.nan, np.nan, np.nan),
        drawn(partial(_cohen, weights="none"), counts),
        drawn(partial(_cohen, weights="linear"), counts),
        drawn(partial(_cohen, weights="quadratic"), counts),
        drawn(_fleiss, per_query),
        drawn(partial(_alpha, level="nominal", points=points), coincidences),
        drawn(partial(_alpha, level="ordinal", points=points), coincidences),
        drawn(partial(_alpha, level="interval", points=points), coincidences),
    )


class Between(NamedTuple):
    """Agreement of two people."""

    first: str
    second: str
    units: int
    overall: float
    kappa: float


def between_people(ratings: Ratings, categories: Sequence[float] | None = None) -> list[Between]:
    """Agreement of each pair of people who judged something in common."""
    found = []
    for first, second in combinations(ratings.people, 2):
        values = ratings.of(first, second)
        if len(values):
            kappa = cohen_kappa(values[:, 0], values[:, 1], categories=categories, samples=0).value
            found.append(Between(first, second, len(values), float((values[:, 0] == values[:, 1]).mean()), kappa))
    return found


class Difference(NamedTuple):
    """Two agreements compared: how far apart with an interval over queries, and by the paper's χ²."""

    difference: Estimate
    chi_square: float
    p: float


def difference(
    first: Agreement,
    second: Agreement,
    *,
    ties: bool = True,
    samples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Difference:
    """The agreement of one tool minus that of another.

    Parameters
    ----------
    first, second
        The results of two tools, for example pairs and grades.
    ties
        False leaves out pairs that either assessor called a tie.
    samples, seed, confidence
        The settings of the bootstrap: queries of both are drawn independently.
    """
    statistic = _overall if ties else _untied
    random = np.random.default_rng(seed)
    whole = [float(statistic(np.asarray(a.counts, dtype=np.float64))) for a in (first, second)]
    drawn = [_resampled(statistic, a.of_queries.astype(np.float64), samples, random) for a in (first, second)]
    low, high = _ends(drawn[0] - drawn[1], confidence)
    compared = (first.agreed, second.agreed) if ties else (first.agreed_untied, second.agreed_untied)
    return Difference(Estimate(whole[0] - whole[1], low, high), *chi_square(*compared))


# -- from the log ------------------------------------------------------------------------------------------------------


def _by_query(
    entries: Iterable[Entry], tool: Tool | None, purposes: Sequence[Purpose]
) -> Iterator[tuple[str, list[tuple[str, list[Entry]]]]]:
    """Queries with at least two assessors, and their judgments; those who label come first."""
    said: dict[str, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in effective_entries(e for e in entries if e.purpose in purposes and tool in (None, e.tool)):
        said[entry.query_id][entry.person].append(entry)
    for query in sorted(said):
        people = sorted(said[query].items(), key=lambda one: (min(_ORDER.index(e.purpose) for e in one[1]), one[0]))
        if len(people) > 1:
            yield query, people


def _value(entry: Entry) -> float | None:
    """The preference for the left document, if there is one."""
    judgment = entry.judgment
    if judgment.kind != "prefer" or judgment.answer is None or judgment.right is None:
        return None
    return {"left": 1.0, "tie": 0.0, "right": -1.0}[judgment.answer]


def _preferences(own: Iterable[Entry]) -> dict[tuple[str, str], float]:
    """By (left, right), an assessor's last answer about each pair."""
    found: dict[tuple[str, str], float] = {}
    for entry in own:
        value = _value(entry)
        if value is not None:
            left, right = entry.judgment.left, str(entry.judgment.right)
            found.pop((right, left), None)
            found[left, right] = value
    return found


def _close(table: Floats) -> None:
    """Fill in what follows by transitivity; direct answers stay, and contradictions stay open."""
    reached = (table >= 0) | np.eye(len(table), dtype=bool)  # at least as good; NaN is not
    for _ in range(max(1, int(np.ceil(np.log2(max(len(table), 2)))))):
        reached = (reached.astype(np.float32) @ reached.astype(np.float32)) > 0
    mutual = reached & reached.T
    # Documents that reach each other are tied, unless a strict preference is among them: that is a cycle.
    strict: NDArray[np.bool_] = np.any(mutual & (table > 0), axis=1)
    torn: NDArray[np.bool_] = np.any(mutual & strict[None, :], axis=1)
    follows = np.where(reached & ~mutual, 1.0, np.where(reached.T & ~mutual, -1.0, np.nan))
    follows = np.where(mutual & ~torn[:, None], 0.0, follows)
    np.copyto(table, follows, where=np.isnan(table))


def _graded(people: Sequence[tuple[str, Sequence[Entry]]]) -> tuple[list[str], Floats]:
    """The documents in the order in which they were first graded, and grades as assessors × documents."""
    said = [
        {e.judgment.left: float(e.judgment.grade) for e in own if e.judgment.grade is not None} for _, own in people
    ]
    docs = list(dict.fromkeys(doc for one in said for doc in one))
    return docs, np.array([[one.get(doc, np.nan) for doc in docs] for one in said]).reshape(len(said), len(docs))


class _Collected:
    """Ratings in the making."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.raters: list[tuple[str, ...]] = []
        self.units: list[tuple[str, ...]] = []
        self.blocks: list[Floats] = []

    def add(self, query: str, people: Sequence[str], units: Sequence[tuple[str, ...]], values: Floats) -> None:
        """Add units that at least two people judged."""
        values = values.reshape(len(units), len(people))
        kept = np.isfinite(values).sum(axis=1) > 1
        if kept.any():
            self.queries.append(query)
            self.raters.append(tuple(people))
            self.units += [unit for unit, keep in zip(units, kept.tolist(), strict=True) if keep]
            self.blocks.append(values[kept])

    def add_pairs(
        self, query: str, people: Sequence[str], docs: Sequence[str], tables: Floats, swapped: NDArray[np.bool_]
    ) -> None:
        """Take pairs from tables documents × documents, one per assessor; ``swapped`` where the later one is A."""
        one, two = np.triu_indices(len(docs), 1)
        values = tables[:, one, two].T
        kept = np.isfinite(values).sum(axis=1) > 1
        one, two, values = one[kept], two[kept], values[kept]
        turn = swapped[one, two]
        values = np.where(turn[:, None], -values, values) + 0.0
        one, two = np.where(turn, two, one), np.where(turn, one, two)
        units = [(docs[a], docs[b]) for a, b in zip(one.tolist(), two.tolist(), strict=True)]
        self.add(query, people, units, values)

    def ratings(self) -> Ratings:
        """All of them."""
        columns = max((len(names) for names in self.raters), default=2)
        values = np.full((len(self.units), columns), np.nan)
        at = 0
        for block in self.blocks:
            values[at : at + len(block), : block.shape[1]] = block
            at += len(block)
        query = np.repeat(np.arange(len(self.blocks)), [len(block) for block in self.blocks])
        return Ratings(tuple(self.queries), query.astype(np.int64), tuple(self.units), values, tuple(self.raters))


# -- tallies and statistics --------------------------------------------------------------------------------------------


def _numbers(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"{name} is not a list of numbers", remedy="give one number per item")
    return array


def _in_range(values: Floats, categories: Sequence[float] | None) -> Floats:
    strange = [] if categories is None else sorted(set(values[np.isfinite(values)].tolist()) - set(categories))
    if strange:
        raise InputError(f"{strange[0]:g} is not among the categories", remedy="name every category that occurs")
    return values


def _groups(queries: ArrayLike | None, count: int) -> Ints:
    if queries is None:
        return np.arange(count)
    groups = np.unique(np.asarray(queries), return_inverse=True)[1].reshape(-1)
    if len(groups) != count:
        raise InputError(f"there are {len(groups)} queries for {count} items", remedy="name the query of each item")
    return np.asarray(groups, dtype=np.int64)


def _confusions(values: Floats, categories: Sequence[float] | None, groups: Ints, count: int) -> Floats:
    """Query × first × second: how often, over all pairs of assessors, the earlier column first."""
    known = np.unique(values[np.isfinite(values)]) if categories is None else np.array(categories, dtype=np.float64)
    order = np.argsort(known)
    place = np.searchsorted(known[order], values).clip(0, max(len(known) - 1, 0))
    code = np.where(np.isfinite(values), order[place] if len(known) else -1, -1)
    found = np.zeros(count * len(known) ** 2)
    for one, two in combinations(range(values.shape[1]), 2):
        both = (code[:, one] >= 0) & (code[:, two] >= 0)
        cell = (groups[both] * len(known) + code[both, one]) * len(known) + code[both, two]
        found += np.bincount(cell, minlength=len(found))
    return found.reshape(count, len(known), len(known))


def _chosen(values: Floats, categories: Sequence[float]) -> Floats:
    """Units × categories: how many assessors chose each."""
    return np.stack([(values == category).sum(axis=1) for category in categories], axis=1).astype(np.float64)


def _fleiss_tallies(counts: Floats, queries: Ints) -> tuple[Floats, Ints]:
    """For each unit with at least two assessors: a one, the share of agreeing pairs, the shares of the categories."""
    raters = counts.sum(axis=1)
    kept = raters > 1
    counts, raters = counts[kept], raters[kept]
    agreeing = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    return np.column_stack([np.ones(len(counts)), agreeing, counts / raters[:, None]]), queries[kept]


def _coincidences(counts: Floats, queries: Ints) -> tuple[Floats, Ints]:
    """For each unit with at least two values: Krippendorff's coincidences of categories."""
    raters = counts.sum(axis=1)
    kept = raters > 1
    counts, raters = counts[kept], raters[kept]
    pairs = counts[:, :, None] * counts[:, None, :]
    categories = np.arange(counts.shape[1])
    pairs[:, categories, categories] -= counts
    return pairs / (raters - 1)[:, None, None], queries[kept]


def _summed(tallies: Floats, owners: Ints, count: int) -> Floats:
    """Tallies of units, added up by query."""
    found = np.zeros((count, *tallies.shape[1:]))
    np.add.at(found, owners, tallies)
    return found


def _overall(counts: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1)))


def _untied_counts(counts: NDArray[Any]) -> tuple[Any, Any]:
    """Agreeing and disagreeing where both prefer one of the two."""
    same = counts[..., 0, 0] + counts[..., 2, 2]
    return same, counts[..., 0, 2] + counts[..., 2, 0]


def _untied(counts: Floats) -> Floats:
    same, other = _untied_counts(counts)
    with np.errstate(invalid="ignore"):
        return np.asarray(same / (same + other))


def _cohen(counts: Floats, weights: Weights) -> Floats:
    steps = np.abs(np.subtract.outer(np.arange(counts.shape[-1]), np.arange(counts.shape[-1]))).astype(np.float64)
    cost = (steps > 0).astype(np.float64) if weights == "none" else steps if weights == "linear" else steps**2
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    seen = (counts * cost).sum(axis=(-2, -1)) * counts.sum(axis=(-2, -1))
    expected = np.einsum("...i,ij,...j->...", rows, cost, columns)
    return _one_less(seen, expected)


def _fleiss(tallies: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        means = tallies[..., 1:] / tallies[..., :1]
        by_chance = (means[..., 1:] ** 2).sum(axis=-1)
        return _one_less(1 - means[..., 0], 1 - by_chance)


def _alpha(coincidences: Floats, level: Level, points: Floats) -> Floats:
    each = coincidences.sum(axis=-1)
    total = each.sum(axis=-1)
    order = np.argsort(points)
    if level == "ordinal":
        # Half a category and all below it: differences are Krippendorff's sums over the categories in between.
        place = np.empty_like(each)
        place[..., order] = np.cumsum(each[..., order], axis=-1) - each[..., order] / 2
    else:
        place = np.broadcast_to(points, each.shape)
    apart = (place[..., :, None] - place[..., None, :]) ** 2
    if level == "nominal":
        apart = (apart > 0).astype(np.float64)
    seen = (coincidences * apart).sum(axis=(-2, -1)) * (total - 1)
    expected = (each[..., :, None] * each[..., None, :] * apart).sum(axis=(-2, -1))
    return _one_less(seen, expected)


def _one_less(seen: Floats, expected: Floats) -> Floats:
    """1 − seen / expected; NaN if chance alone can never disagree."""
    possible = expected > 1e-12
    return np.where(possible, 1 - seen / np.where(possible, expected, 1.0), np.nan)


def _alpha_of(
    values: Floats, level: Level, queries: ArrayLike | None, samples: int, seed: int, confidence: float
) -> Estimate:
    known = np.unique(values[np.isfinite(values)])
    groups = _groups(queries, len(values))
    coincidences, owners = _coincidences(_chosen(values, known.tolist() or [0.0]), groups)
    statistic = partial(_alpha, level=level, points=known if len(known) else np.zeros(1))
    return _estimate(statistic, coincidences, owners, samples, seed, confidence)


def _estimate(
    statistic: Callable[[Floats], Floats],
    tallies: Floats,
    owners: Ints | None,
    samples: int,
    seed: int,
    confidence: float,
) -> Estimate:
    """A statistic of all tallies, and percentiles of those of tallies that are drawn with replacement."""
    if owners is not None:
        present, index = np.unique(owners, return_inverse=True)
        tallies = _summed(tallies, index.reshape(-1), len(present))
    if not len(tallies):
        return Estimate(np.nan, np.nan, np.nan)
    value = float(statistic(tallies.sum(axis=0)))
    drawn = _resampled(statistic, tallies, samples, np.random.default_rng(seed))
    return Estimate(value, *_ends(drawn, confidence))


def _resampled(
    statistic: Callable[[Floats], Floats], tallies: Floats, samples: int, random: np.random.Generator
) -> Floats:
    """The statistic of each bootstrap sample; nothing is drawn if there is one query only."""
    count = len(tallies)
    if count < 2 or samples < 1:
        return np.full(max(samples, 0), np.nan)
    flat, at_once, found = tallies.reshape(count, -1), max(1, _MOST_CELLS // count), []
    for start in range(0, samples, at_once):
        often = random.multinomial(count, np.full(count, 1 / count), size=min(at_once, samples - start))
        found.append(statistic((often.astype(np.float64) @ flat).reshape(len(often), *tallies.shape[1:])))
    return np.concatenate(found)


def _ends(drawn: Floats, confidence: float) -> tuple[float, float]:
    usable = drawn[np.isfinite(drawn)]
    # Where the statistic often cannot be computed, percentiles of the rest would mislead.
    if not len(drawn) or len(usable) < 0.9 * len(drawn):
        return np.nan, np.nan
    low, high = np.quantile(usable, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
