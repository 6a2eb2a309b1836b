"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.markdown import between, bullets, number, page, percent, says, table
from experiments.risk import figures
from experiments.risk.collections import NEEDS as NEEDS
from experiments.risk.collections import TRAINED_ON, collections
from experiments.risk.halves import HeldOut, held_out
from experiments.risk.populations import QUERIES, SEED, Population, made_up
from experiments.risk.rules import BETTING, HB, MEAN, NAMES, PLUG_IN, Rule, rules
from experiments.risk.trials import (
    ALPHA,
    ALPHAS,
    DELTA,
    DELTAS,
    IN_ALL_SETTINGS,
    SAMPLES,
    SIZES,
    Outcome,
    Trials,
    all_trials,
    outcomes,
)
from ranksift.cutoffs.p_values import fewest_queries

BOUNDS = (BETTING, HB)
FIRST = "first place"

#: What is made up, in words.
WORDS = {
    "spread": "forbidden documents score lower, with overlap",
    "five grades": "the same, scores rounded to five values: ties everywhere",
    "rare, on top": "one document in twenty is forbidden, and scores higher than the good",
    "clustered": "every tenth query has forbidden documents nearly alone, at only slightly lower scores",
    "short lists": "mostly one or two documents a query",
    "uninformative": "scores are drawn without regard to the labels",
    "two scores": "one score ranks, at random; another one drops",
    FIRST: "only the first document counts",
}


@dataclass(frozen=True)
class Collection:
    """What happened to real queries."""

    population: Population
    alpha: float
    drawn: dict[Rule, Outcome]
    halves: dict[Rule, HeldOut]


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    populations = made_up()
    trials = all_trials(populations)
    real = on_collections(data)
    text = page(
        OPENING,
        in_short(trials, real),
        the_populations(populations),
        the_promise(trials),
        on_average(trials),
        the_price(trials, populations),
        how_many_queries(),
        real_queries(real),
        LIMITS,
        figure="risk-control-broken.svg",
        fold=True,
    )
    return {
        "risk-control.md": text,
        "risk-control-broken.svg": figures.broken(trials, populations),
        "risk-control-price.svg": figures.price(trials, populations),
        "risk-control-answers.svg": figures.answers(real[-1].population, real[-1].alpha),
    }


def on_collections(data: Path, samples: int = SAMPLES) -> list[Collection]:
    """Draw from each collection, and split it."""
    found = []
    for i, (population, alpha) in enumerate(collections(data)):
        ways = rules(alpha, (DELTA,))
        half = len(population.lists) // 2
        draws = [np.random.default_rng([SEED, 100 + i, part]) for part in range(2)]
        found.append(
            Collection(
                population,
                alpha,
                outcomes(population, half, ways, draws[0], samples),
                held_out(population, ways, draws[1], samples),
            )
        )
    return found


# -- what the sentences are about --------------------------------------------------------------------------------


def settings(trials: Trials, *names: str) -> list[Outcome]:
    """What some rules did in all settings; with k = 1 both bounds are the same, and counted once."""
    return [
        found
        for (population, _), each in trials.items()
        for rule, found in each.items()
        if rule.name in names and not (population == FIRST and rule.name == HB)
    ]


def at(trials: Trials, population: str, queries: int, name: str) -> Outcome:
    """What a rule did with the α and δ of the curves."""
    return trials[population, queries][Rule(name, ALPHA, DELTA if name in BOUNDS else None)]


def worst(found: Iterable[Outcome]) -> Outcome:
    """The one whose promise is broken most often."""
    return max(found, key=lambda o: o.share)


def broken(outcome: Outcome) -> bool:
    """Whether the share of broken promises is above δ."""
    return outcome.share > (outcome.rule.delta or 0.0)


def excess(trials: Trials) -> float:
    """By how many standard errors a mean risk is above α, at most."""
    return max((o.mean - o.rule.alpha) / o.error for o in settings(trials, MEAN) if o.error)


def dropped(outcome: Outcome | HeldOut) -> float:
    """The mean share of good documents dropped."""
    return float(outcome.dropped.mean())


def more_dropped(trials: Trials, queries: int, digits: int) -> str:
    """By how many percentage points betting drops more than the plug-in threshold, over all kinds."""
    found = [dropped(at(trials, p, queries, BETTING)) - dropped(at(trials, p, queries, PLUG_IN)) for p in WORDS]
    return between([100 * each for each in found], digits)


def interval(outcome: Outcome) -> str:
    """A share of broken promises and its interval, in percent."""
    low, high = (number(100 * end, 1) for end in outcome.interval)
    return f"{number(100 * outcome.share, 1)} ({low} to {high})"


# -- sections ----------------------------------------------------------------------------------------------------

OPENING = f"""
# Risk control: is the promise kept, and what does it cost?

This page tests whether the guarantees of `RiskCutoff` hold. The rule chooses the lowest threshold that keeps the risk
at α or below, and guarantees this for queries that nobody has seen. A query's risk is the number of forbidden
documents in its top k, over k.

A guarantee can be tested only where the truth is known. Therefore {QUERIES:,}
synthetic queries are generated for each of eight kinds, and {SAMPLES} samples are drawn from them. Every sample gives
a threshold, and the true risk of the threshold is that over all {QUERIES:,} queries. The same is then done with real
queries. This page is written by

```
python -m experiments.risk       # make experiments runs it too
```

Four ways to choose the threshold are compared. **Plug-in**: the risk of the sample is at most α, without any guarantee.
**In expectation** (`delta=None`, conformal risk control): at most α on average over samples. **Betting** (the default)
and **Hoeffding-Bentkus** (`bound="hoeffding-bentkus"`): at most α in all but a share δ of the samples.
"""


def in_short(trials: Trials, real: Sequence[Collection]) -> str:
    """The findings, before the tables."""
    bounds = settings(trials, *BOUNDS)
    plug_in = [o.share for o in settings(trials, PLUG_IN)]
    means = [o.mean / o.rule.alpha for o in settings(trials, MEAN)]
    saved = {
        (p, n, rule): dropped(found) - dropped(each[Rule(BETTING, rule.alpha, rule.delta)])
        for (p, n), each in trials.items()
        for rule, found in each.items()
        if rule.name == HB and p != FIRST
    }
    most, least = max(saved, key=lambda each: saved[each]), min(saved.values())
    losing = sum(each < 0 for each in saved.values())
    topics = [dropped(c.halves[Rule(BETTING, c.alpha, DELTA)]) for c in real if len(c.population.lists) == 50]
    answers = real[-1]
    findings = bullets(
        says(
            not any(map(broken, bounds)),
            f"**The promise is kept** in all {len(bounds)} settings (kind of scores, size of the sample, α, δ, bound): "
            f"in none is the true risk above α in more than a share δ of the {SAMPLES} samples.",
            f"**The promise is broken** in {sum(map(broken, bounds))} of {len(bounds)} settings: the true risk is "
            f"above α in more than a share δ of the {SAMPLES} samples.",
        ),
        f"**Without a bound it is a coin toss.** The plug-in threshold lets the true risk exceed α in up to "
        f"{percent(max(plug_in), 0)} of the samples, and more queries do not help: with 1,000 of them it is "
        f"{percent(at(trials, 'spread', 1000, PLUG_IN).share, 0)} where scores are spread.",
        says(
            excess(trials) < 2.5,
            f"**In expectation** the mean risk is {between(means, 2)} α, in no setting above α by more than chance. "
            "A single threshold may do worse: "
            f"in the worst setting {percent(max(o.share for o in settings(trials, MEAN)), 0)} of them exceed α.",
        ),
        says(
            losing < len(saved) / 20,
            f"**Betting costs less than Hoeffding-Bentkus**, or the same, in {len(saved) - losing} of {len(saved)} "
            f"settings with k = 3. It keeps up to {percent(saved[most], 0)} of the good documents that the other drops "
            f"({most[0]}, {most[1]} queries, α = {most[2].alpha:g}, δ = {most[2].delta:g}), and loses "
            f"{percent(max(0.0, -least))} at most. So it is the default.",
        ),
        f"**The price falls with the number of queries.** For α = {ALPHA:g} and δ = {DELTA:g} betting drops "
        f"{more_dropped(trials, 50, 0)} percentage points more of the good documents than the plug-in threshold with "
        f"50 queries, {more_dropped(trials, 200, 0)} with 200, and {more_dropped(trials, 1000, 0)} with 1,000.",
        f"**Bad scores cost documents, not the guarantee.** With uninformative scores it is kept by dropping "
        f"{percent(dropped(at(trials, 'uninformative', 200, BETTING)), 0)} of the good documents (200 queries).",
        says(
            min(topics) > 0.5,
            f"**Fifty topics are too few for a bound.** On the web track, fitted on 25 of them, betting drops "
            f"{between([100 * each for each in topics], 0)} % of the good documents. Fitted on "
            f"{len(answers.population.lists) // 2} questions of a forum it drops "
            f"{percent(dropped(answers.halves[Rule(BETTING, answers.alpha, DELTA)]), 0)}, the plug-in threshold "
            f"{percent(dropped(answers.halves[Rule(PLUG_IN, answers.alpha)]), 0)}.",
        ),
    )
    return f"""
**In short**

{findings}
"""


def the_populations(populations: Sequence[Population]) -> str:
    """Section: what is drawn from."""
    rows = [
        [
            p.name,
            WORDS[p.name],
            str(p.k),
            number(len(p.lists.score) / len(p.lists), 1),
            percent(float((p.lists.gain < 0).mean()), 0),
            number(float(p.risk(np.array([-np.inf]))[0]), 3),
        ]
        for p in populations
    ]
    head = ["kind", "scores", "k", "documents a query", "forbidden", "risk if all is shown"]
    return f"""
## What is drawn from

{table(head, rows, words=2)}

Queries of a sample are drawn independently: that is all that the promises assume.
"""


def the_promise(trials: Trials) -> str:
    """Section: how often it is broken."""

    def each(name: str, alpha: float, delta: float | None, kinds: Iterable[str]) -> list[Outcome]:
        return [trials[p, n][Rule(name, alpha, delta)] for p in kinds for n in IN_ALL_SETTINGS]

    others = [p for p in WORDS if p != FIRST]
    rows = []
    for alpha in ALPHAS:
        for delta in DELTAS:
            cells = [interval(worst(each(name, alpha, delta, others))) for name in BOUNDS]
            cells.append(interval(worst(each(BETTING, alpha, delta, [FIRST]))))
            plug_in = number(100 * worst(each(PLUG_IN, alpha, None, WORDS)).share, 1)
            rows.append([f"{alpha:g}", f"{number(100 * delta, 0)}", *cells, plug_in])
    head = ["α", "δ, %", "betting, k = 3", "Hoeffding-Bentkus, k = 3", "binomial, k = 1", "plug-in"]
    shown = (100, 1000)
    kinds = [
        [p, *(" / ".join(number(100 * at(trials, p, n, name).share, 1) for n in shown) for name in NAMES)]
        for p in WORDS
    ]
    exact = worst(at(trials, FIRST, n, BETTING) for n in SIZES)
    bounded = worst(at(trials, p, n, BETTING) for p in others for n in SIZES)
    above = [o for o in settings(trials, *BOUNDS) if o.interval[1] > (o.rule.delta or 0.0)]
    binomial = [o for n in SIZES for o in trials[FIRST, n].values() if o.rule.name == BETTING]
    only_there = says(
        all(o in binomial for o in above),
        f"Only there do intervals reach above δ, in {len(above)} of {len(binomial)} settings.",
        f"Intervals reach above δ in {len(above)} settings.",
    )
    return f"""
## Is the promise kept?

![Share of samples whose threshold lets the true risk exceed α, against the number of queries](risk-control-broken.svg)

Samples in which the true risk exceeds α, in percent, with Clopper and Pearson's 95 % interval: the worst of the kinds
of scores and of samples of {" and ".join(map(str, IN_ALL_SETTINGS))} queries.

{table(head, rows)}

The same by kind of scores, for α = {ALPHA:g} and δ = {percent(DELTA, 0)}, with {shown[0]} / {shown[1]:,} queries:

{table(["kind", *NAMES], kinds)}

- With k = 1 a query's risk is 0 or 1, the binomial test is exact, and the promise is broken nearly as often as is
  allowed: in up to {percent(exact.share)} of the samples here. There is no slack. {only_there}
- With k = 3 the bounds hold for any losses between 0 and 1. Betting is broken in at most {percent(bounded.share)}: the
  rest of δ is the price of not knowing how losses are distributed.
- With five grades there are few thresholds to choose from, so that even the plug-in threshold is mostly on the safe
  side.
- With two scores the largest risk at any stricter cut replaces the risk, also for the plug-in threshold. That is why it
  is seldom broken where samples are large: the true risk stays below.
"""


def on_average(trials: Trials) -> str:
    """Section: the promise in expectation."""
    shown = (50, 200, 1000)
    rows = []
    for p in WORDS:
        found = [at(trials, p, n, MEAN) for n in shown]
        cells = [f"{number(o.mean, 4)} ± {number(o.error, 4)}" for o in found]
        rows.append([p, *cells, " / ".join(number(at(trials, p, n, PLUG_IN).mean, 4) for n in shown)])
    head = ["kind", *(f"{n:,} queries" for n in shown), "plug-in, the same"]
    return f"""
## The promise in expectation

Mean true risk over the samples of the threshold in expectation, with its standard error, for α = {ALPHA:g}:

{table(head, rows)}

Over all {len(settings(trials, MEAN))} settings the largest mean is {number(excess(trials), 1)} standard errors above α.
The plug-in threshold's mean risk is near α, and mostly above it. What is asked beyond it, room for one more loss in
n + 1 queries, is felt where n is small.
"""


def the_price(trials: Trials, populations: Sequence[Population]) -> str:
    """Section: what is dropped."""
    shown = (100, 1000)
    rows = []
    for p in populations:
        cells = [" / ".join(number(100 * dropped(at(trials, p.name, n, name)), 0) for n in shown) for name in NAMES]
        rows.append([p.name, number(100 * float(p.dropped(p.ideal(ALPHA))), 0), *cells])
    attained = [100 * at(trials, p.name, 50, BETTING).attained for p in populations]
    two = next(p for p in populations if p.name == "two scores")
    apart = dropped(at(trials, two.name, 1000, MEAN)) - float(two.dropped(two.ideal(ALPHA)))
    return f"""
## What it costs

![Share of good documents dropped, against the number of queries](risk-control-price.svg)

Good documents dropped, in percent, for α = {ALPHA:g} and δ = {percent(DELTA, 0)}, with {shown[0]} / {shown[1]:,}
queries; *known* is the threshold chosen with knowledge of the true risk:

{table(["kind", "known", *NAMES], rows)}

- With 50 queries α = {ALPHA:g} can be promised only of thresholds under which next to no forbidden document is seen in
  the sample. One that keeps anything at all is found in {between(attained, 0)} % of the samples. In the others
  `attainable_` is false, and everything is dropped.
- With two scores the risk of stricter cuts is also guarded against. That costs {number(100 * apart, 0)} percentage
  points of the good documents (1,000 queries, in expectation, against the known threshold).
"""


def how_many_queries() -> str:
    """Section: sizes of samples."""
    rows = []
    for alpha in (*ALPHAS, 0.2):
        cells = []
        for rule in (Rule(MEAN, alpha), *(Rule(BETTING, alpha, delta) for delta in reversed(DELTAS))):
            passes = rule.passes(3)
            half = np.array([1.0 - 1.5 * alpha, 1.5 * alpha, 0.0, 0.0])
            cells.append(f"{fewest_queries(passes, np.eye(1, 4)[0])} / {fewest_queries(passes, half)}")
        rows.append([f"{alpha:g}", *cells])
    head = ["α", "in expectation", *(f"δ = {delta:g}" for delta in reversed(DELTAS))]
    return f"""
## How many queries it takes

The fewest queries with which anything can be promised (k = 3, betting), none of which may show a forbidden document,
and how many it takes to be allowed a risk of α/2 in the sample, one place per query:

{table(head, rows)}

The first number is where (1 − α)ⁿ ≤ δ, in expectation where 1/(n + 1) ≤ α. `RiskCutoff` names it where queries are
fewer.
"""


def real_queries(real: Sequence[Collection]) -> str:
    """Section: collections."""
    about, rows = [], []
    for c in real:
        lists, risk = c.population.lists, float(c.population.risk(np.array([-np.inf]))[0])
        forbidden = percent(float((lists.gain < 0).mean()), 0)
        known = percent(float(c.population.dropped(c.population.ideal(c.alpha))), 0)
        cells = [f"{len(lists):,}", str(c.population.k), forbidden, number(risk, 3), f"{c.alpha:g}", known]
        about.append([c.population.name, *cells])
        for name in NAMES:
            rule = Rule(name, c.alpha, DELTA if name in BOUNDS else None)
            halves = c.halves[rule]
            above = float((halves.risk > c.alpha + 1e-12).mean())
            cells = [interval(c.drawn[rule]), number(float(halves.risk.mean()), 3)]
            cells += [number(100 * each, 0) for each in (above, dropped(halves), float(halves.empty.mean()))]
            rows.append([c.population.name if name == PLUG_IN else "", name, *cells])
    mean = [(float(c.halves[Rule(MEAN, c.alpha)].risk.mean()), c.alpha) for c in real]
    bounds = [(c, Rule(name, c.alpha, DELTA)) for c in real for name in BOUNDS]
    above = max(float((c.halves[rule].risk > c.alpha + 1e-12).mean()) for c, rule in bounds)
    answers = real[-1]
    kept_all = f"{len(answers.population.lists):,}"
    findings = bullets(
        says(
            not any(broken(c.drawn[rule]) for c, rule in bounds),
            f"**The promise holds on real queries**: neither bound is broken in more than {percent(DELTA, 0)} of the "
            "samples, on any collection.",
        ),
        "*Above α* is about the other half, which is a sample itself: it can be above α where the truth is not. It is "
        f"in up to {percent(above, 0)} of the splits.",
        says(
            all(risk <= alpha for risk, alpha in mean),
            "In expectation the mean risk of the other half is below α everywhere. Here the theorem applies as it "
            "stands: a query of the other half might as well have been in the first.",
        ),
        "**Web track, 2012.** The ranker's own score is a poor filter even if the truth is known, likely "
        "because query likelihoods of different topics are hardly comparable. With 25 topics the bounds drop nearly "
        "everything. What could help is more topics, or a spam score in addition to the ranker's (two scores).",
        "**Web track, 2013** shows the cost of having few queries. There is little junk, and nothing would have to be "
        "dropped; 25 topics cannot show this.",
    )
    head = ["collection", "queries", "k", "forbidden", "risk if all is shown", "α", "good dropped, known"]
    columns = ["collection", "threshold", "broken, %", "risk", "above α, %", "good dropped, %", "empty lists, %"]
    return f"""
## Real queries

{table(head, about)}

The forbidden documents are pages judged −2 on the web track (unjudged ones are left out, as in Carmel et al. 2022),
sentences that do not answer the question in WikiQA, and answers that are neither good nor potentially useful in
SemEval-2015. There the score is a logistic
regression's on 58 features, fitted to the first {TRAINED_ON:,} training questions; the other {kept_all} are the
collection. *Known*: with the threshold chosen with knowledge of the risk of the whole collection.

*Broken*: {SAMPLES} samples of half the size are drawn from the collection with replacement, and the collection is the
truth. All columns after it: {SAMPLES} random splits into halves, fitted on one and judged on the other, means over the
splits. δ is {percent(DELTA, 0)}.

{table(columns, rows, words=2)}

{findings}

![Risk and bound against the threshold, SemEval-2015](risk-control-answers.svg)

SemEval-2015, fitted on all {kept_all} questions: the figure is what
`RiskCutoff({answers.alpha:g}, {DELTA:g}, k={answers.population.k}).fit(scores, labels, groups).plot()` draws.
"""


LIMITS = f"""
## How it was made, and what cannot be said

| | |
| --- | --- |
| samples | {SAMPLES} for each kind of scores and size, drawn with replacement; all rules see the same samples |
| seed | {SEED} |
| true risk | of all {QUERIES:,} queries, by the exact sweep of `Fdocs@k` |
| good dropped | of the good documents that are judged and ranked |
| data | TREC Web Track 2012, 2013 (baseline runs); WikiQA (test, CNN-Cnt); SemEval-2015 Task 3 (training part) |

- The promises are about queries like those of the sample, scored in the same way. If the stream of queries changes, or
the ranker is trained again, they no longer hold, and no simulation here says how far the risk then goes.
- They are about the labels that were given. Unjudged documents count as not forbidden, or are left out.
- None of the papers that RankSift follows prints such an experiment, so there is nothing to compare with.
- To try several values of α, δ, k or bounds and keep the one that looks best is to choose after the fact. The promise
  holds for one choice that was made before.

A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei, T. Schuster: Conformal risk control. ICLR 2024.

A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan, L. Lei: Learn then test: calibrating predictive algorithms to
achieve risk control. 2021.

S. Bates, A. Angelopoulos, L. Lei, J. Malik, M. Jordan: Distribution-free, risk-controlling prediction sets. JACM 2021.

I. Waudby-Smith, A. Ramdas: Estimating means of bounded random variables by betting. JRSS B 2024.

V. Bentkus: On Hoeffding's inequalities. Annals of Probability 2004.
"""
