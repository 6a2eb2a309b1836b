"""Karmaker and Feng (2022): scores between random and perfect, and what is counted from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from experiments.bounds import letor
from experiments.bounds import printed as mq2007
from experiments.bounds.origins import ROWS, listnet_rows
from experiments.bounds.readings import KS, WRITTEN, Floats, scores_of
from experiments.papers import mslr
from experiments.papers.verdict import fits, verdicts
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import offsets_of
from ranksift.evaluation.scores import Scores
from ranksift.measures.bounds import expected_sp, perfect_sp
from ranksift.study.agreement import correlation
from ranksift.study.discrimination import percentage_absolute_difference
from ranksift.study.systems import levels

#: The setting of our ListNets whose nDCG is nearest to the printed one: see the page on MQ2007.
LISTNET = "RankLib, 500 epochs, rate 10⁻⁵"
MEASURES = ("nDCG", "MAP")
SETS = ("all", "uninformative", "ideal")
COLLECTIONS: Mapping[str, ModuleType] = {"MSLR-WEB30K": mslr, "MQ2007": mq2007}
#: Pairs of the eight learners.
PAIRS = 28
#: Half a unit of the last digit of a printed score.
ROUNDING = 0.00005
#: ARank's V2 of MSP at 15 on MQ2007, as it stands in Table 15.
MISPRINT = ("ARank", 2, 0.0116)

Possible = Literal["possible", "only if", "impossible"]


def measure(collection: letor.Collection) -> dict[str, Any]:
    """The tables, and the numbers of what follows, given MQ2007 with its systems."""
    models = {name: collection.models[name] for name in letor.SETTINGS[LISTNET]}
    scores = scores_of(collection.qrels, models)
    pool = collection.qrels.pool_of(scores.queries)
    perfect = np.array([perfect_sp(pool, k, "attainable").mean() / k for k in KS])
    printed = mq2007.learners(mq2007.MAP)
    inside = listnet(scores)
    return {
        "tables": tables(inside, perfect),
        "queries": len(scores.queries),
        "perfect": {
            k: {"perfect": most, "low": of.min(), "high": of.max(), "above": (of > most).sum()}
            for k, most, of in zip(KS, perfect, printed.T, strict=True)
        },
        "fewer than 30 relevant": (perfect_sp(pool, 30, "attainable") < 30).mean(),
        "listnet": inside,
        "random": [of_random_orders(relevant, k) for relevant, k in product((1, 2, 3), (1, 3))],
        "tau": [found._asdict() for found in taus()],
        "no tau": {m: no_taus(m) for m in MEASURES},
        "conflicts": [found._asdict() for found in conflicts()],
        "pad": [found._asdict() for found in pads()],
        "misprint": misprint(),
        "negative": negative(),
        "swap": [{**found._asdict(), "pairs": round(found.low * PAIRS)} for found in swaps()],
        "no share of pairs": no_shares_of_pairs(),
        "pairs": PAIRS,
        "text": text(),
    }


# -- the tables ----------------------------------------------------------------------------------------


def tables(inside: Mapping[str, Mapping[str, int]], perfect: Floats) -> dict[str, dict[str, int]]:
    """Every table of the paper that has numbers."""
    cells = len(mq2007.NDCG) * len(KS)
    by_rule = {name: found.get("another rule", 0) for name, found in inside.items()}
    v1_and_v2 = {m: by_rule[called(m, 1)] + by_rule[called(m, 2)] for m in MEASURES}
    above = mq2007.learners(mq2007.MAP) > perfect
    # What another rule explains is not refuted: ListNet's own value at 30.
    refuted = int(above.sum() - above[list(mq2007.MAP).index(mq2007.LISTNET)].sum())
    return {
        "2": verdicts(cells),
        "3": verdicts(cells),
        "4": verdicts(2 * cells),
        "5": verdicts(2 * cells, explained=v1_and_v2["nDCG"]),
        **counted("nDCG", ("6", "7", "8", "9", "10", "11")),
        "12": verdicts(cells),
        "13": verdicts(cells, explained=by_rule["MAP"], refuted=refuted),
        "14": verdicts(2 * cells),
        "15": verdicts(2 * cells, explained=v1_and_v2["MAP"], refuted=1),  # the misprint
        **counted("MAP", ("16", "17", "18", "19", "20", "21")),
    }


def counted(measure: str, numbers: Sequence[str]) -> dict[str, dict[str, int]]:
    """Tables of τ, conflicts, tests, PAD, and swap rates between collections and between sets of queries."""
    tau, pad, swap = ([found for found in every() if found.measure == measure] for every in (taus, pads, swaps))
    odd = [case for case in conflicts() if case.of == measure]
    found = (
        recomputed(tau, wrong=len(no_taus(measure))),
        verdicts(len(odd), refuted=sum(case.verdict == "impossible" for case in odd)),
        verdicts(len(COLLECTIONS) * 3 * len(SETS)),
        recomputed(pad),
        recomputed(swap),
        verdicts(len(COLLECTIONS) * 3),
    )
    return dict(zip(numbers, found, strict=True))


def recomputed(found: Sequence[Recomputed], wrong: int = 0) -> dict[str, int]:
    """A table with as many numbers for each set of queries, of which those for all follow from the printed scores."""
    agreeing = sum(number.agrees for number in found)
    return verdicts(len(SETS) * len(found), reproduced=agreeing, refuted=len(found) - agreeing + wrong)


def called(measure: str, version: int) -> str:
    """Of the paper's six measures."""
    return measure if version == 0 else f"{'DCG' if measure == 'nDCG' else 'MSP'} V{version}"


# -- what real models and all orders have --------------------------------------------------------------


def listnet(scores: Scores) -> dict[str, dict[str, int]]:
    """At how many k ListNet's printed value is one of real ListNets: by the written formula, and by another rule."""
    rows = listnet_rows(scores, LISTNET)
    return {
        name: {
            "as written" if reading in WRITTEN else "another rule": rows[of, i, reading].inside
            for reading, _ in readings
        }
        for of, i, name, readings in ROWS
    }


def of_random_orders(relevant: int, k: int) -> dict[str, float]:
    """Mean SP@k over all orders of four documents, and what the formulas have for it."""
    labels = np.array([1.0] * relevant + [0.0] * (4 - relevant))
    pool = Pool.of(offsets_of(np.array([4])), labels)
    return {
        "relevant": relevant,
        "k": k,
        "orders": float(np.mean([sum_of_precisions(order[:k]) for order in permutations(labels.tolist())])),
        "exact": float(expected_sp(pool, k, "exact")[0]),
        "paper": float(expected_sp(pool, k, "paper")[0]),
    }


def sum_of_precisions(order: Sequence[float]) -> float:
    """Of binary labels.

    >>> sum_of_precisions([1, 0, 1])
    1.6666666666666665
    """
    found = np.cumsum(order)
    return float(sum(found[i] / (i + 1) for i in range(len(order)) if order[i]))


# -- arithmetic on printed numbers ---------------------------------------------------------------------


class Recomputed(NamedTuple):
    """A number that follows from the printed scores, in the range that their rounding leaves, and what is printed."""

    measure: str
    what: str
    low: float
    high: float
    printed: float
    #: To the printed digits, rounded or cut off.
    agrees: bool


def averages(of: ModuleType, measure: str, version: int) -> Floats:
    """Each learner's mean over k, of printed scores."""
    return np.asarray(mq2007.learners(of.SCORES[measure][version]).mean(axis=1))


def taus() -> Iterator[Recomputed]:
    """Kendall's τ on all queries, from the printed scores."""
    for (name, of), measure, version in product(COLLECTIONS.items(), MEASURES, (1, 2)):
        tau = correlation(*(levels(averages(of, measure, i)) for i in (0, version))).tau
        printed = of.TAU[measure][version - 1][0]
        yield Recomputed(measure, f"{called(measure, version)}, {name}", tau, tau, printed, fits(tau, tau, printed))


def pads() -> Iterator[Recomputed]:
    """PAD on all queries, from the printed scores."""
    for (name, of), measure, version in product(COLLECTIONS.items(), MEASURES, range(3)):
        low, high = pad_range(averages(of, measure, version))
        printed = of.PAD[measure][version][0]
        yield Recomputed(measure, f"{called(measure, version)}, {name}", low, high, printed, fits(low, high, printed))


def swaps() -> Iterator[Recomputed]:
    """Swap rates between the two collections on all queries, from the printed scores."""
    for measure, version in product(MEASURES, range(3)):
        rate = correlation(*(levels(averages(of, measure, version)) for of in COLLECTIONS.values())).swap_rate
        printed = mq2007.ACROSS_COLLECTIONS[measure][version][0]
        yield Recomputed(measure, called(measure, version), rate, rate, printed, fits(rate, rate, printed))


def pad_range(average: Floats) -> tuple[float, float]:
    """The lowest and the highest PAD that the rounding of the printed scores leaves.

    >>> low, high = pad_range(np.array([0.4, 0.5]))
    >>> round(low, 3), round(high, 3)
    (19.982, 20.018)
    """
    low = high = 0.0
    for a, b in combinations(average.tolist(), 2):
        shares = [
            100 * abs(x - y) / max(x, y)
            for x in (a - ROUNDING, a + ROUNDING)
            for y in (b - ROUNDING, b + ROUNDING)
        ]  # fmt: skip
        low += 0.0 if abs(a - b) <= 2 * ROUNDING else min(shares)
        high += max(shares)
    pairs = len(average) * (len(average) - 1) / 2
    return low / pairs, high / pairs


def is_a_tau(printed: float) -> bool:
    """Whether Kendall's τ of eight learners without ties is 1 − d / 14."""
    return any(fits(1 - 2 * d / PAIRS, 1 - 2 * d / PAIRS, printed) for d in range(PAIRS + 1))


def no_taus(measure: str) -> list[float]:
    """Printed values of τ that are none, on uninformative and on ideal queries."""
    return [v for of in COLLECTIONS.values() for row in of.TAU[measure] for v in row[1:] if not is_a_tau(v)]


def is_a_share_of_pairs(printed: float) -> bool:
    """Whether a swap rate is n / 28."""
    return any(fits(n / PAIRS, n / PAIRS, printed) for n in range(PAIRS + 1))


def no_shares_of_pairs() -> list[float]:
    """Printed swap rates between sets of queries that are none."""
    rates = [rate for of, m in product(COLLECTIONS.values(), MEASURES) for rate in of.ACROSS_SETS[m]]
    return [rate for rate in rates if not is_a_share_of_pairs(rate)]


class Conflicts(NamedTuple):
    """A printed count of conflicts with a measure, both counts of significant pairs, and whether that can be."""

    collection: str
    of: str
    measure: str
    queries: str
    verdict: Possible
    one: int
    other: int
    conflicts: int


def conflicts() -> Iterator[Conflicts]:
    """Every printed count."""
    for (name, of), measure, version in product(COLLECTIONS.items(), MEASURES, (1, 2)):
        for i, kind in enumerate(SETS):
            one, other = of.SIGNIFICANT[measure][0][i], of.SIGNIFICANT[measure][version][i]
            count = of.CONFLICTS[measure][version - 1][i]
            verdict = conflicts_are(one, other, count)
            yield Conflicts(name, measure, called(measure, version), kind, verdict, one, other, count)


def conflicts_are(one: int, other: int, conflicts: int, tested: int = mq2007.TESTED) -> Possible:
    """Whether two measures can have so many conflicts, given how many significant pairs each has.

    A pair is in conflict where one measure finds a significant difference and the other does not. Such pairs are at
    least | |A| − |B| |, and even or odd as that is. If pairs count too that are significant by both in opposite
    directions, there may be one more for each of them.

    >>> conflicts_are(61, 76, 15), conflicts_are(45, 50, 1), conflicts_are(33, 78, 46)
    ('possible', 'impossible', 'only if')
    """
    apart = abs(one - other)
    highest = min(one + other, 2 * tested - one - other)
    if apart <= conflicts <= highest and (conflicts - apart) % 2 == 0:
        return "possible"
    with_opposite = any(
        conflicts - only <= (one + other - only) // 2 for only in range(apart, min(conflicts, highest) + 1, 2)
    )
    return "only if" if with_opposite else "impossible"


def misprint() -> dict[str, Any]:
    """A number of Table 15 that has a digit too many, and the PAD that it would give."""
    learner, place, value = MISPRINT
    scores = mq2007.learners(mq2007.MSP_V2)
    scores[list(mq2007.MSP_V2).index(learner), place] = value
    pad = percentage_absolute_difference(scores.mean(axis=1))
    return {
        "learner": learner,
        "k": KS[place],
        "printed": value,
        "right": mq2007.MSP_V2[learner][place],
        "pad": pad,
        "fits": fits(pad, pad, mq2007.PAD["MAP"][2][0]),
    }


def negative() -> dict[str, float]:
    """The averages of V2 of MSP on MSLR-WEB30K: the lowest, and PAD with the larger size in place of the maximum."""
    found = averages(mslr, "MAP", 2)
    by_size = np.mean([100 * abs(a - b) / max(abs(a), abs(b)) for a, b in combinations(found.tolist(), 2)])
    return {"lowest": found.min(), "pad by size": by_size}


def text() -> dict[str, Any]:
    """What the paper's own tables say of its claims."""
    rising = [
        bool((np.diff(row) > 0).all()) for of in COLLECTIONS.values() for row in mq2007.learners(of.SCORES["nDCG"][0])
    ]
    higher = [
        of.PAD[m][v][i] > of.PAD[m][0][i] for of, m, v, i in product(COLLECTIONS.values(), MEASURES, (1, 2), range(3))
    ]
    v1_above = [
        mq2007.learners(of.SCORES[m][1]) > mq2007.learners(of.SCORES[m][0])
        for of, m in product(COLLECTIONS.values(), MEASURES)
    ]
    return {
        "significant, MQ2007": {called("nDCG", i): row[0] for i, row in enumerate(mq2007.SIGNIFICANT["nDCG"])},
        "pad gains": [found._asdict() for found in pad_gains()],
        "pad of MSP V1, MSLR-WEB30K": dict(zip(SETS, mslr.PAD["MAP"][1], strict=True)),
        "pad is higher": {"cells": sum(higher), "of": len(higher)},
        "nDCG rises": {"rows": sum(rising), "of": len(rising)},
        "tau of MSP V2, MQ2007": dict(zip(SETS, mq2007.TAU["MAP"][1], strict=True)),
        "swaps between sets, MSLR-WEB30K": {called("nDCG", i): v for i, v in enumerate(mslr.ACROSS_SETS["nDCG"])},
        "swaps between collections": {called("MAP", i): v for i, v in enumerate(mq2007.ACROSS_COLLECTIONS["MAP"])},
        "V1 above its measure": {"cells": np.sum(v1_above), "of": np.size(v1_above)},
    }


class PadGain(NamedTuple):
    """By what V1 or V2 multiplies PAD on uninformative and on ideal queries, and whether it is larger on the former."""

    uninformative: float
    ideal: float
    larger: bool


def pad_gains() -> Iterator[PadGain]:
    """Of each measure on each collection."""
    for of, measure, version in product(COLLECTIONS.values(), MEASURES, (1, 2)):
        itself, normalised = of.PAD[measure][0], of.PAD[measure][version]
        yield PadGain(normalised[1] / itself[1], normalised[2] / itself[2], normalised[1] > normalised[2])
