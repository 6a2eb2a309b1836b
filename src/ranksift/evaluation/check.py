"""A gate for releases: whether a run is good enough, and not worse than the one before it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import Queries, named_runs
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.run import Run
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.evaluate import evaluate
from ranksift.evaluation.printed import Printed
from ranksift.evaluation.requirements import FORM, CheckedRequirement, parse_requirements
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table
from ranksift.measures.coverage import Judged
from ranksift.measures.filtering import Empty
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike, parse_measures
from ranksift.parameters import flag, number, takes

if TYPE_CHECKING:
    import polars as pl

    from ranksift.evaluation.compare import TestName


@dataclass(frozen=True)
class CheckedDifference:
    """A measure of the run and of the baseline.

    Attributes
    ----------
    value, baseline_value
        The measure's aggregates for the run and the baseline.
    difference
        Mean over queries of run − baseline.
    p
        The p value of the one-sided test: how likely such a difference is if the run is as good as the baseline.
    passed
        False if the run is worse and p is at most alpha.
    """

    measure: str
    value: float
    baseline_value: float
    difference: float
    p: float
    passed: bool


@dataclass(frozen=True)
class CheckResult(Printed):
    """Results of :func:`check`.

    Attributes
    ----------
    run, baseline
        Names; ``baseline`` is None if there is none.
    test, alpha
        How differences were tested.
    coverage
        What the requirements are based on: the number of queries, how many of them the run answers, the share of the
        top k that is judged (``Judged@k``), and the share of empty lists (``Empty``).
    notes
        Remarks about the differences.
    """

    run: str
    baseline: str | None
    test: str
    alpha: float
    requirements: tuple[CheckedRequirement, ...]
    differences: tuple[CheckedDifference, ...]
    coverage: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all requirements are met and nothing is significantly worse."""
        return self.missed == 0

    @property
    def missed(self) -> int:
        """How many requirements, including those of the baseline, are not met."""
        return sum(not r.passed for r in self.requirements) + sum(not d.passed for d in self.differences)

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per requirement and one per difference (operator ``"not worse"``)."""
        import polars as pl

        schema = {
            "measure": pl.String, "value": pl.Float64, "operator": pl.String, "limit": pl.Float64,
            "margin": pl.Float64, "p": pl.Float64, "passed": pl.Boolean,
        }  # fmt: skip
        rows = [{**asdict(r), "p": None} for r in self.requirements]
        for d in self.differences:
            compared = {"operator": "not worse", "limit": d.baseline_value, "margin": d.difference}
            rows.append({"measure": d.measure, "value": d.value, **compared, "p": d.p, "passed": d.passed})
        return pl.DataFrame(rows, schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "passed": self.passed,
            "run": self.run,
            "baseline": self.baseline,
            "test": self.test,
            "alpha": self.alpha,
            "requirements": [asdict(r) for r in self.requirements],
            "differences": [asdict(d) for d in self.differences],
            "coverage": dict(self.coverage),
            "notes": list(self.notes),
        }

    def parts(self) -> tuple[Table, ...]:
        """What is printed: requirements and differences, under the verdict."""
        n = len(self.requirements) + len(self.differences)
        missed = f"FAILED: run {self.run} misses {self.missed} of {n} requirement{'s' * (n != 1)}"
        verdict = f"PASSED: run {self.run}" if self.passed else missed
        tables = []
        if self.requirements:
            rows = [(f"{r.measure} {r.operator} {r.limit:.15g}", r.value, r.verdict) for r in self.requirements]
            tables.append(Table(["requirement", "value", "result"], rows, title=verdict, notes=self._covered()))
        if self.differences:
            columns = [*map(Column, (f"not worse than {self.baseline}", "value", "baseline"))]
            columns += [Column("difference", signed=True), Column("p", style="p"), Column("result")]
            compared = [
                (d.measure, d.value, d.baseline_value, d.difference, d.p, "met" if d.passed else "worse")
                for d in self.differences
            ]
            note = f"worse: significantly so, one-sided {self.test} test, p <= {self.alpha:g}"
            title = verdict if not tables else f"Against {self.baseline}"
            tables.append(Table(columns, compared, title=title, notes=[note, *self.notes]))
        return tuple(tables)

    def _covered(self) -> list[str]:
        """What the requirements are about, in words."""
        if not self.coverage:
            return []
        queries, answered, *rest = self.coverage.items()
        shares = ", ".join(f"{name} {value:.4f}" for name, value in rest)
        return [f"{answered[1]:.0f} of {queries[1]:.0f} queries are answered; {shares}"]

    def __repr__(self) -> str:
        return f"<CheckResult: run {self.run!r} {'passed' if self.passed else 'failed'}>"


@takes(allow_empty=flag(), alpha=number(above=0, below=1))
def check(
    qrels: Any,
    run: Any,
    require: str | Iterable[str] = (),
    *,
    not_worse_than: Any = None,
    measures: MeasureLike | Iterable[MeasureLike] = (),
    alpha: float = 0.05,
    test: TestName = "t",
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    allow_empty: bool = False,
) -> CheckResult:
    """Check a run against requirements, and against the run that it would replace.

    Parameters
    ----------
    qrels, run, gains, unjudged, queries
        As in :func:`evaluate`; one run.
    require
        Requirements such as ``"Fdocs@3<=0.02 nDCG_f@10>=0.8"`` (operators ``<= >= < > ==``), on each measure's
        aggregate.
    not_worse_than
        A baseline run. The check fails if the run is significantly worse in a measure that is
        named in ``require`` or in ``measures``, over the queries that count for both.
    measures
        Further measures to compare with the baseline.
    alpha, test
        Significance level and test (see :func:`compare`). The test is one-sided, on the values of each query,
        separately for each measure.
    allow_empty
        Also allow checks that cannot fail: a run that lists nothing, a measure of forbidden documents if no judged
        document is forbidden, gains for a label that no document has. Otherwise these are errors, because a gate that
        checks nothing would pass.

    Examples
    --------
    >>> qrels = {"q1": {"good": 2, "bad": -2}, "q2": {"ok": 1}}
    >>> run = {"q1": {"good": 9.0, "bad": 5.0}, "q2": {"ok": 3.0}}
    >>> print(check(qrels, run, "Fdocs@3<=0.02 nDCG_f@10>=0.8"))
    FAILED: run run misses 1 of 2 requirements
    requirement       value   result
    ----------------  ------  ----------------
    Fdocs@3 <= 0.02   0.3333  missed by 0.3133
    nDCG_f@10 >= 0.8  0.8423  met
    2 of 2 queries are answered; Judged@10 1.0000, Empty 0.0000
    """
    flag().check("allow_empty", allow_empty, False)
    wanted = parse_requirements(require)
    further = parse_measures(measures) if measures else []
    if not wanted and not further:
        raise InputError("nothing is required", remedy=FORM)
    if further and not_worse_than is None:
        raise InputError("measures are for a comparison, but there is no baseline", remedy="give not_worse_than")
    compared = parse_measures([*(r.measure for r in wanted), *further])
    judgments, new = read_qrels(qrels), _single(run, "run")
    settings: dict[str, Any] = {"gains": gains, "unjudged": unjudged, "queries": queries}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)  # said once, below
        if not allow_empty:
            _refuse_what_checks_nothing(judgments, new, compared, Gains.of(gains))
        own = evaluate(judgments, new, compared, **settings)
        deepest = max((m.k for m in compared if m.k is not None), default=10)
        around = evaluate(judgments, new, [Judged(k=deepest), Empty()], **settings)
        both = None
        if not_worse_than is not None:
            both = evaluate(judgments, [new, _single(not_worse_than, "baseline")], compared, **settings)
    for note in dict.fromkeys([*own.notes, *(both.notes if both else ())]):
        warnings.warn(note, RankSiftWarning, stacklevel=3)
    means = own.aggregate()[0]
    values = [float(means[own.column(r.measure)]) for r in wanted]
    checked = tuple(r.checked(value) for r, value in zip(wanted, values, strict=True))
    coverage = _coverage(around, new)
    if both is None:
        return CheckResult(new.name, None, test, alpha, checked, (), coverage)
    differences, notes = _differences(both, test, alpha)
    return CheckResult(new.name, both.runs[1], test, alpha, checked, differences, coverage, notes)


def _coverage(around: Scores, run: Run) -> dict[str, float]:
    """How many queries count, how many are answered, and what was judged of them."""
    listed = {query for query, length in zip(run.query_ids, run.lengths.tolist(), strict=True) if length}
    shares = {str(m): float(value) for m, value in zip(around.measures, around.aggregate()[0], strict=True)}
    return {"queries": len(around.queries), "answered": len(listed.intersection(around.queries)), **shares}


def _refuse_what_checks_nothing(qrels: Qrels, run: Run, measures: Iterable[Measure], gains: Gains) -> None:
    """Refuse a check that no run could fail."""
    on_purpose = "or allow it on purpose: allow_empty=True"
    if not len(run):
        remedy = f"give the run that is to be released, {on_purpose}"
        raise InputError(f"run {run.name!r} lists no document", remedy=remedy)
    labels = qrels.pool.all_labels
    for measure in measures:
        own = measure.gains or gains
        unused = own.unused(labels)
        if unused and measure.takes("gains"):
            raise InputError(unused, remedy=f"name one of these, {on_purpose}")
        if measure.about_forbidden and not (own(labels) < 0).any():
            raise InputError(
                f"{measure} is about forbidden documents, and no judged document is forbidden",
                remedy=f"say which label is, with gains={{0: -1}} for example, {on_purpose}",
            )


def _single(run: Any, noun: str) -> Run:
    runs = named_runs(run)
    if len(runs) != 1:
        raise InputError(f"{len(runs)} runs are given as the {noun}", remedy="give one")
    return runs[0]


def _differences(both: Scores, test: TestName, alpha: float) -> tuple[tuple[CheckedDifference, ...], tuple[str, ...]]:
    """The first run against the second, in every measure, and what to know about that."""
    from ranksift.evaluation.compare import compare, notes_on_totals

    found = compare(both, baseline=both.runs[1], test=test, correction="none", alpha=alpha)
    rows = []
    for m, measure in enumerate(both.measures):
        value, baseline_value = found.means[:, m].tolist()
        p, worse = float(found.p[0, m]) / 2.0, bool(found.better[0, m] < 0)
        passed = not (worse and p <= alpha)
        difference = float(found.difference[0, m])
        one_sided = p if worse else 1.0 - p
        rows.append(CheckedDifference(str(measure), value, baseline_value, difference, one_sided, passed))
    return tuple(rows), tuple(notes_on_totals(both))
