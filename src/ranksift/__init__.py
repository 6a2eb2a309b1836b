"""RankSift ranks the good, filters the forbidden, and measures both.

What a name below is imported from is where it lives. Nothing is imported before it is asked for.
"""

from typing import TYPE_CHECKING, Any

from ranksift._lazy import export
from ranksift._moved import keep_old_paths

__version__ = "0.1.0"


def _measure(name: str) -> Any:
    """A measure that is defined elsewhere."""
    from ranksift import measures

    return getattr(measures, name, None)


if TYPE_CHECKING:
    # The rooms that have public names of their own.
    from ranksift import cutoffs as cutoffs
    from ranksift import datasets as datasets
    from ranksift import integrations as integrations
    from ranksift import labelling as labelling
    from ranksift import learning as learning
    from ranksift import measures as measures
    from ranksift import scale as scale
    from ranksift import study as study
    from ranksift.collection.examples import Examples as Examples
    from ranksift.collection.examples import read_examples as read_examples
    from ranksift.collection.gains import Gains as Gains
    from ranksift.collection.judged_run import JudgedRun as JudgedRun
    from ranksift.collection.lists import Lists as Lists
    from ranksift.collection.qrels import Qrels as Qrels
    from ranksift.collection.qrels import read_qrels as read_qrels
    from ranksift.collection.run import Run as Run
    from ranksift.collection.run import read_run as read_run
    from ranksift.collection.texts import Texts as Texts
    from ranksift.cutoffs.audit import audit as audit
    from ranksift.cutoffs.calibration import calibrate as calibrate
    from ranksift.cutoffs.comparison import compare_cutoffs as compare_cutoffs
    from ranksift.cutoffs.cutoff import load_cutoff as load_cutoff
    from ranksift.cutoffs.expected_gain import ExpectedGainCutoff as ExpectedGainCutoff
    from ranksift.cutoffs.normalized import NormalizedCutoff as NormalizedCutoff
    from ranksift.cutoffs.reliability_diagram import reliability_diagram as reliability_diagram
    from ranksift.cutoffs.risk import RiskCutoff as RiskCutoff
    from ranksift.cutoffs.shape import ShapeCutoff as ShapeCutoff
    from ranksift.cutoffs.threshold import GlobalCutoff as GlobalCutoff
    from ranksift.errors import InputError as InputError
    from ranksift.errors import RankSiftWarning as RankSiftWarning
    from ranksift.evaluation.check import check as check
    from ranksift.evaluation.compare import Comparison as Comparison
    from ranksift.evaluation.compare import compare as compare
    from ranksift.evaluation.describe import describe as describe
    from ranksift.evaluation.evaluate import evaluate as evaluate
    from ranksift.evaluation.explain import QueryExplanation as QueryExplanation
    from ranksift.evaluation.explain import RunExplanation as RunExplanation
    from ranksift.evaluation.explain import explain as explain
    from ranksift.evaluation.ir_measures_registration import register_ir_measures as register_ir_measures
    from ranksift.evaluation.partition import Partition as Partition
    from ranksift.evaluation.partition import evaluate_partition as evaluate_partition
    from ranksift.evaluation.partition import scores_of_partitions as scores_of_partitions
    from ranksift.evaluation.score_table import read_scores as read_scores
    from ranksift.evaluation.scores import Scores as Scores
    from ranksift.evaluation.table import Table as Table
    from ranksift.learning.saved_model import load as load

    # Every measure, as its default instance: nDCG_f @ 10, RBP(p=0.8).
    from ranksift.measures import *  # noqa: F403
    from ranksift.measures.topk import topk_labels as topk_labels
    from ranksift.report.study import write_study as write_study
    from ranksift.study.verdict import Verdict as Verdict
    from ranksift.study.verdict import verdict as verdict

export(__name__, make=_measure)
keep_old_paths()
