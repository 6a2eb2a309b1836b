"""The truth of Niu et al. 2012: T, the ordered top k documents of a query, and F, the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.ragged import Floats
from ranksift.parameters import at_most, integer, number

#: How many documents may be the top: position labels are whole numbers, also as float32.
TOP = at_most(1_000_000, integer(1))


def topk_truth(examples: Examples, k: int, gains: GainsLike = "linear", seed: int = 0) -> Floats:
    """Position labels of every document: k for the first of its query, then k − 1, …, 1, and 0 from the (k+1)-th on.

    Documents are ordered by gain. Equal ones are put in a random order given by the seed, as Niu et al. 2012 do with
    graded labels; labels that already are an ordered top k do not change.

    Examples
    --------
    >>> examples = Examples.from_arrays([[0.0]] * 4, [0, 2, 0, 1], ["q"] * 4)
    >>> topk_truth(examples, k=2).tolist()
    [0.0, 2.0, 0.0, 1.0]
    """
    TOP.check("k", k, 10)
    chance = np.random.default_rng(seed).random(len(examples))
    order = np.lexsort((chance, -Gains.of(gains)(examples.labels), examples.query))
    truth = np.empty(len(examples))
    truth[order] = np.maximum(k - ragged.positions(examples.lengths), 0)
    return truth


#: What β may be.
SHARE = number(least=0, most=1)

#: What k means to methods that focus on the top.
OF_THE_TOP = """Documents of T. Labels of :func:`topk_labels` are their order; equal labels are put in one that the seed
draws."""

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
        SHARE.check("beta", beta, 0.5)
        return cls(examples, topk_truth(examples, k, gains, seed))

    @property
    def top(self) -> NDArray[np.bool_]:
        """Which documents are in T."""
        return self.truth > 0

    @property
    def ordered(self) -> Examples:
        """The documents of T, with their position labels."""
        return replace(self.examples, labels=np.where(self.top, self.truth, np.nan)).judged_only()
