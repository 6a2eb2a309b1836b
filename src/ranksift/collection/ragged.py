"""Arithmetic on lists of different lengths that lie one after another in a flat array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = TypeVar("Number", bound=np.generic)


def offsets_of(counts: NDArray[np.integer]) -> Ints:
    """Where each list begins, and where the last one ends.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))


def positions(counts: NDArray[np.integer]) -> Ints:
    """0, 1, 2, … inside each list.

    >>> positions(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    total = int(counts.sum())
    return np.arange(total) - np.repeat(offsets_of(counts)[:-1], counts)


def take(offsets: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Rows of the ``chosen`` lists in that order, and their offsets."""
    counts = (offsets[1:] - offsets[:-1])[chosen]
    rows = np.repeat(offsets[:-1][chosen], counts) + positions(counts)
    return rows, offsets_of(counts)


def order_by(number: NDArray[np.integer], count: int) -> Ints:
    """Rows sorted by a number between 0 and ``count``, equals as they come: a radix sort, of 16 bits at a time.

    >>> order_by(np.array([2, 0, 2, 1]), 3).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort((number & 0xFFFF).astype(np.uint16), kind="stable")
    for bits in range(16, max(1, count - 1).bit_length(), 16):
        digit = ((number >> bits) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def sums(values: NDArray[np.generic], query: Ints, count: int) -> Floats:
    """Sum of each query's values, added in their order (so that they equal a plain loop's)."""
    total = np.bincount(query, weights=values, minlength=count)[:count]
    return total.astype(np.float64, copy=False)  # of no values at all numpy makes integers


def counts(mask: NDArray[np.bool_], query: Ints, count: int) -> Ints:
    """How many of each query's entries are true."""
    return np.bincount(query[mask], minlength=count)[:count].astype(np.int64)


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Distinct values in ascending order.

    >>> distinct(np.array([2, -1, 2])).tolist()
    [-1, 2]
    """
    # As np.unique does, which loads numpy's masked arrays first: a good part of a short command's time.
    ordered = np.sort(values)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)]]


def of_about_one_length(lengths: Ints) -> Iterator[Ints]:
    """The numbers of lists that have entries, those of about the same length together.

    Padded to one length they at most double.

    >>> [lists.tolist() for lists in of_about_one_length(np.array([4, 1, 0, 7, 8]))]
    [[1], [0, 3], [4]]
    """
    size = np.frexp(lengths.astype(np.float64))[1]  # bit length: lists of 4..7 together, 8..15, …
    for bits in distinct(size[lengths > 0]):
        yield np.flatnonzero((size == bits) & (lengths > 0))


def accumulate(operation: np.ufunc, values: Floats, offsets: Ints) -> Floats:
    """Running sum or product inside each list.

    Lists of about the same length are padded to a matrix together, so the work is at most twice the
    data, and every list is accumulated on its own: no error leaks from one into the next.

    >>> accumulate(np.multiply, np.array([2.0, 3.0, 5.0]), np.array([0, 2, 3])).tolist()
    [2.0, 6.0, 5.0]
    """
    out = np.empty(len(values))
    lengths = np.diff(offsets)
    for lists in of_about_one_length(lengths):
        n = lengths[lists]
        rows, _ = take(offsets, lists)
        matrix = np.zeros((len(lists), int(n.max())))
        cell = (np.repeat(np.arange(len(lists)), n), positions(n))
        matrix[cell] = values[rows]
        out[rows] = operation.accumulate(matrix, axis=1)[cell]
    return out
