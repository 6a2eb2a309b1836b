"""Runs and judgments in, scores out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from ranksift.collection.errors import InputError, RankSiftWarning
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.grouped import OnDuplicate
from ranksift.collection.judged import Judged, Unjudged, join
from ranksift.collection.qrels import Qrels, is_two_level, read_qrels
from ranksift.collection.run import Run, read_run
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike, parse_measures

#: Which queries count: all that are judged, those that the run answers, or these.
Queries: TypeAlias = Literal["qrels", "run"] | Sequence[str]


def evaluate(
    qrels: Any,
    runs: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    queries: Queries = "qrels",
    progress: Callable[[Iterable[Run]], Iterable[Run]] = iter,
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

    Examples
    --------
    >>> qrels = {"q1": {"good": 2, "bad": -2}, "q2": {"ok": 1}}
    >>> run = {"q1": {"good": 9.0, "bad": 5.0}, "q2": {"ok": 3.0}}
    >>> evaluate(qrels, run, ["nDCG_f@10", "AP"]).mean()["nDCG_f@10"].round(4).to_list()
    [0.8423]
    """
    judgments = read_qrels(qrels)
    wanted = ready_measures(measures)
    named = named_runs(runs)
    worth = Gains.of(gains)
    chosen, notes = choose_queries(judgments, named, queries)
    nil = nil_ids(wanted)
    shape = (len(named), len(chosen), len(wanted))
    numerators, denominators = np.empty(shape), np.ones(shape)
    degenerate: dict[str, int] = {}
    for r, run in enumerate(progress(named)):
        judged = join(judgments, run, chosen, unjudged=unjudged, gains=worth, nil=nil)
        if r == 0:
            degenerate = _degenerate(wanted, judged)
            notes += _out_of_range(wanted, judged)
        for m, measure in enumerate(wanted):
            top, bottom = measure.per_query(judged)
            numerators[r, :, m] = top
            if bottom is not None:
                denominators[r, :, m] = bottom
            if not np.isfinite(top).all():
                bad = chosen[int(np.argmin(np.isfinite(top)))]
                raise InputError(
                    f"{measure} of query {bad!r} is not finite", remedy="labels or gains are too large for it"
                )
    for note in notes:
        warnings.warn(note, RankSiftWarning, stacklevel=2)
    return Scores(
        tuple(r.name for r in named), tuple(chosen), tuple(wanted), numerators, denominators, degenerate, tuple(notes)
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


def named_runs(
    runs: Any, *, on_duplicate: OnDuplicate = "error", progress: Callable[[Iterable[Any]], Iterable[Any]] = iter
) -> list[Run]:
    """One run, a list or ``{name: run}`` as a list of runs with distinct names."""
    if isinstance(runs, Mapping):
        # {query: {document: score}} is one run, also when every inner dict is empty.
        if is_two_level(runs) and not any(is_two_level(v) and v for v in runs.values()):
            return [read_run(runs)]
        return [read_run(run, name=str(name)) for name, run in runs.items()]
    if isinstance(runs, str | os.PathLike | Run) or hasattr(runs, "columns"):
        return [read_run(runs)]
    if not isinstance(runs, Iterable):
        return [read_run(runs)]
    given = list(runs)
    if not given:
        raise InputError("no run is given", remedy="name at least one run")
    read = [read_run(r, on_duplicate=on_duplicate) for r in progress(given)]
    return _distinct(read, [os.fspath(r) if isinstance(r, str | os.PathLike) else "" for r in given])


def _distinct(runs: list[Run], paths: list[str]) -> list[Run]:
    """Rename runs that share a name: by their folder where they come from files, else by number."""
    names = [r.name for r in runs]
    if len(set(names)) == len(names):
        return runs
    out, used = [], set()
    for run, path in zip(runs, paths, strict=True):
        name = run.name
        if names.count(name) > 1 and path:
            name = "/".join([*os.path.dirname(os.path.abspath(path)).split(os.sep)[-1:], name])
        base, n = name, 1
        while name in used:
            n += 1
            name = f"{base}_{n}"
        used.add(name)
        out.append(run.named(name))
    return out


def choose_queries(qrels: Qrels, runs: list[Run], queries: Queries) -> tuple[tuple[str, ...], list[str]]:
    """The queries that count, and notes about those left out."""
    judged = set(qrels.query_ids)
    notes: list[str] = []
    if isinstance(queries, str):
        if queries not in ("qrels", "run"):
            raise InputError(f"queries={queries!r} is unknown", remedy="use 'qrels', 'run' or a list of query ids")
        for run in runs:
            answered = set(run.query_ids)
            if answered and not answered & judged:
                raise InputError(
                    f"run {run.name!r} and {qrels.name!r} have no query in common",
                    remedy=f"the run has {run.query_ids[0]!r}, the judgments have {qrels.query_ids[0]!r}: "
                    "make the ids match",
                )
            strangers = [q for q in run.query_ids if q not in judged]
            if strangers:
                n = len(strangers)
                notes.append(
                    f"run {run.name!r}: {n} quer{'y' if n == 1 else 'ies'} without judgments left out "
                    f"(the first is {strangers[0]!r})"
                )
        chosen = qrels.query_ids
        if queries == "run":
            common = set.intersection(*(set(r.query_ids) for r in runs))
            chosen = tuple(q for q in qrels.query_ids if q in common)
            if not chosen:
                raise InputError("no judged query is answered by every run", remedy="use queries='qrels'")
        return chosen, notes
    chosen = tuple(dict.fromkeys(str(q) for q in queries))
    if not chosen:
        raise InputError("the list of queries is empty", remedy="name at least one query")
    return chosen, notes


def _degenerate(measures: list[Measure], judged: Judged) -> dict[str, int]:
    found = {}
    for measure in measures:
        mask = measure.degenerate(judged)
        if mask is not None and mask.any():
            found[str(measure)] = int(mask.sum())
    return found


def _out_of_range(measures: list[Measure], judged: Judged) -> list[str]:
    """Warnings of measures whose assumptions the labels break."""
    notes = []
    for measure in measures:
        check = getattr(measure, "complaint", None)
        word = check(judged) if check else None
        if word:
            notes.append(f"{measure}: {word}")
    return notes
