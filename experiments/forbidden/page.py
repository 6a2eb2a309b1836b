"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.forbidden import figures
from experiments.forbidden.bounds import agreeing, bounds
from experiments.forbidden.carmel import MIN, ORG, ZERO, F, carmel, interval
from experiments.forbidden.choices import choices
from experiments.forbidden.claims import claims
from experiments.forbidden.gienapp import gienapp, undecided
from experiments.forbidden.penalty import Sweeps, about_filtering, filtered_first, penalty, sweeps
from experiments.forbidden.studies import CARMEL, GIENAPP, KS, YEARS, Study, at
from experiments.markdown import between, bullets, number, page, paragraph, says, word
from experiments.web_track.printed import TABLE_1, TABLE_3
from experiments.web_track.years import YEARS as ALL_YEARS
from experiments.web_track.years import Year, label
from ranksift import RankSiftWarning
from ranksift.study.presets import preset

NEEDS: tuple[str, ...] = ("trec_web_qrels", "trec_web_runs")
PAGE = "measures-with-forbidden-documents.md"


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    years = {year: Year(data, year) for year in ALL_YEARS}
    few = {year: years[year] for year in YEARS}
    with warnings.catch_warnings():
        # Two runs are copies of each other; the page says so.
        warnings.simplefilter("ignore", RankSiftWarning)
        deep = {of: Study(year, preset("forbidden-2022"), at([*CARMEL.values()], 500)) for of, year in few.items()}
        shallow = {of: Study(year, preset("negative-2020"), at([*GIENAPP], *KS)) for of, year in few.items()}
        found = sweeps(few)
        text = page(
            OPENING,
            in_short(years, deep, shallow, found),
            claims_section(deep, shallow),
            bounds(years, deep),
            carmel(deep),
            gienapp(shallow),
            choices(deep, shallow),
            penalty(found, few),
            made(shallow),
            figure="forbidden-stability-500.svg",
            fold=True,
        )
        return {
            PAGE: text,
            "forbidden-stability-500.svg": figures.stability_500(deep),
            "forbidden-sensitivity-500.svg": figures.sensitivity_500(deep),
            "forbidden-reliability.svg": figures.reliability(deep, shallow),
            "forbidden-stability-by-k.svg": figures.stability_by_k(shallow),
            "forbidden-sensitivity-by-k.svg": figures.sensitivity_by_k(shallow),
            "forbidden-penalties.svg": figures.penalties(
                [(f"{year}, k = {k}", sweep) for (year, k), sweep in found.items()]
            ),
        }


OPENING = """
# Measures with forbidden documents: two studies repeated

This page repeats two studies of measures for collections with forbidden documents. Gienapp et al. (2020) proposed
nDCG_min for collections with negative labels, Carmel et al. (2022) nDCG_f for systems that may also leave documents
out. Both argued with studies of their measures on the submissions to the TREC Web Track: which scores are bounded,
stable, sensitive and reliable. The submissions were not available, but some baselines were: ten runs of 2012 and six
of 2013. Both studies are repeated on these runs, with the papers' own settings, and the results are compared with
what the papers say.
"""


def in_short(years: dict[int, Year], deep: dict[int, Study], shallow: dict[int, Study], found: Sweeps) -> str:
    """What came out."""
    phi = {year: s.reliability.phi for year, s in deep.items()}
    gaps = {year: s.gap(F, MIN) for year, s in deep.items()}
    error = {year: {m: 100 * s.stability.error_rate[m][10] for m in (ORG, MIN, F, ZERO)} for year, s in deep.items()}
    return "**In short**\n\n" + bullets(
        paragraph(
            "**nDCG with negative gains fails at k = 500**, as Carmel et al. say: with 10 topics its decisions between "
            f"two runs are wrong in {between([e[ORG] for e in error.values()], 0)} % of cases (nDCG_f: "
            f"{between([e[F] for e in error.values()], 0)} %),",
            "its Φ is 0, and the bootstrap test distinguishes no two runs at 0.05."
            if all(s.sensitivity["sakai"].curve([0.05])[ORG][0] == 0 and phi[y][ORG] == 0 for y, s in deep.items())
            else "and its Φ is the lowest.",
        ),
        paragraph(
            "**nDCG_f is as stable and as sensitive as nDCG_min and more reliable**, as they say:",
            says(
                all(gap[1] > 0 for gap in gaps.values()),
                "Φ is higher by " + " and ".join(f"{interval(*g, sign=True)} in {y}" for y, g in gaps.items()) + ".",
                "but not surely so here.",
            ),
        ),
        says(
            phi[2013][ZERO] > phi[2013][F] and phi[2012][ZERO] < phi[2012][F],
            "**nDCG_0, which ignores spam, is not always worse**, which the papers do not show: in 2013, with "
            f"little spam and runs that differ in what they find, it is the most reliable (Φ = "
            f"{number(phi[2013][ZERO], 2)} against {number(phi[2013][F], 2)} of nDCG_f); in 2012 it is not "
            f"({number(phi[2012][ZERO], 2)} against {number(phi[2012][F], 2)}).",
        ),
        says(
            undecided(shallow[2012]),
            "**Gienapp et al.'s order of reliability is not found here**: at k ≤ 20 in 2012 nDCG_org and nDCG_min "
            "cannot be told apart, and nDCG_0 is far behind because these runs differ in spam. In 2013 the six runs "
            "are too alike in their first 20 documents for any measure.",
        ),
        says(
            len(agreeing(years, 10)) == 4,
            "**Their Table 2a** comes out in the first column for all five years; in the second column at k = 10 "
            "for four of them, not at the depths of 20 and 15 that the text names.",
        ),
        says(
            filtered_first(found[2012, 500], 2.0) and filtered_first(found[2012, 500], 100.0),
            "**The price of a forbidden document** matters little in 2012 once there is one: from "
            f"{number(max(s.penalty for s in found[2012, 500].swaps if about_filtering(s)), 1)} to 100 the filtered "
            "runs are ahead at k = 500. In 2013 a high price makes nDCG_f blunt: of 15 pairs "
            f"{found[2013, 500].significant[0]} differ significantly at 0 and {found[2013, 500].significant[-1]} at "
            "100.",
        ),
    )


def claims_section(deep: dict[int, Study], shallow: dict[int, Study]) -> str:
    """Section: all claims in one table."""
    return f"""
## What the papers say, and what these runs show

{claims(deep, shallow)}

Several numbers are those of the measures in the order in which the claim names them; where it names one, of nDCG_min,
nDCG_org and nDCG_0. All are explained below. "No" means on these runs: ten and six baselines cannot refute what was
found on {_submissions(TABLE_3, 2)} submissions (Carmel et al.) or {_submissions(TABLE_1, 0)} (Gienapp et al.).
"""


def _submissions(printed: Mapping[int, Any], column: int) -> str:
    return " and ".join(str(printed[year][column]) for year in YEARS)


def made(shallow: dict[int, Study]) -> str:
    """Section: how to repeat this, and why it can differ from the papers."""
    notes = sorted({note for s in shallow.values() for note in s.stability.notes})
    copies = [run for run in shallow[2012].year.names if any(repr(run) in note for note in notes)]
    return f"""
## How this was made, and what cannot be said

```
python -m experiments.forbidden        # make experiments runs it too
```

The data are the judgments and runs of [the page on spam filtering](web-track.md#what-was-used-and-what-cannot-be-said),
where their sources are named. Settings are those of
`ranksift.study.presets.preset("forbidden-2022")` and `preset("negative-2020")`; the procedures are `stability`,
`sensitivity`, `reliability`, `agreement`, `boundedness` and `penalty_sweep` of `ranksift.study` with their defaults.
Samples are drawn from seed 0. The same from the command line:

```
ranksift study QRELS RUN... --preset forbidden-2022 --out DIR
```

- **Few runs**: {_counts(shallow)}. In 2012 eight of the ten are four rankings of one engine, each with and without a
  spam filter, and in 2013 four of six are two. Most of what is found here is about filtered against unfiltered.
  Intervals are over topics; over other runs they would be wider.
- **Copies.** {_copies(copies)}
- **Baselines only.** Runs submitted by different groups differ more, which makes measures more reliable and sensitive
  ([an example](#reliability-table-2d)).
- **Unjudged documents are dropped**, as in the papers. The baselines were judged to different depths, so that this
  changes more here than for submissions that were pooled.
- **2010, 2011 and 2014** have one or two runs each. For these years only results that depend on the judgments alone
are shown.

D. Carmel, N. Cohen, A. Ingber, E. Kravi: IR evaluation and learning in the presence of forbidden documents. SIGIR 2022.

L. Gienapp, M. Fröbe, M. Hagen, M. Potthast: The impact of negative relevance judgments on NDCG. CIKM 2020.
"""


def _counts(shallow: dict[int, Study]) -> str:
    return " and ".join(f"{word(len(s.year.runs))} in {year}" for year, s in shallow.items())


def _copies(copies: list[str]) -> str:
    named = " and ".join(label(run) for run in copies)
    return says(
        len(copies) == 2,
        f"{named} score the same in every topic of 2012 at k ≤ 20: there their pair can only tie, and there are nine "
        "different runs.",
        "No two runs are equal at k ≤ 20.",
    )
