"""WikiQA: questions, most of them without an answer among their sentences, and two systems that score each sentence."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import ranksift as rs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The two systems of the corpus's authors.
RANKERS = ("CNN", "CNN-Cnt")


class Questions:
    """The questions of one split, with each system's scores."""

    def __init__(self, data: Path, split: Literal["dev", "test"]) -> None:
        folder = data / "wikiqa"
        self.qrels = rs.read_qrels(folder / f"WikiQA-{split}.ref.gz")
        runs = {name: rs.read_run(folder / f"WikiQA.{name}.{split}.rank.gz", name=name) for name in RANKERS}
        #: For each system and question the sentences with their scores, best first.
        self.rankings = {name: run.to_dict() for name, run in runs.items()}

    def judged_by(self, labels: Mapping[str, Mapping[str, float]]) -> Questions:
        """The same questions with other judgments."""
        other = copy(self)
        other.__dict__.pop("answers", None)
        other.qrels = rs.read_qrels(labels)
        return other

    @property
    def ids(self) -> tuple[str, ...]:
        """The questions."""
        return self.qrels.query_ids

    @cached_property
    def answers(self) -> Ints:
        """The number of answers of each question."""
        return self.qrels.pool.count(lambda label: label > 0)

    @property
    def nil(self) -> NDArray[np.bool_]:
        """Which questions have no answer."""
        return self.answers == 0

    @property
    def candidates(self) -> Ints:
        """The number of sentences of each question."""
        return self.qrels.pool.size

    def scores(self, ranker: str) -> Floats:
        """Every score that a system gives."""
        return np.array([score for ranking in self.rankings[ranker].values() for score in ranking.values()])

    def top_scores(self, ranker: str) -> Floats:
        """The highest score of each question."""
        return np.array([max(self.rankings[ranker][question].values()) for question in self.ids])

    def top_is_right(self, ranker: str) -> NDArray[np.bool_]:
        """Where the sentence of the highest score answers the question."""
        labels = self.qrels.to_dict()
        return np.array([labels[q][next(iter(self.rankings[ranker][q]))] > 0 for q in self.ids])
