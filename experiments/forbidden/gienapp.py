"""Gienapp et al.'s study: small k, a forbidden document costs 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import ranksift as rs
from experiments.forbidden.carmel import interval
from experiments.forbidden.printed import DEPTHS, TABLE_2B, TABLE_2D
from experiments.forbidden.studies import GIENAPP, KS, Study
from experiments.markdown import between, number, paragraph, percent, says, table
from experiments.web_track.years import FILTERED
from ranksift import study

Studies = Mapping[int, Study]

#: The three correlations of Table 2b.
TWO = (("nDCG_org", "nDCG_0"), ("nDCG_org", "nDCG_min"), ("nDCG_0", "nDCG_min"))
#: The size of topic set that the tables show.
SIZE = 10


def gienapp(shallow: Studies) -> str:
    """Section: the order of the runs, reliability, stability and sensitivity."""
    return f"""
## Gienapp et al.'s setting

k = 5, 10, 15 and 20, the gain is the label, so that −2 costs 2; unjudged documents are dropped, as the program that the
authors published does it. In RankSift: the preset `negative-2020`, here with nDCG_f, which is younger than the paper.
The paper studies 2011, of which there are two runs here, and 2012.

{same_in_words(shallow)}

### The order of the runs: Table 2b

Spearman's ρ between the means of two measures, at k = 20 for 2012 and k = 15 for 2013.

{correlation_table(shallow)}

{correlation_in_words(shallow)}

### Reliability: Table 2d

Φ with its 95 % interval over topics, and what is printed.

{reliability_table(shallow)}

{reliability_in_words(shallow)}

{runs_in_words(shallow)}

### Stability

![Error rate by number of topics at small k, 2012 and 2013](forbidden-stability-by-k.svg)

Error rate with {SIZE} topics, and in brackets the share of ties; differences up to 0.05 are ties. The paper shows
curves without numbers.

{stability_table(shallow)}

{stability_in_words(shallow)}

### Sensitivity

![Share of pairs told apart at small k, 2012 and 2013](forbidden-sensitivity-by-k.svg)

Share of pairs with an achieved significance level below 0.05: by Sakai's bootstrap test, which the paper uses, and in
brackets by the share of sign changes.

{sensitivity_table(shallow)}

{sensitivity_in_words(shallow)}
"""


def name(measure: str, k: int) -> str:
    """Its full name."""
    return f"{measure}@{k}"


def by_k(shallow: Studies, cell: Callable[[Study, str], str]) -> list[list[str]]:
    """One row per year and measure, a cell for each k."""
    return [[str(year), m, *(cell(s, name(m, k)) for k in KS)] for year, s in shallow.items() for m in GIENAPP]


HEAD = ["year", "measure", *(f"k = {k}" for k in KS)]


def same_in_words(shallow: Studies) -> str:
    """What needs no comparison."""
    equal = all(
        np.abs(s.scores.values[:, :, s.scores.column(name("nDCG_min", k))]
               - s.scores.values[:, :, s.scores.column(name("nDCG_f", k))]).max() <= 1e-12
        for s in shallow.values()
        for k in KS
    )  # fmt: skip
    return says(
        equal,
        "nDCG_min and nDCG_f are equal here for every run and topic, because k is smaller than every pool without its "
        "relevant or its forbidden documents ([Proposition 3.6](web-track.md#where-ndcg_min-leaves-0-1-and-why)). What "
        "is said of one holds for the other.",
    )


def rho(s: Study, k: int) -> tuple[float, ...]:
    """The correlations of Table 2b."""
    return tuple(s.agreement.spearman[name(a, k)][name(b, k)] for a, b in TWO)


def correlation_table(shallow: Studies) -> str:
    """Ours and the printed ones."""
    rows = []
    for year, s in shallow.items():
        both = zip(rho(s, DEPTHS[year]), TABLE_2B[year], strict=True)
        cells = [f"{number(here, 2)} ({printed:.2f})" for here, printed in both]
        rows.append([str(year), str(len(s.year.runs)), *cells])
    head = ["year", "runs", *(f"{a}, {b} (printed)" for a, b in TWO)]
    return table(head, rows)


def correlation_in_words(shallow: Studies) -> str:
    """How far a correlation of so few runs goes."""
    here = {year: rho(s, DEPTHS[year]) for year, s in shallow.items()}
    runs, means = shallow[2012].year.names, shallow[2012].means("nDCG_min@20")
    filtered = [float(mean) for run, mean in zip(runs, means, strict=True) if run.endswith(FILTERED)]
    return paragraph(
        says(
            here[2012][1] < here[2012][0],
            "In the paper nDCG_min keeps the order of nDCG_org in every year, better than nDCG_0 does. In 2012 it does "
            f"not here: the four filtered runs are within {number(max(filtered) - min(filtered), 3)} of each other by "
            "nDCG_min@20, and change places.",
            "nDCG_min keeps the order of nDCG_org better than nDCG_0 does, as in the paper.",
        ),
        says(here[2013][1] > here[2013][0], "In 2013 it does."),
        f"With six runs one swap of neighbours moves ρ by {number(6 * 2 / (6 * 35), 2)}: these are not estimates "
        "for the submissions.",
    )


def reliability_table(shallow: Studies) -> str:
    """Φ by k; printed values where there are some."""
    rows = []
    for year, s in shallow.items():
        for m in GIENAPP:
            found = s.reliability
            cells = [interval(found.phi[name(m, k)], *found.phi_interval[name(m, k)]) for k in KS]
            rows.append([str(year), m, *cells])
            if m in TABLE_2D.get(year, {}):
                rows.append(["", "printed", *(f"{v:.3f}" for v in TABLE_2D[year][m])])
    return table(HEAD, rows, words=2)


def gaps(s: Study) -> list[tuple[float, float, float]]:
    """How much more reliable nDCG_org is than nDCG_min, at each k."""
    return [s.gap(name("nDCG_org", k), name("nDCG_min", k)) for k in KS]


def undecided(s: Study) -> bool:
    """Whether neither of nDCG_org and nDCG_min is surely the more reliable, and both more than nDCG_0."""
    phi = s.reliability.phi
    ahead = all(phi[name(m, k)] > phi[name("nDCG_0", k)] for m in ("nDCG_org", "nDCG_min") for k in KS)
    return ahead and all(low < 0 < high for _, low, high in gaps(s))


def reliability_in_words(shallow: Studies) -> str:
    """Where and why it differs."""
    phi, rho2 = shallow[2012].reliability.phi, shallow[2012].reliability.rho2
    order = all(phi[name("nDCG_org", k)] > phi[name("nDCG_min", k)] > phi[name("nDCG_0", k)] for k in KS)
    largest = max(shallow[2013].reliability.phi.values())
    table_2d = TABLE_2D[2012]
    printed = max(v for row in table_2d.values() for v in row)
    printed_org = [k for k, a, b in zip(KS, table_2d["nDCG_org"], table_2d["nDCG_0"], strict=True) if a > b]
    return paragraph(
        says(
            order,
            "This does not agree. In the paper nDCG_min is the most reliable at every k, here nDCG_org is, and nDCG_0 "
            "is far behind.",
        ),
        says(
            order and undecided(shallow[2012]),
            "The lead of nDCG_org is not certain: the difference of Φ is "
            f"{between([gap for gap, _, _ in gaps(shallow[2012])], 3, sign=True)}, and each interval includes 0.",
        ),
        "That nDCG_0 is behind has to do with the runs: eight of the ten are four rankings with and without a spam "
        "filter. They differ in spam, which nDCG_0 ignores.",
        says(
            printed_org == [5, 20],
            "(The paper's text puts nDCG_org far below nDCG_0; by its own table it is above it in 2012 at k = 5 and "
            "20.)",
        ),
        f"No Φ here comes near the printed {printed:.3f}, nor does Eρ², which leaves out the topics' variance "
        f"({between([rho2[name('nDCG_min', k)] for k in KS], 2)} for nDCG_min).",
        f"In 2013 nothing is reliable (the highest Φ is {number(largest, 2)}): in the first 20 documents these six "
        "runs hardly differ.",
    )


def runs_in_words(shallow: Studies) -> str:
    """What the runs explain of it, and what they do not."""
    s, measure = shallow[2012], 'nDCG(gains="exp")@20'
    found = study.reliability(rs.evaluate(s.year.qrels, s.year.runs, measure, unjudged="zero"))
    return paragraph(
        "Is it the runs? [Score tables of the submissions](submissions.md#beside-the-papers) have the track's official "
        "nDCG@20 (gains max(0, 2^l − 1), unjudged documents 0), and the formula can be applied to them. By that "
        f"measure our runs of 2012 have a Φ of {interval(found.phi[measure], *found.phi_interval[measure])}. That of "
        "the submissions is higher, as it should be: they differ more than variants of one engine. But it is not as "
        "high as the printed values either. Those are [something else](submissions.md#the-printed-reliability).",
    )


def stability_table(shallow: Studies) -> str:
    """Error rates and ties with some topics."""

    def cell(s: Study, measure: str) -> str:
        found = s.stability
        return f"{percent(found.error_rate[measure][SIZE])} ({percent(found.tie_rate[measure][SIZE], 0)})"

    return table(HEAD, by_k(shallow, cell), words=2)


def mean_error(s: Study, measure: str, k: int) -> float:
    """The error rate, averaged over all numbers of topics."""
    return float(s.error_rates(name(measure, k)).mean())


def least_at_20(s: Study) -> bool:
    """Whether nDCG_min errs least at k = 20, on average over the numbers of topics."""
    return all(mean_error(s, "nDCG_min", 20) < mean_error(s, m, 20) for m in ("nDCG_org", "nDCG_0"))


def stability_in_words(shallow: Studies) -> str:
    """What the curves say."""
    falls = all(mean_error(s, m, 20) < mean_error(s, m, 5) for s in shallow.values() for m in ("nDCG_org", "nDCG_0"))
    ties = {m: shallow[2012].stability.tie_rate[name(m, 20)][SIZE] for m in GIENAPP}
    all_tie = [m for m, rates in shallow[2013].stability.tie_rate.items() if rates[shallow[2013].topics] == 1]
    return paragraph(
        says(
            all(least_at_20(s) for s in shallow.values()),
            "nDCG_min errs least at k = 20 in both years, as in the paper.",
            "nDCG_min does not err least at k = 20 in both years.",
        ),
        says(
            falls,
            "That the rates of nDCG_org and nDCG_0 grow with k, as the paper has it, is not seen: they fall.",
        ),
        "An absolute threshold of 0.05 is not the same for measures of different spread: with "
        f"{SIZE} topics of 2012 and k = 20, {percent(ties['nDCG_0'], 0)} of the pairs tie by nDCG_0, "
        f"{percent(ties['nDCG_min'], 0)} by nDCG_min, and a tie is not an error ([other readings](#other-readings)).",
        f"In 2013 all pairs tie with all topics by {len(all_tie)} of the {len(KS) * len(GIENAPP)} measures: no "
        "decision is left that could be right or wrong.",
    )


def sensitivity_table(shallow: Studies) -> str:
    """Pairs told apart."""

    def cell(s: Study, measure: str) -> str:
        test, sign = (found.curve([0.05])[measure][0] for found in s.sensitivity.values())
        return f"{percent(test, 0)} ({percent(sign, 0)})"

    return table(HEAD, by_k(shallow, cell), words=2)


def told_apart(s: Study, measure: str, k: int) -> float:
    """The share of pairs with a level below 0.05 by the test."""
    return float(s.sensitivity["sakai"].curve([0.05])[name(measure, k)][0])


def sensitivity_in_words(shallow: Studies) -> str:
    """What the curves say."""
    less = all(told_apart(shallow[2012], "nDCG_0", k) < told_apart(shallow[2012], "nDCG_min", k) for k in KS)
    apart = max(told_apart(shallow[2012], "nDCG_org", k) - told_apart(shallow[2012], "nDCG_min", k) for k in KS)
    most = max(told_apart(shallow[2013], m, k) for m in GIENAPP for k in KS)
    return paragraph(
        says(
            less,
            "In 2012 nDCG_0 tells fewer pairs apart than nDCG_org and nDCG_min at every k, as in the paper. Its curves "
            f"of these two are nearly the same; here nDCG_org is up to {number(100 * apart, 0)} points ahead.",
            "In 2012 nDCG_0 does not tell fewer pairs apart at every k.",
        ),
        f"In 2013 no measure tells more than {percent(most, 0)} of the {shallow[2013].pairs} pairs apart, at any k.",
    )
