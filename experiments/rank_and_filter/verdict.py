"""Section: what holds and what does not, from the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import spearmanr

from experiments.markdown import bullets, number, probability, says, table, word
from experiments.rank_and_filter.dial import dial_holds
from experiments.rank_and_filter.outcomes import Gain, Outcome
from experiments.rank_and_filter.rows import EVERYTHING, IN_TURN, JOINT, NOTHING, OPTIMAL, PEER

BOTH = (JOINT, OPTIMAL)


def below_trivial(found: Sequence[Outcome], ours: str) -> list[tuple[Outcome, str, Gain]]:
    """Where ours is below nothing or everything shown by more than a standard error of the difference."""
    return [
        (outcome, name, gain)
        for outcome in found
        for name, gain in outcome.against(ours, [NOTHING, EVERYTHING]).items()
        if gain.value < -gain.error
    ]


def below_peers(found: Sequence[Outcome], ours: str) -> list[tuple[Outcome, str, Gain]]:
    """Peers, those with our weights too, that ours is significantly below."""
    return [(outcome, name, gain) for outcome in found for name, gain in outcome.peers(ours).items() if gain.loses]


def above_all(found: Sequence[Outcome], ours: str, without: Sequence[str] = ()) -> list[Outcome]:
    """Where ours is significantly above all peers that do not know the weights, or all but some of these."""
    return [
        outcome
        for outcome in found
        if all(gain.wins for name, gain in outcome.plain_peers(ours).items() if name not in without)
    ]


def verdict(found: Sequence[Outcome]) -> str:
    """What does not hold first."""
    counted = [outcome for outcome in found if outcome.counts]
    fails: list[str] = []
    holds: list[str] = []
    for ours in BOTH:
        for kept, said in (
            _never_below_trivial(counted, ours),
            _never_below_peers(counted, ours),
            _half(counted, ours),
        ):
            (holds if kept else fails).append(f"**{ours}** {said}")
    kept, said = dial_holds(found)
    (holds if kept else fails).append(said)
    first = "**What does not hold**" if fails else "**Everything that was asked for holds.**"
    return f"""
## Verdict

Asked of each of ours, over the {len(counted)} settings that count: (a) it is nowhere below nothing shown or everything
shown by more than a standard error of the difference; (b) it is nowhere significantly below a peer; (c) in at least
half of the settings it is significantly above all peers that do not know the weights |g|/(I − W), as libraries have
them. One more peer, {IN_TURN}, holds every query out in turn as ours do, which no library does by itself. It counts in
(b), and what (c) comes to with it is said beside (c).

{first}

{bullets(*fails)}

**What holds**

{bullets(*holds)}

**What it is worth**

{_where_it_pays(counted)}

Setting by setting, with the number of peers that do not know the weights which ours is significantly above:

{_each(found)}

{_few(found)}
"""


def _each(found: Sequence[Outcome]) -> str:
    lines = []
    for o in found:
        cells = [o.title if o.counts else f"({o.title})"]
        for ours in BOTH:
            plain = o.plain_peers(ours).values()
            cells += ["no" if below([o], ours) else "yes" for below in (below_trivial, below_peers)]
            cells.append(f"{sum(gain.wins for gain in plain)} of {len(plain)}")
        lines.append(cells)
    return table(["", *(f"{ours} ({letter})" for ours in BOTH for letter in "abc")], lines)


def _listed(items: list[tuple[Outcome, str, Gain]], *, p: bool) -> str:
    return "; ".join(
        f"{o.setting}: {name} is better by {number(-g.value)} "
        f"({f'p {_is(g.p)}' if p else f'standard error {number(g.error)}'})"
        for o, name, g in items
    )


def _is(p: float) -> str:
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def _never_below_trivial(found: Sequence[Outcome], ours: str) -> tuple[bool, str]:
    below = below_trivial(found, ours)
    if below:
        cuts = "; ".join(f"{o.setting}: {_cuts(o, ours)}" for o in _once(o for o, *_ in below))
        return False, (
            f"(a) is below what needs no model by more than a standard error ({_listed(below, p=False)}). The likely "
            f"reason is that the cut is chosen on few held-out queries, which now and then promise more than the test "
            f"keeps ({cuts})."
        )
    least = min((g.value, o.setting, name) for o in found for name, g in o.against(ours, [NOTHING, EVERYTHING]).items())
    return True, (
        "(a) is nowhere below nothing shown or everything shown by more than a standard error; the closest is "
        f"{least[2]} in {least[1]} ({number(least[0], 4, sign=True)})."
    )


def _once(found: Iterable[Outcome]) -> list[Outcome]:
    return list({o.setting: o for o in found}.values())


def _cuts(o: Outcome, ours: str) -> str:
    """Which cuts the check on held-out queries took."""
    chosen = o.found["rows"][ours]["chosen"]
    total = sum(chosen.values())
    return ", ".join(f"{cut} in {count} of {total} fits" for cut, count in chosen.items())


def _never_below_peers(found: Sequence[Outcome], ours: str) -> tuple[bool, str]:
    below = below_peers(found, ours)
    if below:
        return False, (
            f"(b) is significantly below a peer in {word(len(_once(o for o, *_ in below)))} of {len(found)} settings "
            f"({_listed(below, p=True)})."
        )
    apart = [(g.value, o.setting, name, g.p) for o in found for name, g in o.peers(ours).items()]
    value, setting, name, p = min(apart)
    lower = sum(v < 0 for v, *_ in apart)
    return True, (
        f"(b) is nowhere significantly below a peer: {lower} of {len(apart)} differences are below 0, the lowest is "
        f"{number(value, 4, sign=True)} ({name}, {setting}, p {_is(p)})."
    )


def _half(found: Sequence[Outcome], ours: str) -> tuple[bool, str]:
    won, with_in_turn = above_all(found, ours, [IN_TURN]), above_all(found, ours)
    names = f" ({'; '.join(o.setting for o in won)})" if won else ""
    kept = 2 * len(won) >= len(found)
    told = (
        f"(c) is significantly above all peers that do not know the weights, as libraries have them, in "
        f"{_many(won)} of {len(found)} settings{names}, which is {says(kept, 'half or more', 'less than half')}. "
        f"With {IN_TURN}, it is in {_many(with_in_turn)}, which is "
        f"{says(2 * len(with_in_turn) >= len(found), 'half or more', 'less than half')}."
    )
    return kept, f"{told} {_elsewhere(found, won, ours)}"


def _many(settings: Sequence[Outcome]) -> str:
    return word(len(settings)) if settings else "none"


def _elsewhere(found: Sequence[Outcome], won: Sequence[Outcome], ours: str) -> str:
    """Likely reasons in the other settings."""
    rest = [o for o in found if o not in won]
    empty = [o for o in rest if o.mean(ours, "Empty") > 0.9]
    flat = [o for o in rest if o.variation < 0.5 and o not in empty]
    other = [o for o in rest if o not in empty and o not in flat]
    ahead = [o for o in other if all(gain.value > 0 for gain in o.plain_peers(ours).values())]
    reasons = [
        says(bool(empty), f"{_names(empty)}: most lists are best left empty, which a tuned threshold finds too"),
        says(
            bool(flat),
            f"{_names(flat)}: 1/(I − W) hardly varies between queries (a coefficient of variation below 0.5), so that "
            "one threshold for all is as good",
        ),
        says(
            bool(other),
            f"{_names(other)}: the queries are too few, or the features too weak, to tell it from the best peers (it "
            f"is above all of them in {word(len(ahead))} of these)",
        ),
    ]
    return f"Elsewhere: {'. '.join(r for r in reasons if r)}." if any(reasons) else ""


def _names(found: Sequence[Outcome]) -> str:
    return "; ".join(o.title for o in found)


def _where_it_pays(found: Sequence[Outcome]) -> str:
    variation = [o.variation for o in found]
    lines = []
    for ours in BOTH:
        gains = [o.mean(ours) - o.mean(o.best(PEER)) for o in found]
        rank = float(spearmanr(variation, gains).statistic)
        lines.append(
            f"**{ours}** less the best peer that does not know the weights: "
            f"{number(float(np.mean(gains)), 4, sign=True)} in the mean of the settings, "
            f"{number(min(gains), 4, sign=True)} to {number(max(gains), 4, sign=True)}; "
            f"above 0 in {sum(g > 0 for g in gains)} of {len(gains)}. Its rank correlation with the coefficient of "
            f"variation of 1/(I − W) is {number(rank, 2)}."
        )
    return bullets(*lines)


def _few(found: Sequence[Outcome]) -> str:
    few = [o for o in found if not o.counts]
    told = []
    for ours in BOTH:
        below = ", ".join(f"{o.setting} ({name})" for o, name, _ in below_trivial(few, ours))
        told.append(f"{ours} is below them in {below}" if below else f"{ours} is not below them")
    return (
        f"{' and '.join(o.setting for o in few)} have {few[0].found['queries']} queries, so they are shown and do not "
        f"count. Beside nothing and everything shown: {'; '.join(told)}."
    )
