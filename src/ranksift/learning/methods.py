"""All rankers, so that a command and a model's card can name any of them."""

from ranksift.learning.logistic import L2LogisticRegression as L2LogisticRegression
from ranksift.learning.networks import FocusedNet as FocusedNet
from ranksift.learning.networks import LinearRanker as LinearRanker
from ranksift.learning.networks import ListNet as ListNet
from ranksift.learning.networks import MLPRanker as MLPRanker
from ranksift.learning.networks import RankNet as RankNet
from ranksift.learning.networks import TopKListMLE as TopKListMLE
from ranksift.learning.ranker import RANKERS, Ranker


def known_rankers() -> dict[str, type[Ranker]]:
    """Every ranker by its name."""
    return dict(RANKERS)
