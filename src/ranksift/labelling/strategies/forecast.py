"""How many judgments are still to come: the rest of the task is played through with answers that are likely."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp, log
from typing import Any

from ranksift.labelling.strategies.knowledge import Knowledge

#: The slope before anything was answered, and how many answers that is worth.
_SLOPE, _BELIEF = 0.3, 10.0


def still_to_come(known: Knowledge, search: Callable[[Knowledge], Any], times: int, seed: int, most: int) -> float:
    """The mean number of comparisons that a search asks from here on, over some games; each ends at ``most``.

    An item that is better than b others and worse than a beats one with b' and a' with odds of
    (b + 1)(a' + 1) : (b' + 1)(a + 1), times what the prior order says as far as it was right so far. Ties and flags
    come as often as they came.
    """
    chance = random.Random(seed)
    return sum(_game(known.copy(), search, chance, most) for _ in range(times)) / times


def _game(known: Knowledge, search: Any, chance: random.Random, most: int) -> int:
    odds, slope = prior_of(known)
    seen = known.seen.bit_count()
    flags = known.forbidden.bit_count() / (seen + 1)
    ties = known.ties / (len(known.preferred) + known.ties + 1)
    count = 0
    course = search(known)
    try:
        pair = next(course)
        while count < most:
            first, second = pair
            sign = known.compare(first, second)
            if sign is None:
                count += 1
                flagged = 0
                for item in pair:
                    if not known.seen >> item & 1 and chance.random() < flags:
                        flagged |= 1 << item
                known.seen |= 1 << first | 1 << second
                if flagged:
                    known.forbidden |= flagged
                    course = search(known)
                    pair = next(course)
                    continue
                sign = 0 if chance.random() < ties else _likely(known, first, second, slope, odds, chance)
                known.add(first, second, sign)
            pair = course.send(sign)
    except StopIteration:
        pass
    return count


def _likely(known: Knowledge, first: int, second: int, slope: float, odds: list[float], chance: random.Random) -> int:
    """Who is better, drawn."""
    above, below = known.above, known.below
    evidence = ((below[first].bit_count() + 1) * (above[second].bit_count() + 1)) / (
        (below[second].bit_count() + 1) * (above[first].bit_count() + 1)
    )
    worse = exp(min(slope * (odds[second] - odds[first]), 50.0)) / evidence
    return 1 if chance.random() * (1 + worse) < 1 else -1


def prior_of(known: Knowledge) -> tuple[list[float], float]:
    """Log-odds of the places in the prior order, and how much they count by the answers so far."""
    n = known.items
    odds = [log((n - place - 0.5) / (place + 0.5)) for place in range(n)]
    return odds, slope_of([odds[better] - odds[worse] for better, worse in known.preferred])


def slope_of(differences: list[float]) -> float:
    """The most likely slope from 0 on, with a normal prior; differences are those of the preferred items."""
    slope = _SLOPE
    for _ in range(4):  # Newton's method on a concave function
        gradient, curvature = _BELIEF * (_SLOPE - slope), _BELIEF
        for one in differences:
            wrong = one / (1 + exp(min(slope * one, 50.0)))
            gradient += wrong
            curvature += wrong * (one - wrong)
        slope = max(slope + gradient / curvature, 0.0)
    return slope
