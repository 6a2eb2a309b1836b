"""Sections: the main table, everything of every setting, and what parts of ours are worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.markdown import number, percent, probability, table
from experiments.rank_and_filter.outcomes import ALPHA, Gain, Outcome
from experiments.rank_and_filter.rows import (
    ALONE,
    AT_0,
    BASELINE,
    EVERYTHING,
    JOINT,
    KNOWN,
    MEASURE,
    MEASURES,
    NOTHING,
    OPTIMAL,
    OURS,
    PEER,
    PLAIN,
    WEIGHTED,
)


def main_table(found: Sequence[Outcome]) -> str:
    """A line for each setting."""
    head = [
        MEASURE,
        "CV of 1/(I − W)",
        NOTHING,
        EVERYTHING,
        "best peer that does not know the weights",
        "weighted LightGBM, cut at 0",
        f"**{JOINT}**",
        f"**{OPTIMAL}**",
        KNOWN,
        "good hidden: best peer",
        JOINT,
        OPTIMAL,
    ]
    lines = []
    for o in found:
        peer = o.best(PEER)
        lines.append(
            [
                o.title if o.counts else f"({o.title})",
                number(o.variation, 2),
                *(number(o.mean(name)) for name in (NOTHING, EVERYTHING)),
                f"{number(o.mean(peer))} ({peer})",
                number(o.mean(AT_0)),
                *(f"**{number(o.mean(ours))}**{_marks(o, ours)}" for ours in (JOINT, OPTIMAL)),
                number(o.mean(KNOWN)) if KNOWN in o.found["rows"] else "",
                *(percent(o.mean(name, "GoodFiltered"), 0) for name in (peer, JOINT, OPTIMAL)),
            ]
        )
    return f"""
## All settings

{MEASURE}, means over seeds. ▲: significantly above all peers that do not know the weights (▵: above all of them, and
significantly above some); ▼: significantly below a peer, one that knows the weights perhaps (paired t tests over
queries, each query's value being its mean over seeds, with Holm's correction over all peers of the setting). The best
peer is the one that turns out best on the test, which nobody knows before. In brackets: too few queries to count.

{table(head, lines)}
"""


def _marks(o: Outcome, ours: str) -> str:
    plain = list(o.plain_peers(ours).values())
    up = all(g.value > 0 for g in plain) and any(g.wins for g in plain)
    mark = " ▲" if all(g.wins for g in plain) else " ▵" if up else ""
    return mark + (" ▼" if any(g.loses for g in o.peers(ours).values()) else "")


def everything(found: Sequence[Outcome]) -> str:
    """Every ranker in every setting."""
    head = ["ranker", *MEASURES, "seconds", f"{JOINT} less it", "p", f"{OPTIMAL} less it", "p"]
    lines = []
    for o in found:
        told = (
            f"{o.found['queries']:,} queries, {o.found['documents']:,} documents, "
            f"{percent(o.found['forbidden'], 0)} forbidden, {len(o.of(JOINT))} seeds"
        )
        lines.append([f"**{o.title}** ({told})", *[""] * (len(head) - 1)])
        against = {ours: {**o.against(ours, o.group(BASELINE)), **o.peers(ours)} for ours in (JOINT, OPTIMAL)}
        names = o.group(BASELINE, PEER, WEIGHTED, OURS) + ([KNOWN] if KNOWN in o.found["rows"] else [])
        for name in names:
            cells = [name, with_deviation(o, name), number(o.mean(name, MEASURES[1]))]
            cells += [percent(o.mean(name, measure)) for measure in MEASURES[2:]]
            cells.append("" if name == KNOWN else number(o.found["rows"][name]["seconds"], 1))
            for ours in (JOINT, OPTIMAL):
                cells += _beside(against[ours].get(name))
            lines.append(cells)
    return f"""
## Every ranker

Each is fitted for {MEASURE}, with a threshold tuned to it on the validation set where it has none of its own, and
judged
by {MEASURES[1]} too. Seconds are those of one processor for one fit, with the choice of the number of trees. p: Holm's
correction over all peers of the setting, or over the two baselines.

{table(head, lines)}
"""


def _beside(gain: Gain | None) -> list[str]:
    return ["", ""] if gain is None else [number(gain.value, 4, sign=True), probability(gain.p)]


def with_deviation(outcome: Outcome, name: str) -> str:
    """A ranker's mean over seeds, and its deviation."""
    values = outcome.of(name)
    spread = f" ± {number(float(np.std(values, ddof=1)))}" if len(values) > 1 else ""
    return f"{number(float(np.mean(values)))}{spread}"


def parts(found: Sequence[Outcome]) -> str:
    """LambdaMART-f with a part left out."""

    def cell(o: Outcome, name: str) -> str:
        gain = o.against(JOINT, [PLAIN, ALONE])[name]
        mark = "" if gain.p >= ALPHA else " ▼" if gain.value > 0 else " ▲"
        return f"{number(o.mean(name))}{mark}"

    lines = [[o.title, number(o.mean(JOINT)), cell(o, PLAIN), cell(o, ALONE)] for o in found]
    head = [MEASURE, JOINT, "without the normaliser", "without the list"]
    return f"""
## What each part is worth

▼ and ▲: significantly worse or better than {JOINT} itself (Holm's correction over both). Without the normaliser, trees
are fitted to changes of DCG instead of nDCG_f (`measure="DCG@3"`): every forbidden document counts the same, whatever
list it stands in. Without the list (`context=False`), trees see a document's own features, and neither the length of
its list nor the means of the features over it.

{table(head, lines)}

nDCG_f is (DCG − W)/(I − W), and I − W depends on the labels of the whole query. A list of one document has two values
only: showing a forbidden one costs what hiding a good one costs, although the gains are −10 and 2. Changes of DCG treat
that document as five times as dangerous as it is. The normaliser of a new query is not known, but its length and the
features of its other documents tell of it.
"""
