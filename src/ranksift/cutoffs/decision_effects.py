"""What one decision changes: a document that is shown is dropped, or one that was dropped is shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.measures.cumulative import discounted
from ranksift.measures.measure import Measure

# Documents of lists with one decision reversed that are judged at once: it bounds the memory, not the result.
_BATCH = 4_000_000


def if_reversed(measure: Measure, lists: Lists, kept: NDArray[np.bool_], documents: Ints) -> Floats:
    """How much a query's value changes when one document that is shown is dropped, or one that was dropped is shown.

    Examples
    --------
    >>> from ranksift.measures.cumulative import DCG
    >>> lists = Lists.from_arrays([3.0, 2.0, 1.0], [-1, 2, 1], ["q", "q", "q"])
    >>> shown = np.array([True, True, False])
    >>> if_reversed(DCG(k=3), lists, shown, np.arange(3)).round(4).tolist()
    [1.7381, -1.2619, 0.5]
    """
    query = lists.query[documents]
    line = measure.line(lists.pool, measure.gains or lists.gains)
    if line is not None:
        return _dcg_if_reversed(measure, lists, kept)[documents] * line[1][query]
    before = own_values(measure, lists, kept)
    after = np.empty(len(documents))
    for some in _batches(lists.lengths[query]):
        rows, offsets = ragged.take(lists.offsets, query[some])
        shown = kept[rows]
        shown[offsets[:-1] + documents[some] - lists.offsets[query[some]]] ^= True
        after[some] = own_values(measure, lists.of_queries(query[some]), shown)
    return after - before[query]


def _batches(lengths: Ints) -> Iterator[slice]:
    """Stretches of lists that hold about so many documents together."""
    ends = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _BATCH, side="right")))
        yield slice(first, last)
        first = last


def _dcg_if_reversed(measure: Measure, lists: Lists, kept: NDArray[np.bool_]) -> Floats:
    """The change of DCG@k for each document: its own part, and that of what is shown below it, which moves by one."""
    gain = np.where(lists.judged, measure.gain(lists.label, lists.gains), 0.0)
    shown = ragged.offsets_of(kept.astype(np.int64))
    # The rank that a document has among those shown, or would have.
    rank = shown[:-1] - shown[lists.offsets[:-1]][lists.query] + 1

    def at(rank: Ints) -> Floats:
        return np.where(rank <= (measure.k or np.inf), discounted(gain, rank, measure.base), 0.0)

    own = at(rank)
    up, down = (np.where(kept, at(np.maximum(rank + step, 1)) - own, 0.0) for step in (-1, 1))
    return np.where(kept, _below(up, lists) - own, _below(down, lists) + own)


def _below(values: Floats, lists: Lists) -> Floats:
    """The sum of what stands below each document in its list."""
    backwards = len(values) - lists.offsets[::-1]
    total: Floats = ragged.accumulate(np.add, values[::-1], backwards)[::-1] - values
    return total


def own_values(measure: Measure, lists: Lists, kept: NDArray[np.bool_]) -> Floats:
    """Each query's own value, with only some documents shown."""
    return measure.values(*measure.per_query(lists.judged_by(kept)))
