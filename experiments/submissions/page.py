"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from experiments.markdown import between, bullets, number, page, paragraph, percent, says, table, word
from experiments.submissions import figures
from experiments.submissions.printed import PHI_NDCG_0_AT_20
from experiments.submissions.program import the_printed_reliability
from experiments.submissions.years import (
    ALPHA,
    ERROR,
    HALF_SAMPLES,
    HALVES,
    MEASURES,
    PHI,
    SIZE,
    YEARS,
    Year,
    agreement_of_years,
    best,
    places,
)
from experiments.web_track.printed import TABLE_3

NEEDS: tuple[str, ...] = ("trec_web_pertopic_scores", "trec_web_qrels", "trec_web_runs")

Years = Mapping[int, Year]

OTHERS = [measure for measure in MEASURES if measure != "AP"]
CRITERIA = ("stability", "stability, relative", "sensitivity", "reliability")


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    years = {year: Year(data, year) for year in YEARS}
    text = page(
        OPENING,
        in_short(years),
        the_tables(years),
        stability(years),
        sensitivity(years),
        reliability(years),
        discrimination(years),
        agreement(years),
        the_order_of_measures(years),
        beside_the_papers(years),
        the_printed_reliability(years, data),
        HOW,
        figure="submissions-stability.svg",
        fold=True,
    )
    return {
        "submissions.md": text,
        "submissions-stability.svg": figures.stability(years),
        "submissions-sensitivity.svg": figures.sensitivity(years),
        "submissions-reliability.svg": figures.reliability(years),
    }


OPENING = """
# Six measures on the submissions to the TREC Web Track

This page shows how stable, sensitive and reliable AP, nDCG@20, ERR@20, P@20, P@10 and RR are on 30 to 88 real
systems. Urbano and Nagler (2018) published what the submissions to the Web Track's ad hoc task scored on each topic,
2010–2014. There are no rankings, only scores, and scores are enough for this.

This page is written by

```
python -m experiments.submissions        # make experiments runs it too
```

With these tables you can repeat the analysis, as a page with tables and figures or in Python:

```
ranksift study --scores AP=web2012_ap.csv --scores nDCG@20=web2012_ndcg20.csv --scores RR=web2012_rr.csv --out study
```

```
import ranksift as rs
from ranksift import study
scores = rs.read_scores({"AP": "web2012_ap.csv", "nDCG@20": "web2012_ndcg20.csv", "RR": "web2012_rr.csv"})
print(study.stability(scores), study.sensitivity(scores), study.reliability(scores), sep="\\n\\n")
```
"""


# -- conclusions -----------------------------------------------------------------------------------------------


def every(years: Years, of: Callable[[Year], Mapping[str, float]], measures: Iterable[str] = MEASURES) -> list[float]:
    """The values of some measures in all years."""
    chosen = list(measures)
    return [of(year)[measure] for year in years.values() for measure in chosen]


def shares(values: Iterable[float], digits: int = 0) -> str:
    """The range of some shares, in percent."""
    ordered = sorted(values)
    low, high = (number(100 * share, digits) for share in (ordered[0], ordered[-1]))
    return f"{low} %" if low == high else f"{low} to {high} %"


def error(year: Year) -> dict[str, float]:
    """Error rates with some topics."""
    return {m: rates[SIZE] for m, rates in year.stability.error_rate.items()}


def needed_for_error(year: Year) -> dict[str, float]:
    """Topics from which on few enough decisions are wrong."""
    needed = {m: n for m, n in year.stability.topics_needed(ERROR).items() if n is not None}
    return {m: float(needed.get(m, np.inf)) for m in MEASURES}


def needed_for_phi(year: Year) -> dict[str, float]:
    """Topics for a high Φ."""
    return {m: float(n if n is not None else np.inf) for m, n in year.reliability.topics_needed(PHI).items()}


def topics(values: Iterable[float]) -> str:
    """A range of numbers of topics."""
    return between(values, 0)


def always_first(years: Years, measure: str = "AP") -> bool:
    """Whether a measure is the best in every year, by every criterion."""
    return all(best(year, criterion) == measure for year in years.values() for criterion in CRITERIA)


def last(year: Year, criterion: str) -> str:
    """The worst measure of a year."""
    worth = year.worth[criterion]
    return min(worth, key=lambda measure: worth[measure])


def told_apart(year: Year) -> Mapping[str, float]:
    """Shares of pairs."""
    return year.told_apart


def phi(year: Year) -> Mapping[str, float]:
    """Reliability."""
    return year.reliability.phi


def in_short(years: Years) -> str:
    """Section: conclusions."""
    return "## In short\n\n" + bullets(
        _first_of_all(years),
        _on_halves(years),
        _last_of_all(years),
        _topics_in_short(years),
        _right_or_reliable(years),
        _orders_in_short(years),
        _fuzziness_in_short(years),
        "The Φ that Gienapp et al. (2020) print for nDCG_0@20 is [far above](#beside-the-papers) what their formula "
        "gives here. Their program computes [something else](#the-printed-reliability), which grows with the mean "
        "score and is near 1 for random numbers.",
    )


def _first_of_all(years: Years) -> str:
    return says(
        always_first(years),
        "**AP is the most stable, the most sensitive and the most reliable of the six, in all five years.** "
        f"With {SIZE} topics it decides {shares(every(years, error, ['AP']), 1)} of comparisons wrongly, the others "
        f"{shares(every(years, error, OTHERS), 1)}. It tells {shares(every(years, told_apart, ['AP']))} of pairs of "
        f"systems apart, the others {shares(every(years, told_apart, OTHERS))}. Its Φ is "
        f"{between(every(years, phi, ['AP']), 2)}, theirs {between(every(years, phi, OTHERS), 2)}.",
    )


def _on_halves(years: Years) -> str:
    leads = [year.first_on_halves["reliability"]["AP"] / HALVES for year in years.values()]
    doubtful = [year for year in years.values() if year.first_on_halves["sensitivity"]["AP"] < HALVES / 2]
    exceptions = []
    for year in doubtful:
        order = year.first_on_halves["sensitivity"].most_common(2)
        found = ", ".join(f"{measure} is the most sensitive on {count} of {HALVES} halves" for measure, count in order)
        exceptions.append(f"In sensitivity it does not hold in {year.year}: {found}, {_after_holm(year)}.")
    return paragraph(
        f"The lead does not depend on a few topics: AP has the highest Φ on {shares(leads)} of random halves of a "
        "year's.",
        *exceptions,
    )


def _after_holm(year: Year) -> str:
    rival = max(MEASURES, key=lambda m: year.corrected.significant[m])
    own, other = (percent(year.corrected.significant[m] / year.pairs, 0) for m in ("AP", rival))
    return (
        "and after a correction for many tests AP is ahead"
        if rival == "AP"
        else f"and after a correction for many tests {rival} finds {other} of pairs different, AP {own}"
    )


def _last_of_all(years: Years) -> str:
    lowest = all(last(year, "sensitivity") in ("RR", "ERR@20") for year in years.values())
    return says(
        all(last(year, "stability") == "RR" for year in years.values()),
        f"**RR is the least stable in every year**{', and RR or ERR@20 tells the fewest pairs apart' * lowest}: "
        "only the very top of the list decides.",
    )


def _topics_in_short(years: Years) -> str:
    most = max(year.topics for year in years.values())
    return says(
        min(every(years, needed_for_phi)) > most,
        f"**{most} topics are too few for Φ ≥ {PHI}, by any measure in any year.** AP needs "
        f"{topics(every(years, needed_for_phi, ['AP']))}, the others {topics(every(years, needed_for_phi, OTHERS))}. "
        f"To be wrong in {percent(ERROR, 0)} of decisions between two systems takes fewer: "
        f"{topics(every(years, needed_for_error, ['AP']))} by AP, "
        f"{topics(every(years, needed_for_error, ['nDCG@20']))} by nDCG@20, "
        f"{topics(every(years, needed_for_error, ['RR']))} by RR.",
    )


def _right_or_reliable(years: Years) -> str:
    tau = {m: [year.agreement.tau_b["AP"][m] for year in years.values()] for m in ("nDCG@20", "RR")}
    counts = {year.year: (year.opposite("AP", "ERR@20"), year.pairs) for year in years.values()}
    worst = max(counts, key=lambda y: counts[y][0] / counts[y][1])
    n, pairs = counts[worst]
    return paragraph(
        "**A reliable measure is not necessarily right.** AP looks at whole lists, the others at the first 10 or "
        "20 documents or "
        "at the first relevant one, and they reward different systems.",
        f"Kendall's τ_b between the orders of AP and nDCG@20 is {between(tau['nDCG@20'], 2)}, of AP and RR "
        f"{between(tau['RR'], 2)}.",
        f"At worst, in {worst}, {percent(n / pairs)} of pairs ({n} of {pairs:,}) differ significantly by both AP and "
        "ERR@20, each in favour of the other system.",
        "If the top of the list matters, AP's reliability is no reason to use AP.",
    )


def _orders_in_short(years: Years) -> str:
    mean = {c: float(np.mean(agreement_of_years(years, c))) for c in CRITERIA}
    steady = [mean[c] for c in CRITERIA if c != "reliability"]
    return paragraph(
        says(
            min(steady) > 0.7 and mean["reliability"] < 0.5,
            "**Stability and sensitivity order the measures much alike every year, reliability does not.**",
        ),
        f"Between the orders of the six in two years τ_b is {between(steady, 2)} on average by the first two, "
        f"{number(mean['reliability'], 2)} by Φ (1 is the same order, 0 is none in common).",
    )


def _fuzziness_in_short(years: Years) -> str:
    absolute, relative = (
        _listed(str(places(year.worth[criterion])["ERR@20"]) for year in years.values())
        for criterion in ("stability", "stability, relative")
    )
    return (
        "**An absolute fuzziness favours measures with small values.** ERR@20, whose means are "
        f"{between([year.level['ERR@20'] for year in years.values()], 2)}, takes the places {absolute} in stability "
        f"where differences up to 0.01 are ties, and {relative} where differences up to 5 % are. Read error rates "
        "together with tie rates."
    )


def _listed(words: Iterable[str]) -> str:
    *most, final = list(words)
    return f"{', '.join(most)} and {final}" if most else final


# -- sections -----------------------------------------------------------------------------------------------------


def by_year(years: Years, cell: Callable[[Year, str], str]) -> str:
    """One row per measure, one column per year."""
    rows = [[measure, *(cell(year, measure) for year in years.values())] for measure in MEASURES]
    return table(["measure", *map(str, years)], rows)


def bold(text: str, year: Year, criterion: str, measure: str) -> str:
    """Bold where the measure is the best."""
    return f"**{text}**" if places(year.worth[criterion])[measure] == 1 else text


def the_tables(years: Years) -> str:
    """Section: what there is."""
    rows = [
        [str(y), str(year.systems), str(year.topics), f"{year.pairs:,}", str(year.copies)] for y, year in years.items()
    ]
    return f"""
## The tables

{table(["year", "systems", "topics", "pairs of systems", "copies"], rows)}

A copy has the same values as another system on every topic by every measure: the same run submitted twice, or two
runs that differ only where the measures do not look. Such a pair can only tie. Copies are kept; they affect all
measures alike. The mean over all systems and topics shows the typical size of a measure's values:

{by_year(years, lambda year, m: number(year.level[m], 3))}
"""


def stability(years: Years) -> str:
    """Section: error rates."""

    def cell(of: str) -> Callable[[Year, str], str]:
        def written(year: Year, m: str) -> str:
            found = year.stability if of == "stability" else year.relative
            return bold(percent(found.error_rate[m][SIZE]), year, of, m) + f" ({percent(found.tie_rate[m][SIZE], 0)})"

        return written

    def needed(year: Year, m: str) -> str:
        absolute, relative = (found.topics_needed(ERROR)[m] for found in (year.stability, year.relative))
        return " / ".join("never" if n is None else str(n) for n in (absolute, relative))

    return f"""
## Stability

![Error rate by number of topics, five years](submissions-stability.svg)

How often would another set of topics lead to the opposite decision? Error rate with {SIZE} topics, at most half of
what there is, in brackets the share of ties: 200 topic sets of each size, differences up to 0.01 are ties (as in
Carmel et al. 2022).

{by_year(years, cell("stability"))}

The same where a difference of up to 5 % of the larger value is a tie:

{by_year(years, cell("stability, relative"))}

Topics from which on at most {percent(ERROR, 0)} of decisions are wrong, absolute / relative fuzziness. Topic sets of
more than half of all topics overlap, so that numbers above {SIZE} are too small.

{by_year(years, needed)}
"""


def sensitivity(years: Years) -> str:
    """Section: pairs told apart."""
    difference = {y: year.sensitivity.difference_needed(ALPHA) for y, year in years.items()}
    return f"""
## Sensitivity

![Share of pairs told apart by significance level, five years](submissions-sensitivity.svg)

Share of pairs of systems with an achieved significance level below {ALPHA}, by Sakai's paired bootstrap test with 1000
samples, and in brackets the difference of two means that is significant whichever two systems they are of:

{by_year(years, lambda year, m: bold(percent(year.told_apart[m]), year, "sensitivity", m)
         + f" ({number(difference[year.year][m] or 0, 3)})")}
"""  # fmt: skip


def reliability(years: Years) -> str:
    """Section: Φ."""

    def with_interval(year: Year, m: str) -> str:
        low, high = year.reliability.phi_interval[m]
        own = bold(number(year.reliability.phi[m], 3), year, "reliability", m)
        return f"{own} [{number(low, 2)}, {number(high, 2)}]"

    def parts(m: str) -> list[str]:
        every_year = [np.array(year.reliability.components[m]) for year in years.values()]
        split = np.array([c / c.sum() for c in every_year])
        return [shares(split[:, i]) for i in range(3)]

    return f"""
## Reliability

![Φ by number of topics, five years](submissions-reliability.svg)

Φ with its 95 % interval over topics: the share of the variance of mean scores that is the systems' own.

{by_year(years, with_interval)}

Eρ² leaves out how hard the topics are, which is the same for all systems: it is about their differences only.

{by_year(years, lambda year, m: number(year.reliability.rho2[m], 3))}

Topics needed for Φ ≥ {PHI}:

{by_year(years, lambda year, m: topics([needed_for_phi(year)[m]]))}

Where the variance of single scores comes from, the range over the five years:

{table(["measure", "systems", "topics", "their interaction"], [[m, *parts(m)] for m in MEASURES])}
"""


def discrimination(years: Years) -> str:
    """Section: significant pairs."""

    def cell(year: Year, m: str) -> str:
        corrected, plain = (found.significant[m] / year.pairs for found in (year.corrected, year.uncorrected))
        return f"{percent(corrected)} ({percent(plain)})"

    return f"""
## Discrimination

Share of pairs that a paired t-test finds different, p ≤ {ALPHA}, with Holm's correction for the number of pairs, and in
brackets without one. Most pairs that are significant one by one are no longer when all are looked at.

{by_year(years, cell)}
"""


def agreement(years: Years) -> str:
    """Section: do the measures agree about the systems."""
    rows = []
    for a, b in combinations(MEASURES, 2):
        cells = [f"{number(year.agreement.tau_b[a][b], 2)} ({year.opposite(a, b)})" for year in years.values()]
        rows.append([a, b, *cells])
    return f"""
## Agreement

Kendall's τ_b between the orders of the systems by two measures, and in brackets the number of pairs of systems that
differ significantly by both (t-test, p ≤ {ALPHA}, no correction), each in favour of the other system:

{table(["measure", "other", *map(str, years)], rows, words=2)}

{_agreement_in_words(years)}
"""


def _agreement_in_words(years: Years) -> str:
    mean = {
        (a, b): float(np.mean([year.agreement.tau_b[a][b] for year in years.values()]))
        for a, b in combinations(MEASURES, 2)
    }
    low, high = min(mean, key=lambda p: mean[p]), max(mean, key=lambda p: mean[p])
    return paragraph(
        f"Most alike are {high[0]} and {high[1]} (τ_b {number(mean[high], 2)} on average), least {low[0]} and {low[1]} "
        f"({number(mean[low], 2)}).",
        says(
            mean["ERR@20", "RR"] > mean["AP", "ERR@20"] and mean["AP", "P@20"] > mean["P@20", "RR"],
            "ERR@20 is closer to RR than to AP, P@20 is closer to AP than to RR: what separates the measures is how "
            "deep they look.",
        ),
    )


def the_order_of_measures(years: Years) -> str:
    """Section: is the best measure of one year the best of the next."""
    rows = []
    for criterion in CRITERIA:
        place = [places(year.worth[criterion]) for year in years.values()]
        tau = agreement_of_years(years, criterion)
        cells = [" ".join(str(p[m]) for p in place) for m in MEASURES]
        rows.append([criterion, *cells, f"{number(float(np.mean(tau)), 2)} ({between(tau, 2)})"])
    halves = [
        [criterion, str(y), *(str(year.first_on_halves[criterion][m]) for m in MEASURES)]
        for criterion in ("reliability", "sensitivity")
        for y, year in years.items()
    ]
    return f"""
## Does the order of the measures hold from year to year?

Places of the measures in 2010, 2011, 2012, 2013 and 2014, and τ_b between the orders of the measures in two years: the
mean, and the range over the ten pairs of years.

{table(["criterion", *MEASURES, "τ_b"], rows)}

{_order_in_words(years)}

How often each measure is the best on {HALVES} random halves of a year's topics ({HALF_SAMPLES} bootstrap samples each
for sensitivity):

{table(["criterion", "year", *MEASURES], halves, words=2)}
"""


def _order_in_words(years: Years) -> str:
    reach = [
        sum(year.reliability.phi_interval[m][1] > year.reliability.phi_interval["AP"][0] for m in OTHERS)
        for year in years.values()
    ]
    mixed = all(
        min(year.reliability.phi_interval[m][1] for m in OTHERS) > max(year.reliability.phi[m] for m in OTHERS)
        for year in years.values()
    )
    return paragraph(
        says(always_first(years), "AP is first throughout."),
        says(
            all(last(year, "stability") == "RR" for year in years.values()),
            "RR is last in stability throughout, where ties are differences up to 0.01.",
        ),
        says(mixed, "Behind AP every interval of Φ reaches the second best: their order by Φ means little."),
        f"Into AP's interval reach those of {_listed(word(n) for n in reach)} of the five others in the five years.",
    )


def beside_the_papers(years: Years) -> str:
    """Section: what the papers print of the same years."""
    runs = [
        [str(y), str(year.systems), str(TABLE_3[y][2]), str(year.topics), str(TABLE_3[y][0])]
        for y, year in years.items()
    ]
    rows = []
    for y, printed in PHI_NDCG_0_AT_20.items():
        found = years[y].reliability
        low, high = found.phi_interval["nDCG@20"]
        here = f"{number(found.phi['nDCG@20'], 3)} [{number(low, 2)}, {number(high, 2)}]"
        rho2, more = number(found.rho2["nDCG@20"], 3), str(found.topics_needed(printed)["nDCG@20"])
        rows.append([str(y), f"{printed:.3f}", here, rho2, more])
    return f"""
## Beside the papers

Carmel et al. (2022) and Gienapp et al. (2020) study the same years, with measures that need the rankings: nDCG_org,
nDCG_min and nDCG_f cannot be computed from these tables. The former, and the program of the latter,
drop unjudged documents, which the official scores count as not relevant. Nor are the runs quite the same: Carmel et al.
count others in three of the years (their Table 3), and the program that Gienapp et al. published leaves out runs with
fewer than 20 judged documents on some topic, and one topic.

{table(["year", "systems here", "runs in Carmel et al.", "topics here", "topics in Carmel et al."], runs)}

Carmel et al. show stability, sensitivity and reliability as curves and bars without numbers. What can be compared is
Gienapp et al.'s Φ of nDCG_0@20 (Table 2d) and that of the official nDCG@20 here, which ignores negative labels
too, with exponential instead of linear gains:

{table(["year", "printed Φ of nDCG_0@20", "Φ of nDCG@20", "Eρ²", "topics for the printed Φ"], rows)}

{_printed_in_words(years)}

{_curves_in_words(years)}
"""


def _printed_in_words(years: Years) -> str:
    found = {y: years[y].reliability for y in PHI_NDCG_0_AT_20}
    beyond = all(
        printed > max(found[y].phi_interval["nDCG@20"][1], found[y].rho2["nDCG@20"])
        for y, printed in PHI_NDCG_0_AT_20.items()
    )
    return says(
        beyond,
        "The printed values lie above the intervals, and above Eρ²: the paper's own formula would give them with "
        "several times as many topics of this kind. They are [something else](#the-printed-reliability).",
        "The printed values are within reach.",
    )


def _curves_in_words(years: Years) -> str:
    first, then = (
        shares([year.stability.error_rate["nDCG@20"][size] for year in years.values()], 1) for size in (2, SIZE)
    )
    return (
        "What does agree with both papers: error rates fall as topic sets grow, for every measure and year; those of "
        f"nDCG@20 from {first} with 2 topics to {then} with {SIZE}, by the fuzziness of Carmel et al. That AP is more "
        "stable than precision at a fixed depth is what Buckley and Voorhees (2000) reported on older collections."
    )


HOW = """
## How it was made

- Data: `web{2010..2014}_{ap,ndcg20,err20,p20,p10,rr}.csv` of julian-urbano/sigir2018-simulation (J. Urbano and T.
  Nagler, Stochastic simulation of test collections, SIGIR 2018; CC BY-SA 4.0), read by `ranksift.read_scores`. Systems
  are anonymous, topics have no numbers: a row is a topic. `RANKSIFT_DATA` names the folder that holds
  `trec_web_pertopic_scores`. The runs and judgments of [the Web Track](web-track.md) serve for the printed reliability.
- `study.stability`: 200 topic sets of each size from 2 to all, fuzziness 0.01 absolute, then 0.05 relative; counting
  trials.
- `study.sensitivity`: Sakai's shifted, studentised bootstrap, 1000 samples. `study.reliability`: intervals from 1000
  resamples of topics; systems are held fixed. `study.discrimination`: paired t-test, without and with Holm's
  correction. `study.agreement`: orders of the systems' means.
- Seed 0 throughout.
- These tables do not say which system is which, which topic is which, measures with forbidden documents. A
  group submits several runs, so that pairs are not independent of each other; intervals are over topics only.
"""
