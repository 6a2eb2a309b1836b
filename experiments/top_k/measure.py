"""Everything fitted and judged: ``python -m experiments.top_k.measure``, about half an hour of one processor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments import experiment
from experiments.learning import Collection, Task, fits, in_parallel, mq2007
from experiments.top_k import EXPERIMENT
from experiments.top_k.fits import Learned, learned
from experiments.top_k.methods import candidates
from experiments.top_k.truths import DRAWN, GRADED, POOLED, K, chances
from ranksift.datasets import letor


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figure."""
    return {**told(data, learned(data)), "ranks": ranks(data)}


def told(data: Path, found: list[Learned]) -> dict[str, Any]:
    """The collections, and what was learned from each kind of labels."""
    by_truth = {
        truth.name: {one.collection.name: {**one.told(), **one.over_beta()} for one in found if one.truth is truth}
        for truth in (POOLED, DRAWN, GRADED)
    }
    graded = [one.collection for one in found if one.truth is GRADED]
    return {"collections": {one.name: described(data, one) for one in graded}, **by_truth}


def described(data: Path, collection: Collection) -> dict[str, Any]:
    """Counts of a collection, and how far the features say what documents of one label are ordered by."""
    whole = collection.whole
    top = np.maximum.reduceat(whole.labels, whole.offsets[:-1])
    return {
        "queries": len(whole.query_ids),
        "documents": len(whole),
        "features": len(whole.feature_names),
        "median list": np.median(whole.lengths),
        "short lists": (whole.lengths <= K).mean(),
        "nothing relevant": (top == 0).mean(),
        "correlation": _correlation(data, collection),
    }


def _correlation(data: Path, collection: Collection) -> float:
    whole, chance = collection.whole, chances(data, collection)
    mean = whole.features.mean(axis=1)
    found = []
    for start, end in zip(whole.offsets[:-1], whole.offsets[1:], strict=True):
        one, two = chance[start:end], mean[start:end]
        if np.ptp(one) > 0 and np.ptp(two) > 0:
            found.append(float(np.corrcoef(one, two)[0, 1]))
    return float(np.mean(found))


def ranks(data: Path) -> dict[str, float]:
    """NDCG@10 of RankSVM on the validation part of MQ2007's first fold, by what stands for ranks."""
    folds = letor.mq2007_agg(data / "letor4_mq2007_agg", 1), mq2007(data).folds[0]
    found = in_parallel(fits, [Task(fold, candidates("RankSVM", ())) for fold in folds])
    return dict(zip(("as they are", "logarithms"), (fit.value for (fit,) in found), strict=True))


if __name__ == "__main__":
    experiment.measure(EXPERIMENT)
