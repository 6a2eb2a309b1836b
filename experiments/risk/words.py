"""Tables of the page, and what its claims rest on where that takes more than a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from statistics import median
from typing import Any

from experiments.markdown import between, number, table
from experiments.risk.collections import TRAINED_ON
from experiments.risk.populations import QUERIES, SEED
from experiments.risk.rules import BETTING, BOUNDS, HB, MEAN, NAMES, PLUG_IN
from experiments.risk.trials import ALPHA, ALPHAS, DELTA, DELTAS, IN_ALL_SETTINGS, SAMPLES, SIZES, kept

FIRST, TWO = "first place", "two scores"
#: What is made up, in words.
KINDS = {
    "spread": "forbidden documents score lower, with overlap",
    "five grades": "the same, scores rounded to five values: ties everywhere",
    "rare, on top": "one document in twenty is forbidden, and scores higher than the good",
    "clustered": "every tenth query has forbidden documents nearly alone, at only slightly lower scores",
    "short lists": "mostly one or two documents a query",
    "uninformative": "scores are drawn without regard to the labels",
    TWO: "one score ranks, at random; another one drops",
    FIRST: "only the first document counts",
}
OTHERS = [kind for kind in KINDS if kind != FIRST]

Found = Mapping[str, Any]


def words(r: Found) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    trials, at = r["trials"], partial(kept, r["trials"])
    bounds, plug_in, means = (list(settings(trials, *names)) for names in (BOUNDS, (PLUG_IN,), (MEAN,)))
    above = [each for each in bounds if each["interval"][1] > each["delta"]]
    saved = list(_saved(trials))
    plug_in_means = {p: [at(p, n, PLUG_IN)["mean"] for n in (50, 200, 1000)] for p in KINDS}
    return {
        "at": at,
        "names": NAMES,
        "BETTING": BETTING,
        "MEAN": MEAN,
        "PLUG_IN": PLUG_IN,
        "kinds": KINDS,
        "alpha": ALPHA,
        "delta": DELTA,
        "queries": QUERIES,
        "samples": SAMPLES,
        "seed": SEED,
        "trained_on": TRAINED_ON,
        "in_all": IN_ALL_SETTINGS,
        "settings": bounds,
        "broken": [each for each in bounds if each["broken"] > each["delta"]],
        "plug_in": [each["broken"] for each in plug_in],
        "means": [each["mean"] / each["alpha"] for each in means],
        "means_above": [each["broken"] for each in means],
        # By how many standard errors a mean risk is above α, at most.
        "excess": max((each["mean"] - each["alpha"]) / each["error"] for each in means if each["error"]),
        "saved": saved,
        "most_saved": max(saved, key=lambda each: float(each["saved"])),
        "more": {n: [at(p, n, BETTING)["dropped"] - at(p, n, PLUG_IN)["dropped"] for p in KINDS] for n in SIZES},
        "points": points,
        "interval": interval,
        "promise_table": _promise(at),
        "exact": worst(at(FIRST, n, BETTING) for n in SIZES)["broken"],
        "bounded": worst(at(p, n, BETTING) for p in OTHERS for n in SIZES)["broken"],
        "above": above,
        "binomial": [each for each in bounds if each["population"] == FIRST],
        "only_binomial": all(each["population"] == FIRST for each in above),
        "on_average": {p: [at(p, n, MEAN) for n in (50, 200, 1000)] for p in KINDS},
        "plug_in_means": plug_in_means,
        "near": [abs(mean - ALPHA) for p, found in plug_in_means.items() for mean in found if p != "five grades"],
        "mostly_above": median(mean for found in plug_in_means.values() for mean in found) > ALPHA,
        "asked": {n: [at(p, n, PLUG_IN)["mean"] - at(p, n, MEAN)["mean"] for p in KINDS] for n in (50, 1000)},
        "attained": [at(p, 50, BETTING)["attained"] for p in KINDS],
        "guarded": at(TWO, 1000, MEAN)["dropped"] - r["populations"][TWO]["known"],
        "formula_holds": all(_by_formula(float(alpha), found) for alpha, found in r["fewest queries"].items()),
        **_real(r["collections"]),
    }


def settings(trials: Found, *names: str) -> Iterator[dict[str, Any]]:
    """What some rules did in all settings; with k = 1 both bounds are the same, and counted once."""
    for population, sizes in trials.items():
        for queries, found in sizes.items():
            for each in found:
                if each["name"] in names and not (population == FIRST and each["name"] == HB):
                    yield {"population": population, "queries": queries, **each}


def worst(found: Iterable[Found]) -> Found:
    """The one whose promise is broken most often."""
    return max(found, key=lambda each: float(each["broken"]))


def points(shares: Iterable[float], digits: int = 0) -> str:
    """The range of some shares in percentage points."""
    return between([100 * share for share in shares], digits)


def interval(found: Found) -> str:
    """A share of broken promises and its interval, in percent."""
    low, high = (number(100 * end, 1) for end in found["interval"])
    return f"{number(100 * found['broken'], 1)} ({low} to {high})"


def _saved(trials: Found) -> Iterator[dict[str, Any]]:
    """How many good documents fewer betting drops than Hoeffding-Bentkus, where k = 3."""
    for each in settings(trials, HB):
        betting = kept(trials, each["population"], each["queries"], BETTING, each["alpha"], each["delta"])
        yield {**each, "saved": each["dropped"] - betting["dropped"]}


def _promise(at: Any) -> str:
    rows = []
    for alpha in ALPHAS:
        for delta in DELTAS:
            of = [(name, OTHERS) for name in BOUNDS] + [(BETTING, [FIRST]), (PLUG_IN, list(KINDS))]
            found = [worst(at(p, n, name, alpha, delta) for p in kinds for n in IN_ALL_SETTINGS) for name, kinds in of]
            cells = [*map(interval, found[:3]), number(100 * found[3]["broken"], 1)]
            rows.append([f"{alpha:g}", f"{number(100 * delta, 0)}", *cells])
    return table(["α", "δ, %", "betting, k = 3", "Hoeffding-Bentkus, k = 3", "binomial, k = 1", "plug-in"], rows)


def _by_formula(alpha: float, fewest: Found) -> bool:
    """Whether the fewest queries are as many as (1 − α)ⁿ ≤ δ takes, in expectation 1/(n + 1) ≤ α."""

    def enough(name: str, n: int) -> bool:
        return alpha * (n + 1) >= 1 - 1e-12 if name == MEAN else (1 - alpha) ** n <= float(name)

    return all(enough(name, n) and not enough(name, n - 1) for name, (n, _) in fewest.items())


def _real(collections: Found) -> dict[str, Any]:
    """Of real queries, by the names of the collections."""
    rules = [(each["alpha"], each["rules"]) for each in collections.values()]
    topics = [each for name, each in collections.items() if name.startswith("Web")]
    early = [each for name, each in collections.items() if name.startswith("Web 2012")]
    return {
        "answers": collections["SemEval-2015"],
        "early": early,
        "dropped_early": min(each["rules"][name]["dropped"] for each in early for name in BOUNDS),
        "late": next(each for name, each in collections.items() if name.startswith("Web 2013")),
        "fitted_on_topics": topics[0]["queries"] // 2,
        "dropped_of_topics": [each["rules"][BETTING]["dropped"] for each in topics],
        "broken_there": [of[name]["broken"] for _, of in rules for name in BOUNDS],
        "above_there": [of[name]["above"] for _, of in rules for name in BOUNDS],
        "below_alpha": all(of[MEAN]["risk"] <= alpha for alpha, of in rules),
    }
