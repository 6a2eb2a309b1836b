"""All applicable procedures in one call."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ranksift.collection.gains import GainsLike
from ranksift.collection.judged_run import Unjudged
from ranksift.collection.judged_runs import JudgedRuns, Queries
from ranksift.collection.qrels import Qrels
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.evaluate import evaluate, nil_ids, ready_measures
from ranksift.evaluation.scores import Scores
from ranksift.evaluation.table import Column, Table, in_markdown, notebook
from ranksift.measures.bounds import E_DCG, E_SP
from ranksift.measures.cumulative import Cumulative, Normalised, nDCG
from ranksift.measures.measure import TOLERANCE, Measure
from ranksift.measures.names import MeasureLike
from ranksift.measures.truncation import QuitWhileAhead
from ranksift.parameters import choice, function, instance, integer, optional, path, some, takes, text
from ranksift.study.agreement import agreement, consistency
from ranksift.study.boundedness import boundedness
from ranksift.study.case_studies import CaseStudy, case_studies
from ranksift.study.discrimination import discrimination
from ranksift.study.penalty import penalty_sweep
from ranksift.study.preconditions import check_scores, peculiarities
from ranksift.study.presets import preset as find_preset
from ranksift.study.query_types import expected_scores, on_queries, query_types
from ranksift.study.reliability import reliability
from ranksift.study.result import Result
from ranksift.study.sensitivity import sensitivity
from ranksift.study.stability import stability
from ranksift.study.systems import families
from ranksift.study.truncation import truncation
from ranksift.study.wording import counted, joined

#: What is studied where nobody says which measures.
DEFAULT_MEASURES = "nDCG@10 nDCG_org@10 nDCG_min@10 nDCG_f@10 AP"

#: The procedures in the order of the report, with the question that each of them answers.
QUESTIONS: Mapping[str, str] = {
    "boundedness": "Do scores stay between 0 and 1?",
    "stability": "How many topics are needed for a comparison of two runs to have the same result on other topics?",
    "sensitivity": "How many pairs of runs can a measure tell apart?",
    "reliability": "How much of the variance of scores comes from the runs?",
    "discrimination": "Which differences are significant, and do measures agree on that?",
    "agreement": "Do measures put the runs in the same order?",
    "query_types": "In which queries can a good ranking be distinguished from a random one?",
    "truncation": "What changes if lists that end on purpose are rewarded?",
    "penalty_sweep": "What if a forbidden document costs more, or less?",
}

#: Those that need nothing but scores, and can be repeated on any set of queries.
OF_SCORES = ("stability", "sensitivity", "reliability", "discrimination", "agreement")

# Procedures that two runs cannot show anything by, with the reason.
_TWO_RUNS = {
    "sensitivity": "two runs are only one pair, and a share of pairs needs several",
    "reliability": "two runs are too few for a variance between runs",
    "agreement": "two runs are too few for an order",
}

#: The most topic-set sizes whose error rate is estimated, unless sizes are named.
MOST_SIZES = 100

#: A set of queries smaller than this is not studied on its own.
_LEAST_QUERIES = 5


@dataclass(frozen=True, eq=False)
class Part:
    """What one procedure found.

    Attributes
    ----------
    procedure
        Its name, as in :data:`QUESTIONS`; ``consistency`` for the orders of runs on two sets of queries.
    result
        The result.
    subject
        What it was applied to, where that is not all queries and measures: a set of queries, or one measure.
    word
        The subject in one word, which sets the part's files apart.
    measures
        For types of queries, the measures that are studied on their sets.
    """

    procedure: str
    result: Result
    subject: str = ""
    word: str = ""
    measures: tuple[Measure, ...] = ()

    @property
    def name(self) -> str:
        """What its files begin with."""
        return re.sub(r"[\W_]+", "-", f"{self.procedure} {self.word}")[:100].strip("-").lower()


@dataclass(frozen=True, eq=False)
class Survey:
    """Results of :func:`survey`.

    Attributes
    ----------
    scores
        What was studied.
    parts
        The results of every procedure, in the order of :data:`QUESTIONS`.
    skipped
        Procedures that do not apply, with the reason.
    notes
        Remarks on the runs, the judgments and the results.
    settings
        The settings: measures, gains, parameters of the procedures, seed.
    name
        The name of the collection, if there are two.
    against
        The same study of another collection.
    between
        How similarly both order the runs that they share, by measure.
    between_sets
        The same on the uninformative and on the ideal queries of both, for each base measure.
    """

    scores: Scores
    parts: tuple[Part, ...]
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    against: Survey | None = None
    between: Part | None = None
    between_sets: tuple[Part, ...] = ()

    @property
    def sides(self) -> tuple[Survey, ...]:
        """Each collection's own study."""
        sides = (side for side in (self, self.against) if side is not None)
        return tuple(replace(side, against=None, between=None, between_sets=()) for side in sides)

    def table(self) -> Table:
        """One row per measure, and per collection if there are two: the results of each procedure at a glance."""
        sides = self.sides
        found = [side._glances() for side in sides]
        shown = [c for c, _ in _GLANCES if any(at[c.name][m] is not None for at in found for m in at[c.name])]
        names = dict.fromkeys(str(m) for side in sides for m in side.scores.measures)
        beside = [Column("measure"), *([Column("on")] if len(sides) > 1 else [])]
        rows = [
            [measure, *([side.name] if len(sides) > 1 else []), *(at[c.name][measure] for c in shown)]
            for measure in names
            for side, at in zip(sides, found, strict=True)
            if measure in at["measure"]
        ]
        meanings = [_MEANINGS[c.name] for c in shown if c.name in _MEANINGS]
        notes = [f"{side.name}: {n}" if len(sides) > 1 else n for side in sides for n in side.notes]
        return Table(
            [*beside, *shown], rows, title=f"{counted(len(names), 'measure')} on {self.size}", notes=[*meanings, *notes]
        )

    @property
    def size(self) -> str:
        """The numbers of runs and topics, of each collection if there are two."""
        sizes = []
        for side in self.sides:
            runs, queries, _ = side.scores.values.shape
            size = f"{counted(runs, 'run')}, {counted(queries, 'topic')}"
            sizes.append(f"{side.name} ({size})" if self.against is not None else size)
        return " and ".join(sizes)

    def _glances(self) -> dict[str, dict[str, Any]]:
        """For each column of the table its value for each measure."""
        whole: dict[str, Any] = {p.procedure: p.result for p in reversed(self.parts) if p.word == ""}
        whole["scores"] = self.scores
        names = [str(m) for m in self.scores.measures]
        return {"measure": dict.fromkeys(names), **{c.name: {m: of(whole, m) for m in names} for c, of in _GLANCES}}

    @property
    def has_glance(self) -> bool:
        """Whether the table of measures has more than their names."""
        return self.table().columns[-1].name not in ("measure", "on")

    def tables(self, *, whole: bool = False) -> list[Table]:
        """The table of measures, or the tables of each procedure if it has only names of measures; ``whole``: both."""
        brief = [self.table()] if self.has_glance else []
        if brief and not whole:
            return brief
        between = [_titled(part, "") for part in self.across]
        return [*brief, *(_titled(part, side.name) for side in self.sides for part in side.parts), *between]

    @property
    def across(self) -> tuple[Part, ...]:
        """The comparison of the two collections, if there are two."""
        return (*((self.between,) if self.between else ()), *self.between_sets)

    def reading(self) -> list[str]:
        """The study in plain words: which measures are best by each procedure."""
        if self.against is not None:
            both = [f"On {side.name}: {sentence}" for side in self.sides for sentence in side.reading()]
            return [*both, *(self.between.result.reading() if self.between else ())]
        table = self.table()
        names = [column.name for column in table.columns]
        found = []
        for name, words, best in _SUPERLATIVES:
            if name not in names:
                continue
            j = names.index(name)
            values = {str(row[0].value): row[j].value for row in table.rows if isinstance(row[j].value, int | float)}
            if len(values) > 1 and len(set(values.values())) > 1:
                first = best(values.values())
                chosen = [m for m, value in values.items() if value == first]
                found.append(f"{words}: {joined(chosen)} ({table.columns[j].written(first)}).")
        if "bounded" in names:
            bounded = {str(row[0].value): row[names.index("bounded")].value for row in table.rows}
            out, within = ([m for m, word in bounded.items() if word == said] for said in ("no", "yes"))
            if len(within) == len(bounded):
                found.append("All are bounded by 0 and 1.")
            else:
                found.append(
                    f"Not bounded by 0 and 1: {joined(out)}." if out else f"Bounded by 0 and 1: {joined(within)}."
                )
        return found

    def of(self, procedure: str) -> Result:
        """The first result of a procedure."""
        for part in self.parts:
            if part.procedure == procedure:
                return part.result
        why = self.skipped.get(procedure)
        raise InputError(f"{procedure} is not in this study", remedy=why or f"there are: {', '.join(QUESTIONS)}")

    def to_latex(self) -> str:
        """The table for a paper."""
        return self.table().latex(label="tab:overview")

    def __str__(self) -> str:
        return "\n\n".join([*self.reading(), str(self.table())])

    def _repr_html_(self) -> str:
        return notebook(*self.reading(), self.table())

    def _repr_markdown_(self) -> str:
        return in_markdown(*self.reading(), self.table())

    def __repr__(self) -> str:
        return f"<Survey: {joined(dict.fromkeys(p.procedure for p in self.parts))} of {self.scores!r}>"


def _titled(part: Part, on: str) -> Table:
    """The table of a part, whose title says which collection, queries and measures it is about."""
    table = part.result.table()
    subject = re.sub("^(The|By) ", lambda m: m[0].lower(), part.subject)
    about = ", ".join(word for word in (on and f"on {on}", subject) if word)
    title = f"{table.title} ({about})" if about else table.title
    return Table(table.columns, table.rows, title=title, notes=table.notes)


def _bounded(whole: Mapping[str, Any], m: str) -> str | None:
    """Whether all lists score between 0 and 1; None: nobody knows, and those that were given do."""
    found = whole.get("boundedness")
    if found is None:
        return None
    if m in found.lowest:
        return "no" if found.can_leave[m] > 0 or found.unbounded[m] > 0 else "yes"
    values = whole["scores"].values[:, :, whole["scores"].column(m)]
    return "no" if values.min() < -TOLERANCE or values.max() > 1.0 + TOLERANCE else None


def _error_rate(whole: Mapping[str, Any], m: str) -> float | None:
    """With half of the topics; None: nothing is decided."""
    found = whole.get("stability")
    if found is None or found.half is None or found.tie_rate[m][found.half] == 1.0:
        return None
    return float(found.error_rate[m][found.half])


def _ties(whole: Mapping[str, Any], m: str) -> float | None:
    found = whole.get("stability")
    return None if found is None or found.half is None else float(found.tie_rate[m][found.half])


def _told_apart(whole: Mapping[str, Any], m: str) -> float | None:
    return float(whole["sensitivity"].curve([0.05])[m][0]) if "sensitivity" in whole else None


def _phi(whole: Mapping[str, Any], m: str) -> float | None:
    phi = whole["reliability"].phi[m] if "reliability" in whole else np.nan
    return None if np.isnan(phi) else float(phi)


def _topics_needed(whole: Mapping[str, Any], m: str) -> int | None:
    return whole["reliability"].topics_needed(0.95)[m] if "reliability" in whole else None


def _significant(whole: Mapping[str, Any], m: str) -> float | None:
    found = whole.get("discrimination")
    return found.significant[m] / found.tested[m] if found is not None and m in found.significant else None


#: The columns of a survey's table, each with where its values come from.
_GLANCES: tuple[tuple[Column, Callable[[Mapping[str, Any], str], Any]], ...] = (
    (Column("bounded"), _bounded),
    (Column("error rate", 2, "percent"), _error_rate),
    (Column("ties", 1, "percent"), _ties),
    (Column("told apart", 1, "percent"), _told_apart),
    (Column("significant", 1, "percent"), _significant),
    (Column("Φ", 3), _phi),
    (Column("topics for Φ 0.95"), _topics_needed),
)


_MEANINGS = {
    "bounded": "bounded: in these topics no list can score below 0 or above 1; -: unknown, but no given list did",
    "error rate": "error rate: decisions between runs that change on another half of the topics",
    "ties": "ties: pairs of runs that half of the topics do not decide: their difference is within the fuzziness",
    "told apart": "told apart: pairs of runs with an achieved significance level below 0.05",
    "significant": "significant: pairs of runs that differ significantly",
    "Φ": "Φ: share of the variance in mean scores that comes from the runs",
}

_SUPERLATIVES: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("error rate", "Most stable, by its error rate", min),
    ("told apart", "Most sensitive, by the pairs told apart", max),
    ("significant", "Most discriminating, by significant pairs", max),
    ("Φ", "Most reliable, by Φ", max),
)


@takes(
    only=optional(some(text(), "a list of procedures")),
    preset=optional(text("a name")),
    parameters=optional(instance(Mapping)),
    progress=function(),
    cache=optional(path()),
)
def survey(
    scores: Scores | None = None,
    *,
    qrels: Any = None,
    runs: Any = None,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    preset: str | None = None,
    gains: GainsLike | None = None,
    unjudged: Unjudged | None = None,
    queries: Queries = "qrels",
    nil: str | None = None,
    limit: int | None = None,
    only: Sequence[str] | None = None,
    seed: int = 0,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    against: Scores | Mapping[str, Any] | None = None,
    names: tuple[str, str] = ("the first", "the second"),
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
) -> Survey:
    """Study measures by every procedure that applies.

    Parameters
    ----------
    scores
        Existing scores; without judgments and runs, procedures that need them are left out. Or
    qrels, runs, measures, gains, unjudged, queries
        As in :func:`evaluate`.
    preset
        A published study, whose measures, gains and parameters are used unless they are given:
        ``"forbidden-2022"`` (Carmel et al. 2022), ``"negative-2020"`` (Gienapp et al. 2020), ``"bounds-2022"``
        (Karmaker and Feng 2022), ``"quit-2016"`` (Liu et al. 2016), ``"topk-2012"`` (Niu et al. 2012).
    nil, limit
        As in :func:`truncation`, which is left out if neither is given and no measure rewards ended lists.
    only
        Procedures to apply (default: all of :data:`QUESTIONS`).
    seed
        The seed of all samples.
    parameters
        Further keyword arguments for each procedure: ``{"stability": {"fuzziness": 0.05}}``.
    against
        Another collection to study in the same way for comparison: scores, or ``{"qrels": ..., "runs": ...}``. Settings
        in it, such as ``queries``, apply only to it. Runs with the same name in both are ordered by both.
    names
        The names of the two collections.
    progress
        Wraps the runs as they are evaluated, and the procedures as they are applied.
    cache
        As in :func:`evaluate`: for large runs, whose evaluation takes longer than the study.

    Examples
    --------
    >>> values = [[[0.1, 0.2], [0.2, 0.1], [0.3, 0.4]], [[0.6, 0.5], [0.8, 0.2], [0.9, 0.8]]]
    >>> scores = Scores.from_array(values, runs=["a", "b"], queries=["q", "r", "s"], measures=["AP", "RR"])
    >>> found = survey(scores, only=["reliability", "agreement"])
    >>> found
    <Survey: reliability and agreement of <Scores: 2 runs × 3 queries × 2 measures>>
    >>> print(*found.of("agreement").reading())
    AP and RR order the 2 runs with τ = 1.000: 0% of pairs are swapped.
    """
    how: dict[str, Any] = {
        "measures": measures, "preset": preset, "gains": gains, "unjudged": unjudged, "queries": queries, "nil": nil,
        "limit": limit, "only": only, "seed": seed, "parameters": parameters, "progress": progress, "cache": cache,
    }  # fmt: skip
    first = _survey(scores, qrels=qrels, runs=runs, **how)
    if against is None:
        return first
    if not isinstance(against, Scores | Mapping):
        what = f"against is {type(against).__name__}, neither scores nor a mapping"
        raise InputError(what, remedy='write against={"qrels": ..., "runs": ...}')
    other = {"scores": against} if isinstance(against, Scores) else {"scores": None, **against}
    order = {**(find_preset(preset).parameters.get("agreement", {}) if preset else {})}
    order |= (parameters or {}).get("agreement", {})
    second = _survey(**{"qrels": None, "runs": None, **how, **other})
    return _side_by_side(first, second, names, over_k=bool(order.get("over_k", False)))


def _side_by_side(first: Survey, second: Survey, names: tuple[str, str], *, over_k: bool) -> Survey:
    """Two studies as one."""
    if names[0] == names[1]:
        raise InputError(f"both collections are called {names[0]!r}", remedy="give them two names")
    between, notes = None, first.notes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)
        try:
            found = consistency(first.scores, second.scores, over_k=over_k)
        except InputError as reason:  # nothing in common
            notes = (*notes, f"orders of runs are not compared: {reason}")
        else:
            between = Part("consistency", found, f"The orders on {names[0]} and on {names[1]}")
        sets = tuple(_between_sets(first, second, names, over_k))
    second = replace(second, name=names[1])
    return replace(first, name=names[0], notes=notes, against=second, between=between, between_sets=sets)


def _between_sets(first: Survey, second: Survey, names: tuple[str, str], over_k: bool) -> Iterator[Part]:
    """The orders on the sets of queries that both have, each base measure on its own sets."""
    theirs = {part.word: part for part in second.parts if part.procedure == "query_types"}
    for part in first.parts:
        if part.procedure != "query_types" or part.word not in theirs:
            continue
        for kind in ("uninformative", "ideal"):
            one, two = (
                on_queries(_picked(side.scores, of.measures), getattr(of.result, kind))
                for side, of in ((first, part), (second, theirs[part.word]))
            )
            if min(len(one.queries), len(two.queries)) < _LEAST_QUERIES:
                continue
            try:
                found = consistency(one, two, over_k=over_k)
            except InputError:  # nothing in common
                continue
            by = f" by {part.word}" if part.word else ""
            subject = f"The orders on {kind} queries{by} of {names[0]} and of {names[1]}"
            yield Part("consistency", found, subject, f"{part.word} {kind}".strip())


def _survey(
    scores: Scores | None, *, qrels: Any, runs: Any, measures: Any, preset: str | None, gains: Any, unjudged: Any,
    queries: Any, nil: str | None, limit: int | None, only: Sequence[str] | None, seed: int,
    parameters: Mapping[str, Mapping[str, Any]] | None, progress: Callable[[Iterable[Any]], Iterable[Any]], cache: Any,
) -> Survey:  # fmt: skip
    """The study of one collection."""
    integer(0).check("seed", seed)
    chosen = _chosen(only)
    plan = find_preset(preset) if preset else None
    asked = {name: dict(given) for name, given in (plan.parameters if plan else {}).items()}
    for name, given in (parameters or {}).items():
        choice(*QUESTIONS).check("procedure", name)
        instance(Mapping).check(f"parameters[{name!r}]", given)
        asked.setdefault(name, {}).update(given)
    heard: dict[str, None] = {}
    with _listening(heard):
        subject = _Subject.of(
            scores, qrels, runs, measures, plan, gains, unjudged, queries, nil, limit, progress, cache
        )
        subject = replace(subject, over_k=bool(asked.get("agreement", {}).get("over_k", False)))
        check_scores(subject.scores, "a study")
        heard.update(dict.fromkeys([*subject.scores.notes, *peculiarities(subject.scores)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)  # every result has its own notes
        too_few = _TWO_RUNS if only is None and len(subject.scores.runs) == 2 else {}  # who names one may see it
        parts, skipped = _apply(tuple(n for n in chosen if n not in too_few), subject, asked, seed, progress)
        skipped = {name: too_few.get(name, skipped.get(name, "")) for name in chosen if name in {*too_few, *skipped}}
    if not parts:
        raise InputError(f"nothing to study: {'; '.join(skipped.values())}", remedy="name other procedures or measures")
    settings = {
        **({"preset": f"{plan.name} ({plan.paper})"} if plan else {}),
        **subject.settings,
        **{name: _written(given) for name, given in asked.items() if name in chosen and given},
        "seed": str(seed),
    }
    return Survey(subject.scores, tuple(parts), skipped, tuple(heard), settings)


def _chosen(only: Sequence[str] | None) -> tuple[str, ...]:
    for name in only or ():
        choice(*QUESTIONS).check("procedure", name)
    return tuple(name for name in QUESTIONS if only is None or name in only)


def _written(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


@contextmanager
def _listening(heard: dict[str, None]) -> Iterator[None]:
    """Collect the warnings of procedures, each once; the caller of the survey passes them on."""
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always", RankSiftWarning)
        yield
    for warning in log:
        if issubclass(warning.category, RankSiftWarning):
            heard[str(warning.message)] = None
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@dataclass(frozen=True, eq=False)
class _Subject:
    """What is studied: scores, and where they are known the judgments and runs that they come from."""

    scores: Scores
    qrels: Qrels | None
    runs: JudgedRuns | None
    how: Mapping[str, Any]
    nil: str | None
    limit: int | None
    over_k: bool = False  # whether orders of runs are by the mean over k

    @classmethod
    def of(
        cls, scores: Any, qrels: Any, runs: Any, measures: Any, plan: Any, gains: Any, unjudged: Any, queries: Any,
        nil: str | None, limit: int | None, progress: Callable[[Iterable[Any]], Iterable[Any]], cache: Any,
    ) -> _Subject:  # fmt: skip
        if scores is not None:
            if qrels is not None or runs is not None:
                raise InputError("scores and runs are given", remedy="give ready scores, or judgments and runs")
            return cls(_picked(scores, measures), None, None, {}, nil, limit)
        if qrels is None or runs is None:
            raise InputError("nothing to study is given", remedy="give scores, or judgments and runs")
        how = {
            "gains": gains if gains is not None else plan.gains if plan else "linear",
            "unjudged": unjudged or (plan.unjudged if plan else "zero"),
            "queries": queries,
            "cache": cache,
        }
        wanted = ready_measures(measures or (plan.measures if plan else DEFAULT_MEASURES))
        if plan and not measures:
            wanted = [_ended_by(m, nil, limit) for m in wanted]
        joined_by = {name: value for name, value in how.items() if name != "cache"}
        # Every procedure looks at the same joined runs: they are read once.
        given = JudgedRuns.of(qrels, runs, nil={*nil_ids(wanted), *([nil] if nil else [])}, keep=True, **joined_by)
        return cls(evaluate(given.qrels, given, wanted, progress=progress, **how), given.qrels, given, how, nil, limit)

    @property
    def settings(self) -> dict[str, str]:
        """What was evaluated, in words."""
        names = ", ".join(str(m) for m in self.scores.measures)
        return {"measures": names, **{name: str(value) for name, value in self.how.items() if name != "cache"}}

    @property
    def measures(self) -> list[Measure]:
        """Those that are known here."""
        return [m for m in self.scores.measures if isinstance(m, Measure)]


def _ended_by(measure: Measure, nil: str | None, limit: int | None) -> Measure:
    """A measure of a preset that knows how lists end, with what was asked for instead."""
    given = {name: value for name, value in (("nil", nil), ("limit", limit)) if value is not None}
    return measure(**{name: value for name, value in given.items() if getattr(measure, name, None) is not None})


def _picked(scores: Scores, measures: Any) -> Scores:
    """Ready scores, by all measures or by some."""
    if not isinstance(scores, Scores) or not measures:
        return scores
    given = [measures] if isinstance(measures, str | Measure) else list(measures)
    names = [word for m in given for word in (m.split() if isinstance(m, str) else [m])]
    columns = list(dict.fromkeys(scores.column(m) for m in names))
    return Scores(
        scores.runs,
        scores.queries,
        tuple(scores.measures[m] for m in columns),
        scores.numerators[:, :, columns],
        scores.denominators[:, :, columns],
        scores.degenerate,
        scores.notes,
    )


class _NotApplicableError(Exception):
    """A procedure has nothing to work on; the reason."""


def _apply(
    chosen: Sequence[str],
    subject: _Subject,
    asked: Mapping[str, Mapping[str, Any]],
    seed: int,
    progress: Callable[[Iterable[Any]], Iterable[Any]],
) -> tuple[list[Part], dict[str, str]]:
    parts: list[Part] = []
    skipped: dict[str, str] = {}
    for name in progress(chosen):
        given = dict(asked.get(name, {}))
        try:
            if name in OF_SCORES:
                parts.append(Part(name, _of_scores(name, subject.scores, given, seed)))
            else:
                again = {other: asked.get(other, {}) for other in chosen if other in OF_SCORES}
                parts.extend(_OF_RUNS[name](subject, given, again, seed))  # up to where something does not apply
        except _NotApplicableError as reason:
            skipped[name] = str(reason)
    return parts, skipped


def _of_scores(name: str, scores: Scores, given: Mapping[str, Any], seed: int) -> Result:
    """Apply a procedure that needs nothing but scores."""
    how = dict(given)
    if name == "stability":
        if how.get("sizes") is None and isinstance(how.get("samples", 200), int):
            how["sizes"] = _sizes(len(scores.queries))
        return stability(scores, **{"seed": seed, **how})
    if name == "sensitivity":
        return sensitivity(scores, **{"seed": seed, **how})
    if name == "reliability":
        return reliability(scores, **{"seed": seed, **how})
    if name == "discrimination":
        return discrimination(scores, **{"seed": seed, **how})
    if len(families(scores, how.get("over_k", False))) < 2:
        raise _NotApplicableError("agreement needs more than one measure")
    return agreement(scores, **how)


def _sizes(topics: int) -> list[int]:
    """Every size, or where they are many some of them, evenly spaced."""
    spaced = np.linspace(2, topics, min(topics - 1, MOST_SIZES)).round().astype(int)
    return sorted(set(spaced.tolist()))


def _judged(subject: _Subject) -> Qrels:
    if subject.qrels is None:
        raise _NotApplicableError("it needs judgments and runs, and only scores are given")
    return subject.qrels


def _boundedness(subject: _Subject, given: Mapping[str, Any], again: Any, seed: int) -> Iterator[Part]:
    qrels = _judged(subject)
    measures = [m for m in subject.measures if isinstance(m, Normalised)]
    if not measures:
        raise _NotApplicableError("the attainable range is known only for nDCG, nDCG_org, nDCG_min and nDCG_f")
    yield Part("boundedness", boundedness(qrels, subject.runs, measures, **{**subject.how, **given}))


def _query_types(
    subject: _Subject, given: Mapping[str, Any], again: Mapping[str, Mapping[str, Any]], seed: int
) -> Iterator[Part]:
    qrels = _judged(subject)
    known = [m for m in subject.measures if _has_expectation(m, qrels, subject)]
    cases = case_studies(subject.measures, known)
    if not cases:
        raise _NotApplicableError("the expected score of a random ranking is not known for any of the measures")
    for case in cases:
        yield from _case(case, case.name if len(cases) > 1 else "", qrels, subject, given, again, seed)


def _case(
    case: CaseStudy, word: str, qrels: Qrels, subject: _Subject,
    given: Mapping[str, Any], again: Mapping[str, Mapping[str, Any]], seed: int,
) -> Iterator[Part]:  # fmt: skip
    """Types of queries by one base measure, and what its measures are worth on both ends."""
    real = _picked(subject.scores, case.bases)
    topics = len(real.queries)
    expected = expected_scores(qrels, case.lower_bounds, gains=subject.how["gains"], queries=real.queries)
    types = query_types(real, expected, **{"size": max(1, min(topics // 2, max(10, topics // 10))), **given})
    yield Part("query_types", types, case.words, word, case.measures)
    studied = _picked(subject.scores, case.measures)
    sets = {name: part for name, part in types.split(studied).items() if name in ("uninformative", "ideal")}
    if min(len(part.queries) for part in sets.values()) < _LEAST_QUERIES:
        return
    by = f" by {word}" if word else ""
    for kind, part in sets.items():
        for name, how in again.items():
            try:
                result = _of_scores(name, part, how, seed)
            except _NotApplicableError:
                continue
            subset = f"the {counted(len(part.queries), f'{kind} query', f'{kind} queries')}{by}"
            yield Part(name, result, subset, f"{word} {kind}".strip())
    if len(real.runs) == 2:
        return
    between = consistency(sets["uninformative"], sets["ideal"], over_k=subject.over_k)
    orders = f"the orders on uninformative and on ideal queries{by}"
    yield Part("consistency", between, orders, f"{word} uninformative-ideal".strip())


def _has_expectation(measure: Measure, qrels: Qrels, subject: _Subject) -> bool:
    if isinstance(measure, E_DCG | E_SP):  # every run has the random value: no query tells anything apart
        return False
    try:
        expected_scores(qrels, measure, gains=subject.how["gains"], queries=subject.scores.queries[:1])
    except InputError:
        return False
    return True


def _truncation(subject: _Subject, given: Mapping[str, Any], again: Any, seed: int) -> Iterator[Part]:
    qrels = _judged(subject)
    rewarding = any(isinstance(m, QuitWhileAhead) for m in subject.measures)
    if subject.nil is None and subject.limit is None and not rewarding and not given:
        raise _NotApplicableError(
            "no list is known to end on purpose; name the NIL document or the longest list allowed"
        )
    named = {name: value for name, value in (("nil", subject.nil), ("limit", subject.limit)) if value is not None}
    found = truncation(qrels, subject.runs, **{**subject.how, **given, **named})
    yield Part("truncation", found)
    if 0 < found.nil_queries < len(found.answerable):
        alone = found.on_answerable()
        number = len(alone.answerable)
        have = "query that has" if number == 1 else "queries that have"
        yield Part("truncation", alone, f"The {number} {have} an answer", "answerable")


def _penalty_sweep(subject: _Subject, given: Mapping[str, Any], again: Any, seed: int) -> Iterator[Part]:
    qrels = _judged(subject)
    # Of measures that differ in k only, the one that sees most.
    deepest: dict[str, Cumulative] = {}
    for m in subject.measures:
        if isinstance(m, Cumulative) and not isinstance(m, nDCG):
            name = str(m).rpartition("@")[0] if m.k else str(m)
            if name not in deepest or (m.k or np.inf) > (deepest[name].k or np.inf):
                deepest[name] = m
    if not deepest:
        raise _NotApplicableError("penalties affect only DCG, nDCG_org, nDCG_min and nDCG_f")
    reasons = []
    for m in deepest.values():
        try:
            found = penalty_sweep(qrels, subject.runs, m, **{**subject.how, **given})
        except InputError as reason:
            reasons.append(str(reason))
        else:
            yield Part("penalty_sweep", found, str(m), str(m))
    if reasons:
        raise _NotApplicableError("; ".join(reasons))


_OF_RUNS: Mapping[str, Callable[..., Iterator[Part]]] = {
    "boundedness": _boundedness,
    "query_types": _query_types,
    "truncation": _truncation,
    "penalty_sweep": _penalty_sweep,
}
