"""What rankers learn from and are judged by: grades, or an ordered top 10 made of them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.learning import Collection
from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats
from ranksift.learning.topk import topk_truth

#: Documents of the ordered top, as in the paper.
K = 10
SEED = 0
#: The weights of the listwise part that are tried: the paper's steps, and few of them where no curve is drawn.
STEPS = tuple(round(0.05 * i, 2) for i in range(21))
FEW = (0.0, 0.25, 0.5, 0.75, 1.0)

#: Parts of each collection, in the order of the test sets of folds 1 to 5.
_PARTS = {
    "MQ2008": [f"letor4_mq2008/S{i}.txt.gz" for i in (5, 1, 2, 3, 4)],
    "MQ2007": [f"letor4_mq2007_agg/A{i}.txt.gz" for i in (5, 1, 2, 3, 4)],
}


@dataclass(frozen=True)
class Truth:
    """A kind of labels; ``betas`` are tried with it."""

    name: str
    labels: Callable[[Path, Collection], Floats]
    betas: tuple[float, ...]

    def of(self, data: Path, collection: Collection) -> Collection:
        """A collection with these labels."""
        return collection.with_labels(self.labels(data, collection))


def graded(data: Path, collection: Collection) -> Floats:
    """The labels as they are."""
    return collection.whole.labels


def drawn(data: Path, collection: Collection) -> Floats:
    """By label; documents of one label in an order that is drawn."""
    return topk_truth(collection.whole, K, seed=SEED)


def pooled(data: Path, collection: Collection) -> Floats:
    """By label; documents of one label by how likely TREC's sampling was to have them judged."""
    return ordered(collection.whole, chances(data, collection))


def ordered(examples: Examples, chance: Floats) -> Floats:
    """Position labels by label and then by chance.

    >>> examples = Examples.from_arrays([[0.0]] * 3, [0, 1, 1], ["q"] * 3)
    >>> ordered(examples, np.array([0.9, 0.2, 0.4])).tolist()
    [8.0, 9.0, 10.0]
    """
    order = np.lexsort((-chance, -examples.labels, examples.query))
    truth = np.empty(len(examples))
    truth[order] = np.maximum(K - ragged.positions(examples.lengths), 0)
    return truth


def chances(data: Path, collection: Collection) -> Floats:
    """The probability at the end of every line, which readers of features leave out."""
    files = [gzip.decompress((data / name).read_bytes()).decode() for name in _PARTS[collection.name]]
    found = [re.search(r"qid:(\S+).* prob = (\S+)", line) for file in files for line in file.splitlines()]
    queries, chance = zip(*(match.groups() for match in found if match), strict=True)
    whole = collection.whole
    if list(queries) != [whole.query_ids[q] for q in whole.query.tolist()]:
        raise ValueError(f"the lines of {collection.name} are not those of its folds")
    return np.array(chance, dtype=np.float64)


POOLED, DRAWN, GRADED = Truth("pooled", pooled, STEPS), Truth("drawn", drawn, FEW), Truth("graded", graded, STEPS)
TRUTHS = (POOLED, DRAWN, GRADED)
