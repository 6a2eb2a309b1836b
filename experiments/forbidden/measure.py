"""Both studies on the runs of 2012 and 2013, and what the judgments alone say of all years."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import ranksift as rs
from experiments.forbidden.bounds import agreeing, attainable, seen
from experiments.forbidden.penalty import penalties
from experiments.forbidden.printed import DEPTHS
from experiments.forbidden.studies import CARMEL, GIENAPP, KS, YEARS, Study, at
from experiments.web_track.years import FILTERED, Year
from experiments.web_track.years import YEARS as ALL_YEARS
from ranksift import study
from ranksift.study.presets import preset

#: Full names of the measures of both settings, by what the page calls them.
DEEP = {heading: f"{name}@500" for heading, name in CARMEL.items()}
SHALLOW = {name: name for name in at([*GIENAPP], *KS)}
#: The three correlations of Gienapp et al.'s Table 2b.
TWO = (("nDCG_org", "nDCG_0"), ("nDCG_org", "nDCG_min"), ("nDCG_0", "nDCG_min"))
#: The number of topics with which other readings are compared.
SIZE = 25
READINGS = tuple(product(("trials", "topics"), ("absolute", "relative")))

Studies = Mapping[int, Study]


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures."""
    years = {year: Year(data, year) for year in ALL_YEARS}
    few = {year: years[year] for year in YEARS}
    with warnings.catch_warnings():
        # Two runs are copies of each other; the page says so.
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        deep = {of: Study(year, preset("forbidden-2022"), [*DEEP.values()]) for of, year in few.items()}
        shallow = {of: Study(year, preset("negative-2020"), [*SHALLOW]) for of, year in few.items()}
        return {
            "runs": {of: year.names for of, year in few.items()},
            "attainable": {of: attainable(of, year) for of, year in years.items()},
            "agreeing years": {k: agreeing(years, k) for k in range(1, 31)},
            "seen": {of: seen(s) for of, s in deep.items()},
            "deep": {of: in_carmels_setting(s) for of, s in deep.items()},
            "shallow": {of: in_gienapps_setting(of, s) for of, s in shallow.items()},
            "at 20 in 2012": at_20(deep[2012]),
            "official": official(shallow[2012]),
            "readings": readings(deep, shallow),
            "unjudged": unjudged(deep, shallow),
            "penalties": penalties(few),
        }


def studied(s: Study, names: Mapping[str, str]) -> dict[str, Any]:
    """Stability, sensitivity and reliability by each measure."""
    stable, reliable = s.stability, s.reliability
    needed, enough = stable.topics_needed(0.05), reliable.topics_needed(0.95)
    difference = s.sensitivity["sakai"].difference_needed(0.05)
    return {
        "topics": s.topics,
        "sizes": list(stable.samples),
        "pairs": s.pairs,
        "standard error": max(max(stable.standard_error[name].values()) for name in names.values()),
        "measures": {
            heading: {
                "errors": list(stable.error_rate[name].values()),
                "ties": {size: stable.tie_rate[name][size] for size in (10, SIZE, s.topics)},
                "topics for 5 %": needed[name],
                "asl": {method: np.sort(found.asl[name]) for method, found in s.sensitivity.items()},
                "difference for 0.05": difference[name] or 0.0,
                "components": reliable.components[name],
                "phi": (reliable.phi[name], *reliable.phi_interval[name]),
                "rho2": (reliable.rho2[name], *reliable.rho2_interval[name]),
                "topics for 0.95": enough[name],
            }
            for heading, name in names.items()
        },
    }


def in_carmels_setting(s: Study) -> dict[str, Any]:
    """How the orders agree, too, and how much more reliable nDCG_f is than nDCG_min."""
    found = s.agreement
    orders = {
        f"{one}, {two}": {
            "tau": found.tau[DEEP[one]][DEEP[two]],
            "tau_b": found.tau_b[DEEP[one]][DEEP[two]],
            "spearman": found.spearman[DEEP[one]][DEEP[two]],
            "opposite": found.swap_rate[DEEP[one]][DEEP[two]],
        }
        for one, two in combinations(DEEP, 2)
    }
    return {**studied(s, DEEP), "gap": s.gap(DEEP["nDCG_f"], DEEP["nDCG_min"]), "orders": orders}


def in_gienapps_setting(of: int, s: Study) -> dict[str, Any]:
    """The correlations of Table 2b, too, the gaps of nDCG_org and nDCG_min, and what is special about the runs."""
    spearman, k = s.agreement.spearman, DEPTHS[of]
    notes = "".join(s.stability.notes)
    filtered = [mean for run, mean in zip(s.year.names, s.means("nDCG_min@20"), strict=True) if run.endswith(FILTERED)]
    return {
        **studied(s, SHALLOW),
        "gaps": {k: s.gap(f"nDCG_org@{k}", f"nDCG_min@{k}") for k in KS},
        "rho": [spearman[f"{a}@{k}"][f"{b}@{k}"] for a, b in TWO],
        "lowest nDCG_org of each run": np.min([s.means(f"nDCG_org@{k}") for k in KS], axis=0),
        "filtered, nDCG_min@20": filtered,
        "nDCG_min is nDCG_f": all(_equal(s, f"nDCG_min@{k}", f"nDCG_f@{k}") for k in KS),
        "copies": [run for run in s.year.names if repr(run) in notes],
    }


def _equal(s: Study, one: str, two: str) -> bool:
    a, b = (s.scores.values[:, :, s.scores.column(name)] for name in (one, two))
    return bool(np.abs(a - b).max() <= 1e-12)


def at_20(s: Study) -> dict[str, Any]:
    """Whether nDCG_org has the order of nDCG_f where no ideal is negative."""
    found = study.agreement(s.year.evaluate(["nDCG_org@20", "nDCG_f@20"]))
    return {
        "tau_b": found.tau_b["nDCG_org@20"]["nDCG_f@20"],
        "negative ideals": (s.year.bounds(20)["I"] < 0).sum(),
    }


def official(s: Study) -> list[float]:
    """Φ by the track's official nDCG@20, with its interval."""
    name = 'nDCG(gains="exp")@20'
    found = study.reliability(rs.evaluate(s.year.qrels, s.year.runs, name, unjudged="zero"))
    return [found.phi[name], *found.phi_interval[name]]


def readings(deep: Studies, shallow: Studies) -> dict[str, Any]:
    """Error rates and ties in four readings, and how rates over topics grow with their number."""
    rows, growing = [], []
    for setting, s, names in settings(deep, shallow):
        for counts, fuzz in READINGS:
            found = s.stability_as(counts=counts, fuzz=fuzz, sizes=[SIZE])
            rates = {heading: (found.error_rate[m][SIZE], found.tie_rate[m][SIZE]) for heading, m in names.items()}
            rows.append({"setting": setting, "counts": counts, "fuzz": fuzz, "rates": rates})
        found = s.stability_as(counts="topics", sizes=[10, 40])
        growing += [(rates[10], rates[40]) for rates in found.error_rate.values()]
    return {"rows": rows, "over topics, with 10 and 40": growing}


def unjudged(deep: Studies, shallow: Studies) -> dict[str, dict[str, Any]]:
    """Φ with unjudged documents in their places."""
    told = {}
    for setting, s, names in settings(deep, shallow):
        other = Study(s.year, s.preset, [str(m) for m in s.scores.measures], unjudged="zero").reliability
        told[setting] = {heading: (other.phi[m], *other.phi_interval[m]) for heading, m in names.items()}
    return told


def settings(deep: Studies, shallow: Studies) -> list[tuple[str, Study, dict[str, str]]]:
    """Name, study, and its measures by their headings: all at 500, then all at 20."""
    at_500 = [(f"{of}, k = 500", s, dict(zip(GIENAPP, DEEP.values(), strict=True))) for of, s in deep.items()]
    return at_500 + [(f"{of}, k = 20", s, {m: f"{m}@20" for m in GIENAPP}) for of, s in shallow.items()]
