"""The truth of paper 5: T, the ordered top k documents of a query, and F, the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError


def topk_truth(examples: Examples, k: int, gains: GainsLike = "linear", seed: int = 0) -> Floats:
    """Position labels of every document: k for the first of its query, then k − 1, …, 1, and 0 from the (k+1)-th on.

    Documents are ordered by gain. Equal ones are put in an order drawn by the seed, as paper 5 does with graded labels;
    labels that are an ordered top k already stay as they are.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.0]] * 4, [0, 2, 0, 1], ["q"] * 4)
    >>> topk_truth(examples, k=2).tolist()
    [0.0, 2.0, 0.0, 1.0]
    """
    check_k(k)
    chance = np.random.default_rng(seed).random(len(examples))
    order = np.lexsort((chance, -Gains.of(gains)(examples.labels), examples.query))
    truth = np.empty(len(examples))
    truth[order] = np.maximum(k - ragged.positions(examples.lengths), 0)
    return truth


def check_k(k: int) -> None:
    """Refuse a k that is no number of documents."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k={k!r} is not a positive integer", remedy="use k=10")


#: The values of β that the paper tries.
BETAS = [round(0.05 * step, 2) for step in range(21)]


@dataclass(frozen=True, eq=False)
class Focus:
    """Position labels y of documents: k for the first of its query, then k - 1, …, 1 in T, and 0 in F.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.0]] * 3, [0, 2, 1], ["q"] * 3)
    >>> focus = Focus.on(examples, k=2, beta=0.5)
    >>> focus.truth.tolist(), focus.ordered.labels.tolist()
    ([0.0, 2.0, 1.0], [2.0, 1.0])
    """

    examples: Examples
    truth: Floats

    @classmethod
    def on(cls, examples: Examples, k: int, beta: float, gains: GainsLike = "linear", seed: int = 0) -> Focus:
        """The top k of every query; equal documents are put in an order that the seed draws."""
        check_focus(k, beta)
        return cls(examples, topk_truth(examples, k, gains, seed))

    @property
    def top(self) -> NDArray[np.bool_]:
        """Which documents are in T."""
        return self.truth > 0

    @property
    def ordered(self) -> Examples:
        """The documents of T, with their position labels."""
        return replace(self.examples, labels=np.where(self.top, self.truth, np.nan)).judged_only()


def check_focus(k: int, beta: float) -> None:
    """Refuse a k that is no number of documents, and a β that is no weight."""
    check_k(k)
    if not isinstance(beta, int | float | np.number) or not 0 <= beta <= 1:
        raise InputError(f"beta={beta!r} is not between 0 and 1", remedy="use beta=0.5")
