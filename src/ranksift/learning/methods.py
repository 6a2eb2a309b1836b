"""All rankers, so that a command and a model's card can name any of them, and their descriptions."""

from __future__ import annotations

import inspect

from ranksift.learning.boosting import AdaRank as AdaRank
from ranksift.learning.boosting import FocusedBoost as FocusedBoost
from ranksift.learning.boosting import RankBoost as RankBoost
from ranksift.learning.coordinate_ascent import CoordinateAscent as CoordinateAscent
from ranksift.learning.expected_gain import ExpectedGainRanker as ExpectedGainRanker
from ranksift.learning.logistic import L2LogisticRegression as L2LogisticRegression
from ranksift.learning.networks import FocusedNet as FocusedNet
from ranksift.learning.networks import LinearRanker as LinearRanker
from ranksift.learning.networks import ListNet as ListNet
from ranksift.learning.networks import MLPRanker as MLPRanker
from ranksift.learning.networks import RankNet as RankNet
from ranksift.learning.networks import TopKListMLE as TopKListMLE
from ranksift.learning.ranker import RANKERS, Ranker
from ranksift.learning.stacked import StackedRanker as StackedRanker
from ranksift.learning.svm import SVMMAP as SVMMAP
from ranksift.learning.svm import FocusedSVM as FocusedSVM
from ranksift.learning.svm import RankSVM as RankSVM
from ranksift.learning.text.ranker import TextRanker as TextRanker
from ranksift.learning.trees import BoostedTrees as BoostedTrees
from ranksift.learning.trees import LambdaMART as LambdaMART
from ranksift.learning.trees import LambdaMARTf as LambdaMARTf
from ranksift.learning.trees import RandomForests as RandomForests
from ranksift.parameters import declared, without_marks

#: Other names under which people may ask for a method.
SHORT_NAMES = {"text": "TextRanker", "optimal": "ExpectedGainRanker"}


def known_rankers() -> dict[str, type[Ranker]]:
    """Every ranker by its name, in alphabetical order."""
    return dict(sorted(RANKERS.items()))


def summary_of(kind: type[Ranker]) -> str:
    """What a method is, in one line of plain text.

    >>> summary_of(RankSVM)
    'RankSVM: the better document of a pair should score higher by a margin of 1.'
    """
    return without_marks(inspect.getdoc(kind) or "").partition("\n")[0]


def meanings_of(kind: type[Ranker]) -> dict[str, str]:
    """What each parameter means.

    >>> meanings_of(RankSVM)["seed"]
    'Seed of the random number generator; the same seed gives the same scores.'
    """
    return {name: spec.plain_meaning for name, (spec, _) in declared(kind).items()}
