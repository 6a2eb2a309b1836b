"""What texts show without labels: which query a document belongs to.

A cross-encoder begins without knowing how to read two texts beside each other. To tell the query of a document from
that of another list teaches it that, and what these texts are about, before the few labels are spent on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ranksift.collection.ragged import Ints
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.tokens import Tokenizer
from ranksift.learning.text.training import Fitted, TextLists, Training, fit

#: Documents of a step, each with two queries.
DOCUMENTS_PER_STEP = 48


def others(queries: Sequence[str], offsets: Ints, seed: int) -> Ints:
    """For each document another query that has documents, drawn at random; of two distinct texts at least.

    >>> others(["a car?", "", "a bank?", "a car?"], np.array([0, 2, 2, 3, 4]), seed=0).tolist()
    [2, 2, 3, 2]
    """
    counts = np.diff(offsets)
    there = np.flatnonzero(counts)
    _, text, alike = np.unique([queries[q] for q in there.tolist()], return_inverse=True, return_counts=True)
    in_order = there[np.argsort(text, kind="stable")]  # queries of one text stand together
    first = np.cumsum(alike) - alike
    own = np.repeat(text, counts[there])
    drawn = np.random.default_rng([seed, 2]).integers(0, len(there) - alike[own])
    return np.asarray(in_order[drawn + np.where(drawn >= first[own], alike[own], 0)])


def matching_lists(
    tokenizer: Tokenizer, queries: Sequence[str], docs: Sequence[str], offsets: Ints, *, max_length: int, seed: int
) -> TextLists:
    """Each document as a list of two: behind its own query, and behind one of another text, which there must be."""
    own = np.repeat(np.arange(len(queries)), np.diff(offsets))
    asked = np.stack([own, others(queries, offsets, seed)], axis=1).ravel()
    read = np.repeat(np.arange(len(docs)), 2)
    pairs = tokenizer.pairs(
        [queries[q] for q in asked.tolist()],
        [docs[d] for d in read.tolist()],
        np.arange(len(asked) + 1),
        max_length=max_length,
    )
    return TextLists(pairs, np.arange(0, len(asked) + 1, 2), np.tile([1.0, -1.0], len(docs)))


def match(network: TextNetwork, lists: TextLists, plan: Training, **options: Any) -> Fitted:
    """Train a network of one output on what :func:`matching_lists` gives, in one pass, with the rates of a plan.

    Options are those of :func:`~ranksift.learning.text.training.fit`: where it keeps its state, say.
    """
    own = replace(
        plan, loss="bce", epochs=1, batch_size=DOCUMENTS_PER_STEP, documents_per_query=None, patience=None, freeze=False
    )
    return fit(network, lists, own, **options)
