"""The rankers of Niu et al. 2012, in the order of their tables."""

from __future__ import annotations

from typing import NamedTuple

from ranksift.learning.methods import (
    SVMMAP,
    AdaRank,
    FocusedBoost,
    FocusedNet,
    FocusedSVM,
    ListNet,
    RankBoost,
    RankNet,
    RankSVM,
    TopKListMLE,
)
from ranksift.learning.ranker import Ranker

#: What is stopped, tuned and boosted by. On grades it is the paper's NDCG: its gains are 2^label − 1 there too.
MEASURE = "kNDCG@10"
#: Tried on the validation fold.
C = (1.0, 10.0, 100.0)


class Family(NamedTuple):
    """A method of the paper and the two that it is made of."""

    focused: str
    pairwise: str
    listwise: str

    @property
    def parents(self) -> tuple[str, str]:
        """Both."""
        return self.pairwise, self.listwise


FAMILIES = (
    Family("FocusedSVM", "RankSVM", "SVM-MAP"),
    Family("FocusedBoost", "RankBoost", "AdaRank"),
    Family("FocusedNet", "RankNet", "ListNet"),
)
TOP_K_LISTMLE = "Top-k ListMLE"

METHODS: dict[str, Ranker] = {
    "SVM-MAP": SVMMAP(C=C, measure=MEASURE),
    "RankSVM": RankSVM(C=C, measure=MEASURE),
    "FocusedSVM": FocusedSVM(C=C, measure=MEASURE),
    "AdaRank": AdaRank(measure=MEASURE),
    "RankBoost": RankBoost(measure=MEASURE),
    "FocusedBoost": FocusedBoost(measure=MEASURE),
    "ListNet": ListNet(measure=MEASURE),
    "RankNet": RankNet(hidden=(), measure=MEASURE),
    "FocusedNet": FocusedNet(measure=MEASURE),
    TOP_K_LISTMLE: TopKListMLE(measure=MEASURE),
}
FOCUSED = tuple(family.focused for family in FAMILIES)


def candidates(method: str, betas: tuple[float, ...]) -> list[Ranker]:
    """What is fitted for a method: one for each β where it has one, else itself."""
    ranker = METHODS[method]
    return [ranker.clone().set_params(beta=beta) for beta in betas] if method in FOCUSED else [ranker.clone()]
