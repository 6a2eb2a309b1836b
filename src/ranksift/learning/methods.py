"""All rankers, so that a command and a model's card can name any of them."""

from ranksift.learning.boosting import AdaRank as AdaRank
from ranksift.learning.boosting import FocusedBoost as FocusedBoost
from ranksift.learning.boosting import RankBoost as RankBoost
from ranksift.learning.coordinate_ascent import CoordinateAscent as CoordinateAscent
from ranksift.learning.logistic import L2LogisticRegression as L2LogisticRegression
from ranksift.learning.networks import FocusedNet as FocusedNet
from ranksift.learning.networks import LinearRanker as LinearRanker
from ranksift.learning.networks import ListNet as ListNet
from ranksift.learning.networks import MLPRanker as MLPRanker
from ranksift.learning.networks import RankNet as RankNet
from ranksift.learning.networks import TopKListMLE as TopKListMLE
from ranksift.learning.optimal import ExpectedGainRanker as ExpectedGainRanker
from ranksift.learning.ranker import RANKERS, Ranker
from ranksift.learning.svm import SVMMAP as SVMMAP
from ranksift.learning.svm import FocusedSVM as FocusedSVM
from ranksift.learning.svm import RankSVM as RankSVM
from ranksift.learning.trees import BoostedTrees as BoostedTrees
from ranksift.learning.trees import LambdaMART as LambdaMART
from ranksift.learning.trees import LambdaMARTf as LambdaMARTf
from ranksift.learning.trees import RandomForests as RandomForests


def known_rankers() -> dict[str, type[Ranker]]:
    """Every ranker by its name."""
    return dict(RANKERS)
