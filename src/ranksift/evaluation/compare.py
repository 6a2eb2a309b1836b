"""Comparison of runs: which differences are more than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.evaluation import significance
from ranksift.evaluation.printed import Tabular
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.significance import Outcome, Paired, Unpaired
from ranksift.evaluation.table import Cell, Column, Table
from ranksift.evaluation.tukey import tukey
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import choice, integer, number, optional, samples_of, takes, text

if TYPE_CHECKING:
    import polars as pl

TestName = Literal["t", "randomization", "bootstrap", "wilcoxon", "tukey", "unpaired"]
Correction = Literal["holm", "bonferroni", "bh", "none"]

#: The tests, as they are called in a text.
TESTS = {
    "t": "paired t test",
    "randomization": "paired randomization test",
    "bootstrap": "paired bootstrap test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "tukey": "Tukey's HSD of all runs",
    "unpaired": "unpaired t test",
}

_RESAMPLING = ("randomization", "bootstrap")

#: The corrections, by what they are called in a text.
CORRECTIONS = {
    "holm": "Holm correction",
    "bonferroni": "Bonferroni correction",
    "bh": "Benjamini-Hochberg correction",
    "none": "no correction",
}

_CORRECT: dict[str, Callable[[Floats], Floats]] = {
    "holm": significance.holm,
    "bonferroni": significance.bonferroni,
    "bh": significance.benjamini_hochberg,
    "none": lambda p: p,
}


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Results of :func:`compare`. Printed, it is a table of means with significance letters.

    Arrays of comparisons have one row per pair of runs, in the order of ``pairs``, and one column per measure.
    Differences, intervals, effect sizes and tests use the values of each query, so for micro-averaged measures the
    difference is not that of the two aggregates in ``means``.

    Attributes
    ----------
    scores
        What was compared.
    means
        Each measure's aggregate, runs × measures.
    baseline
        The run that all others are compared with; None if all pairs are compared.
    pairs
        (run, baseline) of each comparison.
    test, correction, alpha, confidence, samples, seed
        As given; ``samples`` and ``seed`` are None for tests that draw no samples.
    difference
        The mean over queries of run − baseline.
    relative
        The difference as a share of the baseline's mean (of its absolute value); NaN if that is 0.
    low, high
        Confidence interval of the difference: Student's, paired or not as the test is, or the bootstrap's percentiles
        for the bootstrap test, or Tukey's, which all pairs share.
    effect_size
        Cohen's d of paired differences: the difference divided by its standard deviation. For the unpaired test,
        Cohen's d of two samples: the difference divided by the standard deviation within a run.
    statistic
        t for the t tests and the bootstrap test, the mean difference for randomization, the smaller rank sum for
        Wilcoxon's, the studentized range q for Tukey's.
    p, corrected_p
        The two-sided p value, and the same value corrected for the measure's other comparisons.
    better
        1 if the test favours the run, −1 if it favours the baseline, and 0 if neither (or if Wilcoxon's ranks and the
        means disagree).
    wins, ties, losses
        The numbers of queries in which the run is better than, equal to or worse than the baseline.
    """

    scores: Scores
    means: Floats
    baseline: str | None
    pairs: tuple[tuple[str, str], ...]
    test: TestName
    correction: Correction
    alpha: float
    confidence: float
    samples: int | None
    seed: int | None
    difference: Floats
    relative: Floats
    low: Floats
    high: Floats
    effect_size: Floats
    statistic: Floats
    p: Floats
    corrected_p: Floats
    better: Ints
    wins: Ints
    ties: Ints
    losses: Ints

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Whether the corrected p is at most alpha: comparisons × measures."""
        return self.corrected_p <= self.alpha

    @cached_property
    def letters(self) -> dict[str, str]:
        """The letter of each run: a to z, then aa, ab and so on."""
        return {run: _letter(i) for i, run in enumerate(self.scores.runs)}

    @cached_property
    def _beats(self) -> NDArray[np.bool_]:
        """Whether a run is significantly better than another: runs × runs × measures."""
        runs = len(self.scores.runs)
        beats = np.zeros((runs, runs, len(self.scores.measures)), dtype=np.bool_)
        left, right = (np.array([self.scores.runs.index(pair[side]) for pair in self.pairs]) for side in (0, 1))
        beats[left, right] = self.significant & (self.better > 0)
        beats[right, left] = self.significant & (self.better < 0)
        return beats

    def better_than(self, run: str, measure: MeasureLike) -> list[str]:
        """The runs that ``run`` is significantly better than.

        Examples
        --------
        >>> scores = Scores.from_array(
        ...     [[[0.1], [0.2], [0.3]], [[0.6], [0.8], [0.9]]], runs=["old", "new"], queries="123", measures=["AP"]
        ... )
        >>> compare(scores).better_than("new", "AP")
        ['old']
        """
        beaten = self._beats[self.scores.row(run), :, self.scores.column(measure)]
        return [self.scores.runs[j] for j in np.flatnonzero(beaten)]

    # -- tables ------------------------------------------------------------------------------------------

    def table(self, digits: int = 4) -> Table:
        """One row per run: its means, each with the letters of the runs that it is significantly better than."""
        best = self._best(digits)
        # Past z a letter has two characters, and needs a separator.
        glue = "" if len(self.letters) <= 26 else ","
        rows: list[list[Cell | str]] = []
        for i, (run, letter) in enumerate(self.letters.items()):
            rows.append([letter, run])
            for m, measure in enumerate(self.scores.measures):
                beaten = glue.join(self.letters[other] for other in self.better_than(run, measure))
                rows[-1].append(Cell(float(self.means[i, m]), beaten, bool(best[i, m])))
        columns = [Column(""), Column("run"), *(Column(str(m), digits) for m in self.scores.measures)]
        title = "All pairs of runs" if self.baseline is None else f"Runs against {self.baseline}"
        return Table(columns, rows, title=title, notes=self._notes(letters=True))

    def details(self, digits: int = 4) -> Table:
        """One row per comparison and measure: difference, interval, effect size, p values, wins, ties and losses."""
        columns = [
            Column("measure"),
            Column("run"),
            Column("baseline"),
            Column("difference", digits, signed=True),
            Column("relative", 1, "percent", signed=True),
            Column(f"{100 * self.confidence:g}% interval", align="right"),
            Column("d", 2),
            Column("p", digits, "p"),
            Column("corrected p", digits, "p"),
            Column("W/T/L", align="right"),
        ]
        rows = [
            [
                *(row[name] for name in ("measure", "run", "baseline", "difference", "relative_difference")),
                f"{row['low']:.{digits}f} to {row['high']:.{digits}f}",
                *(row[name] for name in ("effect_size", "p", "corrected_p")),
                f"{row['wins']}/{row['ties']}/{row['losses']}",
            ]
            for row in self._rows()
        ]
        notes = [
            *self._notes(letters=False),
            "d: the difference divided by the standard deviation within a run (Cohen's d)."
            if self.test == "unpaired"
            else "d: the difference divided by its standard deviation (Cohen's d of paired values).",
        ]
        return Table(columns, rows, title="Differences", notes=notes)

    def _best(self, digits: int) -> NDArray[np.bool_]:
        shown = np.round(self.means, digits) * [1 if higher_is_better(m) else -1 for m in self.scores.measures]
        return np.asarray(shown == shown.max(axis=0))

    def _notes(self, letters: bool) -> list[str]:
        together = self.test == "tukey"
        how = TESTS[self.test] if together else f"{TESTS[self.test]}, {CORRECTIONS[self.correction]}"
        queries = len(self.scores.queries)
        notes = [f"{how[0].upper()}{how[1:]}, {queries} queries."]
        if letters:
            notes = [
                f"A letter means significantly better than that run ({how}, p <= {self.alpha:g}, {queries} queries)."
            ]
        costs = [str(m) for m in self.scores.measures if not higher_is_better(m)]
        if costs:
            notes.append(f"Lower is better: {', '.join(costs)}.")
        return [*notes, *notes_on_totals(self.scores)]

    def __repr__(self) -> str:
        r, m = len(self.scores.runs), len(self.scores.measures)
        return f"<Comparison: {r} runs × {m} measure{'s' * (m != 1)}, {TESTS[self.test]}>"

    # -- data --------------------------------------------------------------------------------------------

    def _rows(self) -> Iterator[dict[str, Any]]:
        place = {run: i for i, run in enumerate(self.scores.runs)}
        significant = self.significant
        for m, measure in enumerate(self.scores.measures):
            for c, (run, baseline) in enumerate(self.pairs):
                yield {
                    "measure": str(measure),
                    "run": run,
                    "baseline": baseline,
                    "mean": float(self.means[place[run], m]),
                    "baseline_mean": float(self.means[place[baseline], m]),
                    "difference": float(self.difference[c, m]),
                    "relative_difference": None if np.isnan(self.relative[c, m]) else float(self.relative[c, m]),
                    "low": float(self.low[c, m]),
                    "high": float(self.high[c, m]),
                    "effect_size": float(self.effect_size[c, m]),
                    "statistic": float(self.statistic[c, m]),
                    "p": float(self.p[c, m]),
                    "corrected_p": float(self.corrected_p[c, m]),
                    "significant": bool(significant[c, m]),
                    "wins": int(self.wins[c, m]),
                    "ties": int(self.ties[c, m]),
                    "losses": int(self.losses[c, m]),
                }

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per comparison and measure."""
        import polars as pl

        return pl.DataFrame(
            list(self._rows()), infer_schema_length=None, schema_overrides={"relative_difference": pl.Float64}
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON: infinite values (t of a constant difference) are None."""
        measures = self.scores.measures
        rows = [
            {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
            for row in self._rows()
        ]
        return {
            "test": self.test,
            "correction": self.correction,
            "alpha": self.alpha,
            "confidence": self.confidence,
            "samples": self.samples,
            "seed": self.seed,
            "queries": len(self.scores.queries),
            "baseline": self.baseline,
            "measures": [{"name": str(m), "higher_is_better": higher_is_better(m)} for m in measures],
            "runs": [
                {
                    "name": run,
                    "letter": letter,
                    "means": dict(zip(map(str, measures), self.means[i].tolist(), strict=True)),
                    "better_than": {str(m): self.better_than(run, m) for m in measures},
                }
                for i, (run, letter) in enumerate(self.letters.items())
            ],
            "comparisons": rows,
        }


def notes_on_totals(scores: Scores) -> list[str]:
    """What the reader of a test should know if a value is a ratio over all queries, and not their mean."""
    totals = [str(m) for m in scores.measures if isinstance(m, Measure) and m.aggregation != "mean"]
    return [f"Tested on each query's own value, not on the total shown: {', '.join(totals)}."] if totals else []


@takes(baseline=optional(text("the name of a run")), correction=optional(text("a name")))
def compare(
    scores: Scores,
    baseline: str | None = None,
    test: TestName = "t",
    correction: Correction | Literal["fdr_bh"] | None = "holm",
    *,
    samples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    confidence: float = 0.95,
) -> Comparison:
    """Compare runs, query by query.

    Parameters
    ----------
    scores
        Results of :func:`evaluate` for two runs or more.
    baseline
        The run with which to compare all others; None compares all pairs.
    test
        ``"t"``: Student's paired t; ``"randomization"``: signs of differences flipped at random (in all ways if there
        are no more than ``samples``); ``"bootstrap"``: Sakai's shifted, studentised bootstrap; ``"wilcoxon"``: signed
        ranks; ``"tukey"``: Tukey's honestly significant difference, after a two-way analysis of variance of all runs;
        ``"unpaired"``: Student's t of two samples, as if each run had its own queries. On the same queries it has
        less power than the others; it is provided for studies that used it. All tests are two-sided and use the
        values of each query. Runs with equal values have p = 1; a constant
        difference has p = 0 in the t test, whose t is then infinite.
    correction
        The correction for multiple comparisons, within each measure: ``"holm"``, ``"bonferroni"``, ``"bh"`` (Benjamini
        and Hochberg; ``"fdr_bh"`` is another name for it) or ``"none"``. Tukey's p values and intervals hold for all
        pairs of runs together, so none is applied to them.
    samples, seed
        How many resamples the randomization and bootstrap tests draw, and their seed. The order of the queries in the
        judgments makes no difference.
    alpha
        The largest corrected p that counts as significant.
    confidence
        The confidence level of the interval of the difference.

    Examples
    --------
    >>> scores = Scores.from_array(
    ...     [[[0.1], [0.2], [0.3]], [[0.6], [0.8], [0.9]], [[0.2], [0.1], [0.4]]],
    ...     runs=["bm25", "ours", "theirs"], queries=["q1", "q2", "q3"], measures=["AP"],
    ... )
    >>> print(compare(scores, baseline="bm25"))
    Runs against bm25
       run     AP
    -  ------  --------
    a  bm25    0.2000
    b  ours    0.7667 a
    c  theirs  0.2333
    A letter means significantly better than that run (paired t test, Holm correction, p <= 0.05, 3 queries).
    """
    choice(*TESTS).check("test", test)
    chosen: Any = {None: "none", "fdr_bh": "bh"}.get(correction, correction)
    choice(*CORRECTIONS).check("correction", chosen)
    chosen = "none" if test == "tukey" else chosen
    _check(scores, samples, seed, alpha, confidence)
    left, right = _pairs(scores, baseline)
    runs, n, measures = scores.values.shape
    # Every measure's runs lie below each other, so that all tests of all measures are done together.
    offsets = runs * np.arange(measures)[:, None]
    drawn_from = scores.drawing_order if test in _RESAMPLING else slice(None)
    values = np.ascontiguousarray(np.moveaxis(scores.values[:, drawn_from], 2, 0)).reshape(measures * runs, n)
    paired = Paired(values, (left + offsets).ravel(), (right + offsets).ravel())
    outcome, (low, high) = _tested(paired, test, runs, samples, seed, confidence)

    def per_measure(flat: NDArray[Any]) -> NDArray[Any]:
        return flat.reshape(measures, len(left)).T

    summary = paired.summary
    towards = np.array([1 if higher_is_better(m) else -1 for m in scores.measures])
    above, below = per_measure(summary.above), per_measure(summary.below)
    p = per_measure(outcome.p)
    agreed = np.where(outcome.sign == np.sign(summary.mean), outcome.sign, 0.0).astype(np.int64)
    base = np.abs(values.mean(axis=1))[paired.right]
    relative = np.divide(summary.mean, base, out=np.full(len(paired), np.nan), where=base != 0)
    return Comparison(
        scores=scores,
        means=scores.aggregate(),
        baseline=baseline,
        pairs=tuple((scores.runs[i], scores.runs[j]) for i, j in zip(left.tolist(), right.tolist(), strict=True)),
        test=test,
        correction=chosen,
        alpha=alpha,
        confidence=confidence,
        samples=samples if test in _RESAMPLING else None,
        seed=seed if test in _RESAMPLING else None,
        difference=per_measure(summary.mean),
        relative=per_measure(relative),
        low=per_measure(low),
        high=per_measure(high),
        effect_size=per_measure((Unpaired.of(paired) if test == "unpaired" else paired).effect_size),
        statistic=per_measure(outcome.statistic),
        p=p,
        corrected_p=_CORRECT[chosen](p),
        better=per_measure(agreed) * towards,
        wins=np.where(towards > 0, above, below),
        ties=n - above - below,
        losses=np.where(towards > 0, below, above),
    )


def higher_is_better(measure: Measure | str) -> bool:
    """Whether higher is better; assumed for measures that are only a name."""
    return measure.higher_is_better if isinstance(measure, Measure) else True


def _tested(
    paired: Paired, test: TestName, runs: int, samples: int, seed: int, confidence: float
) -> tuple[Outcome, tuple[Floats, Floats]]:
    if test == "tukey":
        return tukey(paired, runs, confidence)
    if test == "bootstrap":
        result = significance.bootstrap(paired, significance.resamples(paired.queries, samples, seed))
        return Outcome(paired.t, result.p, np.sign(paired.t)), result.interval(confidence)
    if test == "unpaired":
        unpaired = Unpaired.of(paired)
        return significance.unpaired_t(unpaired), unpaired.interval(confidence)
    if test == "randomization":
        outcome = significance.randomization(paired, samples, seed)
    elif test == "wilcoxon":
        outcome = significance.wilcoxon(paired)
    else:
        outcome = significance.t_test(paired)
    return outcome, significance.t_interval(paired, confidence)


def _pairs(scores: Scores, baseline: str | None) -> tuple[Ints, Ints]:
    if baseline is None:
        right, left = np.triu_indices(len(scores.runs), 1)
        return left, right
    base = scores.row(baseline)
    left = np.delete(np.arange(len(scores.runs)), base)
    return left, np.full(len(left), base)


def _check(scores: Scores, samples: int, seed: int, alpha: float, confidence: float) -> None:
    if not isinstance(scores, Scores):
        raise InputError(f"compare takes Scores, not {type(scores).__name__}", remedy="give it what evaluate returns")
    if len(scores.runs) < 2:
        raise InputError("a comparison needs at least 2 runs", remedy="evaluate more runs")
    if len(scores.queries) < 2:
        raise InputError("a test needs at least 2 queries", remedy="evaluate on more queries")
    samples_of(width=len(scores.runs)).check("samples", samples, 1000)
    integer(0).check("seed", seed, 0)
    number(above=0, below=1).check("alpha", alpha, 0.05)
    number(above=0, below=1).check("confidence", confidence, 0.95)


def _letter(i: int) -> str:
    """The name of the i-th run: a to z, then aa, ab and so on."""
    return ("" if i < 26 else _letter(i // 26 - 1)) + chr(ord("a") + i % 26)
