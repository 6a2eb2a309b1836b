"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

from pathlib import Path

from experiments.markdown import between, bullets, number, page, paragraph, percent, probability, says
from experiments.truncation import figures
from experiments.truncation.lists import hedges_are_silence, hedges_win, the_lists, the_scores
from experiments.truncation.orders import PAPERS_SHARE, jumps, orders, taus, with_more_answers
from experiments.truncation.places import perfect, telling_apart
from experiments.truncation.printed import TABLE_3
from experiments.truncation.setting import CORRECT, MEASURES, MODIFIED, ORIGINAL, PLAIN, Setting
from experiments.truncation.stopping import SEED, against_silence, best_cut, excess, right_place, silent
from experiments.truncation.two_questions import two_questions
from experiments.truncation.wikiqa import RANKERS, Questions

NEEDS: tuple[str, ...] = ("wikiqa",)


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    test, dev = Questions(data, "test"), Questions(data, "dev")
    setting, unlimited = Setting(test, dev, limit=5), Setting(test, dev, limit=None)
    on_dev, richer = Setting(dev, dev, limit=5), Setting(with_more_answers(test), dev, limit=5)
    text = page(
        OPENING,
        in_short(setting, on_dev),
        the_lists(setting, unlimited),
        the_scores(setting),
        two_questions(setting),
        right_place(setting),
        best_cut(setting, on_dev, unlimited),
        orders(setting, unlimited, richer),
        LIMITS,
        figure="quit-while-ahead-cuts.svg",
        fold=True,
    )
    return {
        "quit-while-ahead.md": text,
        "quit-while-ahead-scores.svg": figures.scores(setting),
        "quit-while-ahead-change.svg": figures.change(setting),
        "quit-while-ahead-cuts.svg": figures.cuts(setting),
        "quit-while-ahead-shares.svg": figures.shares(setting),
    }


OPENING = """
# Quit while ahead, on WikiQA

This page repeats a study of measures that reward stopping in time. Most questions of WikiQA have no answer among the
sentences that come with them. A good system should stop there, and elsewhere stop after the answer. Liu et al. (2016)
modify RR, nDCG, RBP and AP so that it pays to stop in time, and study what this changes for the systems of the TREC
2001 question answering track. Their study is repeated here on other data, with the lists of two real systems cut at
many places, and a question is added: *do* the modified measures reward stopping at the right place?

This page is written by

```
python -m experiments.truncation       # make experiments runs it too
```

from public data that is not part of the repository; `RANKSIFT_DATA` names the folder. The procedure is
`ranksift.study.truncation(qrels, runs, nil="NIL", limit=5)`.
"""


def in_short(setting: Setting, on_dev: Setting) -> str:
    """The findings, before the tables."""
    nil = float(setting.questions.nil.mean())
    hedge, silence = (setting.mean(ORIGINAL, "RR", name) for name in ("CNN-Cnt NIL@1", "nothing"))
    every = excess(setting)
    here, ten = (dict(zip(MEASURES, taus(setting, s, False), strict=True)) for s in (nil, PAPERS_SHARE))
    name, gain, p = against_silence(setting, on_dev, "nDCG")
    ceiling = [perfect(setting, "CNN-Cnt", MODIFIED, m) for m in MEASURES]
    first, last = zip(*jumps(setting).values(), strict=True)
    correct = setting.best(PLAIN, CORRECT)
    auc = [telling_apart(setting, r) for r in RANKERS]
    findings = bullets(
        says(
            hedges_win(setting) and hedges_are_silence(setting),
            "**Hedging no longer pays.** By TREC 2001's rule for NIL the best of all systems, by all four measures, is "
            "the one that says there is no answer and then gives its answers all the same (RR "
            f"{number(hedge, 3)}; NIL alone {number(silence, 3)}). The modified measures give it the same score "
            "as an empty list.",
        ),
        says(
            min(every) > 0,
            "**Stopping at the right place is rewarded.** Every cut by score beats the same list lengths "
            "assigned to the questions at random, by all four modified measures, by up to {number(max(every), 3)}.",
        ),
        says(
            silent(setting) == ["RR", "RBP", "AP"],
            f"**But these two systems should rather say nothing.** With {percent(nil, 0)} of the questions without an "
            f"answer, silence scores {number(nil, 3)} by all modified measures, and by RR′, RBP′ and AP′ no cut scores "
            f"more. By nDCG′ the cut that is best on dev ({name}) scores {number(gain, 3, sign=True)} against it "
            f"(p = {probability(p)}). Perfect cuts would score {between(ceiling)}. The reason is in the systems: "
            f"their top score separates a question with an answer from one without in {percent(auc[0], 0)} and "
            f"{percent(auc[1], 0)} of the pairs, where 50 % is chance.",
        ),
        f"**The best share of empty lists is not the share of questions without an answer.** It is next to 0 below "
        f"{percent(min(first), 0)} to {percent(max(first), 0)} of such questions, and 100 % from "
        f"{percent(min(last), 0)} to {percent(max(last), 0)} on.",
        paragraph(
            f"**Orders of systems.** Among systems that do not hedge, τ between the two orders is "
            f"{between(here.values())}; Liu et al. print {between(TABLE_3.values())}.",
            says(
                ten["RBP"] < 0.5,
                f"Where only 10 % of the questions have no answer, as there, RR, nDCG and AP have "
                f"{between([ten[m] for m in ('RR', 'nDCG', 'AP')])} and agree with the paper, RBP has "
                f"{number(ten['RBP'], 3)} and does not: with one answer a question RBP′ prefers short lists.",
            ),
        ),
        f"**c@1** prefers {setting.names[correct]}, with {percent(setting.empty[correct], 0)} empty lists: it does not "
        "ask whether a question has an answer.",
    )
    return f"""
**In short**

{findings}
"""


LIMITS = f"""
## How it was made, and what cannot be said

| | |
| --- | --- |
| data | Microsoft Research WikiQA Corpus 1.0: WikiQA-test.ref and -dev.ref, WikiQA.CNN and WikiQA.CNN-Cnt .rank files |
| thresholds | quantiles of each system's dev scores; a sentence at the threshold is kept |
| ties | equal scores in the order of sentence numbers as text, descending, as everywhere in RankSift |
| measures | binary gains; RBP with p = 0.5; nDCG to depth 5, or to the whole list without a limit |
| seed | {SEED}, for the bootstrap and the random deals |

- All systems are based on two networks of 2015. What is said about measures holds for these lists; what is said about
  silence holds for these two systems. One that can tell whether there is an answer would change it.
- TREC 2001's runs were not available. No number of the paper is reproduced or refuted here; Table 1 of the paper is, in
  the tests of the measures.
- Questions are reweighted to simulate other shares of questions without an answer. Their scores do not change with the
  share; a system built for such a mixture would have others.

F. Liu, A. Moffat, T. Baldwin, X. Zhang: Quit while ahead: evaluating truncated rankings. SIGIR 2016.

Y. Yang, W. Yih, C. Meek: WikiQA: a challenge dataset for open-domain question answering. EMNLP 2015.

A. Peñas, A. Rodrigo: A simple measure to assess non-response. ACL 2011.
"""
