"""The order of systems by original and by modified measures, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.markdown import between, bullets, number, paragraph, percent, says, table
from experiments.truncation.nil_share import SHARES, best_at, tau
from experiments.truncation.printed import ANSWERS, NIL_QUESTIONS, QUESTIONS, TABLE_3
from experiments.truncation.setting import MEASURES, MODIFIED, OWN_DEPTH, Setting
from experiments.truncation.wikiqa import Questions

PAPERS_SHARE = NIL_QUESTIONS / QUESTIONS
#: Answers added to every question that has one, so that there are about as many as in the paper.
UNFOUND = 24


def with_more_answers(questions: Questions) -> Questions:
    """The same questions, where those with an answer have many more that no system finds."""
    labels = questions.qrels.to_dict()
    for of in labels.values():
        if max(of.values()) > 0:
            of |= {f"unfound {i}": 1 for i in range(UNFOUND)}
    return questions.judged_by(labels)


def taus(setting: Setting, share: float, hedging: bool) -> list[float]:
    """Kendall's tau by each measure, of all systems or of those that do not hedge."""
    among = setting.honest | hedging
    return [tau(setting, m, share, among) for m in MEASURES]


def orders(setting: Setting, unlimited: Setting, richer: Setting) -> str:
    """Section: Kendall's tau beside the paper's Table 3, and why it differs."""
    here = float(setting.questions.nil.mean())
    rows = [["Liu et al., Table 3: 47 systems, 10 % without an answer", *(number(v, 3) for v in TABLE_3.values())]]
    for words, of, share, hedging in (
        ("WikiQA, lists of five, no hedging", setting, here, False),
        ("WikiQA, lists of five, all systems", setting, here, True),
        ("WikiQA, whole lists, no hedging", unlimited, here, False),
        ("WikiQA, whole lists, all systems", unlimited, here, True),
        ("10 % without an answer, no hedging", setting, PAPERS_SHARE, False),
        ("10 % without an answer, all systems", setting, PAPERS_SHARE, True),
        (f"10 % without, {UNFOUND} more answers, no hedging", richer, PAPERS_SHARE, False),
    ):
        rows.append([words, *(number(v, 3) for v in taus(of, share, hedging))])
    rows.append(["the same, nDCG to the depth of each list", "", number(to_own_depth(richer), 3), "", ""])
    return f"""
## The order of systems, beside the paper's

Kendall's τ between the order by the original measure and that by the modified one. The last rows weight questions with
and without an answer so that {percent(PAPERS_SHARE, 0)} have none, as in TREC 2001. There, questions with answers have
{ANSWERS} of them on average; so two rows add {UNFOUND} answers that no system finds to each such question.

{table(["", *(f"{m}, {m}′" for m in MEASURES)], rows)}

{_in_words(setting, richer)}

## Where the best cut lies as questions without an answer become more

The same systems, with different weights for questions with and without an answer (systems that hedge are left out):

![Kendall's tau, and empty lists of the best cut, by share of questions without an answer](quit-while-ahead-shares.svg)

{_optimum(setting)}
"""


def to_own_depth(setting: Setting) -> float:
    """Kendall's tau of nDCG and nDCG' with the paper's share of nil questions, where nDCG ends with each list."""
    return tau(setting, "nDCG", PAPERS_SHARE, setting.honest, original=OWN_DEPTH)


def _in_words(setting: Setting, richer: Setting) -> str:
    here = dict(zip(MEASURES, taus(setting, float(setting.questions.nil.mean()), False), strict=True))
    ten = dict(zip(MEASURES, taus(setting, PAPERS_SHARE, False), strict=True))
    many = dict(zip(MEASURES, taus(richer, PAPERS_SHARE, False), strict=True))
    own = to_own_depth(richer)
    return bullets(
        paragraph(
            says(
                min(here.values()) > 0.9 and here["RR"] == max(here.values()),
                f"**What agrees.** With {percent(setting.questions.nil.mean(), 0)} of the questions without an answer "
                f"both orders are alike ({between(here.values())}), as in the paper ({between(TABLE_3.values())}), and "
                "RR changes least.",
            ),
            says(
                min(ten["RR"], ten["nDCG"]) > 0.95 > ten["AP"],
                "With the paper's share of such questions RR and nDCG stay above 0.95 and AP is lower, as printed.",
            ),
        ),
        says(
            ten["RBP"] < 0.5 and many["RBP"] > 0.8,
            f"**What differs: RBP**, {number(ten['RBP'], 3)} where the paper has {number(TABLE_3['RBP'], 3)}. RBP′ "
            "gives every rank behind the end the share of answers that were found. With one answer a question, as "
            "here, a list of one right sentence then has 1 where RBP gives ½, and short lists overtake long ones. With "
            f"{ANSWERS} answers that share is small: adding {UNFOUND} that nobody finds brings RBP to "
            f"{number(many['RBP'], 3)}.",
        ),
        says(
            many["nDCG"] < 0.6 and own > 0.9,
            f"**What the paper leaves open: the depth of nDCG.** With so many answers nDCG@5 falls to "
            f"{number(many['nDCG'], 3)}: it compares a list of one with an ideal list of five, nDCG′ with one of two. "
            f"Normalised to the depth of each list, the original nDCG has {number(own, 3)}. The paper prints "
            f"{number(TABLE_3['nDCG'], 3)}, and may have done that.",
        ),
        "τ is a property of the systems as much as of the measures. All of ours have one of two orders, and most end "
        "nearly all of their lists; how densely to cut was our choice. The paper's systems, of many groups, must "
        "differ in their answers more than in where they stop. Equal numbers would be a coincidence.",
    )


def jumps(setting: Setting) -> dict[str, tuple[float, float]]:
    """By each modified measure the share from which on the best cut has empty lists, and from which on only these."""
    found = {}
    for m in MEASURES:
        empty = np.array([setting.empty[best_at(setting, MODIFIED, m, float(s), setting.honest)] for s in SHARES])
        found[m] = (float(SHARES[np.argmax(empty > 0.05)]), float(SHARES[np.argmax(empty == 1)]))
    return found


def _optimum(setting: Setting) -> str:
    first, last = ({m: ends[i] for m, ends in jumps(setting).items()} for i in (0, 1))
    return paragraph(
        "**The best share of empty lists is not the share of questions without an answer.** Below "
        f"{_from_to(first)} of such questions the best cut leaves next to no list empty, though it may cut them short; "
        f"then it jumps, and from {_from_to(last)} on it leaves all of them empty. A system that knew its questions "
        "would follow the diagonal. One that does not can only bet on the more common kind.",
    )


def _from_to(shares: Mapping[str, float]) -> str:
    ends = [
        f"{percent(end, 0)} ({' and '.join(f'{m}′' for m in MEASURES if shares[m] == end)})"
        for end in (min(shares.values()), max(shares.values()))
    ]
    return " to ".join(ends)
