"""A ranker or a cutoff, as the other libraries use it: the documents of one query in, those that may be shown out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.ragged import Floats
from ranksift.cutoffs.cutoff import Cutoff, load_cutoff
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.ranked_documents import RankedDocument, ranked_documents
from ranksift.learning.ranker import Ranker
from ranksift.learning.saved_model import load
from ranksift.parameters import integer, optional

ModelLike = str | os.PathLike[str] | Ranker | Cutoff


class Sifted(NamedTuple):
    """The documents of one query.

    Attributes
    ----------
    kept
        Those to show, in the order in which to show them.
    dropped
        Those that must not be shown.
    """

    kept: list[RankedDocument]
    dropped: list[RankedDocument]


@dataclass(frozen=True)
class Sifter:
    """What drops documents, with the place that it was read from.

    Attributes
    ----------
    model
        A ranker, which orders documents and drops some; or a cutoff, which drops some by the scores that they have.
    place
        The model's folder or the cutoff's file; None if an object was given.
    """

    model: Ranker | Cutoff
    place: str | None = None

    @classmethod
    def of(cls, model: ModelLike) -> Sifter:
        """Read a model's folder or a cutoff's file; a fitted object is taken as it is.

        Examples
        --------
        >>> from ranksift import GlobalCutoff
        >>> cut = GlobalCutoff("nDCG_f@3").fit([0.9, 0.4, 0.7], [1, -1, 2], ["q", "q", "r"])
        >>> kept, dropped = Sifter.of(cut).sift("", ["no", "yes"], [0.2, 0.8])
        >>> [(found.index, round(found.margin, 2)) for found in kept], [found.index for found in dropped]
        ([(1, 0.1)], [0])
        """
        if isinstance(model, Ranker | Cutoff):
            if not hasattr(model, "card_" if isinstance(model, Ranker) else "fitted_on_"):
                raise InputError(f"this {type(model).__name__} is not fitted", remedy="call fit first")
            return cls(model)
        if not isinstance(model, str | os.PathLike):
            remedy = "give a model's folder, a cutoff's file, or a fitted object"
            raise InputError(f"{model!r} is neither a ranker nor a cutoff", remedy=remedy)
        place = os.fspath(model)
        return cls(load(place) if Path(place).is_dir() else load_cutoff(place), place)

    @property
    def saved_at(self) -> str:
        """The place, for a file that describes a pipeline: what was learned is never written into it."""
        if self.place is None:
            what = f"this {type(self.model).__name__} was given as an object, so that there is no path to write"
            raise InputError(what, remedy="save it, and give its path")
        return self.place

    @property
    def reads_texts(self) -> bool:
        """Whether it reads queries and documents; else it needs the scores that documents already have."""
        return isinstance(self.model, Ranker)

    def sift(
        self, query: str | None, texts: Sequence[str], scores: Sequence[float | None], top: int | None = None
    ) -> Sifted:
        """Tell the documents of one query that may be shown from those that must not.

        Parameters
        ----------
        query
            Its text; only a ranker reads it.
        texts, scores
            The texts or the scores of the documents, in the order of their list. A ranker reads texts; a cutoff reads
            scores and leaves the order as it is.
        top
            The largest number of kept documents to return (default: all).
        """
        optional(integer(least=1), 10).check("top", top)
        if not len(texts):
            return Sifted([], [])
        if isinstance(self.model, Cutoff):
            found = self._cut(self.model, texts, scores)
        elif query is None:
            raise InputError(f"{type(self.model).__name__} reads the query, and there is none", remedy="give its text")
        else:
            found = self.model.rank(query, list(texts), explain=True)
        return Sifted([one for one in found if one.kept][:top], [one for one in found if not one.kept])

    def _cut(self, rule: Cutoff, texts: Sequence[str], given: Sequence[float | None]) -> list[RankedDocument]:
        without = next((i for i, score in enumerate(given) if score is None), None)
        if without is not None:
            what = f"document {without + 1} of {len(texts)} has no score, and a cutoff cuts on scores"
            raise InputError(what, remedy="put it behind what scores documents")
        scores = np.asarray(given, dtype=np.float64)
        # A rule that was fitted on two scores drops by the one that it is given; the order of the list says the other.
        places = -np.arange(len(scores), dtype=np.float64)
        found = ranked_documents(texts, scores, self.keep(scores, rank_scores=places), rule, explain=True)
        return sorted(found, key=lambda one: one.index)

    def keep(
        self, scores: Floats, groups: Sequence[str] | None = None, rank_scores: Floats | None = None
    ) -> NDArray[np.bool_]:
        """Which documents a cutoff keeps; scores that are plainly on another scale than its own give a warning."""
        rule = self.model
        assert isinstance(rule, Cutoff)
        kept = rule.keep(scores, groups, rank_scores=rank_scores if rule.fitted_on_["two_scores"] else None)
        try:
            rule.check_scale(scores)
        except InputError as error:
            what = str(error).partition(";")[0]
            warnings.warn(f"{what}: score them alike, or fit it again", RankSiftWarning, stacklevel=2)
        return kept
