"""The systems, the lengths of their lists, and what each measure makes of them."""

from __future__ import annotations

import numpy as np

from experiments.markdown import bullets, number, paragraph, percent, says, table
from experiments.truncation.cuts import QUANTILES, in_one_piece
from experiments.truncation.printed import FIVES_AFTER, FIVES_BEFORE, LISTS, TRUNCATED
from experiments.truncation.setting import CORRECT, MEASURES, MODIFIED, ORIGINAL, PLAIN, Setting

#: The cuts of CNN-Cnt that the table shows; the figures show all of them.
SHOWN = ("all", "q50", "q80", "q90", "q94", "q98", "top 4", "top 2", "top 1", "NIL@4", "NIL@2", "NIL@1")


def the_lists(setting: Setting, unlimited: Setting) -> str:
    """Section: systems and lengths."""
    found, questions = setting.found, setting.questions
    before, after = found.lengths("before"), found.lengths("after")
    rows = [
        [words, *(f"{counts.get(n, 0):,}" for n in range(6))]
        for words, counts in (("as they came, NIL counted", before), ("after NIL ended them", after))
    ]
    short = float((questions.candidates < 5).mean())
    return f"""
## The systems and their lists

WikiQA asks {len(questions.ids)} test questions, each with the {questions.candidates.min()} to
{questions.candidates.max()} sentences of a passage ({number(questions.candidates.mean(), 1)} on average).
{int(questions.nil.sum())} of them ({percent(questions.nil.mean())}) have no answer among these; the others have
{number(questions.answers[~questions.nil].mean(), 2)} on average. The corpus's authors give the scores of two networks
for every sentence, CNN and CNN-Cnt (which counts words in common, too). Each becomes many systems that differ only in
where their lists end:

| systems | lists |
| --- | --- |
| all | never ended on purpose: the first five sentences, or all where a question has fewer |
| q{QUANTILES[0]} to q{QUANTILES[-1]} | sentences that score above that many percent of the dev sentences; then NIL |
| top 1 to top 4 | that many sentences, then NIL |
| NIL@1 to NIL@4 | the full list with NIL put in at that rank: a bet on both |
| nothing | NIL alone |

A list that ended because the question has no more sentences gets no NIL, because nobody ended it. Lists hold five
entries at most, NIL included, as in TREC 2001; a second setting has no such limit. There are {len(setting.names)}
systems ({len(unlimited.names)} without the limit, where fixed lengths and NIL go down to rank 10).

{table(["lists of length", *map(str, range(6))], rows)}

{
        paragraph(
            f"{percent(found.ended.mean())} of the {found.ended.size:,} lists were ended on purpose by the rule of Liu "
            f"et al.'s Table 2. In the paper it was about {percent(TRUNCATED / LISTS, 0)} of {LISTS:,}: of about "
            f"{FIVES_BEFORE:,} full lists {FIVES_AFTER:,} stay full, here {before[5]:,} become {after[5]:,}.",
            says(
                0 not in before and after[0] > 0,
                "As there, no list is empty before the rule and many are after it, because even silence has to be "
                "said with NIL.",
            ),
            f"Even the systems that are never cut end {percent(found.truncated['CNN all'])} of their lists by that "
            f"rule: {percent(short)} of the questions have fewer than five sentences, and a list shorter than five "
            "counts as ended. That is a flaw of the rule on this collection, and part of every number below.",
        )
    }
"""


def the_scores(setting: Setting) -> str:
    """Section: scores by original and modified measures, and hedging."""
    rows, shapes = [], []
    for name in [*(f"CNN-Cnt {cut}" for cut in SHOWN), "nothing"]:
        i, cut = setting.names.index(name), in_one_piece(name.removeprefix("CNN-Cnt "))
        pairs = [" → ".join(number(setting.mean(kind, m, name), 3) for kind in (ORIGINAL, MODIFIED)) for m in MEASURES]
        rows.append([cut, *map(in_one_piece, pairs)])
        ended = percent(setting.found.truncated[name], 0)
        correct = number(setting.mean(PLAIN, CORRECT, name), 3)
        shapes.append([cut, number(setting.shown[i], 2), percent(setting.empty[i], 0), ended, correct])
    first, *heads = (in_one_piece(head) for head in ("CNN-Cnt", *(f"{m} → {m}′" for m in MEASURES)))
    return f"""
## What the measures make of them

The lists of CNN-Cnt: sentences shown a question, before NIL; lists that show none; lists that were ended on purpose;
and c@1.

{table([first, "shown", "empty", "ended", "c@1"], shapes)}

Each cell of the next table goes from the original measure with TREC 2001's rule, by which NIL is the one right answer
of a question that has none, to the measure as Liu et al. modify it, by which NIL ends the list and the end has a gain.

{table([first, *heads], rows)}

![Every system by the original and by the modified measure, four panels](quit-while-ahead-scores.svg)

{_in_words(setting)}

![Modified minus original score against the share of lists that were ended](quit-while-ahead-change.svg)

{_gains(setting)}
"""


def same_where_nil_is_last(setting: Setting) -> bool:
    """Whether RR is RR' in every list that says NIL at its end."""
    said = setting.found.before == setting.found.after + 1
    one, two = (setting.by_question(kind, "RR")[said] for kind in (ORIGINAL, MODIFIED))
    return bool(np.array_equal(one, two))


def hedges_win(setting: Setting) -> bool:
    """Whether the best system by every original measure is a full list behind a NIL."""
    return all(setting.names[setting.best(ORIGINAL, m)].endswith("NIL@1") for m in MEASURES)


def hedges_are_silence(setting: Setting) -> bool:
    """Whether the modified measures score a full list behind a NIL as no list at all."""
    return all(
        setting.mean(MODIFIED, m, f"{r} NIL@1") == setting.mean(MODIFIED, m, "nothing")
        for m in MEASURES
        for r in ("CNN", "CNN-Cnt")
    )


def _in_words(setting: Setting) -> str:
    hedge, silence = (setting.mean(ORIGINAL, "RR", name) for name in ("CNN-Cnt NIL@1", "nothing"))
    honest = ~setting.of("hedge")
    lose = all((setting.means(MODIFIED, m) < setting.means(ORIGINAL, m))[~honest].all() for m in ("RR", "nDCG", "AP"))
    return bullets(
        paragraph(
            says(
                hedges_win(setting),
                "**The original measures pay for hedging.** By all four the best system of all is NIL@1, which says "
                f"that there is no answer and then gives some: RR {number(hedge, 3)}, where NIL alone has "
                f"{number(silence, 3)}. Liu et al. name the trick, and these numbers show how much it gains.",
            ),
            says(
                hedges_are_silence(setting),
                "The modified measures read NIL as the end, and give NIL@1 exactly what they give to nothing.",
            ),
            says(lose, "By RR′, nDCG′ and AP′ every hedging system scores lower than by the original measure."),
        ),
        says(
            same_where_nil_is_last(setting),
            "**For a list that says NIL at its end, and nowhere else, RR is RR′**, to the last digit: on a question "
            "without an answer both are 1 / (rank of NIL), on another one NIL counts for nothing. So whatever "
            "separates RR from RR′ is hedging, and lists that end without saying so.",
        ),
    )


def _gains(setting: Setting) -> str:
    change = {m: setting.means(MODIFIED, m) - setting.means(ORIGINAL, m) for m in MEASURES}
    by_score, ended = setting.of("all", "score"), np.array(list(setting.found.truncated.values()))
    ways = {m: float(np.corrcoef(ended[by_score], change[m][by_score])[0, 1]) for m in MEASURES}
    return paragraph(
        says(
            ways["RBP"] > 0.9 and max(ways[m] for m in ("RR", "nDCG", "AP")) < 0,
            "Liu et al. plot scores against the share of truncated lists and see their two best systems gain. Here, "
            "among systems cut by score, gain goes with that share by RBP only: the more lists end, the more RBP′ "
            "exceeds RBP, because every rank after the end now counts. By RR, nDCG and AP it is the systems that end "
            "the *fewest* lists that gain, through questions with fewer than five sentences, whose lists end "
            "without NIL.",
        ),
    )
