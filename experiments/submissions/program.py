"""Φ as the program computes it that Gienapp et al. published, beside their formula."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import ranksift as rs
from experiments.forbidden.printed import TABLE_2D
from experiments.forbidden.studies import GIENAPP, KS
from experiments.markdown import between, number, paragraph, says, table
from experiments.submissions.printed import PHI_NDCG_0_AT_20
from experiments.submissions.years import Year
from experiments.web_track.years import Year as Runs
from ranksift import study

Floats = NDArray[np.float64]

#: The measure of the tables that is nearest to theirs, what is added to its scores; numberings of topics, and draws.
MEASURE, ADDED, NUMBERINGS, DRAWS = "nDCG@20", 0.4, 1000, 100
#: What nDCG_f would add is not in the paper.
THEIRS = tuple(m for m in GIENAPP if m in TABLE_2D[2012])


def phi_of_program(values: Floats, intercept: bool = False) -> float:
    """Φ from the model ``Score ~ Run + Topic + Run*Topic - 1``, in which the number of a topic is a covariate.

    Sums of squares are sequential. Each run has a mean and a slope over the numbers of the topics; without an intercept
    the runs' sum of squares is that of their means, not of what sets their means apart. The components are (runs −
    interaction) / topics, (topics − interaction) / runs and interaction − rest, of mean squares and by absolute value;
    the second is not divided by the number of topics.

    >>> flat = np.array([[0.4, 0.6, 0.4, 0.6], [0.6, 0.4, 0.6, 0.4]])  # two runs with the same mean
    >>> round(phi_of_program(flat), 3), round(phi_of_program(flat, intercept=True), 3)
    (0.969, 0.333)
    """
    runs, topics = values.shape
    place = np.arange(topics) - (topics - 1) / 2
    mean, slope = values.mean(axis=1), values @ place / (place @ place)
    level = mean.mean() if intercept else 0.0
    of_runs = topics * ((mean - level) ** 2).sum() / (runs - intercept)
    of_topics = (place @ place) * runs * slope.mean() ** 2
    of_both = (place @ place) * ((slope - slope.mean()) ** 2).sum() / (runs - 1)
    rest = ((values - mean[:, None] - slope[:, None] * place) ** 2).sum() / (runs * (topics - 2))
    system, topic, both = abs(of_runs - of_both) / topics, abs(of_topics - of_both) / runs, abs(of_both - rest)
    return float(system / (system + topic + both / topics))


def phi_of_formula(values: Floats) -> float:
    """Φ by the paper's formula."""
    names = [f"run {i}" for i in range(len(values))], [f"topic {i}" for i in range(values.shape[1])]
    scores = rs.Scores.from_array(values[:, :, None], runs=names[0], queries=names[1], measures=["score"])
    with warnings.catch_warnings():  # copies among the submissions, which the page counts
        warnings.simplefilter("ignore", rs.RankSiftWarning)
        return study.reliability(scores, samples=0).phi["score"]


@dataclass(frozen=True)
class Both:
    """Φ of some scores by the program and by the formula, and their mean."""

    program: float
    formula: float
    mean: float

    @classmethod
    def of(cls, values: Floats) -> Both:
        return cls(phi_of_program(values), phi_of_formula(values), float(values.mean()))


def made_up(shape: tuple[int, ...]) -> Both:
    """Random numbers for scores: medians over some draws."""
    random = np.random.default_rng(0)
    drawn = [Both.of(random.random(shape)) for _ in range(DRAWS)]
    return Both(*np.median([(b.program, b.formula, b.mean) for b in drawn], axis=0).tolist())


def renumbered(values: Floats) -> tuple[float, float, float]:
    """The program's Φ with topics in random order: its 5 % quantile, median and 95 % quantile."""
    random = np.random.default_rng(0)
    found = [phi_of_program(values[:, random.permutation(values.shape[1])]) for _ in range(NUMBERINGS)]
    low, middle, high = np.quantile(found, [0.05, 0.5, 0.95]).tolist()
    return low, middle, high


def by_measure(data: Path, year: int) -> dict[tuple[str, int], Both]:
    """Runs that are public, by the three measures of the paper, topics by number."""
    found = Runs(data, year)
    measures = [f"{m}@{k}" for m in THEIRS for k in KS]
    scores = rs.evaluate(found.qrels, found.runs, measures, gains="linear", unjudged="drop")
    numbered = np.argsort([int(query) for query in scores.queries])
    return {
        (m, k): Both.of(scores.values[:, numbered, scores.column(f"{m}@{k}")]) for m in THEIRS for k in KS
    }  # fmt: skip


def the_printed_reliability(years: Mapping[int, Year], data: Path) -> str:
    """Section: what the printed values of Φ are."""
    values = {y: years[y].scores.values[:, :, years[y].scores.column(MEASURE)] for y in PHI_NDCG_0_AT_20}
    noise = {y: made_up(some.shape) for y, some in values.items()}
    raised = {y: Both.of(some + ADDED) for y, some in values.items()}
    here = {y: Both.of(some) for y, some in values.items()}
    rows = []
    for y, some in values.items():
        low, middle, high = renumbered(some)
        rows.append(
            [
                str(y),
                f"{PHI_NDCG_0_AT_20[y]:.3f}",
                number(here[y].formula, 3),
                number(here[y].program, 3),
                number(phi_of_program(some, intercept=True), 3),
                f"{number(middle, 2)} ({number(low, 2)} to {number(high, 2)})",
            ]
        )
    tried = [
        [str(y), what, number(both.mean, 3), number(both.formula, 3), number(both.program, 3)]
        for y in values
        for what, both in (
            (f"{MEASURE}", here[y]),
            (f"{MEASURE} + {ADDED}", raised[y]),
            ("random numbers from 0 to 1", noise[y]),
        )
    ]
    runs = {year: by_measure(data, year) for year in (2012, 2013)}
    return f"""
### The printed reliability

The program that Gienapp et al. published fits `Score ~ Run + Topic + Run*Topic - 1`, with the number of a topic as a
covariate, does not divide the variance of the topics by their number, and takes negative components by absolute value.
The `- 1` leaves out the intercept. Then the sum of squares of the runs is that of their mean scores, not of what sets
the means apart, and the “system variance” is nearly the mean of the squared means: it is large where scores are high,
whether the systems differ or not. We did not run their program. `experiments/submissions/program.py` computes what it
describes, and this is what that makes of the official {MEASURE}, topics in the order of the tables:

{table(["year", "printed", "formula", "program", "with an intercept", "topics in random order"], rows)}

In the last column topics are numbered at random, {NUMBERINGS} times: the median, and the middle 90 %.

{_size_in_words(here, values)}

{table(["year", "scores", "mean", "formula", "program"], tried, words=2)}

{_level_in_words(here, raised, noise)}

Do larger means explain that nDCG_min leads? On the [public runs](web-track.md) of two years, Φ by the program, in
brackets the mean score, and by the formula:

{_measures_table(runs)}

{_lead_in_words(runs)}
"""


def _size_in_words(here: Mapping[int, Both], values: Mapping[int, Floats]) -> str:
    off = {y: both.program - PHI_NDCG_0_AT_20[y] for y, both in here.items()}
    near = all(abs(gap) < abs(here[y].formula - PHI_NDCG_0_AT_20[y]) / 3 for y, gap in off.items())
    return paragraph(
        says(
            near,
            "**In this order the size of the values is that of the printed ones, by the formula it is not.** "
            f"The values themselves differ from it by {between(off.values(), 3, sign=True)}: their gains, runs and "
            "topics are not quite those of the tables. Moreover, the program's value depends on the order of the "
            "topics, as no reliability should: "
            "random orders mostly give less, so that this is a plausible explanation rather than a proof.",
        )
    )


def _level_in_words(here: Mapping[int, Both], raised: Mapping[int, Both], noise: Mapping[int, Both]) -> str:
    return paragraph(
        says(
            all(raised[y].program > here[y].program and abs(raised[y].formula - here[y].formula) < 1e-9 for y in here)
            and all(both.program > 0.95 > 0.25 > both.formula for both in noise.values()),
            "The formula does not care what is added to all scores, and finds hardly anything in random numbers. The "
            f"program's value grows when every score grows by {ADDED}, and for scores that say nothing it is near 1.",
        )
    )


def _measures_table(runs: Mapping[int, Mapping[tuple[str, int], Both]]) -> str:
    rows = []
    for year, found in runs.items():
        for m in THEIRS:
            by_program = (f"{number(found[m, k].program, 3)} ({number(found[m, k].mean, 2)})" for k in KS)
            rows.append([str(year), m, "program", *by_program])
            rows.append(["", "", "formula", *(number(found[m, k].formula, 3) for k in KS)])
            if year in TABLE_2D:
                rows.append(["", "", "printed", *(f"{v:.3f}" for v in TABLE_2D[year][m])])
    return table(["year", "measure", "Φ", *(f"k = {k}" for k in KS)], rows, words=3)


def _best(found: Mapping[tuple[str, int], Both], k: int, what: str) -> str:
    return max(THEIRS, key=lambda m: getattr(found[m, k], what))


def _lead_in_words(runs: Mapping[int, Mapping[tuple[str, int], Both]]) -> str:
    order = {
        year: [
            k for k in KS
            if sorted(THEIRS, key=lambda m: found[m, k].program) == sorted(THEIRS, key=lambda m: found[m, k].mean)
        ]
        for year, found in runs.items()
    }  # fmt: skip
    leads = {year: [k for k in KS if _best(found, k, "program") == "nDCG_min"] for year, found in runs.items()}
    return paragraph(
        says(
            order[2012] == list(KS) and all(_best(runs[2012], k, "formula") == "nDCG_org" for k in KS),
            "In 2012 the program orders the three measures by their means at every k: nDCG_min, nDCG_0, nDCG_org. The "
            "formula has nDCG_org first at every k.",
        ),
        says(
            leads[2013] == [10, 15, 20],
            "In 2013 nDCG_min, whose mean is the largest, leads at k = 10, 15 and 20, and nDCG_0 at k = 5.",
        ),
        says(
            leads[2012] == list(KS),
            "So the printed lead of nDCG_min looks like an effect of larger means, not of reliability. This "
            "explains the "
            "size and mostly the order of what is printed. It does not give the printed values: these are other runs, "
            "and nDCG_org is far below its printed values here.",
        ),
    )
