"""Runs and judgments in, scores out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import ZERO_AS_FORBIDDEN, Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun, Unjudged
from ranksift.collection.judged_runs import JudgedRuns, Queries
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import OnDuplicate
from ranksift.collection.run_parts import MEMORY, memory_for
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike, parse_measures
from ranksift.parameters import function, integer, number, optional, path, takes


@dataclass(frozen=True, eq=False)
class RunValues:
    """The kept results of a run.

    Attributes
    ----------
    name
        The name of the run.
    numerators, denominators
        The values for every query and measure.
    answered
        The queries for which the run lists something.
    notes
        Remarks about the run.
    """

    name: str
    numerators: Floats
    denominators: Floats
    answered: NDArray[np.bool_]
    notes: Sequence[str]


@takes(
    progress=function(),
    cache=optional(path()),
    depth=optional(integer(1), 1000),
    rel=number(),
    memory=optional(MEMORY, "2GB"),
)
def evaluate(
    qrels: Any,
    runs: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    on_duplicate: OnDuplicate = "error",
    depth: int | None = None,
    rel: float = 1,
    columns: Columns = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
) -> Scores:
    """Evaluate runs against judgments.

    Parameters
    ----------
    qrels
        Anything that :func:`read_qrels` takes.
    runs
        A run (anything that :func:`read_run` takes), a list of them, or ``{name: run}``.
    measures
        Names or objects; a string may hold several.
    gains
        The gains of labels: ``"linear"``, ``"exp"`` or a mapping such as ``{-2: -10}``, with linear gains for all other
        labels. A measure's own ``gains`` take precedence.
    unjudged
        ``"zero"``: an unjudged document keeps its rank with gain 0; ``"drop"``: it is removed first.
    queries
        ``"qrels"``: every judged query counts, an unanswered one as an empty list; ``"run"``: only queries that
        the run answers (trec_eval without ``-c``; with several runs, queries that all of them answer); or a
        list of ids.
    on_duplicate
        What to do if a file lists a document twice for a query: see :func:`read_run`.
    depth
        How many documents at the top of each list count (trec_eval's ``-M``); None for all.
    rel
        The smallest label that counts as relevant, for all measures with a parameter ``rel`` (trec_eval's ``-l``). A
        measure's own ``rel`` takes precedence if it is not 1.
    columns
        The column names of tables, if they differ from the usual ones: ``{"query": "qid", "doc": "pid"}``.
    progress
        Wraps the runs as they are read and evaluated, one after another.
    cache
        A folder in which the values of every run file are kept: an interrupted evaluation that is started again
        continues with the first run that is missing there.
    memory
        How much memory the rows of a file may use, such as ``"2GB"``. A file that would use more is read a few queries
        at a time, with the same results. None: half of the free memory.

    Examples
    --------
    >>> qrels = {"q1": {"good": 2, "bad": -2}, "q2": {"ok": 1}}
    >>> run = {"q1": {"good": 9.0, "bad": 5.0}, "q2": {"ok": 3.0}}
    >>> evaluate(qrels, run, ["nDCG_f@10", "AP"]).mean()["nDCG_f@10"].round(4).to_list()
    [0.8423]
    """
    wanted = ready_measures(measures, rel)
    how: dict[str, Any] = {"gains": gains, "unjudged": unjudged, "queries": queries, "depth": depth}
    how |= {"on_duplicate": on_duplicate, "columns": columns}
    scores = None
    if cache is None and memory_for(qrels, memory) is not None:
        from ranksift.evaluation.partitioned import evaluate_in_partitions

        found = evaluate_in_partitions(qrels, runs, wanted, memory=memory, progress=progress, **how)
        scores = None if found is None else found.scores
    if scores is None:
        given = JudgedRuns.of(qrels, runs, nil=nil_ids(wanted), **how)
        scores = scores_of(given, wanted, progress=progress, cache=cache, memory=memory)
    for note in scores.notes:
        warnings.warn(note, RankSiftWarning, stacklevel=3)
    return scores


def scores_of(
    given: JudgedRuns,
    measures: Sequence[Measure],
    *,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
) -> Scores:
    """Apply measures to runs that are joined with their judgments. Notes are kept, without warnings."""
    shape = (len(given), len(given.queries), len(measures))
    numerators, denominators = np.empty(shape), np.empty(shape)
    names: list[str] = []
    notes: list[str] = []
    answered = np.ones(len(given.queries), dtype=bool)

    def values_of(r: int) -> RunValues:
        parts = given.in_parts(r, memory)
        if parts is not None:
            from ranksift.evaluation.partition import run_values_in_parts

            return run_values_in_parts(given, measures, parts)
        name, judged, told = given[r]
        return run_values(name, measures, judged, given.queries, told)

    recall = None
    if cache is not None:
        from ranksift.evaluation.cache import Cache

        settings = [str(m) for m in measures], given.settings
        recall = Cache(cache, given.qrels, settings).values
    for r, (source, name) in enumerate(progress(given.sources)):
        # One run at a time: what is kept of it are its values.
        compute = partial(values_of, r)
        values = recall(source, name, compute) if recall else compute()
        names.append(values.name)
        notes += values.notes
        answered &= values.answered
        numerators[r], denominators[r] = values.numerators, values.denominators
    counted = given.counted(answered)
    if not counted.all():
        # In C's order, as where a run comes in parts: in another one numpy adds up in another one.
        numerators, denominators = (np.compress(counted, each, axis=1) for each in (numerators, denominators))
    return Scores(
        given.distinct(names),
        tuple(np.array(given.queries, dtype=object)[counted].tolist()),
        tuple(measures),
        numerators,
        denominators,
        degenerate_queries(measures, given.pool, given.gains, counted),
        (*notes, *complaints(measures, given.pool, given.gains)),
    )


def run_values(
    name: str, measures: Sequence[Measure], judged: JudgedRun, queries: Sequence[str], notes: Sequence[str] = ()
) -> RunValues:
    """Apply all measures to a run."""
    check_gains(measures, judged.pool, judged.gains)
    shape = (len(queries), len(measures))
    numerators, denominators = np.empty(shape), np.empty(shape)
    for m, measure in enumerate(measures):
        numerators[:, m], denominators[:, m] = top, _ = measure.per_query(judged)
        if not np.isfinite(top).all():
            raise not_finite(measure, queries, top)
    return RunValues(name, numerators, denominators, judged.listed > 0, notes)


def check_gains(measures: Iterable[Measure], pool: Pool, gains: Gains) -> None:
    """Refuse labels whose gains are too large; which one is named does not depend on their positions."""
    for given in dict.fromkeys(measure.gains or gains for measure in measures):
        given(pool.all_labels)


def not_finite(measure: Measure, queries: Sequence[str], values: Floats) -> InputError:
    """The error for the first query whose value is not finite."""
    bad = queries[int(np.argmin(np.isfinite(values)))]
    return InputError(f"{measure} of query {bad!r} is not finite", remedy="labels or gains are too large for it")


def degenerate_queries(
    measures: Iterable[Measure], pool: Pool, gains: Gains, counted: NDArray[np.bool_] | slice = slice(None)
) -> dict[str, int]:
    """For some measures the number of counted queries in which they cannot distinguish rankings."""
    masks = {str(measure): measure.degenerate(pool, measure.gains or gains) for measure in measures}
    return {name: int(mask[counted].sum()) for name, mask in masks.items() if mask is not None and mask[counted].any()}


def complaints(measures: Iterable[Measure], pool: Pool, gains: Gains) -> list[str]:
    """What a reader should know about the labels: gains of labels that no document has, broken assumptions of measures.

    Measures that differ only in what a forbidden document does are named where no document is forbidden.
    """
    wanted = list(measures)
    return [*complaints_of_labels(wanted, pool, gains), *same_measures(wanted, likenesses(wanted, pool, gains))]


def complaints_of_labels(measures: Sequence[Measure], pool: Pool, gains: Gains) -> list[str]:
    """Gains of labels that no document has, and broken assumptions of measures."""
    unused = [given.unused(pool.all_labels) for given in dict.fromkeys([gains, *(m.gains or gains for m in measures)])]
    words = {measure: measure.complaint(pool, measure.gains or gains) for measure in measures}
    return [*filter(None, unused), *(f"{measure}: {word}" for measure, word in words.items() if word)]


def likenesses(
    measures: Sequence[Measure], pool: Pool, gains: Gains, digest: Callable[[bytes], bytes] = bytes
) -> list[Hashable | None]:
    """For each measure a value equal for measures that are the same because no document is forbidden, or None."""
    found: list[Hashable | None] = []
    for measure in measures:
        own = measure.gains or gains
        bounds = None if (own(pool.all_labels) < 0).any() else measure.bounds(pool, own)
        parts = () if bounds is None else (digest(bound.tobytes()) for bound in bounds)
        found.append(None if bounds is None else (measure.k, measure.base, measure.nil, own, *parts))
    return found


def same_measures(measures: Sequence[Measure], likeness: Sequence[Hashable | None]) -> Iterator[str]:
    """A note about normalised DCGs that are one and the same because no document is forbidden."""
    alike: dict[Hashable, list[str]] = {}
    for measure, same in zip(measures, likeness, strict=True):
        if same is not None:
            alike.setdefault(same, []).append(str(measure))
    for names in alike.values():
        if len(names) > 1:
            same = f"{', '.join(names[:-1])} and {names[-1]} are the same here"
            yield f"{same}: no judged document is forbidden; {ZERO_AS_FORBIDDEN}"


def ready_measures(measures: MeasureLike | Iterable[MeasureLike], rel: float = 1) -> list[Measure]:
    """Measures by name or object, each with the cutoff that it needs, and with the smallest relevant label."""
    wanted = parse_measures(measures)
    for measure in wanted:
        if measure.needs_k and measure.k is None:
            raise InputError(f"{measure} needs a cutoff", remedy=f"write {measure}@10")
    return list(dict.fromkeys(measure.at_level(rel) for measure in wanted))


def nil_ids(measures: Iterable[Measure]) -> set[str]:
    """The document ids that some measure takes as "no answer"."""
    return {measure.nil for measure in measures if measure.nil is not None}
