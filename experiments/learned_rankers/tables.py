"""Tables of the page: the learners beside the printed ones, and what the measures make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import ranksift as rs
from experiments.bounds import printed
from experiments.bounds.differences import differences, kinds
from experiments.bounds.orders import tau
from experiments.bounds.pairs import conflicts, significant
from experiments.bounds.readings import (
    DCG_PRINTED,
    KS,
    MSP_PRINTED,
    READINGS,
    Measured,
    Reading,
    at,
    over_k,
    part,
)
from experiments.bounds.trials import DRAWN, SETS, SHORT, SIZE, Trial, drawn_queries, trials
from experiments.learned_rankers.methods import METHODS
from experiments.markdown import number, table
from ranksift import study
from ranksift.evaluation.compare import Comparison

Trials = Mapping[Reading, Trial]
#: Queries of each kind where a collection has fewer than the paper drew.
FEWER = 250
#: What is shown beside the printed tables: the readings that they follow.
SHOWN = (
    ("nDCG", DCG_PRINTED, 0),
    ("DCG V1", DCG_PRINTED, 1),
    ("DCG V2", DCG_PRINTED, 2),
    ("MAP", MSP_PRINTED, 0),
    ("MSP V1", MSP_PRINTED, 1),
    ("MSP V2", MSP_PRINTED, 2),
)


def trials_of(measured: Measured) -> Trials:
    """As in the paper 1,000 queries that are drawn, and 500 of each kind; of fewer queries all, and 250."""
    queries = measured.scores.queries
    if len(queries) < DRAWN:
        return trials(measured, queries, FEWER)
    return trials(measured, drawn_queries(queries), SIZE)


def compared(measured: Measured, reading: Reading, version: int) -> Comparison:
    """All pairs of learners on all queries, by one measure at every k."""
    return rs.compare(part(measured.scores, measures=at([reading.measures[version]])))


def row(found: Comparison, method: str) -> list[str]:
    """A learner's mean at every k, in bold where it is the highest, with letters of those that it beats."""
    cells, means = [], found.means
    for m, measure in enumerate(found.scores.measures):
        own = number(float(means[found.scores.row(method), m]), 3)
        best = own == number(float(means[:, m].max()), 3)
        beaten = "".join(found.letters[other] for other in found.better_than(method, measure))
        cells.append(f"{f'**{own}**' if best else own} {beaten}".strip())
    return cells


def scores(measured: Measured, *, beside: bool) -> str:
    """All learners by all measures of the paper's tables, with what it prints."""
    found = []
    for name, reading, version in SHOWN:
        letters = compared(measured, reading, version)
        paper = printed.SCORES[reading.tables][version]
        rows = []
        for method in letters.scores.runs:
            cells = [letters.letters[method], method, *row(letters, method)]
            if beside:
                cells += [number(value, 3) for value in paper[METHODS[method].printed]]
            rows.append(cells)
        head = ["", name, *(f"@{k}" for k in KS), *([f"paper @{k}" for k in KS] if beside else [])]
        found.append(table(head, rows, words=2))
    return "\n\n".join(found)


def order_by(measured: Measured, reading: Reading, version: int) -> np.ndarray:
    """Means over queries and k, in the order of the paper's tables."""
    found = over_k(measured.scores, reading.measures[version])
    return np.array([found[measured.scores.row(method)] for method in METHODS])


def printed_order(reading: Reading, version: int) -> np.ndarray:
    """The same of the printed table."""
    return printed.learners(printed.SCORES[reading.tables][version]).mean(axis=1)


def rows_of(
    all_trials: Sequence[Trials],
    value: Callable[[Trial, str, int], str],
    versions: Sequence[int],
    paper: Callable[[Reading, int], list[str]],
) -> list[list[str]]:
    """A row for each reading and version, with cells for the sets of each collection and of the paper."""
    return [
        [
            reading.name,
            reading.called(version),
            *(value(some[reading], kind, version) for some in all_trials for kind in SETS),
            *paper(reading, version),
        ]
        for reading in READINGS
        for version in versions
    ]


def head(all_trials: Sequence[Trials], first: str = "") -> list[str]:
    """Of such a table."""
    names = [next(iter(some.values())).measured.collection.name for some in all_trials]
    return ["reading", first, *(f"{name}: {kind}" for name in [*names, "paper"] for kind in SHORT)]


def orders(all_trials: Sequence[Trials]) -> str:
    """Kendall's τ between a measure and its V1 or V2."""
    rows = rows_of(
        all_trials,
        lambda trial, kind, version: number(tau(trial, kind, version), 3),
        (1, 2),
        lambda reading, version: printed.beside(reading, printed.TAU, version - 1, lambda v: number(v, 3)),
    )
    return table(head(all_trials), rows, words=2)


def significant_pairs(all_trials: Sequence[Trials]) -> str:
    """Significant pairs of 140, paired / unpaired."""
    return _of_tests(all_trials, significant, (0, 1, 2), printed.SIGNIFICANT)


def disagreements(all_trials: Sequence[Trials]) -> str:
    """Pairs of 140 on which the measure and V1 or V2 disagree, paired / unpaired."""
    return _of_tests(all_trials, conflicts, (1, 2), printed.CONFLICTS)


def _of_tests(
    all_trials: Sequence[Trials], share: Callable[..., float], versions: Sequence[int], values: Mapping[Any, Any]
) -> str:
    """How many of all tests, of each version (0: the measure itself), beside what is printed of these versions."""

    def both(trial: Trial, kind: str, version: int) -> str:
        return " / ".join(
            str(round(printed.TESTED * share(trial, kind, version, paired=paired))) for paired in (True, False)
        )

    rows = rows_of(
        all_trials,
        both,
        versions,
        lambda reading, version: printed.beside(reading, values, version - versions[0], lambda v: f"{v:g}"),
    )
    return table(head(all_trials, *["measure"] * (0 in versions)), rows, words=2)


def percentages(all_trials: Sequence[Trials]) -> str:
    """PAD of the measure, of the measure less a constant, of V1 and V2, on all and on ideal queries."""
    rows = []
    for reading in READINGS:
        found = [differences(some[reading], kind) for some in all_trials for kind in ("all", "ideal")]
        for name, field, version in kinds(reading):
            paper = ["", "", ""]
            if version is not None:
                paper = printed.beside(reading, printed.PAD, version, lambda v: number(v, 2))
            cells = [number(getattr(pad, field), 2) for pad in found]
            rows.append([reading.name, name, *cells, paper[0], paper[2]])
    names = [next(iter(some.values())).measured.collection.name for some in all_trials]
    heads = [f"{name}: {kind}" for name in [*names, "paper"] for kind in ("all", "ideal")]
    return table(["reading", "measure", *heads], rows, words=2)


def swaps_of_sets(trial: Trial) -> list[float]:
    """Swap rates between uninformative and ideal queries: of the measure, V1 and V2."""
    rate = study.consistency(trial.on("uninformative"), trial.on("ideal"), over_k=True).swap_rate
    return [rate[measure] for measure in trial.reading.measures]


def swaps_of_collections(one: Trial, two: Trial, kind: str) -> list[float]:
    """Swap rates between two collections."""
    rate = study.consistency(one.on(kind), two.on(kind), over_k=True).swap_rate
    return [rate[measure] for measure in one.reading.measures]


def swaps(all_trials: Sequence[Trials]) -> str:
    """Both kinds of swap rates."""
    rows = []
    for reading in READINGS:
        sets = [swaps_of_sets(some[reading]) for some in all_trials]
        across = [swaps_of_collections(*(some[reading] for some in all_trials), kind) for kind in SETS]
        for i in range(3):
            follows = reading in (DCG_PRINTED, MSP_PRINTED)
            rows.append(
                [
                    reading.name,
                    reading.called(i),
                    *(number(of[i], 3) for of in sets),
                    number(printed.ACROSS_SETS[reading.tables][i], 3) if follows else "",
                    *(number(of[i], 3) for of in across),
                    *printed.beside(reading, printed.ACROSS_COLLECTIONS, i, lambda v: number(v, 3)),
                ]
            )
    names = [next(iter(some.values())).measured.collection.name for some in all_trials]
    heads = [*(f"sets of {name}" for name in names), "paper", *(f"collections: {kind}" for kind in SHORT)]
    return table(["reading", "measure", *heads, *(f"paper: {kind}" for kind in SHORT)], rows, words=2)
