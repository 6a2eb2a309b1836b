"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

from pathlib import Path

from experiments.cutoffs import figures
from experiments.cutoffs.community import EXPECTED, MEASURE, NORMALISED, POSITIVE, SEED, Forum, K
from experiments.cutoffs.forum import expected_gain, other_scores, outcomes, single_answers, the_rules
from experiments.cutoffs.loss_table import losses_tuned
from experiments.cutoffs.promises import SIZES, BySize, Controlled, Tuned, by_size, controlled, kept
from experiments.cutoffs.questions import System, systems, wikiqa
from experiments.cutoffs.rules import (
    BASELINES,
    DELTA,
    GLOBAL,
    ORACLE,
    RISK,
    SHOW_ALL,
    SHOW_NOTHING,
    Outcome,
    described,
    named,
    rules,
    whole,
)
from experiments.cutoffs.topics import KS, YEARS, Track, web
from experiments.markdown import between, bullets, number, page, paragraph, percent, probability, says, table

NEEDS: tuple[str, ...] = ("semeval2015_task3_cqa", "wikiqa", "trec_web_qrels", "trec_web_runs")


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    forum, found, tracks = Forum(data), systems(data), {year: Track(data, year) for year in YEARS}
    tuned, risks = promised(forum, found)
    sizes = sized(forum)
    text = page(
        OPENING,
        in_short(forum, found, tracks, tuned, risks),
        RULES,
        the_rules(forum),
        losses_tuned(),
        expected_gain(forum),
        other_scores(forum),
        single_answers(forum),
        wikiqa(found),
        web(tracks),
        kept(tuned, risks, sizes, forum.train.questions),
        LIMITS,
        figure="cutoffs-tradeoff.svg",
        fold=True,
    )
    return {
        "cutoffs.md": text,
        "cutoffs-tradeoff.svg": figures.tradeoff(forum),
        "cutoffs-thresholds.svg": figures.thresholds(forum, tuned[0]),
        "cutoffs-questions.svg": figures.questions(sizes),
    }


def promised(forum: Forum, found: list[System]) -> tuple[list[Tuned], list[Controlled]]:
    """What cuts fitted on dev promised, and what test gave."""
    dev, test = forum.dev.lists(EXPECTED), forum.test.lists(EXPECTED)
    tuned, risks = [Tuned.of("forum", MEASURE, dev, test)], list(controlled("forum", K, dev, test))
    for system in found:
        name = f"WikiQA, {system.name}"
        tuned += [Tuned.of(name, measure, system.dev, system.test) for measure in (f"nDCG_f@{K}", "nDCG_qwa")]
        risks += controlled(name, K, system.dev, system.test)
    return tuned, risks


def sized(forum: Forum) -> BySize:
    """Rules on the training questions, by how many of them they are fitted on."""
    every = rules(MEASURE, K, forum.folded.more)
    chosen = {
        word: rule
        for word, rule in every.items()
        if word == GLOBAL or not (word in (*BASELINES, ORACLE) or word.startswith("risk"))
    }
    return by_size(forum.folded.lists(EXPECTED), MEASURE, chosen)


OPENING = """
# Rules that drop documents, on real scores

"Which threshold should I use?" is a question about every ranker whose scores decide what is shown. RankSift has
[many answers](../how-to/pick-a-threshold.md). This page shows how well they work on scores of real systems: a plain
model of a forum's answers, two networks that look for an answer in a text, and web search with spam.

Every rule is judged on queries that it was not fitted on, with the columns of Carmel et al.'s Table 7, against the
best threshold for all queries (the global cut) and against an oracle that knows the labels of every query. This page
is written by

```
python -m experiments.cutoffs          # make experiments runs it too
```

from public data that is not part of the repository; `RANKSIFT_DATA` names the folder. The comparison is
`rs.compare_cutoffs(fitted_on, test=judged_on, measure="nDCG_f@3", k=3)`, or with `folds=5` if there is only one set.
"""

RULES = f"""
## The rules

{described()}

Variants are in brackets: `normalized` divides by the range of a query's scores, or takes their z-scores;
`expected-gain` calibrates the score, or the score with the shape of its list, and counts documents as the measure does,
or all the same (for DCG); `risk` guarantees a risk of 5 % with probability 90 %, or on average.
"""


def which_wins(forum: Forum, found: list[System], tracks: dict[int, Track]) -> str:
    """Every setting in a row."""
    settings: dict[str, Outcome] = {f"forum, {split}": o for split, o in outcomes(forum).items()}
    settings |= {f"WikiQA, {s.name}": s.outcomes[MEASURE] for s in found}
    settings |= {f"WikiQA, {s.name}, nDCG′": s.outcomes["nDCG′"] for s in found}
    rows = [_row(name, o) for name, o in settings.items()]
    k = KS[-1]
    for year, track in tracks.items():
        best = track.best(k)
        own, second = (
            [number(track.mean(of, rule, k), 3) for rule in (SHOW_ALL, SHOW_NOTHING, GLOBAL, ORACLE)]
            for of in (track.own, track.second)
        )
        sure = "" if best == GLOBAL else f"{track.signs(best, k)[0]} of {len(track.runs)} runs"
        value = number(track.mean(track.own, best, k), 3)
        rows.append([f"web {year}, k = {k}", *own[:3], best, value, sure, own[3]])
        rows.append([f"web {year}, k = {k}, second score", *second[:3], "", "", "", second[3]])
    head = ["scores", "all shown", "nothing", "global", "best rule", "its value", "p", "oracle"]
    return table(head, [[row[0], *(whole(cell) for cell in row[1:])] for row in rows])


def _row(name: str, o: Outcome) -> list[str]:
    shown, nothing, cut, best, oracle = (
        number(o.value(rule), 3) for rule in (SHOW_ALL, SHOW_NOTHING, GLOBAL, o.best, ORACLE)
    )
    p = "" if o.best == GLOBAL else probability(o.against_global[o.best].p)
    return [name, shown, nothing, cut, o.best, best, p, oracle]


def in_short(
    forum: Forum, found: list[System], tracks: dict[int, Track], tuned: list[Tuned], risks: list[Controlled]
) -> str:
    """The findings, before the tables."""
    findings = bullets(
        _pays(forum),
        _hard_to_beat(forum, found, tracks),
        _far_away(forum),
        _expected(forum),
        _second(forum, tracks[2012]),
        _silence(found),
        _promises(tuned[0], risks),
        _single(forum),
    )
    return f"""
**In short**

{findings}

Which rule wins where, by nDCG_f@3 unless another is named (p: against the global cut, after Holm's correction over the
rules; on the web, values are means over runs, and p is the number of runs on which the best rule is significantly
better):

{which_wins(forum, found, tracks)}
"""


def _pays(forum: Forum) -> str:
    both = list(outcomes(forum).values())
    cut, shown = ([number(o.value(rule), 3) for o in both] for rule in (GLOBAL, SHOW_ALL))
    return says(
        all(o.against_global[SHOW_ALL].sign < 0 for o in both),
        f"**A cut pays where the score knows what is forbidden.** On the forum the global cut has nDCG_f@3 = {cut[0]} "
        f"on test and {cut[1]} on train; showing everything {shown[0]} and {shown[1]}, significantly less.",
    )


def _hard_to_beat(forum: Forum, found: list[System], tracks: dict[int, Track]) -> str:
    both = outcomes(forum)
    best = [f"{o.best} on {split} ({_lead(o)})" for split, o in both.items() if o.best != GLOBAL]
    elsewhere = {s.name: [rule for rule in s.outcomes[MEASURE].better if rule != SHOW_NOTHING] for s in found}
    return says(
        not any(o.better for o in both.values()) and not any(t.better for t in tracks.values()),
        paragraph(
            "**One threshold for all is hard to beat.** On the forum and on the web no rule is significantly better "
            f"than the global cut, with up to {forum.trained.queries:,} questions to tell them apart.",
            f"The best are {named(best)}." if best else "",
            *(f"On WikiQA's {name} some are better, by showing less." for name, words in elsewhere.items() if words),
        ),
    )


def _lead(found: Outcome) -> str:
    ahead = found.against_global[found.best]
    return f"{number(ahead.mean, 3, sign=True)}, p = {probability(ahead.p)}"


def _far_away(forum: Forum) -> str:
    closed = [o.gap_closed(o.best) for o in outcomes(forum).values()]
    return says(
        max(closed) < 0.5,
        f"**The oracle is far away**: the best rules go {percent(min(closed), 0)} to {percent(max(closed), 0)} of the "
        "way to it on the forum. It knows the labels and is not a realistic goal. But a good threshold for each "
        "query would be worth a lot.",
    )


def _expected(forum: Forum) -> str:
    tested, trained = forum.tested, forum.trained
    plain, normalised = ([number(o.value(rule), 3) for o in (tested, trained)] for rule in (POSITIVE, NORMALISED))
    return says(
        all(o.value(POSITIVE) < o.value(NORMALISED) for o in (tested, trained)),
        paragraph(
            "**To drop what has a negative expected gain is right for DCG and wrong for nDCG_f**, which divides by "
            f"each query's own scale: {plain[0]} on test and {plain[1]} on train. With the expected gain *over that "
            f"scale* it is {normalised[0]} and {normalised[1]}, without any tuning.",
            says(
                all(o.against_global[NORMALISED].sign == 0 for o in (tested, trained)),
                "This is not distinguishable from the tuned cut.",
            ),
        ),
    )


def _second(forum: Forum, early: Track) -> str:
    gained = [d.mean for k in KS for d in early.gain_of_second(k)]
    beyond = ", and is above even the oracle of the own score" if early.beyond_the_oracle else ""
    return says(
        min(gained) > 0,
        paragraph(
            "**A second score can be worth more than any cut on the first.** On the web of 2012 the rules on Indri's "
            f"own score learn to be silent. A cut on the verdict of a spam filter gains {between(gained)} over them"
            f"{beyond}.",
            says(
                all(d.mean <= 0 for d in forum.two_scores_less_one.values()),
                "Two scores of the same model gain nothing.",
            ),
        ),
    )


def _silence(found: list[System]) -> str:
    ahead = [s.against_silence(heading)[1] for s in found for heading in s.outcomes]
    return says(
        all(d.sign <= 0 for d in ahead),
        f"**On WikiQA it is best to show nothing.** With {percent(found[0].nil, 0)} of the questions without an "
        "answer, no rule on either system's scores is significantly better than silence, by nDCG_f or by any "
        "truncation-aware measure.",
    )


def _promises(first: Tuned, risks: list[Controlled]) -> str:
    sure = [c.given for c in risks if c.delta is not None]
    over = [given for given in sure if given > RISK]
    promise = f"The promise of a risk of at most {percent(RISK, 0)} with probability {percent(1 - DELTA, 0)}"
    return paragraph(
        f"**Promises.** On the forum, cross-validation on dev promised {number(first.expected, 3)}, and test gave "
        f"{number(first.given, 3)} (on dev itself {number(first.fitted, 3)}).",
        says(first.held, "The interval of the threshold holds the one that is best on test."),
        says(
            not over,
            f"{promise} is kept on all {len(sure)} test sets.",
            f"{promise} is kept on {len(sure) - len(over)} of {len(sure)} test sets, and else exceeded by "
            f"{number(100 * (max(over, default=RISK) - RISK), 3)} points.",
        ),
    )


def _single(forum: Forum) -> str:
    single = Outcome(forum.trained.found.apart()["single-document queries"])
    nothing, shown, cut = (number(single.value(rule), 3) for rule in (SHOW_NOTHING, SHOW_ALL, GLOBAL))
    return (
        "**Single answers.** Where a question has one answer, nDCG_f is the accuracy of filtering: showing nothing "
        f"{nothing}, showing everything {shown}, the global cut {cut} (train, {single.queries} questions)."
    )


LIMITS = f"""
## How it was made, and what cannot be said

| | |
| --- | --- |
| forum | SemEval-2015 task 3, English: features by QCRI, labels of test from its XML; all answers are judged |
| web | the qrels and runs of [the web track's page](web-track.md); {len(YEARS)} years, topics in 5 folds |
| WikiQA | the corpus's .ref files and the .rank files of CNN and CNN-Cnt |
| gains | forum: Good 2, Potential 1, others −10; web: −2 has −10; WikiQA: 1, and −1 for a sentence that is no answer |
| tests | two-sided paired t tests, Holm's correction over the rules of a table, 0.05 |
| seed | {SEED}, for folds, draws, the bootstrap and drawn labels; {SIZES[0]} to {SIZES[-1]} questions where n varies |

- The model of the forum is a plain one on features of 2015. With better scores every rule has more to work with, and
  their order may change.
- Forty topics to fit on are few. What the web track shows is that Indri's scores do not help against spam, not which
  rule would be best on scores that are.
- The spam filter's verdict is known for 2012 and 2013 as yes or no only; its own scores, on which a cut could be
tuned, were not available.
- Labels are drawn independently of each other for E[g/(I − W)]. Answers of one question are not independent, which may
  be why the rule, optimal in theory, is not better than a tuned cut.

D. Carmel, N. Cohen, A. Ingber, E. Kravi: IR evaluation and learning in the presence of forbidden documents. SIGIR 2022.

F. Liu, A. Moffat, T. Baldwin, X. Zhang: Quit while ahead: evaluating truncated rankings. SIGIR 2016.

P. Nakov, L. Màrquez, W. Magdy, A. Moschitti, J. Glass, B. Randeree: SemEval-2015 task 3: answer selection in community
question answering. SemEval 2015.
"""
