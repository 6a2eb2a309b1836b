"""Judgments that are larger than memory: they and the runs are split on the disk, and evaluated part after part."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ranksift.collection.bucketed import BucketedQrels, CannotBeSplitError, bucketed_qrels, bucketed_run, buckets_of
from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import JudgedRuns, Queries, RunSource, distinct_names, run_sources
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.readers.formats import stem
from ranksift.collection.run import OnDuplicate, Run
from ranksift.collection.run_parts import memory_for
from ranksift.evaluation.evaluate import nil_ids
from ranksift.evaluation.partition import Partition, checked, partition_of, scores_of_runs, together
from ranksift.evaluation.scores import Scores
from ranksift.files import STANDARD, display_name
from ranksift.measures.measure import Measure

T = TypeVar("T")

#: What is of some queries, with the numbers by which these come in the whole.
Numbered: TypeAlias = tuple[T, Ints]


class Partitioned(NamedTuple):
    """Scores, and all labels of the judgments."""

    scores: Scores
    labels: Floats


def evaluate_in_partitions(
    qrels: Any,
    runs: Any,
    measures: Sequence[Measure],
    *,
    memory: int | str | None,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    on_duplicate: OnDuplicate = "error",
    depth: int | None = None,
    columns: Columns = None,
    unjudged_label: float | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Partitioned | None:
    """Evaluate runs against judgments, with only a part of the judgments in memory at a time.

    None if the judgments fit into memory, or if some of the files cannot be split. The parameters are those of
    :func:`evaluate`; ``unjudged_label`` marks a document as unjudged.
    """
    limit = memory_for(qrels, memory)
    sources = run_sources(runs)
    if limit is None or not all(isinstance(source, str | os.PathLike) for source, _ in sources):
        return None
    which: Any = queries if isinstance(queries, str) else "named"
    how: dict[str, Any] = {"gains": gains, "unjudged": unjudged, "nil": nil_ids(measures), "depth": depth}
    # How runs are joined; these judgments are placeholders.
    given = JudgedRuns.of({"q": {"d": 0}}, {}, queries=queries, on_duplicate=on_duplicate, columns=columns, **how)
    names: list[str] = []
    found: list[Partition] = []
    notes = [f"{display_name(qrels)!r}: judgments and runs were sorted on disk"]
    try:
        with bucketed_qrels(qrels, [source for source, _ in sources], on_duplicate, columns, limit) as judgments:
            if not len(judgments.labels):
                return None
            for run in progress(sources):
                name, whole = _evaluated(given, judgments, run, measures, limit, unjudged_label)
                names.append(name)
                found.append(whole)
                notes += checked(whole, name, which)
    except CannotBeSplitError:
        return None
    distinct = distinct_names(names, [source for source, _ in sources])
    return Partitioned(scores_of_runs(distinct, found, notes, which), judgments.labels)


def _evaluated(
    given: JudgedRuns,
    judgments: BucketedQrels,
    run: RunSource,
    measures: Sequence[Measure],
    memory: int,
    unjudged_label: float | None,
) -> tuple[str, Partition]:
    """The name of a run, and the whole run as one partition."""
    parts = []
    named = named_in_buckets(given, judgments.count)
    with bucketed_run(run.source, given.on_duplicate, given.columns, memory, judgments.count) as listed:
        for bucket in range(judgments.count):
            part = evaluate_bucket(
                given, judgments.part(bucket, unjudged_label), listed.part(bucket), named[bucket], measures
            )
            parts += [] if part is None else [part]
        listed.finish()
        tag = (listed.tag or "stdin") if os.fspath(run.source) == STANDARD else stem(run.source)
    return tag if run.name is None else run.name, together(parts)


def named_in_buckets(given: JudgedRuns, count: int) -> list[Numbered[Sequence[str]] | None]:
    """The queries in each of the buckets, if they were named; None if the judged ones count."""
    if given.which != "named":
        return [None] * count
    bucket = buckets_of(given.queries, count)
    names = np.array(given.queries, dtype=object)
    orders = (np.flatnonzero(bucket == b) for b in range(count))
    return [(names[order].tolist(), order) for order in orders]


def evaluate_bucket(
    given: JudgedRuns,
    judgments: Numbered[Qrels],
    lists: Numbered[Run],
    named: Numbered[Sequence[str]] | None,
    measures: Sequence[Measure],
) -> Partition | None:
    """Evaluate the queries of a bucket, each with its number in the whole collection; None if there are none."""
    (qrels, judged), (run, number) = judgments, lists
    queries, order = (qrels.query_ids, judged) if named is None else named
    if not len(queries) and not len(run):
        return None
    return partition_of(given, qrels, run, queries, measures, number, order, judged)
