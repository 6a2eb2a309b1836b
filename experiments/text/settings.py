"""What the rankers of texts learn from, and how they are set up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranksift.collection.examples import Examples, folds_of
from ranksift.collection.ragged import Ints
from ranksift.datasets.percqa import percqa_threads
from ranksift.datasets.semeval import semeval2015_threads, semeval2016_threads
from ranksift.datasets.thread_texts import thread_texts
from ranksift.datasets.threads import Thread, distinct_threads

THREADS, FORUM, PERCQA = "SemEval-2016 threads", "SemEval-2015 questions", "PerCQA"
COLLECTIONS = (THREADS, FORUM, PERCQA)

#: What is no answer is forbidden; the others have the gains 1 and 2.
GAINS: Mapping[float, float] = {-1.0: -10.0}

FOLDS = 5
#: Two folds that networks do not see: what they say of one tunes or trains what is judged on the other.
PAIRS = tuple(combinations(range(FOLDS), 2))

# Persian in a tokenizer made for English: about a token for each letter.
MAX_LENGTH = {THREADS: 256, FORUM: 256, PERCQA: 128}

# An answer of fewer letters can be in two threads by chance.
_LETTERS = 25
_BEGINNING = 60


class Collection(NamedTuple):
    """Threads with their folds; ``more`` are those of another year, which are never judged."""

    name: str
    threads: tuple[Thread, ...]
    examples: Examples
    fold: Ints
    more: Examples | None


@lru_cache
def collection(name: str, folder: Path) -> Collection:
    """Threads without copies; those that were found for one question are in one fold."""
    if name == THREADS:
        threads = distinct_threads(semeval2016_threads(folder / "semeval2016_task3_cqa"))
        more = thread_texts(others(_questions(folder), threads))
    else:
        threads, more = _questions(folder) if name == FORUM else _persian(folder), None
    groups = sorted({thread.group for thread in threads})
    fold_of = dict(zip(groups, folds_of(len(groups), FOLDS, seed=0).tolist(), strict=True))
    fold = np.array([fold_of[thread.group] for thread in threads])
    return Collection(name, tuple(threads), thread_texts(threads), fold, more)


def _questions(folder: Path) -> list[Thread]:
    parts = (semeval2015_threads(folder / "semeval2015_task3_cqa", part) for part in ("devel", "test"))
    return distinct_threads(thread for part in parts for thread in part)


def _persian(folder: Path) -> list[Thread]:
    return distinct_threads(percqa_threads(folder / "percqa"))


def others(threads: list[Thread], known: list[Thread]) -> list[Thread]:
    """Threads that share neither a question nor an answer of some length with those that are known.

    >>> from ranksift.datasets import Answer
    >>> threads = [Thread("1", "A car?", (Answer("a", "Try Oasis"),)), Thread("2", "A bank?", (Answer("a", "No"),))]
    >>> [thread.id for thread in others(threads, [Thread("3", "A CAR?", (Answer("a", "Why?"),))])]
    ['2']
    """
    asked = {_beginning(thread) for thread in known}
    said = {answer.text.strip() for thread in known for answer in thread.answers if len(answer.text) > _LETTERS}
    return [
        thread
        for thread in threads
        if _beginning(thread) not in asked and not any(answer.text.strip() in said for answer in thread.answers)
    ]


def _beginning(thread: Thread) -> str:
    return thread.question.strip().casefold()[:_BEGINNING]


class Setup(NamedTuple):
    """A network: its parameters, whether it learns from the other year's threads too, and its seeds."""

    options: Mapping[str, Any]
    more: bool = False
    seeds: int = 3


#: The paper's way: three documents of each query in a step.
LOSSES = ("bce", "mse", "ordinal", "weighted_ordinal", "lambdarank", "lambdarank_bce", "lambdarank_f", "expected_share")
_OF_THE_TABLE = {
    "context": False,
    "documents_per_query": 3,
    "batch_size": 16,
    "epochs": 4,
    "learning_rate": 6e-5,
    "layer_decay": 1.0,
}

# Whole lists, as learning from few threads needs them.
_WHOLE = {"documents_per_query": None, "batch_size": 8}
_PLAIN = {**_WHOLE, "context": False, "learning_rate": 6e-5, "epochs": 3, "layer_decay": 1.0}
_CONTEXT = {**_PLAIN, "context": True, "neighbours": True}
_OURS = {**_WHOLE, "neighbours": False, "learning_rate": 1.2e-4, "epochs": 4, "layer_decay": 0.8, "matching": True}

PLAIN, CONTEXT, PLACE, NEIGHBOURS = (
    "question + answer",
    "with the list",
    "matched, with the place",
    "matched, with the list",
)
ABLATED = ("without matching", "without the other year")

#: Networks of whole lists on each collection, what matters most first.
SETUPS: Mapping[str, Mapping[str, Setup]] = {
    THREADS: {
        PLAIN: Setup(_PLAIN),
        CONTEXT: Setup(_CONTEXT),
        PLACE: Setup(_OURS, more=True),
        NEIGHBOURS: Setup({**_OURS, "neighbours": True}, more=True),
        ABLATED[0]: Setup({**_OURS, "matching": False}, more=True, seeds=1),
        ABLATED[1]: Setup(_OURS, seeds=1),
    },
    FORUM: {
        PLAIN: Setup(_PLAIN, seeds=2),
        CONTEXT: Setup(_CONTEXT, seeds=2),
        PLACE: Setup(_OURS, seeds=2),
        ABLATED[0]: Setup({**_OURS, "matching": False}, seeds=2),
    },
    PERCQA: {
        PLAIN: Setup({**_PLAIN, "documents_per_query": 8}, seeds=1),
        CONTEXT: Setup({**_CONTEXT, "documents_per_query": 8}, seeds=1),
        PLACE: Setup({**_OURS, "documents_per_query": 8}, seeds=1),
        ABLATED[0]: Setup({**_OURS, "matching": False, "documents_per_query": 8}, seeds=1),
    },
}

#: A cross-encoder of sentence-transformers, by its own training loop.
PEER = "sentence-transformers CrossEncoder"
PEER_SEEDS = 2
TABLE_SEEDS = 3


FILTER_ALL, RANK_ONLY, FILTER_ONLY = "filter-all", "rank-only (ordinal)", "filter-only (BCE)"
BASELINES = (FILTER_ALL, RANK_ONLY, FILTER_ONLY)

#: Shares of labels that may be wrong.
NOISE = (0.02, 0.05, 0.1, 0.15, 0.2)

#: Shares of the good documents hidden, and of all documents shown, at which curves have a point.
HIDDEN = tuple(round(0.05 * step, 2) for step in range(21))

JOINT, OPTIMAL = "LambdaMART-f", "optimal rule"
ALONE, RECIPES, OURS, EVERY = "features alone", "question + answer, with the list", "matched", "all four"
PEER_ALONE, PEER_AVERAGED = f"{PEER}, best cut", f"{PEER}, folds averaged, best cut"
PEER_STACKED, PEER_TREES = "LightGBM, its outputs + features, best cut", "LightGBM, features, best cut"

#: Text columns of each stack, on each collection.
STACKED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    THREADS: {
        ALONE: (),
        RECIPES: (PLAIN, CONTEXT),
        OURS: (PLACE, NEIGHBOURS),
        EVERY: (PLAIN, CONTEXT, PLACE, NEIGHBOURS),
    },
    FORUM: {
        ALONE: (),
        RECIPES: (PLAIN, CONTEXT),
        OURS: (PLACE, ABLATED[0]),
        EVERY: (PLAIN, CONTEXT, PLACE, ABLATED[0]),
    },
    PERCQA: {
        ALONE: (),
        RECIPES: (PLAIN, CONTEXT),
        OURS: (PLACE, ABLATED[0]),
        EVERY: (PLAIN, CONTEXT, PLACE, ABLATED[0]),
    },
}
STACK_SEEDS = {THREADS: 3, FORUM: 3, PERCQA: 1}


class Task(NamedTuple):
    """A network that is to be fitted without two folds, and then says something of their documents."""

    data: str
    name: str
    seed: int
    unseen: tuple[int, int]

    @property
    def key(self) -> str:
        """Under which its outputs are kept."""
        return f"{self.name}|{self.seed}|{self.unseen[0]}{self.unseen[1]}"


def tasks() -> Iterator[Task]:
    """All of them; if time runs out, the last ones matter least."""
    table = [(fold, (fold + 1) % FOLDS) for fold in range(FOLDS)]
    most = max(setup.seeds for of_data in SETUPS.values() for setup in of_data.values())
    for seed in range(max(most, TABLE_SEEDS)):
        for data in COLLECTIONS:
            for name, setup in SETUPS[data].items():
                if seed < setup.seeds:
                    yield from (Task(data, name, seed, pair) for pair in PAIRS)
            if data == THREADS and seed < PEER_SEEDS:
                yield from (Task(data, PEER, seed, pair) for pair in PAIRS)
            if seed < TABLE_SEEDS:
                yield from (Task(data, loss, seed, pair) for loss in LOSSES for pair in table)


def options_of(task: Task) -> dict[str, Any]:
    """Parameters of the network of a task."""
    if task.name in LOSSES:
        own: Mapping[str, Any] = {**_OF_THE_TABLE, "loss": task.name}
    else:
        own = SETUPS[task.data][task.name].options
    return {**own, "seed": task.seed, "gains": GAINS, "max_length": MAX_LENGTH[task.data]}
