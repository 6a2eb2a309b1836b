"""The page: forbidden passages in prompts, without a filter, with a guessed threshold, and with a fitted cutoff."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

import ranksift as rs
from experiments.markdown import bullets, number, page, percent, table
from experiments.prompt.passages import Prompts, answered, as_found, prompts_of
from ranksift.collection.examples import Examples
from ranksift.cutoffs import FixedCutoff
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.datasets import semeval2015, synthetic_forum
from ranksift.learning import L2LogisticRegression, Ranker, TextRanker

FOLDER = "semeval2015_task3_cqa"
NEEDS = (FOLDER,)

#: Passages of a prompt.
LENGTHS = (3, 5)
#: Thresholds that somebody guesses: shown is what is helpful with such a probability.
GUESSES = (0.5, 0.9)
#: What a forbidden passage costs, where a good one earns 2, and one that may help 1.
COSTS = (10, 2)
FOUND, RANKED = "first found", "ranked, no filter"


@dataclass(frozen=True)
class Split:
    """A ranker, what it learns from, what its cutoff is fitted to, and what neither has seen."""

    name: str
    reads: str
    model: Ranker
    train: Examples
    dev: Examples
    test: Examples


def forum(threads: int = 200) -> Split:
    """The synthetic forum: three draws of it."""
    parts = (synthetic_forum(count, seed=seed).examples for seed, count in enumerate((threads, threads // 2, threads)))
    model = TextRanker("bce", freeze=True, context=False)
    return Split("the synthetic forum", "a frozen MiniLM reads the question with each answer", model, *parts)


def semeval(data: Path) -> Split:
    """SemEval-2015, by the features that come with it."""
    fold = semeval2015(data / FOLDER)
    what = f"a logistic regression, from the {fold.train.features.shape[1]} features that come with the data"
    return Split("SemEval-2015", what, L2LogisticRegression(), fold.train, fold.validation, fold.test)


def outcomes(split: Split) -> dict[tuple[int, str], Prompts]:
    """What reaches the prompts, by their length and by what chooses the passages."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        folder, files = Path(place), {}
        ranker = split.model.fit(split.train).fit_cutoff(split.dev, FixedCutoff(-1e300))  # it keeps everything
        ranker.save(folder / "ranker")
        scores, groups = ranker.score(split.dev), split.dev.query
        for name, (rule, cost) in rules().items():
            files[name] = folder / f"{len(files)}.json"
            rule.fit(scores, split.dev.labels, groups, gains={-1: -cost}).save(files[name])
        lists = answered(folder / "ranker", files, split.test)
    found = {}
    for most in LENGTHS:
        ways = {FOUND: as_found(split.test), RANKED: lists[""]}
        ways |= {guess(chance): lists[guess(chance)] for chance in GUESSES}
        ways |= {fitted(cost): lists[f"{fitted(cost)} {most}"] for cost in COSTS}
        found |= {(most, way): prompts_of(split.test, own, most, COSTS) for way, own in ways.items()}
    return found


def rules() -> dict[str, tuple[Cutoff, int]]:
    """Every cutoff, with what a forbidden passage costs where it is fitted."""
    made: dict[str, tuple[Cutoff, int]] = {
        guess(chance): (FixedCutoff(float(np.log(chance / (1 - chance)))), COSTS[0]) for chance in GUESSES
    }
    for cost, most in product(COSTS, LENGTHS):
        made[f"{fitted(cost)} {most}"] = rs.GlobalCutoff(f"nDCG_f@{most}"), cost
    return made


def guess(chance: float) -> str:
    """A threshold that somebody guesses, in words."""
    return f"ranked, {chance} guessed"


def fitted(cost: int) -> str:
    """A fitted one."""
    return f"ranked, fitted at a cost of {cost}"


def files(data: Path) -> Mapping[str, str]:
    """The page."""
    splits = [forum(), semeval(data)]
    return {"before-a-prompt.md": written({split.name: (split, outcomes(split)) for split in splits})}


def written(found: Mapping[str, tuple[Split, Mapping[tuple[int, str], Prompts]]]) -> str:
    """The page of these outcomes."""
    return page(
        """
        # A filter before a prompt

        How many passages reach a prompt that must not, and how many good ones does a filter lose? Passages are the
        answers to questions of a forum. Each question is sent to the [service](../how-to/serve.md) with all its
        answers (`POST /v1/rerank`), what a cutoff keeps of the scores is asked for (`POST /v1/filter`), and the first
        three or five passages make the prompt. The score of a ranker is the logarithm of the odds that an answer
        helps. The cutoffs: none; a threshold as people guess it, a probability of 0.5 or 0.9; and the best threshold
        for nDCG_f on other questions, where a good passage earns 2, one that may help 1, and a forbidden one costs 10
        or 2.
        """,
        "```\npython -m experiments.prompt     # minutes on two processors; needs the extra text\n```",
        verdict({name: rows for name, (_, rows) in found.items()}),
        *(section(split, rows) for split, rows in found.values()),
        """
        ## How it was made

        Forbidden is an answer that was judged to be none (Bad, Dialogue, another language); good is Good, and
        Potential, which may help. “Good lost” counts against the ranker without a filter at the same length: what it
        shows of them is 0 % lost. “Empty” is the share of prompts without a passage, and “empty, though” of those
        that would have had a good passage without the filter. Nothing was chosen on the questions that are counted:
        the ranker learned from one set of questions, its cutoff from another, all parameters are the defaults, and
        the lengths, the guesses and the cost of 10 were set before the first run. The cost of 2 was added after it,
        because 10 leaves next to nothing of the forum, where this ranker tells too little.
        """,
    )


def taken(rows: Mapping[tuple[int, str], Prompts], most: int, way: str) -> tuple[float, float]:
    """The shares of forbidden and of good passages that a cutoff takes out of prompts."""
    plain, cut = rows[most, RANKED], rows[most, way]
    return float(1 - cut.forbidden.sum() / plain.forbidden.sum()), float(1 - cut.good.sum() / plain.good.sum())


def verdict(found: Mapping[str, Mapping[tuple[int, str], Prompts]]) -> str:
    """Section: what follows."""
    most = LENGTHS[-1]
    said = []
    for name, rows in found.items():
        ways = [*map(guess, GUESSES), *map(fitted, COSTS)]
        parts = [
            f"{way.removeprefix('ranked, ')}: {percent(out, 0)} and {percent(lost, 0)}"
            for way in ways
            for out, lost in [taken(rows, most, way)]
        ]
        said.append(f"On {name}, of forbidden and of good passages in prompts of {most}: {'; '.join(parts)}.")
    text = """
        A threshold that suits one ranker does not suit another, so that a guess is a gamble: a probability of 0.9,
        which sounds safe, hides most of what is good on both. A fitted one follows what a forbidden passage is said to
        cost, and what the ranker knows. Where that is too little for the cost, hardly anything is shown, and rightly so
        by the measure: a filter cannot be better than its scores.
    """
    return "## What a cutoff takes out\n\n" + bullets(*said) + "\n\n" + " ".join(text.split())


def section(split: Split, rows: Mapping[tuple[int, str], Prompts]) -> str:
    """What was found on one collection."""
    lines = []
    for (most, way), got in rows.items():
        plain = rows[most, RANKED]
        empty = got.shown == 0
        lines.append(
            [
                str(most),
                way,
                number(100 * got.forbidden.mean(), 0),
                percent(float((got.forbidden > 0).mean()), 0),
                "" if way == FOUND else percent(taken(rows, most, way)[1], 0),
                percent(float(empty.mean()), 0),
                percent(float((empty & (plain.good > 0)).mean()), 0),
                *(number(got.values[cost]) for cost in COSTS),
            ]
        )
    head = ["passages", "what chooses them", "forbidden in 100 prompts", "prompts with one", "good lost", "empty"]
    nothing = prompts_of(split.test, [[] for _ in split.test.query_ids], LENGTHS[0], COSTS).values
    empty = " and ".join(number(nothing[cost]) for cost in COSTS)
    sizes = (len(split.train.query_ids), len(split.dev.query_ids), len(split.test.query_ids))
    return f"""
## On {split.name}

The ranker: {split.reads}. It learned from {sizes[0]:,} questions, cutoffs are fitted on {sizes[1]:,} others, and the
passages for {sizes[2]:,} further ones are counted: {len(split.test.labels):,} answers, of which
{percent(float((split.test.labels < 0).mean()), 0)} are forbidden.

{table([*head, "empty, though", *(f"nDCG_f, cost {cost}" for cost in COSTS)], lines, words=2)}

With nothing shown at all, nDCG_f is {empty} at costs of {" and ".join(map(str, COSTS))} and {LENGTHS[0]} passages.

{in_words(rows)}
"""


def in_words(rows: Mapping[tuple[int, str], Prompts]) -> str:
    """The same in sentences."""
    said = []
    for most, cost in product(LENGTHS, COSTS):
        gone, lost = taken(rows, most, fitted(cost))
        said.append(
            f"{most} passages, fitted at a cost of {cost}: {percent(gone, 0)} of the forbidden passages stay "
            f"out of the prompts, and {percent(lost, 0)} of the good ones."
        )
    return bullets(*said)
