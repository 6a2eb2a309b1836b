"""The rules that are compared, and what the comparison says of each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from experiments.cutoffs.model import Floats
from ranksift.collection.lists import Lists
from ranksift.cutoffs.candidates import Candidate, candidates
from ranksift.cutoffs.comparison import CutoffComparison
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.scores import Scores

#: A difference is significant at or below this, after Holm's correction over the rules of a table.
ALPHA = 0.05
#: How sure the second kind of promise is, and the risk that both allow.
RISK, DELTA = 0.05, 0.1
GLOBAL, SHOW_ALL, SHOW_NOTHING, ORACLE = "global", "rank-only", "filter-all", "oracle"
#: Rules with other parameters than their usual ones, by the names that they have here.
SHAPED, FOR_DCG, ZSCORE, ON_AVERAGE = (
    "expected-gain (shape)",
    "expected-gain (for DCG)",
    "normalized (zscore)",
    "risk (on average)",
)
#: What comes first in every table.
BASELINES = (SHOW_NOTHING, SHOW_ALL, "filter-only", GLOBAL)


def rules(measure: str, k: int, more: Mapping[str, Candidate] | None = None) -> dict[str, Candidate]:
    """The paper's baselines, every rule that RankSift has, some more, and the oracle."""
    known = candidates(None, one_measure(measure), k)
    oracle = known.pop(ORACLE)
    known |= {
        ZSCORE: rs.NormalizedCutoff(measure, by="zscore"),
        SHAPED: rs.ExpectedGainCutoff("shape", measure=measure),
        FOR_DCG: rs.ExpectedGainCutoff(),
        ON_AVERAGE: rs.RiskCutoff(RISK, None, k),
    }
    # A rule's variants stand below it.
    words = list(known)
    known = {word: known[word] for word in sorted(known, key=lambda word: words.index(word.split(" (")[0]))}
    return {**known, **(more or {}), ORACLE: oracle}


def few(measure: str, k: int) -> dict[str, Candidate]:
    """Everything, nothing, the global cut and the oracle."""
    every = rules(measure, k)
    return {word: every[word] for word in (SHOW_NOTHING, SHOW_ALL, GLOBAL, ORACLE)}


@dataclass(eq=False)
class Beside(Cutoff):
    """Keep documents by another number of theirs, of at least 0; it stands in the order of the input."""

    other: Floats

    def _learn(self, lists: Lists) -> None:
        pass

    def _kept(self, lists: Lists) -> NDArray[np.bool_]:
        return np.asarray(self.other[lists.row] >= 0)


class Difference(NamedTuple):
    """A rule less another one, by the measure that rules are compared by."""

    gain: float
    p: float  # paired t test, two-sided; against several rules, with Holm's correction
    won: int  # queries
    lost: int


class Outcome:
    """What a comparison says."""

    def __init__(self, found: CutoffComparison) -> None:
        self.found = found
        self.measure, self.k = found.measure, found.k

    @classmethod
    def of(cls, lists: Lists, **setting: Any) -> Outcome:
        """Compare rules; what they warn of, the page says."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            return cls(rs.compare_cutoffs(lists, **setting))

    @property
    def rules(self) -> tuple[str, ...]:
        """Every usable one."""
        return self.found.rules

    def value(self, rule: str, measure: str | None = None) -> float:
        """Of all queries."""
        return self.found.value(rule, measure)

    @cached_property
    def against_global(self) -> dict[str, Difference]:
        """Every other usable rule."""
        return self.against(GLOBAL)

    def against(self, baseline: str) -> dict[str, Difference]:
        """Every other usable rule less one of them."""
        one = _of_measure(self.found, self.rules)
        found = rs.compare(one, baseline=baseline, test="t", correction="holm")
        out = {}
        for i, (rule, _) in enumerate(found.pairs):
            numbers = (found.difference, found.corrected_p, found.wins, found.losses)
            mean, p, won, lost = (float(part[i, 0]) for part in numbers)
            out[rule] = Difference(mean, p, int(won), int(lost))
        return out

    @property
    def best(self) -> str:
        """The best usable rule; of those that are equal as they are written the global cut, or else the first."""
        return first_best(self.rules, self.value)

    @property
    def single(self) -> Outcome:
        """The same of queries that have a single document."""
        return Outcome(self.found.apart()["single-document queries"])

    def told(self, *measures: str) -> dict[str, Any]:
        """As results are kept: what each rule and the oracle give, and how rules differ from the global cut."""
        against = self.against_global
        return {
            "queries": len(self.found.scores.queries),
            "best": self.best,
            "rules": {
                rule: {
                    "value": self.value(rule),
                    **{measure: self.value(rule, measure) for measure in measures},
                    **(against[rule]._asdict() if rule in against else {}),
                }
                for rule in (*self.rules, ORACLE)
            },
        }


def first_best(words: Sequence[str], value: Callable[[str], float]) -> str:
    """The word of the highest value to four digits; the global cut goes first, filter-only is no candidate."""
    order = [GLOBAL, *(word for word in words if word not in (GLOBAL, "filter-only"))]
    return max(order, key=lambda word: round(value(word), 4))


def paired(one: Outcome, a: str, other: Outcome, b: str) -> Difference:
    """Two rules on different scores of the same queries: the first less the second."""
    values = np.stack([_of_measure(o.found, [rule]).values[0] for o, rule in ((one, a), (other, b))])
    stacked = Scores.from_array(values, runs=["a", "b"], queries=one.found.scores.queries, measures=[str(one.measure)])
    found = rs.compare(stacked, baseline="b", test="t", correction="none")
    numbers = (found.difference, found.p, found.wins, found.losses)
    mean, p, won, lost = (float(part[0, 0]) for part in numbers)
    return Difference(mean, p, int(won), int(lost))


def _of_measure(found: CutoffComparison, runs: Sequence[str]) -> Scores:
    """Some rules by the measure that they are compared by."""
    scores, column = found.scores, [found.scores.column(found.measure)]
    rows = [scores.row(run) for run in runs]
    numerators, denominators = (part[rows][:, :, column] for part in (scores.numerators, scores.denominators))
    return replace(
        scores, runs=tuple(runs), measures=(found.measure,), numerators=numerators, denominators=denominators
    )
