"""Sections: the dial, and the share shown by the length of lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.markdown import bullets, number, percent, table
from experiments.panels import Axis, Line, Panel, panels
from experiments.rank_and_filter.lengths import BEST, DOCUMENTS, LENGTHS, SHOWN
from experiments.rank_and_filter.outcomes import Outcome
from experiments.rank_and_filter.rows import (
    AT_0,
    DIALLED,
    HIDDEN,
    JOINT,
    KNOWN,
    MEASURE,
    MEASURES,
    OPTIMAL,
    OURS,
    PEER,
    PLAIN,
    WEIGHTED,
    K,
)

ASKED = (0.2, 0.4)
BLUE, RED, GREEN, PURPLE, YELLOW, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
#: Curves that are drawn; more cannot be told apart.
DRAWN = {
    JOINT: Line(GREEN, "", 2.6),
    OPTIMAL: Line(BLUE, "", 2.6),
    PLAIN: Line("#000000", "3 3", 1.6),
    "weighted LightGBM binary, best cut": Line(PURPLE, "7 3", 1.6),
    "LightGBM multiclass, E[g], with context": Line(RED, "3 3", 1.6),
    "LightGBM binary, with context": Line(YELLOW, "9 3 2 3", 1.6),
    "XGBoost rank:ndcg, with context": Line(SKY, "7 3", 1.6),
}


def harm(outcome: Outcome, name: str, hidden: float) -> float:
    """The least share of forbidden documents shown with at most so much good hidden."""
    return float(outcome.found["rows"][name]["harm"][HIDDEN.index(hidden)])


def within(outcome: Outcome, name: str, hidden: float) -> float:
    """The best nDCG_f with at most so much good hidden."""
    return float(outcome.found["rows"][name]["within"][HIDDEN.index(hidden)])


def dial_holds(found: Sequence[Outcome]) -> tuple[bool, str]:
    """Whether ours show less forbidden documents than every peer at equal good hidden, in a sentence."""
    asked = [(o, hidden) for o in found if o.setting in DIALLED for hidden in ASKED]
    least = {
        ours: sum(
            all(harm(o, ours, hidden) <= harm(o, peer, hidden) for peer in o.group(PEER, WEIGHTED))
            for o, hidden in asked
        )
        for ours in (JOINT, OPTIMAL)
    }
    told = " and ".join(f"{ours} in {count} of {len(asked)}" for ours, count in least.items())
    most = {
        ours: sum(
            all(within(o, ours, hidden) >= within(o, peer, hidden) for peer in o.group(PEER, WEIGHTED))
            for o, hidden in asked
        )
        for ours in (JOINT, OPTIMAL)
    }
    best = " and ".join(f"{ours} in {count} of {len(asked)}" for ours, count in most.items())
    return all(count == len(asked) for count in least.values()), (
        f"**The dial**: at equal good hidden ({' and '.join(percent(h, 0) for h in ASKED)}, on the forum's test and "
        f"the reviews), {told} cases shows less forbidden documents than every peer. They order documents by what "
        "these add to nDCG_f, not by how likely they are to be good. What the dial goes by is the best nDCG_f within "
        f"the limit: there {best} cases is above every peer. See "
        "[below](#the-dial-forbidden-shown-at-equal-good-hidden)."
    )


def dial(found: Sequence[Outcome]) -> str:
    """Harm shown at equal good hidden."""
    asked = [(o, hidden) for o in found if o.setting in DIALLED for hidden in ASKED]
    names = [name for name in (*asked[0][0].group(PEER, WEIGHTED, OURS), PLAIN) if name != AT_0]
    lines = [
        [f"**{name}**" if name in (JOINT, OPTIMAL) else name, *(percent(harm(o, name, h)) for o, h in asked)]
        for name in names
    ]
    columns = [f"{o.title}, {percent(h, 0)} hidden" for o, h in asked]
    values = [
        [f"**{name}**" if name in (JOINT, OPTIMAL) else name, *(number(within(o, name, h)) for o, h in asked)]
        for name in names
    ]
    return f"""
## The dial: forbidden shown at equal good hidden

nDCG_f rewards hiding. Whoever cannot accept what it hides sets a limit (`at_most="GoodFiltered<=0.2"`), and the
threshold moves. Here every ranker's scores have the threshold that shows the least forbidden documents with at most so
many of the good ones hidden, on the test itself, so that nothing but the order of the scores counts.

{table([MEASURES[2], *columns], lines)}

{bullets(*(_said(ours, asked, names) for ours in (JOINT, OPTIMAL, PLAIN)))}

Ours are not made for that question. They order documents by what they add to nDCG_f, so that a good document of a long
list with many other good ones is worth little and is hidden first; counted one by one, as here, it is a good document
like any other. Where the share of good documents hidden is the limit that matters, a plain classifier with a tuned
threshold serves better, and {JOINT} without the normaliser (`measure="DCG@3"`), for which every good document counts
the same, comes near it.{_by_known_chances(found)}

![Forbidden documents in the top {K} against good documents hidden](rank-and-filter-dial.svg)

What `at_most` goes by is another question: of the thresholds that keep the limit, it takes the one of the best
{MEASURE}. The best of them, again on the test itself:

{table([MEASURE, *columns], values)}
"""


def _said(ours: str, asked: Sequence[tuple[Outcome, float]], names: Sequence[str]) -> str:
    told = []
    for o, hidden in asked:
        less = [n for n in names if n not in (JOINT, OPTIMAL, PLAIN) and harm(o, n, hidden) < harm(o, ours, hidden)]
        at = f"{o.setting} at {percent(hidden, 0)}"
        told.append(
            f"{at}: less is shown by {len(less)} ({'; '.join(less)})" if less else f"{at}: less than every peer"
        )
    return f"**{ours}**, {'; '.join(told)}."


def _by_known_chances(found: Sequence[Outcome]) -> str:
    """That it is the question, and not the model: known chances in the order of ours."""
    told = [
        f"on {o.setting} {' and '.join(percent(harm(o, KNOWN, hidden)) for hidden in ASKED)}"
        for o in found
        if o.setting in DIALLED and KNOWN in o.found["rows"]
    ]
    return f" The same order by the known chances shows {', '.join(told)}." if told else ""


def dial_figure(found: Sequence[Outcome]) -> str:
    """A curve for each of some rankers, on forum and reviews."""
    shown = [o for o in found if o.setting in DIALLED]
    some = [i for i, hidden in enumerate(HIDDEN) if hidden <= 0.8]
    row = [
        Panel(o.title, {name: [(HIDDEN[i], o.found["rows"][name]["harm"][i]) for i in some] for name in DRAWN})
        for o in shown
    ]
    return panels(
        f"Forbidden documents in the top {K} against good documents hidden",
        "A curve for each ranker: the least share of forbidden documents shown with at most so much good hidden.",
        [row],
        DRAWN,
        Axis((0.0, 0.2, 0.4, 0.6, 0.8), "share of good documents hidden, at most", lambda v: percent(v, 0)),
        Axis((0.0, 0.1, 0.2, 0.3), written=lambda v: percent(v, 0)),
        width=910,
        height=300,
    )


def lengths(measured: Mapping[str, Any]) -> str:
    """Numbers by length, and where another cut was chosen."""
    names = (BEST, *SHOWN)
    lines = [[f"{n:,}", *(percent(measured[str(n)][name]) for name in names)] for n in LENGTHS]
    other = []
    for n in LENGTHS:
        for ours in (JOINT, OPTIMAL):
            cuts = [cut for cut in measured[str(n)].get(f"{ours}, chosen", ()) if cut != "own cut"]
            if cuts:
                other.append(f"{ours} at {n:,} ({', '.join(cuts)})")
    apart = {
        name: max(abs(measured[str(n)][name] - measured[str(n)][BEST]) for n in LENGTHS if n >= 10) for name in SHOWN
    }
    told = "; ".join(f"{name} {number(100 * far, 1)}" for name, far in apart.items())
    chosen = f" The check on held-out queries chose another cut than 0 for {'; '.join(other)}." if other else ""
    return f"""
## The share shown, by the length of lists

Documents of made-up lists with the same chances, whatever the length of their list; {DOCUMENTS[0]:,} documents to learn
from. The share of the test's documents with a score of at least 0, means over seeds. "{BEST[0].upper()}{BEST[1:]}" is
by
the known chances: alone, a document is shown if it is likelier to be good than forbidden; in long lists I − W is the
same for all, and the gains decide.
Of 1,000 documents there are 12 lists in a test, so that even the best possible share varies.

{table(["documents of a list", *names], lines)}

The largest distance from the best possible share for lists of 10 documents and more, in percentage points:
{told}.{chosen}

![Share of documents shown, by the length of lists](rank-and-filter-lengths.svg)
"""


def lengths_figure(measured: Mapping[str, Any]) -> str:
    """A curve for each ranker."""
    lines = {
        BEST: Line("#000000", "3 3", 2.0),
        JOINT: Line(GREEN, "", 2.4),
        OPTIMAL: Line(BLUE, "", 2.4),
        AT_0: Line(PURPLE, "7 3", 1.6),
    }
    curves = {name: [(float(n), measured[str(n)][name]) for n in LENGTHS] for name in lines}
    top = math.ceil(10 * max(y for points in curves.values() for _, y in points)) / 10
    ticks = [i / 10 for i in range(round(10 * top) + 1)]
    return panels(
        "Share of documents shown, by the length of lists",
        "A curve for each ranker, and the best possible share by the known chances.",
        [[Panel("made-up lists, same chances for each document", curves)]],
        lines,
        Axis(LENGTHS, "documents of a list", "{:,}".format, math.log10),
        Axis(ticks, written=lambda v: percent(v, 0)),
        height=300,
    )
