"""Section: what each part of the two methods is worth."""

from __future__ import annotations

from experiments.markdown import bullets, number, says, table
from experiments.rank_and_filter.rows import JOINT, OPTIMAL, OURS, PART
from experiments.rank_and_filter.settings import MEASURE
from experiments.rank_and_filter.trials import Outcome
from experiments.rank_and_filter.values import ALPHA, Outcomes, title, with_deviation


def why(found: Outcomes) -> str:
    """Methods with a part left out or changed."""
    every = list(found.values())
    names = every[0].group(OURS, PART)
    ordered = [n for base in (JOINT, OPTIMAL) for n in names if n.startswith(base)]
    lines = [
        [f"**{n}**" if n in (JOINT, OPTIMAL) else n.split(", ", 1)[1], *(_cell(o, n) for o in every)] for n in ordered
    ]

    def effect(change: str) -> str:
        return ", ".join(number(o.mean(JOINT) - o.mean(f"{JOINT}, {change}"), 4, sign=True) for o in every)

    reasons = bullets(
        "**The normaliser.** nDCG_f is (DCG − W)/(I − W), and I − W depends on the labels of the whole query. A list "
        "of one document has two values only: showing a forbidden one costs what hiding a good one costs, although the "
        "gains are −10 and 2. Lambdas of DCG, and E[g] ≥ 0, treat that document as five times as dangerous as it is, "
        "and hide it too soon. A threshold that is tuned to nDCG_f finds a middle for all queries; the normaliser does "
        "it for each.",
        "**The list.** The normaliser of a new query is not known, but its length and the features of its other "
        f"documents tell of it. Trees that see the list less trees that do not: {effect('without the list')}.",
        "**The cut against what is shown.** The exact change of nDCG_f when a document is let into the list *as it is "
        "ranked now* has a catch: on training documents, forbidden ones soon stand at the end of lists, where they "
        "cost little, and the pressure on them fades. So each document counts as if it stood first. What that changes: "
        f"{effect('the list as it is ranked decides')}.",
        f"**Pairs** are there for the order above the cut. What they change: {effect('without pairs')}.",
        "**Stopping by the loss** instead of by the measure of a few hundred lists changes "
        f"{effect('stopped by the measure')}.",
    )
    return f"""
## What each part is worth

Each part of the two methods, left out or changed ({MEASURE}; ▼ and ▲: significantly worse or better than the method
itself, Holm's correction over its changes):

{table(["", *map(title, every)], lines)}

{reasons}

Differences are in the order of the columns. A part whose effects have both signs, or no mark in the table, is not
shown to matter here. {_the_two(found)}
"""


def _cell(outcome: Outcome, name: str) -> str:
    base = JOINT if name.startswith(JOINT) else OPTIMAL
    text = with_deviation(outcome, name)
    if name == base:
        return text
    changes = [n for n in outcome.group(PART) if n.startswith(base)]
    difference, p = outcome.against(base, changes)[name]
    mark = "▼" if difference > 0 else "▲"
    return f"{text} {mark}" if p < ALPHA else text


def _the_two(found: Outcomes) -> str:
    pairs = {title(o): o.against(JOINT, [OPTIMAL])[OPTIMAL] for o in found.values()}
    told = ", ".join(number(d, 4, sign=True) for d, _ in pairs.values())
    return says(
        all(p >= ALPHA for _, p in pairs.values()),
        f"{JOINT} less the optimal rule is {told}: they cannot be told apart. What a joint loss could add to "
        "calibrated "
        "chances with the right normaliser is below what these data can show.",
        f"{JOINT} less the optimal rule is {told}; significant are: "
        + ", ".join(name for name, (_, p) in pairs.items() if p < ALPHA)
        + ".",
    )
