"""All rules, so that a file can name any of them."""

from ranksift.cutoffs.baselines import FilterAll, FixedCutoff, RankOnly
from ranksift.cutoffs.cutoff import RULES, Cutoff
from ranksift.cutoffs.expected_gain import ExpectedGainCutoff
from ranksift.cutoffs.normalized import NormalizedCutoff
from ranksift.cutoffs.risk import RiskCutoff
from ranksift.cutoffs.shape import ShapeCutoff
from ranksift.cutoffs.threshold import GlobalCutoff
from ranksift.errors import InputError

#: The order in which people meet them; it does not depend on who imported what first.
_ORDER = (FilterAll, RankOnly, FixedCutoff, GlobalCutoff, NormalizedCutoff, ExpectedGainCutoff, RiskCutoff, ShapeCutoff)


def known_rules() -> dict[str, type[Cutoff]]:
    """Every rule by the word for it; those of other people come last.

    >>> list(known_rules())[:4]
    ['filter-all', 'rank-only', 'fixed', 'global']
    """
    return {kind.rule: kind for kind in _ORDER} | RULES


def rule_of(word: str) -> type[Cutoff]:
    """The rule that a word means; with ``_`` for ``-`` too."""
    known = known_rules()
    if word.replace("_", "-") not in known:
        raise InputError(f"rule {word!r} is unknown", remedy=f"use {', '.join(known)}")
    return known[word.replace("_", "-")]
