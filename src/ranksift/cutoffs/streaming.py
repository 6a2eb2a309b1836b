"""One threshold for all queries of a run that does not fit into memory: the one that the whole would give.

A threshold is chosen by the documents at which a measure changes, and for nDCG_f@3 these are three of a list. They are
kept in memory, and of the others, between two of these, the one with the lowest score: where several thresholds are
equal, it is the one that is chosen. The lists themselves lie on the disk, and are gone through twice more: for those
documents, and for what the threshold shows and hides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import folds_of
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import UNJUDGED, Unjudged
from ranksift.collection.judged_runs import JudgedRuns
from ranksift.collection.lists import Lists
from ranksift.collection.pool import Pool
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.run_parts import RunParts, Taken
from ranksift.collection.stored_lists import StoredLists
from ranksift.cutoffs.baselines import FilterAll, FixedCutoff, Oracle, RankOnly
from ranksift.cutoffs.candidates import Candidate, Rules, candidates
from ranksift.cutoffs.comparison import CutoffComparison, compared_measures, how_judged
from ranksift.cutoffs.cutoff import check_labels, left_out
from ranksift.cutoffs.summary import Summary, beyond, summary_of
from ranksift.cutoffs.sweep import Sweep, Swept, changes
from ranksift.cutoffs.threshold import GlobalCutoff, one_measure
from ranksift.cutoffs.tradeoff import Tradeoff, with_costs
from ranksift.errors import InputError
from ranksift.evaluation.compare import Correction, TestName
from ranksift.evaluation.evaluate import degenerate_queries
from ranksift.evaluation.scores import Scores
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.spool import Spool

#: Rules that can be compared where a run is read in parts, beside thresholds.
IN_PARTS = ("filter-all", "rank-only", "global", "oracle")
_CUT_AT_A_THRESHOLD = (FilterAll, RankOnly, FixedCutoff, GlobalCutoff, Oracle)

_DIGIT = 16  # bits of a score that are looked at in one pass
_SIGN = np.uint64(1 << 63)


def fit_in_parts(
    rule: GlobalCutoff, qrels: Qrels, parts: RunParts, *, gains: GainsLike = "linear", unjudged: Unjudged = "zero"
) -> None:
    """Fit a threshold to a run that is read in parts.

    What is learned is what the whole would teach. But ``thresholds_`` and ``values_`` have fewer points: of thresholds
    with the same value the lowest.

    Parameters
    ----------
    rule
        What is fitted.
    qrels, parts
        The judgments, and the run.
    gains, unjudged
        As in :meth:`GlobalCutoff.fit_run`.
    """
    with Spool() as spool:
        stored, taken = _stored(spool, qrels, parts, gains, unjudged)
        _fit(rule, stored, taken, np.zeros(len(stored), dtype=np.int64))


def summarised_in_parts(
    rule: GlobalCutoff,
    qrels: Qrels,
    parts: RunParts,
    *,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    folds: int = 5,
    samples: int = 1000,
    seed: int = 0,
) -> Summary:
    """Fit a threshold as :func:`fit_in_parts` does, and sum it up as :func:`summarised`."""
    with Spool() as spool:
        stored, taken = _stored(spool, qrels, parts, gains, unjudged)
        split = 2 <= folds <= len(stored)
        fold = folds_of(len(stored), folds, seed) if split else np.zeros(len(stored), dtype=np.int64)
        swept = _fit(rule, stored, taken, fold)
        hold_out = partial(_thresholds_of_others, rule, swept, stored, fold)
        found = beyond(rule, swept, len(stored), folds, samples, seed, hold_out)
        thresholds = {
            "kept": np.full(len(stored), rule.threshold_),
            "everything": np.full(len(stored), -np.inf),
            "nothing": np.full(len(stored), np.inf),
            **({} if found.new is None else {"new": found.new}),
        }
        measures = with_costs(one_measure(rule.measure), rule.limits.measures)
        wanted = {cut: measures if cut in ("kept", "new") else measures[:1] for cut in thresholds}
        values, kept = _values(stored, thresholds, wanted)
        return summary_of(
            rule,
            lambda cut, measure: values[cut, measure],
            found,
            folds=folds,
            queries=len(stored),
            documents=int(stored.documents.sum()),
            dropped=int((stored.documents - kept).sum()),
            emptied=int(((kept == 0) & (stored.documents > 0)).sum()),
        )


def _stored(
    spool: Spool, qrels: Qrels, parts: RunParts, gains: GainsLike, unjudged: Unjudged
) -> tuple[StoredLists, Taken]:
    UNJUDGED.check("unjudged", unjudged)
    stored, taken = parts.feed(lambda: StoredLists(spool, qrels, Gains.of(gains), unjudged))
    JudgedRuns.of(qrels, {}, gains=gains).strangers(stored.facts, taken.name)
    return stored, taken


def _fit(rule: GlobalCutoff, stored: StoredLists, taken: Taken, fold: Ints) -> Swept:
    """Learn the threshold; the sweeps that are returned can be split into these folds of the queries."""
    rule.check_parameters()
    check_labels(int(stored.judged.sum()))
    wanted, limited = one_measure(rule.measure), rule.limits.measures
    swept = _swept(stored, with_costs(wanted, limited) if limited else [wanted], fold)
    described = {**_described(stored), "gains": str(stored.gains), "unjudged": stored.unjudged, "two_scores": False}
    rule.learn_from(swept, described, stored.gains, stored.pool)
    rule.notes_ += (*taken.notes, *left_out(stored.facts.strangers, stored.facts.queries))
    return swept


# -- the threshold ---------------------------------------------------------------------------------------------------


class _Moves(NamedTuple):
    """Documents at which something changes: query, score, and two changes for each measure."""

    query: Ints
    score: Floats
    change: Floats


def _swept(stored: StoredLists, measures: Sequence[Measure], fold: Ints) -> Swept:
    """The sweeps of measures over all lists, without the documents that no threshold depends on."""
    start = np.empty((len(measures), 2, len(stored)))
    found = []
    for queries, lists in chain(stored, [stored.unanswered()]):
        each = [changes(lists, measure) for measure in measures]
        start[:, :, queries] = [own for own, _ in each]
        change = np.concatenate([change for _, change in each])
        moving = np.flatnonzero((change != 0).any(axis=0))
        found.append(_Moves(queries[lists.query[moving]], lists.score[moving], change[:, moving]))
    found.append(_lowest(stored, fold, ragged.distinct(np.concatenate([moves.score for moves in found])), len(change)))
    query, score = (np.concatenate([getattr(moves, name) for moves in found]) for name in ("query", "score"))
    by_query = ragged.order_by(query, len(stored))
    query, score = query[by_query], score[by_query]
    change = np.concatenate([moves.change for moves in found], axis=1)[:, by_query]
    unjudged, nobody = np.zeros(len(query)), Pool.of(np.zeros(len(stored) + 1, dtype=np.int64), np.zeros(0))
    offsets = ragged.offsets_of(np.bincount(query, minlength=len(stored)))
    lists = Lists(offsets, score, unjudged, unjudged > 0, by_query, nobody, range(len(stored)), stored.gains)
    order = lists.falling
    parts = zip(measures, start, np.split(change[:, order], len(measures)), strict=True)
    return Swept({m: Sweep(lists, m, order, score[order], query[order], own, moved) for m, own, moved in parts})


def _lowest(stored: StoredLists, fold: Ints, levels: Floats, rows: int) -> _Moves:
    """The lowest score between two levels at which something changes, of each fold: a document that changes nothing."""
    folds = int(fold.max()) + 1
    lowest = np.full((len(levels) + 1) * folds, np.inf)
    for queries, lists in stored:
        between = np.searchsorted(levels, lists.score)
        np.minimum.at(lowest, between * folds + fold[queries][lists.query], lists.score)
    there = np.flatnonzero(np.isfinite(lowest))
    query = np.array([np.argmax(fold == f) for f in range(folds)])[there % folds]
    return _Moves(query, lowest[there], np.zeros((rows, len(there))))


def _thresholds_of_others(rule: GlobalCutoff, swept: Swept, stored: StoredLists, fold: Ints) -> Floats:
    """For each query the threshold of the other folds."""
    thresholds = np.empty(len(stored))
    for f in range(int(fold.max()) + 1):
        others = np.flatnonzero(fold != f)
        check_labels(int(stored.judged[others].sum()))
        tradeoff = Tradeoff.of_sweeps([sweep.of_queries(others) for sweep in swept.sweeps.values()])
        thresholds[fold == f] = tradeoff.thresholds[tradeoff.best(rule.measure, rule.limits)]
    return thresholds


# -- what it does ----------------------------------------------------------------------------------------------------


def _values(
    stored: StoredLists, thresholds: Mapping[str, Floats], wanted: Mapping[str, Sequence[Measure]]
) -> tuple[dict[tuple[str, Measure], tuple[Floats, Floats]], Ints]:
    """Numerators and denominators of each query under cuts, and how many documents the cut "kept" keeps of each."""
    values = {(cut, m): (np.empty(len(stored)), np.empty(len(stored))) for cut, each in wanted.items() for m in each}
    kept = np.zeros(len(stored), dtype=np.int64)
    for queries, lists in chain(stored, [stored.unanswered()]):
        for cut, threshold in thresholds.items():
            shown = lists.score >= threshold[queries][lists.query]
            if cut == "kept":
                kept[queries] = np.bincount(lists.query[shown], minlength=len(queries))
            judged = lists.judged_by(shown)
            for measure in wanted[cut]:
                top, bottom = values[cut, measure]
                top[queries], bottom[queries] = measure.per_query(judged)
    return values, kept


# -- beside others ---------------------------------------------------------------------------------------------------


def compared_in_parts(
    qrels: Qrels,
    parts: RunParts,
    *,
    rules: Rules | None = None,
    measure: MeasureLike | None = None,
    k: int = 3,
    folds: int = 5,
    seed: int = 0,
    gains: GainsLike = "linear",
    unjudged: Unjudged = "zero",
    significance: TestName = "t",
    correction: Correction = "holm",
    alpha: float = 0.05,
) -> CutoffComparison:
    """Compare rules that cut each query at one threshold, as :func:`compare_cutoffs` does.

    The other rules look at whole lists, and all lists, when they are fitted. Without ``rules``, a note names them.

    Parameters
    ----------
    qrels, parts
        The judgments, and the run.
    rules
        Some of those in :data:`IN_PARTS`, or thresholds; None: these rules.
    measure, k, folds, seed, gains, unjudged, significance, correction, alpha
        As in :func:`compare_cutoffs`.
    """
    chosen, measures = compared_measures(measure, k)
    made = candidates(IN_PARTS if rules is None else rules, chosen, k)
    for name, rule in made.items():
        if type(rule) not in _CUT_AT_A_THRESHOLD:
            what = f"the rule {name} holds all documents in memory"
            raise InputError(what, remedy=f"leave --memory out, or compare {', '.join(IN_PARTS)} or thresholds")
    with Spool() as spool:
        stored, taken = _stored(spool, qrels, parts, gains, unjudged)
        fold = folds_of(len(stored), folds, seed)
        usual = FilterAll()
        check_labels(int(stored.judged.sum()))
        usual.learn_from(None, {**_described(stored), "two_scores": False}, stored.gains, stored.pool)
        for f in range(folds):
            check_labels(int(stored.judged[fold != f].sum()))
        thresholds = {name: _thresholds(rule, stored, fold) for name, rule in made.items()}
        values, _ = _values(stored, thresholds, dict.fromkeys(thresholds, measures))
    numerators, denominators = (
        np.array([np.column_stack([values[name, measure][part] for measure in measures]) for name in made])
        for part in (0, 1)
    )
    names, queries = tuple(made), tuple(map(str, qrels.query_ids))
    degenerate = degenerate_queries(measures, stored.pool, stored.gains)
    left = [word for word in candidates(None, chosen, k) if word not in made]
    return CutoffComparison(
        scores=Scores(names, queries, tuple(measures), numerators, denominators, degenerate),
        measure=chosen,
        k=k,
        lists=None,
        bounds=tuple(name for name, rule in made.items() if isinstance(rule, Oracle)),
        how=how_judged(folds, seed),
        significance=significance,
        correction=correction,
        alpha=alpha,
        notes=(
            *taken.notes,
            *usual.notes_,
            *([f"These rules hold all documents in memory, and are left out: {', '.join(left)}"] * (rules is None)),
        ),
    )


def _thresholds(rule: Candidate, stored: StoredLists, fold: Ints) -> Floats:
    """Where a rule cuts each query, learned from the other folds."""
    if isinstance(rule, GlobalCutoff):
        swept = _swept(stored, [one_measure(rule.measure)], fold)
        return _thresholds_of_others(rule, swept, stored, fold)
    found = np.full(len(stored), np.inf if isinstance(rule, FilterAll) else -np.inf)
    if isinstance(rule, FixedCutoff):
        found[:] = rule.threshold
    if isinstance(rule, Oracle):
        for queries, lists in chain(stored, [stored.unanswered()]):
            found[queries] = Sweep.of(lists, one_measure(rule.measure)).oracle()[0]
    return found


# -- what it was fitted to -------------------------------------------------------------------------------------------


def _described(stored: StoredLists) -> dict[str, Any]:
    """What a reader of the cutoff's file should know of the data."""
    return {
        "queries": len(stored),
        "documents": int(stored.documents.sum()),
        "judged": int(stored.judged.sum()),
        "forbidden": stored.forbidden,
        "scores": quantiles(stored.scores, int(stored.documents.sum()), [0.0, 0.25, 0.5, 0.75, 1.0]),
    }


def quantiles(pieces: Callable[[], Iterable[Floats]], count: int, shares: Sequence[float]) -> list[float]:
    """Quantiles of numbers that come in pieces, ``count`` of them in all, as :func:`numpy.quantile` has them.

    Examples
    --------
    >>> quantiles(lambda: [np.array([4.0, -1.0]), np.array([2.5])], 3, [0.0, 0.25, 1.0])
    [-1.0, 0.75, 4.0]
    """
    if not count:
        return [0.0 for _ in shares]
    places = [(count - 1) * share for share in shares]
    ranks = sorted({rank for place in places for rank in (int(place), min(int(place) + 1, count - 1))})
    found = dict(zip(ranks, _order_statistics(pieces, ranks), strict=True))
    out = []
    for place in places:
        low, high = found[int(place)], found[min(int(place) + 1, count - 1)]
        t = place - int(place)  # from the nearer end, so that equal numbers stay what they are
        out.append(low + (high - low) * t if t < 0.5 else high - (high - low) * (1.0 - t))
    return out


def _order_statistics(pieces: Callable[[], Iterable[Floats]], ranks: Sequence[int]) -> list[float]:
    """The numbers that would stand at some places if all were sorted: found by 16 of their 64 bits at a time."""
    prefixes, left = np.zeros(len(ranks), dtype=np.uint64), list(ranks)
    for shift in range(64 - _DIGIT, -1, -_DIGIT):
        known = ragged.distinct(prefixes)
        counts = np.zeros((len(known), 1 << _DIGIT), dtype=np.int64)
        for piece in pieces():
            keys = _sortable(piece)
            for i, prefix in enumerate(known):
                own = keys if shift == 64 - _DIGIT else keys[keys >> np.uint64(shift + _DIGIT) == prefix]
                digits = (own >> np.uint64(shift)).astype(np.uint16)
                counts[i] += np.bincount(digits, minlength=1 << _DIGIT)
        for r, prefix in enumerate(prefixes.copy()):
            below = np.cumsum(counts[np.searchsorted(known, prefix)])
            digit = int(np.searchsorted(below, left[r], side="right"))
            left[r] -= int(below[digit - 1]) if digit else 0
            prefixes[r] = (prefix << np.uint64(_DIGIT)) | np.uint64(digit)
    numbers: list[float] = _numbers(prefixes).tolist()
    return numbers


def _sortable(numbers: Floats) -> NDArray[np.uint64]:
    """Whole numbers in the order of finite ones: bits of a negative number are turned round, of others the sign."""
    bits = (numbers + 0.0).view(np.uint64)  # −0 is 0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _numbers(keys: NDArray[np.uint64]) -> Floats:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
