"""The trade-off of every cut between forbidden documents shown and good ones hidden, and the best cut within limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.limits import Limits, LimitsLike
from ranksift.cutoffs.sweep import Sweep, lowest_best, one_measure
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import ready_measures
from ranksift.evaluation.requirements import Requirement
from ranksift.measures.filtering import Empty, Fdocs, GoodFiltered
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import integer, is_number, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Points of a curve that are drawn; more cannot be seen.
_DRAWN = 500

_REMEDY = "make it again: Tradeoff.of(lists)"


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Measures at every threshold that is the same for all queries.

    Attributes
    ----------
    thresholds
        From +∞, where nothing is shown, through the distinct scores down to −∞, where everything is shown.
    values
        For each measure, by its name: its value at each threshold, over all queries.

    Examples
    --------
    Four documents, of which one is forbidden:

    >>> lists = Lists.from_arrays([0.9, 0.8, 0.7, 0.6], [1, -1, 1, 1], ["q", "q", "r", "r"])
    >>> found = Tradeoff.of(lists)
    >>> found.thresholds.tolist()
    [inf, 0.9, 0.8, 0.7, -inf]
    >>> found.values["GoodFiltered"].round(2).tolist(), found.values["Fdocs@3"].round(2).tolist()
    ([1.0, 0.67, 0.67, 0.33, 0.0], [0.0, 0.0, 0.5, 0.33, 0.25])
    >>> found.best("nDCG_f@3"), found.best("nDCG_f@3", "Fdocs@3<=0.2"), found.best("GoodFiltered", "Empty<=0.5")
    (4, 1, 4)
    """

    thresholds: Floats
    values: Mapping[str, Floats]

    @classmethod
    def of(cls, lists: Lists, measures: MeasureLike | Iterable[MeasureLike] | None = None) -> Tradeoff:
        """Measures of lists at every threshold.

        Parameters
        ----------
        lists
            ``Lists.from_arrays(scores, labels, groups)`` or ``Lists.from_run(qrels, run)``.
        measures
            By default nDCG_f@3 and the effects of filtering: Fdocs@3, GoodFiltered and Empty.
        """
        wanted = with_costs(one_measure("nDCG_f@3"), []) if measures is None else ready_measures(measures)
        return cls.of_sweeps([Sweep.of(lists, one_measure(measure)) for measure in wanted])

    @classmethod
    def of_sweeps(cls, sweeps: Sequence[Sweep], weights: Floats | None = None) -> Tradeoff:
        """The same, from sweeps of the same lists, which have the same thresholds; weights are those of queries."""
        thresholds = sweeps[0].thresholds.copy()
        thresholds[-1:] = -np.inf
        return cls(thresholds, {str(sweep.measure): sweep.values(weights) for sweep in sweeps})

    def __len__(self) -> int:
        return len(self.thresholds)

    def __getitem__(self, measure: MeasureLike) -> Floats:
        """The values of a measure."""
        name = str(one_measure(measure))
        if name not in self.values:
            raise InputError(f"the trade-off has no {name}", remedy=f"it has: {', '.join(self.values)}")
        return self.values[name]

    def at(self, index: int) -> dict[str, float]:
        """Every measure at a threshold, by its number."""
        return {name: float(values[index]) for name, values in self.values.items()}

    # -- the dial ------------------------------------------------------------------------------------------------

    def keeping(self, limits: LimitsLike) -> NDArray[np.bool_]:
        """Which thresholds keep all limits; within 1e-12 of a limit a value is the limit."""
        kept = np.ones(len(self), dtype=bool)
        for limit in Limits.of(limits):
            kept &= limit.met(self[limit.measure])
        return kept

    def best(self, measure: MeasureLike, limits: LimitsLike = None) -> int:
        """The number of the threshold with the best value of a measure, of those that keep all limits.

        If thresholds have values equal within 1e-12, it is the lowest, which drops least. If no threshold keeps the
        limits, the error says what could be kept.

        Examples
        --------
        >>> lists = Lists.from_arrays([0.9, 0.8, 0.7], [-1, 1, 1], ["q", "q", "r"])
        >>> Tradeoff.of(lists).best("nDCG_f@3", "Fdocs@3<=0.2 GoodFiltered<=0.5")
        Traceback (most recent call last):
        ranksift.errors.InputError: no threshold keeps Fdocs@3<=0.2 and GoodFiltered<=0.5: with GoodFiltered<=0.5 the
        least Fdocs@3 is 0.3334, with Fdocs@3<=0.2 the least GoodFiltered is 1; loosen one of them
        """
        wanted = one_measure(measure)
        kept = self.keeping(limits)
        if not kept.any():
            raise self._conflict(Limits.of(limits))
        worth = self[wanted] if wanted.higher_is_better else -self[wanted]
        return lowest_best(np.where(kept, worth, -np.inf))

    def _conflict(self, limits: Limits) -> InputError:
        """Which limits no threshold keeps together, and what could be kept of each."""
        clashing = limits.requirements
        for limit in limits:  # a limit that can be left out is not part of the conflict
            rest = _without(clashing, limit)
            if rest and not self.keeping(Limits(rest)).any():
                clashing = rest
        said = []
        for limit in clashing:
            rest = _without(clashing, limit)
            beside = f"with {_listed(rest)} " if rest else ""
            reached = self[limit.measure][self.keeping(Limits(rest))]
            most = limit.operator == ">="
            value = _written(float(reached.max() if most else reached.min()), up=not most)
            said.append(f"{beside}the {'most' if most else 'least'} {limit.measure} is {value}")
        remedy = "loosen it" if len(clashing) == 1 else "loosen one of them"
        return InputError(f"no threshold keeps {_listed(clashing)}: {', '.join(said)}", remedy=remedy)

    # -- fewer points --------------------------------------------------------------------------------------------

    def thinned(self, n: int, keep: Iterable[int] = ()) -> Tradeoff:
        """At most n of the thresholds: both ends, those to keep, and others at even steps along the curve.

        A step is the largest change of any measure, as a share of the measure's range. So no part of the curve is left
        without a point, and every value that is left out is close to one that is kept.

        Examples
        --------
        >>> lists = Lists.from_arrays(range(1000), [1, -1] * 500, [0, 1] * 500)
        >>> few = Tradeoff.of(lists, "GoodFiltered Empty").thinned(5)
        >>> few.thresholds.tolist()
        [inf, 999.0, 998.0, 498.0, -inf]
        """
        some = self._some(n, keep)
        return Tradeoff(self.thresholds[some], {name: values[some] for name, values in self.values.items()})

    def _some(self, n: int, keep: Iterable[int] = ()) -> Ints:
        wanted = np.unique(np.array([0, len(self) - 1, *keep], dtype=np.int64))
        integer(len(wanted)).check("n", n)
        if len(self) <= n:
            return np.arange(len(self))
        step = np.zeros(len(self))
        for values in self.values.values():
            change = np.abs(np.diff(values, prepend=values[:1]))
            np.maximum(step, change / (np.ptp(values) or 1.0), out=step)
        along = np.cumsum(step)
        targets = np.linspace(0.0, along[-1], n - len(wanted) + 2)[1:-1]
        return np.unique(np.concatenate([wanted, np.searchsorted(along, targets)]))

    # -- files ---------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON; an infinite threshold is written as ``inf`` or ``-inf``."""
        return {"thresholds": plain(self.thresholds), "measures": {n: plain(v) for n, v in self.values.items()}}

    @classmethod
    def from_dict(cls, given: Any) -> Tradeoff:
        """What :meth:`to_dict` gave; anything else is refused.

        Examples
        --------
        >>> Tradeoff.from_dict({"thresholds": ["inf", 0.5, 0.7, "-inf"], "measures": {"Empty": [1.0, 0.5, 0.5, 0.0]}})
        Traceback (most recent call last):
        ranksift.errors.InputError: the thresholds of a trade-off do not fall from inf to -inf; make it again:
        Tradeoff.of(lists)
        """
        if not isinstance(given, dict) or set(given) != {"thresholds", "measures"}:
            raise InputError("a trade-off does not consist of thresholds and measures", remedy=_REMEDY)
        levels, measures = given["thresholds"], given["measures"]
        if not isinstance(levels, list) or len(levels) < 2 or (levels[0], levels[-1]) != ("inf", "-inf"):
            raise InputError("the thresholds of a trade-off are not a list from inf to -inf", remedy=_REMEDY)
        inner = _numbers(levels[1:-1], len(levels) - 2, "the thresholds of a trade-off")
        thresholds = np.concatenate(([np.inf], inner, [-np.inf]))
        if (thresholds[1:] >= thresholds[:-1]).any():
            raise InputError("the thresholds of a trade-off do not fall from inf to -inf", remedy=_REMEDY)
        if not isinstance(measures, dict) or not measures:
            raise InputError("a trade-off has no measure", remedy=_REMEDY)
        values = {}
        for name, listed in measures.items():
            if str(one_measure(name)) != name:
                raise InputError(f"a trade-off names {name!r}, which is {one_measure(name)}", remedy=_REMEDY)
            values[name] = _numbers(listed, len(thresholds), f"{name} of a trade-off")
        return cls(thresholds, values)

    # -- picture -------------------------------------------------------------------------------------------------

    def plot(self, chosen: int | None = None, limits: LimitsLike = None) -> Figure:
        """Forbidden documents shown against good ones hidden, as the threshold falls from right to left.

        Parameters
        ----------
        chosen
            The number of a threshold to mark.
        limits
            The part of the curve that keeps these limits is drawn bold, and limits of the drawn measures as lines.
        """
        from ranksift.plotting import drawing, legend

        hidden, harm = self._of_kind(GoodFiltered), self._of_kind(Fdocs)
        where = "in the lists" if harm.k is None else f"in the top {harm.k}"
        figure, axes = drawing("good documents filtered (%)", f"forbidden documents {where} (%)", width=7.0)
        self._draw(axes, hidden, harm, Limits.of(limits), [] if chosen is None else [chosen])
        if chosen is not None:
            at, x, y = self.thresholds[chosen], 100 * self[hidden][chosen], 100 * self[harm][chosen]
            named = (
                f"threshold {at:.4g}" if np.isfinite(at) else "everything is shown" if at < 0 else "nothing is shown"
            )
            axes.plot([x], [y], "o", color="#D55E00", label=f"{named}: {x:.1f} % filtered, {y:.1f} % forbidden")
            legend(axes)
        return figure

    def _draw(self, axes: Axes, hidden: Measure, harm: Measure, limits: Limits, keep: list[int]) -> None:
        some = self._some(_DRAWN, keep)
        x, y = 100 * self[hidden][some], 100 * self[harm][some]
        axes.plot(x, y, color="0.55", linewidth=1.2, label="one threshold for all")
        if limits:
            kept = self.keeping(limits)[some]
            own: dict[str, Any] = {"color": "#0072B2", "linewidth": 2.4, "marker": ".", "markersize": 3.0}
            axes.plot(np.where(kept, x, np.nan), np.where(kept, y, np.nan), label="keeps the limits", **own)
        for limit in limits:
            line = {hidden: axes.axvline, harm: axes.axhline}.get(limit.measure)
            if line is not None:
                line(100 * limit.limit, color="0.4", linewidth=0.8, linestyle="--", label=str(limit))

    def _of_kind(self, kind: type[Measure]) -> Measure:
        for name in self.values:
            if isinstance(one_measure(name), kind):
                return one_measure(name)
        what = f"the trade-off has no {kind.__name__}, which the drawing needs"
        raise InputError(what, remedy="name it: Tradeoff.of(lists, ['nDCG_f@3', 'Fdocs@3', 'GoodFiltered'])")


def with_costs(measure: Measure, others: Iterable[Measure]) -> list[Measure]:
    """A measure, others, and what filtering does beside them: Fdocs, GoodFiltered and Empty, each once.

    >>> with_costs(one_measure("nDCG_f@5"), [one_measure("Fdocs@3")])
    [nDCG_f@5, Fdocs@3, GoodFiltered, Empty]
    """
    found = list(dict.fromkeys([measure, *others]))
    costs = (Fdocs(k=measure.k, gains=measure.gains), GoodFiltered(gains=measure.gains), Empty())
    return found + [cost for cost in costs if not any(isinstance(m, type(cost)) for m in found)]


def _without(limits: tuple[Requirement, ...], limit: Requirement) -> tuple[Requirement, ...]:
    return tuple(other for other in limits if other is not limit)


def _listed(limits: Iterable[Requirement]) -> str:
    *first, last = map(str, limits)
    return f"{', '.join(first)} and {last}" if first else last


def _written(value: float, *, up: bool) -> str:
    """A value to four decimals, rounded to the side on which it can be kept as a limit."""
    many = value * 1e4
    return f"{(math.ceil(many - 1e-8) if up else math.floor(many + 1e-8)) / 1e4:.15g}"


def _numbers(given: Any, count: int, what: str) -> Floats:
    if not isinstance(given, list) or len(given) != count or not all(map(is_number, given)):
        raise InputError(f"{what} is not a list of {count} numbers", remedy=_REMEDY)
    return np.array(given, dtype=np.float64)
