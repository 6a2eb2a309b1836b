"""Sections on the forum: what each rule gives, what expected gains are worth, second scores, single answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import ranksift as rs
from experiments.cutoffs.community import (
    EXPECTED,
    FOLDS,
    GOOD,
    MEASURE,
    NORMALISED,
    NOT_FORBIDDEN,
    POSITIVE,
    TEST,
    TRAIN,
    Forum,
    K,
)
from experiments.cutoffs.model import RIDGE
from experiments.cutoffs.printed import TABLE_6, TABLE_7
from experiments.cutoffs.rules import (
    FOR_DCG,
    GLOBAL,
    ORACLE,
    SHOW_ALL,
    SHOW_NOTHING,
    Outcome,
    named,
    same_as_global,
)
from experiments.markdown import between, number, paragraph, percent, probability, says, table
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.held_out import aggregate, held_out
from ranksift.cutoffs.threshold import one_measure


def outcomes(forum: Forum) -> dict[str, Outcome]:
    """The main comparison, twice."""
    return {TEST: forum.tested, TRAIN: forum.trained}


def the_rules(forum: Forum) -> str:
    """Section: the main tables."""
    dev, test, train = forum.dev.answers, forum.test.answers, forum.train
    printed = [
        [name, *(number(v) for v in row[:3]), *(f"{number(v, 1)} %" for v in row[3:])] for name, row in TABLE_7.items()
    ]
    head = ["as printed", "nDCG_f@3", "nDCG_0@3", "nDCG_min@3", "F-docs", "good filtered", "empty"]
    return f"""
## Answers in a forum

SemEval-2015 task 3 has questions of a forum with all their answers. As in Carmel et al.'s community question answering,
a Good answer has gain 2, a Potential one 1, and what is no answer (Bad, Dialogue, another language) is forbidden, with
gain −10. A multinomial logistic regression (ridge {RIDGE:g}, nothing tuned) is fitted on the {train.questions:,}
training questions with {train.features.shape[1]} features that come with the data. Its likeliest label is right for
{percent(forum.test.accuracy, 0)} of the test answers, and of a forbidden answer and another one it finds the forbidden
one likelier to be so in {percent(forum.test.told_apart, 0)} of the pairs. Answers are ranked by their expected gain,
and cut on it. Rules are fitted on dev ({dev.questions} questions, {percent(dev.forbidden)} of the answers forbidden)
and judged on test ({test.questions}, {percent(test.forbidden)}):

{forum.tested.table()}

All measures are at {K}. ▲ and ▼: significantly better or worse than the global cut (two-sided paired t test, Holm's
correction over the rules of the table, p ≤ 0.05). The rows {POSITIVE} and {NORMALISED} need no dev questions; they are
explained [below](#the-expected-gain-and-the-normaliser). The oracle knows the labels of every query.

{_test_in_words(forum)}

![Forbidden answers shown against good answers filtered, for every threshold, and of some rules](cutoffs-tradeoff.svg)

The same on the {train.questions:,} training questions, which is eight times as many: {FOLDS} folds, each scored by a
model of the other four, and cut by rules that are fitted on the other four:

{forum.trained.table()}

{_train_in_words(forum)}

### Beside the paper's Table 7

These are Carmel et al.'s results for their own community answers, with transformers and other questions:

{table(head, printed)}

{_beside_the_paper(forum)}
"""


def _test_in_words(forum: Forum) -> str:
    found = forum.tested
    all_, nothing = found.value(SHOW_ALL), found.value(SHOW_NOTHING)
    cut = found.against_global[SHOW_ALL]
    worse = [
        rule
        for rule, d in found.against_global.items()
        if d.sign < 0 and rule not in (SHOW_NOTHING, SHOW_ALL, "filter-only")
    ]
    return paragraph(
        says(
            cut.sign < 0 and all_ > nothing,
            f"Cutting pays: {number(found.value(GLOBAL))} against {number(all_)} with everything shown "
            f"(p = {probability(cut.p)}) and {number(nothing)} with nothing.",
        ),
        says(not found.better, f"No rule is significantly better than the global cut; the best is {found.best}."),
        says(bool(worse), f"Significantly worse: {named(worse)}."),
        f"The global cut goes {percent(found.gap_closed(GLOBAL), 0)} of the way from showing everything to the oracle "
        f"({number(found.oracle)}), the best rule {percent(found.gap_closed(found.best), 0)}.",
        says(
            found.value("normalized") < found.value(GLOBAL),
            "Normalised scores lose here: the model's scores mean the same in every question, and a question of bad "
            "answers only is one in which none should be kept, which a score within its question cannot tell.",
        ),
    )


def _train_in_words(forum: Forum) -> str:
    found, tested = forum.trained, forum.tested
    return paragraph(
        says(
            not found.better,
            f"With more questions to judge by, still no rule is significantly better than the global cut; the best, "
            f"{found.best}, by {number(found.against_global[found.best].mean, 4, sign=True)}."
            if found.best != GLOBAL
            else "",
            f"With more questions to judge by, {named(found.better)} is significantly better than the global cut.",
        ),
        f"A question has {number(len(forum.train) / forum.train.questions, 1)} answers on average: the shape of so "
        "short a list says little that its scores do not.",
        f"The global cut has {number(found.value(GLOBAL), 3)} here and {number(tested.value(GLOBAL), 3)} on test; "
        f"showing everything {number(found.value(SHOW_ALL), 3)} and {number(tested.value(SHOW_ALL), 3)}.",
    )


def _beside_the_paper(forum: Forum) -> str:
    ours, printed = forum.tested, TABLE_7
    kinds = {
        SHOW_NOTHING: "filter-all",
        SHOW_ALL: "rank-only (ordinal)",
        GLOBAL: "ordinal",
        "filter-only": "filter-only (BCE)",
    }
    order = sorted(kinds, key=ours.value)
    theirs = sorted(kinds, key=lambda rule: printed[kinds[rule]][0])
    return paragraph(
        says(
            order == theirs,
            "The baselines are in the same order here and in the paper: showing nothing, showing everything, filtering "
            "without ranking, ranking with a cut.",
            "The baselines do not stand in the same order here and there.",
        ),
        f"Filtering adds {number(ours.value(GLOBAL) - ours.value(SHOW_ALL), 3, sign=True)} here and "
        f"{number(printed['ordinal'][0] - printed['rank-only (ordinal)'][0], 3, sign=True)} there; "
        f"F-docs@3 fall from {percent(ours.value(SHOW_ALL, 'Fdocs@3'), 0)} to "
        f"{percent(ours.value(GLOBAL, 'Fdocs@3'), 0)} here and from {printed['rank-only (ordinal)'][3]:.0f} % to "
        f"{printed['ordinal'][3]:.0f} % there, at the price of {percent(ours.value(GLOBAL, 'GoodFiltered'), 0)} and "
        f"{printed['ordinal'][4]:.0f} % of the good answers.",
        "The numbers themselves cannot be compared: showing nothing scores "
        f"{number(ours.value(SHOW_NOTHING), 2)} here and {number(printed['filter-all'][0], 2)} there, as more of these "
        "answers are forbidden.",
    )


# -- expected gains --------------------------------------------------------------------------------------------------


def expected_gain(forum: Forum) -> str:
    """Section: the rule that is optimal for DCG, and the one that is optimal for nDCG_f."""
    values = _dcg_and_ndcg(forum)
    head = ["rule", "DCG@3, test", "nDCG_f@3, test", "DCG@3, train", "nDCG_f@3, train"]
    rows = [[rule, *(number(v) for v in row)] for rule, row in values.items()]
    tuned, for_dcg = "global, fitted to nDCG_f@3", "global, fitted to DCG@3"
    at = {name: np.array(row) for name, row in values.items()}
    dcg, ndcg = [0, 2], [1, 3]
    words = paragraph(
        says(
            bool((at[POSITIVE][dcg] >= at[tuned][dcg]).all() and (at[POSITIVE][ndcg] < at[tuned][ndcg]).all()),
            f"By DCG, E[g] ≥ 0 is nearly as good as a cut that is tuned to it ({between(at[POSITIVE][dcg].tolist())} "
            f"and {between(at[for_dcg][dcg].tolist())}), without any tuning. By nDCG_f it is much too strict.",
        ),
        says(
            bool((at[NORMALISED][ndcg] > at[POSITIVE][ndcg] + 0.02).all()),
            f"E[g/(I − W)] ≥ 0 avoids this: {between(at[NORMALISED][ndcg].tolist())}, without a labelled question "
            f"beyond those of the model, where the tuned cut has {between(at[tuned][ndcg].tolist())}.",
        ),
        _no_difference(forum),
        "`ExpectedGainCutoff` does the same for a ranker that gives a score only: without a measure it is the rule for "
        f"DCG ({FOR_DCG} in the tables), with nDCG_f it weighs documents by 1/(I − W).",
    )
    return f"""
### The expected gain, and the normaliser

A model that gives the probability of every label gives the expected gain E[g] of every answer. DCG adds gains up, so
the list of highest expected DCG ranks by E[g] and drops what is below 0: no threshold has to be tuned. nDCG_f is
another matter. It divides by I − W, the best less the worst DCG of the *query*, which depends on all its labels. In a
question with one answer, showing a forbidden one costs as much as dropping a good one, whatever the gains are (Carmel
et al., Proposition 3.4); in a question whose answers are all forbidden, one of them costs a part of 1 only. What is
optimal for nDCG_f is, by the same argument, to rank by E[g/(I − W)] and to drop what is below 0. This requires the
probabilities of all answers of the question. Here labels are drawn from them a thousand times, independently of each
other.

{table(head, rows)}

{words}
"""


def _dcg_and_ndcg(forum: Forum) -> Mapping[str, list[float]]:
    """DCG@3 and nDCG_f@3 on test and on train, by rule."""
    measures = [one_measure(f"DCG@{K}"), one_measure(MEASURE)]
    rules: dict[str, tuple[Cutoff, Cutoff]] = {}
    for name, measure in (("nDCG_f@3", MEASURE), ("DCG@3", f"DCG@{K}")):
        rules[f"global, fitted to {name}"] = (rs.GlobalCutoff(measure), rs.GlobalCutoff(measure))
    for name in (POSITIVE, NORMALISED):
        one, other = forum.test.more[name], forum.folded.more[name]
        assert isinstance(one, Cutoff)
        assert isinstance(other, Cutoff)
        rules[name] = (one, other)
    dev, test, train = forum.dev.lists(EXPECTED), forum.test.lists(EXPECTED), forum.folded.lists(EXPECTED)
    out = {}
    for name, (on_test, on_train) in rules.items():
        kept = on_test.clone().fit_lists(dev).keep_lists(test)
        folded = held_out(on_train, train, FOLDS, 0)
        out[name] = [aggregate(m, test, kept) for m in measures] + [aggregate(m, train, folded) for m in measures]
    return out


def _no_difference(forum: Forum) -> str:
    found = [o.against_global[NORMALISED] for o in outcomes(forum).values()]
    single = Outcome(forum.trained.found.apart()["single-document queries"])
    feared, real = forum.folded.forbidden_alone
    return paragraph(
        says(
            all(d.sign == 0 for d in found),
            "Neither is significantly better than the other, on test or on train.",
        ),
        says(
            single.value(NORMALISED) < single.value(GLOBAL) and feared < real,
            f"On train it loses where there is one answer only ({number(single.value(NORMALISED), 3)}, the tuned cut "
            f"{number(single.value(GLOBAL), 3)}): the model expects {percent(feared, 0)} of these to be forbidden, and "
            f"{percent(real, 0)} are. A rule without tuning is only as good as its probabilities.",
        ),
    )


# -- other scores ----------------------------------------------------------------------------------------------------


def other_scores(forum: Forum) -> str:
    """Section: the same model's other scores, and two of them at once."""
    rows = [
        [name, *(number(o.value(rule)) for o in by_split.values() for rule in (SHOW_ALL, GLOBAL, ORACLE))]
        for name, by_split in forum.by_score.items()
    ]
    head = ["score", "all shown, test", "global", "oracle", "all shown, train", "global", "oracle"]
    single = forum.two_scores_less_one
    differences = " and ".join(
        f"{number(d.mean, 4, sign=True)} on {split}, p = {probability(d.p)}" for split, d in single.items()
    )
    words = paragraph(
        says(
            all(d.sign < 0 for d in single.values()),
            f"Ranking by {GOOD} and dropping by {NOT_FORBIDDEN} is worse than ranking and dropping by {GOOD} alone "
            f"({differences}; uncorrected).",
            f"Ranking by {GOOD} and dropping by {NOT_FORBIDDEN}, less ranking and dropping by {GOOD} alone: "
            f"{differences} (uncorrected).",
        ),
        "Two scores of one model say nearly the same. [The web track](#web-pages-and-spam) shows the value of a "
        "second score from another source.",
    )
    return f"""
### Other scores of the same model, and two at once

{table(head, rows)}

{words}
"""


# -- single answers --------------------------------------------------------------------------------------------------


def single_answers(forum: Forum) -> str:
    """Section: questions with one answer (Carmel et al.'s Table 6)."""
    apart = {split: Outcome(o.found.apart()["single-document queries"]) for split, o in outcomes(forum).items()}
    rows = [
        [name, number(nothing, 3), number(all_, 3), number(nothing + all_, 3), "", ""]
        for name, (nothing, all_) in {f"{n}, printed": v for n, v in TABLE_6.items()}.items()
    ]
    ours = []
    for split, o in apart.items():
        nothing, all_ = o.value(SHOW_NOTHING), o.value(SHOW_ALL)
        cells = [nothing, all_, nothing + all_, o.value(GLOBAL), o.value(o.best)]
        ours.append(
            [
                f"SemEval, {split} ({o.queries} questions)",
                *(number(v, 3) for v in cells[:4]),
                f"{number(cells[4], 3)} ({o.best})",
            ]
        )
    head = ["single-document queries", "nothing shown", "all shown", "sum", "global", "best rule"]
    one = all(abs(o.value(SHOW_NOTHING) + o.value(SHOW_ALL) - 1) < 1e-9 for o in apart.values())
    train = apart[TRAIN]
    beaten = [train.against_global[rule] for rule in (SHOW_NOTHING, SHOW_ALL)]
    same = same_as_global(train)
    words = paragraph(
        says(one, "They do add up to 1."),
        says(
            train.value(SHOW_NOTHING) > train.value(SHOW_ALL),
            "Of the training questions' single answers most are forbidden, so that it is better to drop them all than "
            "to show them all; in the paper's data it is the other way round.",
        ),
        says(
            all(d.sign < 0 for d in beaten),
            f"On train the global cut is right in {percent(train.value(GLOBAL), 0)} of the questions and "
            "significantly better than either.",
        ),
        says(not train.better, "No rule is significantly better than it there."),
        says(
            bool(same), f"The decisions of {named(same)} are those of the global cut: one score cannot be normalised."
        ),
    )
    return f"""
### Questions with a single answer

nDCG_f of a question with one answer is 1 where the answer is rightly shown or rightly dropped, else 0. Its mean is the
accuracy of filtering, and showing nothing and showing everything add up to 1 (Carmel et al., Table 6):

{table(head, [*ours, *rows])}

{words}
"""
