"""Karmaker and Feng (2022): scores between random and perfect, and what is counted from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations, product
from pathlib import Path
from types import ModuleType
from typing import Literal

import numpy as np

from experiments.bounds import letor
from experiments.bounds import printed as mq2007
from experiments.bounds.origins import ROWS, Rows, listnet_rows, perfect_msp
from experiments.bounds.readings import KS, PRINTED, WRITTEN, Floats, Measured
from experiments.markdown import between, number, paragraph, says, table, word
from experiments.papers import mslr
from experiments.papers.verdict import Printed, fits
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import offsets_of
from ranksift.measures.bounds import expected_sp
from ranksift.study.agreement import correlation
from ranksift.study.discrimination import percentage_absolute_difference
from ranksift.study.systems import levels

#: The setting of our ListNets whose nDCG is nearest to the printed one: see the page on MQ2007.
LISTNET = "RankLib, 500 epochs, rate 10⁻⁵"
PAGE = "upper-and-lower-bounds.md"
MEASURES = ("nDCG", "MAP")
SETS = ("all", "uninformative", "ideal")
COLLECTIONS: Mapping[str, ModuleType] = {"MSLR-WEB30K": mslr, "MQ2007": mq2007}
#: Pairs of the eight learners.
PAIRS = 28
#: Half a unit of the last digit of a printed score.
ROUNDING = 0.00005
#: ARank's V2 of MSP at 15 on MQ2007, as it stands in Table 15.
MISPRINT = ("ARank", 2, 0.0116)
#: The numbers of each measure's tables: scores; then τ, conflicts, tests, PAD, swap rates between collections and sets.
SCORES = {"nDCG": ("2", "3", "4", "5"), "MAP": ("12", "13", "14", "15")}
COUNTED = {"nDCG": ("6", "7", "8", "9", "10", "11"), "MAP": ("16", "17", "18", "19", "20", "21")}

Possible = Literal["possible", "only if", "impossible"]


# -- arithmetic on printed numbers ---------------------------------------------------------------------


def averages(of: ModuleType, measure: str, version: int) -> Floats:
    """Each learner's mean over k, of printed scores."""
    return np.asarray(mq2007.learners(of.SCORES[measure][version]).mean(axis=1))


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


def is_a_share_of_pairs(printed: float) -> bool:
    """Whether a swap rate is n / 28."""
    return any(fits(n / PAIRS, n / PAIRS, printed) for n in range(PAIRS + 1))


def is_a_tau(printed: float) -> bool:
    """Whether Kendall's τ of eight learners without ties is 1 − d / 14."""
    return any(fits(1 - 2 * d / PAIRS, 1 - 2 * d / PAIRS, printed) for d in range(PAIRS + 1))


@dataclass(frozen=True)
class Recomputed:
    """A number that follows from the printed scores, in the range that their rounding leaves, and what is printed."""

    measure: str
    what: str
    low: float
    high: float
    printed: float

    @property
    def agrees(self) -> bool:
        """To the printed digits, rounded or cut off."""
        return fits(self.low, self.high, self.printed)


def called(measure: str, version: int) -> str:
    """Of the paper's six measures."""
    return measure if version == 0 else f"{'DCG' if measure == 'nDCG' else 'MSP'} V{version}"


def taus() -> list[Recomputed]:
    """Kendall's τ on all queries, from the printed scores."""
    found = []
    for (name, of), measure, version in product(COLLECTIONS.items(), MEASURES, (1, 2)):
        tau = correlation(*(levels(averages(of, measure, i)) for i in (0, version))).tau
        found.append(
            Recomputed(measure, f"{called(measure, version)}, {name}", tau, tau, of.TAU[measure][version - 1][0])
        )
    return found


def pads() -> list[Recomputed]:
    """PAD on all queries, from the printed scores."""
    found = []
    for (name, of), measure, version in product(COLLECTIONS.items(), MEASURES, range(3)):
        low, high = pad_range(averages(of, measure, version))
        found.append(Recomputed(measure, f"{called(measure, version)}, {name}", low, high, of.PAD[measure][version][0]))
    return found


def swaps() -> list[Recomputed]:
    """Swap rates between the two collections on all queries, from the printed scores."""
    found = []
    for measure, version in product(MEASURES, range(3)):
        rate = correlation(*(levels(averages(of, measure, version)) for of in COLLECTIONS.values())).swap_rate
        found.append(
            Recomputed(measure, called(measure, version), rate, rate, mq2007.ACROSS_COLLECTIONS[measure][version][0])
        )
    return found


def conflicts() -> Iterator[tuple[str, str, int, str, int, int, int, Possible]]:
    """Every printed conflict count: collection, measure, version, set, both counts of significant pairs, conflicts."""
    for (name, of), measure, version in product(COLLECTIONS.items(), MEASURES, (1, 2)):
        for i, kind in enumerate(SETS):
            one, other = of.SIGNIFICANT[measure][0][i], of.SIGNIFICANT[measure][version][i]
            count = of.CONFLICTS[measure][version - 1][i]
            yield name, measure, version, kind, one, other, count, conflicts_are(one, other, count)


def pad_gains() -> Iterator[tuple[float, float, bool]]:
    """By what V1 and V2 multiply PAD on uninformative and on ideal queries, and whether it is larger on the former.

    Of each measure on each collection.
    """
    for of, measure, version in product(COLLECTIONS.values(), MEASURES, (1, 2)):
        itself, normalised = of.PAD[measure][0], of.PAD[measure][version]
        yield normalised[1] / itself[1], normalised[2] / itself[2], normalised[1] > normalised[2]


def above_the_measure() -> int:
    """Printed values of V1 that are above those of their measure, which no value of V1 can be."""
    return sum(
        int((mq2007.learners(of.SCORES[m][1]) > mq2007.learners(of.SCORES[m][0])).sum())
        for of, m in product(COLLECTIONS.values(), MEASURES)
    )


# -- the tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Karmaker:
    """What is computed for this paper."""

    measured: Measured

    @classmethod
    def of(cls, data: Path) -> Karmaker:
        found = letor.mq2007(data)
        models = {name: found.models[name] for name in letor.SETTINGS[LISTNET]}
        return cls(Measured.of(letor.Collection(found.name, found.qrels, models, {}, ())))

    @cached_property
    def listnet(self) -> Rows:
        """ListNet's printed rows beside real models, by both readings."""
        return listnet_rows(self.measured.scores, LISTNET)

    @cached_property
    def perfect(self) -> dict[int, float]:
        """MAP@k of a perfect ranking of every query, by Eq. 3."""
        return {k: perfect_msp(self.measured, k) for k in KS}

    @cached_property
    def too_high(self) -> int:
        """Printed values of MAP on MQ2007 above that of a perfect ranking."""
        return int((mq2007.learners(mq2007.MAP) > np.array(list(self.perfect.values()))).sum())

    def inside(self, measure: str, version: int, written: bool) -> int:
        """Printed values of ListNet in the range of real ListNets, by the written reading or by the other one."""
        return sum(
            row.inside
            for (of, i, reading), row in self.listnet.items()
            if (of, i) == (measure, version) and reading in (WRITTEN if written else PRINTED)
        )

    def tables(self) -> list[Printed]:
        """Every table of the paper that has numbers."""
        rows = []
        for measure in MEASURES:
            rows += [*self._scores(measure), *_counted(measure)]
        return rows

    def _scores(self, measure: str) -> list[Printed]:
        one, two, three, four = SCORES[measure]
        learners, cells = len(mq2007.NDCG), len(mq2007.NDCG) * len(KS)
        normalised = self.inside(measure, 1, written=False) + self.inside(measure, 2, written=False)
        away = "the 10,000 queries drawn are not named, and only a sample of the collection is available"
        if measure == "nDCG":
            own = Printed(
                two,
                "nDCG, MQ2007",
                "the learners are not available; ListNet's 5 values lie where [real ListNets]"
                f"({PAGE}#where-the-printed-numbers-come-from) do",
                out_of_reach=cells,
            )
        else:
            explained = self.inside(measure, 0, written=False)
            refuted = self.too_high - int(self.perfect[30] < mq2007.MAP[mq2007.LISTNET][-1])
            own = Printed(
                two,
                "MAP, MQ2007",
                f"[above a perfect ranking](#more-than-perfect) at k = 30, by Eq. 3; ListNet's {explained} follow "
                "SP / min(k, R)",
                explained=explained,
                refuted=refuted,
                out_of_reach=cells - explained - refuted,
            )
        misprints = 1 if measure == "MAP" else 0
        rule = "2^E[l] − 1 in place of E[2^l − 1]" if measure == "nDCG" else "the bound min(k, R) and k p²"
        also = f"; {MISPRINT[2]} is a [misprint](#percentage-differences) for 0.116" if misprints else ""
        return [
            Printed(one, f"{measure}, MSLR-WEB30K", away, out_of_reach=cells),
            own,
            Printed(three, f"V1 and V2, {measure}, MSLR-WEB30K", away, out_of_reach=2 * cells),
            Printed(
                four,
                f"V1 and V2, {measure}, MQ2007",
                f"ListNet's {normalised} follow {rule}, not the written formula; the other {word(learners - 1)} "
                f"learners [look alike]({PAGE}#where-the-printed-numbers-come-from){also}",
                explained=normalised,
                refuted=misprints,
                out_of_reach=2 * cells - normalised - misprints,
            ),
        ]  # fmt: skip

    def section(self) -> str:
        """The part of the page about this paper, below its table of tables."""
        return f"""
Table 1 names the eight learners and has no numbers.

### More than perfect

MAP@k on MQ2007, by Eq. 3 SP / k: the highest that any ranking of all {len(self.measured.scores.queries):,} queries can
have, and the eight printed values.

{self._perfect_table()}

{self._perfect_in_words()}

ListNet is one of the eight learners, and real ListNet models of MQ2007 are public. At how many of the five k the
printed value lies where 95 % of samples of 1,000 queries have those of a model, by the written formula and by another
one ([all values, and the other learners]({PAGE}#where-the-printed-numbers-come-from)):

{self._listnet_table()}

### What a random ranking gets

The paper derives E[SP@k] = k p², with p the share of relevant documents, from the independence of a document's
relevance and the precision at its rank, in which that document counts. They are not independent. Over all orders of
four documents:

{_expected_table()}

`MSP_ul1` and `MSP_ul2` take the exact value; `expected="paper"` is k p². And an average V2 of 0 is
[better than random]({PAGE}#what-a-random-ranking-gets), not random.

### The order of learners

{_tau_in_words()}

### Conflicts

{_conflict_table()}

{_conflicts_in_words()}

### Percentage differences

PAD on all queries from the printed scores of the eight learners, averaged over k; the range is what the rounding of
the scores to four digits leaves.

{_recomputed_table(pads(), 2)}

{_pads_in_words()}

### Swap rates

Pairs of learners, of {PAIRS}, in opposite orders on the two collections, from the printed scores on all
queries:

{_swap_table()}

{_swaps_in_words()}

### What the text says of its tables

{_claims()}
"""

    def _listnet_table(self) -> str:
        rows = []
        for measure, i, name, readings in ROWS:
            cells = [f"{words}: **{self.listnet[measure, i, r].inside}**" for r, words in readings]
            rows.append([name, *cells, *[""] * (2 - len(cells))])
        return table(["ListNet on MQ2007", "as written", "another rule"], rows, words=3)

    def _perfect_table(self) -> str:
        maps = mq2007.learners(mq2007.MAP)
        rows = [
            ["perfect, by Eq. 3", *(number(value, 3) for value in self.perfect.values())],
            ["printed", *(between(maps[:, i]) for i in range(len(KS)))],
        ]
        return table(["", *(f"k = {k}" for k in KS)], rows)

    def _perfect_in_words(self) -> str:
        return says(
            self.too_high == len(mq2007.MAP),
            f"All {word(self.too_high)} values at k = 30 are impossible by the paper's own formula: most queries have "
            "fewer than 30 relevant documents. SP / min(k, R), with R the relevant documents of the query, gives what "
            "is printed.",
            f"{self.too_high} printed values are above what a perfect ranking gets.",
        )


def _counted(measure: str) -> list[Printed]:
    """Tables of τ, conflicts, tests, PAD and swap rates."""
    of_tau, of_conflicts, of_tests, of_pad, of_collections, of_sets = COUNTED[measure]
    tau = [r for r in taus() if r.measure == measure]
    pad = [r for r in pads() if r.measure == measure]
    swap = [r for r in swaps() if r.measure == measure]
    odd = [case for case in conflicts() if case[1] == measure]
    impossible = sum(case[-1] == "impossible" for case in odd)
    no_tau = sum(
        not is_a_tau(value)
        for of in COLLECTIONS.values()
        for row in of.TAU[measure]
        for value in row[1:]
    )  # fmt: skip
    sets = 2 * len(tau)  # the same on uninformative and on ideal queries
    agreeing = {kind: sum(r.agrees for r in found) for kind, found in (("τ", tau), ("PAD", pad), ("swap", swap))}
    so_far = "none contradicts the next table"
    if any(case[-1] == "only if" for case in odd):
        so_far += "; one does [unless a pair is significant both ways](#conflicts)"
    other_sets = "the sets of queries are not named"
    return [
        Printed(
            of_tau,
            f"Kendall's τ with {measure}",
            f"from the printed scores on all queries; {other_sets}"
            + ("; one value is [no τ of eight](#the-order-of-learners)" if no_tau else ""),
            reproduced=agreeing["τ"],
            refuted=len(tau) - agreeing["τ"] + no_tau,
            out_of_reach=sets - no_tau,
        ),
        Printed(
            of_conflicts,
            f"conflicts with {measure}",
            f"{word(impossible)} [contradict](#conflicts) the next table"
            if impossible
            else so_far,
            refuted=impossible,
            out_of_reach=len(odd) - impossible,
        ),
        Printed(
            of_tests,
            "significant pairs of 140",
            f"scores of single queries are not printed; the counts [look like those of unpaired tests]({PAGE}"
            "#significant-pairs-and-conflicts)",
            out_of_reach=18,
        ),
        Printed(
            of_pad,
            "percentage differences",
            f"[from the printed scores](#percentage-differences) on all queries; {other_sets}",
            reproduced=agreeing["PAD"],
            refuted=len(pad) - agreeing["PAD"],
            out_of_reach=2 * len(pad),
        ),
        Printed(
            of_collections,
            "swap rate between collections",
            f"[from the printed scores](#swap-rates) on all queries; {other_sets}",
            reproduced=agreeing["swap"],
            refuted=len(swap) - agreeing["swap"],
            out_of_reach=2 * len(swap),
        ),
        Printed(
            of_sets,
            "swap rate between sets of queries",
            f"{other_sets}; all are shares of {PAIRS} pairs, as they must be",
            out_of_reach=2 * len(swap),
        ),
    ]  # fmt: skip


# -- words and tables ----------------------------------------------------------------------------------


def _expected_table() -> str:
    rows = []
    for relevant in (1, 2, 3):
        labels = np.array([1.0] * relevant + [0.0] * (4 - relevant))
        pool = Pool.of(offsets_of(np.array([4])), labels)
        for k in (1, 3):
            rows.append(
                [
                    str(relevant),
                    str(k),
                    number(_mean_sp(labels, k), 4),
                    number(float(expected_sp(pool, k, "exact")[0]), 4),
                    number(float(expected_sp(pool, k, "paper")[0]), 4),
                ]
            )
    return table(["relevant of 4", "k", "mean of all 24 orders", "exact formula", "k p²"], rows)


def _mean_sp(labels: Floats, k: int) -> float:
    values = []
    for order in permutations(labels.tolist()):
        found = np.cumsum(order[:k])
        values.append(sum(found[i] / (i + 1) for i in range(k) if order[i]))
    return float(np.mean(values))


def _tau_in_words() -> str:
    found = taus()
    odd = [v for of in COLLECTIONS.values() for m in MEASURES for row in of.TAU[m] for v in row if not is_a_tau(v)]
    return paragraph(
        says(
            all(r.agrees for r in found),
            f"All {word(len(found))} values on all queries follow from the printed scores (printed cut off, not "
            "rounded: 0.928 is 13/14).",
            f"{sum(r.agrees for r in found)} of {len(found)} values on all queries follow from the printed scores.",
        ),
        f"Of eight learners without ties τ is 1 − d/14, with d the pairs in opposite order. "
        f"{' and '.join(map(str, odd))} is not such a value: 9/14 is 0.643, whose digits may have been swapped, "
        "or two learners "
        "tied."
        if odd
        else "",
    )


def _conflict_table() -> str:
    rows = [
        [
            name, called(measure, version), kind, str(one), str(other), str(count), str(abs(one - other)),
            {"only if": "only if a pair is significant in opposite directions"}.get(verdict, f"**{verdict}**"),
        ]
        for name, measure, version, kind, one, other, count, verdict in conflicts()
        if verdict != "possible"
    ]  # fmt: skip
    head = ["collection", "measure", "queries", "verdict", "significant by its measure", "by itself", "conflicts"]
    return table([*head, "at least"], [[*r[:3], r[7], *r[3:7]] for r in rows], words=4)


def _conflicts_in_words() -> str:
    every = list(conflicts())
    fewest = sum(count == abs(one - other) for *_, one, other, count, _ in every)
    impossible = sum(verdict == "impossible" for *_, verdict in every)
    return paragraph(
        "A conflict is a pair of learners that one measure finds significantly different and the other does not. If "
        "one measure finds 45 such pairs and the other 50, at least 5 pairs are in conflict, and an odd number.",
        f"{word(impossible).capitalize()} of the {len(every)} printed counts violate this.",
        f"{fewest} are as low as they can be: there the measure with more significant pairs has all those of the other "
        "one. So the conflicts say hardly more than the counts of significant pairs do.",
    )


def _recomputed_table(found: list[Recomputed], digits: int) -> str:
    rows = [
        [
            r.what,
            "" if r.agrees else "**no**",
            f"{number(r.low, digits)} to {number(r.high, digits)}",
            f"{r.printed:g}",
        ]
        for r in found
    ]
    return table(["", "agrees", "from the scores", "printed"], rows, words=2)


def _pads_in_words() -> str:
    found = pads()
    learner, place, value = MISPRINT
    scores = mq2007.learners(mq2007.MSP_V2)
    scores[list(mq2007.MSP_V2).index(learner), place] = value
    with_misprint = percentage_absolute_difference(scores.mean(axis=1))
    right = mq2007.MSP_V2[learner][place]
    last = next(r for r in found if r.what == "MSP V2, MQ2007")
    absolute = averages(mslr, "MAP", 2)
    pairs = list(combinations(absolute.tolist(), 2))
    by_size = float(np.mean([100 * abs(a - b) / max(abs(a), abs(b)) for a, b in pairs]))
    negative = next(r for r in found if r.what == "MSP V2, MSLR-WEB30K")
    return paragraph(
        f"{sum(r.agrees for r in found)} of {len(found)} agree.",
        says(
            last.agrees and not fits(with_misprint, with_misprint, last.printed),
            f"That of V2 on MQ2007 does with {right} for {learner} at k = {KS[place]}, where Table 15 has {value} and "
            f"PAD would be {number(with_misprint, 2)}: {value} is a misprint.",
        ),
        f"The {negative.printed:g} of V2 on MSLR-WEB30K comes from negative averages, by which |a − b| / max(a, b) "
        f"is meaningless: {number(negative.low, 1)} to {number(negative.high, 1)} with the signed maximum, "
        f"{number(by_size, 1)} with the larger size.",
        f"Nor does a higher PAD show that a measure tells systems apart: it rises when [a constant is taken from every "
        f"score]({PAGE}#percentage-differences).",
    )


def _swap_table() -> str:
    rows = [
        [r.what, "" if r.agrees else "**no**", str(round(r.low * PAIRS)), number(r.low, 3), f"{r.printed:g}"]
        for r in swaps()
    ]
    return table(["", "agrees", "pairs", "rate", "printed"], rows, words=2)


def _swaps_in_words() -> str:
    found = swaps()
    wrong = [r for r in found if not r.agrees]
    v2 = next(r for r in found if r.what == "DCG V2")
    return paragraph(
        f"{sum(r.agrees for r in found)} of {len(found)} agree.",
        says(
            [r.what for r in wrong] == ["nDCG", "DCG V1"] and v2.low > max(r.low for r in wrong),
            "The text finds nDCG, V1 and V2 equally consistent across collections. By the printed scores V2 swaps one "
            "pair more than nDCG and V1 do.",
        ),
    )


def _claims() -> str:
    tests, swap, pad = mq2007.SIGNIFICANT["nDCG"], mq2007.ACROSS_COLLECTIONS["MAP"], mslr.PAD["MAP"]
    gains = list(pad_gains())
    on_uninformative, on_ideal = ([gain[i] for gain in gains] for i in range(2))
    rising = all((np.diff(mq2007.learners(of.SCORES["nDCG"][0]), axis=1) > 0).all() for of in COLLECTIONS.values())
    higher = sum(
        of.PAD[m][v][i] > of.PAD[m][0][i] for of, m, v, i in product(COLLECTIONS.values(), MEASURES, (1, 2), range(3))
    )
    same_order = mq2007.TAU["MAP"][1][2]
    sets = mslr.ACROSS_SETS["nDCG"]
    rows = [
        [
            "“it can also detect more different cases while using All query set (for V1)” (Table 8)",
            _verdict(tests[1][0] > tests[0][0]),
            f"MQ2007: {tests[1][0]} by V1, {tests[0][0]} by nDCG; it is V2 that has {tests[2][0]}",
        ],
        [
            "V1 and V2 “achieve a significant boost” of PAD on uninformative queries “compared to the same in Ideal” "
            "(Tables 9 and 19)",
            "as a ratio" if all(one > other for one, other, _ in gains) else "**no**",
            f"they multiply the PAD of nDCG and MAP by {min(on_uninformative):.2f} to {max(on_uninformative):.2f} on "
            f"uninformative queries and by {min(on_ideal):.2f} to {max(on_ideal):.2f} on ideal ones, by more in all "
            f"{word(len(gains))} cases; PAD itself is larger there in {word(sum(larger for *_, larger in gains))} only "
            f"(MSLR-WEB30K, MSP V1: {pad[1][1]:g} and {pad[1][2]})",
        ],
        [
            "PAD of V1 and V2 is higher on all sets of queries than that of nDCG and MAP (Tables 9 and 19)",
            _verdict(higher == 3 * len(gains)),
            f"in {higher} of {3 * len(gains)} cells; [what that means](#percentage-differences)",
        ],
        [
            "nDCG@k of every learner rises with k (Tables 2 and 3)",
            _verdict(rising),
            f"in all {2 * len(mq2007.NDCG)} rows",
        ],
        [
            "V2 of MSP orders learners otherwise than MAP does “for all kinds of query collections in both two "
            "data-sets” (Table 16)",
            _verdict(same_order < 1),
            f"on ideal queries of MQ2007 τ is {same_order:g}",
        ],
        [
            "V1 and V2 of DCG swap as many learners as nDCG between uninformative and ideal queries (conclusions, "
            "Table 11)",
            _verdict(len(set(sets)) == 1),
            f"MSLR-WEB30K: V1 {sets[1]}, nDCG {sets[0]}",
        ],
        [
            "V2 of MSP has the lowest swap rate across collections (conclusions, Table 20)",
            _verdict(all(swap[2][i] <= swap[0][i] for i in range(3))),
            f"on ideal queries it has {swap[2][2]}, MAP {swap[0][2]}; on the others it has the lowest",
        ],
        [
            "V1 is never above its measure, as its formula has it",
            _verdict(above_the_measure() == 0),
            f"in all {4 * len(mq2007.NDCG) * len(KS)} printed cells",
        ],
    ]
    return table(["claim", "holds", "by the tables"], rows, words=3)


def _verdict(holds: bool) -> str:
    return "yes" if holds else "**no**"
