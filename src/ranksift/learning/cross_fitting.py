"""Cross-fitting: every training query is scored by models that have not seen it.

Trees and networks are too sure of documents that they were fitted to. So what turns their outputs into chances, and
what checks a cut, needs other documents. Queries that are set aside for it are lost to learning, and few of them say
little. Held out in turn, none is lost, and all of them calibrate and check: fold after fold is held out once, a member
learns from the other folds, and what the model says of a new document is the mean of what its members say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples, folds_of
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.learning.judged_documents import JudgedDocuments
from ranksift.learning.ranker import Ranker
from ranksift.parameters import integer, optional, parameter

T = TypeVar("T")

#: Folds, where nobody says how many; documents from which on a fifth of the queries, held out once, tells enough.
FOLDS, MANY_DOCUMENTS = 5, 100_000

#: Queries that it takes to hold some of them out.
FEWEST_QUERIES = 5


def in_turns(
    examples: Examples,
    folds: int,
    seed: int,
    learn: Callable[[Examples, Examples, int], T],
    say: Callable[[T, Examples], NDArray[np.float64]],
) -> tuple[list[T], NDArray[np.float64]]:
    """Hold out each fold of the queries once.

    Parameters
    ----------
    examples
        All documents.
    folds, seed
        As of :func:`~ranksift.collection.examples.folds_of`.
    learn
        Makes a member of all folds but one, of the one that is held out, and of the number of that.
    say
        What a member says of documents: documents × outputs.

    Returns
    -------
        The members, and what they say of the documents that they have not seen, in the order of the examples.
    """
    fold = folds_of(len(examples.query_ids), folds, seed)
    of_document, members, parts = fold[examples.query], [], []
    for f in range(folds):
        held_out = examples.of_queries(np.flatnonzero(fold == f))
        members.append(learn(examples.of_queries(np.flatnonzero(fold != f)), held_out, f))
        parts.append(say(members[-1], held_out))
    raw = np.empty((len(examples), parts[0].shape[1]))
    for f, part in enumerate(parts):
        raw[of_document == f] = part
    return members, raw


@dataclass(eq=False)
class CrossFitted(Ranker, abstract=True):
    """A ranker with a cut at 0, calibrated on documents that it was not fitted to.

    A subclass says what members have in common (:meth:`_begin`), how one of them learns (:meth:`_learn`), what it says
    of documents (:meth:`_raw`), how several become one model (:meth:`_join`), how raw outputs of documents that no
    member has seen calibrate it (:meth:`_calibrate`), and what scores follow (:meth:`_score_from`).
    """

    filters = True

    _: KW_ONLY
    folds: int | None = parameter(
        None,
        optional(integer(1)),
        """Without a validation set, the number of parts of the training queries. Each part is held out once, to stop
        and to calibrate a model of the others; the models' outputs are averaged. 1: a fifth of the queries is held out
        and not learned from. None: 5 for up to 100,000 documents, and 1 for more.""",
    )

    def _held_out_of(self, given: Examples) -> tuple[Examples, Examples | None]:
        if self._turns(given) > 1 or len(given.query_ids) < FEWEST_QUERIES:
            return given, None
        return given.split(1.0 - 1.0 / FOLDS, self.seed)

    def _turns(self, given: Examples) -> int:
        """How many members learn from these examples, if there are no others to calibrate by."""
        queries = len(given.query_ids)
        if queries < FEWEST_QUERIES:
            return 1
        if self.folds is None:
            return FOLDS if len(given) <= MANY_DOCUMENTS else 1
        return min(self.folds, queries)

    def _train(self, examples: Examples, validation: Examples | None) -> JudgedDocuments | None:
        turns = self._turns(examples) if validation is None else 1
        self._begin(examples, validation)
        if turns > 1:
            known, raw = examples, self._in_turns(examples, turns)
            self.card_["data"]["folds"] = turns
        else:
            known = examples if validation is None else validation
            raw = self._learn(examples, validation)._raw(known)
        # Fewer queries than can be held out tell of themselves, which is too good.
        unseen = turns > 1 or validation is not None
        self._calibrate(raw, known, unseen=unseen)
        found = JudgedDocuments(known.judged_only(), self._score_from(raw, known)[known.judged], None)
        self.cutoff_ = FixedCutoff(0.0).fit_lists(found.lists(self.gains))
        return found if unseen else None

    def _in_turns(self, examples: Examples, folds: int) -> NDArray[np.float64]:
        """Let each member learn from all folds but one; what members say of the documents that they have not seen."""
        members, raw = in_turns(
            examples,
            folds,
            self.seed,
            lambda rest, held_out, number: self._member(number)._learn(rest, held_out),
            type(self)._raw,
        )
        self._join(members)
        return raw

    def _member(self, number: int) -> Self:
        """What learns from all folds but one, by the number of that."""
        found = copy(self)
        found._training = None if self._training is None else self._training.part(f"fold-{number + 1}")
        return found

    def _score_of(self, examples: Examples) -> Floats:
        return self._score_from(self._raw(examples), examples)

    def _begin(self, examples: Examples, validation: Examples | None) -> None:
        """Set what all members have in common."""
        raise NotImplementedError

    def _learn(self, examples: Examples, validation: Examples | None) -> Self:
        """Fit one member, and stop it by other documents if there are some."""
        raise NotImplementedError

    def _raw(self, examples: Examples) -> NDArray[np.float64]:
        """What the members say of documents, in the mean: documents × outputs, not calibrated."""
        raise NotImplementedError

    def _join(self, members: Sequence[Self]) -> None:
        """Become the mean of some members."""
        raise NotImplementedError

    def _calibrate(self, raw: NDArray[np.float64], known: Examples, *, unseen: bool) -> None:
        """Learn from documents how sure outputs may be; ``unseen``: none of them speaks of one that it has learned."""
        raise NotImplementedError

    def _score_from(self, raw: NDArray[np.float64], examples: Examples) -> Floats:
        """Scores of documents of whole lists, from what the members say of them."""
        raise NotImplementedError
