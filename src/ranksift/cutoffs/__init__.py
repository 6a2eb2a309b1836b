"""Which results should not be shown: rules on scores, fitted to what filtering does to the user."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.cutoffs.audit import Audit as Audit
    from ranksift.cutoffs.audit import audit as audit
    from ranksift.cutoffs.baselines import FilterAll as FilterAll
    from ranksift.cutoffs.baselines import FilterOnly as FilterOnly
    from ranksift.cutoffs.baselines import FixedCutoff as FixedCutoff
    from ranksift.cutoffs.baselines import Oracle as Oracle
    from ranksift.cutoffs.baselines import RankOnly as RankOnly
    from ranksift.cutoffs.calibration import Beta as Beta
    from ranksift.cutoffs.calibration import Calibrator as Calibrator
    from ranksift.cutoffs.calibration import Isotonic as Isotonic
    from ranksift.cutoffs.calibration import LabelCalibration as LabelCalibration
    from ranksift.cutoffs.calibration import Platt as Platt
    from ranksift.cutoffs.calibration import calibrate as calibrate
    from ranksift.cutoffs.comparison import CutoffComparison as CutoffComparison
    from ranksift.cutoffs.comparison import compare_cutoffs as compare_cutoffs
    from ranksift.cutoffs.cutoff import Cutoff as Cutoff
    from ranksift.cutoffs.cutoff import load_cutoff as load_cutoff
    from ranksift.cutoffs.expected_gain import ExpectedGainCutoff as ExpectedGainCutoff
    from ranksift.cutoffs.limits import Limits as Limits
    from ranksift.cutoffs.normalized import NormalizedCutoff as NormalizedCutoff
    from ranksift.cutoffs.reliability_diagram import Brier as Brier
    from ranksift.cutoffs.reliability_diagram import ReliabilityDiagram as ReliabilityDiagram
    from ranksift.cutoffs.reliability_diagram import reliability_diagram as reliability_diagram
    from ranksift.cutoffs.risk import RiskCutoff as RiskCutoff
    from ranksift.cutoffs.shape import ShapeCutoff as ShapeCutoff
    from ranksift.cutoffs.threshold import GlobalCutoff as GlobalCutoff
    from ranksift.cutoffs.tradeoff import Tradeoff as Tradeoff

export(__name__)
