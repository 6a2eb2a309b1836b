"""Does it pay to stop, and where."""

from __future__ import annotations

import numpy as np

import ranksift as rs
from experiments.markdown import between, bullets, number, paragraph, percent, probability, says, table
from experiments.truncation.cuts import in_one_piece
from experiments.truncation.nil_share import best_by_chance
from experiments.truncation.places import by_top_score, dealt, luck, perfect, telling_apart
from experiments.truncation.setting import CORRECT, MEASURES, MODIFIED, ORIGINAL, PLAIN, Setting
from experiments.truncation.wikiqa import RANKERS

DEALS, SAMPLES, SEED = 1000, 1000, 0
#: The cuts whose lengths are dealt out at random in the table.
DEALT = (50, 80, 90, 94, 98)
KINDS = {ORIGINAL: "{}", MODIFIED: "{}′"}


def right_place(setting: Setting) -> str:
    """Section: the same lengths at random, and the perfect cut."""
    rows = []
    for ranker in RANKERS:
        for quantile in DEALT:
            name = f"{ranker} q{quantile}"
            cells = []
            for m in MEASURES:
                score, random = setting.mean(MODIFIED, m, name), dealt(setting, name, MODIFIED, m)
                cells.append(f"{number(score, 3)} ({number(score - random, 3, sign=True)})")
            p = max(luck(setting, name, MODIFIED, m, DEALS, SEED) for m in MEASURES)
            rows.append(
                [in_one_piece(name), percent(setting.empty[setting.names.index(name)], 0), *cells, probability(p)]
            )
    best = [
        [f"{r}, perfectly cut", "", *(number(perfect(setting, r, MODIFIED, m), 3) for m in MEASURES), ""]
        for r in RANKERS
    ]
    fifths = by_top_score(setting, "CNN-Cnt")
    return f"""
## Is stopping at the right place rewarded?

A cut decides two things: how much is shown in all, and for which questions. To see the second alone, the lengths of a
system's lists are assigned at random among questions with as many sentences (five or more being the same). The
expected score of that is computed exactly. Score by the modified measure, and in brackets by how much it exceeds the
same lengths at random; p is the share of {DEALS:,} random deals that score as high, for the measure where it is
largest.

{table(["system", "empty", *(f"{m}′" for m in MEASURES), "p"], [*rows, *best])}

![Score against sentences shown, in a panel for each modified measure](quit-while-ahead-cuts.svg)

{_rewarded(setting)}

The gain is small because neither system's scores say much about whether a question *has* an answer. The top score of
a question with an answer is above that of one without in {percent(telling_apart(setting, "CNN"), 0)} (CNN) and
{percent(telling_apart(setting, "CNN-Cnt"), 0)} (CNN-Cnt) of all pairs, where 50 % is chance. With one sentence instead
of none, RR′ gains 1 where the sentence is right and loses ½ where there is no answer. The questions in order of
CNN-Cnt's top score, a fifth each:

{
        table(
            ["fifth", "no answer", "top sentence right", "RR′, one sentence − none"],
            [
                [words, percent(nil), percent(right), number(right - nil / 2, 3, sign=True)]
                for words, (nil, right) in zip(("lowest", "second", "third", "fourth", "highest"), fifths, strict=True)
            ],
        )
    }

{
        says(
            all(right < nil / 2 for nil, right in fifths),
            "Even in the fifth about which the system is most certain, showing a sentence is not worth the risk.",
        )
    }
"""


def excess(setting: Setting) -> list[float]:
    """By how much each cut by score exceeds the same lengths at random, by each modified measure."""
    names = [setting.names[i] for i in np.flatnonzero(setting.of("score"))]
    return [setting.mean(MODIFIED, m, n) - dealt(setting, n, MODIFIED, m) for n in names for m in MEASURES]


def _rewarded(setting: Setting) -> str:
    every = excess(setting)
    plain = [setting.means(PLAIN, m) for m in MEASURES]
    whole = all((p[setting.names.index(f"{r} all")] >= p[setting.by(r)] - 1e-12).all() for p in plain for r in RANKERS)
    ceiling = [perfect(setting, "CNN-Cnt", MODIFIED, m) for m in MEASURES]
    four, five = (setting.mean(MODIFIED, "nDCG", f"CNN-Cnt {cut}") for cut in ("top 4", "all"))
    return paragraph(
        says(
            min(every) > 0,
            f"**Yes.** Each of the {int(setting.of('score').sum())} cuts by score beats its own lengths at random, by "
            f"all four measures, by up to {number(max(every), 3)}.",
        ),
        says(
            whole,
            "Without a rule for NIL no cut ever does anything but lose: the plain measures score the uncut list "
            "highest, by definition.",
        ),
        f"A system with CNN-Cnt's order that always knew where to stop would score {between(ceiling)}.",
        says(
            four > five,
            "The bump at the right end of the dotted curves is the limit: four sentences and NIL end on purpose, five "
            "do not, and on a question without an answer score 0.",
        ),
    )


def best_cut(setting: Setting, on_dev: Setting, unlimited: Setting) -> str:
    """Section: which cut is best, by each measure."""
    head = ["measure", "best", "score", "shown", "empty", "5–95 %", "best on dev", "its score"]
    rows = [_row(setting, on_dev, kind, m) for m in MEASURES for kind in KINDS]
    rows.append(_row(setting, on_dev, PLAIN, CORRECT, "c@1"))
    return f"""
## Which cut is best?

The best system that does not hedge, with its score, the sentences it shows a question and its empty lists. "5–95 %" is
where the share of empty lists of the best one lies in {SAMPLES:,} bootstrap samples of the questions. "Best on dev" is
the one to choose by the dev questions, with what that one scores here: the best cut on test is not known beforehand.
Plain RR, nDCG, RBP and AP, without a rule for NIL, are left out: by them the best is never to cut.

{table(head, rows, words=2)}

{_best_in_words(setting, on_dev, unlimited)}
"""


def _row(setting: Setting, on_dev: Setting, kind: str, measure: str, name: str = "") -> list[str]:
    means = setting.means(kind, measure)
    best = setting.best(kind, measure, setting.honest)
    chosen = on_dev.best(kind, measure, on_dev.honest)
    low, high = np.quantile(setting.empty[best_by_chance(setting, kind, measure, SAMPLES, SEED)], [0.05, 0.95])
    return [
        name or KINDS[kind].format(measure),
        in_one_piece(setting.names[best]),
        number(means[best], 3),
        number(setting.shown[best], 2),
        percent(setting.empty[best], 0),
        in_one_piece(f"{number(100 * low, 0)} to {percent(high, 0)}"),
        in_one_piece(setting.names[chosen]),
        number(means[chosen], 3),
    ]


def silent(setting: Setting) -> list[str]:
    """The modified measures by which nothing scores more than not answering at all."""
    return [m for m in MEASURES if setting.names[setting.best(MODIFIED, m, setting.honest)] == "nothing"]


def against_silence(setting: Setting, on_dev: Setting, measure: str) -> tuple[str, float, float]:
    """The cut that is best on dev, its difference to no answer at all on test, and the p-value of a paired t-test."""
    name = on_dev.names[on_dev.best(MODIFIED, measure, on_dev.honest)]
    found = rs.compare(setting.found.scores, baseline="nothing", test="t", correction="none")
    i, m = found.pairs.index((name, "nothing")), setting.found.scores.column(dict(setting.pairs)[measure])
    return name, float(found.difference[i, m]), float(found.p[i, m])


def _best_in_words(setting: Setting, on_dev: Setting, unlimited: Setting) -> str:
    quiet = silent(setting)
    nil = float(setting.questions.nil.mean())
    name, gain, p = against_silence(setting, on_dev, "nDCG")
    ndcg = setting.best(MODIFIED, "nDCG", setting.honest)
    chance = {m: best_by_chance(setting, MODIFIED, m, SAMPLES, SEED) for m in MEASURES}
    nothing = setting.names.index("nothing")
    as_often = {m: float((chance[m] == nothing).mean()) for m in MEASURES}
    same = all(
        setting.names[setting.best(MODIFIED, m, setting.honest)]
        == unlimited.names[unlimited.best(MODIFIED, m, unlimited.honest)]
        for m in MEASURES
    )
    correct = setting.best(PLAIN, CORRECT)
    left_empty = setting.lengths[ndcg] == 0
    return bullets(
        says(
            quiet == ["RR", "RBP", "AP"],
            f"**By RR′, RBP′ and AP′ the best is to say nothing**, which scores {number(nil, 3)}: the share of "
            "questions without an answer. That says more about the two systems than about the measures, for which a "
            "perfect cut would be worth far more (above).",
        ),
        paragraph(
            f"**By nDCG′ the best is {setting.names[ndcg]}.** It discounts more gently, so that a sentence too many "
            f"costs {number(1 - 1 / np.log2(3), 2)} instead of ½. {percent(left_empty.mean(), 0)} of the lists are "
            f"empty, near the {percent(nil, 0)} of questions without an answer, but they are not the same questions: "
            f"{percent(left_empty[setting.questions.nil].mean(), 0)} of those without an answer get an empty list, and "
            f"{percent(left_empty[~setting.questions.nil].mean(), 0)} of those with one.",
            f"The cut that is best on dev is {name}: {number(gain, 3, sign=True)} against saying nothing, "
            f"p = {probability(p)} in a paired t-test.",
            says(p > 0.05, "So a gain over silence is not established by any of the four."),
        ),
        paragraph(
            "**The optimum is flat**, and its exact position is chance.",
            f"In the bootstrap samples silence is the best in {percent(as_often['RR'], 0)} (RR′), "
            f"{percent(as_often['nDCG'], 0)} (nDCG′), {percent(as_often['RBP'], 0)} (RBP′) and "
            f"{percent(as_often['AP'], 0)} (AP′) of the cases.",
            says(same, "Without the limit of five the same systems are the best by all four modified measures."),
        ),
        f"**c@1** prefers {setting.names[correct]}, with {percent(setting.empty[correct], 0)} empty lists. It gives an "
        "unanswered question the share of right first answers, and does not ask whether there was an answer: silence "
        "pays only where the first sentence is less likely to be right than on average. Saying nothing at all scores "
        f"{number(setting.mean(PLAIN, CORRECT, 'nothing'), 0)}.",
    )
