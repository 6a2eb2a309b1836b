"""Rules compared on queries that they were not fitted on, with the columns of Table 7 of Carmel et al. 2022."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.lists import Lists, lists_given
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.baselines import FilterAll, Oracle
from ranksift.cutoffs.candidates import HeldOutCandidates, Rules, candidates
from ranksift.cutoffs.held_out import Split, aggregate, splits
from ranksift.cutoffs.threshold import one_measure
from ranksift.cutoffs.tradeoff import Tradeoff
from ranksift.errors import InputError, tell
from ranksift.evaluation.compare import CORRECTIONS, TESTS, Comparison, Correction, TestName, compare
from ranksift.evaluation.evaluate import ready_measures
from ranksift.evaluation.printed import Tabular
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Cell, Column, Table
from ranksift.measures.measure import TOLERANCE, Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import function, integer

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class CutoffComparison(Tabular):
    """Results of :func:`compare_cutoffs`. Prints as Table 7 of Carmel et al. 2022, with significance letters.

    Attributes
    ----------
    scores
        Every rule's value for every query that it was not fitted on: the rules are the runs of the cube.
    measure
        The measure by which rules are compared, and to which they are fitted if they are fitted to a measure.
    k
        The k of the other measures.
    lists
        The queries that the rules were judged on; None if they were read in parts.
    bounds
        Entries of ``scores.runs`` that cannot be used as rules: the oracle.
    how
        How the rules were fitted, in words.
    significance, correction, alpha
        The settings of the significance tests.
    notes
        Remarks.
    """

    scores: Scores
    measure: Measure
    k: int
    lists: Lists | None
    bounds: tuple[str, ...]
    how: str
    significance: TestName = "t"
    correction: Correction = "holm"
    alpha: float = 0.05
    notes: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that can be used."""
        return tuple(run for run in self.scores.runs if run not in self.bounds)

    @cached_property
    def means(self) -> Floats:
        """Each measure's aggregate, rules × measures."""
        return self.scores.aggregate()

    @cached_property
    def best(self) -> str:
        """The rule with the best value; of equal ones the first."""
        column = self.means[[self.scores.row(rule) for rule in self.rules], self.scores.column(self.measure)]
        return self.rules[int(np.argmax(column if self.measure.higher_is_better else -column))]

    @cached_property
    def comparison(self) -> Comparison | None:
        """All pairs of usable rules compared on each query's own values; None if there are fewer than two of each."""
        if len(self.rules) < 2 or len(self.scores.queries) < 2:
            return None
        usable = _of_runs(self.scores, self.rules)
        return compare(usable, test=self.significance, correction=self.correction, alpha=self.alpha)

    def value(self, rule: str, measure: MeasureLike | None = None) -> float:
        """A rule's value by a measure; by default the one that rules are compared by."""
        column = self.scores.column(self.measure if measure is None else measure)
        return float(self.means[self.scores.row(rule), column])

    # -- parts ---------------------------------------------------------------------------------------------

    def of_queries(self, chosen: NDArray[Any]) -> CutoffComparison:
        """The same rules, fitted as they were, on some of the queries (indices or a mask)."""
        which = np.arange(len(self.scores.queries))[chosen]
        if not len(which):
            raise InputError("no query is chosen", remedy="choose some")
        return replace(self, scores=_of_queries(self.scores, which), lists=self._judged_on.of_queries(which))

    def apart(self) -> dict[str, CutoffComparison]:
        """Queries with a single document, and those with several (Carmel et al. 2022, Table 6).

        A query whose only document is judged asks for one decision: its nDCG_f is 1 if that is right, and 0 otherwise,
        so the mean is the accuracy of filtering (if no gain is 0).
        """
        single = (self._judged_on.lengths == 1) & (self._judged_on.pool.size == 1)
        named = {"single-document queries": single, "other queries": ~single}
        return {
            name: replace(self.of_queries(mask), how=f"{name}; {self.how}")
            for name, mask in named.items()
            if mask.any()
        }

    @cached_property
    def tradeoff(self) -> Tradeoff:
        """F-docs@k and good documents filtered at every threshold that is the same for all queries."""
        return Tradeoff.of(self._judged_on, ["GoodFiltered", f"Fdocs@{self.k}"])

    # -- tables ------------------------------------------------------------------------------------------------

    def table(self, digits: int = 4) -> Table:
        """One row per rule; letters at the measure that rules are compared by."""
        letters = {} if self.comparison is None else self.comparison.letters
        means = self.means
        best = self._best(digits)
        rows: list[list[Cell | str]] = []
        for i, run in enumerate(self.scores.runs):
            beaten = "" if run not in letters or self.comparison is None else self._beaten(run)
            rows.append([letters.get(run, ""), run])
            for m, measure in enumerate(self.scores.measures):
                rows[-1].append(Cell(float(means[i, m]), beaten if measure == self.measure else "", bool(best[i, m])))
        columns = [Column(""), Column("rule"), *(_column(m, digits) for m in self.scores.measures)]
        n = len(self.scores.queries)
        return Table(columns, rows, title=f"Rules on {n:,} quer{'y' if n == 1 else 'ies'}", notes=self._notes())

    def _best(self, digits: int) -> NDArray[np.bool_]:
        """The best rule by each measure of quality; a cost alone has a trivial winner, which shows all or nothing."""
        shown = np.round(self.means, digits)
        shown[[self.scores.row(bound) for bound in self.bounds]] = -np.inf
        quality = [isinstance(m, Measure) and m.higher_is_better for m in self.scores.measures]
        best: NDArray[np.bool_] = (shown == shown.max(axis=0)) & quality
        return best

    def _beaten(self, rule: str) -> str:
        assert self.comparison is not None
        glue = "" if len(self.rules) <= 26 else ","
        return glue.join(self.comparison.letters[other] for other in self.comparison.better_than(rule, self.measure))

    @property
    def _unseen(self) -> float:
        """Good documents that no list holds, as GoodFiltered counts them."""
        if self.lists is None:
            return self.value("rank-only", "GoodFiltered") if "rank-only" in self.scores.runs else 0.0
        return aggregate(one_measure("GoodFiltered"), self.lists, np.ones(len(self.lists.score), dtype=bool))

    @property
    def _judged_on(self) -> Lists:
        if self.lists is None:
            raise InputError("the lists were read in parts", remedy="compare what fits into memory")
        return self.lists

    def _notes(self) -> list[str]:
        notes = [f"{self.how[0].upper()}{self.how[1:]}."]
        if self.comparison is not None:
            test = f"{TESTS[self.significance]}, {CORRECTIONS[self.correction]}, p <= {self.alpha:g}"
            notes.append(f"A letter means significantly better than that rule by {self.measure} ({test}).")
        if "filter-only" in self.scores.runs:
            notes.append("filter-only: what a rule keeps, in random order (expected values).")
        if self.bounds:
            notes.append(
                f"{', '.join(self.bounds)}: the best cut of each query, known from its labels. They are not usable "
                "rules."
            )
        if unseen := self._unseen:
            notes.append(
                f"GoodFiltered also counts good documents that no list holds: {unseen:.2%} where everything is shown."
            )
        return [*notes, *self.notes]

    def reading(self) -> list[str]:
        """The result in plain words, as sentences."""
        most = self.value(self.best)
        same = [r for r in self.rules if r != self.best and abs(self.value(r) - most) <= TOLERANCE]
        also = f"; so {'is' if len(same) == 1 else 'are'} {', '.join(same)}" if same else ""
        found = [f"{self.best} is the best rule by {self.measure}: {most:.4f}{also}."]
        if self.comparison is not None:
            beaten = self.comparison.better_than(self.best, self.measure)
            level = [rule for rule in self.rules if rule not in (self.best, *beaten, *same)]
            if beaten:
                found.append(f"It is significantly better than {', '.join(beaten)}.")
            if level:
                found.append(f"It cannot be distinguished from {', '.join(level)}.")
        for bound in self.bounds:
            found.append(f"The {bound} has {self.value(bound):.4f}: better cuts on these scores cannot give more.")
        return found

    def __repr__(self) -> str:
        return f"<CutoffComparison: {len(self.rules)} rules, {len(self.scores.queries)} queries>"

    # -- data --------------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[dict[str, Any]]:
        against = self._against_best()
        for i, run in enumerate(self.scores.runs):
            yield {
                "rule": run,
                "usable": run not in self.bounds,
                **dict(zip(map(str, self.scores.measures), self.means[i].tolist(), strict=True)),
                "difference_to_best": self.value(run) - self.value(self.best),
                "p_against_best": against.get(run),
            }

    def _against_best(self) -> dict[str, float]:
        """Corrected p of the best rule and each other one."""
        if self.comparison is None:
            return {}
        column = self.comparison.scores.column(self.measure)
        return {
            (b if a == self.best else a): float(self.comparison.corrected_p[i, column])
            for i, (a, b) in enumerate(self.comparison.pairs)
            if self.best in (a, b)
        }

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per rule; p is corrected, and null for the best rule and for bounds."""
        import polars as pl

        return pl.DataFrame(
            list(self._rows()), infer_schema_length=None, schema_overrides={"p_against_best": pl.Float64}
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return {
            "measure": str(self.measure),
            "k": self.k,
            "queries": len(self.scores.queries),
            "how": self.how,
            "best": self.best,
            "significance": self.significance,
            "correction": self.correction,
            "alpha": self.alpha,
            "rules": list(self._rows()),
            "comparisons": [] if self.comparison is None else self.comparison.to_dict()["comparisons"],
            "notes": list(self.notes),
        }

    # -- picture -----------------------------------------------------------------------------------------------

    def plot(self) -> Figure:
        """F-docs@k against good documents filtered: a curve of all thresholds, and each rule as a point.

        The curve is that of thresholds which are the same for all queries. The points are values of rules that were
        fitted on other queries.
        """
        from ranksift.plotting import legend, styles

        shown = next(m for m in self.scores.measures if str(m) == f"Fdocs@{self.k}")
        figure = self.tradeoff.plot()
        axes = figure.axes[0]
        for run, style in zip(self.scores.runs, styles(), strict=False):
            # Hollow, so that rules which do the same are seen to.
            style = {**style, "linestyle": "none", "markersize": 7.0, "markerfacecolor": "none", "markeredgewidth": 1.6}
            if run in self.bounds:
                style["color"] = "0.4"
            axes.plot([100 * self.value(run, "GoodFiltered")], [100 * self.value(run, shown)], label=run, **style)
        legend(axes)
        return figure


def compare_cutoffs(
    lists: Lists,
    *old: Any,
    rules: Rules | None = None,
    test: Lists | None = None,
    measure: MeasureLike | None = None,
    k: int = 3,
    folds: int = 5,
    seed: int = 0,
    rank_scores: ArrayLike | None = None,
    cut_scores: Any = None,
    gains: GainsLike | None = None,
    unjudged: Unjudged | None = None,
    significance: TestName = "t",
    correction: Correction = "holm",
    alpha: float = 0.05,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> CutoffComparison:
    """Compare rules on queries that they were not fitted on.

    Parameters
    ----------
    lists
        What the rules are fitted to and judged on: ``Lists.from_arrays(scores, labels, groups)`` or
        ``Lists.from_run(qrels, run)``.
    rules
        Words (``ranksift cutoff rules`` lists them), rules, thresholds in use, or a mapping that names
        them. By default the paper's baselines (filter-all, rank-only, filter-only), every rule there is, and the
        oracle, which cuts each query by its labels and cannot be used as a rule.
    test
        Other lists to judge the rules on; the rules are then fitted to all of ``lists``.
    measure
        The measure by which rules are compared, and to which they are fitted. By default nDCG_f@k.
    k
        The k of nDCG_f, nDCG_0, nDCG_min and F-docs.
    folds, seed
        Without ``test``: every rule is judged on each fold of the queries, fitted on the others.
    significance, correction, alpha
        As ``test``, ``correction`` and ``alpha`` of :func:`compare`.
    progress
        Wraps the rules as they are fitted, fold after fold.
    old, rank_scores, cut_scores, gains, unjudged
        An old spelling, with arrays or a run instead of lists. It works until 1.0, with a warning.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> groups, labels = np.repeat(np.arange(50), 4), draw.choice([-5, 1, 2], 200)
    >>> scores = np.maximum(labels, -1) + draw.normal(0, 1, 200)
    >>> print(compare_cutoffs(Lists.from_arrays(scores, labels, groups), rules=["rank-only", "global", "oracle"]))
    Rules on 50 queries
       rule       nDCG_f@3  nDCG_0@3  nDCG_min@3  Fdocs@3  GoodFiltered  Empty
    -  ---------  --------  --------  ----------  -------  ------------  -----
    a  rank-only  0.8357      0.9045      0.8204   16.67%         0.00%  0.00%
    b  global     0.9398 a    0.8407      0.9441    1.72%        14.48%  6.00%
       oracle     0.9684      0.9007      0.9869    0.00%         4.14%  4.00%
    Each rule is judged on every fold of the queries and fitted on the others (5 folds, seed 0).
    A letter means significantly better than that rule by nDCG_f@3 (paired t test, Holm correction, p <= 0.05).
    oracle: the best cut of each query, known from its labels. They are not usable rules.
    """
    second = {"rank_scores": rank_scores, "cut_scores": cut_scores}
    given = lists_given("compare_cutoffs({})", (lists, *old), **second, gains=gains, unjudged=unjudged)
    other = test
    if test is not None and not isinstance(test, Lists):
        made_of = test if isinstance(test, tuple) else (test,)
        other = lists_given("compare_cutoffs(lists, test={})", made_of, gains=gains, unjudged=unjudged)
    judged_on = given if other is None else other
    integer(1).check("k", k, 3)
    function().check("progress", progress)
    chosen, measures = compared_measures(measure, k)
    judged = HeldOutCandidates(candidates(rules, chosen, k), judged_on, strict=rules is not None)
    if other is None:
        judged.run(splits(given, folds, seed), folds, progress)
        how = how_judged(folds, seed)
    else:
        judged.run(iter([Split(given, other, np.arange(len(other.score)))]), 1, progress)
        how = f"each rule is fitted on {len(given):,} other queries"
    notes = (*FilterAll().fit_lists(given).notes_, *judged.notes)
    tell(notes)
    return CutoffComparison(
        scores=judged.scores(measures),
        measure=chosen,
        k=k,
        lists=judged_on,
        bounds=tuple(name for name, rule in judged.candidates.items() if isinstance(rule, Oracle)),
        how=how,
        significance=significance,
        correction=correction,
        alpha=alpha,
        notes=notes,
    )


def how_judged(folds: int, seed: int) -> str:
    """How rules are judged if there are no other lists, in words."""
    return f"each rule is judged on every fold of the queries and fitted on the others ({folds} folds, seed {seed})"


def compared_measures(measure: MeasureLike | None, k: int) -> tuple[Measure, list[Measure]]:
    """The measure that rules are compared by, and all columns: it, and those of Table 7 of Carmel et al. 2022."""
    chosen = one_measure(f"nDCG_f@{k}" if measure is None else measure)
    own = [] if measure is None else [chosen]
    table = ready_measures([f"nDCG_f@{k}", f"nDCG_0@{k}", f"nDCG_min@{k}", f"Fdocs@{k}", "GoodFiltered", "Empty"])
    return chosen, list(dict.fromkeys([*own, *table]))


def _column(measure: Measure | str, digits: int) -> Column:
    share = isinstance(measure, Measure) and not measure.higher_is_better
    return Column(str(measure), 2, "percent") if share else Column(str(measure), digits)


def _of_runs(scores: Scores, runs: Sequence[str]) -> Scores:
    rows = [scores.row(run) for run in runs]
    return replace(scores, runs=tuple(runs), numerators=scores.numerators[rows], denominators=scores.denominators[rows])


def _of_queries(scores: Scores, queries: Ints) -> Scores:
    return replace(
        scores,
        queries=tuple(scores.queries[i] for i in queries.tolist()),
        numerators=scores.numerators[:, queries],
        denominators=scores.denominators[:, queries],
        degenerate={},
    )
