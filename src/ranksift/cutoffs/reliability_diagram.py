"""How reliable probabilities are: predicted probabilities against observed shares of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.parameters import at_most, choice, integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Brier(NamedTuple):
    r"""The mean squared distance of probabilities from outcomes, and what it is made of.

    .. math:: BS = \frac{1}{n} \sum_i (p_i - y_i)^2 = \mathrm{reliability} - \mathrm{resolution} +
        \mathrm{uncertainty} + \mathrm{within}

    Reliability is how far the bins are from the diagonal, resolution how far their shares are from the share of all,
    uncertainty what a forecast gets that always gives the share of all (Murphy 1973). ``within`` is 0 if all
    probabilities of a bin are equal (Stephenson, Coelho, Jolliffe 2008).
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


@dataclass(frozen=True, eq=False)
class ReliabilityDiagram:
    """Probabilities in bins, and the outcomes that they had.

    Attributes
    ----------
    predicted, observed, count
        For each bin that is not empty: the mean probability, the share of outcomes that happened, the number of
        documents.
    brier
        The Brier score of all documents, and its parts.

    Examples
    --------
    >>> diagram = reliability_diagram([0.1, 0.1, 0.9, 0.9], [0, 1, 1, 1], bins=2)
    >>> diagram.predicted.tolist(), diagram.observed.tolist()
    ([0.1, 0.9], [0.5, 1.0])
    >>> round(diagram.ece, 6), round(diagram.brier.score, 6)
    (0.25, 0.21)
    """

    predicted: Floats
    observed: Floats
    count: Ints
    brier: Brier

    @property
    def ece(self) -> float:
        r"""Expected calibration error: :math:`\sum_b \frac{n_b}{n} |\bar p_b - \bar y_b|`."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.count))

    def plot(self) -> Figure:
        """Shares against probabilities, with 95 % intervals (Wilson); on the diagonal they agree."""
        from ranksift.plotting import drawing

        figure, axes = drawing("probability", "share of outcomes", width=4.6, height=4.4)
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--")
        low, high = wilson(self.observed, self.count)
        axes.vlines(self.predicted, low, high, color="#0072B2", linewidth=1.0)
        axes.plot(self.predicted, self.observed, "o-", color="#0072B2", markersize=4, linewidth=1.4)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        axes.set_title(f"ECE {self.ece:.3f}, Brier {self.brier.score:.3f}")
        return figure


def reliability_diagram(
    probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10, by: Literal["mass", "width"] = "mass"
) -> ReliabilityDiagram:
    """Compare probabilities with outcomes.

    Parameters
    ----------
    probabilities, outcomes
        One of each per document; an outcome is true or false, 1 or 0.
    bins
        The number of bins.
    by
        ``"mass"``: bins of about as many documents each, equal probabilities together; ``"width"``: of equal width.

    Examples
    --------
    >>> reliability_diagram([0.05, 0.15, 0.95], [0, 0, 1], bins=10, by="width").count.tolist()
    [1, 1, 1]
    """
    try:
        p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("a probability or an outcome is not a number", remedy="give lists of numbers") from None
    if p.shape != y.shape or p.ndim != 1 or not len(p):
        raise InputError(f"{p.size} probabilities and {y.size} outcomes", remedy="give one of each for every document")
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("a probability is not between 0 and 1", remedy="calibrate the scores first")
    if not np.isin(y, (0.0, 1.0)).all():
        raise InputError("an outcome is neither true nor false", remedy="give 1 if it happened and 0 if not")
    at_most(1_000_000, integer(1)).check("bins", bins, 10)
    choice("mass", "width").check("by", by, "mass")
    bin_of = _by_mass(p, bins) if by == "mass" else np.minimum((p * bins).astype(np.int64), bins - 1)
    count = np.bincount(bin_of, minlength=bins)
    full = count > 0
    predicted, observed = (np.bincount(bin_of, weights=v, minlength=bins)[full] / count[full] for v in (p, y))
    base, share = y.mean(), count[full] / len(y)
    score = float(np.mean((p - y) ** 2))
    reliability = float(share @ (predicted - observed) ** 2)
    resolution, uncertainty = float(share @ (observed - base) ** 2), float(base * (1.0 - base))
    brier = Brier(score, reliability, resolution, uncertainty, score - reliability + resolution - uncertainty)
    return ReliabilityDiagram(predicted, observed, count[full], brier)


def _by_mass(p: Floats, bins: int) -> Ints:
    """Bins by the middle rank of each probability, so that equal ones stay together."""
    _, code, count = np.unique(p, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - count / 2.0
    return np.asarray(middle[code] * bins / len(p), dtype=np.int64)


def wilson(share: Floats, count: Ints) -> tuple[Floats, Floats]:
    """Where a share lies if as many are drawn again, with 95 % confidence."""
    z2 = 1.959963984540054**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = np.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    return centre - half, centre + half
