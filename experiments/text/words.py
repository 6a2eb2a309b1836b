"""Tables of the page, and what its claims rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.markdown import number, percent, probability, table
from experiments.text.judged import MEASURES
from experiments.text.settings import (
    ALONE,
    BASELINES,
    COLLECTIONS,
    CONTEXT,
    EVERY,
    FILTER_ALL,
    JOINT,
    LOSSES,
    OPTIMAL,
    OURS,
    PEER_ALONE,
    PEER_AVERAGED,
    PEER_STACKED,
    PEER_TREES,
    PLAIN,
    RECIPES,
    SETUPS,
    THREADS,
)
from ranksift.evaluation.significance import holm

TOPS = (JOINT, OPTIMAL)
PEERS = (PEER_ALONE, PEER_AVERAGED, PEER_TREES, PEER_STACKED)

Results = Mapping[str, Any]


def words(r: Results) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    stacks, tables = r["stacks"], r["tables"]
    rows = {name: _means(found["rows"]) for name, found in stacks.items()}
    losses = {name: {loss: _means(found["rows"])[loss] for loss in LOSSES} for name, found in tables.items()}
    noise = {name: found["values"] for name, found in r["ceilings"].items()}
    best = {name: max(rows[name][f"{EVERY}: {top}"] for top in TOPS) for name in COLLECTIONS}
    threads = stacks[THREADS]["rows"]
    return {
        "collections": COLLECTIONS,
        "rows": rows,
        "verdicts": {name: _verdict(found, rows[name]) for name, found in stacks.items()},
        "best_peer": max(PEERS, key=lambda row: rows[THREADS][row]),
        "best_losses": {name: max(own.items(), key=lambda of: of[1]) for name, own in losses.items()},
        "behind_ordinal": [p < 0.05 and apart < 0 for found in tables.values() for apart, p in _less_ordinal(found)],
        "more_than_the_loss": (
            min(best[name] - losses[name]["ordinal"] for name in COLLECTIONS)
            > max(max(own.values()) - own["ordinal"] for own in losses.values())
        ),
        "careful": [
            row
            for row, found in threads.items()
            if _mean(found, "Fdocs@3") <= 0.05 and _mean(found, "GoodFiltered") <= 0.4
        ],
        "gained": [
            name
            for name, found in stacks.items()
            if any(found["against"][top][_recipe(rows[name])][2] < 0.05 for top in TOPS)
        ],
        "a_third_is_too_many": all(_wrong(r, name) > 1 / 3 - 0.01 for name in COLLECTIONS)
        and all(_extended(noise[name], 1 / 3) < best[name] for name in COLLECTIONS),
        "best": best,
        "nothing": {name: _mean(found["rows"][FILTER_ALL]) for name, found in tables.items()},
        "loss_tables": {name: _losses(found) for name, found in tables.items()},
        "stack_tables": {name: _stacks(name, found) for name, found in stacks.items()},
        "noise_table": _noise(noise, best),
    }


def _mean(row: Results, measure: str = MEASURES[0]) -> float:
    """Of all seeds."""
    return float(np.mean(row["values"][measure]))


def _means(rows: Results) -> dict[str, float]:
    return {name: _mean(row) for name, row in rows.items()}


# -- the verdict -----------------------------------------------------------------------------------------------------


def _recipe(rows: Mapping[str, float]) -> str:
    """The best row of what was known before: two kinds of texts, alone, averaged, or under trees."""
    return max((f"{RECIPES}, averaged", *(f"{RECIPES}: {top}" for top in TOPS), PLAIN, CONTEXT), key=lambda n: rows[n])


def _top(rows: Mapping[str, float], kinds: str) -> str:
    """What stands best on top of some kinds of networks."""
    return max(TOPS, key=lambda top: rows[f"{kinds}: {top}"])


def _verdict(found: Results, rows: Mapping[str, float]) -> dict[str, Any]:
    """The best of all four kinds of networks beside what was known before, and beside two kinds."""
    top, recipe, two = _top(rows, EVERY), _recipe(rows), _top(rows, OURS)
    row = found["rows"][f"{EVERY}: {top}"]
    return {
        "top": top,
        "shown": _mean(row, "Fdocs@3"),
        "hidden": _mean(row, "GoodFiltered"),
        "recipe": recipe,
        "against": found["against"][top],
        "two": two,
        "of_two": rows[f"{OURS}: {two}"],
    }


def _less_ordinal(found: Results) -> list[tuple[float, float]]:
    """How far each loss is above ordinal, and p."""
    less = found["less ordinal"].values()
    return [*zip((own[0] for own in less), _corrected(less), strict=True)]


def _corrected(differences: Any) -> list[float]:
    return [float(p) for p in holm(np.array([own[2] for own in differences]))]


# -- tables ----------------------------------------------------------------------------------------------------------


def _cells(row: Results) -> list[str]:
    """All measures of a row."""
    first, second, *others = (row["values"][measure] for measure in MEASURES)
    spread = f" ± {number(np.std(first, ddof=1))}" if len(first) > 1 else ""
    return [f"{number(np.mean(first))}{spread}", number(np.mean(second)), *(percent(np.mean(own)) for own in others)]


def _beside(of: Results, names: Sequence[str]) -> dict[str, list[str]]:
    """Differences and p, after Holm's correction over those that are named."""
    p = _corrected([of[name] for name in names])
    return {name: [number(of[name][0], sign=True), probability(own)] for name, own in zip(names, p, strict=True)}


def _losses(found: Results) -> str:
    """Table 7 on one collection."""
    beside = [_beside(found[part], [*found[part]]) for part in ("beside it", "less ordinal")]
    rows = [
        [row, *_cells(found["rows"][row]), *(cell for of in beside for cell in of.get(row, ["", ""]))]
        for row in (*BASELINES, *LOSSES)
    ]
    return table(["loss", *MEASURES, f"less {found['best baseline']}", "p", "less ordinal", "p"], rows)


def _stacks(name: str, found: Results) -> str:
    """What each row comes to on one collection."""
    kinds = [f"{kind}, averaged" for kind in (RECIPES, OURS, EVERY)]
    trees = [f"{kind}: {top}" for kind in (ALONE, RECIPES, OURS, EVERY) for top in TOPS]
    order = [row for row in (*SETUPS[name], *kinds, *PEERS, *trees) if row in found["rows"]]
    beside = [{**_beside(found["against"][top], order), f"{EVERY}: {top}": ["", ""]} for top in TOPS]
    rows = [[row, *_cells(found["rows"][row]), *(cell for of in beside for cell in of[row])] for row in order]
    head = [cell for top in TOPS for cell in (f"{EVERY}: {top} less it", "p")]
    return table(["", *MEASURES, *head], rows)


def _noise(noise: Mapping[str, Mapping[str, float]], best: Mapping[str, float]) -> str:
    """What perfect knowledge would be worth."""
    rates = [*noise[THREADS]]
    rows = [
        [name, *(number(own[rate], 3) for rate in rates), number(best[name], 3), _at_most(own, best[name])]
        for name, own in noise.items()
    ]
    return table(
        ["share of wrong labels", *(percent(float(r), 0) for r in rates), "ours", "so wrong are at most"], rows
    )


def _at_most(values: Mapping[str, float], best: float) -> str:
    rates, found = [0.0, *map(float, values)], [1.0, *values.values()]
    if best < found[-1]:
        return f"more than {percent(rates[-1], 0)}"
    return percent(float(np.interp(-best, [-value for value in found], rates)), 0)


def _wrong(r: Results, name: str) -> float:
    """The share of labels that confident learning takes for wrong, at least: of the good, those of the better grade."""
    forbidden, *good = (sum(row) for row in r["ceilings"][name]["wrong"])
    share = r["stacks"][name]["forbidden"]
    return float(share * forbidden + (1 - share) * min(good))


def _extended(values: Mapping[str, float], rate: float) -> float:
    """What perfect knowledge is worth with more wrong labels than were drawn, on a straight line."""
    (x, low), (far, high) = list(values.items())[-2:]
    return high + (high - low) * (rate - float(far)) / (float(far) - float(x))
