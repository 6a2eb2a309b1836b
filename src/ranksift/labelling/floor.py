"""The fewest judgments that could be enough: what is known about finding the ordered top k."""

from __future__ import annotations

from math import ceil, lgamma, log

from ranksift.errors import InputError


def floor(n: int, k: int, forbidden: float = 0.0) -> float:
    r"""Bits in the ordered top k of n items without ties: no strategy can ask fewer pairs on average.

    .. math:: \log_2 \frac{n!}{(n - k)!}

    A preference has two outcomes, so it gives at most one bit. If a share of the items is ``forbidden``, the floor is
    that of the remaining items, plus a judgment for every two items that have to be flagged: a judgment in which an
    item is flagged says nothing about the order. A correct prior lowers the floor, and so do ties.

    Examples
    --------
    >>> round(floor(50, 10), 1)
    55.0
    >>> round(floor(50, 10, forbidden=0.5), 1)
    55.9
    """
    left, flags, k = _allowed(n, k, forbidden)
    return _orders(left, k) + flags / 2


def worst_case_floor(n: int, k: int) -> int:
    r"""Judgments that any strategy needs for the hardest query (Knuth, The Art of Computer Programming 3, 5.3.3).

    .. math:: n - k + \lceil \log_2 \frac{n!}{(n - k + 1)!} \rceil

    For each choice of the best k - 1 in their order, the best of the others has to be found, which takes n - k
    judgments whatever they say. So a strategy that needs fewer on average must need more on hard queries.

    Examples
    --------
    >>> worst_case_floor(50, 10)
    90
    """
    left, _, k = _allowed(n, k, 0.0)
    return left - k + ceil(_orders(left, k - 1) - 1e-9) if left else 0


def _orders(n: int, k: int) -> float:
    """Bits in an ordered selection."""
    return (lgamma(n + 1) - lgamma(n - k + 1)) / log(2)


def _allowed(n: int, k: int, forbidden: float) -> tuple[int, int, int]:
    if k < 1 or n < 0:
        raise InputError(f"there is no top {k} of {n} items", remedy="ask for at least one item")
    flags = round(n * forbidden)
    return n - flags, flags, min(k, n - flags)
