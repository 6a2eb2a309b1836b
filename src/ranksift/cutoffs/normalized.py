"""One threshold on scores that are normalised inside each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.score_shape import Shape
from ranksift.cutoffs.sweep import Sweep
from ranksift.cutoffs.threshold import MEASURE, one_measure
from ranksift.errors import InputError
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, parameter

Normalization = Literal["minmax", "zscore", "max", "top", "softmax", "rank"]

_FORMULAS: dict[str, str] = {
    "minmax": "(score - min) / (max - min)",
    "zscore": "round((score - mean) / deviation, 12)",
    "max": "score / max",
    "top": "score - max",
    "softmax": "exp(score - max) / sum of exp(score - max)",
    "rank": "-(1 + the number of higher scores)",
}


def normalized(lists: Lists, by: Normalization) -> Floats:
    """Each score among the scores of its query. How ties are treated is up to the caller.

    Examples
    --------
    >>> lists = Lists.from_arrays([9.0, 5.0, 4.0], None, ["q", "q", "q"])
    >>> normalized(lists, "minmax").tolist(), normalized(lists, "rank").tolist()
    ([1.0, 0.2, 0.0], [-1.0, -2.0, -3.0])
    """
    shape, query, score = Shape.of(lists), lists.query, lists.score
    if by == "minmax":
        return _over(score - shape.bottom[query], (shape.top - shape.bottom)[query], 1.0)
    if by == "zscore":
        # The two documents of any pair have 1 and -1: the last bit must not put them on different sides of a threshold.
        return _over(score - shape.mean[query], shape.deviation[query], 0.0).round(12)
    if by == "max":
        if (score < 0).any():
            raise InputError("by='max' divides by the highest score, and some are below 0", remedy="use by='minmax'")
        return _over(score, shape.top[query], 1.0)
    if by == "top":
        return score - shape.top[query]
    if by == "softmax":
        weight = np.exp(score - shape.top[query])
        falling = np.exp(shape.score - shape.top[shape.query])  # added up from the highest, whatever ranks them
        return weight / ragged.sums(falling, shape.query, len(lists))[query]
    return _rank(lists, shape)


def _over(top: Floats, bottom: Floats, flat: float) -> Floats:
    out: Floats = np.divide(top, bottom, out=np.full(len(top), flat), where=bottom > 0)
    return out


def _rank(lists: Lists, shape: Shape) -> Floats:
    """Minus the rank by score; equal scores have the rank of the first of them."""
    order = np.lexsort((-lists.score, lists.query))
    new = np.append([True] * (len(order) > 0), np.diff(shape.score) != 0)
    new[shape.offsets[:-1][shape.size > 0]] = True
    rank = np.empty(len(order))
    rank[order] = (ragged.positions(shape.size) + 1)[np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    return -rank


@dataclass(eq=False)
class NormalizedCutoff(Cutoff):
    r"""Keep documents whose score, normalised among the scores of their query, is at least a threshold.

    A ranker's scores are often comparable within a query but not between queries. With s a score, and the statistics
    those of its list:

    ============  =================================================  ==============================
    ``by``        normalised score                                   what it forgives
    ============  =================================================  ==============================
    ``minmax``    :math:`(s - \min) / (\max - \min)`                 a shift and scale per query
    ``zscore``    :math:`(s - \mathrm{mean}) / \mathrm{deviation}`   the same; to twelve decimals
    ``max``       :math:`s / \max` (scores of at least 0)            a scale per query
    ``top``       :math:`s - \max`                                   a shift per query
    ``softmax``   :math:`e^s / \sum e^{s'}`                          a shift per query
    ``rank``      :math:`-\mathrm{rank}`, equals sharing the first   everything: one length for all
    ============  =================================================  ==============================

    The threshold is the exact optimum, found by one sweep. A list of one document, or of equal scores, cannot be
    normalised: it is cut on the score itself, at the best threshold for all lists (:class:`GlobalCutoff`'s). By
    ``minmax``, ``zscore`` and ``rank``, all lists of two documents look alike.

    Attributes
    ----------
    threshold_
        On normalised scores; −∞: nothing is dropped, +∞: everything is, of lists with different scores.
    flat_threshold_
        On the scores themselves, for lists of one document or of equal scores.
    value_
        The measure on the documents that it was fitted on.

    Examples
    --------
    The second query's scores are 10 higher, its good ones are still the upper ones:

    >>> scores, labels, groups = [3, 2, 1, 13, 12, 11], [1, 2, -2, 2, 1, -2], ["q"] * 3 + ["r"] * 3
    >>> cut = NormalizedCutoff("nDCG_f@3", by="minmax").fit(scores, labels, groups)
    >>> cut.threshold_
    0.5
    >>> cut.keep([7, 6, 5]).tolist()
    [True, True, False]
    """

    rule: ClassVar[str] = "normalized"
    learned: ClassVar[tuple[str, ...]] = ("threshold_", "flat_threshold_")

    measure: MeasureLike = parameter(
        "nDCG_f@3", MEASURE, "The measure that the threshold maximises on the documents that it is fitted on."
    )
    by: Normalization = parameter("minmax", choice(*get_args(Normalization)), "How scores are normalised.")

    def _learn(self, lists: Lists) -> None:
        measure = one_measure(self.measure)
        plain = Sweep.of(lists, measure)
        self.flat_threshold_ = plain.threshold(plain.best(plain.values()))
        sweep = Sweep.of(lists.with_score(normalized(lists, self.by)), measure)
        flat = Shape.of(lists).flat
        self.threshold_ = -np.inf
        if flat.all():
            self.notes_ += ("no list has scores that differ: nothing is known about lists that do",)
        else:
            shaped = sweep.of_queries(np.flatnonzero(~flat))
            self.threshold_ = shaped.threshold(shaped.best(shaped.values()))
        parts = np.where(flat, plain.parts(self.flat_threshold_), sweep.parts(self.threshold_))
        self.value_ = float(measure.aggregate(*parts))
        self.fitted_on_["value"] = {
            str(measure): self.value_,
            "keep_all": float(measure.aggregate(*plain.parts(-np.inf))),
            "drop_all": float(measure.aggregate(*plain.parts(np.inf))),
        }

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        flat = Shape.of(lists).flat[lists.query]
        return np.where(flat, lists.score >= self.flat_threshold_, normalized(lists, self.by) >= self._threshold)

    @property
    def _threshold(self) -> float:
        """The threshold as the scores are; one that was fitted before z-scores were rounded may lie a bit above."""
        return round(self.threshold_, 12) if self.by == "zscore" else self.threshold_

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return (
            f"{_FORMULAS[self.by]} >= float(threshold), over the scores of the query"
            f"{' (deviation: n in the denominator)' if self.by == 'zscore' else ''}; "
            "where they are all equal, or one: score >= float(flat_threshold)"
        )
