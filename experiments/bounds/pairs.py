"""Do the normalised measures tell more systems apart, and do they contradict the measures that they come from?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from experiments.bounds import printed
from experiments.bounds.counts import Counts, counts
from experiments.bounds.queries import Trials
from experiments.bounds.readings import DCG_EXACT, MSP_EXACT, MSP_PAPER, READINGS, Measured
from experiments.bounds.trials import SETS, SHORT, Trial
from experiments.markdown import between, number, paragraph, says, table

VERSIONS = (0, 1, 2)


def significant(trial: Trial, kind: str, version: int, *, paired: bool = True, runs: Sequence[str] = ()) -> float:
    """Share of significant pairs over all k; version 0 is the measure itself."""
    measure = trial.reading.measures[version]
    if not paired:
        return trial.unpaired[kind].share(measure)
    found = trial.discrimination(kind, runs)
    return found.significant[measure] / found.tested[measure]


def conflicts(trial: Trial, kind: str, version: int, *, paired: bool = True) -> float:
    """Share of pairs on which the measure and V1 or V2 disagree."""
    base, measure = trial.reading.base, trial.reading.measures[version]
    if not paired:
        return trial.unpaired[kind].conflicts(base, measure)
    found = trial.discrimination(kind)
    return found.conflicts(base, measure) / found.tested[base]


def gains(trials: Sequence[Trials], kind: str, version: int = 2, *, paired: bool) -> list[float]:
    """By what share of all pairs V1 or V2 tells more apart than the measure itself, by every reading."""
    return [
        significant(trial, kind, version, paired=paired) - significant(trial, kind, 0, paired=paired)
        for some in trials
        for trial in some.values()
    ]


def points(shares: Sequence[float]) -> str:
    """A range of differences between percentages."""
    return f"{between([100 * share for share in shares], 1, sign=True)} points"


def fits_unpaired(found: dict[str, Counts]) -> bool:
    """Whether the printed counts are near those of unpaired tests and far from those of paired ones."""
    near = all(abs(n.printed - n.unpaired) <= 5 for n in found.values())
    return near and all(n.paired > n.printed + 20 for n in found.values())


def pairs(measured: Measured, drawn: Trials, whole: Trials) -> str:
    """Section: significant pairs and conflicts, by paired and unpaired tests."""
    of, queries = printed.TESTED, f"{len(drawn[DCG_EXACT].queries):,}"
    collection, tests = measured.collection, drawn[DCG_EXACT].discrimination("all").tested["nDCG"]
    found = counts(measured)
    counted = [[name, str(n.printed), str(n.unpaired), str(n.paired)] for name, n in found.items()]
    paper = [f"paper: {kind}" for kind in SHORT]
    disagreeing = [
        [
            reading.name,
            reading.called(version),
            *(_both(partial(conflicts, drawn[reading], kind, version)) for kind in SETS),
            *printed.beside(reading, printed.CONFLICTS, version - 1, _of_140),
        ]
        for reading in READINGS
        for version in VERSIONS[1:]
    ]
    return f"""
## Significant pairs and conflicts

The paper speaks of Student's t-test. For two rankings of the same queries that is the paired one, which the
preset takes. The printed counts look like those of the unpaired one, for two independent samples. Below are the
significant pairs (of {of}, p ≤ 0.05) that the printed means of the eight learners lead to, with {queries} queries and
the deviations that our systems have on MQ2007:

{table(["all queries", "printed", "from the means, unpaired", "from the means, paired"], counted)}

{_counts_in_words(found)}

Both tests are therefore shown below. Every pair of systems was tested for every k, without a correction: {tests:,}
tests for each measure and set. The share of significant ones in percent, paired / unpaired, {queries} queries drawn:

{table(["reading", "measure", *SETS, *paper], _shares(drawn, beside=True), words=2)}

{_shares_in_words(drawn, whole)}

The same on the whole of MQ2007:

{table(["reading", "measure", *SETS], _shares(whole, beside=False), words=2)}

The same separately for the {len(collection.models)} ListNet models and the {len(collection.rankings)} input rankings
(paired, {queries} queries drawn):

{_by_group(drawn)}

Conflicts are pairs that only one of two measures finds significant, or both in opposite directions. Those of a measure
with its V1 or V2, in percent of the tests, paired / unpaired:

{table(["reading", "", *SETS, *paper], disagreeing, words=2)}

{_conflicts_in_words(drawn)}
"""


def _percent(share: float) -> str:
    """Without its sign, so that wide tables fit."""
    return number(100 * share, 1)


def _both(share: Callable[..., float]) -> str:
    """By paired and by unpaired tests."""
    return f"{_percent(share(paired=True))} / {_percent(share(paired=False))}"


def _of_140(count: float) -> str:
    return _percent(count / printed.TESTED)


def _counts_in_words(found: dict[str, Counts]) -> str:
    off = max(abs(n.printed - n.unpaired) for n in found.values())
    return says(
        fits_unpaired(found),
        f"The unpaired test misses no printed count by more than {off}; the paired one is far off for every measure. "
        "An unpaired test asks whether two systems differ by more than queries do, and queries differ a lot. It errs "
        "on the safe side, but it throws away that both systems answered the same queries.",
        "Neither test explains all of the printed counts.",
    )


def _shares(trials: Trials, *, beside: bool) -> list[list[str]]:
    rows = []
    for reading, trial in trials.items():
        for version in VERSIONS:
            shares = [_both(partial(significant, trial, kind, version)) for kind in SETS]
            row = [reading.name, reading.called(version), *shares]
            rows.append(row + (printed.beside(reading, printed.SIGNIFICANT, version, _of_140) if beside else []))
    return rows


def _shares_in_words(drawn: Trials, whole: Trials) -> str:
    """What the shares say about the paper's claim that V1 and V2 tell more systems apart."""
    both = (drawn, whole)
    unpaired = {kind: gains(both, kind, paired=False) for kind in SETS}
    paired = {kind: gains(both, kind, paired=True) for kind in SETS}
    v1 = max(abs(gain) for kind in SETS for gain in gains(both, kind, 1, paired=True))
    return paragraph(
        says(
            min(min(gain) for gain in unpaired.values()) > 0,
            "**Unpaired, the paper's finding holds.** V2 tells more systems apart than its measure on every set by "
            f"every reading: {points(unpaired['all'])} on all queries, {points(unpaired['uninformative'])} on "
            f"uninformative and {points(unpaired['ideal'])} on ideal ones.",
        ),
        says(
            max(paired["all"]) < 0 and float(np.mean(paired["uninformative"])) < 0,
            f"**Paired, it does not.** The change is {points(paired['all'])} on all queries and "
            f"{points(paired['uninformative'])} on uninformative ones.",
        ),
        says(min(paired["ideal"]) > 0, f"Only on ideal queries V2 finds more ({points(paired['ideal'])})."),
        says(v1 < 0.03, f"V1 stays within {number(100 * v1, 1)} points of its measure."),
        "The normalisation removes part of the differences between queries, and a paired test does that anyway.",
    )


def _by_group(drawn: Trials) -> str:
    collection = drawn[DCG_EXACT].measured.collection
    groups = {"models": list(collection.models), "rankings": list(collection.rankings)}
    rows = []
    for reading in (DCG_EXACT, MSP_PAPER, MSP_EXACT):
        for version in VERSIONS:
            trial = drawn[reading]
            shares = [significant(trial, kind, version, runs=runs) for runs in groups.values() for kind in SETS]
            rows.append([reading.name, reading.called(version), *map(_percent, shares)])
    return table(["reading", "measure", *(f"{group}: {kind}" for group in groups for kind in SHORT)], rows, words=2)


def conflict_more_on_uninformative(trials: Trials) -> bool:
    """Whether V1 and V2 contradict their measure more often on uninformative than on ideal queries."""
    return all(conflicts(t, "uninformative", v) > conflicts(t, "ideal", v) for t in trials.values() for v in (1, 2))


def _conflicts_in_words(drawn: Trials) -> str:
    v2 = [100 * conflicts(trial, "uninformative", 2) for trial in drawn.values()]
    paper = [100 * table[1][1] / printed.TESTED for table in printed.CONFLICTS.values()]
    return says(
        conflict_more_on_uninformative(drawn),
        "As in the paper, conflicts are more frequent on uninformative than on ideal queries, by every reading: for V2 "
        f"{between(v2, 0)} % of the paired tests there (paper: {between(paper, 0)} % of its tests).",
    )
