"""Runs and judgments in, scores out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import OnDuplicate
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun, Unjudged, join
from ranksift.collection.qrels import Qrels, is_two_level, read_qrels
from ranksift.collection.ragged import Floats
from ranksift.collection.run import Run, read_run
from ranksift.errors import InputError, RankSiftWarning
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike, parse_measures

#: Which queries count: all that are judged, those that the run answers, or these.
Queries: TypeAlias = Literal["qrels", "run"] | Sequence[str]


@dataclass(frozen=True, eq=False)
class RunValues:
    """What is kept of a run.

    Attributes
    ----------
    name
        The run's.
    numerators, denominators
        Of every query and measure.
    answered
        The queries for which the run lists something.
    degenerate
        For some measures the queries in which they cannot tell rankings apart.
    notes
        What the reader should know of it.
    """

    name: str
    numerators: Floats
    denominators: Floats
    answered: NDArray[np.bool_]
    degenerate: Mapping[str, NDArray[np.bool_]]
    notes: Sequence[str]


def evaluate(
    qrels: Any,
    runs: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    on_duplicate: OnDuplicate = "error",
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    cache: str | os.PathLike[str] | None = None,
) -> Scores:
    """Evaluate runs against judgments.

    Parameters
    ----------
    qrels
        Anything that :func:`read_qrels` takes.
    runs
        A run (anything that :func:`read_run` takes), a list of them, or ``{name: run}``.
    measures
        Names or objects; a string may hold several.
    gains
        What labels are worth: ``"linear"``, ``"exp"`` or a mapping such as ``{-2: -10}`` over linear.
        A measure's own ``gains`` wins.
    unjudged
        ``"zero"``: an unjudged document keeps its rank with gain 0; ``"drop"``: it is removed first.
    queries
        ``"qrels"``: every judged query counts, an unanswered one as an empty list; ``"run"``: those that
        the run answers (trec_eval without ``-c``; with several runs, those that all of them answer); or a
        list of ids.
    on_duplicate
        What to do about a document that a file lists twice for a query: see :func:`read_run`.
    progress
        Wraps the runs as they are read and evaluated, one after another.
    cache
        A folder in which the values of every run file are kept: where an evaluation is broken off and begun again, it
        goes on with the first run that is not there.

    Examples
    --------
    >>> qrels = {"q1": {"good": 2, "bad": -2}, "q2": {"ok": 1}}
    >>> run = {"q1": {"good": 9.0, "bad": 5.0}, "q2": {"ok": 3.0}}
    >>> evaluate(qrels, run, ["nDCG_f@10", "AP"]).mean()["nDCG_f@10"].round(4).to_list()
    [0.8423]
    """
    judgments = read_qrels(qrels, on_duplicate=on_duplicate)
    wanted = ready_measures(measures)
    sources = run_sources(runs)
    worth, nil = Gains.of(gains), nil_ids(wanted)
    candidates = _candidates(judgments, queries)
    shape = (len(sources), len(candidates), len(wanted))
    numerators, denominators = np.empty(shape), np.empty(shape)
    names: list[str] = []
    notes: list[str] = []
    answered = np.ones(len(candidates), dtype=bool)
    degenerate: Mapping[str, NDArray[np.bool_]] = {}

    def values_of(source: Any, name: str | None, first: bool) -> RunValues:
        run = read_run(source, name=name, on_duplicate=on_duplicate)
        strangers = _strangers(judgments, run) if isinstance(queries, str) else []
        judged = join(judgments, run, candidates, unjudged=unjudged, gains=worth, nil=nil)
        return run_values(run.name, wanted, judged, candidates, strangers, first)

    recall = None
    if cache is not None:
        from ranksift.evaluation.cache import Cache

        settings = [str(m) for m in wanted], worth, unjudged, queries, candidates, on_duplicate
        recall = Cache(cache, judgments, settings).values
    for r, (source, name) in enumerate(progress(sources)):
        # One run at a time: what is kept of it are its values.
        compute = partial(values_of, source, name, first=r == 0)
        values = recall(source, (name, r == 0), compute) if recall else compute()
        names.append(values.name)
        notes += values.notes
        answered &= values.answered
        numerators[r], denominators[r] = values.numerators, values.denominators
        degenerate = values.degenerate or degenerate
    if isinstance(queries, str) and queries == "run":
        if not answered.any():
            raise InputError("no judged query is answered by every run", remedy="use queries='qrels'")
        candidates = tuple(q for q, there in zip(candidates, answered.tolist(), strict=True) if there)
        numerators, denominators = numerators[:, answered], denominators[:, answered]
        degenerate = {m: mask[answered] for m, mask in degenerate.items()}
    for note in notes:
        warnings.warn(note, RankSiftWarning, stacklevel=2)
    return Scores(
        tuple(_distinct(names, [source for source, _ in sources])),
        candidates,
        tuple(wanted),
        numerators,
        denominators,
        {m: int(mask.sum()) for m, mask in degenerate.items() if mask.any()},
        tuple(notes),
    )


def run_values(
    name: str, measures: list[Measure], judged: JudgedRun, queries: Sequence[str], notes: list[str], first: bool
) -> RunValues:
    """Apply all measures to a run; what the judgments alone tell is taken from the first one."""
    shape = (len(queries), len(measures))
    numerators, denominators = np.empty(shape), np.ones(shape)
    for m, measure in enumerate(measures):
        top, bottom = measure.per_query(judged)
        numerators[:, m] = top
        if bottom is not None:
            denominators[:, m] = bottom
        if not np.isfinite(top).all():
            bad = queries[int(np.argmin(np.isfinite(top)))]
            raise InputError(f"{measure} of query {bad!r} is not finite", remedy="labels or gains are too large for it")
    return RunValues(
        name,
        numerators,
        denominators,
        judged.listed > 0,
        _degenerate(measures, judged) if first else {},
        [*notes, *(_out_of_range(measures, judged) if first else ())],
    )


def ready_measures(measures: MeasureLike | Iterable[MeasureLike]) -> list[Measure]:
    """Measures by name or object, each with the cutoff that it needs."""
    wanted = parse_measures(measures)
    for measure in wanted:
        if measure.needs_k and getattr(measure, "k", None) is None:
            raise InputError(f"{measure} needs a cutoff", remedy=f"write {measure}@10")
    return wanted


def nil_ids(measures: Iterable[Measure]) -> set[str]:
    """The document ids that some measure takes for "no answer", also one around another measure."""
    every = (m for measure in measures for m in (measure, getattr(measure, "measure", None)))
    ids = (getattr(m, "nil", None) for m in every)
    return {nil for nil in ids if nil}


def run_sources(runs: Any) -> list[tuple[Any, str | None]]:
    """One run, a list or ``{name: run}`` as a list of what :func:`read_run` takes, with names where they are given."""
    if isinstance(runs, Mapping):
        # {query: {document: score}} is one run, also when every inner dict is empty.
        if is_two_level(runs) and not any(is_two_level(v) and v for v in runs.values()):
            return [(runs, None)]
        return [(run, str(name)) for name, run in runs.items()]
    if isinstance(runs, str | os.PathLike | Run) or hasattr(runs, "columns") or not isinstance(runs, Iterable):
        return [(runs, None)]
    given: list[tuple[Any, str | None]] = [(run, None) for run in runs]
    if not given:
        raise InputError("no run is given", remedy="name at least one run")
    return given


def named_runs(
    runs: Any, *, on_duplicate: OnDuplicate = "error", progress: Callable[[Iterable[Any]], Iterable[Any]] = iter
) -> list[Run]:
    """One run, a list or ``{name: run}`` as a list of runs with distinct names."""
    sources = run_sources(runs)
    read = [read_run(source, name=name, on_duplicate=on_duplicate) for source, name in progress(sources)]
    names = _distinct([run.name for run in read], [source for source, _ in sources])
    return [run if run.name == name else run.named(name) for run, name in zip(read, names, strict=True)]


def _distinct(names: list[str], sources: list[Any]) -> list[str]:
    """Rename runs that share a name: by their folder where they come from files, else by number."""
    if len(set(names)) == len(names):
        return names
    out: list[str] = []
    for name, source in zip(names, sources, strict=True):
        own = name
        if names.count(name) > 1 and isinstance(source, str | os.PathLike):
            own = "/".join([*os.path.dirname(os.path.abspath(source)).split(os.sep)[-1:], name])
        base, n = own, 1
        while own in out:
            n += 1
            own = f"{base}_{n}"
        out.append(own)
    return out


def choose_queries(qrels: Qrels, runs: list[Run], queries: Queries) -> tuple[tuple[str, ...], list[str]]:
    """The queries that count, and notes about those left out."""
    chosen, notes = _candidates(qrels, queries), []
    if isinstance(queries, str):
        notes = [note for run in runs for note in _strangers(qrels, run)]
    if isinstance(queries, str) and queries == "run":
        common = set.intersection(*(set(r.query_ids) for r in runs))
        chosen = tuple(q for q in chosen if q in common)
        if not chosen:
            raise InputError("no judged query is answered by every run", remedy="use queries='qrels'")
    return chosen, notes


def _candidates(qrels: Qrels, queries: Queries) -> tuple[str, ...]:
    """The queries that may count: those that are judged, or those that are named."""
    if isinstance(queries, str):
        if queries not in ("qrels", "run"):
            raise InputError(f"queries={queries!r} is unknown", remedy="use 'qrels', 'run' or a list of query ids")
        if not qrels.query_ids:
            raise InputError(
                "there is no judgment", source=qrels.name, remedy="give one, or name the queries that count"
            )
        return qrels.query_ids
    if not isinstance(queries, Iterable):
        raise InputError(f"queries={queries!r} is unknown", remedy="use 'qrels', 'run' or a list of query ids")
    named = tuple(dict.fromkeys(str(q) for q in queries))
    if not named:
        raise InputError("the list of queries is empty", remedy="name at least one query")
    return named


def _strangers(qrels: Qrels, run: Run) -> list[str]:
    """A note about queries of the run that nobody judged; an error where that is all of them."""
    judged = set(qrels.query_ids)
    strangers = [q for q in run.query_ids if q not in judged]
    if not strangers:
        return []
    if len(strangers) == len(run.query_ids):
        raise InputError(
            f"run {run.name!r} and {qrels.name!r} have no query in common",
            remedy=f"the run has {run.query_ids[0]!r}, the judgments have {qrels.query_ids[0]!r}: make the ids match",
        )
    n = len(strangers)
    return [
        f"run {run.name!r}: {n} quer{'y' if n == 1 else 'ies'} without judgments left out "
        f"(the first is {strangers[0]!r})"
    ]


def _degenerate(measures: list[Measure], judged: JudgedRun) -> dict[str, NDArray[np.bool_]]:
    masks = {str(measure): measure.degenerate(judged) for measure in measures}
    return {name: mask for name, mask in masks.items() if mask is not None}


def _out_of_range(measures: list[Measure], judged: JudgedRun) -> list[str]:
    """Warnings of measures whose assumptions the labels break."""
    notes = []
    for measure in measures:
        check = getattr(measure, "complaint", None)
        word = check(judged) if check else None
        if word:
            notes.append(f"{measure}: {word}")
    return notes
