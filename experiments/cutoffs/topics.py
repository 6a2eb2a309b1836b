"""The web track's unfiltered Indri runs: cut on their own score, and on the verdict of a spam filter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ranksift as rs
from experiments.cutoffs.rules import GLOBAL, Outcome, few, paired, rules
from experiments.web_track.years import GAINS, Year
from ranksift.collection.lists import Lists
from ranksift.cutoffs.candidates import Candidate

Rules = Callable[[str, int], dict[str, Candidate]]

KS = (3, 10, 20)
YEARS = (2012, 2013)
FOLDS, SEED = 5, 0


class Track:
    """The runs of a year that there is a filtered version of; topics are split into folds.

    The filtered run is a part of the unfiltered one, so that it gives every document a second score: 1 where the spam
    filter left it in, 0 where not.
    """

    def __init__(self, data: Path, year: int) -> None:
        self.year = Year(data, year)
        self.pairs = dict(self.year.pairs)

    def lists(self, run: str, second: bool = False) -> Lists:
        """The judged documents of a run."""
        spam = self._verdicts(run) if second else None
        return Lists.from_run(self.year.qrels, self.year.runs[run], cut_scores=spam, gains=GAINS, unjudged="drop")

    def _verdicts(self, run: str) -> rs.Run:
        left = self.year.runs[self.pairs[run]].to_dict()
        every = self.year.runs[run].to_dict()
        return rs.read_run({t: {d: float(d in left.get(t, {})) for d in docs} for t, docs in every.items()})

    def settings(self) -> Iterator[dict[str, Any]]:
        """As results are kept: every rule on a run's own score, and the global cut on the second score.

        The second score has two values, so that rules have little to choose from. Its gain is over the best rule on the
        run's own.
        """
        for run in self.pairs:
            for k in KS:
                own, second = self._outcome(run, k, rules), self._outcome(run, k, few, second=True)
                gain = paired(second, GLOBAL, own, own.best)
                yield {"run": run, "k": k, "own": own.told("Empty"), "second": second.told(), **gain._asdict()}

    def _outcome(self, run: str, k: int, rules: Rules, second: bool = False) -> Outcome:
        return Outcome.of(self.lists(run, second), rules=rules(f"nDCG_f@{k}", k), k=k, folds=FOLDS, seed=SEED)
