"""Tables of the page, and what its verdict goes by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from experiments.markdown import number, percent, probability, table
from experiments.rank_and_filter import lengths, settings, shifts, worlds
from experiments.rank_and_filter.outcomes import (
    ALPHA,
    Gain,
    Outcome,
    above_all,
    below_peers,
    below_trivial,
    outcomes,
)
from experiments.rank_and_filter.rows import (
    ALONE,
    AT_0,
    BASELINE,
    DIALLED,
    EVERYTHING,
    IN_TURN,
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
from experiments.rank_and_filter.worlds import World

BOTH = (JOINT, OPTIMAL)
#: Shares of the good documents hidden at which harm is compared.
ASKED = (0.2, 0.4)
#: Parts of the names of peers that learn classes instead of an order.
CLASSIFIERS = ("binary", "multiclass")

Results = Mapping[str, Any]


def words(r: Results) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    found = outcomes(r)
    counted, few = ([o for o in found if o.counts == counts] for counts in (True, False))
    return {
        "in_turn": IN_TURN,
        "settings": settings,
        "lengths": lengths,
        "shifts": shifts,
        "worlds": worlds,
        "counted": counted,
        "few": few,
        "verdicts": {ours: _verdict(counted, few, ours) for ours in BOTH},
        "each_table": _each(found),
        "main_table": _main(found),
        "lengths_table": _lengths(r["lengths"]),
        "other_cuts": _other_cuts(r["lengths"]),
        "distances": _distances(r["lengths"]),
        "shifts_table": _shifts(r["shifts"]),
        "lost": _lost_to_shifts(r["shifts"]),
        "by_share_table": _by_share(r["worlds"]),
        "by_length_table": _by_length(by_length := _lost_by_length(r["worlds"])),
        "long_lists_lose_most": all(
            max(by_length, key=lambda at: by_length[at][name][1])[0] == worlds.LENGTHS[-1] for name in worlds.SHOWN
        ),
        "below_in_worlds": {ours: sorted(below(r["worlds"], ours), key=lambda of: of[2]) for ours in BOTH},
        **_dial([o for o in found if o.setting in DIALLED]),
        "parts_table": _parts(found),
        "every_table": _every(found),
        "catboost_takes_longest": all(map(_catboost_takes_longest, found)),
    }


# -- the verdict -----------------------------------------------------------------------------------------------------


def _verdict(found: Sequence[Outcome], few: Sequence[Outcome], ours: str) -> dict[str, Any]:
    """What the three questions come to, and likely reasons where a ranker does not win."""
    won = above_all(found, ours, [IN_TURN])
    rest = [o for o in found if o not in won]
    empty = [o for o in rest if o.mean(ours, "Empty") > 0.9]
    flat = [o for o in rest if o.variation < 0.5 and o not in empty]
    other = [o for o in rest if o not in empty and o not in flat]
    gains = [o.mean(ours) - o.mean(o.best(PEER)) for o in found]
    trivial = [(g.value, o, name) for o in found for name, g in o.against(ours, [NOTHING, EVERYTHING]).items()]
    peers = [(g.value, o, name, g.p) for o in found for name, g in o.peers(ours).items()]
    return {
        "below_trivial": (below := below_trivial(found, ours)),
        "cuts": {o.setting: o.found["rows"][ours]["chosen"] for o, *_ in below},
        "closest": min(trivial, key=lambda of: (of[0], of[1].setting, of[2])),
        "below_peers": (lost := below_peers(found, ours)),
        "places_lost": {o.setting for o, *_ in lost},
        "peers": peers,
        "lowest": min(peers, key=lambda of: (of[0], of[1].setting, of[2])),
        "won": won,
        "won_with_in_turn": above_all(found, ours),
        "empty": empty,
        "flat": flat,
        "other": other,
        "ahead": [o for o in other if all(gain.value > 0 for gain in o.plain_peers(ours).values())],
        "gains": gains,
        "correlation": float(spearmanr([o.variation for o in found], gains).statistic),
        "below_in_few": below_trivial(few, ours),
    }


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


# -- settings --------------------------------------------------------------------------------------------------------


def _main(found: Sequence[Outcome]) -> str:
    head = [MEASURE, "CV of 1/(I − W)", NOTHING, EVERYTHING, "best peer that does not know the weights"]
    head += ["weighted LightGBM, cut at 0", *(f"**{ours}**" for ours in BOTH), KNOWN, "good hidden: best peer", *BOTH]
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
                *(f"**{number(o.mean(ours))}**{_marks(o, ours)}" for ours in BOTH),
                number(o.mean(KNOWN)) if KNOWN in o.found["rows"] else "",
                *(percent(o.mean(name, "GoodFiltered"), 0) for name in (peer, *BOTH)),
            ]
        )
    return table(head, lines)


def _marks(o: Outcome, ours: str) -> str:
    plain = list(o.plain_peers(ours).values())
    up = all(g.value > 0 for g in plain) and any(g.wins for g in plain)
    mark = " ▲" if all(g.wins for g in plain) else " ▵" if up else ""
    return mark + (" ▼" if any(g.loses for g in o.peers(ours).values()) else "")


def _every(found: Sequence[Outcome]) -> str:
    head = ["ranker", *MEASURES, "seconds", f"{JOINT} less it", "p", f"{OPTIMAL} less it", "p"]
    lines = []
    for o in found:
        told = (
            f"{o.found['queries']:,} queries, {o.found['documents']:,} documents, "
            f"{percent(o.found['forbidden'], 0)} forbidden, {len(o.of(JOINT))} seeds"
        )
        lines.append([f"**{o.title}** ({told})", *[""] * (len(head) - 1)])
        against = [{**o.against(ours, o.group(BASELINE)), **o.peers(ours)} for ours in BOTH]
        for name in o.group(BASELINE, PEER, WEIGHTED, OURS) + ([KNOWN] if KNOWN in o.found["rows"] else []):
            cells = [name, with_deviation(o, name), number(o.mean(name, MEASURES[1]))]
            cells += [percent(o.mean(name, measure)) for measure in MEASURES[2:]]
            cells.append("" if name == KNOWN else number(o.found["rows"][name]["seconds"], 1))
            lines.append(cells + [cell for gains in against for cell in _beside(gains.get(name))])
    return table(head, lines)


def _beside(gain: Gain | None) -> list[str]:
    return ["", ""] if gain is None else [number(gain.value, 4, sign=True), probability(gain.p)]


def with_deviation(outcome: Outcome, name: str) -> str:
    """A ranker's mean over seeds, and its deviation."""
    spread = f" ± {number(float(np.std(of, ddof=1)))}" if len(of := outcome.of(name)) > 1 else ""
    return f"{number(outcome.mean(name))}{spread}"


def _parts(found: Sequence[Outcome]) -> str:
    def cell(o: Outcome, name: str) -> str:
        gain = o.against(JOINT, [PLAIN, ALONE])[name]
        mark = "" if gain.p >= ALPHA else " ▼" if gain.value > 0 else " ▲"
        return f"{number(o.mean(name))}{mark}"

    lines = [[o.title, number(o.mean(JOINT)), cell(o, PLAIN), cell(o, ALONE)] for o in found]
    return table([MEASURE, JOINT, "without the normaliser", "without the list"], lines)


def _catboost_takes_longest(o: Outcome) -> bool:
    """Longer than any other peer that is one model; or it was not fitted."""
    seconds = {name: o.found["rows"][name]["seconds"] for name in o.group(PEER, WEIGHTED) if "averaged" not in name}
    return max(seconds, key=lambda name: seconds[name]).startswith("CatBoost") or "CatBoost" not in " ".join(seconds)


# -- the dial --------------------------------------------------------------------------------------------------------


def _dial(found: Sequence[Outcome]) -> dict[str, Any]:
    """Forbidden documents shown at equal good hidden."""
    asked = [(o, hidden) for o in found for hidden in ASKED]
    names = [name for name in (*found[0].group(PEER, WEIGHTED, OURS), PLAIN) if name != AT_0]
    columns = [f"{o.title}, {percent(h, 0)} hidden" for o, h in asked]
    bold = {name: f"**{name}**" if name in BOTH else name for name in names}

    def least(o: Outcome, hidden: float) -> float:
        """What the best classifier shows."""
        return min(o.harm(n, hidden) for n in o.group(PEER) if any(of in n for of in CLASSIFIERS))

    return {
        "asked": asked,
        "least": {
            ours: sum(all(o.harm(ours, h) <= o.harm(peer, h) for peer in o.group(PEER, WEIGHTED)) for o, h in asked)
            for ours in BOTH
        },
        "most": {
            ours: sum(all(o.within(ours, h) >= o.within(peer, h) for peer in o.group(PEER, WEIGHTED)) for o, h in asked)
            for ours in BOTH
        },
        "shown_less": {
            ours: [
                (o, h, [n for n in names if n not in (*BOTH, PLAIN) and o.harm(n, h) < o.harm(ours, h)])
                for o, h in asked
            ]
            for ours in (*BOTH, PLAIN)
        },
        "by_known_chances": (
            known := [(o, [o.harm(KNOWN, h) for h in ASKED]) for o in found if KNOWN in o.found["rows"]]
        ),
        "classifiers_show_less": all(least(o, h) <= o.harm(ours, h) for o, h in asked for ours in BOTH),
        "plain_comes_near": all(o.harm(PLAIN, h) - least(o, h) < 0.01 for o, h in asked),
        "known_show_more": all(shown > least(o, h) for o, own in known for h, shown in zip(ASKED, own, strict=True)),
        "harm_table": table(
            [MEASURES[2], *columns], [[bold[n], *(percent(o.harm(n, h)) for o, h in asked)] for n in names]
        ),
        "within_table": table(
            [MEASURE, *columns], [[bold[n], *(number(o.within(n, h)) for o, h in asked)] for n in names]
        ),
    }


# -- synthetic lists ---------------------------------------------------------------------------------------------------


def _lengths(found: Results) -> str:
    names = (lengths.BEST, *lengths.SHOWN)
    lines = [[f"{n:,}", *(percent(found[str(n)][name]) for name in names)] for n in lengths.LENGTHS]
    return table(["documents of a list", *names], lines)


def _other_cuts(found: Results) -> list[tuple[str, int, list[str]]]:
    """Where the check on held-out queries chose another cut than 0."""
    told = [
        (ours, n, [cut for cut in found[str(n)].get(f"{ours}, chosen", ()) if cut != "own cut"])
        for n in lengths.LENGTHS
        for ours in BOTH
    ]
    return [of for of in told if of[2]]


def _distances(found: Results) -> dict[str, float]:
    """How far from the best possible share each is at most, in lists that are not short."""
    return {
        name: max(abs(found[str(n)][name] - found[str(n)][lengths.BEST]) for n in lengths.LENGTHS if n >= 10)
        for name in lengths.SHOWN
    }


def _shifts(found: Results) -> str:
    lines = []
    for shift in shifts.SHIFTS:
        for held_out in shifts.HELD_OUT:
            own = found[f"{shift:g}, {held_out}"]
            cells = (number(own[name]) if name in own else "" for name in (NOTHING, *shifts.SHOWN, shifts.BEST))
            lines.append([percent(own["forbidden"], 0), f"{held_out}" if held_out else "none", *cells])
    return table(["forbidden in use", "lists for validation", NOTHING, *shifts.SHOWN, shifts.BEST], lines)


def _lost_to_shifts(found: Results) -> list[float]:
    """The most that ours lose to the known chances, by the number of lists for validation."""
    every = [[found[f"{shift:g}, {held_out}"] for shift in shifts.SHIFTS] for held_out in shifts.HELD_OUT]
    return [max(own[shifts.BEST] - own[ours] for own in of for ours in BOTH) for of in every]


def _of(found: Results, world: World, name: str) -> list[float]:
    """Means over seeds."""
    return [float(value) for value in np.mean(found[world.name][name], axis=0)]


def _by_share(found: Results) -> str:
    names = (NOTHING, EVERYTHING, worlds.BEST, *worlds.SHOWN)
    lines = []
    for share in worlds.SHARES:
        for penalty in worlds.PENALTIES:
            own = [World(length, share, penalty, worlds.USE[0]) for length in worlds.LENGTHS]
            means = (number(float(np.mean([_of(found, world, name)[0] for world in own]))) for name in names)
            lines.append([percent(share, 0), f"−{penalty}", *means])
    return table(["forbidden", "gain", *names], lines)


def _lost_by_length(found: Results) -> dict[tuple[int, str], dict[str, tuple[float, float]]]:
    """By length and use of features what each loses to the known chances: the mean and the largest loss."""

    def lost(name: str, length: int, use: str) -> tuple[float, float]:
        own = [world for world in worlds.worlds() if (world.length, world.use) == (length, use)]
        apart = [_of(found, world, worlds.BEST)[0] - _of(found, world, name)[0] for world in own]
        return float(np.mean(apart)), max(apart)

    return {
        (length, use): {name: lost(name, length, use) for name in worlds.SHOWN}
        for use in worlds.USE
        for length in worlds.LENGTHS
    }


def _by_length(lost: Mapping[tuple[int, str], Mapping[str, tuple[float, float]]]) -> str:
    lines = [
        [f"{length:,}", use, *(" / ".join(number(part, 3) for part in of) for of in own.values())]
        for (length, use), own in lost.items()
    ]
    return table(["documents of a list", "features", *worlds.SHOWN], lines)


def below(found: Results, name: str) -> list[tuple[World, str, float, float]]:
    """Where it is below nothing or everything shown by more than a standard error: the difference and the error."""
    told = []
    for world in worlds.worlds():
        _, *apart = _of(found, world, name)
        for trivial, (value, own) in {NOTHING: apart[:2], EVERYTHING: apart[2:]}.items():
            error = own / float(np.sqrt(worlds.SEEDS))
            if value < -max(error, 1e-9):
                told.append((world, trivial, value, error))
    return told
