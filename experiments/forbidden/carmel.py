"""Carmel et al.'s study: k = 500, a forbidden document costs 10."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from experiments.forbidden.studies import CARMEL, Study
from experiments.markdown import between, number, paragraph, percent, says, table, word
from ranksift import study

#: Sizes of topic sets that the table shows.
SIZES = (5, 10, 25, 40)
LEVELS = (0.01, 0.05, 0.1)

Studies = Mapping[int, Study]

#: The measures by their headings, with their k.
NAMES = {heading: f"{name}@500" for heading, name in CARMEL.items()}
F, MIN, ORG, ZERO = NAMES["nDCG_f"], NAMES["nDCG_min"], NAMES["nDCG_org"], NAMES["nDCG_0 exp"]


def carmel(deep: Studies) -> str:
    """Section: stability, sensitivity, reliability and agreement."""
    return f"""
## Carmel et al.'s setting

k = 500, the label −2 has gain −10, unjudged documents are dropped. In RankSift: the preset `forbidden-2022`.
`nDCG_org` is what the paper calls nDCG, `nDCG_0 exp` the track's own measure with max(0, 2^l − 1), which the paper does
not study. Its Figures 1 to 3 are not given in numbers, so the numbers here can only be compared with its text.

### Stability

![Error rate by number of topics, 2012 and 2013, four measures](forbidden-stability-500.svg)

Error rate with 200 samples of each number of topics; differences up to 0.01 are ties.

{stability_table(deep)}

{stability_in_words(deep)}

### Sensitivity

![Share of pairs told apart by significance level, two readings, 2012 and 2013](forbidden-sensitivity-500.svg)

Share of the {" and ".join(f"{s.pairs} pairs of {year}" for year, s in deep.items())} whose achieved significance level
is below α, with 1000 samples. The paper cites Sakai's bootstrap test, and describes in words the share of samples in
which the sign of the difference changes. The last column is the difference of two runs that the test needs for α =
0.05.

{sensitivity_table(deep)}

{sensitivity_in_words(deep)}

### Reliability

![The coefficient Φ of each measure with its interval](forbidden-reliability.svg)

Shares of variance that are the runs', the topics' and their interaction's; Φ and Eρ² with 95 % intervals over topics.

{reliability_table(deep)}

{reliability_in_words(deep)}

### Agreement of the orders

Kendall's τ_b, Spearman's ρ, and the share of pairs of runs in opposite order.

{agreement_table(deep)}

{agreement_in_words(deep)}
"""


def stability_table(deep: Studies) -> str:
    """Error rates at some sizes."""
    rows = []
    for year, s in deep.items():
        for heading, name in NAMES.items():
            rates, needed = s.stability.error_rate[name], s.stability.topics_needed(0.05)[name]
            cells = [percent(rates[size]) for size in SIZES]
            rows.append([str(year), heading, *cells, percent(s.stability.tie_rate[name][25]), str(needed or "-")])
    head = ["year", "measure", *(f"{size} topics" for size in SIZES), "ties, 25 topics", "topics for 5 %"]
    return table(head, rows, words=2)


def stability_in_words(deep: Studies) -> str:
    """What the curves say."""
    lower = all((s.error_rates(m) < s.error_rates(ORG)).all() for s in deep.values() for m in (F, MIN))
    apart = {year: s.error_rates(F) - s.error_rates(MIN) for year, s in deep.items()}
    deviation = max(d for s in deep.values() for m in NAMES.values() for d in s.stability.standard_error[m].values())
    zero = {year: s.error_rates(ZERO) - s.error_rates(F) for year, s in deep.items()}
    org = [s.stability.error_rate[ORG][25] for s in deep.values()]
    return paragraph(
        says(
            lower,
            "nDCG_f and nDCG_min err less than nDCG_org with every number of topics in both years, as in the paper.",
            "nDCG_f and nDCG_min do not always err less than nDCG_org.",
        ),
        f"nDCG_org is wrong in {between([100 * rate for rate in org], 0)} % of cases even with 25 topics. "
        "That its rate falls in the end is not a merit, because samples of more than half of all topics share topics.",
        says(
            all((d <= 0.005).all() for d in apart.values()),
            "nDCG_f is at least as stable as nDCG_min: nowhere more than half a point above it, and up to "
            f"{number(-100 * min(d.min() for d in apart.values()), 1)} points below, with more ties.",
        ),
        says(
            bool((zero[2012] > 0).mean() > 0.9 and (zero[2013] <= 0).mean() > 0.9),
            "nDCG_0 is less stable than nDCG_f in 2012 and more stable in 2013: there the runs differ in how many "
            "relevant documents they find more than in spam.",
        ),
        f"The standard error of a rate, over samples, is at most {number(100 * deviation, 1)} points.",
    )


def sensitivity_table(deep: Studies) -> str:
    """Pairs told apart at three levels."""
    rows = []
    for year, s in deep.items():
        needed = s.sensitivity["sakai"].difference_needed(0.05)
        for heading, name in NAMES.items():
            shares = [percent(v, 0) for found in s.sensitivity.values() for v in found.curve(LEVELS)[name]]
            rows.append([str(year), heading, *shares, number(needed[name] or 0.0, 3)])
    words = {"sakai": "test", "sign": "sign"}
    head = ["year", "measure", *(f"{words[method]} {level:g}" for method in words for level in LEVELS), "difference"]
    return table(head, rows, words=2)


def sensitivity_in_words(deep: Studies) -> str:
    """What the curves say."""
    alphas = [i / 400 for i in range(2, 81)]
    curves = {(year, method): s.curve(alphas) for year, both in deep.items() for method, s in both.sensitivity.items()}
    lower = all((c[ORG] < c[m]).all() for c in curves.values() for m in (F, MIN))
    apart = {
        year: round(s.pairs * max(float(abs(c[F] - c[MIN]).max()) for (of, _), c in curves.items() if of == year))
        for year, s in deep.items()
    }
    named = " and ".join(f"{word(n)} of {deep[year].pairs} pairs in {year}" for year, n in apart.items())
    tests = [curves[year, "sakai"] for year in deep]
    return paragraph(
        says(
            lower,
            "nDCG_org tells far fewer pairs apart at every level up to 0.2, in both years and both readings, as in the "
            "paper.",
            "nDCG_org does not always tell fewer pairs apart.",
        ),
        f"nDCG_f and nDCG_min are about equal, as in the paper: at no level do they differ by more than {named}.",
        says(
            bool((tests[0][ZERO] < tests[0][F]).all() and (tests[1][ZERO] >= tests[1][F]).all()),
            "nDCG_0 tells fewer pairs apart than nDCG_f in 2012 and no fewer in 2013.",
        ),
        "The reading in words finds more pairs than the test: it is about half of a two-sided level.",
    )


def reliability_table(deep: Studies) -> str:
    """Components and coefficients."""
    rows = []
    for year, s in deep.items():
        needed = s.reliability.topics_needed(0.95)
        for heading, name in NAMES.items():
            parts = s.reliability.components[name]
            rows.append(
                [
                    str(year),
                    heading,
                    *(percent(part / sum(parts), 0) for part in parts),
                    interval(s.reliability.phi[name], *s.reliability.phi_interval[name]),
                    interval(s.reliability.rho2[name], *s.reliability.rho2_interval[name]),
                    f"{needed[name]:,}" if needed[name] else "-",
                ]
            )
    head = ["year", "measure", "runs", "topics", "interaction", "Φ", "Eρ²", "topics for Φ = 0.95"]
    return table(head, rows, words=2)


def interval(value: float, low: float, high: float, sign: bool = False) -> str:
    """A number with its interval."""
    return f"{number(value, 3, sign)} ({number(low, 2, sign)} to {number(high, 2, sign)})"


def reliability_in_words(deep: Studies) -> str:
    """Who is more reliable, and how surely."""
    gaps = {year: s.gap(F, MIN) for year, s in deep.items()}
    phi = {year: s.reliability.phi for year, s in deep.items()}
    named = " and ".join(f"{interval(*gap, sign=True)} in {year}" for year, gap in gaps.items())
    return paragraph(
        says(
            all(p[ORG] == min(p.values()) for p in phi.values()),
            "nDCG_org is the least reliable in both years: its estimated variance of runs is not above 0.",
            "nDCG_org is not the least reliable in both years.",
        ),
        says(
            all(gap[1] > 0 for gap in gaps.values()),
            f"nDCG_f is more reliable than nDCG_min, as in the paper: the difference of Φ is {named}. These intervals "
            "are by leaving out one topic at a time; both measures see the same topics, so that the difference is "
            "surer than the intervals of each suggest.",
            f"Whether nDCG_f is more reliable than nDCG_min is not sure: the difference of Φ is {named}.",
        ),
        says(
            phi[2013][ZERO] > phi[2013][F] and phi[2012][ZERO] < phi[2012][MIN],
            f"In 2013 nDCG_0 is more reliable than both ({number(phi[2013][ZERO], 2)}), in 2012 far less "
            f"({number(phi[2012][ZERO], 2)}). The reliability of a measure depends on how the runs differ.",
        ),
    )


def agreement_table(deep: Studies) -> str:
    """A row for every two measures."""
    rows = []
    for (one, a), (two, b) in combinations(NAMES.items(), 2):
        cells = []
        for s in deep.values():
            found = s.agreement
            cells += [number(x[a][b], 2) for x in (found.tau_b, found.spearman)]
            cells.append(percent(found.swap_rate[a][b], 0))
        rows.append([one, two, *cells])
    head = ["", "", *(f"{what}, {year}" for year in deep for what in ("τ_b", "ρ", "opposite"))]
    return table(head, rows, words=2)


def agreement_in_words(deep: Studies) -> str:
    """Which orders agree."""
    same = all(s.agreement.tau[MIN][F] == 1 for s in deep.values())
    against = all(s.agreement.tau[ORG][F] < 0 for s in deep.values())
    year = deep[2012].year
    at_20 = study.agreement(year.evaluate(["nDCG_org@20", "nDCG_f@20"])).tau_b["nDCG_org@20"]["nDCG_f@20"]
    positive = bool((year.bounds(20)["I"] >= 0).all())
    return paragraph(
        says(same, "nDCG_f and nDCG_min put the runs into the same order in both years."),
        says(
            against,
            "nDCG_org puts more pairs against nDCG_f than with it: topics with a negative ideal turn its order around.",
        ),
        says(
            positive and at_20 == 1,
            "At k = 20, where no ideal of 2012 is negative, both have the same order of that year's runs.",
        ),
        says(
            deep[2012].agreement.tau[ZERO][F] < 0.5 and deep[2013].agreement.tau[ZERO][F] == 1,
            "nDCG_0 has the order of nDCG_f in 2013 and another one in 2012, where filtered and unfiltered runs are "
            "four pairs of ten runs.",
        ),
    )
