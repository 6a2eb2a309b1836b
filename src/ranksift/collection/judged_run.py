"""One run joined with the qrels: all that a measure needs to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection import ragged
from ranksift.collection._engine.ids import Ids
from ranksift.collection._engine.key_index import KeyIndex
from ranksift.collection.gains import LINEAR, Gains, GainsLike
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.parameters import choice

if TYPE_CHECKING:
    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

Unjudged = Literal["zero", "drop"]
#: What ``unjudged`` may be.
UNJUDGED = choice(*get_args(Unjudged))


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """The judged documents that a run retrieved, by query and rank, and how long its lists are.

    Unjudged documents occupy a rank and add nothing, so the ranks of the judged ones and the lengths
    of the lists describe a ranking completely; a list of a thousand documents with ten judged needs only ten
    entries.

    Attributes
    ----------
    pool
        All judged documents of the same queries.
    query, rank, label, row
        For every judged document retrieved: its query, its rank (from 1), its label, its row in the
        run. Ordered by query and rank.
    length
        Documents in each query's list.
    gains
        The gain function that a measure uses unless it has its own.
    place, listed
        Rank and length before unjudged documents were dropped (the same as ``rank`` and ``length`` where
        they were not).
    nil
        For each NIL document id asked for: the place of its first appearance in each list, 0 where
        there is none.
    dropped
        Whether unjudged documents were dropped.

    Examples
    --------
    >>> judged = JudgedRun.from_arrays([2, -2, 0, 1], scores=[9, 8, 7, 5], groups=["a", "a", "a", "b"])
    >>> judged.rank.tolist(), judged.length.tolist()
    ([1, 2, 3, 1], [3, 1])
    """

    pool: Pool
    query: Ints
    rank: Ints
    label: Floats
    row: Ints
    length: Ints
    gains: Gains = LINEAR
    place: Ints = field(default=None)  # type: ignore[arg-type]
    listed: Ints = field(default=None)  # type: ignore[arg-type]
    nil: Mapping[str, Ints] = field(default_factory=dict)
    dropped: bool = False

    def __post_init__(self) -> None:
        if self.place is None:
            object.__setattr__(self, "place", self.rank)
        if self.listed is None:
            object.__setattr__(self, "listed", self.length)

    def __len__(self) -> int:
        return len(self.length)

    @classmethod
    def from_arrays(
        cls,
        labels: ArrayLike,
        scores: ArrayLike,
        groups: ArrayLike,
        *,
        gains: GainsLike = LINEAR,
        judged: ArrayLike | None = None,
        kept: ArrayLike | None = None,
    ) -> JudgedRun:
        """Judge arrays: one document per row; queries are the distinct ``groups``, in order of appearance.

        Parameters
        ----------
        labels, scores, groups
            Arrays of the same length. Tied scores keep their order.
        judged
            Which rows have a label at all (default: every one).
        kept
            Which rows are shown; the others were filtered and count in the pool only (default: every one).
        """
        try:
            label = np.asarray(labels, dtype=np.float64)
            score = np.asarray(scores, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("labels or scores are not numbers", remedy="give one for every document") from None
        group = np.asarray(groups)
        if not label.shape == score.shape == group.shape or label.ndim != 1:
            raise InputError(
                f"{label.size} labels, {score.size} scores and {group.size} groups",
                remedy="give one of each for every document",
            )
        known = np.ones(len(label), dtype=bool) if judged is None else np.asarray(judged, dtype=bool)
        shown = np.ones(len(label), dtype=bool) if kept is None else np.asarray(kept, dtype=bool)
        if not known.shape == shown.shape == label.shape:
            raise InputError("judged and kept are not of the length of labels", remedy="give one value per document")
        for name, values in (("label", label[known]), ("score", score)):
            if not np.isfinite(values).all():
                raise InputError(f"a {name} is not finite", remedy=f"give every document a finite {name}")
        try:
            _, first, code = np.unique(group, return_index=True, return_inverse=True)
        except TypeError:
            raise InputError("groups are of several types", remedy="give strings, or numbers") from None
        number = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        query, count = number[code], len(first)
        in_pool = np.flatnonzero(known)
        in_pool = in_pool[np.argsort(query[in_pool], kind="stable")]
        pool = Pool.of(ragged.offsets_of(np.bincount(query[in_pool], minlength=count)), label[in_pool])
        order = np.flatnonzero(shown)
        order = order[np.lexsort((-score[order], query[order]))]
        length = np.bincount(query[order], minlength=count)
        rank = ragged.positions(length) + 1
        seen = known[order]
        rows = order[seen]
        return cls(pool, query[rows], rank[seen], label[rows], rows, length, Gains.of(gains))

    # -- what measures ask for ---------------------------------------------------------------------

    @cached_property
    def offsets(self) -> Ints:
        """Entries of query i are ``offsets[i]`` to ``offsets[i + 1]``."""
        return ragged.offsets_of(np.bincount(self.query, minlength=len(self)))

    def gain(self, gains: Gains | None = None) -> Floats:
        """Gain of each entry."""
        return (gains or self.gains)(self.label)

    def sum(self, values: NDArray[np.generic]) -> Floats:
        """Sum over each query's entries."""
        return ragged.sums(values, self.query, len(self))

    def count(self, mask: NDArray[np.bool_]) -> Ints:
        """True entries of each query."""
        return ragged.counts(mask, self.query, len(self))

    def running(self, operation: np.ufunc, values: Floats) -> Floats:
        """Running sum or product down each list."""
        return ragged.accumulate(operation, values, self.offsets)

    def select(self, mask: NDArray[np.bool_]) -> JudgedRun:
        """Keep some entries where they are; the others count as unjudged."""
        return replace(
            self,
            query=self.query[mask],
            rank=self.rank[mask],
            label=self.label[mask],
            row=self.row[mask],
            place=self.place[mask],
        )

    def top(self, k: int | None) -> JudgedRun:
        """Keep the entries of the top k."""
        return self if k is None else self.select(self.rank <= k)

    def without_unjudged(self) -> JudgedRun:
        """Drop unjudged documents: ranks close up (as in Carmel et al. 2022)."""
        shown = np.bincount(self.query, minlength=len(self))
        return replace(self, rank=ragged.positions(shown) + 1, length=shown, dropped=True)

    def cut_at_nil(self, nil: str) -> JudgedRun:
        """End each list before its first NIL document."""
        at = self.nil[nil]
        cut = at > 0
        inside = ~cut[self.query] | (self.place < at[self.query])
        shown = self.select(inside)
        # Where unjudged documents were dropped, what remains of a list is what was judged.
        judged = np.bincount(shown.query, minlength=len(self))
        length = judged if self.dropped else np.where(cut, at - 1, self.length)
        return replace(shown, length=length, listed=np.where(cut, at - 1, self.listed))

    def ranks_with_nil(self, nil: str) -> tuple[JudgedRun, Ints]:
        """Count a NIL document as one that keeps its place; its rank in each list, 0 if there is none.

        Where unjudged documents were dropped, NIL was not one of them: what stands below it moves down.
        """
        at = self.nil[nil]
        if not self.dropped:
            return self, at
        there = at > 0
        below = there[self.query] & (self.place > at[self.query])
        above = self.count(there[self.query] & ~below)
        moved = replace(self, rank=self.rank + below, length=self.length + there)
        return moved, np.where(there, above + 1, 0)


def join(
    qrels: Qrels,
    run: Run,
    queries: Sequence[str],
    *,
    unjudged: Unjudged = "zero",
    gains: GainsLike = LINEAR,
    nil: Iterable[str] = (),
) -> JudgedRun:
    """Judge a run.

    Parameters
    ----------
    queries
        The queries to look at, in this order; those that the run does not answer have empty lists, those
        that the qrels do not know have no judged document.
    unjudged
        ``"zero"`` (an unjudged document keeps its rank, with gain 0) or ``"drop"`` (ranks close up).
    nil
        Document ids that mean "no answer"; their places are noted. None of them may be judged.
    """
    UNJUDGED.check("unjudged", unjudged)
    for name in set(nil):
        refuse_judged_nil(qrels, name)
    number = {q: i for i, q in enumerate(queries)}
    of_run = np.array([number.get(q, -1) for q in run.query_ids], dtype=np.int64)
    length = np.zeros(len(queries), dtype=np.int64)
    length[of_run[of_run >= 0]] = run.lengths[of_run >= 0]

    rows, matches = qrels.common_rows(run)
    owner = np.searchsorted(run.offsets, rows, side="right") - 1
    query = of_run[owner]
    rank = rows - run.offsets[owner] + 1
    inside = query >= 0
    query, rank, rows, matches = query[inside], rank[inside], rows[inside], matches[inside]
    if (query[1:] < query[:-1]).any():  # the run lists its queries in another order
        order = np.argsort(query, kind="stable")
        query, rank, rows, matches = query[order], rank[order], rows[order], matches[order]

    judged = JudgedRun(
        pool=qrels.pool_of(queries),
        query=query,
        rank=rank,
        label=qrels.labels[matches],
        row=rows,
        length=length,
        gains=Gains.of(gains),
        nil={name: _first_places(run, name, of_run, len(queries)) for name in set(nil)},
    )
    return judged.without_unjudged() if unjudged == "drop" else judged


def refuse_judged_nil(qrels: Qrels, nil: str) -> None:
    """A judgment of NIL would make "no answer" one of the answers."""
    for row in _rows_called(nil, qrels)[:1]:
        query = qrels.query_ids[int(np.searchsorted(qrels.offsets, row, side="right")) - 1]
        raise InputError(
            f"the NIL document {nil!r} is judged for query {query!r}",
            source=qrels.name,
            remedy="remove that judgment: NIL is right if nothing is relevant, and wrong otherwise",
        )


def _first_places(run: Run, nil: str, of_run: Ints, count: int) -> Ints:
    """The place of the first document called ``nil`` in each list, 0 if there is none."""
    places = np.zeros(count, dtype=np.int64)
    rows = _rows_called(nil, run)
    owner = np.searchsorted(run.offsets, rows, side="right") - 1
    query = of_run[owner]
    place = rows - run.offsets[owner] + 1
    places[query[query >= 0]] = place[query >= 0]  # a run has each document once, so also NIL
    return places


def _rows_called(document: str, table: Qrels | Run) -> Ints:
    """Rows of any query that hold the document."""
    if not table.query_ids:
        return np.zeros(0, dtype=np.int64)
    ids = Ids.from_strings([document]).take(np.zeros(len(table.query_ids), dtype=np.int64))
    rows, _ = KeyIndex(ids.hashes(Ids.from_strings(table.query_ids).hashes())).find(table.rows)
    return np.array([row for row in rows.tolist() if table.docs[row] == document], dtype=np.int64)
