"""Queries of MQ2008 with enough documents, and the hidden utility of each document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.learning import Collection, mq2008
from experiments.top_k.truths import chances
from ranksift.collection.examples import Examples, Fold
from ranksift.collection.ragged import Floats
from ranksift.labelling.study import DOCUMENTS, QUERIES

SEED = 0
FOLDS = 5


def documents(data: Path) -> tuple[Examples, Floats]:
    """50 queries × 50 documents with their features and labels, and the utilities: label + sampling probability.

    The probability is below 1, so that the order is by label and then by how likely TREC was to have the document
    judged: the pooled order of the page on learning from an ordered top 10.
    """
    collection = mq2008(data)
    whole, chance = collection.whole, chances(data, collection)
    random = np.random.default_rng(SEED)
    rows = []
    for query in np.flatnonzero(whole.lengths >= DOCUMENTS).tolist():
        own = np.arange(whole.offsets[query], whole.offsets[query + 1])
        own = np.sort(random.permutation(own)[:DOCUMENTS])
        if whole.labels[own].max() > 0:
            rows.append(own)
    chosen = sorted(random.permutation(len(rows))[:QUERIES].tolist())
    kept = np.concatenate([rows[i] for i in chosen])
    examples = Examples.from_arrays(
        whole.features[kept],
        whole.labels[kept],
        [whole.query_ids[q] for q in whole.query[kept].tolist()],
        docs=[whole.docs[row] for row in kept.tolist()],
        name="MQ2008, 50 × 50",
    )
    return examples, whole.labels[kept] + chance[kept]


def by_query(examples: Examples, values: Floats) -> dict[str, dict[str, float]]:
    """Numbers of documents by query and id."""
    found: dict[str, dict[str, float]] = {query: {} for query in examples.query_ids}
    for query, doc, value in zip(examples.query.tolist(), examples.docs, values.tolist(), strict=True):
        found[examples.query_ids[query]][doc] = value
    return found


def in_folds(examples: Examples, labels: dict[str, dict[str, float]], name: str) -> Collection:
    """The documents with labels, in five folds: three parts to learn from, one to tune on and one to be judged on."""
    values = [labels[examples.query_ids[q]][doc] for q, doc in zip(examples.query.tolist(), examples.docs, strict=True)]
    labelled = replace(examples, labels=np.array(values, dtype=np.float64))
    parts = [np.flatnonzero(np.arange(len(examples.query_ids)) % FOLDS == i) for i in range(FOLDS)]
    folds = []
    for i in range(FOLDS):
        learned = np.sort(np.concatenate([parts[(i + j) % FOLDS] for j in (2, 3, 4)]))
        folds.append(Fold(*map(labelled.of_queries, (learned, parts[(i + 1) % FOLDS], parts[i]))))
    return Collection(name, tuple(folds))
