"""Every rule on the three collections: what it gives, what it promised, and what figures need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ranksift as rs
from experiments.cutoffs.answers import Answers
from experiments.cutoffs.community import EXPECTED, MEASURE, TEST, TRAIN, Forum, K
from experiments.cutoffs.promises import by_size, controlled, tuned
from experiments.cutoffs.questions import System, systems
from experiments.cutoffs.rules import BASELINES, GLOBAL, ORACLE, Outcome, rules
from experiments.cutoffs.topics import YEARS, Track
from ranksift.cutoffs.tradeoff import Tradeoff
from ranksift.measures.filtering import Fdocs, GoodFiltered

#: What a rule does beside the measure that it is fitted to: Carmel et al.'s columns.
COSTS = (f"nDCG_0@{K}", f"nDCG_min@{K}", f"Fdocs@{K}", "GoodFiltered", "Empty")
#: Points of a curve; more cannot be seen.
TRADEOFFS, THRESHOLDS = 500, 400


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures, but those of `losses`."""
    forum, found = Forum(data), systems(data)
    return {
        "forum": answers(forum),
        "wikiqa": {system.name: system.told() for system in found},
        "web": {year: web(Track(data, year)) for year in YEARS},
        **promises(forum, found),
        "by size": sized(forum),
        "trade-off": tradeoff(forum),
        "thresholds": thresholds(forum),
    }


def answers(forum: Forum) -> dict[str, Any]:
    """The forum: its answers, the rules, what is optimal, other scores, and questions with a single answer."""
    outcomes = {TEST: forum.tested, TRAIN: forum.trained}
    expected, real = forum.folded.forbidden_alone
    return {
        "splits": {"train": split(forum.train), "dev": split(forum.dev.answers), "test": split(forum.test.answers)},
        "features": forum.train.features.shape[1],
        "accuracy": forum.test.accuracy,
        "told apart": forum.test.told_apart,
        "forbidden alone": {"expected": expected, "real": real},
        **{name: outcome.told(*COSTS) for name, outcome in outcomes.items()},
        "single": {name: outcome.single.told() for name, outcome in outcomes.items()},
        "by gain": forum.by_gain,
        "scores": {name: by_split(found) for name, found in forum.by_score.items()},
        "two less one": {name: d._asdict() for name, d in forum.two_scores_less_one.items()},
    }


def split(answers: Answers) -> dict[str, float]:
    """How large it is."""
    return {"questions": answers.questions, "answers": len(answers), "forbidden": answers.forbidden}


def by_split(found: Mapping[str, Outcome]) -> dict[str, dict[str, float]]:
    """What a few rules give."""
    return {name: {rule: o.value(rule) for rule in (*o.rules, ORACLE)} for name, o in found.items()}


def web(track: Track) -> dict[str, Any]:
    """A year."""
    return {"topics": len(track.year.topics), "runs": len(track.pairs), "settings": list(track.settings())}


def promises(forum: Forum, found: list[System]) -> dict[str, Any]:
    """What cuts fitted on dev promised, and what test gave."""
    dev, test = forum.dev.lists(EXPECTED), forum.test.lists(EXPECTED)
    cuts, risks = [tuned("forum", MEASURE, dev, test)], list(controlled("forum", K, dev, test))
    for system in found:
        name = f"WikiQA, {system.name}"
        cuts += [tuned(name, measure, system.dev, system.test) for measure in (f"nDCG_f@{K}", "nDCG_qwa")]
        risks += controlled(name, K, system.dev, system.test)
    return {"tuned": cuts, "risks": risks}


def sized(forum: Forum) -> dict[str, dict[int, dict[str, float]]]:
    """Rules on the training questions, by how many of them they are fitted on: mean and deviation over draws."""
    every = rules(MEASURE, K, forum.folded.more)
    chosen = {
        word: rule
        for word, rule in every.items()
        if word == GLOBAL or not (word in (*BASELINES, ORACLE) or word.startswith("risk"))
    }
    found = by_size(forum.folded.lists(EXPECTED), MEASURE, chosen)
    return {
        word: {n: {"mean": float(np.mean(drawn)), "deviation": float(np.std(drawn))} for n, drawn in by_n.items()}
        for word, by_n in found.items()
    }


def tradeoff(forum: Forum) -> dict[str, Any]:
    """Good test answers filtered, forbidden ones shown and all shown, at thresholds and by rule."""
    lists, scores = forum.test.lists(EXPECTED), forum.tested.found.scores
    found = Tradeoff.of(lists, ["GoodFiltered", f"Fdocs@{K}"]).thinned(TRADEOFFS)
    hidden, harm = (
        [measure.per_query(lists.judged_by(lists.score >= at)) for at in found.thresholds]
        for measure in (GoodFiltered(), Fdocs(k=K))
    )
    return {
        "good": hidden[0].denominator.sum(),
        "curve": [
            [int(part.sum()) for part in (few.numerator, many.numerator, many.denominator)]
            for few, many in zip(hidden, harm, strict=True)
        ],
        "rules": {
            rule: [
                float(part[scores.row(rule), :, scores.column(measure)].sum())
                for part, measure in (
                    (scores.numerators, "GoodFiltered"),
                    (scores.numerators, f"Fdocs@{K}"),
                    (scores.denominators, f"Fdocs@{K}"),
                )
            ]
            for rule in scores.runs
        },
    }


def thresholds(forum: Forum) -> dict[str, dict[str, Any]]:
    """The measure at every threshold, on dev and on test, and the best one."""
    told = {}
    for name, scored in (("dev", forum.dev), ("test", forum.test)):
        cut = rs.GlobalCutoff(MEASURE).fit_lists(scored.lists(EXPECTED))
        best = int(np.flatnonzero(cut.thresholds_ == cut.threshold_)[0])
        some = np.unique(np.append(np.linspace(1, len(cut.thresholds_) - 1, THRESHOLDS).astype(np.int64), best))
        told[name] = {
            "thresholds": cut.thresholds_[some],
            "found": cut.values_[some],
            "best": [cut.threshold_, cut.value_],
        }
    return told
