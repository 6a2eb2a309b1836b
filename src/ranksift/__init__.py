"""RankSift ranks the good, filters the forbidden, and measures both."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ranksift import study as study
    from ranksift.collection.examples import Examples as Examples
    from ranksift.collection.examples import read_examples as read_examples
    from ranksift.collection.gains import Gains as Gains
    from ranksift.collection.qrels import Qrels as Qrels
    from ranksift.collection.qrels import read_qrels as read_qrels
    from ranksift.collection.run import Run as Run
    from ranksift.collection.run import read_run as read_run
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
    from ranksift.evaluation.explain import explain as explain
    from ranksift.evaluation.registration import register_ir_measures as register_ir_measures
    from ranksift.evaluation.score_table import read_scores as read_scores
    from ranksift.evaluation.scores import Scores as Scores
    from ranksift.learning.ranker import load as load
    from ranksift.measures.names import parse_measure as parse_measure
    from ranksift.measures.names import parse_measures as parse_measures
    from ranksift.measures.topk import topk_labels as topk_labels

__version__ = "0.1.0"

# Where each public name lives. Nothing is imported before it is asked for.
_HOME = {
    "InputError": "errors",
    "RankSiftWarning": "errors",
    "Examples": "collection.examples",
    "read_examples": "collection.examples",
    "Gains": "collection.gains",
    "Qrels": "collection.qrels",
    "read_qrels": "collection.qrels",
    "Run": "collection.run",
    "read_run": "collection.run",
    "GlobalCutoff": "cutoffs.threshold",
    "NormalizedCutoff": "cutoffs.normalized",
    "ShapeCutoff": "cutoffs.shape",
    "ExpectedGainCutoff": "cutoffs.expected_gain",
    "RiskCutoff": "cutoffs.risk",
    "load_cutoff": "cutoffs.cutoff",
    "compare_cutoffs": "cutoffs.comparison",
    "audit": "cutoffs.audit",
    "calibrate": "cutoffs.calibration",
    "reliability_diagram": "cutoffs.reliability_diagram",
    "load": "learning.ranker",
    "Scores": "evaluation.scores",
    "read_scores": "evaluation.score_table",
    "evaluate": "evaluation.evaluate",
    "check": "evaluation.check",
    "Comparison": "evaluation.compare",
    "compare": "evaluation.compare",
    "describe": "evaluation.describe",
    "explain": "evaluation.explain",
    "register_ir_measures": "evaluation.registration",
    "parse_measure": "measures.names",
    "parse_measures": "measures.names",
    "topk_labels": "measures.topk",
}

# Rooms that have public names of their own.
_ROOMS = ("learning", "study")

__all__ = ["__version__", *_HOME, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"ranksift.{_HOME[name]}"), name)
    elif name in _ROOMS:
        value = import_module(f"ranksift.{name}")
    elif name.startswith("__"):
        raise AttributeError(name)
    else:
        value = _measure(name)
    globals()[name] = value
    return value


def _measure(name: str) -> Any:
    """The default instance of a measure: ``ranksift.nDCG_f @ 10``."""
    from ranksift.measures.measure import CATALOGUE
    from ranksift.measures.names import parse_measure

    if name not in CATALOGUE and name != "nDCG_0":
        raise AttributeError(f"module 'ranksift' has no attribute {name!r}")
    return parse_measure(name)


def __dir__() -> list[str]:
    from ranksift.measures.measure import CATALOGUE

    return sorted({*globals(), *_HOME, *_ROOMS, *CATALOGUE})
