"""Lists that do not fit into memory: in a temporary file, some queries at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.gains import Gains
from ranksift.collection.judged_run import Unjudged, join
from ranksift.collection.lists import Lists
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.run import Run
from ranksift.collection.run_facts import RunFacts
from ranksift.spool import Place, Spool


class StoredLists:
    """The lists of a run that comes in parts, with what :meth:`Lists.from_run` would know of them.

    Iterated over, it gives the numbers of some queries and their lists, until all that hold a document were there.

    Parameters
    ----------
    spool
        Where the lists are kept; what it held is forgotten.
    qrels
        The judgments; their queries are those of the lists, in this order.
    gains, unjudged
        As in :func:`evaluate`.

    Attributes
    ----------
    documents, judged
        The number of documents of each query, and how many of them are judged.
    forbidden
        How many documents are, of all queries.
    facts
        The data from which notes about the run are made.
    """

    def __init__(self, spool: Spool, qrels: Qrels, gains: Gains, unjudged: Unjudged) -> None:
        spool.clear()
        self.qrels, self.gains = qrels, gains
        self.unjudged: Unjudged = unjudged
        self.documents, self.judged = np.zeros((2, len(qrels.query_ids)), dtype=np.int64)
        self.forbidden = 0
        self.facts = RunFacts()
        self._spool = spool
        self._number = {query: i for i, query in enumerate(qrels.query_ids)}
        self._places: list[list[Place]] = []

    def __len__(self) -> int:
        return len(self.qrels.query_ids)

    @property
    def pool(self) -> Pool:
        """All judged documents of each query."""
        return self.qrels.pool

    def take(self, run: Run, number: Ints) -> None:
        """Keep the lists of a part."""
        own = np.array([self._number.get(query, -1) for query in run.query_ids], dtype=np.int64)
        queries = np.sort(own[own >= 0])
        names = [self.qrels.query_ids[i] for i in queries.tolist()]
        part = self.qrels.of_queries(names)
        self.facts = self.facts.beside(RunFacts.of(part, run, (), number))
        judged = join(part, run, names)
        label, known = np.zeros(len(run)), np.zeros(len(run), dtype=bool)
        label[judged.row], known[judged.row] = judged.label, True
        order = np.argsort(own, kind="stable")[len(own) - len(queries) :]
        rows, _ = ragged.take(run.offsets, order)
        if self.unjudged == "drop":
            lengths = ragged.counts(known, np.repeat(np.arange(len(own)), run.lengths), len(own))[order]
            rows = rows[known[rows]]
        else:
            lengths = run.lengths[order]
        self.documents[queries], self.judged[queries] = lengths, np.bincount(judged.query, minlength=len(queries))
        at = np.flatnonzero(known[rows])
        self.forbidden += int((self.gains(label[rows[at]]) < 0).sum())
        self._places.append(self._spool.write([run.scores[rows], queries, lengths, at, label[rows[at]]]))

    def __iter__(self) -> Iterator[tuple[Ints, Lists]]:
        for places in self._places:
            score, queries, lengths, at, judged_label = map(self._spool.read, places)
            label, judged = np.zeros(len(score)), np.zeros(len(score), dtype=bool)
            label[at], judged[at] = judged_label, True
            yield queries, self._lists(queries, lengths, score, label, judged)

    def unanswered(self) -> tuple[Ints, Lists]:
        """The queries whose lists are empty."""
        queries = np.flatnonzero(self.documents == 0)
        nothing = np.zeros(0)
        return queries, self._lists(queries, np.zeros(len(queries), np.int64), nothing, nothing, nothing > 0)

    def scores(self) -> Iterator[Floats]:
        """The scores of all documents, some at a time."""
        return (self._spool.read(places[0]) for places in self._places)

    def _lists(self, queries: Ints, lengths: Ints, score: Floats, label: Floats, judged: NDArray[np.bool_]) -> Lists:
        pool = self.pool.take(queries)
        rows = np.arange(len(score))
        return Lists(ragged.offsets_of(lengths), score, label, judged, rows, pool, queries, self.gains)  # type: ignore[arg-type]
