"""The losses of Carmel et al.'s Table 7 on features: ``python -m experiments.cutoffs.losses`` tunes and keeps them.

Learning rate and batch size, and γ of LambdaRank + BCE, are chosen on validation questions alone, each loss with as
many trials; the threshold is the best one on the same questions, and test questions have no part in either.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from experiments.cutoffs import EXPERIMENT
from experiments.cutoffs.answers import FOLDER, GAINS
from experiments.experiment import data_folder
from ranksift.collection.examples import Examples, Fold, together
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.datasets.semeval import semeval2015
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.significance import holm
from ranksift.learning.judged_documents import JudgedDocuments
from ranksift.learning.methods import MLPRanker
from ranksift.learning.ranker import Ranker
from ranksift.learning.tuning import tune
from ranksift.learning.validation import three_parts

#: The paper's names of the losses, and ours.
LOSSES: Mapping[str, str] = {
    "BCE": "bce",
    "MSE": "mse",
    "ordinal": "ordinal",
    "ordinal-weighted": "weighted_ordinal",
    "LambdaRank": "lambdarank",
    "LambdaRank+BCE": "lambdarank_bce",
}
FILTER_ALL, RANK_ONLY, FILTER_ONLY = "filter-all", "rank-only (ordinal)", "filter-only (BCE)"
BASELINES = (FILTER_ALL, RANK_ONLY, FILTER_ONLY)
MEASURE = "nDCG_f@3"
MEASURES = (MEASURE, "nDCG_0@3", "nDCG_min@3", "Fdocs@3", "GoodFiltered", "Empty", "UBQ_over@3", "UBQ_under@3")
TRIALS, SEEDS, SEED = 16, 5, 0
#: What the paper tunes.
TUNED = ("learning_rate", "batch_size", "loss")
HOW = ("as given", "tuned")


class Judged(NamedTuple):
    """A ranker of one seed on the test questions: every measure, and nDCG_f of each question."""

    values: tuple[float, ...]
    per_query: Floats


class Trials(NamedTuple):
    """Rows of a table, each with its seeds."""

    rows: Mapping[str, list[Judged]]

    def values(self, name: str) -> list[float]:
        """Means over seeds."""
        return [float(v) for v in np.mean([one.values for one in self.rows[name]], axis=0)]

    def per_query(self, name: str) -> Floats:
        """nDCG_f of each question, the mean over seeds."""
        return np.asarray(np.mean([one.per_query for one in self.rows[name]], axis=0))

    def against(self, pairs: list[tuple[str, str]]) -> list[list[float]]:
        """The difference of each pair, and p of a paired t test with Holm's correction over all of them."""
        return corrected([self.per_query(one) - self.per_query(other) for one, other in pairs])


def corrected(differences: Iterable[Floats]) -> list[list[float]]:
    """Means over queries, and p of paired t tests with Holm's correction over all of them."""
    apart = list(differences)
    p = [float(ttest_rel(each, np.zeros(len(each))).pvalue) if each.any() else 1.0 for each in apart]
    return [[float(each.mean()), float(q)] for each, q in zip(apart, holm(np.array(p)), strict=True)]


def parts(data: Path) -> Fold:
    """64, 16 and 20 % of all questions, as in the paper."""
    every = together([part for part in semeval2015(data / FOLDER) if part is not None])
    return three_parts(every, seed=SEED)


def judged(examples: Examples, scores: Floats, kept: NDArray[np.bool_]) -> Judged:
    """What is kept."""
    shown = JudgedDocuments(examples, scores, kept)
    values = tuple(shown.value(measure, GAINS, cut=True) for measure in MEASURES)
    return Judged(values, shown.per_query(MEASURE, GAINS))


def ranker(loss: str, **options: Any) -> Ranker:
    """A network of one hidden layer, stopped on the validation questions."""
    return MLPRanker(loss, hidden=(32,), gains=GAINS, measure=MEASURE, epochs=100, patience=10, **options)


def scored(fold: Fold, given: Ranker) -> tuple[Floats, float]:
    """Scores of the test answers, and the threshold that is best on the validation questions."""
    given.fit(fold.train, fold.validation)
    assert fold.validation is not None
    lists = JudgedDocuments(fold.validation, given.scored(fold.validation), None).lists(GAINS)
    return given.scored(fold.test), float(GlobalCutoff(MEASURE).fit_lists(lists).threshold_)


def trials(fold: Fold, params: Mapping[str, Mapping[str, Any]]) -> Trials:
    """All rows, with the parameters of each loss."""
    test, everything = fold.test, np.ones(len(fold.test), dtype=bool)
    rows: dict[str, list[Judged]] = {name: [] for name in (*BASELINES, *LOSSES)}
    for seed in range(SEEDS):
        shuffled = np.random.default_rng(seed).random(len(test))
        for name, loss in LOSSES.items():
            scores, threshold = scored(fold, ranker(**{"loss": loss, **params.get(name, {})}, seed=seed))
            kept = scores >= threshold
            rows[name].append(judged(test, scores, kept))
            if name == "ordinal":
                rows[RANK_ONLY].append(judged(test, scores, everything))
            if name == "BCE":
                rows[FILTER_ONLY].append(judged(test, shuffled, kept))
        rows[FILTER_ALL].append(judged(test, shuffled, ~everything))
    return Trials(rows)


def tuned(fold: Fold, loss: str) -> dict[str, Any]:
    """What a few trials on the validation questions choose."""
    given = ranker(loss, seed=SEED)
    space = {name: where for name, where in given.natural_space(stopped=True).items() if name in TUNED}
    found = tune(
        given, fold.train, fold.validation, space=space, trials=TRIALS, cutoff=GlobalCutoff(MEASURE), seed=SEED
    )
    return {"params": found.best_params, "values": [found.trials[0].value, found.best_value]}


def measure(data: Path) -> dict[str, Any]:
    """Everything that the page shows of them."""
    begun = time.process_time()
    fold = parts(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)
        chosen = {name: tuned(fold, loss) for name, loss in LOSSES.items()}
        found = {
            "as given": trials(fold, {}),
            "tuned": trials(fold, {name: one["params"] for name, one in chosen.items()}),
        }
    baselines = [(loss, name) for loss in LOSSES for name in BASELINES]
    change = [found["tuned"].per_query(name) - found["as given"].per_query(name) for name in LOSSES]
    assert fold.validation is not None
    return {
        "questions": [len(part.query_ids) for part in (fold.train, fold.validation, fold.test)],
        "chosen": chosen,
        "rows": {how: {name: one.values(name) for name in one.rows} for how, one in found.items()},
        "beside baselines": {how: one.against(baselines) for how, one in found.items()},
        "beside each other": {how: one.against(list(combinations(LOSSES, 2))) for how, one in found.items()},
        "changes": corrected(change),
        "minutes": (time.process_time() - begun) / 60,
    }


def measured() -> dict[str, Any]:
    """What is kept."""
    return dict(EXPERIMENT.kept["losses"])


if __name__ == "__main__":
    EXPERIMENT.keep({"losses": measure(data_folder())})
    print(f"experiments/{EXPERIMENT.name}/results.json")
