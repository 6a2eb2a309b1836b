"""Judgments and runs that are both larger than memory: on the disk, a query of both in the same bucket."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ranksift.collection import ragged
from ranksift.collection._engine.grouping import OnDuplicate, by_rank
from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.parts import Buckets, NotInPartsError, Parts, bucket_of, buckets_for
from ranksift.collection.qrels import Qrels, refuse_large_label
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.readers.column_names import Columns
from ranksift.collection.run import Run
from ranksift.collection.run_parts import bytes_of, part_of
from ranksift.files import STANDARD, display_name
from ranksift.spool import Spool

CannotBeSplitError = NotInPartsError


class BucketedQrels:
    """Judgments, those of some queries in each bucket.

    Attributes
    ----------
    labels
        All that there are.
    count
        How many buckets.
    """

    def __init__(self, buckets: Buckets, name: str) -> None:
        self.name, self.count, self._buckets = name, len(buckets), buckets
        self.labels: Floats = np.zeros(0)
        for rows, _ in buckets:
            refuse_large_label(rows, name)
            self.labels = ragged.distinct(np.concatenate([self.labels, rows.values]))
        buckets.finish()

    def part(self, bucket: int, unjudged_label: float | None = None) -> tuple[Qrels, Ints]:
        """The judgments of a bucket, and by which numbers its queries come in the file; without a label, if asked."""
        rows, number = self._buckets.chunk(bucket)
        return part_without(Qrels(rows, False, self.name), self.labels, unjudged_label), number


def part_without(part: Qrels, labels: Floats, unjudged_label: float | None) -> Qrels:
    """Judgments as a part of those that have these labels; without one of them, if that says "unjudged"."""
    if unjudged_label is not None:
        part, labels = part.without_label(unjudged_label), labels[labels != unjudged_label]
    return part.part_of(labels)


def buckets_of(queries: Sequence[str], count: int) -> Ints:
    """The bucket of each query.

    >>> buckets_of(["q1", "q2"], 1).tolist()
    [0, 0]
    """
    return bucket_of(Ids.from_strings(queries).hashes(), count)


class BucketedRun:
    """A run, some queries in each bucket."""

    def __init__(self, buckets: Buckets, tag: str | None) -> None:
        self.tag, self._buckets = tag, buckets

    def part(self, bucket: int) -> tuple[Run, Ints]:
        """What a run has of the queries in a bucket, and by which numbers they come in the file."""
        rows, number = self._buckets.chunk(bucket)
        return Run(by_rank(rows)), number

    def finish(self) -> None:
        """Report errors found in all parts together."""
        self._buckets.finish()


@contextmanager
def bucketed_qrels(
    source: Any, runs: Sequence[Any], on_duplicate: OnDuplicate, columns: Columns, memory: int
) -> Iterator[BucketedQrels]:
    """Judgments in as many buckets as these files need."""
    size = max(bytes_of(each) for each in (source, *runs) if os.fspath(each) != STANDARD)
    count = buckets_for(size // 5, part_of(memory))
    with _buckets(source, "label", on_duplicate, columns, memory, count) as (buckets, _):
        yield BucketedQrels(buckets, display_name(source))


@contextmanager
def bucketed_run(
    source: Any, on_duplicate: OnDuplicate, columns: Columns, memory: int, count: int
) -> Iterator[BucketedRun]:
    """A run in so many buckets."""
    with _buckets(source, "score", on_duplicate, columns, memory, count) as (buckets, tag):
        yield BucketedRun(buckets, tag)


@contextmanager
def _buckets(
    source: Any, noun: str, on_duplicate: OnDuplicate, columns: Columns, memory: int, count: int
) -> Iterator[tuple[Buckets, str | None]]:
    from ranksift.collection.readers.formats import source_of

    with Spool() as spool, source_of(source, noun, columns) as found:
        buckets = Parts(found, on_duplicate, part_of(memory) // found.unit or 1).scattered(spool, count)
        yield buckets, found.tag()
