"""The four ways to choose a threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ranksift.collection.ragged import Ints
from ranksift.cutoffs.p_values import mean_loss
from ranksift.cutoffs.risk import RiskCurve, RiskCutoff

PLUG_IN, MEAN, BETTING, HB = "plug-in", "in expectation", "betting", "Hoeffding-Bentkus"
NAMES = (PLUG_IN, MEAN, BETTING, HB)
#: Those that promise something of a share 1 − δ of the samples.
BOUNDS = (BETTING, HB)


@dataclass(frozen=True)
class Rule:
    """A way to choose a threshold."""

    name: str
    alpha: float
    delta: float | None = None

    def passes(self, k: int) -> Callable[[Ints], bool]:
        """Whether a sample of which so many queries lost 0, 1, …, k places lets a threshold be taken."""
        if self.name == PLUG_IN:  # the risk of the sample is taken for the true one
            return lambda lost: mean_loss(lost) <= self.alpha
        return RiskCutoff(self.alpha, self.delta, k, "hoeffding-bentkus" if self.name == HB else "betting").passes

    def threshold(self, curve: RiskCurve) -> float:
        """The lowest threshold that passes."""
        return curve.threshold(curve.lowest(self.passes(curve.k)))


def rules(alpha: float, deltas: tuple[float, ...]) -> list[Rule]:
    """All ways, for one alpha."""
    return [Rule(PLUG_IN, alpha), Rule(MEAN, alpha), *(Rule(name, alpha, d) for name in (BETTING, HB) for d in deltas)]
