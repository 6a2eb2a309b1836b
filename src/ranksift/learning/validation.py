"""Rankers on queries that they were not fitted to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from ranksift.collection.errors import InputError
from ranksift.collection.examples import Fold, folds_of, read_examples
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.evaluation.evaluate import ready_measures, run_values
from ranksift.evaluation.scores import Scores
from ranksift.learning.ranker import Ranker, judged_by
from ranksift.measures.names import MeasureLike


def three_way(examples: Any, folds: int = 5, seed: int = 0) -> list[Fold]:
    """Split queries into folds: each is the test set once, the next one the validation set, the others to learn from.

    >>> from ranksift import Examples
    >>> examples = Examples.of_arrays([[0.0]] * 6, [0, 1] * 3, ["a", "a", "b", "b", "c", "c"])
    >>> [(len(f.train), len(f.test)) for f in three_way(examples, 3)]
    [(2, 2), (2, 2), (2, 2)]
    """
    given = read_examples(examples)
    if folds < 3:
        raise InputError(f"{folds} folds leave nothing to learn from", remedy="give three or more")
    fold = folds_of(len(given.query_ids), folds, seed)
    found = []
    for f in range(folds):
        test, stop = fold == f, fold == (f + 1) % folds
        parts = (np.flatnonzero(mask) for mask in (~test & ~stop, stop, test))
        found.append(Fold(*(given.of_queries(part) for part in parts)))
    return found


def cross_validated(
    rankers: Mapping[str, Ranker] | Iterable[Ranker],
    folds: Sequence[Fold],
    measures: MeasureLike | Iterable[MeasureLike] = "nDCG@10 AP",
    *,
    cutoff: Cutoff | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Scores:
    """Fit rankers to each fold and judge them on its test queries: :class:`Scores`, with the rankers as runs.

    Parameters
    ----------
    rankers
        ``{name: ranker}``, or rankers, which then have their own names. They are cloned, not fitted.
    folds
        As :func:`three_way` gives them, or a collection's own. No query may be in two test sets.
    measures
        As in :func:`evaluate`; gains are each ranker's own.
    cutoff
        A rule that is fitted to each ranker's scores of the validation set (of the training set where there is none),
        and drops documents of the test set.
    progress
        Wraps the (ranker, fold) pairs.

    Examples
    --------
    >>> from ranksift import Examples
    >>> from ranksift.learning import L2LogisticRegression
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(60, 2))
    >>> examples = Examples.of_arrays(x, (x[:, 0] > 0).astype(int), np.repeat(np.arange(12), 5))
    >>> scores = cross_validated([L2LogisticRegression()], three_way(examples, 3), "nDCG@3")
    >>> scores
    <Scores: 1 run × 12 queries × 1 measure>
    """
    named = _named(rankers)
    wanted = ready_measures(measures)
    queries = [query for fold in folds for query in fold.test.query_ids]
    twice = next((query for query, times in Counter(queries).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"query {twice!r} is in two test sets", remedy="give folds whose test queries differ")
    shape = (len(named), len(queries), len(wanted))
    top, bottom = np.empty(shape), np.ones(shape)
    starts = np.cumsum([0, *(len(fold.test.query_ids) for fold in folds)])
    pairs = [(r, f) for f in range(len(folds)) for r in range(len(named))]
    rows = list(named.values())
    for r, f in progress(pairs):
        fold, ranker = folds[f], rows[r].clone()
        ranker.fit(fold.train, fold.validation)
        test = fold.test.judged_only()
        own = slice(int(starts[f]), int(starts[f + 1]))
        judged = judged_by(ranker.scored(test), test, ranker.gains)
        if cutoff is not None:
            ranker.fit_cutoff(fold.validation or fold.train, cutoff.clone())
            lists = ranker.lists(test)
            judged = lists.judged_by(ranker.cutoff_.keep_lists(lists))
        values = run_values("", wanted, judged, test.query_ids, [], False)
        top[r, own], bottom[r, own] = values.numerators, values.denominators
    return Scores(tuple(named), tuple(queries), tuple(wanted), top, bottom)


def _named(rankers: Mapping[str, Ranker] | Iterable[Ranker]) -> dict[str, Ranker]:
    if isinstance(rankers, Mapping):
        return {str(name): ranker for name, ranker in rankers.items()}
    found: dict[str, Ranker] = {}
    for ranker in rankers:
        name = base = type(ranker).__name__
        for number in count(2):
            if name not in found:
                break
            name = f"{base} {number}"
        found[name] = ranker
    return found
