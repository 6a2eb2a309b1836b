"""Searches for parameters: at random and by TPE, both as they are and with Optuna's median pruner on top.

``ranksift tune`` has no pruner: here is measured what one would save and lose. A trial is fitted once, with the value
that stops it after each tree or epoch, and every search that meets it takes what it needs of that. Seconds are those of
a processor, with what Optuna takes to draw and to prune.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluation import table
from benchmarks.learning import DATA, GAINS
from ranksift.collection.examples import Fold
from ranksift.datasets.letor import mq2008
from ranksift.datasets.semeval import semeval2015
from ranksift.learning import networks
from ranksift.learning.networks import MLPRanker
from ranksift.learning.ranker import Ranker
from ranksift.learning.search_space import Space, key_of, with_parameters, word
from ranksift.learning.trees import LambdaMARTf

TRIALS, SEEDS = 30, 3
#: Sampler, and whether the median pruner ends trials.
SEARCHES = {
    "random": (False, False),
    "tpe": (True, False),
    "random, median": (False, True),
    "tpe, median": (True, True),
}


class Tried(NamedTuple):
    """A trial: what it is worth, and after each step the value that it is stopped by and the seconds so far."""

    value: float
    test: float
    seconds: float
    curve: tuple[tuple[float, float], ...]


class Best(NamedTuple):
    """The best trial so far: seconds of the search, the value on the validation and on the test queries."""

    seconds: float
    value: float
    test: float


class Found(NamedTuple):
    """A search: the best trial after each trial, and how many of them were pruned."""

    course: tuple[Best, ...]
    pruned: int

    def within(self, seconds: float) -> Best:
        """What it has found after so many seconds; its first trial it has in any case."""
        return [self.course[0], *(best for best in self.course if best.seconds <= seconds)][-1]


def report(quick: bool) -> str:
    """Measure, and give a Markdown table."""
    folders = {"MQ2008 Fold1": "letor4_mq2008", "SemEval-2015": "semeval2015_task3_cqa"}
    absent = [folder for folder in folders.values() if not (DATA / folder).is_dir()]
    if absent:
        return f"### tuning\n\nLeft out: there is no {DATA / absent[0]}.\n"
    letor, forum = mq2008(DATA / "letor4_mq2008", 1), semeval2015(DATA / "semeval2015_task3_cqa")
    answers: dict[str, Any] = {"gains": {-1: -10}, "measure": "nDCG_f@3"}
    tasks: list[tuple[str, Fold, Ranker]] = [
        ("MQ2008 Fold1", letor, LambdaMARTf(gains=GAINS)),
        ("MQ2008 Fold1", letor, MLPRanker()),
        ("SemEval-2015", forum, LambdaMARTf(**answers)),
        ("SemEval-2015", forum, MLPRanker("bce", epochs=100, patience=10, **answers)),
    ]
    rows = []
    trials, seeds = (6, 1) if quick else (TRIALS, SEEDS)
    for name, fold, ranker in tasks:
        known: dict[str, Tried] = {}
        made = {
            search: [searched(ranker, fold, known, trials, seed, *how) for seed in range(seeds)]
            for search, how in SEARCHES.items()
        }
        for search, found in made.items():
            best = [one.course[-1] for one in found]
            seconds, value, test = np.mean(best, axis=0)
            pruned, base = np.mean([one.pruned for one in found]), made[search.partition(",")[0]]
            cells = [f"{seconds:.1f}", f"{value:.4f}", f"{test:.4f}"]
            if SEARCHES[search][1]:
                alike = [one.within(its.seconds) for one, its in zip(base, best, strict=True)]
                saved = 1 - seconds / np.mean([one.course[-1].seconds for one in base])
                cells += [f"{pruned:.1f}", f"{saved:.0%}", *(f"{mean:.4f}" for mean in np.mean(alike, axis=0)[1:])]
            rows.append([name, type(ranker).__name__, search, *cells, *[""] * (7 - len(cells))])
    head = ["collection", "ranker", "search", "seconds", "validation", "test", "trials pruned", "time saved"]
    head += ["unpruned in that time: validation", "test"]
    return table(f"tuning: {trials} trials, means of {seeds} seeds", head, rows)


def searched(
    ranker: Ranker, fold: Fold, known: dict[str, Tried], trials: int, seed: int, by_tpe: bool, pruned: bool
) -> Found:
    """One search; trials that were fitted before are known."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner = optuna.pruners.MedianPruner() if pruned else optuna.pruners.NopPruner()
    study = optuna.create_study(direction="maximize", pruner=pruner)
    space = Space.of(ranker.natural_space(stopped=True), ranker)
    begun, fitted, taken, ended = time.process_time(), 0.0, 0.0, 0
    best, course = (-np.inf, 0.0), []
    for params in space.one_by_one(ranker, trials, seed, study if by_tpe else None):
        own = key_of(params)
        if own not in known:
            start = time.process_time()
            known[own] = tried(with_parameters(ranker, params), fold)
            fitted += time.process_time() - start
        trial = known[own]
        step = last_step(study, frozen(space, params, trial, len(trial.curve))) if pruned else None
        if step is None:
            best, taken = max(best, (trial.value, trial.test)), taken + trial.seconds
        else:
            ended, taken = ended + 1, taken + trial.curve[step][1]
        study.add_trial(frozen(space, params, trial, step))
        course.append(Best(time.process_time() - begun - fitted + taken, *best))
    return Found(tuple(course), ended)


def frozen(space: Space, params: Mapping[str, Any], trial: Tried, step: int | None) -> Any:
    """A trial as Optuna has it: whole, or ended after a step."""
    from optuna.trial import TrialState, create_trial

    inside = all(value in space.parts[name] for name, value in params.items())
    return create_trial(
        state=TrialState.COMPLETE if step is None else TrialState.PRUNED,
        value=trial.value if step is None else None,
        params={name: word(value) for name, value in params.items()} if inside else {},
        distributions=space.distributions() if inside else {},
        intermediate_values={n: value for n, (value, _) in enumerate(trial.curve) if step is None or n <= step},
    )


def last_step(study: Any, trial: Any) -> int | None:
    """The step after which the pruner ends a trial, if it does."""
    curve, trial.intermediate_values = trial.intermediate_values, {}
    for step, value in curve.items():
        trial.intermediate_values[step] = value
        if study.pruner.prune(study, trial):
            return int(step)
    return None


def tried(ranker: Ranker, fold: Fold) -> Tried:
    """Fit a ranker, and watch what it is stopped by."""
    curve: list[tuple[float, float]] = []
    begun = time.process_time()
    with (
        warnings.catch_warnings(),
        watched(type(ranker), lambda value: curve.append((value, time.process_time() - begun))),
    ):
        warnings.simplefilter("ignore")
        ranker.fit(fold.train, fold.validation)
    value = ranker.value(fold.validation, cut=True)
    seconds = time.process_time() - begun
    return Tried(value, ranker.value(fold.test, cut=True), seconds, tuple(curve))


@contextmanager
def watched(kind: type[Any], told: Callable[[float], None]) -> Iterator[None]:
    """Tell the value after each tree, or after each epoch."""
    owner, name = (networks, "stopping_value") if issubclass(kind, networks.Network) else (kind, "_value_on")
    original, own = getattr(owner, name), name in vars(owner)

    def replaced(*given: Any) -> Callable[[Any], float]:
        value = original(*given)

        def tell(outputs: Any) -> float:
            found = value(outputs)
            told(found)
            return found

        return tell

    setattr(owner, name, replaced)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, original)
        else:
            delattr(owner, name)
