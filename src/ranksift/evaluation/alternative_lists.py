"""Alternatives to the lists of a run: without some documents, in the ideal order, the ideal list itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.ragged import Floats, Ints


def repeated(judged: JudgedRun, queries: Ints) -> JudgedRun:
    """The lists of some queries, once for every time that a query is named."""
    rows, offsets = ragged.take(judged.offsets, queries)
    return replace(
        judged,
        pool=judged.pool.take(queries),
        query=np.repeat(np.arange(len(queries)), np.diff(offsets)),
        rank=judged.rank[rows],
        label=judged.label[rows],
        row=judged.row[rows],
        length=judged.length[queries],
        place=judged.place[rows],
        listed=judged.listed[queries],
        nil={name: at[queries] for name, at in judged.nil.items()},
    )


def without(judged: JudgedRun, query: Ints, place: Ints) -> JudgedRun:
    """The lists without some of their documents, given by their places: ranks close up.

    >>> judged = JudgedRun.from_arrays([2, -2, 1], scores=[3, 2, 1], groups=["q", "q", "q"])
    >>> shorter = without(judged, np.array([0]), np.array([2]))
    >>> shorter.label.tolist(), shorter.rank.tolist(), shorter.length.tolist()
    ([2.0, 1.0], [1, 2], [2])
    """
    width = int(judged.listed.max(initial=0)) + 2
    every = np.arange(len(judged))
    gone = np.unique(query * width + place)
    first = np.searchsorted(gone, every * width)

    def found(query: Ints, place: Ints) -> tuple[NDArray[np.bool_], Ints]:
        """Which of these documents are to go, and how many of those before them in their lists."""
        keys = query * width + place
        at = np.searchsorted(gone, keys)
        goes = np.append(gone, -1)[at] == keys
        return goes, (at - first[query]).astype(np.int64, copy=False)

    goes, nearer = found(judged.query, judged.place)
    stays = ~goes
    fewer = np.bincount(gone // width, minlength=len(judged))
    nil = {}
    for name, at in judged.nil.items():
        goes, before = found(every, at)
        nil[name] = np.where(goes, 0, at - before)
    return replace(
        judged,
        query=judged.query[stays],
        rank=(judged.rank - nearer)[stays],
        label=judged.label[stays],
        row=judged.row[stays],
        length=judged.length - fewer,
        place=(judged.place - nearer)[stays],
        listed=judged.listed - fewer,
        nil=nil,
    )


def in_ideal_order(judged: JudgedRun, worth: Floats) -> JudgedRun:
    """The lists with the entries of highest ``worth`` first; what follows a NIL document stays where it is."""
    movable = np.ones(len(judged.label), dtype=bool)
    for at in judged.nil.values():
        movable &= (at[judged.query] == 0) | (judged.place < at[judged.query])
    order = np.lexsort((judged.place, np.where(movable, -worth, np.inf), judged.query))
    position = ragged.positions(np.diff(judged.offsets)) + 1
    rank = np.where(movable[order], position, judged.rank[order])
    place = np.where(movable[order], position, judged.place[order])
    return replace(judged, rank=rank, label=judged.label[order], row=judged.row[order], place=place)


def ideal_lists(judged: JudgedRun, worth: Floats, shown: NDArray[np.bool_], *, nil: bool = False) -> JudgedRun:
    """Lists of the ``shown`` documents of each pool, highest ``worth`` first; ``nil`` puts NIL after them."""
    pool = judged.pool
    order = np.lexsort((-worth, pool.query))
    order = order[shown[order]]
    count = np.bincount(pool.query[order], minlength=len(pool))
    return JudgedRun(
        pool=pool,
        query=pool.query[order],
        rank=ragged.positions(count) + 1,
        label=pool.labels[order],
        row=np.full(len(order), -1),
        length=count + nil,
        gains=judged.gains,
        nil=dict.fromkeys(judged.nil, (count + 1) * nil),
    )
