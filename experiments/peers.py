"""Boosted trees of LightGBM, XGBoost and CatBoost, as their users would set them up, behind the interface of a ranker.

All grow the same number of trees, at the same rate and on the same shares of documents and features. How many of them
are taken is chosen on the validation set, for each of them by the measure that they are judged by; where that is one of
filtered lists, with the threshold that is best for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples, folds_of, together
from ranksift.collection.gains import Gains
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.threshold import GlobalCutoff, one_measure
from ranksift.learning.judged_documents import JudgedDocuments, value_of
from ranksift.learning.lambdas import worth_of_showing
from ranksift.learning.ranker import Ranker
from ranksift.learning.trees import with_context
from ranksift.learning.validation import of_filtered_lists

#: Scores of documents by the first n trees.
Staged = Callable[[NDArray[np.float64], int], Floats]

#: The last trees that were grown, so many of them, and the seconds that it took.
_LAST: dict[str, tuple[Staged, float]] = {}
_KEPT = 20
#: Parameters that are in the features or in what is learned already, or matter later.
_NOT_OF_TREES = ("cut", "context", "folds", "gains", "measure")


@dataclass(eq=False)
class Peer(Ranker, abstract=True):
    """Trees of another library, with the best global threshold for filtered lists, or with a cut at 0.

    ``options`` are further parameters, by the names that the library has for them.
    """

    natural_scaling = "none"
    takes_missing = True

    objective: str = ""
    cut: Literal["best", "zero"] = "best"
    trees: int = field(default=300, kw_only=True)
    step: int = field(default=10, kw_only=True)
    leaves: int = field(default=15, kw_only=True)
    #: Other numbers of leaves to try: the validation set chooses.
    or_leaves: tuple[int, ...] = field(default=(), kw_only=True)
    learning_rate: float = field(default=0.05, kw_only=True)
    min_documents: int = field(default=20, kw_only=True)
    l2: float = field(default=1.0, kw_only=True)
    feature_share: float = field(default=0.7, kw_only=True)
    document_share: float = field(default=0.8, kw_only=True)
    context: bool = field(default=False, kw_only=True)
    #: More than 1: as many are grown, each without a fold of all queries that there are, and averaged; what they say of
    #: the folds that they have not seen chooses.
    folds: int = field(default=1, kw_only=True)
    options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    #: Seconds that were spared in fitting, as the trees were grown before.
    spared_ = 0.0

    def learned(self, gain: Floats) -> NDArray[Any]:
        """What the library is given as labels."""
        return gain

    def weights(self, examples: Examples, gain: Floats) -> Floats | None:
        """Of the documents; None: all count the same."""
        return None

    def of_outputs(self, outputs: NDArray[np.float64], gain: Floats) -> Floats:
        """Scores, from what trees say and the gains that they were grown with."""
        return outputs

    def grown(self, examples: Examples, gain: Floats) -> Staged:
        """Grow all trees."""
        raise NotImplementedError

    def _prepared(self, examples: Examples) -> Examples:
        ready = super()._prepared(examples)
        return with_context(ready) if self.context else ready

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        sizes = [self.trees] if validation is None else range(self.step, self.trees + 1, self.step)
        stop_by = examples if validation is None else validation
        turns = [(examples, np.ones(len(stop_by), dtype=bool))]
        if self.folds > 1 and validation is not None:
            stop_by = together([examples, validation])
            fold = folds_of(len(stop_by.query_ids), self.folds, self.seed)
            parts = (stop_by.of_queries(np.flatnonzero(fold != f)) for f in range(self.folds))
            turns = [(part, fold[stop_by.query] == f) for f, part in enumerate(parts)]
        best, self.spared_ = -np.inf, 0.0
        for leaves in (self.leaves, *self.or_leaves):
            staged = [self._grown_once(part, leaves) for part, _ in turns]
            for n in sizes:
                scores = np.empty(len(stop_by))
                for own, (_, unseen) in zip(staged, turns, strict=True):
                    scores[unseen] = own(stop_by.features[unseen], n)
                value, cutoff = self._judged(scores, stop_by)
                if value > best:
                    best, self.trees_, self.cutoff_, self._staged = value, n, cutoff, staged

    def _grown_once(self, examples: Examples, leaves: int) -> Staged:
        """Trees depend on what is learned, not on the cut: the last ones serve for another cut of the same."""
        gain = Gains.of(self.gains)(examples.labels)
        grower = self.clone()
        grower.leaves, grower.or_leaves = leaves, ()
        parameters = {name: str(value) for name, value in grower.get_params().items() if name not in _NOT_OF_TREES}
        told = hashlib.sha256(repr((type(self).__name__, parameters)).encode())
        weights = self.weights(examples, gain)
        for part in (examples.features, self.learned(gain), examples.offsets, weights):
            told.update(b"" if part is None else np.ascontiguousarray(part).tobytes())
        key = told.hexdigest()
        if key in _LAST:
            self.spared_ += _LAST[key][1]
        else:
            while len(_LAST) >= _KEPT:
                del _LAST[next(iter(_LAST))]
            began = process_time()
            _LAST[key] = grower.grown(examples, gain), process_time() - began
        staged = _LAST[key][0]
        return lambda x, n: self.of_outputs(staged(x, n), gain)

    def _check_own_cut(self, held_out: JudgedDocuments | None) -> None:
        """Other libraries have no such check."""

    def _judged(self, scores: Floats, examples: Examples) -> tuple[float, Cutoff | None]:
        """The measure of a ranking, as it is cut, and the cutoff."""
        measure = one_measure(self.measure)
        if not of_filtered_lists(measure):
            return value_of(scores, examples, measure, self.gains), None
        lists = Lists.from_arrays(scores, examples.labels, examples.query, gains=self.gains)
        if self.cut == "best":
            cutoff = GlobalCutoff(measure).fit_lists(lists)
            return cutoff.value_, cutoff
        top, bottom = measure.per_query(lists.judged_by(lists.score >= 0.0))
        value = measure.aggregate(top, bottom)
        return float(value), FixedCutoff(0.0).fit_lists(lists)

    def _score(self, features: NDArray[np.float64]) -> Floats:
        return np.asarray(np.mean([staged(features, self.trees_) for staged in self._staged], axis=0))


def grades(gain: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """All gains, and the number of each document's among them: libraries that refuse negative labels take these."""
    levels, grade = np.unique(gain, return_inverse=True)
    return levels, grade


@dataclass(eq=False)
class LightGBM(Peer, abstract=True):
    """``binary`` (is it good?), ``multiclass`` (which gain? scored by its expectation) or ``lambdarank``.

    ``weighted``: a document counts :math:`|g| / (I - W)`, what it can change of nDCG_f; those of gain 0 count nothing.
    """

    objective: str = "lambdarank"
    weighted: bool = field(default=False, kw_only=True)

    def learned(self, gain: Floats) -> NDArray[Any]:
        return gain > 0 if self.objective == "binary" else grades(gain)[1]

    def weights(self, examples: Examples, gain: Floats) -> Floats | None:
        if not self.weighted:
            return None
        change = np.abs(worth_of_showing(examples.offsets, gain, one_measure(self.measure).k))
        return np.asarray(change / change.mean())

    def of_outputs(self, outputs: NDArray[np.float64], gain: Floats) -> Floats:
        return outputs @ np.unique(gain) if self.objective == "multiclass" else outputs

    def grown(self, examples: Examples, gain: Floats) -> Staged:
        import lightgbm

        levels = np.unique(gain)
        parameters: dict[str, Any] = {
            "objective": self.objective,
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": self.min_documents,
            "lambda_l2": self.l2,
            "feature_fraction": self.feature_share,
            "bagging_fraction": self.document_share,
            "bagging_freq": 1,
            "seed": self.seed,
            "num_threads": 1,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
            **self.options,
        }
        group = None
        if self.objective == "multiclass":
            parameters["num_class"] = len(levels)
        elif self.objective != "binary":
            parameters["label_gain"] = list(range(len(levels)))
            group = examples.lengths[examples.lengths > 0]
        labels, weights = self.learned(gain).astype(np.int64), self.weights(examples, gain)
        data = lightgbm.Dataset(examples.features, labels, weight=weights, group=group, params=parameters)
        model = lightgbm.train(parameters, data, self.trees)
        raw = self.objective != "multiclass"
        return lambda x, n: model.predict(x, num_iteration=n, raw_score=raw, num_threads=1)


@dataclass(eq=False)
class XGBoost(Peer, abstract=True):
    """``rank:ndcg`` or ``binary:logistic`` (is it good?)."""

    objective: str = "rank:ndcg"

    def learned(self, gain: Floats) -> NDArray[Any]:
        return grades(gain)[1] if self.objective.startswith("rank") else gain > 0

    def grown(self, examples: Examples, gain: Floats) -> Staged:
        import xgboost

        parameters = {
            "objective": self.objective,
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": self.leaves,
            "max_depth": 0,
            "eta": self.learning_rate,
            "lambda": self.l2,
            "min_child_weight": 1.0 if self.objective.startswith("rank") else self.min_documents / 4.0,
            "subsample": self.document_share,
            "colsample_bytree": self.feature_share,
            "seed": self.seed,
            "nthread": 1,
            "verbosity": 0,
            **self.options,
        }
        data = xgboost.DMatrix(examples.features, self.learned(gain), nthread=1)
        if self.objective.startswith("rank"):
            data.set_group(examples.lengths[examples.lengths > 0])
        model = xgboost.train(parameters, data, self.trees)

        def staged(x: NDArray[np.float64], n: int) -> Floats:
            found = model.predict(xgboost.DMatrix(x, nthread=1), output_margin=True, iteration_range=(0, n))
            return np.asarray(found, dtype=np.float64)

        return staged


@dataclass(eq=False)
class CatBoost(Peer, abstract=True):
    """``YetiRank``, or FilteredDCG by ``StochasticRank``, which drops documents of a negative score."""

    objective: str = "YetiRank"
    depth: int = field(default=6, kw_only=True)

    def grown(self, examples: Examples, gain: Floats) -> Staged:
        import catboost

        model = catboost.CatBoost(
            {
                "loss_function": self.objective,
                "iterations": self.trees,
                "learning_rate": self.learning_rate,
                "depth": self.depth,
                "l2_leaf_reg": self.l2,
                "rsm": self.feature_share,
                "random_seed": self.seed,
                "thread_count": 1,
                "logging_level": "Silent",
                "allow_writing_files": False,
                **self.options,
            }
        )
        model.fit(catboost.Pool(examples.features, gain, group_id=examples.query))
        return lambda x, n: np.asarray(model.predict(x, ntree_end=n, thread_count=1), dtype=np.float64)
