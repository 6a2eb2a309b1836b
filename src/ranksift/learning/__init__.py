"""Rankers that learn from features and from texts: the methods of three papers, and ones that also filter."""

import os
from typing import TYPE_CHECKING

from ranksift._lazy import export

# Idle threads of two libraries that spin while they wait for each other can be fifty times slower than one.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if TYPE_CHECKING:
    from ranksift.collection.text_features import text_features as text_features
    from ranksift.learning import losses as losses
    from ranksift.learning.boosting import AdaRank as AdaRank
    from ranksift.learning.boosting import FocusedBoost as FocusedBoost
    from ranksift.learning.boosting import RankBoost as RankBoost
    from ranksift.learning.coordinate_ascent import CoordinateAscent as CoordinateAscent
    from ranksift.learning.distillable import Distillable as Distillable
    from ranksift.learning.expected_gain import ExpectedGainRanker as ExpectedGainRanker
    from ranksift.learning.expected_gain import expected_shares as expected_shares
    from ranksift.learning.lambdas import Swaps as Swaps
    from ranksift.learning.lambdas import worth_of_showing as worth_of_showing
    from ranksift.learning.logistic import L2LogisticRegression as L2LogisticRegression
    from ranksift.learning.networks import FocusedNet as FocusedNet
    from ranksift.learning.networks import LinearRanker as LinearRanker
    from ranksift.learning.networks import ListNet as ListNet
    from ranksift.learning.networks import MLPRanker as MLPRanker
    from ranksift.learning.networks import Network as Network
    from ranksift.learning.networks import RankNet as RankNet
    from ranksift.learning.networks import TopKListMLE as TopKListMLE
    from ranksift.learning.ranked_documents import RankedDocument as RankedDocument
    from ranksift.learning.ranker import Ranker as Ranker
    from ranksift.learning.saved_model import load as load
    from ranksift.learning.stacked import StackedRanker as StackedRanker
    from ranksift.learning.svm import SVMMAP as SVMMAP
    from ranksift.learning.svm import FocusedSVM as FocusedSVM
    from ranksift.learning.svm import RankSVM as RankSVM
    from ranksift.learning.text.ranker import TextRanker as TextRanker
    from ranksift.learning.topk import topk_truth as topk_truth
    from ranksift.learning.training_folder import TrainingFolder as TrainingFolder
    from ranksift.learning.trees import BoostedTrees as BoostedTrees
    from ranksift.learning.trees import LambdaMART as LambdaMART
    from ranksift.learning.trees import LambdaMARTf as LambdaMARTf
    from ranksift.learning.trees import RandomForests as RandomForests
    from ranksift.learning.trees import TreeModel as TreeModel
    from ranksift.learning.tuning import Tuning as Tuning
    from ranksift.learning.tuning import tune as tune
    from ranksift.learning.validation import cross_validated as cross_validated
    from ranksift.learning.validation import three_parts as three_parts
    from ranksift.learning.validation import three_way as three_way

export(__name__)
