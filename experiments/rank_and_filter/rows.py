"""The rankers: paper 1's losses, other libraries, ours, and ours with a part left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ranksift as rs
from experiments.peers import CatBoost, CatBoostFilter, LightGBM, Peer, XGBoost
from experiments.rank_and_filter.settings import FOLDS, FORUM, MEASURE, REVIEWS, K
from ranksift.cutoffs.baselines import FilterAll, RankOnly
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.learning.expected_gain import ExpectedGainRanker
from ranksift.learning.networks import LinearRanker, MLPRanker
from ranksift.learning.ranker import Ranker
from ranksift.learning.trees import BoostedTrees, LambdaMARTf

LOSSES = {
    "BCE": "bce",
    "MSE": "mse",
    "ordinal": "ordinal",
    "ordinal-weighted": "weighted_ordinal",
    "LambdaRank": "lambdarank",
    "LambdaRank+BCE": "lambdarank_bce",
}
MODELS: Mapping[str, type[Ranker]] = {"linear": LinearRanker, "MLP": MLPRanker, "trees": BoostedTrees}

BASELINE, PAPER, PEER, OURS, PART = "baselines", "paper 1's losses", "other libraries", "ours", "ours, changed"
JOINT, OPTIMAL = "LambdaMART-f", "optimal rule"
YETIRANK, FILTERED_DCG, FILTER = "CatBoost YetiRank", "CatBoost FilteredDCG", "CatBoost StochasticFilter"
OWN_CUT, BEST_CUT = "own cut at 0", "best cut"
FILTER_ALL, RANK_ONLY, FILTER_ONLY = "filter-all", "rank-only (trees, ordinal)", "filter-only (trees, BCE)"


@dataclass(frozen=True)
class Row:
    """A ranker, and the rule that is fitted to its scores of the validation set; None: it brings its own cut."""

    group: str
    make: Callable[..., Ranker]
    options: Mapping[str, Any]
    cutoff: Cutoff | None = None
    #: Kept documents are put in a random order: filtering without ranking.
    shuffled: bool = False
    where: tuple[str, ...] = (FORUM, FOLDS, REVIEWS)

    def ranker(self, gains: Mapping[float, float], seed: int) -> Ranker:
        """The ranker, not fitted."""
        return self.make(**{"gains": dict(gains), "seed": seed, "measure": MEASURE, **self.options})


def rows() -> dict[str, Row]:
    """All rankers by their names."""
    return {**_baselines(), **_of_the_paper(), **_peers(), **_ours()}


def _best() -> Cutoff:
    return rs.GlobalCutoff(MEASURE)


def _baselines() -> dict[str, Row]:
    return {
        FILTER_ALL: Row(BASELINE, BoostedTrees, {"trees": 1}, FilterAll()),
        RANK_ONLY: Row(BASELINE, BoostedTrees, {"loss": "ordinal"}, RankOnly()),
        FILTER_ONLY: Row(BASELINE, BoostedTrees, {"loss": "bce"}, _best(), shuffled=True),
    }


def _of_the_paper() -> dict[str, Row]:
    networks = (FORUM, REVIEWS)
    return {
        f"{model}, {loss}": Row(
            PAPER, kind, {"loss": word}, _best(), where=(FORUM, FOLDS, REVIEWS) if model == "trees" else networks
        )
        for model, kind in MODELS.items()
        for loss, word in LOSSES.items()
    }


def _peers() -> dict[str, Row]:
    kinds: dict[str, tuple[type[Peer], dict[str, Any]]] = {
        "LightGBM binary": (LightGBM, {"objective": "binary"}),
        "LightGBM multiclass, E[g]": (LightGBM, {"objective": "multiclass"}),
        "LightGBM lambdarank": (LightGBM, {"objective": "lambdarank"}),
        "XGBoost binary:logistic": (XGBoost, {"objective": "binary:logistic"}),
        "XGBoost rank:ndcg": (XGBoost, {"objective": "rank:ndcg", "options": {"ndcg_exp_gain": False}}),
        YETIRANK: (CatBoost, {"objective": "YetiRank"}),
    }
    # The measure's own discount and depth; what is given as labels is the gains.
    filtered = f"StochasticRank:metric=FilteredDCG;denominator=LogPosition;top={K}"
    filters: dict[str, tuple[type[Peer], dict[str, Any]]] = {
        FILTERED_DCG: (CatBoost, {"objective": filtered}),
        FILTER: (CatBoostFilter, {}),
    }
    found: dict[str, Row] = {}
    for words, context in (("", False), (", with context", True)):
        usual = {"step": 20, "context": context}
        found |= {f"{name}{words}": Row(PEER, kind, {**own, **usual}) for name, (kind, own) in kinds.items()}
        found |= {
            f"{name}{words}, {told}": Row(PEER, kind, {**own, **usual, "cut": cut})
            for name, (kind, own) in filters.items()
            for told, cut in ((OWN_CUT, "zero"), (BEST_CUT, "best"))
        }
    return found


def _ours() -> dict[str, Row]:
    return {
        JOINT: Row(OURS, LambdaMARTf, {}),
        OPTIMAL: Row(OURS, ExpectedGainRanker, {}),
        f"{JOINT}, without the normaliser": Row(PART, LambdaMARTf, {"measure": f"DCG@{K}"}),
        f"{JOINT}, without the normaliser, best cut": Row(PART, LambdaMARTf, {"measure": f"DCG@{K}"}, _best()),
        f"{JOINT}, without the list": Row(PART, LambdaMARTf, {"context": False}),
        f"{JOINT}, stopped by the measure": Row(PART, LambdaMARTf, {"stop_by": "measure"}),
        f"{JOINT}, best cut instead of 0": Row(PART, LambdaMARTf, {}, _best()),
        f"{OPTIMAL}, without the normaliser": Row(PART, ExpectedGainRanker, {"measure": f"DCG@{K}"}),
        f"{OPTIMAL}, without the list": Row(
            PART, ExpectedGainRanker, {"options": {"loss": "ordinal", "stop_by": "loss", "context": False}}
        ),
        f"{OPTIMAL}, best cut instead of 0": Row(PART, ExpectedGainRanker, {}, _best()),
    }
