"""Rankers on queries that they were not fitted to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples, Fold, folds_of, read_examples, together
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.choice import told_once
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import RunValues, ready_measures, run_values
from ranksift.evaluation.scores import Scores
from ranksift.learning.ranker import Ranker, checked_ranker, checked_rule
from ranksift.measures.classic import LEAST_AP
from ranksift.measures.cumulative import DCG, nDCG_f
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.measures.sets import SetF
from ranksift.parameters import function, integer, takes


def three_way(
    examples: Any, folds: int = 5, seed: int = 0, *, groups: Mapping[str, Hashable] | None = None
) -> list[Fold]:
    """Split queries into folds: each is the test set once, the next one is for validation, the rest for training.

    Parameters
    ----------
    examples
        As :func:`read_examples` takes them.
    folds
        The number of folds; at least three.
    seed
        The seed of the random split.
    groups
        The group of each query, if some queries are similar: queries of one group stay in one fold. Default: every
        query is its own group.

    Examples
    --------
    >>> from ranksift import Examples
    >>> examples = Examples.from_arrays([[0.0]] * 6, [0, 1] * 3, ["a", "a", "b", "b", "c", "c"])
    >>> [(len(f.train), len(f.test)) for f in three_way(examples, 3)]
    [(2, 2), (2, 2), (2, 2)]
    >>> examples = Examples.from_arrays([[0.0]] * 4, [0, 1, 1, 0], ["a", "b", "c", "d"])
    >>> [f.test.query_ids for f in three_way(examples, 3, groups={"a": 1, "b": 2, "c": 1, "d": 3})]
    [('d',), ('a', 'c'), ('b',)]
    """
    given = read_examples(examples)
    folds = number_of_folds(folds)
    if folds < 3:
        raise InputError(f"{folds} folds leave nothing to learn from", remedy="give three or more")
    fold = _fold_of_each(given, folds, seed, groups)
    found = []
    for f in range(folds):
        test, stop = fold == f, fold == (f + 1) % folds
        parts = (np.flatnonzero(mask) for mask in (~test & ~stop, stop, test))
        found.append(Fold(*(given.of_queries(part) for part in parts)))
    return found


def three_parts(
    examples: Any,
    shares: Sequence[float] = (0.64, 0.16, 0.20),
    seed: int = 0,
    *,
    groups: Mapping[str, Hashable] | str | None = None,
) -> Fold:
    """Split queries into parts for training, validation and test.

    Parameters
    ----------
    examples
        As :func:`read_examples` takes them.
    shares
        The shares of the queries; Carmel et al. 2022 use 64, 16 and 20 %.
    seed
        The seed of the random split.
    groups
        The group of each query, if some queries are similar: queries of one group stay in one part. A dictionary, or
        the name of a column if the examples are read from a table. Default: every query is its own group.

    Examples
    --------
    >>> from ranksift import Examples
    >>> examples = Examples.from_arrays([[0.0]] * 50, [0, 1] * 25, range(50))
    >>> [len(part) for part in three_parts(examples)]
    [32, 8, 10]
    """
    given, belongs = _with_groups(examples, groups)
    integer(0).check("seed", seed, 0)
    wanted = _shares(shares)
    group = np.arange(len(given.query_ids)) if belongs is None else np.array(_group_of_each(given, belongs))
    sizes = np.bincount(group)
    order = np.random.default_rng(seed).permutation(len(sizes))
    # Groups stand in a row in the order of the draw; a part has those whose middle lies in its share of the row.
    middle = np.empty(len(sizes))
    middle[order] = np.cumsum(sizes[order]) - sizes[order] / 2
    part = np.searchsorted(np.cumsum(wanted[:2]) * len(group), middle, side="right")[group]
    parts = [np.flatnonzero(part == p) for p in range(3)]
    if not all(map(len, parts)):
        what = f"{len(group)} queries" + f" in {len(sizes)} groups" * (belongs is not None)
        raise InputError(f"a part of {what} would be empty", source=given.name, remedy="give more of them")
    return Fold(*map(given.of_queries, parts))


def _shares(shares: Sequence[float]) -> Floats:
    remedy = "give three that sum to 1, as 0.64, 0.16, 0.20"
    try:
        found = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("shares that are not numbers", remedy=remedy) from None
    if found.shape != (3,) or not (found > 0).all() or not abs(found.sum() - 1.0) < 1e-9:
        raise InputError(f"shares of {' / '.join(f'{share:g}' for share in found.ravel()[:9])}", remedy=remedy)
    return found


def _with_groups(examples: Any, groups: Mapping[str, Hashable] | str | None) -> tuple[Examples, Any]:
    """Examples, and the group of each query, which may be one of their columns: that column is not a feature."""
    given = read_examples(examples)
    if groups is None or isinstance(groups, Mapping):
        return given, groups
    if not isinstance(groups, str):
        what = f"groups are a {type(groups).__name__}"
        raise InputError(what, remedy="give a dictionary {query: group}, or the name of a column")
    from ranksift.collection.readers.example_table import column_by_query

    if isinstance(examples, Examples):
        what = f"the column {groups!r} is not kept in the examples"
        raise InputError(what, source=given.name, remedy="give their file, or a dictionary {query: group}")
    sources = examples if isinstance(examples, list | tuple) else [examples]
    belongs = {query: group for one in sources for query, group in column_by_query(one, groups, given).items()}
    if groups in given.feature_names:
        given = given.of_features([name for name in given.feature_names if name != groups])
    return given, belongs


def _fold_of_each(examples: Examples, folds: int, seed: int, groups: Mapping[str, Hashable] | None) -> Ints:
    """The fold of each query, drawn by the seed; the same for all of a group."""
    queries = examples.query_ids
    if groups is None:
        return folds_of(len(queries), folds, seed)
    group = _group_of_each(examples, groups)
    count = max(group, default=-1) + 1
    if count < folds:
        what = f"{folds} folds of {count} groups of queries"
        raise InputError(what, source=examples.name, remedy="give at most as many folds as groups")
    return folds_of(count, folds, seed)[group]


def _group_of_each(examples: Examples, groups: Mapping[str, Hashable]) -> list[int]:
    """The group of each query, by its number."""
    absent = next((query for query in examples.query_ids if query not in groups), None)
    if absent is not None:
        raise InputError(f"query {absent!r} has no group", source=examples.name, remedy="give each query a group")
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(groups[query], len(numbers)) for query in examples.query_ids]


def number_of_folds(folds: Any) -> int:
    """The number of folds; anything but a whole number is refused.

    >>> number_of_folds(np.int64(3))
    3
    """
    integer().check("folds", folds, 5)
    return int(folds)


class Scored:
    """A ranker that was fitted to a fold, as its test queries show it; those without labels are left out.

    Equal scores are in the order of a run, so that values are those of the run that :meth:`Ranker.rank` gives; or with
    ``worst_first``, as something is to be chosen by them, in the worst order.

    Attributes
    ----------
    test
        The test documents that have a label.
    scores
        The scores of these documents.
    kept
        Those that the ranker's cutoff keeps; None: it has no cutoff.
    """

    def __init__(self, ranker: Ranker, fold: Fold, cutoff: Cutoff | None = None, *, worst_first: bool = False) -> None:
        model = ranker.clone().fit(fold.train, fold.validation)
        if cutoff is not None and fold.validation is not None:
            model.fit_cutoff(fold.validation, cutoff)
        judged = model.judged(fold.test)
        found = judged.worst_first(ranker.gains) if worst_first else judged.as_in_a_run()
        self.test = found.examples.of_queries(np.flatnonzero(found.examples.lengths > 0))
        self.scores, self.kept = found.scores, found.kept


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a ranker makes of queries that it was not fitted to: the one definition of its value on them.

    Attributes
    ----------
    queries
        Those with a label.
    lists
        Their documents by score.
    fold
        The fold of each query.
    kept
        The documents that cutoffs keep; None: there is no cutoff.
    asked
        The cutoff was asked for, so that all measures are of lists that it cut. One that a ranker brings by itself acts
        only on measures of filtered lists: the others are of its ranking.
    """

    queries: tuple[str, ...]
    lists: Lists
    fold: Ints
    kept: NDArray[np.bool_] | None = None
    asked: bool = False

    @classmethod
    def of(cls, parts: Sequence[Scored], ranker: Ranker, *, asked: bool = False) -> HeldOut:
        """Put the folds of a ranker together."""
        tests = together([part.test for part in parts])
        if not len(tests):
            raise InputError("no document of the test sets has a label", remedy="label some")
        scores = np.concatenate([part.scores for part in parts])
        lists = Lists.from_arrays(scores, tests.labels, tests.query, gains=ranker.gains)
        kept = None
        if any(part.kept is not None for part in parts):
            every = [np.ones(len(part.test), dtype=bool) if part.kept is None else part.kept for part in parts]
            kept = np.concatenate(every)[lists.row]
        fold = np.repeat(np.arange(len(parts)), [len(part.test.query_ids) for part in parts])
        return cls(tests.query_ids, lists, fold, kept, asked)

    def cut(self, rule: Cutoff, fold: Ints | None = None) -> HeldOut:
        """Drop documents by a rule that is fitted, for each fold of the queries, to the scores of the other folds.

        A rule that is fitted to the queries it is judged on looks better than it is.
        """
        own = self.fold if fold is None else fold
        if len(self.queries) < 2 or own.min() == own.max():
            raise InputError(
                "there are no other queries to fit a cutoff to", remedy="give more folds, or a validation set"
            )
        kept = np.empty(len(self.lists.score), dtype=bool)
        for f in np.unique(own).tolist():
            fitted = rule.clone().fit_lists(self.lists.of_queries(np.flatnonzero(own != f)))
            here = np.flatnonzero(own == f)
            kept[(own == f)[self.lists.query]] = fitted.keep_lists(self.lists.of_queries(here))
        return replace(self, kept=kept, asked=True)

    def values(self, measures: Sequence[Measure]) -> RunValues:
        """Of every query and measure."""
        found = run_values("", measures, self._judged(self.asked), self.queries)
        for m, measure in enumerate(measures):
            if self.kept is not None and not self.asked and of_filtered_lists(measure):
                own = run_values("", [measure], self._judged(True), self.queries)
                found.numerators[:, m], found.denominators[:, m] = own.numerators[:, 0], own.denominators[:, 0]
        return found

    def value(self, measure: Measure) -> float:
        """The measure of all queries together."""
        return float(measure.aggregate(*self._parts(measure)))

    def influences(self, measure: Measure) -> Floats:
        """What each query does to the measure: the mean is its value, and the spread tells its standard error."""
        top, bottom = self._parts(measure)
        if measure.aggregation == "sum":
            return len(top) * top
        if measure.aggregation == "micro":
            value, size = measure.aggregate(top, bottom), bottom.mean()
            return value + (top - value * bottom) / (size if size > 0 else 1.0)
        if measure.aggregation == "geometric":
            logarithms = np.log(np.maximum(measure.values(top, bottom), LEAST_AP))
            return np.asarray(measure.aggregate(top, bottom) * (1.0 + logarithms - logarithms.mean()))
        return measure.values(top, bottom)

    def _parts(self, measure: Measure) -> tuple[Floats, Floats]:
        found = self.values([measure])
        return found.numerators[:, 0], found.denominators[:, 0]

    def _judged(self, cut: bool) -> Any:
        everything = np.ones(len(self.lists.score), dtype=bool)
        return self.lists.judged_by(self.kept if cut and self.kept is not None else everything)


def of_filtered_lists(measure: Measure) -> bool:
    """Whether a measure is made for lists that leave documents out, as nDCG_f: dropping a document can raise it.

    >>> from ranksift.measures.names import parse_measure
    >>> of_filtered_lists(parse_measure("nDCG_f@3")), of_filtered_lists(parse_measure("nDCG@3"))
    (True, False)
    """
    return isinstance(measure, nDCG_f | DCG | SetF) or measure.family in ("filtering", "truncation")


@takes(progress=function())
def cross_validated(
    rankers: Mapping[str, Ranker] | Iterable[Ranker] | Ranker,
    folds: Sequence[Fold],
    measures: MeasureLike | Iterable[MeasureLike] = "nDCG@10 AP",
    *,
    cutoff: Cutoff | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Scores:
    """Fit rankers to each fold and judge them on its test queries: :class:`Scores`, with the rankers as runs.

    Parameters
    ----------
    rankers
        ``{name: ranker}``, or one or several rankers, which then have their own names. They are cloned, not fitted.
    folds
        As :func:`three_way` gives them, or a collection's own. No query may be in two test sets.
    measures
        As in :func:`evaluate`; gains are each ranker's own.
    cutoff
        A rule that drops documents of the test set. It is fitted to each ranker's scores of the validation set or, if
        folds have none, to those of the other test sets. Without a rule, a cutoff that a ranker has by itself, such as
        that of :class:`LambdaMARTf`, acts on measures of filtered lists.
    progress
        Wraps the (ranker, fold) pairs.

    Examples
    --------
    >>> from ranksift import Examples
    >>> from ranksift.learning import L2LogisticRegression
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(60, 2))
    >>> examples = Examples.from_arrays(x, (x[:, 0] > 0).astype(int), np.repeat(np.arange(12), 5))
    >>> scores = cross_validated([L2LogisticRegression()], three_way(examples, 3), "nDCG@3")
    >>> scores
    <Scores: 1 run × 12 queries × 1 measure>
    """
    named = _named([rankers] if isinstance(rankers, Ranker) else rankers)
    if not named:
        raise InputError("no ranker is given", remedy="give at least one")
    for ranker in named.values():
        checked_ranker(ranker)
    if cutoff is not None:
        checked_rule(cutoff)
    wanted = ready_measures(measures)
    twice = next((query for query, times in Counter(_tested(folds)).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"query {twice!r} is in two test sets", remedy="give folds with different test queries")
    stops = all(fold.validation is not None for fold in folds)
    rows = list(named.values())
    pairs = [(r, f) for f in range(len(folds)) for r in range(len(rows))]
    parts: list[list[Scored]] = [[] for _ in rows]
    with ExitStack() as remembered, told_once():
        for ranker in rows:
            remembered.enter_context(ranker.remembering())
        for r, f in progress(pairs):
            parts[r].append(Scored(rows[r], folds[f], cutoff if stops else None))
    found = []
    for ranker, own in zip(rows, parts, strict=True):
        held_out = HeldOut.of(own, ranker, asked=cutoff is not None)
        found.append((held_out if cutoff is None or stops else held_out.cut(cutoff)).values(wanted))
    queries = tuple(query for part in parts[0] for query in part.test.query_ids)
    top, bottom = (np.stack([getattr(f, side) for f in found]) for side in ("numerators", "denominators"))
    return Scores(tuple(named), queries, tuple(wanted), top, bottom)


def _tested(folds: Sequence[Fold]) -> list[str]:
    return [query for fold in folds for query in fold.test.query_ids]


def _named(rankers: Mapping[str, Ranker] | Iterable[Ranker]) -> dict[str, Ranker]:
    if isinstance(rankers, Mapping):
        return {str(name): ranker for name, ranker in rankers.items()}
    found: dict[str, Ranker] = {}
    for ranker in rankers:
        name = base = type(ranker).__name__
        for number in count(2):
            if name not in found:
                break
            name = f"{base} {number}"
        found[name] = ranker
    return found
