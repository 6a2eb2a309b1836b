"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

from pathlib import Path

from experiments.markdown import between, bullets, number, page, paragraph, percent, says
from experiments.web_track import figures
from experiments.web_track.bounds import STEPS, leaving_the_bounds, shares_by_k
from experiments.web_track.filtering import (
    Years,
    changes_by_heading,
    choices,
    empty_list,
    equal,
    milder,
    nothing_at_all,
    orders,
    other_years,
    plain_and_filtered,
    the_runs,
    year_2012,
    year_2013,
)
from experiments.web_track.labels import agreeing_ratios, labels, same_counts
from experiments.web_track.years import LABELS, YEARS, Year

NEEDS: tuple[str, ...] = ("trec_web_qrels", "trec_web_runs")


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    years = {year: Year(data, year) for year in YEARS}
    over, under = shares_by_k(years, "UBQ_over"), shares_by_k(years, "UBQ_under")
    text = page(
        OPENING,
        in_short(years),
        the_runs(years),
        year_2012(years[2012]),
        orders(years[2012]),
        year_2013(years[2013], years[2012]),
        other_years(years),
        choices(years),
        nothing_at_all(years),
        leaving_the_bounds(years, over, under),
        labels(years),
        LIMITS,
        figure="web-track-filtering.svg",
        fold=True,
    )
    return {
        "web-track.md": text,
        "web-track-filtering.svg": figures.filtering([years[2012], years[2013]]),
        "web-track-unbounded.svg": figures.unbounded(STEPS, over, under),
    }


OPENING = """
# Spam filtering on the TREC Web Track

This page evaluates real spam filters on the TREC Web Track. The judgments of 2010–2014 mark spam and junk with the
label −2. For 2012 and 2013 there are pairs of runs, the same ranking with and without a spam filter: a real filtering
experiment with real forbidden documents. This page shows what the measures say about it, and compares the labels and
the runs with what two papers print about the track.

This page is written by

```
python -m experiments.web_track        # make experiments runs it too
```

from public data that is not part of the repository ([its sources](#what-was-used-and-what-cannot-be-said));
`RANKSIFT_DATA` names the folder. The setting is that of Carmel et al. (2022, section 4): the label −2 has gain −10,
every other label is its own gain, unjudged documents are dropped and ranks close up. In RankSift:
`rs.evaluate(qrels, runs, measures, gains={-2: -10}, unjudged="drop")`.
"""


def in_short(years: Years) -> str:
    """The findings, before the tables."""
    found, later = changes_by_heading(years[2012]), changes_by_heading(years[2013])
    f_20, zero_20, exp_20 = (found[h] for h in ("nDCG_f@20", "nDCG_0@20", "nDCG_0 exp@20"))
    f_300, zero_300, org_300 = (found[h] for h in ("nDCG_f@300", "nDCG_0@300", "nDCG_org@300"))
    plain, filtered = plain_and_filtered(years[2012], "nDCG_f@20")
    nothing = empty_list(years[2012], 20)
    mild, mild_nothing = milder(years[2012])
    same = all(equal(year.by_topic("nDCG_min@20"), year.by_topic("nDCG_f@20")) for year in years.values())
    unbounded = [float(share) for year in years.values() for share in year.means("UBQ@300")]
    cells, agreeing = len(LABELS) * len(years), agreeing_ratios(years)[1]
    findings = bullets(
        paragraph(
            f"**2012, the first 20 documents.** By nDCG_f@20 {f_20}. By nDCG_0@20, which treats spam as merely "
            f"useless, {zero_20}; with the track's own gains 2^l − 1 {exp_20}.",
        ),
        paragraph(
            f"**2012, to rank 300.** By nDCG_f@300 {f_300}. By nDCG_0@300 {zero_300}.",
            says(
                f_300.clear_gain and zero_300.clear_loss,
                "The two contradict each other: one weighs the spam removed against the relevant documents lost, "
                "the other ignores spam.",
            ),
            says(
                org_300.higher == len(org_300.means) and org_300.significant == 0,
                "nDCG_org@300 also shows the gain but cannot distinguish it from chance (the smallest uncorrected p is "
                f"{min(org_300.p):.2f}).",
            ),
        ),
        paragraph(
            f"**2013.** By nDCG_f@20 {later['nDCG_f@20']}; by nDCG_f@300 {later['nDCG_f@300']}.",
            says(
                later["nDCG_f@300"].clear_loss,
                "There was little spam to remove, and relevant documents went with it. nDCG_f does not reward "
                "filtering as such.",
            ),
        ),
        paragraph(
            "**Showing nothing.**",
            f"In 2012 an empty list scores nDCG_f@20 = {number(nothing, 3)}, the unfiltered runs {between(plain)}, the "
            f"filtered ones {between(filtered)}.",
            says(
                max(plain) < nothing < min(filtered),
                "At a cost of 10 for each forbidden document, the unfiltered lists are worse than none.",
            ),
            says(bool((mild > mild_nothing).all()), "At a cost of 2 they would not be."),
        ),
        paragraph(
            "**Bounds.**",
            says(same, "At 20 nDCG_min equals nDCG_f for every run and topic of all five years."),
            f"At 300 it leaves [0, 1] in {percent(min(unbounded), 0)} to {percent(max(unbounded), 0)} of a run's "
            "topics, because 300 is about the size of the pools.",
        ),
        paragraph(
            "**Labels.**",
            says(same_counts(years), "Topics and judgments are those that Carmel et al. count."),
            says(
                agreeing == cells,
                f"All {cells} cells of Gienapp et al.'s Table 1 follow once a label's mean is taken over the topics in "
                "which it occurs.",
            ),
        ),
    )
    return f"""
**In short**

{findings}

![From each unfiltered run to its filtered one, by five measures, 2012 and 2013, at 20 and 300](web-track-filtering.svg)
"""


LIMITS = """
## What was used, and what cannot be said

| data | source |
|---|---|
| judgments 2010–2014 | `castorini/anserini-tools`, qrels/qrels.web.*.txt |
| ql and rm runs of 2012: the track's baselines | `trec-web/trec-web-2014`, data/runs/baselines/2012/indri-* |
| ql runs of 2013: an early version, up to 1,000 results a topic | `trec-web/trec-web-2013`, at commit 7c54f741 |
| cwindri, all years: Indri, judged documents only | `khui/copacrr`, data/trec_runs |
| cedr-initial-top100, 2011–2014 | `Georgetown-IR-Lab/cedr`, data/wt |

- All runs are baselines. The submissions that the papers evaluate were not available, so none of their numbers that
depends
  on runs (Carmel et al.'s Tables 4 and 5 and Figures 1 to 3, Gienapp et al.'s Table 2) is reproduced or refuted here.
  What depends on the judgments alone is.
- One search engine and one kind of filter (the Waterloo spam scores) underlie the pairs. Four significant
  differences in 2012 are one finding seen four times.
- The mean of an unbounded measure over topics is moved by single topics. The p-values of nDCG_org, and of nDCG_min at
  300, are given for completeness.

D. Carmel, N. Cohen, A. Ingber, E. Kravi: IR evaluation and learning in the presence of forbidden documents. SIGIR 2022.

L. Gienapp, M. Fröbe, M. Hagen, M. Potthast: The impact of negative relevance judgments on NDCG. CIKM 2020.
"""
