"""The same work on many machines, by Ray: thin, as every part of it is done by the functions that one machine runs."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.scale.evaluation import evaluate as evaluate
    from ranksift.scale.ranking import Ranked as Ranked
    from ranksift.scale.ranking import rank as rank
    from ranksift.scale.training import fit as fit
    from ranksift.scale.tuning import tune as tune

export(__name__)
