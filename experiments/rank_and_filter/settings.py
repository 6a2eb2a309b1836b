"""What the rankers learn from and are judged on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from experiments.learning import mq2007, mq2008
from experiments.rank_and_filter.made_up import LABELS as MADE_UP_LABELS
from experiments.rank_and_filter.made_up import made_up
from ranksift.collection.examples import Examples, Fold, read_examples, together
from ranksift.collection.ragged import Floats
from ranksift.datasets.percqa import percqa_threads
from ranksift.datasets.reviews import GAINS as REVIEW_GAINS
from ranksift.datasets.reviews import LABELS as REVIEW_LABELS
from ranksift.datasets.reviews import product_reviews
from ranksift.datasets.semeval import semeval2015, semeval2016_threads
from ranksift.datasets.simple_features import thread_features
from ranksift.datasets.threads import Thread, distinct_threads
from ranksift.learning.validation import three_way

FORUM, REVIEWS, MQ2008, MQ2007, MSLR = "forum, test", "product reviews", "MQ2008", "MQ2007", "MSLR"
THREADS, PERCQA = "SemEval-2016 threads", "PerCQA"
#: Documents of a list, and how many lists there are to learn from, for validation and for the test.
MADE_UP = {3: (1500, 500, 12_000), 10: (600, 200, 8_000), 50: (200, 70, 4_000), 300: (60, 30, 1_000)}
LONG = {length: f"synthetic lists of {length}" for length in MADE_UP}

#: Products to learn from, for validation and for the test.
PRODUCTS = (1000, 250, 3000)

FORBIDDEN: Mapping[float, float] = {-1.0: -10.0}
WEB: Mapping[str, Mapping[float, float]] = {", label 0 at −2": {0.0: -2.0}, ", label 0 at −10": {0.0: -10.0}}

#: Seeds of each source of data. Where queries are few, more of them make the noise of fitting less.
SEEDS = {
    **dict.fromkeys((FORUM, THREADS, LONG[300]), 10),
    REVIEWS: 5,
    **dict.fromkeys((MQ2008, MQ2007, MSLR, PERCQA, LONG[3], LONG[10], LONG[50]), 3),
}


class Made(Protocol):
    """Examples that were made up."""

    @property
    def examples(self) -> Examples: ...


class Setting(NamedTuple):
    """Data, and what its labels are worth; one with few queries is shown, but does not count."""

    name: str
    data: str
    gains: Mapping[float, float]
    counts: bool = True


SETTINGS: tuple[Setting, ...] = (
    Setting(FORUM, FORUM, FORBIDDEN),
    Setting(REVIEWS, REVIEWS, REVIEW_GAINS),
    *(
        Setting(f"{name}{at}", name, gains, name != MSLR)
        for name in (MQ2008, MQ2007, MSLR)
        for at, gains in WEB.items()
    ),
    Setting(THREADS, THREADS, FORBIDDEN),
    Setting(PERCQA, PERCQA, FORBIDDEN),
    *(Setting(name, name, FORBIDDEN) for name in LONG.values()),
)


@dataclass(frozen=True, eq=False)
class Data:
    """Folds to learn from and be judged on; where the chances of the test's labels are known, labels and chances."""

    folds: tuple[Fold, ...]
    labels: Floats | None = None
    chances: Floats | None = None

    @property
    def test(self) -> Examples:
        """All queries that rankers are judged on."""
        return together([fold.test for fold in self.folds])


@lru_cache(maxsize=4)
def data_of(name: str, seed: int, folder: Path) -> Data:
    """What is made up is drawn anew for each seed, but for the test; threads are put into other folds."""
    if name == FORUM:
        return Data((semeval2015(folder / "semeval2015_task3_cqa"),))
    if name == REVIEWS:
        parts = [product_reviews(n, seed=s) for n, s in zip(PRODUCTS, (1000 + seed, 2000 + seed, 0), strict=True)]
        return Data((_fold(parts),), np.array(REVIEW_LABELS), parts[-1].chances)
    if name == MQ2008:
        return Data(mq2008(folder).folds)
    if name == MQ2007:
        return Data(mq2007(folder).folds)
    if name == MSLR:
        files = (folder / "mslr_web30k_fold1_5k" / f"msn1.fold1.{part}.5k.txt.gz" for part in ("train", "test"))
        given, test = map(read_examples, files)
        return Data((Fold(*given.split(0.8, seed), test),))
    if name == THREADS:
        return _in_folds(distinct_threads(semeval2016_threads(folder / "semeval2016_task3_cqa")), seed)
    if name == PERCQA:
        return _in_folds(distinct_threads(percqa_threads(folder / "percqa")), seed)
    length = next(length for length, own in LONG.items() if own == name)
    made = [made_up(n, length, s) for n, s in zip(MADE_UP[length], (100 + seed, 200 + seed, 0), strict=True)]
    return Data((_fold(made),), MADE_UP_LABELS, made[-1].chances)


def _fold(made: Sequence[Made]) -> Fold:
    """What is made up has the queries 0, 1, 2 and so on each time; those of validation get other names."""
    train, validation, test = (part.examples for part in made)
    names = tuple(f"validation {name}" for name in validation.query_ids)
    return Fold(train, replace(validation, query_ids=names), test)


def _in_folds(threads: list[Thread], seed: int) -> Data:
    """Threads that were found for one original question stay in one fold."""
    groups = {thread.id: thread.group for thread in threads}
    return Data(tuple(three_way(thread_features(threads), 5, seed, groups=groups)))
