"""WikiQA: two systems' scores of sentences; most questions have no answer among them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import ranksift as rs
from experiments.cutoffs.rules import ORACLE, SHOW_NOTHING, Outcome, rules
from experiments.truncation.wikiqa import RANKERS
from ranksift.collection.lists import Lists
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.threshold import one_measure

FOLDER = "wikiqa"
K = 3
#: A sentence that is no answer costs what an answer gains.
GAINS: Mapping[float, float] = {0: -1}
#: What rules are fitted to, by its heading.
MEASURES = {
    f"nDCG_f@{K}": f"nDCG_f@{K}",
    "RR′": "RR_qwa",
    "nDCG′": "nDCG_qwa",
    "RBP′": "RBP_qwa(p=0.5)",
    "AP′": "AP_qwa",
}
#: c@1 is no mean of queries' own values, so that no rule is fitted to it; it is taken of those fitted to this one.
FITTED_FOR_C_AT_1 = "nDCG′"


class System:
    """One system's lists, and what each rule makes of them: fitted on dev, judged on test."""

    def __init__(self, data: Path, name: str) -> None:
        self.name = name
        self.dev, self.test = (
            Lists.from_run(
                rs.read_qrels(data / FOLDER / f"WikiQA-{split}.ref.gz"),
                rs.read_run(data / FOLDER / f"WikiQA.{name}.{split}.rank.gz"),
                gains=GAINS,
            )
            for split in ("dev", "test")
        )

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """By the heading of the measure."""
        return {heading: self._outcome(measure) for heading, measure in MEASURES.items()}

    def _outcome(self, measure: str) -> Outcome:
        return Outcome.of(self.dev, test=self.test, rules=rules(measure, K), measure=measure, k=K)

    @cached_property
    def c_at_1(self) -> dict[str, float]:
        """Of every usable rule that can be fitted to lists."""
        measure = one_measure("c_at_1")
        return {
            word: aggregate(measure, self.test, rule.clone().fit_lists(self.dev).keep_lists(self.test))
            for word, rule in rules(MEASURES[FITTED_FOR_C_AT_1], K).items()
            if isinstance(rule, Cutoff) and word != ORACLE
        }

    @property
    def nil(self) -> list[float]:
        """The share of questions without an answer, on dev and on test."""
        answers = (lists.pool.count(lambda label: label > 0) for lists in (self.dev, self.test))
        return [float((count == 0).mean()) for count in answers]

    def against_silence(self, heading: str) -> dict[str, Any]:
        """The best rule but silence, and its difference to silence."""
        against = self.outcomes[heading].against(SHOW_NOTHING)
        best = max(against, key=lambda rule: against[rule].gain)
        return {"rule": best, **against[best]._asdict()}

    def told(self) -> dict[str, Any]:
        """As results are kept."""
        return {
            "questions": {"dev": len(self.dev), "test": len(self.test)},
            "nil": self.nil,
            "measures": {heading: outcome.told("Empty") for heading, outcome in self.outcomes.items()},
            "against silence": {heading: self.against_silence(heading) for heading in self.outcomes},
            "c@1": self.c_at_1,
        }


def systems(data: Path) -> list[System]:
    """Both."""
    return [System(data, name) for name in RANKERS]
