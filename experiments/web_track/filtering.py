"""Does spam filtering help? The runs, the pairs, the orders, and how much depends on the setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from experiments.web_track.statistics import changes, kendall_tau, places
from experiments.web_track.years import KS, NDCGS, Year, at

Years = Mapping[int, Year]

SAME = 1e-12
HEADINGS = {f"{measure}@{k}": at(measure, k) for k, measure in product(KS, NDCGS)}
#: What is told of a run at each k beside its scores.
BY_K = ("Fdocs", "UBQ", "UBQ_over", "UBQ_under")


def changes_by_heading(year: Year) -> dict[str, dict[str, Any]]:
    """What filtering changed, by the measures' headings."""
    found = changes(year, HEADINGS.values())
    return {heading: asdict(found[name]) for heading, name in HEADINGS.items()}


def same_at_20(year: Year) -> bool:
    """Whether nDCG_min and nDCG_f have the same values in every list."""
    return bool((np.abs(year.by_topic("nDCG_min@20") - year.by_topic("nDCG_f@20")) <= SAME).all())


def empty_list(year: Year, k: int) -> float:
    """Mean nDCG_f@k of the empty list."""
    return float(year.means(f"Difficulty@{k}")[0])


def runs(year: Year) -> dict[str, dict[str, Any]]:
    """Each run's lists and scores."""
    below = (year.by_topic("nDCG_f@20") < year.by_topic("Difficulty@20") - SAME).mean(axis=1)
    return {
        name: {
            "rows": len(year.runs[name]),
            "judged": int(year.mean("NumRet", name)),
            "Judged@20": year.mean("Judged@20", name),
            "GoodFiltered": year.mean("GoodFiltered", name),
            "empty": round(year.mean("Empty", name) * len(year.topics)),
            "scores": {heading: year.mean(measure, name) for heading, measure in HEADINGS.items()},
            **{part: {k: year.mean(at(part, k), name) for k in KS} for part in BY_K},
            "below the empty list": below[i],
        }
        for i, name in enumerate(year.names)
    }


def pairs(year: Year) -> list[dict[str, Any]]:
    """Each unfiltered run with its filtered one, and the judged documents that both show."""
    return [
        {
            "plain": plain,
            "filtered": filtered,
            "sublist": year.is_sublist(filtered, plain),
            "shown": list(zip(shown(year, plain), shown(year, filtered), strict=True)),
        }
        for plain, filtered in year.pairs
    ]


def shown(year: Year, run: str) -> tuple[int, int, int]:
    """Judged documents that a run shows: forbidden, relevant, and the rest."""
    i = year.names.index(run)

    def totals(measure: str) -> tuple[int, int]:
        m = year.scores.column(measure)
        return int(year.scores.numerators[i, :, m].sum()), int(year.scores.denominators[i, :, m].sum())

    forbidden, everything = totals("Fdocs")
    missing, relevant = totals('GoodFiltered(good="positive")')
    return forbidden, relevant - missing, everything - forbidden - (relevant - missing)


def in_2012(year: Year) -> dict[str, Any]:
    """What the explanations of that year's scores rest on."""
    ideal, values = year.bounds(300)["I"], year.by_topic("nDCG_org@300")
    sound = [topic for topic, best in zip(year.topics, ideal, strict=True) if best > 0]
    cedr, ql = (year.by_topic("nDCG_f@20")[year.names.index(n)] for n in ("cedr-initial-top100", "indri-ql-cata"))
    return {
        "longest list": int(year.by_topic("NumRet").max()),
        "nDCG_org@300": [values.min(), values.max()],
        "negative ideals": int((ideal < 0).sum()),
        "p without them": changes(year, ["nDCG_org@300"], topics=sound)["nDCG_org@300"].p,
        "cedr is ql": bool((np.abs(cedr - ql) <= SAME).all()),
    }


def orders(year: Year) -> dict[str, Any]:
    """The place of each run by each measure, and how alike the measures' orders are."""
    means = {heading: year.means(name) for heading, name in HEADINGS.items()}
    return {
        "places": {heading: dict(zip(year.names, places(m), strict=True)) for heading, m in means.items()},
        "tau": {a: {b: kendall_tau(x, y) for b, y in means.items()} for a, x in means.items()},
    }


def choices(years: Years) -> list[dict[str, Any]]:
    """What filtering changed with other gains and with another treatment of unjudged documents."""
    names = [at(measure, k) for measure in ("nDCG_0", "nDCG_f") for k in KS]
    rows = []
    for year, gain, unjudged in product((2012, 2013), (-10, -2), ("drop", "zero")):
        found = changes(years[year], names, {-2: gain}, unjudged)
        told = {name: {"means": change.means, "significant": change.significant} for name, change in found.items()}
        rows.append({"year": year, "gain": gain, "unjudged": unjudged, "changes": told})
    return rows


def milder(year: Year) -> dict[str, Any]:
    """nDCG_f@20 of the runs and of the empty list if a forbidden document cost 2 instead of 10."""
    means = year.evaluate(["nDCG_f@20", "Difficulty@20"], gains={-2: -2}).aggregate()
    return {"runs": means[:, 0], "nothing": means[0, 1]}
