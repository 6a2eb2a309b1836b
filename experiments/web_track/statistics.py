"""Orders of systems, and what filtering changed in each pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import ranksift as rs
from experiments.markdown import between, word
from experiments.web_track.years import GAINS, Floats, Unjudged, Year
from ranksift.evaluation.significance import holm

#: A difference is significant below this.
ALPHA = 0.05
#: Means closer than this are equal: two runs with the same top 20 must tie.
TIE = 1e-9


def places(means: Floats) -> list[int]:
    """The place of each system, best first; equal ones share theirs."""
    return [1 + int((means > m + TIE).sum()) for m in means]


def kendall_tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b of two lists of means."""

    def signs(means: Floats) -> Floats:
        difference = means[:, None] - means[None, :]
        return np.where(np.abs(difference) <= TIE, 0.0, np.sign(difference))

    s, t = signs(a), signs(b)
    return float((s * t).sum() / np.sqrt((s * s).sum() * (t * t).sum()))


@dataclass(frozen=True)
class Change:
    """Filtered − unfiltered by one measure, one value per pair of runs."""

    means: list[float]
    gained: list[int]  # topics
    lost: list[int]
    p: list[float]  # paired t-test, two-sided
    corrected: list[float]  # Holm's correction over the pairs

    @property
    def higher(self) -> int:
        """Filtered runs that score higher."""
        return sum(mean > 0 for mean in self.means)

    @property
    def significant(self) -> int:
        """Differences that are more than luck."""
        return sum(p < ALPHA for p in self.corrected)

    @property
    def clear_gain(self) -> bool:
        """Every filtered run scores higher, significantly."""
        return self.higher == self.significant == len(self.means)

    @property
    def clear_loss(self) -> bool:
        """Every filtered run scores lower, significantly."""
        return self.higher == 0 and self.significant == len(self.means)

    def __str__(self) -> str:
        n, up, sure = len(self.means), self.higher, self.significant
        every = "both" if n == 2 else f"all {word(n)}"
        if up in (0, n):
            runs = f"{every} filtered runs score {'higher' if up else 'lower'}"
        else:
            runs = f"{word(up)} of the {word(n)} filtered runs score{'s' * (up == 1)} higher"
        certainty = {0: "none significantly", n: f"{every} significantly"}.get(sure, f"{word(sure)} significantly")
        return f"{runs} ({between(self.means, sign=True)}), {certainty}"


def changes(
    year: Year,
    measures: Iterable[str],
    gains: Mapping[float, float] = GAINS,
    unjudged: Unjudged = "drop",
    topics: Sequence[str] | None = None,
) -> dict[str, Change]:
    """What filtering changed, by each measure."""
    names = list(measures)
    scores = year.evaluate(names, gains, unjudged, topics)
    rows = []
    for plain, filtered in year.pairs:
        found = rs.compare(scores, baseline=plain, test="t", correction="none")
        i = found.pairs.index((filtered, plain))
        rows.append([found.difference[i], found.wins[i], found.losses[i], found.p[i]])
    difference, wins, losses, p = (np.array(column) for column in zip(*rows, strict=True))
    corrected = holm(p)
    return {
        name: Change(*(column[:, m].tolist() for column in (difference, wins, losses, p, corrected)))
        for m, name in enumerate(names)
    }
