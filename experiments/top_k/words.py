"""Tables and phrases of the page, and what its claims rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from experiments.learning import BELOW_ALL
from experiments.markdown import between, number, percent, table, word
from experiments.top_k import printed, tables
from experiments.top_k.fits import TESTED
from experiments.top_k.methods import FAMILIES, TOP_K_LISTMLE, C, Family
from experiments.top_k.tables import Told, better_parent, curves, spread
from experiments.top_k.truths import FEW, SEED, STEPS, K

ALPHA = 0.05
#: A range over β, as a share of the mean, that is called little.
SMALL = 0.05
NAMES = {"kNDCG@10": "κ-NDCG@10", "kERR": "κ-ERR"}

Difference = Mapping[str, Any]


def words(r: Mapping[str, Any]) -> dict[str, Any]:
    """What the template shows beside single numbers."""
    pooled, drawn, graded = (list(r[truth].values()) for truth in ("pooled", "drawn", "graded"))
    gains = printed_gains(pooled[-1])
    inner = inner_gains(pooled)
    return {
        "pooled": pooled,
        "drawn": drawn,
        "graded": graded,
        "printed": printed,
        "tables": tables,
        "cases": len(FAMILIES) * len(pooled),
        "tests": len(pooled) * len(TESTED) * 2 * len(FAMILIES),
        "held": held,
        "counted": counted,
        "significant": significant,
        "signs": signs,
        "in_words": in_words,
        "above_both": significantly_above_both(pooled),
        "printed_wins": tables.printed_wins(printed.TOP_K_MQ2007),
        "gains": [f"{name} {number(own, sign=True)} ({ends})" for name, (own, ends, _) in gains.items()],
        "ruled_out": [name for name, (_, _, outside) in gains.items() if outside],
        "added": [
            f"{family.focused} {between([added(one, family, m) for one in pooled for m in TESTED], 4, sign=True)}"
            for family in FAMILIES
        ],
        "small": sum(max(found) < SMALL for found in ranges(pooled).values()),
        "methods": len(FAMILIES),
        "pooled_ranges": in_percent(ranges(pooled)),
        "graded_ranges": in_percent(ranges(graded)),
        "inner": inner,
        "flat": sum(gain <= 0 for gain in inner),
        "boost_falls": falls_to_the_end(pooled, "FocusedBoost"),
        "against_listmle": (listmle := against_listmle(pooled)),
        "mean_against_listmle": sum(listmle) / len(listmle),
        "losses": losses_of_tuning([*pooled, *graded]),
        "collections_table": _collections(r["collections"]),
        "lowest_on_grades": min(means[TESTED[0]] for means in r["graded"]["MQ2007"]["means"].values()),
        "printed_best": max(row[K - 1] for row in printed.GRADED_MQ2007.values()),
        "C": ", ".join(f"{c:g}" for c in C),
        "few": ", ".join(f"{beta:g}" for beta in FEW),
        "step": STEPS[1],
        "k": K,
        "seed": SEED,
        "below_all": BELOW_ALL,
    }


def of_family(one: Told, family: Family, measure: str) -> list[Difference]:
    """A Focused method less each parent."""
    return [found for found in one["differences"][measure] if found["focused"] == family.focused]


def above(one: Told, measure: str) -> list[str]:
    """Focused methods whose mean is above those of both parents."""
    return [f.focused for f in FAMILIES if min(d["value"] for d in of_family(one, f, measure)) > 0]


def held(some: Sequence[Told], measure: str) -> int:
    """In how many cases (method and collection) a Focused method is above both of its parents."""
    return sum(len(above(one, measure)) for one in some)


def significant(some: Sequence[Told], sign: int) -> list[Difference]:
    """Significant differences of one sign, by any of the two measures."""
    every = [d for one in some for measure in TESTED for d in one["differences"][measure]]
    return [d for d in every if d["p"] <= ALPHA and sign * d["value"] > 0]


def significantly_above_both(some: Sequence[Told]) -> list[str]:
    """Collection, method and measure, where both differences are significant."""
    return [
        f"{family.focused} on {one['collection']} by {NAMES[measure]}"
        for one, measure, family in product(some, TESTED, FAMILIES)
        if all(d["p"] <= ALPHA and d["value"] > 0 for d in of_family(one, family, measure))
    ]


def counted(found: int) -> str:
    """A count of cases."""
    return word(found) if found else "none"


def signs(some: Sequence[Told]) -> str:
    """How many differences are significant."""
    better, worse = (len(significant(some, sign)) for sign in (1, -1))
    return f"{counted(better)} {'are' if better > 1 else 'is'} significantly positive and {counted(worse)} negative"


def in_words(some: Sequence[Told]) -> str:
    """Where the paper's claim holds by the means."""
    parts = []
    for measure, name in zip(TESTED, tables.head(some[0])[-2:], strict=True):
        held = {f.focused: [one["collection"] for one in some if f.focused in above(one, measure)] for f in FAMILIES}
        words = [f"{focused} on {' and '.join(names)}" for focused, names in held.items() if names]
        parts.append(f"by {name} {', '.join(words) or 'none'}")
    return f"Above both parents by the means are {'; '.join(parts)}."


def printed_gains(one: Told) -> dict[str, tuple[float, str, bool]]:
    """What Table 4 has for the difference to the better parent, where ours can lie, and whether that is below."""
    found = {}
    for family in FAMILIES:
        theirs = printed.TOP_K_MQ2007
        gain = theirs[family.focused][K - 1] - max(theirs[parent][K - 1] for parent in family.parents)
        own = min(of_family(one, family, TESTED[0]), key=lambda d: float(d["value"]))
        ends = f"{number(own['low'], sign=True)} to {number(own['high'], sign=True)}"
        found[family.focused] = gain, ends, own["high"] < gain
    return found


def added(one: Told, family: Family, measure: str) -> float:
    """What focus adds to the better parent."""
    return float(one["means"][family.focused][measure]) - better_parent(one, family, measure)


def ranges(some: Sequence[Told]) -> dict[str, list[float]]:
    """The range of each curve over β as a share of its mean, by method."""
    found: dict[str, list[float]] = {family.focused: [] for family in FAMILIES}
    for _, family, _, values in curves(some):
        found[family.focused].append(spread(values))
    return found


def in_percent(found: Mapping[str, Sequence[float]]) -> list[str]:
    """Ranges of each method."""
    return [f"{name} {between([100 * share for share in shares], 1)}" for name, shares in found.items()]


def falls_to_the_end(some: Sequence[Told], method: str) -> bool:
    """Whether every curve over β ends lower than it begins."""
    return all(values[-1] < values[0] for _, family, _, values in curves(some) if family.focused == method)


def inner_gains(some: Sequence[Told]) -> list[float]:
    """By how much the best β of each curve is above the better of its ends."""
    return [max(values) - max(values[0], values[-1]) for *_, values in curves(some)]


def losses_of_tuning(some: Sequence[Told]) -> list[float]:
    """By how much the tuned method stays below the best β of its curve."""
    return [
        max(values) - one["means"][family.focused][measure]
        for one, family, measure, values in curves(some)
        if measure in TESTED
    ]


def against_listmle(some: Sequence[Told]) -> list[float]:
    """Each Focused method less top-k ListMLE, by κ-NDCG@10."""
    measure = TESTED[0]
    return [one["means"][f.focused][measure] - one["means"][TOP_K_LISTMLE][measure] for one in some for f in FAMILIES]


def _collections(collections: Mapping[str, Mapping[str, float]]) -> str:
    rows = [
        [
            name,
            f"{found['queries']:,}",
            f"{found['documents']:,}",
            str(found["features"]),
            number(found["median list"], 0),
            percent(found["short lists"], 0),
            percent(found["nothing relevant"], 0),
            number(found["correlation"], 2),
        ]
        for name, found in collections.items()
    ]
    head = ["", "queries", "documents", "features", "median list", f"lists of ≤ {K}", "nothing relevant", "correlation"]
    return table(head, rows)
