"""What was measured, setting by setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from experiments.rank_and_filter.rows import EVERYTHING, HIDDEN, MEASURE, NOTHING, PEER, WEIGHTED, rows
from experiments.rank_and_filter.settings import SETTINGS
from ranksift.evaluation.significance import holm

ALPHA = 0.05


class Gain(NamedTuple):
    """How much better a ranker is than another, the standard error of that, and p after Holm's correction."""

    value: float
    error: float
    p: float

    @property
    def wins(self) -> bool:
        return self.value > 0 and self.p < ALPHA

    @property
    def loses(self) -> bool:
        return self.value < 0 and self.p < ALPHA


@dataclass(frozen=True)
class Outcome:
    """All rankers of one setting."""

    setting: str
    counts: bool
    found: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The setting, at the beginning of a line."""
        return self.setting[0].upper() + self.setting[1:]

    @property
    def variation(self) -> float:
        """The coefficient of variation of 1/(I − W) over queries."""
        return float(self.found["variation"])

    def of(self, name: str, measure: str = MEASURE) -> list[float]:
        """A measure for each seed."""
        return list(self.found["rows"][name]["values"][measure])

    def mean(self, name: str, measure: str = MEASURE) -> float:
        """The mean over seeds."""
        return float(np.mean(self.of(name, measure)))

    def group(self, *groups: str) -> list[str]:
        """The rankers of some groups, in their order."""
        return [name for name, row in rows().items() if row.group in groups and name in self.found["rows"]]

    def against(self, ours: str, others: Sequence[str]) -> dict[str, Gain]:
        """Ours beside others, with Holm's correction over all of them."""
        found = [self.found["against"][ours][name] for name in others]
        corrected = holm(np.array([p for _, _, p in found]))
        return {
            name: Gain(value, error, float(p))
            for name, (value, error, _), p in zip(others, found, corrected, strict=True)
        }

    def peers(self, ours: str) -> dict[str, Gain]:
        """Ours beside all peers, those with our weights too."""
        return self.against(ours, self.group(PEER, WEIGHTED))

    def plain_peers(self, ours: str) -> dict[str, Gain]:
        """Those of :meth:`peers` that do not know the weights."""
        return {name: gain for name, gain in self.peers(ours).items() if name in self.group(PEER)}

    def best(self, *groups: str) -> str:
        """The best ranker of some groups."""
        return max(self.group(*groups), key=self.mean)

    def harm(self, name: str, hidden: float) -> float:
        """The least share of forbidden documents shown with at most so much good hidden."""
        return float(self.found["rows"][name]["harm"][HIDDEN.index(hidden)])

    def within(self, name: str, hidden: float) -> float:
        """The best nDCG_f with at most so much good hidden."""
        return float(self.found["rows"][name]["within"][HIDDEN.index(hidden)])


class Below(NamedTuple):
    """Where ours is below another."""

    outcome: Outcome
    name: str
    gain: Gain


def outcomes(results: Mapping[str, Any]) -> list[Outcome]:
    """All settings, from what was kept."""
    return [Outcome(s.name, s.counts, results["settings"][s.name]) for s in SETTINGS]


def below_trivial(found: Sequence[Outcome], ours: str) -> list[Below]:
    """Where ours is below nothing or everything shown by more than a standard error of the difference."""
    return [
        Below(outcome, name, gain)
        for outcome in found
        for name, gain in outcome.against(ours, [NOTHING, EVERYTHING]).items()
        if gain.value < -gain.error
    ]


def below_peers(found: Sequence[Outcome], ours: str) -> list[Below]:
    """Peers, those with our weights too, that ours is significantly below."""
    return [Below(outcome, name, gain) for outcome in found for name, gain in outcome.peers(ours).items() if gain.loses]


def above_all(found: Sequence[Outcome], ours: str, without: Sequence[str] = ()) -> list[Outcome]:
    """Where ours is significantly above all peers that do not know the weights, or all but some of these."""
    return [
        outcome
        for outcome in found
        if all(gain.wins for name, gain in outcome.plain_peers(ours).items() if name not in without)
    ]
