"""A corpus of lists, scored on many machines: each file of examples is a task."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.readers.formats import save_runs
from ranksift.collection.run import Run
from ranksift.collection.shards import id_hashes, shards_of
from ranksift.errors import InputError
from ranksift.learning.model_folder import read_card
from ranksift.learning.ranker import Ranker
from ranksift.learning.saved_model import load
from ranksift.scale.cluster import connected, in_order, needs_of, on_one_core, ray


class Ranked(NamedTuple):
    """The result for a corpus: its documents, those that the run shows, and texts that were not read completely."""

    documents: int
    shown: int
    left_unread: str


class _Part(NamedTuple):
    run: Run
    documents: int
    queries: NDArray[np.uint64]
    left_unread: str


def rank(
    model: str | os.PathLike[str],
    data: Any,
    out: str | os.PathLike[str],
    *,
    address: str | None = None,
    name: str | None = None,
    at_most: str | None = None,
    keep_all: bool = False,
    **reading: Any,
) -> Ranked:
    """Score files of examples on a Ray cluster, and write one run of them all, in the order of the files.

    The run is the same as on one machine. Networks score a text together with others of its file, so their last digits
    may differ if files are read one by one.

    Parameters
    ----------
    model
        The folder of a saved model. Every machine must find it and the data under the same path.
    data
        Files of examples, a folder of them or a pattern; or a list of these. Files are scored in parallel, but each
        file by a single task, and each must fit into memory.
    out
        The file of the run. In TREC format it is written as parts arrive; a table is collected first.
    address
        As in :func:`ranksift.scale.evaluate`.
    name
        The name of the run. None: the name of the model's folder.
    at_most, keep_all
        Move the model's cutoff, as :meth:`Ranker.at_most` does, or drop nothing.
    reading
        Options of :func:`ranksift.read_examples` for tables: ``labels`` and ``skip_bad_rows``.

    Examples
    --------
    >>> import tempfile
    >>> from ranksift import Examples
    >>> from ranksift.learning import RankSVM
    >>> folder = tempfile.mkdtemp()
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.3]], [0, 2, 1], ["q", "q", "q"])
    >>> RankSVM().fit(examples).save(f"{folder}/model")
    >>> examples.save(f"{folder}/data.txt")
    >>> rank(f"{folder}/model", f"{folder}/data.txt", f"{folder}/model.run")
    Ranked(documents=3, shown=3, left_unread='')
    """
    files = [file for each in (data if isinstance(data, list | tuple) else [data]) for file in shards_of(each)]
    folder = os.path.abspath(model)
    ranker = _ready(folder, at_most, keep_all, _version(folder))
    called = os.path.basename(folder) if name is None else name
    documents, shown, left_unread = 0, 0, ""
    queries: list[NDArray[np.uint64]] = []
    with connected(address):
        how = folder, at_most, keep_all, called, reading
        task = _ranked.options(**needs_of(ranker))

        def runs() -> Iterator[Run]:
            nonlocal documents, shown, left_unread
            for part in in_order(lambda file: task.remote(file, *how), files):
                documents, shown = documents + part.documents, shown + len(part.run)
                left_unread = left_unread or part.left_unread
                queries.append(part.queries)
                yield part.run
            _check_apart(queries, files, ranker, reading)

        save_runs(called, runs(), out)
    return Ranked(documents, shown, left_unread)


@ray.remote
def _ranked(file: str, folder: str, at_most: str | None, keep_all: bool, name: str, reading: dict[str, Any]) -> _Part:
    on_one_core()
    ranker = _ready(folder, at_most, keep_all, _version(folder))
    examples = ranker.read(file, **reading)
    run = ranker.rank(examples, name=name)
    return _Part(run, len(examples), id_hashes(examples.query_ids), ranker.left_unread())


@lru_cache(maxsize=1)
def _ready(folder: str, at_most: str | None, keep_all: bool, version: str) -> Ranker:
    """The model, which a worker reads once for all of its tasks."""
    ranker = load(folder)
    if at_most is not None:
        ranker.at_most(at_most)
    if keep_all:
        ranker.cutoff_ = None
    return ranker


def _version(folder: str) -> str:
    """Changes if another model has been saved into the folder."""
    from pathlib import Path

    return str(read_card(Path(folder)))


def _check_apart(
    queries: Sequence[NDArray[np.uint64]], files: Sequence[str], ranker: Ranker, reading: dict[str, Any]
) -> None:
    """Refuse a query that is in two files, as one machine does."""
    every = np.concatenate(queries)
    order = np.argsort(every, kind="stable")
    again = np.flatnonzero(every[order][1:] == every[order][:-1])
    if not len(again):
        return
    owner = np.repeat(np.arange(len(files)), [len(own) for own in queries])[order]
    first, second = files[owner[again[0]]], files[owner[again[0] + 1]]
    both = sorted({*ranker.read(first, **reading).query_ids} & {*ranker.read(second, **reading).query_ids})
    named = f"query {both[0]!r}" if both else "a query"
    raise InputError(f"{named} is also in {first!r}", source=second, remedy="put each query into one file")
