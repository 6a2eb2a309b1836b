"""One threshold for all queries: the exact optimum of a measure (as in Carmel et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import folds_of
from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.lists import Lists
from ranksift.collection.qrels import read_qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.run_parts import MEMORY, RunParts, memory_for
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.limits import LIMITS, Limits, LimitsLike
from ranksift.cutoffs.sweep import MEASURE as MEASURE
from ranksift.cutoffs.sweep import Sweep, Swept, sweep_of
from ranksift.cutoffs.sweep import one_measure as one_measure
from ranksift.cutoffs.tradeoff import Tradeoff, with_costs
from ranksift.errors import InputError, tell
from ranksift.evaluation.significance import times_drawn
from ranksift.measures.names import MeasureLike
from ranksift.parameters import integer, number, optional, parameter, samples_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: How many times the memory of an evaluation a fit takes of a run that is read whole.
TIMES = 2


class Interval(NamedTuple):
    """Where a number lies if queries are drawn again."""

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
    kept: tuple[bool, ...] = ()  # of each fold, whether its own queries keep the limits that the others were given


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
    tradeoff_
        With limits: the same for the measure, the limited measures, Fdocs, GoodFiltered and Empty. Not saved.

    Examples
    --------
    >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> cut.threshold_, cut.value_
    (0.7, 1.0)
    >>> cut.keep([0.8, 0.5]).tolist()
    [True, False]

    If hiding good documents is a problem, limit how many may be hidden:

    >>> scores, labels, groups = [0.9, 0.8, 0.75, 0.7, 0.6], [1, -2, -2, 1, -2], ["q", "r", "s", "t", "u"]
    >>> cut = GlobalCutoff("nDCG_f@3").fit(scores, labels, groups)
    >>> cut.threshold_, cut.value_
    (0.9, 0.8)
    >>> cut = GlobalCutoff("nDCG_f@3", at_most="GoodFiltered<=0.3").fit(scores, labels, groups)
    >>> cut.threshold_, cut.value_
    (0.7, 0.6)
    """

    rule: ClassVar[str] = "global"
    learned: ClassVar[tuple[str, ...]] = ("threshold_",)

    measure: MeasureLike = parameter(
        "nDCG_f@3",
        MEASURE,
        """The measure that the threshold maximises on the documents that it is fitted on (or minimises, if lower is
        better): a mean over queries, or the ratio of sums of a micro measure.""",
    )
    at_most: LimitsLike = parameter(
        None,
        optional(LIMITS),
        """Limits such as ``"Empty<=0.1 GoodFiltered<=0.3"`` or ``{"Empty": 0.1}``: the threshold is the best of those
        that keep them on the documents that it is fitted on. Any measure can be limited; ``R@10>=0.5`` is a lower
        limit.""",
    )

    @property
    def limits(self) -> Limits:
        """The limits that the threshold keeps."""
        return Limits.of(self.at_most)

    def _learn(self, lists: Lists | Swept) -> None:
        measure, limits = one_measure(self.measure), self.limits
        sweep = sweep_of(lists, measure)
        self.thresholds_, self.values_ = sweep.thresholds, sweep.values()
        best = sweep.best(self.values_)
        if limits:
            others = with_costs(measure, limits.measures)[1:]
            self.tradeoff_ = Tradeoff.of_sweeps([sweep, *(sweep_of(lists, other) for other in others)])
            best = self.tradeoff_.best(measure, limits)
            self.notes_ += _said_of(limits, self.tradeoff_)
            self.fitted_on_["limits"] = {str(m): self.tradeoff_.at(best)[str(m)] for m in limits.measures}
        self.threshold_, self.value_ = sweep.threshold(best), float(self.values_[best])
        self.fitted_on_["value"] = {
            str(measure): self.value_,
            "keep_all": float(self.values_[-1]),
            "drop_all": float(self.values_[0]),
        }

    def fit_run(
        self,
        qrels: Any,
        run: Any,
        *,
        cut_scores: Any = None,
        gains: GainsLike = "linear",
        unjudged: Unjudged = "zero",
        memory: int | str | None = None,
    ) -> Self:
        """Fit the threshold to a run and its judgments.

        Parameters
        ----------
        qrels, run, gains, unjudged
            As in :func:`evaluate`.
        cut_scores
            Another run with scores of the same documents, if the cut is not made on the scores that rank them. Both are
            read completely.
        memory
            How much memory the rows of the run may use, such as ``"2GB"``. A file that would use more is read a few
            queries at a time, with the same result. None: half of the free memory.
        """
        optional(MEMORY, "2GB").check("memory", memory)
        may_take = None if cut_scores is not None else memory_for(run, memory, TIMES)
        if may_take is None:
            return super().fit_run(qrels, run, cut_scores=cut_scores, gains=gains, unjudged=unjudged)
        from ranksift.cutoffs.streaming import fit_in_parts

        fit_in_parts(self, read_qrels(qrels), RunParts(run, memory=may_take), gains=gains, unjudged=unjudged)
        tell(self.notes_)
        return self

    @classmethod
    def of_tradeoff(cls, tradeoff: Tradeoff, measure: MeasureLike, at_most: LimitsLike, instead_of: Cutoff) -> Self:
        """A cutoff at the best threshold of a known trade-off, instead of one that is fitted to its scores.

        Examples
        --------
        >>> lists = Lists.from_arrays([0.9, 0.8, 0.75, 0.7, 0.6], [1, -2, -2, 1, -2], ["q", "r", "s", "t", "u"])
        >>> cut = GlobalCutoff("nDCG_f@3").fit_lists(lists)
        >>> GlobalCutoff.of_tradeoff(Tradeoff.of(lists), "nDCG_f@3", "GoodFiltered<=0.3", cut).threshold_
        0.7
        """
        made = cls(measure, at_most)
        made.check_parameters()
        best, values = tradeoff.best(measure, at_most), tradeoff[measure]
        made.threshold_, made.value_ = float(tradeoff.thresholds[best]), float(values[best])
        made.notes_ = _said_of(made.limits, tradeoff)
        made.fitted_on_ = {
            **{name: value for name, value in instead_of.fitted_on_.items() if name not in ("limits", "value")},
            "limits": {str(m): tradeoff.at(best)[str(m)] for m in made.limits.measures},
            "value": {
                str(one_measure(measure)): made.value_,
                "keep_all": float(values[-1]),
                "drop_all": float(values[0]),
            },
        }
        return made

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return lists.score >= self.threshold_

    def to_dict(self) -> dict[str, Any]:
        """What :meth:`save` writes; a rule without limits is written as in versions without limits."""
        found = super().to_dict()
        if self.at_most is None:
            del found["parameters"]["at_most"]
        return found

    @classmethod
    def _from_dict(cls, given: Mapping[str, Any]) -> Self:
        made = super()._from_dict({**given, "parameters": {"at_most": None, **given["parameters"]}})
        made.value_ = float(given["fitted_on"]["value"][str(one_measure(made.measure))])
        return made

    def thresholds(self, lists: Lists) -> Floats:
        """The same for every query."""
        return np.full(len(lists), self.threshold_)

    @property
    def promise(self) -> str:
        """What the rule promises for other queries."""
        keeps = f" of those that keep {self.limits}" if self.at_most is not None else ""
        return f"none: the threshold is the best one{keeps} on the documents that it was fitted on"

    @property
    def instruction(self) -> str:
        """How to apply the rule without this library."""
        return "score >= float(threshold)"

    # -- how sure it is ------------------------------------------------------------------------------------------

    def interval(
        self, lists: Lists | Swept | None = None, samples: int = 1000, seed: int = 0, confidence: float = 0.95
    ) -> Interval:
        """Where the threshold lies if queries are drawn again, with replacement (percentiles; ends can be infinite).

        A sample of queries in which no threshold keeps the limits is left out; a warning says how many there are.

        Parameters
        ----------
        lists
            The documents that it was fitted on.
        samples, seed
            How many times queries are resampled, and the seed.
        confidence
            The confidence level of the interval.
        """
        sweeps = self._sweeps(lists, "interval")
        number(above=0, below=1).check("confidence", confidence, 0.95)
        samples_of(width=1).check("samples", samples, 1000)
        integer(0).check("seed", seed, 0)
        found: list[float] = []
        draw = np.random.default_rng(seed)
        queries = len(sweeps[0].lists)
        few = [sweep.condensed(sweeps) for sweep in sweeps]
        for _ in range(samples):
            drawn: Ints = draw.integers(0, queries, size=(1, queries))
            tradeoff = Tradeoff.of_sweeps(few, times_drawn(drawn, queries)[0].astype(np.float64))
            if tradeoff.keeping(self.limits).any():
                found.append(self._best(tradeoff))
        if len(found) < samples:
            what = f"in {samples - len(found)} of {samples} samples of queries no threshold keeps {self.limits}"
            if not found:
                raise InputError(what, remedy="loosen a limit")
            tell((f"{what}: the interval is that of the others",))
        found.sort()
        ends = [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0]
        low, high = (found[min(len(found) - 1, int(end * len(found)))] for end in ends)
        return Interval(low, high, confidence)

    def cross_validated(self, lists: Lists | Swept | None = None, folds: int = 5, seed: int = 0) -> Estimate:
        """The rule's value on queries that it was not fitted on: each fold is cut at a threshold of the others.

        Parameters
        ----------
        lists
            The documents that it was fitted on.
        folds, seed
            The settings of the folds.

        Examples
        --------
        >>> lists = Lists.from_arrays([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
        >>> cut = GlobalCutoff("nDCG_f@3").fit_lists(lists)
        >>> cut.value_, round(cut.cross_validated(lists, folds=2).value, 3)
        (1.0, 0.667)
        """
        sweep, *limited = self._sweeps(lists, "cross_validated")
        queries = len(sweep.lists)
        fold = folds_of(queries, folds, seed)
        parts, thresholds, kept = np.empty((2, queries)), [], []
        for f in range(folds):
            own, others = fold == f, np.flatnonzero(fold != f)
            try:
                threshold = self._best(Tradeoff.of_sweeps([s.of_queries(others) for s in (sweep, *limited)]))
            except InputError as error:
                raise InputError(f"where fold {f + 1} of {folds} is left out {error}") from None
            parts[:, own] = np.stack(sweep.parts(threshold))[:, own]
            thresholds.append(threshold)
            there = {s.measure: s.measure.aggregate(*np.stack(s.parts(threshold))[:, own]) for s in (sweep, *limited)}
            kept += [all(limit.met(there[limit.measure]) for limit in self.limits)] * bool(self.limits)
        value, keep_all, drop_all = (
            float(sweep.measure.aggregate(*each)) for each in (parts, sweep.parts(-np.inf), sweep.parts(np.inf))
        )
        return Estimate(value, keep_all, drop_all, tuple(thresholds), sweep.measure.values(*parts), tuple(kept))

    def plot(self) -> Figure:
        """The measure at every threshold, with the best one; with limits, what thresholds show and hide (Tradeoff)."""
        from ranksift.plotting import drawing

        if not hasattr(self, "values_"):
            raise InputError("the measure at every threshold is not in a cutoff's file", remedy="fit it again")
        if self.at_most is not None:
            chosen = int(np.flatnonzero(self.tradeoff_.thresholds == self.threshold_)[0])
            return self.tradeoff_.plot(chosen, self.limits)
        figure, axes = drawing("threshold", str(one_measure(self.measure)))
        axes.step(self.thresholds_[1:], self.values_[1:], where="post", color="#0072B2", linewidth=1.4)
        axes.axhline(self.values_[0], color="0.6", linewidth=0.8, linestyle="--", label="nothing is shown")
        if np.isfinite(self.threshold_):
            axes.plot([self.threshold_], [self.value_], "o", color="#D55E00", label=f"best: {self.threshold_:.4g}")
        else:
            axes.set_title("Best: everything is shown" if self.threshold_ < 0 else "Best: nothing is shown")
        axes.legend(frameon=False)
        return figure

    def _sweeps(self, lists: Lists | Swept | None, method: str) -> list[Sweep]:
        """The measure's, and those of what is limited."""
        if not isinstance(lists, Lists | Swept):  # as when the rule kept them
            remedy = f"give them: {method}(Lists.from_arrays(scores, labels, groups))"
            raise InputError("a cutoff does not keep the documents that it was fitted on", remedy=remedy)
        wanted = dict.fromkeys([one_measure(self.measure), *self.limits.measures])
        return [sweep_of(lists, measure) for measure in wanted]

    def _best(self, tradeoff: Tradeoff) -> float:
        return float(tradeoff.thresholds[tradeoff.best(self.measure, self.limits)])


def _said_of(limits: Limits, tradeoff: Tradeoff) -> tuple[str, ...]:
    """What makes limits mean less than they seem to."""
    notes = [f"{r} limits nothing: every threshold keeps it" for r in limits if r.met(tradeoff[r.measure]).all()]
    if not tradeoff.keeping(limits)[1:].any():
        notes.append(f"only a threshold that shows nothing keeps {limits}")
    return tuple(notes)
