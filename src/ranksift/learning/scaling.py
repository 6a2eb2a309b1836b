"""Features on one scale, and what stands for those that are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError

#: How features are put on one scale.
Scaling = Literal["none", "standard", "query"]


# Columns that are worked on at once.
_TOGETHER = 8


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """Mean and deviation of each feature over the training documents.

    Attributes
    ----------
    centre
        The means; 0 if no value is known.
    spread
        The deviations; 1 if all values are equal, or none is known.

    Examples
    --------
    >>> examples = Examples.from_arrays([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]], None, ["q", "q", "q"])
    >>> scale = FeatureScale.fit(examples.features)
    >>> scale.apply(examples, "standard").features.tolist()
    [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    >>> scale.apply(examples, "query").features.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    """

    centre: Floats
    spread: Floats

    @classmethod
    def fit(cls, features: NDArray[np.float64]) -> FeatureScale:
        """The scale of some documents, one per row; a missing value is NaN."""
        # Some columns at a time: copies of all of them would be most of the memory that a fit takes.
        parts = [cls._of_columns(features[:, at : at + _TOGETHER]) for at in range(0, features.shape[1], _TOGETHER)]
        centres, spreads = zip(*parts, strict=True) if parts else ((), ())
        return cls(np.concatenate([np.zeros(0), *centres]), np.concatenate([np.zeros(0), *spreads]))

    @staticmethod
    def _of_columns(features: NDArray[np.float64]) -> tuple[Floats, Floats]:
        known = np.where(np.isnan(features).all(axis=0), 0.0, features)
        # In powers of two near the values, which changes no bit: squares of huge or tiny ones are out of range.
        unit = np.ldexp(0.5, np.frexp(np.nanmax(np.abs(known), axis=0))[1])
        centre, spread = np.nanmean(known / unit, axis=0), np.nanstd(known / unit, axis=0)
        # A constant feature can have a deviation that is rounding.
        varies = spread > 1e-12 * np.abs(centre)
        return centre * unit, np.where(varies, spread * unit, 1.0)

    def apply(self, examples: Examples, scaling: Scaling, *, keep_missing: bool = False) -> Examples:
        """The same documents with their features scaled.

        Parameters
        ----------
        examples
            With the features of the scale.
        scaling
            See :class:`Ranker`.
        keep_missing
            Leave missing values missing if nothing is scaled; else each is the mean of its feature.
        """
        if scaling == "none" and keep_missing:
            return examples
        values = np.where(np.isnan(examples.features), self.centre, examples.features)
        if scaling == "none":
            return examples.with_features(values)
        with np.errstate(over="ignore", invalid="ignore"):
            in_query = scaling == "query"
            values = _scaled_in_query(values, examples) if in_query else (values - self.centre) / self.spread
        fits = np.isfinite(values).all(axis=0)
        if not fits.all():
            raise InputError(
                f"the values of feature {examples.feature_names[int(fits.argmin())]!r} lie too far apart to be scaled",
                source=examples.name,
                remedy="leave a missing value out, rather than writing a huge number",
            )
        return examples.with_features(values)

    def state(self) -> dict[str, NDArray[Any]]:
        """What a saved model keeps of it."""
        return {"_centre": self.centre, "_spread": self.spread}

    @classmethod
    def taken_from(cls, state: dict[str, Any]) -> FeatureScale:
        """Take what :meth:`state` gave out of what a saved model keeps."""
        return cls(state.pop("_centre"), state.pop("_spread"))


def _scaled_in_query(values: NDArray[np.float64], examples: Examples) -> NDArray[np.float64]:
    """Each feature from 0 to 1 inside each query; 0 if it is the same for all documents."""
    if not len(values):
        return values
    starts = examples.offsets[:-1][examples.lengths > 0]
    own = np.repeat(np.arange(len(starts)), examples.lengths[examples.lengths > 0])
    low, high = np.minimum.reduceat(values, starts, axis=0), np.maximum.reduceat(values, starts, axis=0)
    width = np.where(high > low, high - low, 1.0)
    return np.asarray((values - low[own]) / width[own])
