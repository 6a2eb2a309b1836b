"""The truth of paper 5: an ordered top k, and the rest."""

from __future__ import annotations

import numpy as np

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
    >>> examples = Examples.of_arrays([[0.0]] * 4, [0, 2, 0, 1], ["q"] * 4)
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
