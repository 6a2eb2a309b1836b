"""Every system, scored by measures that do not see where a list ends and by those that do."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from experiments.truncation.cuts import NIL, Family, System, systems
from experiments.truncation.wikiqa import Floats, Ints, Questions
from ranksift import study

#: The paper's measures; RBP has p = 0.5.
MEASURES = ("RR", "nDCG", "RBP", "AP")
#: The measure as it is used where nobody says NIL, after TREC 2001's NIL rule, and as the paper modifies it; nDCG
#: after TREC 2001's rule, to the depth of each list.
PLAIN, ORIGINAL, MODIFIED, OWN_DEPTH = "plain", "original", "modified", "own depth"
CORRECT = f'c_at_1(nil="{NIL}")'
#: Sakai's Q-measure; labels are 0 and 1.
Q = "Q"


class Setting:
    """The systems' lists of one split, at most ``limit`` long, and what they score."""

    def __init__(self, questions: Questions, dev: Questions, limit: int | None) -> None:
        self.questions, self.limit = questions, limit
        self.systems: dict[str, System] = systems(questions, dev, limit)
        runs = {name: system.lists for name, system in self.systems.items()}
        self.found = study.truncation(questions.qrels, runs, nil=NIL, limit=limit)
        #: Name of each measure, as it is modified.
        self.pairs = [(m, modified) for m, (_, modified) in zip(MEASURES, self.found.pairs, strict=True)]
        plain = ["RR", "nDCG" if limit is None else f"nDCG@{limit}", "RBP(p=0.5)", "AP"]
        scores = rs.evaluate(questions.qrels, runs, [*plain, CORRECT, f'Q(nil="{NIL}")'])
        self._values = {
            (PLAIN, m): scores.values[:, :, scores.column(name)] for m, name in zip(MEASURES, plain, strict=True)
        }
        for m, pair in zip(MEASURES, self.found.pairs, strict=True):
            for kind, name in zip((ORIGINAL, MODIFIED), pair, strict=True):
                self._values[kind, m] = self.found.scores.values[:, :, self.found.scores.column(name)]
        self._values[PLAIN, CORRECT] = scores.values[:, :, scores.column(CORRECT)]
        self._values[ORIGINAL, Q] = scores.values[:, :, -1]
        if limit is not None:
            by_depth = rs.evaluate(
                questions.qrels, runs, [f'nDCG(nil="{NIL}")@{k}' for k in range(1, limit + 1)]
            ).values
            depth = self.found.before[:, :, None]
            self._values[OWN_DEPTH, "nDCG"] = np.take_along_axis(by_depth, depth - 1, axis=2)[:, :, 0]

    @property
    def names(self) -> list[str]:
        """The systems."""
        return list(self.systems)

    def by_question(self, kind: str, measure: str) -> Floats:
        """Values, systems × questions."""
        return self._values[kind, measure]

    def means(self, kind: str, measure: str) -> Floats:
        """Each system's score."""
        return self._values[kind, measure].mean(axis=1)

    def mean(self, kind: str, measure: str, system: str) -> float:
        """One system's score."""
        return float(self.means(kind, measure)[self.names.index(system)])

    def of(self, *families: Family) -> NDArray[np.bool_]:
        """Which systems are of some families."""
        return np.array([system.family in families for system in self.systems.values()])

    def by(self, ranker: str) -> NDArray[np.bool_]:
        """Which systems have the order of a ranker."""
        return np.array([system.ranker == ranker for system in self.systems.values()])

    @property
    def honest(self) -> NDArray[np.bool_]:
        """Systems that end their lists where they say NIL."""
        return ~self.of("hedge")

    def best(self, kind: str, measure: str, among: NDArray[np.bool_] | None = None) -> int:
        """The number of the best system, of all or of some."""
        means = self.means(kind, measure)
        return int((means if among is None else np.where(among, means, -np.inf)).argmax())

    @cached_property
    def lengths(self) -> Ints:
        """Sentences shown, systems × questions: those before NIL."""
        return self.found.after

    @cached_property
    def empty(self) -> Floats:
        """The share of each system's lists that show nothing."""
        return (self.lengths == 0).mean(axis=1)

    @cached_property
    def shown(self) -> Floats:
        """Sentences shown a question, for each system."""
        return self.lengths.mean(axis=1)
