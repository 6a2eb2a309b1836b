"""Labelled documents with the scores of a ranker, and what a measure says of them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.judged_run import JudgedRun
from ranksift.collection.lists import Lists
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import Floats, Ints
from ranksift.cutoffs.held_out import aggregate, overall
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import InputError
from ranksift.measures.names import MeasureLike


class JudgedDocuments(NamedTuple):
    """Documents with labels and scores; ``kept`` are those that a cutoff keeps, None if there is none."""

    examples: Examples
    scores: Floats
    kept: NDArray[np.bool_] | None

    def value(self, measure: MeasureLike, gains: GainsLike, *, cut: bool = False) -> float:
        """A measure of the ranking by the scores, as a run has it; with ``cut``, of what is kept."""
        found = self.as_in_a_run()
        if not cut or found.kept is None:
            return value_of(found.scores, found.examples, measure, gains)
        lists = found.lists(gains)
        return aggregate(one_measure(measure), lists, found.kept[lists.row])

    def per_query(self, measure: MeasureLike, gains: GainsLike) -> Floats:
        """The measure of each query, of what is kept."""
        found = self.as_in_a_run()
        lists = found.lists(gains)
        kept = np.ones(len(found.scores), dtype=bool) if found.kept is None else found.kept
        value, of = one_measure(measure).per_query(lists.judged_by(kept[lists.row]))
        return np.divide(value, of, out=np.zeros(len(value)), where=of != 0)

    def as_in_a_run(self) -> JudgedDocuments:
        """The same in an order that puts equal scores as a run has them: by falling id."""
        _, number = np.unique(self.examples.docs, return_inverse=True)
        return self._taken(np.lexsort((-number, self.examples.query)))

    def worst_first(self, gains: GainsLike) -> JudgedDocuments:
        """The same with the worst documents of each query first, as equal scores count where something is chosen.

        In the order of a file, a ranker that says nothing could look perfect, as some files list the best documents
        first.
        """
        return self._taken(np.lexsort((Gains.of(gains)(self.examples.labels), self.examples.query)))

    def in_random_order(self, seed: int) -> JudgedDocuments:
        """The same with the documents of each query in random order, so that equal scores are neither luck nor harm.

        The order of a file would make a ranker that says nothing look perfect, or hopeless.
        """
        shuffled = np.random.default_rng(seed).permutation(len(self.scores))
        return self._taken(np.lexsort((shuffled, self.examples.query)))

    def lists(self, gains: GainsLike) -> Lists:
        """The same as scored lists, for cutoffs."""
        return Lists.from_arrays(self.scores, self.examples.labels, self.examples.query, gains=gains)

    def _taken(self, order: Ints) -> JudgedDocuments:
        own = self.examples
        docs = tuple(map(own.docs.__getitem__, order.tolist()))
        texts = None if own.texts is None else own.texts.of_rows(order)
        moved = replace(
            own, features=own.features[order], labels=own.labels[order], docs=docs, row=own.row[order], texts=texts
        )
        return JudgedDocuments(moved, self.scores[order], None if self.kept is None else self.kept[order])


def value_of(scores: Floats, examples: Examples, measure: MeasureLike, gains: GainsLike = "linear") -> float:
    """A measure of the ranking of labelled examples by some scores; ties stand as they come.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.0], [0.0]], [1, 0], ["q", "q"])
    >>> value_of(np.array([2.0, 1.0]), examples, "P@1"), value_of(np.array([1.0, 2.0]), examples, "P@1")
    (1.0, 0.0)
    """
    order, lengths = np.lexsort((-scores, examples.query)), examples.lengths
    pool, rank = Pool.of(examples.offsets, examples.labels), ragged.positions(lengths) + 1
    judged = JudgedRun(pool, examples.query, rank, examples.labels[order], order, lengths, Gains.of(gains))
    return overall(one_measure(measure), judged)


def with_labels(given: Examples) -> Examples:
    """The queries in which a document has a label; refused if there are none."""
    known = ragged.counts(given.judged, given.query, len(given.query_ids)) > 0
    if not known.any():
        raise InputError(
            "no document has a label",
            source=given.name,
            remedy="give some: the first number of a LETOR line, or a column called label",
        )
    return given if known.all() else given.of_queries(np.flatnonzero(known))


def check_labels_differ(given: Examples) -> None:
    """Refuse labels that are all the same."""
    labels = given.labels[given.judged]
    if labels.min() == labels.max():
        what = f"every label is {labels[0]:g}, so there is nothing to learn"
        raise InputError(what, source=given.name, remedy="give documents of at least two labels")
