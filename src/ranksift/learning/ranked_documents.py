"""The documents of one query, best first, as whoever asks with plain texts gets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats
from ranksift.cutoffs.cutoff import Cutoff

# Rules that compare the score itself with one number.
_OF_SCORES = ("fixed", "global")


@dataclass(frozen=True)
class RankedDocument:
    """A document with its place in a ranking.

    Attributes
    ----------
    index
        Its position in the given list, counted from 0.
    score
        The score; higher is better.
    text
        The text of the document, as it was given.
    kept
        Whether the model's cutoff keeps it.
    margin
        The distance of the score from the threshold; below 0: dropped. None if the model has no threshold on scores.
    """

    index: int
    score: float
    text: str
    kept: bool
    margin: float | None


def ranked_documents(
    documents: Sequence[str],
    scores: Floats,
    kept: NDArray[np.bool_] | None,
    rule: Cutoff | None,
    *,
    explain: bool = False,
) -> list[RankedDocument]:
    """Documents by falling score, equal ones as they were given; with ``explain``, dropped ones behind the others.

    Examples
    --------
    >>> from ranksift.cutoffs.baselines import FixedCutoff
    >>> rule, scores = FixedCutoff(0.5), np.array([0.25, 0.75])
    >>> rule.threshold_ = 0.5
    >>> [found.index for found in ranked_documents(["no", "yes"], scores, scores >= 0.5, rule)]
    [1]
    >>> ranked_documents(["no", "yes"], scores, scores >= 0.5, rule, explain=True)[1]
    RankedDocument(index=0, score=0.25, text='no', kept=False, margin=-0.25)
    """
    threshold = getattr(rule, "threshold_", None) if rule is not None and rule.rule in _OF_SCORES else None
    stays = np.ones(len(scores), dtype=bool) if kept is None else kept
    found = []
    for i in np.lexsort((-scores, ~stays)).tolist():
        if stays[i] or explain:
            score = float(scores[i])
            margin = None if threshold is None else score - float(threshold)
            found.append(RankedDocument(i, score, documents[i], bool(stays[i]), margin))
    return found
