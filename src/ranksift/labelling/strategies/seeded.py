"""A tournament that uses the order of a prior run as far as it proves right."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from ranksift.labelling.strategies.forecast import prior_of
from ranksift.labelling.strategies.knowledge import Knowledge
from ranksift.labelling.strategies.tournament import Tournament


@dataclass(frozen=True)
class SeededTournament(Tournament):
    r"""A tournament in which the weakest unbeaten items meet first; the prior order says who is weak.

    .. math:: s_i = \log_2(1 + b_i) + 6 \beta^2 q_i

    is the strength of an item: :math:`b_i` items are known to be worse, and its place r of n in the prior order has the
    log-odds :math:`q_i = \ln\frac{n - r + 1/2}{r - 1/2}`. How much the prior counts is learned from the answers:
    :math:`\beta` is the slope of a logistic regression of who was preferred on the difference of log-odds. Where the
    order says nothing this is a tournament; where it is good, the best come late and beat few, so that few have to play
    again for the next place. The 6 and the square were chosen by simulation.

    Examples
    --------
    >>> state = SeededTournament(k=1).state(["first", "second", "third"], [])
    >>> len(state.question.items)
    2
    """

    def match(self, unbeaten: list[int], known: Knowledge) -> tuple[int, int]:
        """The two weakest; if items can be flagged, first those that have not been seen."""
        odds, slope = prior_of(known)
        weight = 6 * slope**2

        def strength(item: int) -> tuple[int, float]:
            unseen_first = known.seen >> item & 1 if known.forbidden else 0
            return unseen_first, log2(1 + known.below[item].bit_count()) + weight * odds[item]

        first, second, *_ = sorted(unbeaten, key=strength)
        return first, second
