"""Tables of the page, what filtering changed in words, and what some claims rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from experiments.markdown import best_bold, between, number, percent, probability, table
from experiments.web_track import printed
from experiments.web_track.bounds import STEPS
from experiments.web_track.statistics import ALPHA, Change
from experiments.web_track.years import LABELS, NDCGS, label

Results = Mapping[str, Any]

NAMES = [number(name, 0) for name in LABELS]


def words(r: Results) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    changed = {of: {name: Change(**found) for name, found in by.items()} for of, by in r["changes"].items()}
    return {
        "printed": printed,
        "alpha": ALPHA,
        "step": STEPS.step,
        "cells": len(LABELS) * len(r["years"]),
        "names": NAMES,
        "label": label,
        "short": lambda heading: heading.replace("nDCG_", "").replace("0 exp", "0exp"),
        "changed": changed,
        "percents": percents,
        "of_pairs": partial(of_pairs, r),
        "filter": {of: taken_out(r["years"][of]["pairs"]) for of in changed},
        "first_k": first_k(r["unbounded"]),
        "off": off(r["years"]),
        "scores_table": lambda of, k: _scores(r["years"][of]["runs"], k),
        "pairs_table": lambda of: _pairs(changed[of], r["years"][of]["pairs"]),
    }


def percents(shares: Sequence[float]) -> str:
    """The range of some shares."""
    return f"{between([100 * s for s in shares], 1 if max(shares) < 0.05 else 0)} %"


def of_pairs(r: Results, of: str, side: str, part: str, name: str | int) -> list[float]:
    """A number of each unfiltered or of each filtered run of a year's pairs."""
    year = r["years"][of]
    return [year["runs"][pair[side]][part][str(name)] for pair in year["pairs"]]


def taken_out(pairs: Sequence[Results]) -> dict[str, list[float]]:
    """What the filter took out of each pair, as shares."""
    lost = [[1 - after / before for before, after in pair["shown"]] for pair in pairs]
    return dict(zip(("forbidden", "relevant", "rest"), map(list, zip(*lost, strict=True)), strict=True))


def off(years: Mapping[str, Results]) -> list[tuple[float, str, bool]]:
    """Printed shares that do not come out: by how much, which, and whether they look rounded to one decimal."""
    found = [
        (abs(ours - theirs), f"{of} label {name} {theirs:.2f} for {ours:.2f}", abs(round(ours, 1) - theirs) < 1e-9)
        for of, year in years.items()
        for name, ours, theirs in zip(NAMES, year["labels"]["percent"], printed.TABLE_3[int(of)][3], strict=True)
        if abs(ours - theirs) > 0.005 + 1e-9
    ]
    return sorted(found, reverse=True)


def first_k(unbounded: Mapping[str, Mapping[str, Sequence[float]]]) -> int:
    """The smallest k of the figure at which any topic of any run leaves [0, 1]."""
    every = [shares for side in unbounded.values() for shares in side.values()]
    return min(k for k, *found in zip(STEPS, *every, strict=True) if any(found))


def _scores(runs: Mapping[str, Results], k: int) -> str:
    """Every run by every measure."""
    cells = best_bold([[run["scores"][f"{measure}@{k}"] for run in runs.values()] for measure in NDCGS])
    rows = []
    for (name, run), means in zip(runs.items(), cells, strict=True):
        over, under = (number(100 * run[side][str(k)], 0) for side in ("UBQ_over", "UBQ_under"))
        rows.append([label(name), *means, f"{over} / {under} %", percent(run["Fdocs"][str(k)])])
    return table([f"at {k}", *NDCGS, "UBQ", "Fdocs"], rows)


def _pairs(found: Mapping[str, Change], pairs: Sequence[Results]) -> str:
    """Each filtered run against its unfiltered one."""
    rows = []
    for heading, change in found.items():
        cells = [heading]
        for mean, gained, lost, p in zip(change.means, change.gained, change.lost, change.corrected, strict=True):
            difference = number(mean, 3, sign=True)
            cells.append(f"{f'**{difference}**' if p < ALPHA else difference} ({gained} / {lost})")
        low, high = probability(min(change.corrected)), probability(max(change.corrected))
        rows.append([*cells, low if low == high else f"{low} to {high}"])
    return table(["filtered − unfiltered", *(label(pair["plain"]) for pair in pairs), "p"], rows)
