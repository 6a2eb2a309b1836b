"""The rules that are compared, and what the comparison says of each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from experiments.cutoffs.model import Floats
from experiments.markdown import number, probability, table
from ranksift.collection.lists import Lists
from ranksift.cutoffs.baselines import FilterOnly, Oracle
from ranksift.cutoffs.candidates import Candidate, candidates
from ranksift.cutoffs.comparison import CutoffComparison
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.rules import known_rules
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


@dataclass(frozen=True)
class Difference:
    """A rule less another one, by the measure that rules are compared by."""

    mean: float
    p: float  # paired t test, two-sided; against several rules, with Holm's correction
    won: int  # queries
    lost: int

    @property
    def sign(self) -> int:
        """Significantly better: 1, worse: −1, else 0."""
        return 0 if self.p > ALPHA else 1 if self.mean > 0 else -1

    @property
    def mark(self) -> str:
        """Of a number in a table."""
        return {1: " ▲", -1: " ▼", 0: ""}[self.sign]


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

    @property
    def queries(self) -> int:
        """How many queries the rules were judged on."""
        return len(self.found.scores.queries)

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

    def mark(self, rule: str) -> str:
        """Whether a rule is significantly better or worse than the global cut."""
        return self.against_global[rule].mark if rule in self.against_global else ""

    @property
    def better(self) -> list[str]:
        """Rules that are significantly better than the global cut."""
        return [rule for rule, d in self.against_global.items() if d.sign > 0]

    @property
    def best(self) -> str:
        """The best usable rule; of those that are equal as they are written the global cut, or else the first."""
        return first_best(self.rules, self.value)

    def only(self, which: Sequence[str]) -> CutoffComparison:
        """The comparison with some of the rules."""
        scores = self.found.scores
        rows = [scores.row(rule) for rule in which]
        numerators, denominators = scores.numerators[rows], scores.denominators[rows]
        some = replace(scores, runs=tuple(which), numerators=numerators, denominators=denominators)
        return replace(self.found, scores=some)

    @property
    def oracle(self) -> float:
        """The per-query oracle."""
        return self.value(ORACLE)

    def gap_closed(self, rule: str) -> float:
        """How much of the way from the better of all and nothing shown to the oracle a rule goes."""
        start = max(self.value(SHOW_ALL), self.value(SHOW_NOTHING))
        return (self.value(rule) - start) / (self.oracle - start)

    def table(self) -> str:
        """Carmel et al.'s columns for every rule, and the difference to the global cut."""
        k = self.k
        costs = {"F-docs, %": f"Fdocs@{k}", "good filtered, %": "GoodFiltered", "empty, %": "Empty"}
        best = max(number(self.value(rule)) for rule in self.rules)
        rows = []
        for rule in (*self.rules, ORACLE):
            value = number(self.value(rule))
            cells = [f"**{value}**" if rule != ORACLE and value == best else value]
            cells += [number(self.value(rule, f"{measure}@{k}"), 3) for measure in ("nDCG_0", "nDCG_min")]
            cells += [number(100 * self.value(rule, measure), 1) for measure in costs.values()]
            found = self.against_global.get(rule)
            cells += (
                ["", ""] if found is None else [number(found.mean, 4, sign=True) + found.mark, probability(found.p)]
            )
            rows.append([whole(cell) for cell in (rule, *cells)])
        return table(["rule", f"nDCG_f@{k}", "nDCG_0", "nDCG_min", *costs, "− global", "p"], rows)


def whole(cell: str) -> str:
    """A cell of a table that is not broken into lines, unless it is long."""
    return cell.replace(" ", "\N{NO-BREAK SPACE}") if len(cell) < 18 else cell


def first_best(words: Sequence[str], value: Callable[[str], float]) -> str:
    """The word of the highest value to four digits; the global cut goes first, filter-only is no candidate."""
    order = [GLOBAL, *(word for word in words if word not in (GLOBAL, "filter-only"))]
    return max(order, key=lambda word: round(value(word), 4))


def same_as_global(found: Outcome) -> list[str]:
    """Rules that give every query what the global cut gives it."""
    return [rule for rule, d in found.against_global.items() if d.won == d.lost == 0 and rule not in BASELINES]


def named(words: Sequence[str]) -> str:
    """Some rules in a sentence."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


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


def described() -> str:
    """What each rule does, in the words of its class."""
    known = {**known_rules(), "filter-only": FilterOnly, ORACLE: Oracle}
    known.pop("fixed", None)
    order = [*BASELINES, *(word for word in known if word not in (*BASELINES, ORACLE)), ORACLE]
    rows = [[word, _first_sentence(known[word])] for word in order]
    return table(["rule", "what it does"], rows, words=2)


def _first_sentence(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split("\n\n")[0].split())
