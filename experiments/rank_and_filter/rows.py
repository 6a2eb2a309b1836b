"""The rankers: nothing and everything shown, other libraries, one of them with our weights, and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from experiments.peers import CatBoost, LightGBM, XGBoost
from experiments.rank_and_filter.settings import FORUM, REVIEWS, THREADS
from ranksift.collection.examples import Examples, together
from ranksift.cutoffs.baselines import FilterAll, RankOnly
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.learning.expected_gain import ExpectedGainRanker
from ranksift.learning.ranker import Ranker
from ranksift.learning.trees import BoostedTrees, LambdaMARTf

K = 3
MEASURE = f"nDCG_f@{K}"
MEASURES = (MEASURE, "nDCG_f@10", f"Fdocs@{K}", "GoodFiltered", "Empty")

BASELINE, PEER, WEIGHTED = "baselines", "other libraries", "other libraries, with our weights"
OURS, PART = "ours", "ours, changed"
NOTHING, EVERYTHING = "nothing shown", "everything shown"
JOINT, OPTIMAL = "LambdaMART-f", "optimal rule"
PLAIN, ALONE = "LambdaMART-f, without the normaliser", "LambdaMART-f, without the list"
AT_0, BEST_CUT = "weighted LightGBM binary, cut at 0", "weighted LightGBM binary, best cut"
#: Peers that hold queries out in turn, as ours do.
IN_TURN = "LightGBM multiclass, E[g], with context, five averaged"
AT_0_IN_TURN = "weighted LightGBM binary, cut at 0, five averaged"

#: What the known chances of labels allow.
KNOWN = "known chances"

#: Where harm shown is asked at equal good hidden, and at which shares of it.
DIALLED = (FORUM, REVIEWS)
HIDDEN = tuple(i / 50 for i in range(51))

#: What CatBoost is fitted to: its trees take too long for the others.
SMALL = (FORUM, REVIEWS, THREADS)


@dataclass(frozen=True)
class Row:
    """A ranker, and the rule that is fitted to its scores of the validation set; None: it brings its own cut."""

    group: str
    make: Callable[..., Ranker]
    options: Mapping[str, Any]
    cutoff: Cutoff | None = None
    #: The sources of data; None: all.
    where: tuple[str, ...] | None = None

    @property
    def learns_from_all(self) -> bool:
        """Ours hold queries out in turn, so that they are given those for validation to learn from."""
        return self.group in (OURS, PART)

    def ranker(self, gains: Mapping[float, float], seed: int) -> Ranker:
        """The ranker, not fitted."""
        return self.make(**{"gains": dict(gains), "seed": seed, "measure": MEASURE, **self.options})

    def fitted(self, gains: Mapping[float, float], seed: int, train: Examples, validation: Examples) -> Ranker:
        """The ranker with its cut: ours learn from both parts, and hold each query out in turn."""
        model = self.ranker(gains, seed)
        if self.learns_from_all:
            model.fit(together([train, validation]))
        else:
            model.fit(train, validation)
        if self.cutoff is not None:
            model.fit_cutoff(validation, self.cutoff)
        return model


def rows() -> dict[str, Row]:
    """All rankers by their names."""
    usual: dict[str, Any] = {"step": 20, "or_leaves": (7,)}
    context = {**usual, "context": True}
    of_depth = {"step": 20, "context": True}
    weighted = {**context, "objective": "binary", "weighted": True}
    # The measure's own discount and depth; what is given as labels is the gains.
    filtered = f"StochasticRank:metric=FilteredDCG;denominator=LogPosition;top={K}"
    ndcg = {"objective": "rank:ndcg", "options": {"ndcg_exp_gain": False}}
    return {
        NOTHING: Row(BASELINE, BoostedTrees, {"trees": 1}, FilterAll()),
        EVERYTHING: Row(BASELINE, BoostedTrees, {"loss": "ordinal"}, RankOnly()),
        "LightGBM binary": Row(PEER, LightGBM, {"objective": "binary", **usual}),
        "LightGBM binary, with context": Row(PEER, LightGBM, {"objective": "binary", **context}),
        "LightGBM multiclass, E[g]": Row(PEER, LightGBM, {"objective": "multiclass", **usual}),
        "LightGBM multiclass, E[g], with context": Row(PEER, LightGBM, {"objective": "multiclass", **context}),
        IN_TURN: Row(PEER, LightGBM, {"objective": "multiclass", **context, "folds": 5}),
        "LightGBM lambdarank, with context": Row(PEER, LightGBM, {"objective": "lambdarank", **context}),
        "XGBoost binary:logistic, with context": Row(PEER, XGBoost, {"objective": "binary:logistic", **context}),
        "XGBoost rank:ndcg, with context": Row(PEER, XGBoost, {**ndcg, **context}),
        "CatBoost YetiRank, with context": Row(PEER, CatBoost, {"objective": "YetiRank", **of_depth}, where=SMALL),
        "CatBoost FilteredDCG, with context": Row(PEER, CatBoost, {"objective": filtered, **of_depth}, where=SMALL),
        AT_0: Row(WEIGHTED, LightGBM, {**weighted, "cut": "zero"}),
        BEST_CUT: Row(WEIGHTED, LightGBM, weighted),
        AT_0_IN_TURN: Row(WEIGHTED, LightGBM, {**weighted, "cut": "zero", "folds": 5}),
        JOINT: Row(OURS, LambdaMARTf, {}),
        OPTIMAL: Row(OURS, ExpectedGainRanker, {}),
        PLAIN: Row(PART, LambdaMARTf, {"measure": f"DCG@{K}"}),
        ALONE: Row(PART, LambdaMARTf, {"context": False}),
    }
