"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.boosted_trees.fits import (
    BEST,
    CAUTIOUS,
    GIVEN,
    MARGIN,
    MEASURE,
    MEASURES,
    TRIALS,
    WIDE,
    Difference,
    How,
    Outcome,
    outcome,
)
from experiments.boosted_trees.measured import Gain, defaults, seconds, settings
from experiments.boosted_trees.methods import (
    BAGGED,
    CATBOOST,
    CONTEXT,
    JOINT,
    LEAVES,
    LIGHTGBM,
    METHODS,
    OURS,
    PEERS,
    RATES,
    SPACE,
    STEP,
    TREES,
    WIDE_LEAVES,
    WIDE_RATES,
    XGBOOST,
)
from experiments.markdown import between, bullets, number, page, paragraph, probability, says, table, word
from ranksift.collection.ragged import Floats
from ranksift.errors import RankSiftWarning
from ranksift.learning.search_space import Space

NEEDS: tuple[str, ...] = ("letor4_mq2008",)
ALPHA = 0.05
#: How the tables call a method as it is given, with its best parameters, with better ones only, and with its best ones
#: of a wider space.
CALLED: Mapping[How, str] = {
    GIVEN: "as given",
    BEST: "tuned",
    CAUTIOUS: "tuned, with a margin",
    WIDE: "tuned in the wide space",
}


def files(data: Path) -> dict[str, str]:
    """The page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankSiftWarning)  # about queries in which nothing is relevant
        return {"boosted-trees.md": written(outcome(data))}


def written(found: Outcome) -> str:
    """The page of some methods."""
    return page(
        opening(found),
        in_short(found),
        the_methods(found),
        differences(found),
        folds(found),
        searches(found),
        where_to_search(),
        how_it_learns(),
        cost(),
        limits(found),
        fold=True,
    )


# -- what the sentences are about ----------------------------------------------------------------------------------


def spread(values: Floats) -> str:
    """Mean and deviation over seeds."""
    return f"{number(float(values.mean()))} ± {number(float(values.std(ddof=1)))}"


def said(other: str, ahead: Difference) -> str:
    """A difference in words."""
    return f"{other} ({number(ahead.value, sign=True)}, p {_p(ahead.p)})"


def _p(p: float) -> str:
    written = probability(p)
    return written if written.startswith("<") else f"= {written}"


def below(found: Outcome, *, how: How, ours: str = OURS) -> list[str]:
    """Libraries with a higher mean than one of our methods, in the digits that are shown."""
    own = found.mean(ours, how=how)
    return [name for name in PEERS if round(found.mean(name, how=how) - own, 4) > 0]


def verdict(found: Outcome, *, how: How, ours: str = OURS) -> str:
    """Whether a method of ours is below a library."""
    ahead = found.ahead(ours, how=how)
    lost = below(found, how=how, ours=ours)
    won = [said(name, ahead[name]) for name in PEERS if name not in lost]
    told_apart = [name for name in PEERS if ahead[name].p <= ALPHA]
    return paragraph(
        f"{CALLED[how].capitalize()}, it has {MEASURE} {number(found.mean(ours, how=how))}:",
        says(
            bool(won),
            f"not below {_and(won)}" + (", but" if lost else "."),
        ),
        says(bool(lost), f"below {_and([said(name, ahead[name]) for name in lost])}."),
        says(not told_apart, "No difference is significant."),
        says(bool(told_apart), f"The difference from {_and(told_apart)} is significant."),
    )


def headline(found: Outcome, called: str, ours: str = OURS) -> str:
    """Whether it is below a library, in each way."""
    parts = []
    for how in ways(found, ours):
        lost = below(found, how=how, ours=ours)
        parts.append(f"{CALLED[how]}, {f'below {_and(lost)}' if lost else 'not below any of the three'}")
    return f"**By {MEASURE} {called} is, {'; '.join(parts)}.**"


def ways(found: Outcome, method: str) -> list[How]:
    """Those in which a method is there."""
    return [how for how in CALLED if method in found.methods(how=how)]


def _and(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def wins(found: Outcome, other: str, *, how: How) -> int:
    """Seeds with which LambdaMART is not below another."""
    return int((found.values(OURS, how=how) >= found.values(other, how=how)).sum())


def gained(found: Outcome, name: str, how: How = BEST) -> tuple[float, float]:
    """Tuned less as given: on the validation queries, by which parameters are chosen, and on the test queries."""
    promised = found.promised(name, how=how) - found.promised(name, how=GIVEN)
    return promised, found.mean(name, how=how) - found.mean(name, how=GIVEN)


# -- sections ------------------------------------------------------------------------------------------------------


def opening(found: Outcome) -> str:
    """What this is about."""
    return f"""
# LambdaMART beside LightGBM, XGBoost and CatBoost

This page compares RankSift's LambdaMART with three libraries of boosted trees. All four rank MQ2008, with the same
folds and the same budget: a random search of {word(TRIALS)} trials in each fold, by {MEASURE} on its validation
queries, {_times(found.seeds)}. Is RankSift's LambdaMART below one of the others?

This page is written by

```
python -m experiments.boosted_trees        # make experiments runs it too
```

from public data that is not part of the repository; `RANKSIFT_DATA` names the folder.
"""


def _times(seeds: int) -> str:
    return {2: "twice, with different seeds"}.get(seeds, f"{word(seeds)} times, with different seeds")


def in_short(found: Outcome) -> str:
    """The findings, before the tables."""
    searched = found.methods(how=BEST)
    change = [gained(found, name) for name in searched]
    deviation = [float(found.values(name, how=BEST).std(ddof=1)) for name in searched]
    joint = found.ahead(how=BEST)[JOINT]
    alike = {name: found.mean(f"{name}, context", how=GIVEN) - found.mean(name, how=GIVEN) for name in PEERS}
    best = max(searched, key=lambda name: found.mean(name, how=BEST))
    widest = max((f"{name}, context" for name in PEERS), key=lambda name: found.mean(name, how=GIVEN))
    by_ap = {name: ahead for name, ahead in found.ahead(measure="AP", how=BEST).items() if name in PEERS}
    by_ap = {name: ahead for name, ahead in by_ap.items() if round(ahead.value, 4) < 0}
    taken, p_tuned = seconds(), found.tuned_or_not()
    sure = [name for name, (_, kept) in zip(searched, change, strict=True) if kept > 0 and p_tuned[name] <= ALPHA]
    findings = bullets(
        paragraph(
            headline(found, "LambdaMART"),
            *(verdict(found, how=how) for how in ways(found, OURS)),
            says(
                bool(by_ap),
                f"By AP it is, tuned, below {_and([said(name, ahead) for name, ahead in by_ap.items()])}.",
                "Nor is it by AP, tuned.",
            ),
        ),
        paragraph(
            headline(found, "the mean of three LambdaMARTs (`models=3`)", BAGGED),
            *(verdict(found, how=how, ours=BAGGED) for how in ways(found, BAGGED)),
            "It has the same trials, and fits three models in each: a fit takes "
            f"{taken[BAGGED]:.1f} s, where CatBoost's takes {taken[CATBOOST]:.1f} s and those of the others "
            f"{between([taken[LIGHTGBM], taken[XGBOOST]], 1)} s.",
        ),
        paragraph(
            headline(found, "LambdaMART that sees the list (`context=True`)", CONTEXT),
            *(verdict(found, how=how, ours=CONTEXT) for how in ways(found, CONTEXT)),
            "It has more columns to learn from than the libraries, which change by "
            f"{between(list(alike.values()), 4, sign=True)} with the same columns, as given; they were not tuned with "
            "them.",
            says(
                found.mean(widest, how=GIVEN) > found.mean(OURS, how=GIVEN),
                f"{widest}, has {number(found.mean(widest, how=GIVEN))} as given, more than LambdaMART without.",
            ),
        ),
        paragraph(
            f"**LambdaMART-f has {number(found.mean(JOINT, how=BEST))} tuned and "
            f"{number(found.mean(JOINT, how=GIVEN))} as given**, though nothing is forbidden here:",
            f"{number(-joint.value, sign=True)} against LambdaMART, tuned (p {_p(joint.p)}).",
            says(
                float(np.median(found.trees(JOINT, how=GIVEN))) == TREES,
                f"It would go on growing: mostly it has all of the {TREES} trees that a method may have here.",
            ),
            "These rows are of the version with pairs; since then it is another model, and this page was not run "
            "again.",
        ),
        paragraph(
            says(
                not sure,
                "**No method gains significantly from tuning, on the test queries.**",
                f"**Tuning gains something for {_and(sure)}.**",
            ),
            f"Tuned, {best} has the highest mean. Over seeds a method's mean deviates by {between(deviation, 4)}.",
            f"Tuning gains {between([promised for promised, _ in change], 4, sign=True)} on the validation queries, "
            f"and {between([kept for _, kept in change], 4, sign=True)} on the test queries.",
            says(
                2 * sum(kept for _, kept in change) < sum(promised for promised, _ in change),
                f"With {_validation(found)} queries to choose by, most of the choice is chance.",
            ),
        ),
    )
    return f"""
**In short**

{findings}
"""


def the_methods(found: Outcome) -> str:
    """Section: the main table."""
    rows = []
    for how in CALLED:
        names = found.methods(how=how)
        best = {m: max(found.mean(name, m, how=how) for name in names) for m in MEASURES}
        for name in names:
            cells = []
            for m in MEASURES:
                cell = spread(found.values(name, m, how=how))
                cells.append(f"**{cell}**" if found.mean(name, m, how=how) == best[m] else cell)
            trees = found.trees(name, how=how)
            rows.append([name, CALLED[how], *cells, f"{np.median(trees):.0f} ({trees.min()} to {trees.max()})"])
    queries = len(found.collection.whole.query_ids)
    return f"""
## The methods

Means over the {queries} test queries of the five folds, and over {word(found.seeds)} seeds; ± is the deviation over
seeds. The best of each part is bold. The last column has the numbers of trees: the median and the range over folds and
seeds. “Context” adds to a document's features the length of its list and the mean of each feature over it; LambdaMART-f
has it too.

{table(["method", "", *MEASURES, "trees"], rows, words=2)}

Where nothing is relevant {MEASURE} is 0, whatever the ranking, and so is AP. Gains are the labels, 0 to 2; on
[the page of eight learners](rankers.md) they are exponential, so that values are others there.
"""


def differences(found: Outcome) -> str:
    """Section: tests."""
    rows = [
        [
            name,
            CALLED[how],
            measure,
            number(ahead.value, sign=True),
            f"{number(ahead.low, sign=True)} to {number(ahead.high, sign=True)}",
            probability(ahead.p),
            f"{wins(found, name, how=how)} of {found.seeds}" if measure == MEASURE else "",
        ]
        for how in CALLED
        for measure in MEASURES
        for name, ahead in found.ahead(measure=measure, how=how).items()
    ]
    return f"""
## LambdaMART less the others

Paired t tests over queries, of each query's mean over seeds, with Holm's correction over the methods of one measure,
as given or tuned in one way. The last column counts the seeds with which LambdaMART is not below.

{table(["other", "", "measure", "difference", "95 % interval", "p", "not below"], rows, words=3)}
"""


def folds(found: Outcome) -> str:
    """Section: every fold."""
    head = ["method", "", *(f"fold {i + 1}" for i in range(len(found.collection.folds)))]
    rows = [
        [name, CALLED[how], *(number(value) for value in found.of_folds(name, how=how))]
        for how in CALLED
        for name in found.methods(how=how)
    ]
    wide = [float(np.ptp(found.of_folds(name, how=BEST))) for name in found.methods(how=BEST)]
    means = [found.mean(name, how=BEST) for name in found.methods(how=BEST)]
    return f"""
## Fold by fold

{MEASURE} on the test queries, the mean over seeds. Tuned, the best and the worst fold of a method lie
{between(wide, 2)} apart, the best and the worst method {number(float(np.ptp(means)), 3)}.

{table(head, rows, words=2)}
"""


def searches(found: Outcome) -> str:
    """Section: what tuning chose."""
    rows = []
    for name in found.methods(how=BEST):
        models = [fold for seed in found.found[name] for fold in seed]
        cells = []
        for how in (BEST, CAUTIOUS):
            kept = sum(getattr(model, how) is model.given for model in models)
            promised, left = gained(found, name, how)
            cells += [f"{kept} of {len(models)}", number(promised, sign=True), number(left, sign=True)]
        rows.append([name, *(_chosen([model.params for model in models], parameter) for parameter in SPACE), *cells])
    heads = [f"{head}{rule}" for rule in ("", ", margin") for head in ("as given", "gain, validation", "gain, test")]
    return f"""
## What tuning chose

The middle half of what {len(found.collection.folds)} folds and {word(found.seeds)} seeds chose; how often these were
the parameters as given; what the chosen ones add to {MEASURE} on the validation queries, and on the test queries. With
a margin the parameters as given stay unless a trial is better by {MARGIN:g} standard error of the difference over the
validation queries (`tune(…, margin={MARGIN:g})`).

{table(["method", *SPACE, *heads], rows)}

There are {_validation(found)} validation queries in a fold.
"""


def _validation(found: Outcome) -> str:
    return between([len(fold.validation.query_ids) for fold in found.collection.folds if fold.validation], 0)


def where_to_search() -> str:
    """Section: which settings are good, and so where they are searched."""
    worth = settings()
    ranges = list(worth["MQ2008", OURS])
    heads = ["collection", "method", *(f"{_SHORT[name]} {quarter}".rstrip() for name, quarter in ranges)]
    rows = [[*key, *(_gain(of[each]) for each in ranges)] for key, of in worth.items()]
    left_out = [_left_out(worth, part) for part in ranges if _is_left_out(part)]
    every = [of["all", ""].value for of in worth.values()]
    return f"""
## Where it is worth searching

At first the space had {_range(WIDE_LEAVES)} leaves and rates of {_range(WIDE_RATES)}. On the mean, settings that are
drawn from it add {between(every, 4, sign=True)} to {MEASURE} as given, on queries that are not in the test part of a
fold. By leaves and by rates, with the standard error over queries:

{table(heads, rows, words=2)}

`python -m experiments.boosted_trees.settings` computes these; they are not recomputed with the page. So all are
searched with {_range(LEAVES)} leaves and rates of {_range(RATES)}. Of what is left out

{bullets(*left_out)}

Where the table gives no reason, the space was narrowed to be the same for all. What is given is tried first also where
it lies outside, as CatBoost's depth of {METHODS[CATBOOST].ranker.get_params()["depth"]}. This, too, was decided after
an earlier version of this page had shown CatBoost ahead, and before it was recomputed: “{CALLED[WIDE]}” is how it
had been.
"""


def _is_left_out(part: tuple[str, str]) -> bool:
    """Whether a quarter of the wide space is not searched, or not all of it."""
    name, quarter = part
    ends = {"leaves": LEAVES, "learning_rate": RATES}.get(name)
    return ends is not None and float(quarter.partition(" to ")[2]) > ends[1]


def _left_out(worth: Mapping[tuple[str, str], Mapping[tuple[str, str], Gain]], part: tuple[str, str]) -> str:
    """For whom a part of the space is shown to be worse, and for whom it is not."""
    name, quarter = part
    found = {f"{method} ({collection})": of[part] for (collection, method), of in worth.items()}
    worse = [each for each, gain in found.items() if gain.value < -2 * gain.error]
    lower = [each for each, gain in found.items() if each not in worse and gain.value < 0]
    others = [each for each in found if each not in (*worse, *lower)]
    told = [
        f"{what} for {_and(names)}"
        for what, names in (
            ("worse by over two standard errors", worse),
            ("worse by less", lower),
            ("not worse", others),
        )
        if names
    ]
    return f"{quarter} {'leaves' if name == 'leaves' else 'as rate'}: {'; '.join(told)}."


#: How a table calls a parameter.
_SHORT = {"leaves": "leaves", "learning_rate": "rate", "all": "all"}


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"


#: Parameters of libraries that stand for others, and what to call them.
_INSTEAD = {"leaves": ("depth", "depth "), "min_documents": ("options.min_child_weight", "curvature ")}


def _chosen(params: Sequence[dict[str, Any]], parameter: str) -> str:
    name, called = parameter, ""
    if parameter not in params[0] and parameter in _INSTEAD:
        name, called = _INSTEAD[parameter]
    if name not in params[0]:
        return ""
    low, high = np.quantile([float(chosen[name]) for chosen in params], [0.25, 0.75], method="nearest")
    return f"{called}{float(f'{low:.2g}'):g} to {float(f'{high:.2g}'):g}"


def how_it_learns() -> str:
    """Section: in what LambdaMART differs from LightGBM's lambdarank, and how that was decided."""
    steps = defaults()
    rows = [[name, *(_gain(own[step]) for step in _STEPS)] for name, own in steps.items()]
    lambdas = [own["lambdas"].value for own in steps.values()]
    each = [own[step] for own in steps.values() for step in ("lambdas", "loss", "draws")]
    sure = [name for name, own in steps.items() if own["together"].value > 2 * own["together"].error]
    in_words = paragraph(
        says(
            min(lambdas) < 0 < max(lambdas),
            "Lambdas without the normalisation are better on one collection and worse on the other.",
        ),
        says(
            all(gain.value > gain.error for gain in each),
            "Each of the three gains more than a standard error on both.",
        ),
        says(
            bool(sure),
            f"Together the three gain more than two standard errors on {_and(sure)}.",
            "Together the three gain less than two standard errors on both.",
        ),
        says(
            all(abs(own["context"].value) < 2 * own["context"].error for own in steps.values()),
            "The effect of context is not distinguishable from none, so it has its own row here and is not "
            "LambdaMART's default.",
        ),
    )
    return f"""
## How LambdaMART learns

Its trees are grown by LightGBM. In three things it differs from LightGBM's lambdarank:

- Its lambdas are changes of nDCG, without the further normalisation that LightGBM has (`lambdarank_norm`).
- It stops by a loss of the pairs of validation queries, not by {MEASURE} on them, which is often best after a few
  trees, by luck.
- Swaps are weighed in three rankings that are drawn for every tree as scores say how sure they are, and not in the
  ranking by score, which on training documents is too good. CatBoost's YetiRank draws rankings too.

All were decided on queries that are not in the test part of a fold: of its four other parts two were learned from, one
stopped by and one judged on. They are decisions for all folds, though, so that all queries had a part in them; and the
first and the last were made after an earlier version of this page had shown CatBoost ahead. So were `models=3` and the
margin. MQ2007, with its 21 rankings as features, has other queries, in rotations too. With settings drawn from the wide
space: what each step adds to {MEASURE}, and the standard error over queries.

{table(["collection", *_STEPS.values()], rows)}

`python -m experiments.boosted_trees.defaults` computes these; they are not recomputed with the page. {in_words}
"""


#: What a LambdaMART is made of, step by step, and how the table calls it.
_STEPS = {
    "lambdas": "own lambdas",
    "loss": "stopped by the loss",
    "draws": "rankings drawn",
    "together": "the three together",
    "context": "then context",
}


def _gain(gain: Gain) -> str:
    return f"{number(gain.value, sign=True)} ± {number(gain.error)}"


def cost() -> str:
    """Section: seconds."""
    rows = [[name, f"{taken:.2f}"] for name, taken in seconds().items()]
    return f"""
## Seconds

Of a processor, for one fit to the training part of fold 1 with the parameters as given, on one thread.
`python -m experiments.boosted_trees.seconds` measures them; they are not measured again with the page.

{table(["method", "seconds"], rows)}

Ours stop growing when the validation queries have not gained for
{METHODS[OURS].ranker.get_params()["patience"]} trees. The libraries grow all {TREES} here, and the number is chosen
afterwards.
"""


def limits(found: Outcome) -> str:
    """Section: how it was made."""
    own = METHODS[OURS].ranker.get_params()
    rows = [
        ["command", "`python -m experiments.boosted_trees`, about a quarter of an hour on two cores"],
        [
            "collection",
            f"LETOR 4.0, MQ2008: {len(found.collection.whole.query_ids)} queries, "
            f"{len(found.collection.whole.feature_names)} features",
        ],
        ["folds", "LETOR's own five: three parts to learn from, one to validate, one to test"],
        ["tuned by", f"`ranksift.learning.tuning.tune`, {TRIALS} trials: as given, then draws from the space"],
        ["space", str(Space.of(SPACE, METHODS[OURS].ranker))],
        ["wide space", f"{_range(WIDE_LEAVES)} leaves, rates of {_range(WIDE_RATES)}, the rest as before"],
        *([f"{name} instead", _space(name)] for name in PEERS if METHODS[name].space != SPACE),
        ["number of trees", f"at most {TREES}; of the libraries that of the best {MEASURE}, a multiple of {STEP}"],
        [
            "as given",
            f"{own['leaves']} leaves (CatBoost: depth {METHODS[CATBOOST].ranker.get_params()['depth']}) of "
            f"{own['min_documents']} documents at least (XGBoost: a curvature of "
            f"{METHODS[XGBOOST].ranker.get_params()['options']['min_child_weight']:g})",
        ],
        [
            "",
            f"rate {own['learning_rate']:g}, l2 {own['l2']:g}, {own['feature_share']:g} of the features, "
            f"{own['document_share']:g} of the documents (CatBoost: its own bootstrap)",
        ],
        ["seeds", f"0 to {found.seeds - 1}, of draws and of trees"],
    ]
    return f"""
## How this was made, and what cannot be said

{table(["what", "how"], rows, words=2)}

- Parameters as given are the same numbers for all, where they mean the same. They are not each library's own defaults.
- CatBoost's trees ask the same question of all nodes of a depth, so there is no smallest number of documents to
search.
- With these queries a difference of about {number(_detectable(found), 3)} is significant before correction. Smaller
ones are not distinguishable from chance. That holds for both sides: “not below” does not prove that a method is as
good.
"""


def _space(name: str) -> str:
    own = {key: value for key, value in METHODS[name].space.items() if key not in SPACE}
    return str(Space.of(own, METHODS[name].ranker)).removeprefix("options.")


def _detectable(found: Outcome) -> float:
    """Half the mean length of the intervals."""
    ahead = found.ahead(how=BEST)
    return float(np.mean([(ahead[name].high - ahead[name].low) / 2 for name in PEERS]))
