"""Rankers fitted and judged: ``python -m experiments.rank_and_filter.trials`` does it, part by part."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from experiments.learning import in_parallel
from experiments.peers import Peer
from experiments.rank_and_filter.lengths import shown_by_length
from experiments.rank_and_filter.rows import (
    AT_0,
    BEST_CUT,
    DIALLED,
    HIDDEN,
    JOINT,
    KNOWN,
    MEASURE,
    MEASURES,
    OPTIMAL,
    OURS,
    K,
    Row,
    rows,
)
from experiments.rank_and_filter.settings import SEEDS, SETTINGS, Data, Setting, data_of
from experiments.rank_and_filter.shifts import after_shifts
from experiments.rank_and_filter.worlds import in_many_worlds
from ranksift.collection.examples import Examples, Fold
from ranksift.collection.gains import Gains
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.tradeoff import Tradeoff
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.evaluate import ready_measures
from ranksift.learning.expected_gain import expected_shares
from ranksift.learning.judged_documents import JudgedDocuments
from ranksift.learning.lambdas import slope_of

_MEASURES = ready_measures(list(MEASURES))


class Task(NamedTuple):
    """Rankers in all settings of one source of data, with one seed."""

    data: str
    rows: tuple[str, ...]
    seed: int


class Judged(NamedTuple):
    """A ranker in a setting, with one seed."""

    queries: tuple[str, ...]
    top: NDArray[np.float64]  # queries × measures
    bottom: NDArray[np.float64]
    seconds: float  # of a processor, for one fit
    harm: tuple[float, ...] = ()  # the least Fdocs with at most so much good hidden
    within: tuple[float, ...] = ()  # the best nDCG_f with at most so much good hidden
    chosen: tuple[str, ...] = ()  # the cut that the check on held-out queries took, in each fold


def judged(folder: Path, task: Task) -> dict[tuple[str, str], Judged]:
    """Fit rankers and judge what they show; by setting and ranker."""
    data, found = data_of(task.data, task.seed, folder), {}
    for name in task.rows:
        row = rows()[name]
        for setting in (s for s in SETTINGS if s.data == task.data):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RankSiftWarning)  # of models that show nothing: the page tells
                found[setting.name, name] = _judged(row, setting, data.folds, task.seed)
    return found


def _judged(row: Row, setting: Setting, folds: Sequence[Fold], seed: int) -> Judged:
    parts = [_of_fold(row, setting, fold, seed) for fold in folds]
    queries = tuple(query for part in parts for query in part.queries)
    # Seeds may have other folds: queries are put in one order.
    order = sorted(range(len(queries)), key=queries.__getitem__)
    top, bottom = (np.concatenate([part[i] for part in parts])[order] for i in (1, 2))
    seconds = float(np.mean([part.seconds for part in parts]))
    chosen = tuple(cut for part in parts for cut in part.chosen)
    harm, within = parts[0].harm, parts[0].within
    return Judged(tuple(queries[i] for i in order), top, bottom, seconds, harm, within, chosen)


def _of_fold(row: Row, setting: Setting, fold: Fold, seed: int) -> Judged:
    began = process_time()
    assert fold.validation is not None
    model = row.fitted(setting.gains, seed, fold.train, fold.validation)
    seconds = process_time() - began + (model.spared_ if isinstance(model, Peer) else 0.0)
    shown = model.judged(fold.test).as_in_a_run()
    chosen = (model.card_["cut"]["chosen"],) if row.group == OURS else ()
    return _values(shown, setting)._replace(seconds=seconds, chosen=chosen)


def _values(shown: JudgedDocuments, setting: Setting) -> Judged:
    lists = shown.lists(setting.gains)
    kept = np.ones(len(shown.scores), dtype=bool) if shown.kept is None else shown.kept
    run = lists.judged_by(kept[lists.row])
    top, bottom = (np.array(part).T for part in zip(*(m.per_query(run) for m in _MEASURES), strict=True))
    some = shown.examples.lengths > 0
    queries = tuple(query for query, labelled in zip(shown.examples.query_ids, some, strict=True) if labelled)
    return Judged(queries, top, bottom, 0.0, *_dialled(lists, setting))


def _dialled(lists: Lists, setting: Setting) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The least Fdocs and the best nDCG_f of thresholds that keep a limit of the good documents hidden."""
    if setting.name not in DIALLED:
        return (), ()
    curve = Tradeoff.of(lists, [MEASURE, MEASURES[2], "GoodFiltered"])
    kept = [curve["GoodFiltered"] <= most + 1e-12 for most in HIDDEN]
    return (
        tuple(float(curve[MEASURES[2]][limit].min()) for limit in kept),
        tuple(float(curve[MEASURE][limit].max()) for limit in kept),
    )


def known(data: Data, setting: Setting) -> Judged:
    """Lists by the chances that labels were drawn with."""
    assert data.labels is not None
    assert data.chances is not None
    test = data.test
    shares = expected_shares(data.chances, Gains.of(setting.gains)(data.labels), test.offsets, K)
    found = _values(JudgedDocuments(test, shares, shares >= 0), setting)
    order = sorted(range(len(found.queries)), key=found.queries.__getitem__)
    return found._replace(top=found.top[order], bottom=found.bottom[order], queries=tuple(sorted(found.queries)))


def summary(setting: Setting, test: Examples, found: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """What the page shows of a setting, from the values of each query."""
    gain = Gains.of(setting.gains)(test.labels[test.judged])
    labelled = test.judged_only()
    slope = slope_of(labelled.offsets, gain, K)
    slope = slope[slope > 0]
    means = {name: np.mean([own.top[:, 0] for own in of_seeds], axis=0) for name, of_seeds in found.items()}
    return {
        "queries": len(means[JOINT]),
        "documents": len(labelled),
        "forbidden": float((gain < 0).mean()),
        "variation": float(slope.std() / slope.mean()),
        "rows": {name: _row(of_seeds) for name, of_seeds in found.items()},
        "against": {
            ours: {name: _against(means[ours], other) for name, other in means.items() if name != ours}
            for ours in (JOINT, OPTIMAL)
        },
    }


def values_of(own: Judged) -> list[float]:
    """Every measure of all queries together."""
    return [float(measure.aggregate(own.top[:, m], own.bottom[:, m])) for m, measure in enumerate(_MEASURES)]


def _row(of_seeds: Sequence[Judged]) -> dict[str, Any]:
    every = zip(*map(values_of, of_seeds), strict=True)
    values = {name: list(own) for name, own in zip(MEASURES, every, strict=True)}
    harm = [own.harm for own in of_seeds]
    told: dict[str, Any] = {"values": values, "seconds": float(np.mean([own.seconds for own in of_seeds]))}
    if harm[0]:
        told["harm"] = np.mean(harm, axis=0).tolist()
        told["within"] = np.mean([own.within for own in of_seeds], axis=0).tolist()
    if of_seeds[0].chosen:
        told["chosen"] = dict(Counter(cut for own in of_seeds for cut in own.chosen))
    return told


def _against(ours: Floats, other: Floats) -> list[float]:
    """How much better ours is, the standard error of that, and p of a paired t test; before any correction."""
    apart = ours - other
    if not apart.any():
        return [0.0, 0.0, 1.0]
    return [float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))), float(ttest_rel(ours, other).pvalue)]


def trials(folder: Path, wanted: Iterable[str] = SEEDS) -> dict[str, Any]:
    """Fit all rankers, with all seeds, in all settings of some sources of data."""
    tasks = [
        Task(data, names, seed)
        for data in wanted
        for seed in range(SEEDS[data])
        for names in _with_trees_in_common(data)
    ]
    found: dict[str, dict[str, list[Judged]]] = {}
    for of_task in in_parallel(partial(judged, folder), tasks):
        for (setting, name), own in of_task.items():
            found.setdefault(setting, {}).setdefault(name, []).append(own)
    told = {}
    for setting in SETTINGS:
        if setting.name in found:
            data = data_of(setting.data, 0, folder)
            if data.chances is not None:
                found[setting.name][KNOWN] = [known(data, setting)]
            told[setting.name] = summary(setting, data.test, found[setting.name])
    return told


def _with_trees_in_common(data: str) -> list[tuple[str, ...]]:
    names = [name for name, row in rows().items() if row.where is None or data in row.where]
    alone = [(name,) for name in names if name not in (AT_0, BEST_CUT)]
    return [*alone, (AT_0, BEST_CUT)]


#: What is measured beside the settings.
PARTS: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "lengths": shown_by_length,
    "shifts": after_shifts,
    "worlds": in_many_worlds,
}


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures: more than an hour on two processors."""
    return {"settings": trials(data), **{name: part(data) for name, part in PARTS.items()}}
