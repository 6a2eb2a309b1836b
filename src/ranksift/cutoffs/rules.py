"""All rules, so that a file can name any of them."""

from ranksift.cutoffs.baselines import FilterAll as FilterAll
from ranksift.cutoffs.baselines import FixedCutoff as FixedCutoff
from ranksift.cutoffs.baselines import RankOnly as RankOnly
from ranksift.cutoffs.cutoff import RULES, Cutoff
from ranksift.cutoffs.expected_gain import ExpectedGainCutoff as ExpectedGainCutoff
from ranksift.cutoffs.normalized import NormalizedCutoff as NormalizedCutoff
from ranksift.cutoffs.risk import RiskCutoff as RiskCutoff
from ranksift.cutoffs.shape import ShapeCutoff as ShapeCutoff
from ranksift.cutoffs.threshold import GlobalCutoff as GlobalCutoff


def known_rules() -> dict[str, type[Cutoff]]:
    """Every rule by the word for it."""
    return dict(RULES)
