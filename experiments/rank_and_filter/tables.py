"""Sections: who wins, and everything of every setting."""

from __future__ import annotations

from pathlib import Path

from experiments.markdown import number, percent, probability, table
from experiments.rank_and_filter.rows import BASELINE, FILTER_ALL, JOINT, OPTIMAL, OURS, PAPER, PEER, RANK_ONLY
from experiments.rank_and_filter.settings import FOLDS, FORUM, MEASURE, MEASURES, PRODUCTS, K, looked_at, setting
from experiments.rank_and_filter.trials import KNOWN_GAINS, KNOWN_SHARES, Outcome
from experiments.rank_and_filter.values import Outcomes, p_is, title, with_deviation


def who_wins(found: Outcomes) -> str:
    """The main rows of all settings, and the figure."""
    every = list(found.values())

    def best(group: str) -> list[str]:
        return [f"{with_deviation(o, o.best(group))} ({o.best(group)})" for o in every]

    lines = [
        *([f"**{ours}**", *(with_deviation(o, ours) for o in every)] for ours in (JOINT, OPTIMAL)),
        ["best peer", *best(PEER)],
        *([f"{ours} less best peer", *(_less_best_peer(o, ours) for o in every)] for ours in (JOINT, OPTIMAL)),
        ["best of paper 1's losses", *best(PAPER)],
        ["everything shown", *(with_deviation(o, RANK_ONLY) for o in every)],
        ["nothing shown", *(with_deviation(o, FILTER_ALL) for o in every)],
    ]
    return f"""
{MEASURE}, mean and deviation over seeds; p by paired t tests over queries (each query's value is its mean over seeds),
with Holm's correction over all peers:

{table(["", *map(title, every)], lines)}

![{MEASURE} of every ranker, with its deviation over seeds](rank-and-filter.svg)
"""


def _less_best_peer(outcome: Outcome, ours: str) -> str:
    peer = outcome.best(PEER)
    difference, p = outcome.against(ours, outcome.peers)[peer]
    count = len(outcome.of(ours))
    seeds = f", {outcome.wins(ours, peer)} of {count} seeds" if count > 1 else ""
    return f"{number(difference, 4, sign=True)} ({p_is(p)}{seeds})"


def of_setting(outcome: Outcome, data: Path) -> str:
    """Every ranker with the columns of the paper's Table 7."""
    test = setting(outcome.setting, 0, data).test
    head = [
        "ranker",
        MEASURE,
        f"nDCG_0@{K}",
        f"nDCG_min@{K}",
        f"F-docs@{K}",
        "good filtered",
        "left empty",
        f"{JOINT} less it",
        "p",
        f"{OPTIMAL} less it",
        "p",
    ]
    groups = {group: outcome.group(group) for group in (BASELINE, PAPER, PEER, OURS)}
    if KNOWN_SHARES in outcome.names:
        groups["what the known chances allow"] = [KNOWN_GAINS, KNOWN_SHARES]
    lines = []
    for group, names in groups.items():
        lines += [[f"*{group}*", *[""] * (len(head) - 1)], *_lines(outcome, names)]
    return f"""
## {title(outcome)}

{_about(outcome.setting, data)} To be judged on there are {len(test.query_ids):,} queries with {len(test):,} documents,
{percent(float((test.labels < 0).mean()), 0)} of them forbidden; {percent(float((test.lengths == 1).mean()), 0)} of the
queries have a single document. p: Holm's correction over the rankers of the same part of the table.

{table(head, lines)}
"""


def _about(name: str, data: Path) -> str:
    if name == FORUM:
        return (
            "SemEval-2015 task 3, English: answers in a forum with 58 features. Good has gain 2, Potential 1, "
            "everything else (Bad, Dialogue, other languages) is forbidden with −10. 2,600 questions to learn from, "
            "300 for validation: these decide on the number of trees or epochs, and on the threshold."
        )
    if name == FOLDS:
        return (
            "The same forum, all its questions in five folds: each is the test once, the next one the validation set. "
            "Ten times as many questions tell rankers apart. One seed; networks are left out. "
            f"{percent(looked_at(data), 0)} of these questions are those that the defaults of our two rankers were "
            "chosen on: that can favour ours. The forum's test has none of them, though earlier versions of ours had "
            "been looked at on it."
        )
    learn, stop, _ = PRODUCTS
    return (
        "Made-up reviews with the paper's label statistics (`ranksift.datasets.reviews`): "
        f"{learn:,} products to learn from and {stop} for validation, drawn anew for each seed; the test is the same "
        "for all. Spam has gain −10, a review without helpful votes 0.1."
    )


def _lines(outcome: Outcome, names: list[str]) -> list[list[str]]:
    against = {ours: outcome.against(ours, [n for n in names if n != ours]) for ours in (JOINT, OPTIMAL)}
    lines = []
    for name in names:
        cells = [name, with_deviation(outcome, name)]
        cells += [number(outcome.mean(name, measure)) for measure in MEASURES[1:3]]
        cells += [percent(outcome.mean(name, measure)) for measure in MEASURES[3:]]
        for ours in (JOINT, OPTIMAL):
            if name == ours:
                cells += ["", ""]
            else:
                difference, p = against[ours][name]
                cells += [number(difference, 4, sign=True), probability(p)]
        lines.append(cells)
    return lines
