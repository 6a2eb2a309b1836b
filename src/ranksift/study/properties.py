"""Which formal properties a measure has, decided by search: Moffat's seven numeric ones, and invariance of gains.

Every list of every pool of a few documents is scored. A property that fails somewhere comes with the smallest case in
which it does; one that fails nowhere holds in all cases that were tried, which is no proof, but rarely wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import ready_measures
from ranksift.evaluation.table import Column, Table
from ranksift.measures.measure import CATALOGUE, TOLERANCE, Measure
from ranksift.measures.names import MeasureLike, parse_measure
from ranksift.parameters import function, integer, takes
from ranksift.study.result import PerMeasure, Picture, Result
from ranksift.study.wording import joined

if TYPE_CHECKING:
    import polars as pl

MOFFAT = "Moffat: Seven numeric properties of effectiveness metrics, 2013"

#: The properties, with what each of them asks. For a cost such as Fdocs, higher means better everywhere.
PROPERTIES: Mapping[str, str] = {
    "boundedness": "Every list scores between 0 and 1.",
    "monotonicity": "Looking one rank deeper never lowers the score.",
    "convergence": "Replacing a document in the list by a more relevant one raises the score.",
    "top-weightedness": "Of two documents in the list, putting the more relevant one first scores higher.",
    "localization": "The score depends only on what the list shows, whatever else was judged.",
    "completeness": "The score is meaningful in queries without a relevant document.",
    "realizability": "If any document is relevant, some list has the highest score, 1, at every depth.",
    "scale": "Multiplying gains by 3 changes no score.",
    "shift": "Adding 1 to gains changes no score.",
}

#: Kinds of labels, each with those before it; the word is what is said of a property that holds up to there.
SCALES: Mapping[str, tuple[float, ...]] = {
    "binary": (0.0, 1.0),
    "graded": (0.0, 1.0, 2.0),
    "yes": (-1.0, 0.0, 1.0, 2.0),
}

# The k that is used while properties are looked for does not matter; this one is written if none is given.
_ANY_K = 10


class Shown(NamedTuple):
    """A list with its score, and all that is needed to compute it again."""

    judged: tuple[float, ...]
    """Labels of the judged documents."""
    shown: tuple[float, ...]
    """Labels of the list."""
    measure: Measure
    value: float
    gains: Gains
    scale: tuple[float, ...]
    """All labels that there are: some measures ask for the largest."""

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        """Judgments that :func:`evaluate` takes; the query ``scale`` is there for its labels."""
        left = Counter(self.judged)
        left.subtract(self.shown)
        labels = [*self.shown, *left.elements()]
        everything = {f"s{i}": label for i, label in enumerate(self.scale)}
        return {"q": {f"d{i}": label for i, label in enumerate(labels, 1)}, "scale": everything}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The list."""
        return {"q": {f"d{i}": -float(i) for i in range(1, len(self.shown) + 1)}}

    def __str__(self) -> str:
        return f"{self.measure} gives {_written(self.shown)} {_number(self.value)}"


@dataclass(frozen=True)
class Counterexample:
    """The smallest case in which a property does not hold.

    Attributes
    ----------
    property
        The name of the property, as in :data:`PROPERTIES`.
    lists
        One or two lists whose scores contradict it.
    words
        What happens in this case.
    """

    property: str
    lists: tuple[Shown, ...]
    words: str

    def __str__(self) -> str:
        return self.words


class Finding(NamedTuple):
    """How far a property of a measure holds."""

    holds: str | None
    """``yes``; ``graded``: not with forbidden documents; ``binary``: not with grades; ``no``; None: has no meaning."""
    counterexample: Counterexample | None
    """On the simplest labels for which it fails."""


@dataclass(frozen=True, eq=False, repr=False)
class Properties(Result):
    """Results of :func:`properties`.

    Attributes
    ----------
    found
        For every measure a :class:`Finding` for every property.
    documents, lists
        The largest size of pools, and the number of lists that were scored.
    """

    found: PerMeasure[dict[str, Finding]]
    documents: int
    lists: int

    def holds(self, measure: MeasureLike, name: str) -> str | None:
        """How far a property holds: ``yes``, ``graded``, ``binary``, ``no``, or None if it has no meaning."""
        return self._finding(measure, name).holds

    def counterexample(self, measure: MeasureLike, name: str) -> Counterexample | None:
        """A case in which a property fails; None if there is none."""
        return self._finding(measure, name).counterexample

    def _finding(self, measure: MeasureLike, name: str) -> Finding:
        if name not in PROPERTIES:
            raise InputError(f"property {name!r} is unknown", remedy=f"use {', '.join(PROPERTIES)}")
        return self.found[measure][name]  # type: ignore[index]

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per measure and property."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "measure": measure,
                    "property": name,
                    "holds": finding.holds,
                    "counterexample": finding.counterexample.words if finding.counterexample else None,
                }
                for measure, findings in self.found.items()
                for name, finding in findings.items()
            ],
            schema=dict.fromkeys(("measure", "property", "holds", "counterexample"), pl.String),
        )

    def table(self) -> Table:
        """One row per measure, one column per property."""
        rows = [[measure, *(f.holds for f in findings.values())] for measure, findings in self.found.items()]
        notes = [
            "yes: in all cases tried; graded: not with forbidden documents; binary: not with grades; "
            "-: gains have no effect",
            *(
                [f"k runs from 1 to {self.documents + 1}, whatever k is named"]
                if any("@" in m for m in self.found)
                else []
            ),
        ]
        title = f"Properties of measures, in all {self.lists:,} lists of up to {self.documents} documents"
        return Table([Column("measure"), *map(Column, PROPERTIES)], rows, title=title, notes=notes)

    def reading(self) -> list[str]:
        """Every property that fails, measure by measure, with its counterexample."""
        return [
            f"{measure}, {name}: {finding.counterexample}."
            for measure, findings in self.found.items()
            for name, finding in findings.items()
            if finding.counterexample
        ]

    def pictures(self) -> list[Picture]:
        """None."""
        return []


@takes(documents=integer(2, 6), progress=function())
def properties(
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    gains: GainsLike = "linear",
    documents: int = 5,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Properties:
    """Look for lists that contradict a property of a measure: Moffat's seven, and invariance to scale and shift.

    Lists show some of the judged documents in some order. Labels are first 0 and 1, then also 2, and then also −1, a
    forbidden document; a property that fails is shown to fail on the simplest labels possible. A measure that stops at
    k is studied at every k: a list of three documents has its score at k = 3, and one rank deeper at k = 4.

    Parameters
    ----------
    measures
        The measures; by default all.
    gains
        The gains of labels.
    documents
        The largest number of judged documents of a query.
    progress
        Wraps the measures.

    Examples
    --------
    >>> found = properties("RR P@10 nDCG_org@10", documents=3)
    >>> found.holds("RR", "convergence"), found.holds("nDCG_org@10", "boundedness")
    ('no', 'graded')
    >>> print(found.counterexample("P@10", "top-weightedness"))
    judged [1, 0]: P@2 gives [0, 1] 0.5000, and [1, 0] 0.5000
    """
    ready = _every_measure() if measures is None else ready_measures(measures)
    scales = {word: _Cases.of(labels, documents, Gains.of(gains)) for word, labels in SCALES.items()}
    found = {str(measure): _findings(measure, scales) for measure in progress(ready)}
    return Properties(PerMeasure(found), documents, len(scales["yes"].lists))


def _every_measure() -> list[Measure]:
    """The catalogue: whole lists, and those of the top k."""
    parse_measure("nDCG")  # fills it
    found = []
    for name, kind in CATALOGUE.items():
        if not kind.needs_k:
            found.append(parse_measure(name))
        if kind.takes("k"):
            found.append(parse_measure(f"{name}@{_ANY_K}"))
    return found


# -- cases -------------------------------------------------------------------------------------------------------------

Labels = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Cases:
    """Every list of every pool, small ones first; and pairs of lists of one pool that properties compare."""

    scale: Labels
    depth: int
    pools: list[Labels]
    lists: list[Labels]
    judged: JudgedRun

    @classmethod
    def of(cls, scale: Labels, documents: int, gains: Gains) -> _Cases:
        best_first = sorted(scale, reverse=True)
        pools, lists = [], []
        for size in range(1, documents + 1):
            for pool in combinations_with_replacement(best_first, size):
                for length in range(size + 1):
                    shown = sorted(set(permutations(pool, length)), reverse=True)
                    pools += [pool] * len(shown)
                    lists += shown
        rows = [
            (label, -place, case, place < len(shown))
            for case, (pool, shown) in enumerate(zip(pools, lists, strict=True))
            for place, label in enumerate([*shown, *_left(pool, shown).elements()])
        ]
        label, score, group, kept = (np.array(column) for column in zip(*rows, strict=True))
        return cls(
            scale, documents + 1, pools, lists, JudgedRun.from_arrays(label, score, group, kept=kept, gains=gains)
        )

    @cached_property
    def length(self) -> Ints:
        """Of each list."""
        return np.array([len(shown) for shown in self.lists])

    @cached_property
    def _number(self) -> dict[tuple[Labels, Labels], int]:
        return {case: i for i, case in enumerate(zip(self.pools, self.lists, strict=True))}

    def _pairs(self, other: Callable[[Labels, Labels], Iterator[Labels]]) -> Ints:
        """Each list beside each of those that come of it."""
        found = [
            (i, self._number[pool, after])
            for i, (pool, shown) in enumerate(zip(self.pools, self.lists, strict=True))
            for after in other(pool, shown)
        ]
        return np.array(found).T

    @cached_property
    def extended(self) -> Ints:
        """Lists beside those with one more document."""
        return self._pairs(lambda pool, shown: ((*shown, label) for label in _left(pool, shown) if shown))

    @cached_property
    def exchanged(self) -> Ints:
        """Lists beside those in which a better document has taken the place of another."""
        return self._pairs(
            lambda pool, shown: (
                (*shown[:i], better, *shown[i + 1 :])
                for i, label in enumerate(shown)
                for better in _left(pool, shown)
                if better > label
            )
        )

    @cached_property
    def swapped(self) -> Ints:
        """Lists beside those in which the better one of two documents has come to the higher rank."""
        return self._pairs(
            lambda pool, shown: (
                (*shown[:i], shown[j], *shown[i + 1 : j], shown[i], *shown[j + 1 :])
                for i in range(len(shown))
                for j in range(i + 1, len(shown))
                if shown[j] > shown[i]
            )
        )

    @cached_property
    def alike(self) -> Ints:
        """Lists beside the same list of other pools."""
        first: dict[Labels, int] = {}
        return np.array([(first.setdefault(shown, i), i) for i, shown in enumerate(self.lists)]).T

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """Whether anything is relevant."""
        return np.array([max(pool) > 0 for pool in self.pools])


def _left(pool: Labels, shown: Sequence[float]) -> Counter[float]:
    """What a list leaves out."""
    return Counter(pool) - Counter(shown)


# -- search ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Scored:
    """A measure's scores of all cases, at every depth where it has one."""

    measure: Measure
    cases: _Cases
    gains: Gains

    @cached_property
    def at(self) -> list[Measure]:
        """The measure at every depth."""
        if self.measure.k is None:
            return [self.measure]
        return [_at(self.measure, k) for k in range(1, self.cases.depth + 1)]

    @cached_property
    def values(self) -> Floats:
        """Depths × cases."""
        no_nil = np.zeros(len(self.cases.lists), dtype=np.int64)
        judged = replace(
            self.cases.judged, gains=self.gains, nil={self.measure.nil: no_nil} if self.measure.nil else {}
        )
        return np.array([_alone(measure, judged) for measure in self.at])

    @cached_property
    def degenerate(self) -> NDArray[np.bool_]:
        """Depths × cases: where no list can be told from another."""
        pool, none = self.cases.judged.pool, np.zeros(len(self.cases.lists), dtype=bool)
        masks = (measure.degenerate(pool, self.gains) for measure in self.at)
        return np.array([none if mask is None else mask for mask in masks])

    @cached_property
    def own(self) -> Ints:
        """The depth of each list: its own length."""
        return np.zeros_like(self.cases.length) if len(self.at) == 1 else np.maximum(self.cases.length, 1) - 1

    @cached_property
    def worth(self) -> Floats:
        """Each list at its own depth; higher is better, also for a cost."""
        own = self.values[self.own, np.arange(len(self.cases.lists))]
        return own if self.measure.higher_is_better else -own

    def shown(self, case: int, depth: int | None = None) -> Shown:
        """A list with its score, by default at its own depth."""
        depth = int(self.own[case]) if depth is None else depth
        return Shown(
            self.cases.pools[case],
            self.cases.lists[case],
            self.at[depth],
            float(self.values[depth, case]),
            self.gains,
            self.cases.scale,
        )


def _at(measure: Measure, k: int) -> Measure:
    """A measure, or the one that it is around, at another depth."""
    return measure @ k if measure.takes("k") else measure(measure=_at(measure.measure, k))  # type: ignore[attr-defined]


def _alone(measure: Measure, judged: JudgedRun) -> Floats:
    """The value of every list, were it the only query."""
    top, bottom = measure.per_query(judged)
    return measure.values(top[:, None], bottom[:, None])[:, 0]


def _findings(measure: Measure, scales: Mapping[str, _Cases]) -> dict[str, Finding]:
    every = {word: _Scored(measure, cases, cases.judged.gains) for word, cases in scales.items()}
    widest = every["yes"]
    meaningless = set()
    if _localization(widest) is None:  # what a list scores elsewhere it scores if nothing is relevant
        meaningless.add("completeness")
    if _invariance(_jumbled)(widest) is None:
        meaningless |= {"scale", "shift"}
    found = {}
    for name in PROPERTIES:
        held, finding = "no", None
        for word, scored in every.items() if name not in meaningless else ():
            if (lists := _SEARCHES[name](scored)) is not None:
                finding = Finding(held, Counterexample(name, lists, _words(name, lists)))
                break
            held = word
        found[name] = finding or Finding(held, None)
    for name in meaningless:
        found[name] = Finding("yes" if name == "completeness" else None, None)
    return found


Search = Callable[[_Scored], "tuple[Shown, ...] | None"]


def _first(fails: NDArray[np.bool_]) -> int | None:
    """Cases are in the order of their size: the first is the smallest. If there are depths, at any of them."""
    if fails.ndim > 1:
        fails = np.asarray(fails.any(axis=0))
    return int(fails.argmax()) if fails.any() else None


def _compared(pairs: Ints, scored: _Scored, least: float) -> tuple[Shown, ...] | None:
    """The first pair of lists of which the second is not better by at least that much."""
    if not pairs.size:
        return None
    before, after = pairs
    i = _first(scored.worth[after] - scored.worth[before] < least)
    return None if i is None else (scored.shown(before[i]), scored.shown(after[i]))


def _boundedness(scored: _Scored) -> tuple[Shown, ...] | None:
    outside = (scored.values < -TOLERANCE) | (scored.values > 1.0 + TOLERANCE)
    case = _first(outside)
    return None if case is None else (scored.shown(case, int(outside[:, case].argmax())),)


def _localization(scored: _Scored) -> tuple[Shown, ...] | None:
    one, other = scored.cases.alike
    differ = np.abs(scored.values[:, one] - scored.values[:, other]) > TOLERANCE
    i = _first(differ)
    if i is None:
        return None
    depth = int(differ[:, i].argmax())
    return scored.shown(one[i], depth), scored.shown(other[i], depth)


def _completeness(scored: _Scored) -> tuple[Shown, ...] | None:
    """A score by convention, as no lists can be told apart; a local measure has none, and is not asked."""
    empty = scored.degenerate & ~scored.cases.relevant & (scored.cases.length > 0)
    case = _first(empty)
    return None if case is None else (scored.shown(case, int(empty[:, case].argmax())),)


def _realizability(scored: _Scored) -> tuple[Shown, ...] | None:
    sign, top = (1.0, 1.0) if scored.measure.higher_is_better else (-1.0, 0.0)
    last: dict[Labels, list[int]] = {}
    for case, pool in enumerate(scored.cases.pools):
        last.setdefault(pool, []).append(case)
    for cases in last.values():
        if not scored.cases.relevant[cases[0]]:
            continue
        best = (sign * scored.values[:, cases]).max(axis=1)
        depth = _first(np.abs(best - sign * top) > TOLERANCE)
        if depth is not None:
            return (scored.shown(cases[int((sign * scored.values[depth, cases]).argmax())], depth),)
    return None


def _invariance(change: Callable[[Floats], Floats]) -> Search:
    def search(scored: _Scored) -> tuple[Shown, ...] | None:
        labels = np.array(scored.cases.scale)
        gains = scored.measure.gains or scored.gains
        changed = Gains.of(dict(zip(labels.tolist(), change(gains(labels)).tolist(), strict=True)))
        other = _Scored(_with_gains(scored.measure, changed), scored.cases, changed)
        differ = np.abs(scored.values - other.values) > TOLERANCE
        told = differ & ~(scored.degenerate | other.degenerate)  # the better example, if there is one
        differ = told if told.any() else differ
        case = _first(differ)
        if case is None:
            return None
        depth = int(differ[:, case].argmax())
        return scored.shown(case, depth), other.shown(case, depth)

    return search


def _jumbled(gain: Floats) -> Floats:
    """Gains that have nothing to do with those given: whoever sees no difference does not look at gains."""
    return np.cos(7.0 * gain)


def _with_gains(measure: Measure, gains: Gains) -> Measure:
    """The measure with other gains where it has gains of its own."""
    if measure.gains is None:
        return measure
    if measure.takes("gains"):
        return measure(gains=gains)
    return measure(measure=_with_gains(measure.measure, gains))  # type: ignore[attr-defined]


_SEARCHES: Mapping[str, Search] = {
    "boundedness": _boundedness,
    "monotonicity": lambda scored: _compared(scored.cases.extended, scored, -TOLERANCE),
    "convergence": lambda scored: _compared(scored.cases.exchanged, scored, TOLERANCE),
    "top-weightedness": lambda scored: _compared(scored.cases.swapped, scored, TOLERANCE),
    "localization": _localization,
    "completeness": _completeness,
    "realizability": _realizability,
    "scale": _invariance(lambda gain: 3.0 * gain),
    "shift": _invariance(lambda gain: gain + 1.0),
}


# -- words -------------------------------------------------------------------------------------------------------------


def _words(name: str, lists: tuple[Shown, ...]) -> str:
    one, other = lists[0], lists[-1]
    value = _number(one.value)
    judged = f"judged {_written(one.judged)}"
    if name == "boundedness":
        return f"{judged}: {one}"
    if name == "localization":
        return f"{judged}: {one}; judged {_written(other.judged)}: {_number(other.value)}"
    if name == "completeness":
        return f"{judged}: {one.measure} gives every list {value}, by convention"
    if name == "realizability":
        return f"{judged}: no list is better than {_written(one.shown)}, to which {one.measure} gives {value}"
    if name in ("scale", "shift"):
        worth = joined([f"{gain:g}" for gain in other.gains(np.array(one.judged))], most=9)
        return f"{judged}: {one}; with gains {worth} it gives {_number(other.value)}"
    again = f"{_written(other.shown)} {_number(other.value)}" if other.measure == one.measure else str(other)
    return f"{judged}: {one}, and {again}"


def _number(value: float) -> str:
    """Four decimals; more where they would make a whole number of one that is not."""
    digits = next(d for d in (4, 7, 12) if d == 12 or abs(value - round(value, d)) <= TOLERANCE or round(value, d) % 1)
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _written(labels: Sequence[float]) -> str:
    return f"[{', '.join(f'{label:g}' for label in labels)}]"
