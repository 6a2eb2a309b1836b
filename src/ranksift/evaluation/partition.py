"""Some whole queries of a run, evaluated on their own: what every machine and every process of a large evaluation does.

:func:`evaluate_partition` is a pure function of a few rows. ``ranksift evaluate`` calls it for one part of a large file
after another; Ray, Spark and Dask call it where the rows are. :func:`scores_of_partitions` puts the parts together, in
any order, with the numbers of the whole to the last bit: each query's value is its own, and they are added up in one
order, that of the judgments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import JudgedRuns
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import OnDuplicate, Run, read_run
from ranksift.collection.run_facts import RunFacts
from ranksift.collection.run_parts import RunParts, Taken
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import RunValues, check_gains, nil_ids, not_finite, ready_measures
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike

# Queries without a list that are evaluated at once.
_UNANSWERED = 1 << 16


@dataclass(frozen=True, eq=False)
class Partition:
    """What :func:`evaluate_partition` found.

    Attributes
    ----------
    queries
        Those that may count: the judged ones, or those that were named.
    measures
        What the columns are.
    numerators, denominators
        Of every query and measure.
    answered
        The queries for which the run lists something.
    degenerate
        Queries × measures: where a measure cannot tell rankings apart.
    facts
        What notes about the run are made of.
    errors
        By the number of the measure, -1 for all of them: why there are no values. They are raised when all parts are
        there, so that it does not depend on the parts which one is.
    """

    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    numerators: Floats
    denominators: Floats
    answered: NDArray[np.bool_]
    degenerate: NDArray[np.bool_]
    facts: RunFacts
    errors: dict[int, InputError]


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
        All judgments and all documents of these queries: anything that :func:`read_qrels` and :func:`read_run` take, an
        Arrow table too. None where there are none.
    measures, gains, unjudged, on_duplicate, depth, rel, columns
        As in :func:`evaluate`.
    labels
        The distinct labels of the whole collection, which some measures ask for: ERR for the largest. None: these
        judgments are all.
    queries
        The queries that may count; None: those that are judged here.

    Examples
    --------
    >>> one = evaluate_partition({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, "RR ERR", labels=[0, 1, 4])
    >>> one.queries, one.numerators.tolist()
    (('q1',), [[0.5, 0.03125]])
    """
    wanted = list(dict.fromkeys(measure.at_level(rel) for measure in ready_measures(measures)))
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
) -> Partition:
    """Evaluate some whole queries of a run as ``given`` says; ``number`` as in :meth:`RunFacts.of`."""
    shape = (len(queries), len(measures))
    numerators, denominators = np.zeros(shape), np.ones(shape)
    degenerate = np.zeros(shape, dtype=bool)
    errors: dict[int, InputError] = {}
    run = given.shown(run)
    facts, answered = RunFacts.of(qrels, run, queries, number), np.zeros(len(queries), dtype=bool)
    try:
        judged = given.join(qrels, run, queries)
    except InputError as error:
        errors[-1] = error
    else:
        facts, answered = facts.joined(judged), judged.listed > 0
        for m, measure in enumerate(measures):
            try:
                numerators[:, m], denominators[:, m] = measure.per_query(judged)
                mask = measure.degenerate(judged.pool, measure.gains or given.gains)
            except InputError as error:
                errors[m] = error
            else:
                degenerate[:, m] = False if mask is None else mask
    return Partition(tuple(queries), tuple(measures), numerators, denominators, answered, degenerate, facts, errors)


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
        """All values, those of queries without a list too."""
        name, given = taken.name, self.given
        nothing = read_run({})
        rest = np.flatnonzero(~self.seen)
        for start in range(0, len(rest), _UNANSWERED):
            self._add(nothing, rest[start : start + _UNANSWERED], np.zeros(0, dtype=np.int64))
        strangers = given.strangers(self.facts, name)
        given.check_nil()
        check_gains(self.measures, given.qrels.pool, given.gains)
        for m, measure in enumerate((None, *self.measures), -1):
            if m in self.errors:
                raise self.errors[m]
            if measure is not None and not np.isfinite(self.numerators[:, m]).all():
                raise not_finite(measure, given.queries, self.numerators[:, m])
        notes = (*taken.notes, *strangers, *given.misfits(self.facts, name))
        return RunValues(name, self.numerators, self.denominators, self.answered, notes)

    def _add(self, run: Run, own: Ints, number: Ints) -> None:
        queries = [self.given.queries[i] for i in own.tolist()]
        part = partition_of(self.given, self.given.qrels.of_queries(queries), run, queries, self.measures, number)
        self.numerators[own], self.denominators[own] = part.numerators, part.denominators
        self.answered[own], self.seen[own] = part.answered, True
        self.facts = self.facts.beside(part.facts)
        self.errors = {**part.errors, **self.errors}
