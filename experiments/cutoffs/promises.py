"""What a fitted cut promised of other queries, and what other queries gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import ranksift as rs
from experiments.cutoffs.rules import DELTA, GLOBAL, RISK, whole
from experiments.markdown import between, number, paragraph, percent, says, table
from ranksift.collection.lists import Lists
from ranksift.cutoffs.candidates import Candidate
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.risk import forbidden_shown
from ranksift.cutoffs.threshold import Interval, one_measure

SEED = 0
#: Queries that rules are fitted on, and how often they are drawn.
SIZES, DRAWS = (25, 50, 100, 200, 400), 10

#: Values of a rule on other queries, by its name and by the queries that it was fitted on, draw by draw.
BySize = dict[str, dict[int, list[float]]]


@dataclass(frozen=True)
class Tuned:
    """The global cut, fitted on some queries and judged on others."""

    name: str
    measure: str
    threshold: float
    interval: Interval
    fitted: float
    expected: float  # cross-validated
    given: float  # on the others
    best_there: float  # the threshold that is best on the others
    hindsight: float  # and its value

    @classmethod
    def of(cls, name: str, measure: str, fitted_on: Lists, judged_on: Lists) -> Tuned:
        """Fit, ask what it promises, and see."""
        cut = rs.GlobalCutoff(measure).fit_lists(fitted_on)
        there = rs.GlobalCutoff(measure).fit_lists(judged_on)
        given = aggregate(one_measure(measure), judged_on, cut.keep_lists(judged_on))
        interval, expected = cut.interval(fitted_on, seed=SEED), cut.cross_validated(fitted_on, seed=SEED).value
        return cls(name, measure, cut.threshold_, interval, cut.value_, expected, given, there.threshold_, there.value_)

    @property
    def held(self) -> bool:
        """Whether the interval holds the threshold that is best on the others."""
        return self.interval.low <= self.best_there <= self.interval.high


@dataclass(frozen=True)
class Controlled:
    """A risk-controlled cut, fitted on some queries and judged on others."""

    name: str
    delta: float | None
    k: int
    fitted: float  # the risk on the queries that it was fitted on
    bound: float
    given: float  # on the others
    shown: float  # the risk there where everything is shown
    attainable: bool

    @classmethod
    def of(cls, name: str, k: int, delta: float | None, fitted_on: Lists, judged_on: Lists) -> Controlled:
        """Fit, and see."""
        cut = rs.RiskCutoff(RISK, delta, k).fit_lists(fitted_on)
        places = k * len(judged_on)
        kept = cut.keep_lists(judged_on)
        given, shown = (forbidden_shown(judged_on, mask, k) / places for mask in (kept, np.ones_like(kept)))
        return cls(name, delta, k, cut.risk_, cut.bound_, given, shown, cut.attainable_)


def controlled(name: str, k: int, fitted_on: Lists, judged_on: Lists) -> Iterator[Controlled]:
    """Both promises."""
    for delta in (None, DELTA):
        yield Controlled.of(name, k, delta, fitted_on, judged_on)


def by_size(lists: Lists, measure: str, rules: Mapping[str, Candidate]) -> BySize:
    """What rules that are fitted on so many queries give on all others, draw by draw."""
    draw = np.random.default_rng(SEED)
    found: BySize = {word: {n: [] for n in SIZES} for word in rules}
    judge = one_measure(measure)
    for _ in range(DRAWS):
        order = draw.permutation(len(lists))
        others = lists.of_queries(np.sort(order[SIZES[-1] :]))
        for n in SIZES:
            drawn = lists.of_queries(np.sort(order[:n]))
            for word, rule in rules.items():
                assert isinstance(rule, Cutoff)
                kept = rule.clone().fit_lists(drawn).keep_lists(others)
                found[word][n].append(aggregate(judge, others, kept))
    return found


# -- sections --------------------------------------------------------------------------------------------------------


def kept(tuned: Sequence[Tuned], risks: Sequence[Controlled], sizes: BySize, questions: int) -> str:
    """Section: promised and given."""
    rows = [
        [
            t.name,
            t.measure.replace("_qwa", "′"),
            _threshold(t.threshold),
            whole(f"{_threshold(t.interval.low)} to {_threshold(t.interval.high)}"),
            _threshold(t.best_there),
            *(number(v, 3) for v in (t.fitted, t.expected, t.given, t.hindsight)),
        ]
        for t in tuned
    ]
    head = [
        "scores",
        "measure",
        "threshold",
        "95 % interval",
        "best on test",
        "value on dev",
        "cross-validated",
        "value on test",
        "best value there",
    ]
    risk_rows = [
        [
            c.name,
            "on average" if c.delta is None else f"with probability {percent(1 - c.delta, 0)}",
            percent(c.fitted, 2),
            percent(c.bound, 2),
            percent(c.given, 2),
            percent(c.shown, 1),
        ]
        for c in risks
    ]
    risk_head = ["scores", f"risk of at most {percent(RISK, 0)}", "on dev", "bound", "on test", "on test, all shown"]
    curve = [
        [word, *(whole(f"{number(float(np.mean(found[n])), 3)} ± {number(float(np.std(found[n])), 3)}") for n in SIZES)]
        for word, found in sizes.items()
    ]
    return f"""
## What was promised, and what the test set gave

A fitted global cut says where its threshold would lie if other queries were drawn (a bootstrap interval), and
estimates its value on new queries (five-fold cross-validation, on dev alone). Beside it what the test set gave, and
the best threshold there, with hindsight:

{table(head, rows, words=2)}

{_tuned_in_words(tuned)}

![nDCG_f@3 against the threshold, on dev and on test](cutoffs-thresholds.svg)

The promise of risk, forbidden documents in the top 3 over 3, with cuts fitted on dev:

{table(risk_head, risk_rows, words=2)}

{_risks_in_words(risks)}

### How many labelled questions a cut needs

The forum's training questions, each scored by a model that has not seen it. Rules are fitted on n of them and judged on
{questions - SIZES[-1]:,} others; mean and deviation of nDCG_f@3 over {DRAWS} draws:

{table(["rule", *(f"n = {n}" for n in SIZES)], curve)}

![nDCG_f@3 on other questions against the number of questions that rules are fitted on](cutoffs-questions.svg)

{_sizes_in_words(sizes)}
"""


def _threshold(value: float) -> str:
    if np.isinf(value):
        return "−∞" if value < 0 else "∞"
    return number(value, 3)


def _tuned_in_words(tuned: Sequence[Tuned]) -> str:
    optimism = [t.fitted - t.given for t in tuned]
    honest = [t.expected - t.given for t in tuned]
    held = sum(t.held for t in tuned)
    spent = [t.hindsight - t.given for t in tuned]
    nearer = sum(abs(h) < abs(o) for h, o in zip(honest, optimism, strict=True))
    return paragraph(
        f"The value on dev is {between(optimism, sign=True)} off the test value, the cross-validated one "
        f"{between(honest, sign=True)}; it is the nearer one in {nearer} of {len(tuned)} rows.",
        says(
            max(honest) > 0.01,
            "Cross-validation cannot account for the difference between the two sets: on test more answers of "
            "the forum are forbidden "
            "and more questions of WikiQA have no answer than on dev.",
        ),
        f"The interval holds the threshold that is best on test in {held} of {len(tuned)} rows. That threshold would "
        f"have given {between(spent)} more.",
    )


def _risks_in_words(risks: Sequence[Controlled]) -> str:
    average = [c for c in risks if c.delta is None]
    sure = [c for c in risks if c.delta is not None]
    over = [c for c in average if c.given > RISK]
    failed = [c for c in sure if c.given > RISK]
    return paragraph(
        "The promise on average is about many samples of dev questions; with these it is "
        f"{between([100 * c.given for c in average], 1)} % on test, above {percent(RISK, 0)} for {len(over)} of "
        f"{len(average)}.",
        says(
            not failed,
            f"That with a probability is kept for all {len(sure)}.",
            f"That with a probability is kept for {len(sure) - len(failed)} of {len(sure)}, and else exceeded by "
            f"{number(100 * (max([c.given for c in failed] or [0]) - RISK), 3)} points.",
        ),
        "Both theorems take dev and test for draws from one source; WikiQA's test set has more questions without an "
        "answer than its dev set, which makes the promise harder to keep.",
        "Over many random splits, where the assumption holds, [the promises are kept](risk-control.md).",
    )


def _sizes_in_words(sizes: BySize) -> str:
    mean = {word: {n: float(np.mean(values)) for n, values in found.items()} for word, found in sizes.items()}
    first, last = SIZES[0], SIZES[-1]
    best = {n: max(mean, key=lambda word: mean[word][n]) for n in SIZES}
    enough = next(n for n in SIZES if mean[GLOBAL][n] >= mean[GLOBAL][last] - 0.005)
    return paragraph(
        f"From {enough} questions on the global cut is within 0.005 of what {last} give; with {first} it loses "
        f"{number(mean[GLOBAL][last] - mean[GLOBAL][first], 3)}.",
        f"With {first} questions {best[first]} is the best, with {last} {best[last]}.",
    )
