"""One network instead of several: what it loses is measured, and stands in the card."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ranksift.collection.examples import Examples, read_examples
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.judged_documents import with_labels
from ranksift.learning.ranker import Ranker

if TYPE_CHECKING:
    from ranksift.learning.text.ranker import TextRanker


@dataclass(eq=False)
class Distillable(Ranker, abstract=True):
    """A ranker with several text networks inside, whose outputs are averaged."""

    def distilled(self, examples: Any, held_out: Any = None) -> Self:
        """The same ranker with one network instead of those of all folds and seeds, for serving.

        It starts from the mean of their weights, and is fitted to the mean of their outputs (by mean squared error),
        for all documents, labelled or not. If there is only a head on a frozen encoder, the mean of the weights is
        already that network. Calibration, the ranker on top and the cutoff do not change.

        Parameters
        ----------
        examples
            Texts to learn on: anything that :func:`~ranksift.read_examples` takes. Labels are not read: the training
            examples can be used, and so can other queries with documents.
        held_out
            Labelled examples to measure the loss in quality; the model must not have been fitted to them. The result is
            in the card under ``distilled``.
        """
        self._check_fitted()
        groups, name = self._networks(), type(self).__name__
        count = sum(map(len, groups))
        if not count:
            remedy = "take one with text networks: text+LambdaMARTf, or ExpectedGainRanker(model='TextRanker')"
            raise InputError(f"this {name} has no text networks inside", remedy=remedy)
        if count == len(groups):
            what = f"this {name} has one network already, so there is nothing to distil"
            raise InputError(what, remedy="fit it without a validation set, or with several folds")
        given = read_examples(examples, features=())
        if given.texts is None:
            raise InputError("has no texts", source=given.name, remedy="give a table with query_id, query and doc")
        known = None if held_out is None else with_labels(self.read(held_out))
        from ranksift.learning.text.distilling import one_network

        found = copy(self)
        found._take_networks([one_network(networks, given) for networks in groups])
        told: dict[str, Any] = {
            "networks": count,
            "in_their_place": len(groups),
            "texts": {"name": given.name, "queries": len(given.query_ids), "documents": len(given)},
        }
        if known is not None:
            both = len({*known.query_ids} & {*given.query_ids})
            if both:
                what = f"{both} of {len(known.query_ids)} held-out queries have the id of a query used for distilling"
                warnings.warn(f"{known.name}: {what}, so the loss may look too small", RankSiftWarning, stacklevel=2)
            told["held_out"] = _lost(self, found, known)
        found.card_ = {**self.card_, "distilled": told}
        return found

    def _networks(self) -> Sequence[Sequence[TextRanker]]:
        """The networks that are averaged, for each set-up."""
        raise NotImplementedError

    def _take_networks(self, networks: Sequence[TextRanker]) -> None:
        """Have one network for each set-up in their place."""
        raise NotImplementedError


def _lost(before: Ranker, after: Ranker, known: Examples) -> dict[str, Any]:
    """What held-out queries say of two models, as each cuts."""
    one, other = (model.judged(known).per_query(before._judged_by, before.gains) for model in (before, after))
    apart = other - one
    error = float(apart.std(ddof=1) / np.sqrt(len(apart))) if len(apart) > 1 else 0.0
    return {
        "name": known.name,
        "queries": len(known.query_ids),
        "measure": str(before._judged_by),
        "networks": float(one.mean()),
        "distilled": float(other.mean()),
        "difference": float(apart.mean()),
        "standard_error": error,
    }
