"""Evaluation on many machines: files are read on all cores, and each query is evaluated in one place."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ranksift import __version__
from ranksift.collection import ragged
from ranksift.collection.bucketed import part_without
from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import JudgedRuns, Queries, RunSource, distinct_names, run_sources
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import OnDuplicate
from ranksift.collection.run_parts import MEMORY, bytes_of
from ranksift.collection.shards import (
    Clash,
    Piece,
    gathered_qrels,
    gathered_run,
    groups_of,
    name_of,
    refuse_twice,
    scattered,
    shards_of,
)
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.evaluate import nil_ids, ready_measures
from ranksift.evaluation.partition import Partition, checked, scores_of_runs, together
from ranksift.evaluation.partitioned import Numbered, Partitioned, evaluate_bucket, named_in_buckets
from ranksift.evaluation.scores import Scores
from ranksift.files import display_name, size_of
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import function, integer, number, optional, takes
from ranksift.scale.cluster import connected, cores, on_one_core, ray

# The default memory for the rows of a task, and the least that is worth a separate task.
_MEMORY = 1 << 30
_LEAST = 1 << 24


@takes(progress=function(), depth=optional(integer(1), 1000), rel=number(), memory=optional(MEMORY, "1GB"))
def evaluate(
    qrels: Any,
    runs: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    address: str | None = None,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    on_duplicate: OnDuplicate = "error",
    depth: int | None = None,
    rel: float = 1,
    columns: Columns = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    memory: int | str | None = None,
) -> Scores:
    """Evaluate runs against judgments on a Ray cluster: :func:`ranksift.evaluate`, to the last bit.

    Parameters
    ----------
    qrels, runs
        Files that every machine of the cluster finds under the same path: one file, a folder of files or a pattern such
        as ``"runs/bm25-*.parquet"`` for the judgments and for each run. Files are read in parallel, but each file by a
        single task; rows of a query may be in any of them. Give several runs as a list, or as ``{name: run}``.
    measures, gains, unjudged, queries, on_duplicate, depth, rel, columns, progress
        As in :func:`ranksift.evaluate`.
    address
        ``HOST:PORT`` of the cluster's head, or ``"auto"`` on one of its machines. None: what ``RAY_ADDRESS`` names,
        otherwise Ray is started on the cores of this machine. An existing connection is used.
    memory
        How much memory the rows of a task may take; there is one task per core. None: a gigabyte.

    Examples
    --------
    >>> import tempfile, ranksift
    >>> folder = tempfile.mkdtemp()
    >>> ranksift.read_qrels({"q1": {"a": 1}, "q2": {"b": 2}}).save(f"{folder}/qrels.txt")
    >>> for shard, rows in {"part-0": {"q1": {"b": 2.0, "a": 1.0}}, "part-1": {"q2": {"b": 1.0}}}.items():
    ...     ranksift.read_run(rows).save(f"{folder}/{shard}.parquet")
    >>> evaluate(f"{folder}/qrels.txt", f"{folder}/part-*.parquet", "RR").mean_of("RR")
    0.75
    """
    wanted = ready_measures(measures, rel)
    how: dict[str, Any] = {"gains": gains, "unjudged": unjudged, "queries": queries, "depth": depth}
    how |= {"on_duplicate": on_duplicate, "columns": columns, "progress": progress, "memory": memory}
    scores = evaluate_on_ray(qrels, runs, wanted, address=address, **how).scores
    for note in scores.notes:
        warnings.warn(note, RankSiftWarning, stacklevel=3)
    return scores


def evaluate_on_ray(
    qrels: Any,
    runs: Any,
    measures: Sequence[Measure],
    *,
    address: str | None = None,
    queries: Queries = "qrels",
    on_duplicate: OnDuplicate = "error",
    columns: Columns = None,
    unjudged_label: float | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    memory: int | str | None = None,
    **how: Any,
) -> Partitioned:
    """Scores and all labels; ``unjudged_label`` marks a document as unjudged. Notes are kept, without warnings.

    The other parameters are those of :func:`evaluate`.
    """
    # How runs are joined; these judgments are placeholders.
    how |= {"nil": nil_ids(measures), "queries": queries, "on_duplicate": on_duplicate, "columns": columns}
    given = JudgedRuns.of({"q": {"d": 0}}, {}, **how)
    which: Any = queries if isinstance(queries, str) else "named"
    sources = run_sources(runs)
    judged, tables = shards_of(qrels), [shards_of(source) for source, _ in sources]
    names = [name_of(source) if name is None else name for source, name in sources]
    limit = _bytes(memory)
    with connected(address):
        size = max(sum(map(bytes_of, files)) for files in (judged, *tables))
        work = _Work(given, measures, max(-(-2 * size // limit), min(cores(), size // _LEAST), 1), limit, size)
        judgments = work.judgments(judged, display_name(qrels), unjudged_label)
        found: list[Partition] = []
        notes: list[str] = []
        for name, _, whole in zip(names, progress(sources), work.runs(tables, judgments, sources), strict=True):
            found.append(whole)
            notes += checked(whole, name, which)
    distinct = distinct_names(names, [source for source, _ in sources])
    return Partitioned(scores_of_runs(distinct, found, notes, which), judgments.labels)


def _bytes(memory: int | str | None) -> int:
    optional(MEMORY, "1GB").check("memory", memory)
    return (size_of(memory) if isinstance(memory, str) else memory) or _MEMORY


class _Judgments(NamedTuple):
    """The judgments of each bucket, on the cluster, and all labels."""

    buckets: list[Any]
    labels: Floats
    without: float | None


class _Pending(NamedTuple):
    """A run that is being evaluated: what is done when a group of files was read, and the buckets."""

    read: list[Any]
    buckets: list[Any]


class _Work:
    """An evaluation in so many buckets, of tables whose rows take so much memory at most."""

    def __init__(self, given: JudgedRuns, measures: Sequence[Measure], count: int, memory: int, size: int) -> None:
        self.given, self.count, self.memory = given, count, memory
        self.group = min(memory, max(_LEAST, size // (2 * cores())))
        self.how = ray.put((given, tuple(measures)))
        self.named = named_in_buckets(given, count)

    def scattered(self, files: Sequence[str], noun: str) -> tuple[list[Any], list[list[Any]]]:
        """For each group of files what says that it was read, and for each bucket its pieces."""
        how = noun, self.given.on_duplicate, self.given.columns, self.memory, self.count
        groups = [
            _scatter.options(num_returns=self.count + 1).remote(group, *how) for group in groups_of(files, self.group)
        ]
        return [each[-1] for each in groups], [[each[bucket] for each in groups] for bucket in range(self.count)]

    def judgments(self, files: Sequence[str], name: str, unjudged_label: float | None) -> _Judgments:
        """The judgments, each bucket where it was gathered."""
        read, buckets = self.scattered(files, "label")
        gathered = [_judged.remote(self.how, name, *pieces) for pieces in buckets]
        del buckets  # the pieces of a bucket go when it was gathered
        _check(read)
        found = ray.get([told for _, told in gathered])
        refuse_twice([clash for _, each in found for clash in each], files, "label", self.given.columns, name)
        labels = ragged.distinct(np.concatenate([own for own, _ in found]))
        if not len(labels):
            raise InputError("no judgment in it", source=name, remedy="give at least one row")
        return _Judgments([bucket for bucket, _ in gathered], labels, unjudged_label)

    def runs(
        self, tables: Sequence[Sequence[str]], judgments: _Judgments, sources: Sequence[RunSource]
    ) -> Iterator[Partition]:
        """All of a run in one partition, run after run; the next ones are begun where cores would wait."""
        labels = ray.put((judgments.labels, judgments.without))
        waiting: deque[_Pending] = deque()
        todo = deque(tables)
        for files, (source, _) in zip(tables, sources, strict=True):
            while todo and (not waiting or sum(len(each.read) for each in waiting) < 2 * cores()):
                waiting.append(self._begun(todo.popleft(), judgments, labels))
            pending = waiting.popleft()
            _check(pending.read)
            found = ray.get(pending.buckets)
            twice = [clash for _, each in found for clash in each]
            refuse_twice(twice, files, "score", self.given.columns, display_name(source))
            yield together([part for part, _ in found if part is not None])

    def _begun(self, files: Sequence[str], judgments: _Judgments, labels: Any) -> _Pending:
        read, buckets = self.scattered(files, "score")
        each = zip(judgments.buckets, self.named, buckets, strict=True)
        return _Pending(read, [_evaluated.remote(self.how, labels, own, named, *pieces) for own, named, pieces in each])


def _check(read: Sequence[Any]) -> None:
    """Wait until files were read; the error of the first of them wins, and machines have the same RankSift."""
    for ref in read:
        version = ray.get(ref)
        if version != __version__:
            what = f"a machine of the cluster has RankSift {version}, but this one has {__version__}"
            raise InputError(what, remedy="install the same version on all")


@ray.remote
def _scatter(files: Sequence[tuple[int, str]], *how: Any) -> Iterator[Piece | str]:
    on_one_core()
    yield from scattered(files, *how)
    yield __version__


@ray.remote(num_returns=2)
def _judged(how: Any, name: str, *pieces: Piece) -> tuple[Numbered[Qrels], tuple[Floats, list[Clash]]]:
    on_one_core()
    given, _ = how
    qrels, number, clashes = gathered_qrels(pieces, given.on_duplicate, name)
    return (qrels, number), (ragged.distinct(qrels.labels), clashes)


@ray.remote
def _evaluated(
    how: Any, labels: Any, judgments: Numbered[Qrels], named: Numbered[Sequence[str]] | None, *pieces: Piece
) -> tuple[Partition | None, list[Clash]]:
    on_one_core()
    given, measures = how
    qrels, judged = judgments
    run, number, clashes = gathered_run(pieces, given.on_duplicate)
    part = evaluate_bucket(given, (part_without(qrels, *labels), judged), (run, number), named, measures)
    return part, clashes
