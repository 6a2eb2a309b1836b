"""RankSift's rankers and cutoffs as parts of other libraries: one small file for each library."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.integrations.haystack import RankSiftRanker as RankSiftRanker
    from ranksift.integrations.langchain import RankSiftCompressor as RankSiftCompressor
    from ranksift.integrations.llama_index import RankSiftPostprocessor as RankSiftPostprocessor
    from ranksift.integrations.pyterrier import RankSiftTransformer as RankSiftTransformer
    from ranksift.integrations.sklearn import CutoffEstimator as CutoffEstimator
    from ranksift.integrations.sklearn import RankerEstimator as RankerEstimator

export(__name__)
