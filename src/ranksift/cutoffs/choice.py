"""Is a cut worth having? A model's own cut beside nothing shown, everything shown and a tuned threshold.

Held-out queries decide, with one standard error in favour of what needs no decision: the own cut stands unless another
is better by more than a standard error of their difference. Of those that are, the simplest is taken that the best one
does not beat by as much: a threshold that was tuned must earn its tuning.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.lists import Lists
from ranksift.cutoffs.baselines import FilterAll, RankOnly
from ranksift.cutoffs.comparison import CutoffComparison, compare_cutoffs
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.threshold import GlobalCutoff, one_measure
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.significance import resamples
from ranksift.evaluation.table import Cell, Column, Table
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike

#: What can be chosen, from what needs no decision to what needs most.
OWN, NOTHING, EVERYTHING, TUNED = "own cut", "nothing shown", "everything shown", "tuned cut"

# Folds of the held-out queries; a threshold is tuned on the others.
_FOLDS = 5

# Of queries, for intervals.
_SAMPLES = 500

# Of measures that have no k of their own.
_USUAL_K = 10


class CutWarning(RankSiftWarning):
    """Held-out queries show that a model should show nothing, or everything."""


#: What to do about a model that shows nothing.
REMEDY = "give more examples, better features or smaller penalties (gains)"


@contextmanager
def told_once() -> Iterator[None]:
    """Let models that are fitted to folds, or tried, report their cuts once: the first note, and how many there were.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     with told_once():
    ...         for queries in (12, 13, 14):
    ...             warnings.warn(f"On {queries} queries this model shows nothing", CutWarning)
    >>> [str(one.message) for one in told]
    ['On 12 queries this model shows nothing (2 more models have such a cut)']
    """
    said: list[str] = []
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def heard(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, CutWarning):
                said.append(str(message))
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.showwarning = heard
        warnings.simplefilter("always", CutWarning)
        yield
    if said:
        more = len(said) - 1
        others = f" ({more} more model{'s have' if more > 1 else ' has'} such a cut)" if more else ""
        warnings.warn(said[0] + others, CutWarning, stacklevel=5)  # the caller of the function that wraps this


@dataclass(frozen=True, eq=False)
class CutChoice:
    """The evidence of held-out queries about a cutoff. Prints as a table.

    Attributes
    ----------
    comparison
        The candidates side by side, each judged on queries that it was not tuned on.
    own
        The cutoff in question.
    chosen
        The first candidate (own cut, nothing shown, everything shown, tuned cut) that is not worse than the best one by
        more than a standard error of their difference.
    """

    comparison: CutoffComparison
    own: Cutoff
    chosen: str

    @classmethod
    def of(cls, lists: Lists, own: Cutoff, measure: MeasureLike, seed: int = 0) -> CutChoice:
        """Compare a fitted cut with the simplest ones, and with the best threshold.

        Parameters
        ----------
        lists
            Documents of at least two queries that the model was not fitted to.
        own
            The cutoff; it is judged unchanged, and not fitted again.
        measure
            The measure that decides: a mean over queries.
        seed
            The seed of the folds.

        Examples
        --------
        Uninformative scores, of documents half of which are forbidden:

        >>> draw = np.random.default_rng(0)
        >>> labels, groups = draw.choice([-10, 1], 600), np.repeat(np.arange(100), 6)
        >>> lists = Lists.from_arrays(draw.normal(size=600), labels, groups)
        >>> from ranksift.cutoffs.baselines import FixedCutoff
        >>> CutChoice.of(lists, FixedCutoff(0.0).fit_lists(lists), "nDCG_f@3").chosen
        'nothing shown'
        """
        wanted = one_measure(measure)
        rules = {NOTHING: FilterAll(), EVERYTHING: RankOnly(), OWN: _AsItIs(own), TUNED: GlobalCutoff(wanted)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)  # this was reported when the cut was fitted
            found = compare_cutoffs(
                lists,
                rules=rules,
                measure=wanted,
                k=wanted.k or _USUAL_K,
                folds=min(_FOLDS, len(lists)),
                seed=seed,
            )
        # Without the documents, which a model that remembers its choice should not hold in memory.
        return cls(replace(found, lists=lists.of_queries(np.arange(0))), own, _simplest(found))

    @property
    def measure(self) -> Measure:
        """What decides."""
        return self.comparison.measure

    def rule(self, lists: Lists) -> Cutoff:
        """The chosen rule, fitted."""
        if self.chosen == OWN:
            return self.own
        made: dict[str, Cutoff] = {NOTHING: FilterAll(), EVERYTHING: RankOnly(), TUNED: GlobalCutoff(self.measure)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            return made[self.chosen].fit_lists(lists)

    def warning(self) -> str:
        """One sentence if the model shows nothing or filters nothing, with what to do; otherwise nothing.

        That a threshold is tuned is not bad news: the table and the card say so.
        """
        own, other = (self.comparison.value(name) for name in (OWN, self.chosen))
        queries = f"On {len(self.comparison.scores.queries):,} held-out queries"
        values = f"the model's own cut has a {self.measure} of {own:.4f} and {self.chosen} has {other:.4f}"
        if self.chosen == NOTHING:
            return f"{queries} {values}, so this model shows nothing; {REMEDY}"
        if self.chosen == EVERYTHING:
            return f"{queries} {values}, so this model filters nothing; give more examples or better features"
        if self.chosen == OWN and self.comparison.value(OWN, "Empty") == 1.0:
            return f"{queries} the model's own cut shows no document at all; {REMEDY}"
        return ""

    def table(self, digits: int = 4, *, marked: bool = True) -> Table:
        """A row for each candidate, with its standard error and what it hides; the chosen one is marked."""
        scores = self.comparison.scores
        others = [m for m in scores.measures if m != self.measure and _tells(m)]
        columns = ["cut", Column(str(self.measure), digits), Column("±", digits)]
        columns += [Column(str(m), 1, "percent") for m in others]
        rows: list[list[Cell | str | float]] = []
        for name in (NOTHING, EVERYTHING, OWN, TUNED):
            row: list[Cell | str | float] = [f"{name} *" if marked and name == self.chosen else name]
            row += [Cell(self.comparison.value(name), "", marked and name == self.chosen), self._error(name)]
            rows.append([*row, *(self.comparison.value(name, m) for m in others)])
        queries = f"{len(scores.queries):,} held-out queries"
        what = "* what the model uses: its own cut, unless another one is better by more than one standard error"
        return Table(
            columns,  # type: ignore[arg-type]
            rows,
            title=f"Cuts on {queries}",
            notes=[
                *([what] if marked else []),
                "±: standard error; the tuned cut is judged on queries that it was not tuned on",
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        """What the card of a model says: values with intervals of 95 % (bootstrap), and which one was chosen."""
        return {
            "chosen": self.chosen,
            "measure": str(self.measure),
            "queries": len(self.comparison.scores.queries),
            "cuts": list(self._rows()),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        ends = self._intervals()
        for name in (NOTHING, EVERYTHING, OWN, TUNED):
            row = self.comparison.scores.row(name)
            values = {str(m): self.comparison.value(name, m) for m in self.comparison.scores.measures}
            intervals = {measure: ends[:, row, m].tolist() for m, measure in enumerate(values)}
            yield {"cut": name, "standard_error": self._error(name), **values, "intervals": intervals}

    def _intervals(self) -> NDArray[np.float64]:
        """Between which ends each aggregate is in 95 % of the samples of as many queries: 2 × cuts × measures."""
        scores = self.comparison.scores
        micro = np.array([isinstance(m, Measure) and m.aggregation == "micro" for m in scores.measures])
        top = np.where(micro, scores.numerators, scores.values)
        bottom = np.where(micro, scores.denominators, 1.0)
        found = []
        for counts in resamples(len(scores.queries), _SAMPLES, seed=0):
            above, below = (np.einsum("sq,rqm->srm", counts, part, optimize=True) for part in (top, bottom))
            found.append(np.divide(above, below, out=np.zeros_like(above), where=below > 0))
        return np.asarray(np.quantile(np.concatenate(found), [0.025, 0.975], axis=0))

    def _error(self, name: str) -> float:
        return _standard_error(_per_query(self.comparison, name))


@dataclass(eq=False)
class _AsItIs(Cutoff):
    """A cut that is fitted already, for comparisons that fit rules."""

    own: Cutoff

    def _learn(self, lists: Lists) -> None:
        pass

    def _kept(self, lists: Lists) -> Any:
        return self.own.keep_lists(lists)


def _tells(measure: Measure | str) -> bool:
    """Whether a measure describes what a cutoff shows and hides."""
    return isinstance(measure, Measure) and measure.family == "filtering"


def _simplest(found: CutoffComparison) -> str:
    """The first of the candidates that the best one does not beat by more than a standard error."""
    values = {name: _per_query(found, name) for name in (OWN, NOTHING, EVERYTHING, TUNED)}
    sign = 1.0 if found.measure.higher_is_better else -1.0
    best = max(values, key=lambda name: sign * found.value(name))
    for name, own in values.items():
        ahead = sign * (values[best] - own)
        if ahead.mean() <= _standard_error(ahead) * (1.0 + 1e-9):  # equal where a single query differs
            return name
    return best


def _per_query(found: CutoffComparison, name: str) -> Any:
    return found.scores.values[found.scores.row(name), :, found.scores.column(found.measure)]


def _standard_error(values: Any) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
