"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from experiments.bounds import printed
from experiments.bounds.differences import differences
from experiments.bounds.orders import tau
from experiments.bounds.pairs import conflicts, significant
from experiments.bounds.readings import DCG_EXACT, READINGS, Measured, part
from experiments.bounds.trials import DRAWN, SETS, SIZE
from experiments.learned_rankers import tables
from experiments.learned_rankers.fits import SEED, measured
from experiments.learned_rankers.methods import METHODS, SCALES
from experiments.learned_rankers.tables import FEWER, Trials, trials_of
from experiments.learning import BELOW_ALL
from experiments.learning import NEEDS as NEEDS
from experiments.markdown import between, bullets, number, page, paragraph, says, word
from experiments.web_track.statistics import kendall_tau
from ranksift.errors import RankSiftWarning


def files(data: Path) -> dict[str, str]:
    """The page."""
    with warnings.catch_warnings():
        # About ties at the border of a set, and about PAD of negative averages: the page says so itself.
        warnings.simplefilter("ignore", RankSiftWarning)
        return {"rankers.md": written(measured(data))}


def written(found: Sequence[Measured]) -> str:
    """The page of some learners."""
    studied = [trials_of(one) for one in found]
    return page(
        OPENING,
        in_short(found, studied),
        the_learners(found),
        query_types(studied),
        the_order(studied),
        pairs(studied),
        percentages(studied),
        consistency(studied),
        limits(found),
        fold=True,
    )


# -- what the sentences are about ----------------------------------------------------------------------------------


def best(one: Measured) -> str:
    """The learner with the highest nDCG, over all k."""
    return list(METHODS)[int(tables.order_by(one, DCG_EXACT, 0).argmax())]


def apart(one: Measured) -> tuple[int, int]:
    """Pairs of learners that differ significantly by nDCG@10 on all queries, and all pairs."""
    found = tables.compared(one, DCG_EXACT, 0)
    m = found.scores.column("nDCG@10")
    return int(found.significant[:, m].sum()), len(found.pairs)


def close(found: Sequence[Measured]) -> bool:
    """Whether few pairs of learners can be told apart: at most one of eight."""
    differ, of = map(sum, zip(*map(apart, found), strict=True))
    return 8 * differ <= of


def alike(one: Measured) -> list[float]:
    """Kendall's τ of our order and the printed one, by each of the six printed tables."""
    return [
        kendall_tau(tables.order_by(one, reading, version), tables.printed_order(reading, version))
        for _, reading, version in tables.SHOWN
    ]


def taus(studied: Sequence[Trials], kind: str) -> list[float]:
    """τ of a measure with its V1 and V2, by every reading and collection."""
    return [tau(trial, kind, v) for some in studied for trial in some.values() for v in (1, 2)]


def turns(studied: Sequence[Trials]) -> tuple[int, int]:
    """In how many cases τ is lower, and in how many higher, on uninformative than on ideal queries."""
    change = np.array(taus(studied, "uninformative")) - np.array(taus(studied, "ideal"))
    return int((change < -1e-9).sum()), int((change > 1e-9).sum())


def more(studied: Sequence[Trials], kind: str, version: int, *, paired: bool) -> list[int]:
    """Of 140 tests, how many more are significant by V1 or V2 than by the measure itself."""
    return [
        round(
            printed.TESTED
            * (significant(trial, kind, version, paired=paired) - significant(trial, kind, 0, paired=paired))
        )
        for some in studied
        for trial in some.values()
    ]


def disagreeing(studied: Sequence[Trials], kind: str) -> list[int]:
    """Of 140 paired tests, those on which a measure and its V2 disagree."""
    return [round(printed.TESTED * conflicts(trial, kind, 2)) for some in studied for trial in some.values()]


def change_of_swaps(studied: Sequence[Trials]) -> list[float]:
    """From a measure to its V2: swap rates between uninformative and ideal queries."""
    found = [tables.swaps_of_sets(trial) for some in studied for trial in some.values()]
    return [rates[2] - rates[0] for rates in found]


def across(studied: Sequence[Trials], kind: str) -> Iterator[list[float]]:
    """Swap rates between the collections, by every reading."""
    for reading in READINGS:
        yield tables.swaps_of_collections(*(some[reading] for some in studied), kind)


def whole(values: Sequence[int]) -> str:
    """A range of counts."""
    return between(values, 0, sign=True)


# -- sections ------------------------------------------------------------------------------------------------------

OPENING = """
# Eight learners between a random and a perfect ranking

This page compares eight learning methods by measures between a random and a perfect ranking. Karmaker and Feng (2022)
compare these methods by nDCG, MAP and their normalisations between a random and a perfect ranking (V1 and V2), and
conclude that these order methods differently on uninformative queries, tell more of them apart and are more
consistent. [Another page](upper-and-lower-bounds.md) repeats that study with ListNet models of others and with input
rankings.

Here the systems are the same eight methods, trained by RankSift: on MQ2008 with its 46
features, and on MQ2007 with its 21 input rankings as features. This page is written by

```
python -m experiments.learned_rankers        # make experiments runs it too
```

from public data that is not part of the repository; `RANKSIFT_DATA` names the folder.
"""


def in_short(found: Sequence[Measured], studied: Sequence[Trials]) -> str:
    """The findings, before the tables."""
    paired, unpaired = (more(studied, "all", 2, paired=p) for p in (True, False))
    on_poor = more(studied, "uninformative", 2, paired=True)
    lower, higher = turns(studied)
    counts = {kind: disagreeing(studied, kind) for kind in SETS}
    more_there = sum(a > b for a, b in zip(counts["uninformative"], counts["ideal"], strict=True))
    fewer_there = sum(a < b for a, b in zip(counts["uninformative"], counts["ideal"], strict=True))
    grown = [pad.shifted / pad.measure for some in studied for t in some.values() for pad in [differences(t, "all")]]
    between_collections = [rate for rates in across(studied, "all") for rate in rates]
    with_printed = alike(found[-1])
    findings = bullets(
        paragraph(
            "**The eight methods are close.**" if close(found) else "**The eight methods differ.**",
            *(_told_apart(one) for one in found),
            f"Their means by nDCG@10 are {' and '.join(_range(one) for one in found)}; those of the paper's eight "
            f"{between([row[1] for row in printed.NDCG.values()])}.",
            f"The order of ours on MQ2007 has a Kendall's τ of {between(with_printed, 2)} with the six printed tables"
            + says(max(map(abs, with_printed)) < 0.3, ": they do not agree.", "."),
            says(close(found[-1:]), "Of methods that close there is hardly an order."),
            "The features also differ from those in the paper.",
        ),
        paragraph("**Settings tried.**", _budgets(), _looks(found)),
        paragraph(
            "**V1 and V2 change the order, and mostly more so on uninformative queries**, as in the paper:"
            if lower > 2 * higher
            else "**V1 and V2 change the order:**",
            f"τ is {between(taus(studied, 'uninformative'), 2)} there, {between(taus(studied, 'ideal'), 2)} on ideal "
            f"queries and {between(taus(studied, 'all'), 2)} on all; of {len(taus(studied, 'all'))} cases it is lower "
            f"on uninformative than on ideal queries in {lower} and higher in {higher}.",
        ),
        paragraph(
            "**Conflicts of significance are mostly more frequent on uninformative than on ideal queries**, as in the "
            "paper:"
            if more_there > 2 * fewer_there
            else "**Conflicts of significance are not clearly more frequent on uninformative than on ideal queries:**",
            f"V2 disagrees with its measure in {between(counts['uninformative'], 0)} of 140 paired tests there, in "
            f"{between(counts['ideal'], 0)} on ideal queries and in {between(counts['all'], 0)} on all; of "
            f"{len(counts['ideal'])} cases there are more of them on uninformative queries in {more_there} and fewer "
            f"in {fewer_there}.",
        ),
        paragraph(
            "**V2 does not tell more methods apart.**" if np.mean(paired) <= 0 else "**V2 tells more methods apart.**",
            f"From a measure to its V2 the significant ones of 140 paired tests change by {whole(paired)} on all "
            f"queries and by {whole(on_poor)} on uninformative ones.",
            says(
                not any(
                    significant(t, "all", v, paired=False) for some in studied for t in some.values() for v in range(3)
                ),
                "By unpaired tests, which the paper's counts fit, no pair differs on all queries by any measure.",
                f"By unpaired tests, which the paper's counts fit, they change by {whole(unpaired)} on all queries.",
            ),
        ),
        says(
            min(grown) > 1,
            "**Percentage differences rise, but are uninformative.** They also rise when one constant is taken "
            "from every "
            f"score ({between(grown, 1)} times on all queries), which changes no comparison.",
        ),
        paragraph(
            "**Consistency.**",
            f"From a measure to its V2 the swap rate between uninformative and ideal queries changes by "
            f"{between(change_of_swaps(studied), 3, sign=True)} (one of 28 pairs is 0.036). Between MQ2008 and MQ2007 "
            f"{between(between_collections)} of the pairs are swapped on all queries, whatever the measure.",
            says(min(between_collections) > 0.4, "Methods that do not differ have no order that could be consistent."),
        ),
    )
    return f"""
**In short**

{findings}
"""


def _told_apart(one: Measured) -> str:
    differ, of = apart(one)
    return (
        f"On {one.collection.name} {best(one)} has the highest nDCG over all k, and by nDCG@10 "
        f"{word(differ) if differ else 'none'} of {of} pairs differ significantly (Holm's correction)."
    )


def _budgets() -> str:
    counts: dict[int, list[str]] = {}
    for name, method in METHODS.items():
        counts.setdefault(method.settings, []).append(name)
    every, scaled = max(counts), [name for name, method in METHODS.items() if method.space is SCALES]
    fewer = [f"{word(count)} of {_listed(counts[count])}" for count in sorted(counts, reverse=True) if count < every]
    return paragraph(
        f"On the validation part of each fold {word(every)} settings were tried of "
        + says(not fewer, "each method.", f"each of {_listed(counts[every])}, and {', '.join(fewer)}."),
        f"Of {_listed(scaled)} the scale of features was tried: how long they learn, and from which start, is chosen "
        "on the validation part in any case.",
    )


def _looks(found: Sequence[Measured]) -> str:
    return paragraph(
        "Three of LambdaMART's defaults were chosen with looks at queries of both collections: lambdas without "
        "LightGBM's normalisation, the loss that it stops by, and rankings that are drawn. The looks left out the test "
        "part of a fold, but they went round, so that all queries had a part "
        "([how](boosted-trees.md#how-lambdamart-learns)).",
        says(
            "LambdaMART" in map(best, found),
            "On completely new queries its lead may be smaller.",
            "It leads on neither collection even so.",
        ),
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _range(one: Measured) -> str:
    values = part(one.scores, measures=["nDCG@10"]).aggregate()[:, 0]
    return f"{between(values.tolist())} on {one.collection.name}"


def the_learners(found: Sequence[Measured]) -> str:
    """Section: the scores."""
    sections = []
    for one in found:
        beside = one.collection.name == "MQ2007"
        sections.append(
            f"""
### {one.collection.name}

{tables.scores(one, beside=beside)}
"""
        )
    return f"""
## The learners

Means over all test queries. V1, V2 and MAP follow the formulas that the printed tables follow, not the written ones
([why](upper-and-lower-bounds.md#where-the-printed-numbers-come-from)); nDCG is the same by both. A letter marks a
method that is significantly worse (paired t tests of all 28 pairs, Holm's correction, p ≤ 0.05); the highest mean is
bold. The printed values are of MQ2007 with its 46 features, and of 1,000 queries.

{"".join(sections)}
"""


def query_types(studied: Sequence[Trials]) -> str:
    """Section: what the sets are."""
    lines = []
    for some in studied:
        trial = some[DCG_EXACT]
        types = trial.types
        gaps = []
        for kind in SETS[1:]:
            at = [types.queries.index(query) for query in types.sets[kind]]
            gaps.append(number(float(types.difference[at].mean()), 3))
        lines.append(
            f"- {trial.measured.collection.name}: {len(types.queries):,} queries, {len(types.uninformative)} "
            f"uninformative (nDCG less that of a random ranking: {gaps[0]} on average) and {len(types.ideal)} ideal "
            f"({gaps[1]})."
        )
    return f"""
## Uninformative and ideal queries

As in the paper a query is uninformative where the learners' mean score over k is least above the expected one of a
random ranking, and ideal where it is most. On MQ2007 {DRAWN:,} queries are drawn, and {SIZE} are of each kind; MQ2008
has fewer, and {FEWER} of each kind.

{chr(10).join(lines)}
"""


def the_order(studied: Sequence[Trials]) -> str:
    """Section: τ."""
    return f"""
## The order of the learners

Kendall's τ between the order by a measure and that by its V1 or V2, both averaged over k. One pair of the 28 that
changes its order lowers τ by 0.071.

{tables.orders(studied)}
"""


def pairs(studied: Sequence[Trials]) -> str:
    """Section: significant pairs and conflicts."""
    return f"""
## Significant pairs and conflicts

Of 140 tests (28 pairs, five k) those with p ≤ 0.05, without a correction as in the paper: by paired / unpaired t tests.
The paper's counts look like those of unpaired ones
([why](upper-and-lower-bounds.md#significant-pairs-and-conflicts)).

{tables.significant_pairs(studied)}

Conflicts are tests that only one of two measures finds significant, or both in opposite directions; a measure with its
V1 or V2, paired / unpaired:

{tables.disagreements(studied)}
"""


def percentages(studied: Sequence[Trials]) -> str:
    """Section: PAD."""
    return f"""
## Percentage differences

PAD is the mean of |a − b| / max(a, b) over pairs of methods, in percent, over methods with a positive average. “Less a
constant” is the measure minus the mean of its expected values: no comparison changes.

{tables.percentages(studied)}
"""


def consistency(studied: Sequence[Trials]) -> str:
    """Section: swap rates."""
    return f"""
## Consistency

Share of the 28 pairs in opposite orders: on uninformative and ideal queries of one collection, and on the
same kind of queries of MQ2008 and MQ2007 (the paper: MSLR-WEB30K and MQ2007).

{tables.swaps(studied)}
"""


def limits(found: Sequence[Measured]) -> str:
    """Section: how it was made."""
    spaces = "; ".join(
        f"{name} ({method.settings}): {' × '.join(f'{p} {_choices(values)}' for p, values in method.space.items())}"
        for name, method in METHODS.items()
    )
    return f"""
## How this was made, and what cannot be said

| what | how |
|---|---|
| command | `python -m experiments.learned_rankers`, about ten minutes on two cores |
| collections | LETOR 4.0: MQ2008; MQ2007-agg, −ln r of ranks r as features, r = {BELOW_ALL:,} where there is none |
| folds | LETOR's own five: three parts to learn from, one to validate, one to test |
| gains | 2^l − 1, for training and judging; measure to tune by, and to stop by (LambdaMART: its loss): nDCG@10 |
| tuned by `ranksift.learning.tuning.tune`, all settings | {spaces} |
| otherwise | the methods' defaults; boosting, networks and LambdaMART stop early on the validation part |
| study | `ranksift.study`, preset `bounds-2022`, with the code of `experiments/bounds` |
| seed | {SEED} |

- {word(len(METHODS)).capitalize()} methods make 28 pairs: a τ or a swap rate moves in steps, and one close pair can
decide it.
- The readings named “as printed” are inferred from the printed numbers; the paper's code was not available.
"""


def _choices(values: Sequence[object]) -> str:
    return ", ".join(str(value[0] if isinstance(value, tuple) else value) for value in values)
