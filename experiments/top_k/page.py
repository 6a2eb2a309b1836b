"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.learning import BELOW_ALL, Collection, Task, fits, in_parallel
from experiments.learning import NEEDS as NEEDS
from experiments.markdown import between, bullets, number, page, paragraph, percent, says, table, word
from experiments.top_k import figures, printed, tables
from experiments.top_k.fits import TESTED, Difference, Learned, learned
from experiments.top_k.methods import FAMILIES, TOP_K_LISTMLE, C, Family, candidates
from experiments.top_k.truths import DRAWN, FEW, GRADED, POOLED, SEED, STEPS, K, Truth, chances
from ranksift.datasets import letor

ALPHA = 0.05
#: A range over β, as a share of the mean, that is called little.
SMALL = 0.05
FIGURE = "top-k-learning-beta.svg"
NAMES = {"kNDCG@10": "κ-NDCG@10", "kERR": "κ-ERR"}


def files(data: Path) -> dict[str, str]:
    """The page and its figure."""
    found = learned(data)
    by = {truth: [one for one in found if one.truth is truth] for truth in (POOLED, DRAWN, GRADED)}
    text = page(
        OPENING,
        in_short(by),
        the_truths(data, [one.collection for one in by[GRADED]], by[POOLED]),
        on_the_pooled_order(by[POOLED]),
        on_a_drawn_order(by[DRAWN]),
        on_grades(by[GRADED]),
        over_beta(by[POOLED], by[GRADED]),
        limits(representations(data, by[GRADED][-1].collection)),
        figure="top-k-learning-beta.svg",
        fold=True,
    )
    return {"top-k-learning.md": text, FIGURE: figures.over_beta(by[POOLED], by[GRADED])}


# -- what the sentences are about ----------------------------------------------------------------------------------


def of_family(one: Learned, family: Family, measure: str) -> list[Difference]:
    """A Focused method less each parent."""
    return [found for found in one.differences(measure) if found.focused == family.focused]


def above_both(one: Learned, measure: str) -> list[Family]:
    """Focused methods whose mean is above those of both parents."""
    return [f for f in FAMILIES if min(d.value for d in of_family(one, f, measure)) > 0]


def tested(some: Sequence[Learned], sign: int) -> list[Difference]:
    """Significant differences of one sign, by any of the two measures."""
    every = [d for one in some for measure in TESTED for d in one.differences(measure)]
    return [d for d in every if d.p <= ALPHA and sign * d.value > 0]


def significantly_above_both(some: Sequence[Learned]) -> list[str]:
    """Collection, method and measure, where both differences are significant."""
    return [
        f"{family.focused} on {one.collection.name} by {NAMES[measure]}"
        for one in some
        for measure in TESTED
        for family in FAMILIES
        if all(d.p <= ALPHA and d.value > 0 for d in of_family(one, family, measure))
    ]


def cases(some: Sequence[Learned], measure: str) -> int:
    """In how many cases (method and collection) a Focused method is above both of its parents."""
    return sum(len(above_both(one, measure)) for one in some)


def ranges(some: Sequence[Learned]) -> dict[str, list[float]]:
    """The range of each curve over β as a share of its mean, by method."""
    found = {}
    for family in FAMILIES:
        curves = [one.curves[family.focused].aggregate() for one in some]
        found[family.focused] = [
            r for values in curves for r in (np.ptp(values, axis=0) / values.mean(axis=0)).tolist()
        ]
    return found


def falls_to_the_end(some: Sequence[Learned], method: str) -> bool:
    """Whether every curve over β ends lower than it begins."""
    return all((values[-1] < values[0]).all() for one in some for values in [one.curves[method].aggregate()])


def inner_gains(some: Sequence[Learned]) -> list[float]:
    """By how much the best β of each curve is above the better of its ends."""
    found = []
    for one in some:
        for family in FAMILIES:
            values = one.curves[family.focused].aggregate()
            found += (values.max(axis=0) - np.maximum(values[0], values[-1])).tolist()
    return found


def losses_of_tuning(some: Sequence[Learned]) -> list[float]:
    """By how much the tuned method stays below the best β of its curve."""
    found = []
    for one in some:
        for family in FAMILIES:
            curve = one.curves[family.focused]
            best = curve.aggregate().max(axis=0)
            found += [float(best[curve.column(measure)]) - one.mean(family.focused, measure) for measure in TESTED]
    return found


def against_listmle(some: Sequence[Learned]) -> list[float]:
    """Each Focused method less top-k ListMLE, by κ-NDCG@10."""
    return [
        one.mean(family.focused, TESTED[0]) - one.mean(TOP_K_LISTMLE, TESTED[0]) for one in some for family in FAMILIES
    ]


# -- sections ------------------------------------------------------------------------------------------------------

OPENING = """
# Learning from an ordered top 10

This page tests whether learning from an ordered top 10 pays off. Niu et al. (2012) let assessors judge documents by
putting the best ten of a query in order, and learn from this order: a listwise loss for the order of the top ten, a
pairwise one between them and the rest, weighted by β and 1 − β. They do it with three pairs of methods (FocusedSVM =
RankSVM + SVM-MAP, FocusedBoost = RankBoost + AdaRank, FocusedNet = RankNet + ListNet) and report that each beats both
of its parents on such a truth, is as good as they are on grades, and depends little on β. This page repeats their
Tables 4 and 5 and their Figures 1 and 2 with the rankers of RankSift, on MQ2008 with its 46 features and on MQ2007
with its 21 input rankings as features. This page is written by

```
python -m experiments.top_k        # make experiments runs it too
```

from public data that is not part of the repository; `RANKSIFT_DATA` names the folder. The paper's own ground truth
for MQ2007 (MQ2007-list) was not available, so ordered ground truths are made from the grades, in [two
ways](#the-truths).
"""


def in_short(by: dict[Truth, list[Learned]]) -> str:
    """The findings, before the tables."""
    ordered, luck, grades = by[POOLED], by[DRAWN], by[GRADED]
    every = len(FAMILIES) * len(ordered)
    above = {measure: cases(ordered, measure) for measure in TESTED}
    both, better, worse = significantly_above_both(ordered), tested(ordered, 1), tested(ordered, -1)
    tests = len(ordered) * len(TESTED) * 2 * len(FAMILIES)
    wins, cells = tables.printed_wins(printed.TOP_K_MQ2007)
    graded_better, graded_worse = tested(grades, 1), tested(grades, -1)
    spread = ranges(ordered)
    inside = inner_gains(ordered)
    flat = sum(gain <= 0 for gain in inside)
    findings = bullets(
        paragraph(
            "**Does a Focused method beat both parents on an ordered truth?**",
            _verdict(sum(above.values()), len(above) * every),
            f"On the pooled order it is above both in {_count(above[TESTED[0]])} of {word(every)} cases (three "
            f"methods, two collections) by κ-NDCG@10 and in {_count(above[TESTED[1]])} by κ-ERR.",
            f"Of {tests} differences to a parent {_signs(better, worse)} (paired t tests, Holm's correction, "
            "p ≤ 0.05).",
            says(
                bool(both),
                f"Significantly above both parents: {'; '.join(both)}.",
                "None is significantly above both parents.",
            ),
            f"In the paper's lower Table 4 it is above both in {wins} of {cells} cells, without a test.",
        ),
        _printed_gains(ordered[-1]),
        _who_gains(ordered),
        paragraph(
            "**If the order of equal grades is random"
            + says(not tested(luck, 1), ", focus gains nothing distinguishable from chance.**", ":**"),
            f"Above both parents in {_count(cases(luck, TESTED[0]))} of {word(every)} cases by κ-NDCG@10 and in "
            f"{_count(cases(luck, TESTED[1]))} by κ-ERR; of {tests} differences "
            f"{_signs(tested(luck, 1), tested(luck, -1))}.",
        ),
        paragraph(
            "**On grades they are on par with their parents**, as in the paper:"
            if len(graded_better) + len(graded_worse) <= tests // 8
            else "**On grades they are not quite on par with their parents:**",
            f"of {tests} differences {_signs(graded_better, graded_worse)}.",
        ),
        paragraph(
            f"**β matters {_little(spread)}** (range of a curve over β from 0 to 1, in percent of its mean):",
            ", ".join(f"{name} {between([100 * r for r in found], 1)}" for name, found in spread.items()) + ".",
            "On grades: "
            + ", ".join(f"{name} {between([100 * r for r in found], 1)}" for name, found in ranges(grades).items())
            + ".",
            "The paper finds that it matters little for all three, and gives "
            f"{percent(printed.VARIATION['MQ2007'])} for its most varied curve on MQ2007, one of κ-NDCG@5. That is "
            "another quantity than a range, called a variance and not defined, so that the two cannot be compared.",
            "The paper also says that curves rise and then fall:",
            says(
                bool(flat),
                f"in {word(flat)} of {word(len(inside))} no β inside is above the better end, in the others the best "
                f"is above it by up to {number(max(inside))}.",
                f"the best β inside is above the better end by {between(inside, 4)}.",
            ),
            says(
                falls_to_the_end(ordered, "FocusedBoost"),
                "FocusedBoost falls where the order of the top ten gets all the weight: AdaRank's part then never "
                "looks at the other documents.",
            ),
        ),
        paragraph(
            "**Top-k ListMLE is hard to beat.**" if np.mean(against_listmle(ordered)) < 0.002 else "",
            f"Focused methods less top-k ListMLE, a single loss without β: {between(against_listmle(ordered), 4, True)}"
            " by κ-NDCG@10 on the pooled order.",
        ),
    )
    return f"""
**In short**

{findings}
"""


def _little(spread: Mapping[str, Sequence[float]]) -> str:
    """For which methods the range over β is small."""
    small = sum(max(found) < SMALL for found in spread.values())
    if small in (0, len(spread)):
        return "little" if small else "for all methods"
    return f"little for {word(small)} of the {word(len(spread))} methods"


def _verdict(held: int, of: int) -> str:
    if held == of:
        return "By the means it does."
    return "Mostly not." if held < of / 2 else "Mostly, by the means."


def _count(found: int) -> str:
    return word(found) if found else "none"


def _signs(better: Sequence[Difference], worse: Sequence[Difference]) -> str:
    counts = [_count(len(found)) for found in (better, worse)]
    return f"{counts[0]} {'are' if len(better) > 1 else 'is'} significantly positive and {counts[1]} negative"


def _printed_gains(one: Learned) -> str:
    """What the paper's Table 4 has for the difference to the better parent, and where ours can lie."""
    words, outside = [], []
    for family in FAMILIES:
        table = printed.TOP_K_MQ2007
        gain = table[family.focused][K - 1] - max(table[parent][K - 1] for parent in family.parents)
        own = min(of_family(one, family, TESTED[0]), key=lambda d: d.value)
        ends = f"{number(own.low, sign=True)} to {number(own.high, sign=True)}"
        words.append(f"{family.focused} {number(gain, sign=True)} ({ends})")
        outside += [family.focused] if own.high < gain else []
    return paragraph(
        f"**The printed gains over the better parent**, by κ-NDCG@10 on MQ2007, and in brackets our 95 % intervals: "
        f"{', '.join(words)}.",
        says(
            bool(outside),
            f"For {' and '.join(outside)} a gain of that size can be ruled out here. Why the paper saw more is not "
            "known: truth and features are others, and the settings of its parents are not printed.",
        ),
    )


def _who_gains(some: Sequence[Learned]) -> str:
    """Which of the three pairs profit."""
    words = []
    for family in FAMILIES:
        gains = [
            one.mean(family.focused, measure) - one.better_parent(family, measure) for one in some for measure in TESTED
        ]
        words.append(f"{family.focused} {between(gains, 4, sign=True)}")
    return f"**What focus adds to the better parent** (both measures and collections): {', '.join(words)}."


def the_truths(data: Path, collections: Sequence[Collection], ordered: Sequence[Learned]) -> str:
    """Section: what is learned from."""
    rows = []
    for collection in collections:
        whole = collection.whole
        top = np.maximum.reduceat(whole.labels, whole.offsets[:-1])
        alike = [_correlation(data, collection)]
        rows.append(
            [
                collection.name,
                f"{len(whole.query_ids):,}",
                f"{len(whole):,}",
                str(len(whole.feature_names)),
                number(float(np.median(whole.lengths)), 0),
                percent(float((whole.lengths <= K).mean()), 0),
                percent(float((top == 0).mean()), 0),
                number(alike[0], 2),
            ]
        )
    head = ["", "queries", "documents", "features", "median list", f"lists of ≤ {K}", "nothing relevant", "correlation"]
    kappa = {one.collection.name: one.mean("RankSVM", "kNDCG@1") for one in ordered}
    return f"""
## The truths

{table(head, rows)}

- **Graded**: labels 0 to 2. NDCG has the gains 2^l − 1, ERR each query's own highest label, as in the paper: `kNDCG`
  and `kERR` on labels 0 to 2 are exactly that. A query without a relevant document counts 0.
- **Drawn order**: documents by label, those of one label in random order (seed {SEED}), the first {K} of them
  labelled {K} to 1 and the rest 0. No ranker can learn that order, and the first of the ten has most of the gain.
- **Pooled order**: the same, with documents of one label in the order of a probability that LETOR's files carry at the
  end of each line (`prob`). As far as we know it is that with which TREC's million query track drew the document to be
  judged, the higher the higher its systems ranked it. It is not a feature, but depends on what features measure: the
  last column is its correlation with their mean inside a query. So this order can be learned: RankSVM has
  a κ-NDCG@1 of
  {number(kappa["MQ2007"], 3)} on MQ2007, and the paper prints {number(printed.TOP_K_MQ2007["RankSVM"][0], 3)} with
  its own truth. This ground truth is therefore the one to compare with the paper.

On ordered truths methods that know nothing of a top k learn from the position labels as if they were grades; on grades
Focused methods and top-k ListMLE learn from a drawn top {K}. Both as in the paper.
"""


def _correlation(data: Path, collection: Collection) -> float:
    whole, chance = collection.whole, chances(data, collection)
    mean = whole.features.mean(axis=1)
    found = []
    for start, end in zip(whole.offsets[:-1], whole.offsets[1:], strict=True):
        one, two = chance[start:end], mean[start:end]
        if np.ptp(one) > 0 and np.ptp(two) > 0:
            found.append(float(np.corrcoef(one, two)[0, 1]))
    return float(np.mean(found))


LETTERS = """A letter marks a method that is significantly worse by the measure (paired t tests of all 45 pairs,
Holm's correction, p ≤ 0.05); the highest mean is bold."""


def _both(some: Sequence[Learned]) -> str:
    return "\n\n".join(tables.results(one) for one in some)


def on_the_pooled_order(some: Sequence[Learned]) -> str:
    """Section: the truth that can be learned."""
    return f"""
## On the pooled order

{LETTERS}

{_both(some)}

{tables.in_print("top-k MQ2007")}

{tables.in_print("top-k TD2003")}

The six comparisons of each collection that the paper's claim is about, with 95 % intervals and p corrected for the six:

{tables.differences(some)}

{_in_words(some)}
"""


def _in_words(some: Sequence[Learned]) -> str:
    """Where the claim holds by the means."""
    parts = []
    for measure, name in zip(TESTED, tables.head(some[0])[-2:], strict=True):
        held = {
            family.focused: [one.collection.name for one in some if family in above_both(one, measure)]
            for family in FAMILIES
        }
        words = [f"{focused} on {' and '.join(names)}" for focused, names in held.items() if names]
        parts.append(f"by {name} {', '.join(words) or 'none'}")
    return f"Above both parents by the means are {'; '.join(parts)}."


def on_a_drawn_order(some: Sequence[Learned]) -> str:
    """Section: the truth that is partly luck."""
    return f"""
## On a drawn order

{_both(some)}

{tables.differences(some)}

{_in_words(some)}
"""


def on_grades(some: Sequence[Learned]) -> str:
    """Section: grades."""
    return f"""
## On grades

{_both(some)}

{tables.in_print("graded MQ2007")}

{tables.in_print("graded TD2003")}

{tables.differences(some)}

{_in_words(some)} The paper's MQ2007 has 46 features of documents; ours has the ranks by 21 systems, which say more. So
values are not to be compared one by one, only differences between methods.
"""


def over_beta(ordered: Sequence[Learned], graded: Sequence[Learned]) -> str:
    """Section: β."""
    losses = losses_of_tuning([*ordered, *graded])
    return f"""
## Over β

![Difference of six measures to the better parent, over β]({FIGURE})

Test values with the same β in all folds, in steps of {STEPS[1]:g}, less those of the better parent: on the pooled order
(κ, solid) and on grades (dashed), by the six measures of the paper's Figure 1. The parents have no β; where a curve is
above 0, the Focused method with that β is above both.

{tables.over_beta(ordered)}

{tables.over_beta(graded)}

“Range” is the highest less the lowest value of the curve, over its mean. “Tuned” is the method of the tables above, its
β chosen in each fold on the validation queries. The best β of a curve, which is not known beforehand, is
{between(losses, 4, sign=True)} above that; it is the same in all folds, so that the tuned method can be the better one.
"""


class Representations(NamedTuple):
    """NDCG@10 of RankSVM on the validation part of MQ2007's first fold, by what stands for ranks."""

    as_they_are: float
    logarithms: float


def representations(data: Path, collection: Collection) -> Representations:
    """Fit RankSVM to grades with both."""
    folds = letor.mq2007_agg(data / "letor4_mq2007_agg", 1), collection.folds[0]
    found = in_parallel(fits, [Task(fold, candidates("RankSVM", ())) for fold in folds])
    return Representations(*(fit.value for (fit,) in found))


def limits(ranks: Representations) -> str:
    """Section: how it was made."""
    worse = ranks.as_they_are < ranks.logarithms
    return f"""
## How this was made, and what cannot be said

| what | how |
|---|---|
| command | `python -m experiments.top_k`, about a quarter of an hour on two cores |
| collections | LETOR 4.0: MQ2008; MQ2007-agg, −ln r of ranks r as features, r = {BELOW_ALL:,} where there is none |
| folds | LETOR's own five: three parts to learn from, one to validate, one to test |
| measure to tune, stop and boost by | `kNDCG@10` on the validation part |
| C of the SVMs | {", ".join(f"{c:g}" for c in C)}, features scaled to deviation 1; losses are means over queries |
| iterations | networks and boosting stop after 30 and 50 rounds without a better value, and keep the best |
| β | 0 to 1 in steps of {STEPS[1]:g}, on the drawn order {", ".join(f"{b:g}" for b in FEW)} |
| networks | linear, as in the paper; FocusedNet's ListNet is over all orders of the top {K} |
| FocusedSVM | its listwise loss is over the order of the top {K}: the printed one is constant |
| ties of scores | by the documents' ids |
| seed | {SEED} |

- The ordered truths are made from grades. The paper's, MQ2007-list, is another one, and was not available.
- The losses differ from the printed ones where these cannot be meant; the methods' documentation says how.
- Ranks as they are, with the mean where there is none, {says(worse, "serve", "do not serve")} a linear method worse
  than −ln r: NDCG@10 of RankSVM on the validation part of MQ2007's first fold is {number(ranks.as_they_are, 3)} with
  them and {number(ranks.logarithms, 3)} with −ln r. All methods here have the latter.
- There is one seed and one random order. The tests cover only the choice of queries.
"""
