"""Some whole queries of a run, evaluated on their own: what every machine and every process of a large evaluation does.

:func:`evaluate_partition` is a pure function of a few rows. ``ranksift evaluate`` calls it for one part of a large file
after another; Ray, Spark and Dask call it where the rows are. :func:`scores_of_partitions` puts the parts together, in
any order, with the numbers of the whole to the last bit: each query's value is its own, and they are added up in one
order, that of the judgments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import JudgedRuns, nobody_answers
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import OnDuplicate, Run, read_run
from ranksift.collection.run_facts import QrelsFacts, RunFacts, misfits, strangers
from ranksift.collection.run_parts import RunParts, Taken
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import (
    RunValues,
    check_gains,
    complaints_of_labels,
    likenesses,
    nil_ids,
    not_finite,
    ready_measures,
    same_measures,
)
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike

# Queries without a list that are evaluated at once.
_UNANSWERED = 1 << 16


@dataclass(frozen=True, eq=False)
class Partition:
    """The result of :func:`evaluate_partition`.

    Attributes
    ----------
    queries
        The queries that may count: the judged ones, or those that were named.
    measures
        The measures, one per column.
    numerators, denominators
        The values for every query and measure.
    answered
        The queries for which the run lists something.
    degenerate
        Queries × measures: where a measure cannot distinguish rankings.
    order
        A number for each query, which gives the order of the queries in the judgments.
    labels
        The labels of the whole collection.
    gains
        The gains of labels.
    facts, judgments
        The data from which notes about the run are made.
    likeness
        For each measure, a value that is equal for two measures that are the same.
    errors
        The reason why there are no values, by the number of the measure; -1 for all measures. An error is raised when
        all parts are there, so it does not depend on the parts which error is raised.
    """

    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    numerators: Floats
    denominators: Floats
    answered: NDArray[np.bool_]
    degenerate: NDArray[np.bool_]
    order: Ints
    labels: Floats
    gains: Gains
    facts: RunFacts
    judgments: QrelsFacts
    likeness: tuple[Hashable | None, ...]
    errors: dict[int, InputError]

    @property
    def collection(self) -> Pool:
        """A pool that has all labels of the collection, each once."""
        return Pool.of(np.array([0, len(self.labels)]), self.labels)


def evaluate_partition(
    qrels: Any,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    labels: ArrayLike | None = None,
    queries: Sequence[str] | None = None,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    on_duplicate: OnDuplicate = "error",
    depth: int | None = None,
    rel: float = 1,
    columns: Columns = None,
) -> Partition:
    """Evaluate some whole queries of a run.

    Parameters
    ----------
    qrels, run
        All judgments and all documents of these queries: anything that :func:`read_qrels` and :func:`read_run` take,
        including an Arrow table. None if there are none.
    measures, gains, unjudged, on_duplicate, depth, rel, columns
        As in :func:`evaluate`.
    labels
        The distinct labels of the whole collection, which some measures need: ERR needs the largest. None: these
        judgments are all there are.
    queries
        The queries that may count; None: those that are judged here.

    Examples
    --------
    >>> one = evaluate_partition({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, "RR ERR", labels=[0, 1, 4])
    >>> one.queries, one.numerators.tolist()
    (('q1',), [[0.5, 0.03125]])
    """
    wanted = ready_measures(measures, rel)
    judgments = read_qrels({} if qrels is None else qrels, on_duplicate=on_duplicate, columns=columns)
    if labels is not None:
        judgments = judgments.part_of(labels)
    given = JudgedRuns(
        judgments,
        (),
        judgments.query_ids if queries is None else tuple(queries),
        "qrels" if queries is None else "named",
        Gains.of(gains),
        unjudged,
        frozenset(nil_ids(wanted)),
        on_duplicate,
        depth,
        columns,
    )
    rows = read_run({} if run is None else run, on_duplicate=on_duplicate, columns=columns)
    return partition_of(given, judgments, rows, given.queries, wanted)


def partition_of(
    given: JudgedRuns,
    qrels: Qrels,
    run: Run,
    queries: Sequence[str],
    measures: Sequence[Measure],
    number: Ints | None = None,
    order: Ints | None = None,
    judged: Ints | None = None,
) -> Partition:
    """Evaluate some whole queries of a run as ``given`` says.

    ``number``, ``order`` and ``judged`` say in which order the queries of the run, those that may count, and those of
    the judgments come in the whole.
    """
    shape = (len(queries), len(measures))
    numerators, denominators = np.zeros(shape), np.ones(shape)
    degenerate = np.zeros(shape, dtype=bool)
    likeness: tuple[Hashable | None, ...] = (None,) * len(measures)
    errors: dict[int, InputError] = {}
    run = given.shown(run)
    facts, answered = RunFacts.of(qrels, run, queries, number), np.zeros(len(queries), dtype=bool)
    try:
        lists = given.join(qrels, run, queries)
        likeness = tuple(likenesses(measures, lists.pool, given.gains, _digest))
    except InputError as error:
        errors[-1] = error
    else:
        facts, answered = facts.joined(lists), lists.listed > 0
        for m, measure in enumerate(measures):
            try:
                numerators[:, m], denominators[:, m] = measure.per_query(lists)
                mask = measure.degenerate(lists.pool, measure.gains or given.gains)
            except InputError as error:
                errors[m] = error
            else:
                degenerate[:, m] = False if mask is None else mask
    return Partition(
        tuple(queries),
        tuple(measures),
        numerators,
        denominators,
        answered,
        degenerate,
        np.arange(len(queries)) if order is None else order,
        qrels.pool.all_labels,
        given.gains,
        facts,
        QrelsFacts.of(qrels, judged),
        likeness,
        errors,
    )


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def scores_of_partitions(
    partitions: Mapping[str, Sequence[Partition]],
    *,
    queries: Sequence[str] | None = None,
    which: Literal["qrels", "run", "named"] = "qrels",
) -> Scores:
    """Put the partitions of runs together: the same scores as from :func:`evaluate`, to the last bit.

    Parameters
    ----------
    partitions
        For each name of a run, all of its partitions, in any order. Together they contain all judged queries.
    queries
        All queries, in the order in which the judgments list them, in which values are added up. None: the partitions
        know the order, or are given in it.
    which
        Which queries count: those that are judged, those that every run answers ("run"), or those that were named.

    Examples
    --------
    >>> qrels, run = {"q1": {"a": 1}, "q2": {"b": 2}}, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 1.0}}
    >>> parts = [evaluate_partition({q: qrels[q]}, {q: run[q]}, "RR ERR", labels=[1, 2]) for q in ("q2", "q1")]
    >>> scores = scores_of_partitions({"bm25": parts}, queries=["q1", "q2"])
    >>> scores.queries, scores.mean_of("RR")
    (('q1', 'q2'), 0.75)
    """
    if not partitions or not all(partitions.values()):
        raise InputError("there is no partition", remedy="give all partitions of at least one run")
    runs = {name: together(parts, queries) for name, parts in partitions.items()}
    notes = [note for name, whole in runs.items() for note in checked(whole, name, which)]
    return scores_of_runs(tuple(runs), list(runs.values()), notes, which)


def scores_of_runs(names: Sequence[str], runs: Sequence[Partition], notes: Sequence[str], which: str) -> Scores:
    """The scores of runs, each of which is one partition."""
    first = runs[0]
    for name, whole in zip(names, runs, strict=True):
        if whole.queries != first.queries or whole.measures != first.measures:
            raise InputError(f"run {name!r} has other queries or measures", remedy="give all partitions of every run")
    answered = np.logical_and.reduce([whole.answered for whole in runs])
    counted = answered if which == "run" else np.ones(len(answered), dtype=bool)
    if not counted.any():
        raise nobody_answers()
    measures = tuple(str(measure) for measure in first.measures)
    degenerate = zip(measures, first.degenerate[counted].sum(axis=0).tolist(), strict=True)
    said = complaints_of_labels(first.measures, first.collection, first.gains)
    return Scores(
        tuple(names),
        tuple(np.array(first.queries, dtype=object)[counted].tolist()),
        first.measures,
        np.stack([whole.numerators[counted] for whole in runs]),
        np.stack([whole.denominators[counted] for whole in runs]),
        {name: count for name, count in degenerate if count},
        (*notes, *said, *same_measures(first.measures, first.likeness)),
    )


def together(parts: Sequence[Partition], queries: Sequence[str] | None = None) -> Partition:
    """One partition of several, with its queries in order."""
    names = np.array([query for part in parts for query in part.queries], dtype=object)
    if queries is None:
        place = np.argsort(np.concatenate([part.order for part in parts]), kind="stable")
    else:
        number = {query: i for i, query in enumerate(names.tolist())}
        if len(number) != len(queries) or not number.keys() <= set(queries):
            raise InputError(
                f"the partitions have {len(number)} queries, and {len(queries)} are named",
                remedy="give all partitions, and name all of their queries",
            )
        place = np.array([number[query] for query in queries], dtype=np.int64)

    def joined(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])[place]

    kinds = [part.likeness for part in parts]
    likeness = (None if None in kind else kind for kind in zip(*kinds, strict=True))
    errors: dict[int, InputError] = {}
    for part in reversed(parts):
        errors |= part.errors
    return Partition(
        tuple(names[place].tolist()),
        parts[0].measures,
        joined("numerators"),
        joined("denominators"),
        joined("answered"),
        joined("degenerate"),
        np.arange(len(place)),
        parts[0].labels,
        parts[0].gains,
        reduce(RunFacts.beside, [part.facts for part in parts]),
        reduce(QrelsFacts.beside, [part.judgments for part in parts]),
        tuple(likeness),
        errors,
    )


def checked(whole: Partition, name: str, which: str) -> tuple[str, ...]:
    """What a reader should know about a run; an error if it has no values."""
    unknown = strangers(whole.judgments, whole.facts, name, which)
    if -1 in whole.errors:
        raise whole.errors[-1]
    check_gains(whole.measures, whole.collection, whole.gains)
    check_values(whole.measures, whole.queries, whole.numerators, whole.errors)
    return *unknown, *misfits(whole.judgments, whole.facts, name, which, len(whole.queries))


def check_values(
    measures: Sequence[Measure], queries: Sequence[str], numerators: Floats, errors: Mapping[int, InputError]
) -> None:
    """Raise the error of the first measure that has one."""
    for m, measure in enumerate(measures):
        if m in errors:
            raise errors[m]
        if not np.isfinite(numerators[:, m]).all():
            raise not_finite(measure, queries, numerators[:, m])


def run_values_in_parts(given: JudgedRuns, measures: Sequence[Measure], parts: RunParts) -> RunValues:
    """The values of a run that is read in parts."""
    taker, taken = parts.feed(lambda: _Evaluating(given, measures))
    return taker.values(taken)


class _Evaluating:
    """Takes the parts of a run, and keeps the values of their queries."""

    def __init__(self, given: JudgedRuns, measures: Sequence[Measure]) -> None:
        self.given, self.measures = given, measures
        self.number = {query: i for i, query in enumerate(given.queries)}
        shape = (len(given.queries), len(measures))
        self.numerators, self.denominators = np.empty(shape), np.empty(shape)
        self.answered, self.seen = np.zeros((2, len(given.queries)), dtype=bool)
        self.facts = RunFacts()
        self.errors: dict[int, InputError] = {}

    def take(self, run: Run, number: Ints) -> None:
        """Evaluate the queries of a part."""
        known = [self.number[query] for query in run.query_ids if query in self.number]
        self._add(run, np.sort(np.array(known, dtype=np.int64)), number)

    def values(self, taken: Taken) -> RunValues:
        """All values, including those of queries without a list."""
        name, given = taken.name, self.given
        nothing = read_run({})
        rest = np.flatnonzero(~self.seen)
        for start in range(0, len(rest), _UNANSWERED):
            self._add(nothing, rest[start : start + _UNANSWERED], np.zeros(0, dtype=np.int64))
        strangers = given.strangers(self.facts, name)
        given.check_nil()
        check_gains(self.measures, given.qrels.pool, given.gains)
        if -1 in self.errors:
            raise self.errors[-1]
        check_values(self.measures, given.queries, self.numerators, self.errors)
        notes = (*taken.notes, *strangers, *given.misfits(self.facts, name))
        return RunValues(name, self.numerators, self.denominators, self.answered, notes)

    def _add(self, run: Run, own: Ints, number: Ints) -> None:
        queries = [self.given.queries[i] for i in own.tolist()]
        part = partition_of(self.given, self.given.qrels.of_queries(queries), run, queries, self.measures, number)
        self.numerators[own], self.denominators[own] = part.numerators, part.denominators
        self.answered[own], self.seen[own] = part.answered, True
        self.facts = self.facts.beside(part.facts)
        self.errors = {**part.errors, **self.errors}
