"""One threshold for all queries: the exact optimum of a measure (paper 1's thresholding step)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import folds_of
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.sweep import Sweep
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import nil_ids, ready_measures
from ranksift.evaluation.significance import times_drawn
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import integer, number, parameter, read_by, samples_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Interval(NamedTuple):
    """Where a number lies if queries are drawn anew."""

    low: float
    high: float
    confidence: float


class Estimate(NamedTuple):
    """What a rule gave on queries that it was not fitted on."""

    value: float
    keep_all: float
    drop_all: float
    thresholds: tuple[float, ...]  # of each fold
    per_query: Floats


def one_measure(measure: MeasureLike) -> Measure:
    """The measure that a rule is fitted to."""
    found = ready_measures(measure)
    if len(found) != 1:
        raise InputError(f"{measure!s} is {len(found)} measures", remedy="name one")
    if nil_ids(found):
        what = f"{found[0]} looks for a NIL document, which scores and labels do not have"
        raise InputError(what, remedy="leave nil out")
    return found[0]


#: What a rule can be fitted to.
MEASURE = read_by(one_measure, "a measure such as 'nDCG_f@3'")


@dataclass(eq=False)
class GlobalCutoff(Cutoff):
    """Keep documents with a score of at least a threshold, the same for all queries.

    Attributes
    ----------
    threshold_
        A score of one of the documents; −∞: nothing is dropped, +∞: everything is. Of thresholds with values equal
        within 1e-12 the lowest.
    value_
        The measure there.
    thresholds_, values_
        The measure at every cut, from +∞ down: as many numbers as there are different scores. They are not saved.

    Examples
    --------
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> cut.threshold_, cut.value_
    (0.7, 1.0)
    >>> cut.keep([0.8, 0.5]).tolist()
    [True, False]
    """

    rule: ClassVar[str] = "global"
    learned: ClassVar[tuple[str, ...]] = ("threshold_",)

    measure: MeasureLike = parameter(
        "nDCG_f@3",
        MEASURE,
        """What the threshold maximises on the documents that it is fitted on (minimises, where lower is better): the
        mean over queries, or the ratio of sums of a micro measure.""",
    )

    def _learn(self, lists: Lists) -> None:
        sweep = Sweep.of(lists, one_measure(self.measure))
        self.thresholds_, self.values_ = sweep.thresholds, sweep.values()
        best = sweep.best(self.values_)
        self.threshold_, self.value_ = sweep.threshold(best), float(self.values_[best])
        self.fitted_on_["value"] = {
            str(sweep.measure): self.value_,
            "keep_all": float(self.values_[-1]),
            "drop_all": float(self.values_[0]),
        }

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return lists.score >= self.threshold_

    @classmethod
    def _from_dict(cls, given: Mapping[str, Any]) -> Self:
        made = super()._from_dict(given)
        made.value_ = float(given["fitted_on"]["value"][str(one_measure(made.measure))])
        return made

    def thresholds(self, lists: Lists) -> Floats:
        """The same for every query."""
        return np.full(len(lists), self.threshold_)

    @property
    def promise(self) -> str:
        """What the rule promises of other queries."""
        return "none: the threshold is the best one on the documents that it was fitted on"

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return "score >= float(threshold)"

    # -- how sure it is ------------------------------------------------------------------------------------------

    def interval(
        self, lists: Lists | None = None, samples: int = 1000, seed: int = 0, confidence: float = 0.95
    ) -> Interval:
        """Where the threshold lies if queries are drawn anew, with replacement (percentiles; ends can be infinite).

        Parameters
        ----------
        lists
            The documents that it was fitted on.
        samples, seed
            How often queries are drawn.
        confidence
            How often the interval should hold the threshold.
        """
        sweep = self._sweep(lists, "interval")
        number(above=0, below=1).check("confidence", confidence, 0.95)
        samples_of(width=1).check("samples", samples, 1000)
        integer(0).check("seed", seed, 0)
        found = np.empty(samples)
        draw = np.random.default_rng(seed)
        queries = len(sweep.lists)
        few = sweep.condensed()
        for s in range(samples):
            drawn: Ints = draw.integers(0, queries, size=(1, queries))
            weights = times_drawn(drawn, queries)[0].astype(np.float64)
            found[s] = few.threshold(few.best(few.values(weights)))
        found.sort()
        ends = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
        low, high = (float(found[min(samples - 1, int(end * samples))]) for end in ends)
        return Interval(low, high, confidence)

    def cross_validated(self, lists: Lists | None = None, folds: int = 5, seed: int = 0) -> Estimate:
        """What the rule gives on queries that it was not fitted on: every fold is cut at a threshold of the others.

        Parameters
        ----------
        lists
            The documents that it was fitted on.
        folds, seed
            Of the queries.

        Examples
        --------
        >>> lists = Lists.from_arrays([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
        >>> cut = GlobalCutoff("nDCG_f@3").fit_lists(lists)
        >>> cut.value_, round(cut.cross_validated(lists, folds=2).value, 3)
        (1.0, 0.667)
        """
        sweep = self._sweep(lists, "cross_validated")
        queries = len(sweep.lists)
        fold = folds_of(queries, folds, seed)
        parts, thresholds = np.empty((2, queries)), []
        for f in range(folds):
            others = sweep.of_queries(np.flatnonzero(fold != f))
            threshold = others.threshold(others.best(others.values()))
            parts[:, fold == f] = np.stack(sweep.parts(threshold))[:, fold == f]
            thresholds.append(threshold)
        value, keep_all, drop_all = (
            float(sweep.measure.aggregate(*each)) for each in (parts, sweep.parts(-np.inf), sweep.parts(np.inf))
        )
        return Estimate(value, keep_all, drop_all, tuple(thresholds), sweep.measure.values(*parts))

    def plot(self) -> Figure:
        """The measure at every threshold, with the best one."""
        from ranksift.plotting import drawing

        if not hasattr(self, "values_"):
            raise InputError("the measure at every threshold is not in a cutoff's file", remedy="fit it anew")
        figure, axes = drawing("threshold", str(one_measure(self.measure)))
        axes.step(self.thresholds_[1:], self.values_[1:], where="post", color="#0072B2", linewidth=1.4)
        axes.axhline(self.values_[0], color="0.6", linewidth=0.8, linestyle="--", label="nothing is shown")
        if np.isfinite(self.threshold_):
            axes.plot([self.threshold_], [self.value_], "o", color="#D55E00", label=f"best: {self.threshold_:.4g}")
        else:
            axes.set_title("Best: everything is shown" if self.threshold_ < 0 else "Best: nothing is shown")
        axes.legend(frameon=False)
        return figure

    def _sweep(self, lists: Lists | None, method: str) -> Sweep:
        if not isinstance(lists, Lists):  # as when the rule kept them
            remedy = f"give them: {method}(Lists.from_arrays(scores, labels, groups))"
            raise InputError("a cutoff does not keep the documents that it was fitted on", remedy=remedy)
        return Sweep.of(lists, one_measure(self.measure))
