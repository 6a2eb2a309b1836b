"""WikiQA: two systems' scores of sentences; most questions have no answer among them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import ranksift as rs
from experiments.cutoffs.rules import ORACLE, SHOW_ALL, SHOW_NOTHING, Difference, Outcome, named, rules, whole
from experiments.markdown import between, number, paragraph, percent, probability, says, table
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
    def nil(self) -> float:
        """The share of test questions without an answer."""
        return float((self.test.pool.count(lambda label: label > 0) == 0).mean())

    def against_silence(self, heading: str) -> tuple[str, Difference]:
        """The best rule but silence, and its difference to silence."""
        against = self.outcomes[heading].against(SHOW_NOTHING)
        best = max(against, key=lambda rule: against[rule].mean)
        return best, against[best]


def systems(data: Path) -> list[System]:
    """Both."""
    return [System(data, name) for name in RANKERS]


def wikiqa(found: list[System]) -> str:
    """Section: fitted on dev, judged on test."""
    first = found[0]
    tables = "\n\n".join(f"**{system.name}**\n\n{_table(system)}" for system in found)
    return f"""
## Sentences that may answer a question

WikiQA's questions come with sentences, some of which answer them; of the {len(first.test):,} test questions
{percent(first.nil, 0)} have no answer at all. Two systems of the corpus's authors score every sentence. A rule that
drops low scores stops each list in time, or never begins it: Liu et al.'s quitting while ahead, made automatic. A
sentence that is no answer is forbidden, with gain −1, for nDCG_f and for the promise of risk; RR′, nDCG′, RBP′
(p = 0.5) and AP′ are the truncation-aware measures, in which it is merely useless. In each column rules are fitted to
that measure on the {len(first.dev):,} dev questions, and judged by it on test. c@1 is taken of the rules that are
fitted to {FITTED_FOR_C_AT_1}: it is not a mean of values per query, and no rule is fitted to it. `expected-gain` does
not know the four primed measures, and counts all documents the same there.

{tables}

{_in_words(found)}
"""


def _table(system: System) -> str:
    found = system.outcomes
    every = next(iter(found.values())).rules
    best = {h: max(number(o.value(rule), 3) for rule in o.rules) for h, o in found.items()}
    rows = []
    for rule in (*every, ORACLE):
        cells = []
        for heading, o in found.items():
            cell = number(o.value(rule), 3)
            bold = rule != ORACLE and cell == best[heading]
            cells.append((f"**{cell}**" if bold else cell) + o.mark(rule))
        correct = number(system.c_at_1[rule], 3) if rule in system.c_at_1 else ""
        empty = [number(100 * found[h].value(rule, "Empty"), 0) for h in (f"nDCG_f@{K}", "nDCG′")]
        rows.append([whole(cell) for cell in (rule, *cells, correct, *empty)])
    return table(["rule", *found, "c@1", f"empty, nDCG_f@{K}, %", "empty, nDCG′, %"], rows)


def _in_words(found: list[System]) -> str:
    modified = [h for h in MEASURES if h.endswith("′")]
    against = {(s.name, h): s.against_silence(h) for s in found for h in MEASURES}
    sure = {key: d for key, (_, d) in against.items() if d.mean > 0 and d.p <= 0.05}
    ahead = {key: (rule, d) for key, (rule, d) in against.items() if key[1] in modified and d.mean > 0}
    most = max(ahead, key=lambda key: ahead[key][1].mean) if ahead else None
    winners = {s.name: [rule for rule in s.outcomes[f"nDCG_f@{K}"].better if rule != SHOW_NOTHING] for s in found}
    gaps = [o.oracle - max(o.value(r) for r in o.rules) for s in found for o in s.outcomes.values()]
    losses = [s.outcomes[h].value(SHOW_NOTHING) - s.outcomes[h].value(SHOW_ALL) for s in found for h in MEASURES]
    correct = {s.name: (s.c_at_1[SHOW_ALL], max(s.c_at_1.values())) for s in found}
    return paragraph(
        says(
            min(losses) > 0, "Showing everything is worse than showing nothing, for both systems and by all measures."
        ),
        says(
            not sure,
            "And no rule is significantly better than silence, by any of them (Holm's correction over the rules).",
            f"Significantly better than silence: {named([f'{name} by {h}' for name, h in sure])}.",
        ),
        ""
        if most is None
        else f"The farthest ahead of it is {ahead[most][0]} on {most[0]}, by {most[1]}: "
        f"{number(ahead[most][1].mean, 4, sign=True)} (p = {probability(ahead[most][1].p)}).",
        *(
            f"On {name} {named(rules_)} {'is' if len(rules_) == 1 else 'are'} significantly better than the global cut "
            f"by nDCG_f@{K}, as silence is: the cut that was best on dev shows a little too much on test."
            for name, rules_ in winners.items()
            if rules_
        ),
        f"The oracle is {between(gaps)} above the best rule. Whether a question has an answer is what would have to be "
        "known, and [these scores hardly show it](quit-while-ahead.md).",
        says(
            all(best < first + 0.01 for first, best in correct.values()),
            "c@1 asks for answers and not for silence where there is none: no rule is more than 0.01 above showing "
            "everything.",
        ),
    )
