"""How few judgments could do: what information theory says of the ordered top k."""

from __future__ import annotations

from math import lgamma, log

from ranksift.errors import InputError


def floor(n: int, k: int, forbidden: float = 0.0) -> float:
    r"""Bits in the ordered top k of n items without ties: no strategy asks fewer pairs on average.

    .. math:: \log_2 \frac{n!}{(n - k)!}

    A preference has two outcomes, so that it gives one bit at most. Where a share of the items is ``forbidden``, the
    floor is that of the items that are left, and beside it a judgment for every two items that have to be flagged: a
    judgment in which something is flagged says nothing of the order.

    Examples
    --------
    >>> round(floor(50, 10), 1)
    55.0
    >>> round(floor(50, 10, forbidden=0.5), 1)
    55.6
    """
    if k < 1 or n < 0:
        raise InputError(f"there is no top {k} of {n} items", remedy="ask for at least one item")
    flags = round(n * forbidden)
    left = n - flags
    k = min(k, left)
    return (lgamma(left + 1) - lgamma(left - k + 1)) / log(2) + flags / 2
