"""The losses of Carmel et al.'s Table 7, tuned and not, as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from experiments.cutoffs.losses import BASELINES, HOW, LOSSES, SEEDS, TRIALS, measured
from experiments.cutoffs.printed import TABLE_7
from experiments.cutoffs.rules import named
from experiments.markdown import between, number, paragraph, percent, probability, says, table, word
from ranksift.study.agreement import correlation
from ranksift.study.systems import levels

ALPHA = 0.05
GIVEN, TUNED = HOW


def order(rows: Mapping[str, Any]) -> list[str]:
    """Losses by nDCG_f, best first."""
    return sorted(LOSSES, key=lambda name: -rows[name][0])


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Kendall's τ of two orders of the losses."""
    return correlation(*(levels(np.array([rows[name][0] for name in LOSSES])) for rows in (one, other))).tau


def beaten_baselines(found: Mapping[str, Any], how: str) -> dict[str, list[str]]:
    """Of each loss the baselines that it is significantly above."""
    pairs = [(loss, name) for loss in LOSSES for name in BASELINES]
    tests = zip(pairs, found["beside baselines"][how], strict=True)
    above = [pair for pair, (mean, p) in tests if mean > 0 and p <= ALPHA]
    return {loss: [name for other, name in above if other == loss] for loss in LOSSES}


def beaten_losses(found: Mapping[str, Any], how: str) -> list[tuple[str, str]]:
    """Pairs of losses of which the first is significantly above the second."""
    tests = zip(combinations(LOSSES, 2), found["beside each other"][how], strict=True)
    return [(a, b) if mean > 0 else (b, a) for (a, b), (mean, p) in tests if p <= ALPHA]


def losses_tuned() -> str:
    """Section: from what is kept."""
    found = measured()
    learned, held_out, tested = found["questions"]
    return f"""
### Six losses, each tuned alike

The paper tunes learning rate and batch size of every loss, and γ of LambdaRank+BCE, and compares what comes out. The
same on features: all {sum(found["questions"]):,} questions of SemEval-2015 in the paper's shares ({learned:,} to learn
from, {held_out} for validation, {tested} for the test), a network with one hidden layer of 32 units over 58 features,
and for each loss {TRIALS} trials, the first of which is the network as it is given. Parameters and the threshold are
chosen on the validation questions. All values are means over {word(SEEDS)} random starts.
`python -m experiments.cutoffs.losses` measures it, in {number(found["minutes"], 0)} minutes of one processor.

{_table(found)}

Over and under are the shares of questions in which nDCG_min@3 is above 1 and below 0, as in the paper's Table 5. The
best loss of each column is bold.

{_changes(found)}

Tuned less as given, with p of paired t tests over the test questions after Holm's correction over the six losses. The
learning rate is searched from 0.001 to 0.1 (as given: 0.02), the batch among 32, 128 and 512 questions (as given: 512),
γ among 0.1, 0.3, 1 and 3 (as given: 1).

{_in_words(found)}
"""


def _table(found: Mapping[str, Any]) -> str:
    rows, highest = found["rows"][TUNED], (0, 1, 2)
    best = [
        (max if i in highest else min)(rows[name][i] for name in LOSSES) for i in range(len(rows[BASELINES[0]]))
    ]  # fmt: skip
    lines = []
    for name in (*BASELINES, *order(rows)):
        cells = [number(v) if i in highest else percent(v) for i, v in enumerate(rows[name])]
        if name in LOSSES:
            cells = [f"**{c}**" if v == b else c for c, v, b in zip(cells, rows[name], best, strict=True)]
        lines.append([name, *cells])
    head = ["tuned", "nDCG_f@3", "nDCG_0@3", "nDCG_min@3", "F-docs", "good filtered", "empty", "over", "under"]
    return table(head, lines)


def _changes(found: Mapping[str, Any]) -> str:
    change = dict(zip(LOSSES, found["changes"], strict=True))
    lines = []
    for name in order(found["rows"][TUNED]):
        chosen, (before, after) = found["chosen"][name]["params"], found["chosen"][name]["values"]
        places = [1 + order(found["rows"][how]).index(name) for how in HOW]
        lines.append(
            [
                name,
                _gamma(chosen),
                f"{chosen['learning_rate']:.2g}",
                str(chosen["batch_size"]),
                f"{number(before)} → {number(after)}",
                f"{number(found['rows'][GIVEN][name][0])} → {number(found['rows'][TUNED][name][0])}",
                number(change[name][0], 4, sign=True),
                probability(change[name][1]),
                f"{places[0]} → {places[1]}",
            ]
        )
    head = ["loss", "γ", "learning rate", "batch", "validation", "test", "change", "p", "place"]
    return table(head, lines)


def _gamma(chosen: Mapping[str, Any]) -> str:
    loss = str(chosen.get("loss", ""))
    return loss.partition("gamma=")[2].rstrip(")") or "1" if loss else ""


def _in_words(found: Mapping[str, Any]) -> str:
    given, tuned = (found["rows"][how] for how in HOW)
    baselines, pairs = beaten_baselines(found, TUNED), beaten_losses(found, TUNED)
    all_three = [name for name in LOSSES if len(baselines[name]) == len(BASELINES)]
    others = {name: beaten for name, beaten in baselines.items() if name not in all_three}
    before = beaten_losses(found, GIVEN)
    gains = [tuned[name][0] - given[name][0] for name in LOSSES]
    lucky = [found["chosen"][name]["values"][1] - found["chosen"][name]["values"][0] for name in LOSSES]
    changed = list(zip(LOSSES, found["changes"], strict=True))
    moved = {
        verb: [name for name, (mean, p) in changed if p <= ALPHA and sign * mean > 0]
        for verb, sign in (("gains", 1), ("loses", -1))
    }
    sure = [f"{named(names)} {verb} significantly" for verb, names in moved.items() if names]
    return paragraph(
        f"**What tuning changed.** On validation every loss gains ({between(lucky, 4, sign=True)}); on the test the "
        f"changes are {between(gains, 4, sign=True)}, and {' and '.join(sure) or 'none is significant'}. The order of "
        f"the losses was {', '.join(order(given))}, and is {', '.join(order(tuned))}: Kendall's τ of the two is "
        f"{number(alike(given, tuned), 2)}, and with the order of the paper's Table 7 "
        f"{number(alike(given, TABLE_7), 2)} before and {number(alike(tuned, TABLE_7), 2)} after.",
        says(
            {b for _, b in pairs} == {"LambdaRank"} and order(given)[-1] == order(tuned)[-1] == "LambdaRank",
            "The losses that changed places are not significantly different; LambdaRank is last both times.",
        ),
        f"**Compared with the baselines,** ({len(LOSSES) * len(BASELINES)} paired t tests, Holm's correction)",
        f"{named(all_three) or 'none'} {'is' if len(all_three) == 1 else 'are'} significantly above all three"
        + "".join(f"; {name} above {named(beaten) or 'none'}" for name, beaten in others.items())
        + ".",
        "In the paper all but LambdaRank are above all three.",
        f"**Compared with each other** ({len(list(combinations(LOSSES, 2)))} tests, the same way)",
        "; ".join(_above(pairs)) + "." if pairs else "no two tuned losses differ significantly.",
        f"As given there {'were' if len(before) != 1 else 'was'} {word(len(before))} such "
        f"{'pairs' if len(before) != 1 else 'pair'}.",
        says(
            order(tuned)[0] != "ordinal" and not any(a == "ordinal" for a, _ in pairs),
            "The paper's finding that ordinal is significantly better than all others but MSE is not seen on these "
            "features.",
        ),
    )


def _above(pairs: list[tuple[str, str]]) -> list[str]:
    """Who is above whom, by the lower one."""
    lower = list(dict.fromkeys(b for _, b in pairs))
    return [f"{named([a for a, b in pairs if b == other])} are above {other}" for other in lower]
