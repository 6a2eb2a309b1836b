"""The labels of all years beside what the papers print."""

from __future__ import annotations

import numpy as np

from experiments.markdown import number, paragraph, says, table, word
from experiments.web_track.filtering import Years
from experiments.web_track.printed import MEAN_POOL, TABLE_1, TABLE_3, TABLE_4
from experiments.web_track.years import LABELS, Floats, Year

HEAD = [number(label, 0) for label in LABELS]
RESULTS_HEAD = [
    "year",
    "our runs",
    "mean / std / min",
    "their runs",
    "mean / std / min, printed",
    "Gienapp et al.'s runs",
]


def labels(years: Years) -> str:
    """Section: label statistics."""
    return f"""
## The labels, beside the printed statistics

Share of each label in all judgments of a year, in percent, and the shares in Table 3 of Carmel et al.:

{table(["", "topics", "judgments", *HEAD], share_rows(years))}

{shares_in_words(years)}

Mean share of each label in a topic, and the shares in Table 1 of Gienapp et al.:

{table(["", *HEAD], ratio_rows(years))}

{ratios_in_words(years)}

Judged results of a run in a topic: mean, standard deviation and minimum over the topics, then averaged over the runs,
beside Carmel et al.'s Table 4:

{table(RESULTS_HEAD, result_rows(years))}

The runs here are different and fewer, and some are cut at 100 documents, so only the order of magnitude can be
compared. The two papers count different numbers of submissions in four of the five years; which ones each of them
used is not known here.
"""


def shares(year: Year) -> list[float]:
    """Share of each label in all judgments, in percent."""
    return (100 * year.of_labels("share")).tolist()


def same_counts(years: Years) -> bool:
    """Whether there are as many topics and judgments as the paper says."""
    return all((len(year.topics), len(year.qrels)) == TABLE_3[year.year][:2] for year in years.values())


def share_rows(years: Years) -> list[list[str]]:
    """Computed and printed shares in turn."""
    rows = []
    for number_, year in years.items():
        topics, judgments, _, printed = TABLE_3[number_]
        rows.append(
            [f"{number_}, here", str(len(year.topics)), f"{len(year.qrels):,}", *(f"{v:.2f}" for v in shares(year))]
        )
        rows.append(["printed", str(topics), f"{judgments:,}", *(f"{v:.2f}" for v in printed)])
    return rows


def shares_in_words(years: Years) -> str:
    """Where they differ."""
    cells = len(LABELS) * len(years)
    off = [
        (
            abs(ours - printed),
            f"{year.year} label {name} {printed:.2f} for {ours:.2f}",
            abs(round(ours, 1) - printed) < 1e-9,
        )
        for year in years.values()
        for name, ours, printed in zip(HEAD, shares(year), TABLE_3[year.year][3], strict=True)
        if abs(ours - printed) > 0.005 + 1e-9
    ]
    named = "; ".join(words for _, words, _ in sorted(off, reverse=True))
    rounded = sum(one_decimal for _, _, one_decimal in off)
    judgments = dict(zip(LABELS, years[2012].of_labels("judgments").tolist(), strict=True))
    recent = np.concatenate([year.pool_size for year in years.values() if year.year > 2010])
    every = np.concatenate([year.pool_size for year in years.values()])
    return paragraph(
        says(same_counts(years), "Topics and judgments are the same.", "Topics or judgments differ."),
        f"{cells - len(off)} of {cells} shares agree to the printed digit, the other {word(len(off))} are off by at "
        f"most {max(off)[0]:.2f} points: {named}. {word(rounded).capitalize()} of these look rounded to one decimal; "
        "the others we cannot explain."
        if off
        else f"All {cells} shares agree to the printed digit.",
        says(
            judgments[-2] == judgments[4],
            "That the labels −2 and 4 have the same share in 2012 looks like a misprint but is not: there are "
            f"{judgments[4]} documents of each.",
        ),
        f"The {MEAN_POOL} judgments a topic that the paper gives are the mean of 2011–2014 ({recent.mean():.1f}); with "
        f"2010 it is {every.mean():.1f}.",
    )


def ratios(year: Year) -> tuple[Floats, Floats]:
    """Mean share of each label in a topic: over all topics, and over those in which it occurs."""
    return year.of_labels("mean_share"), year.of_labels("mean_share_where_given")


def ratio_rows(years: Years) -> list[list[str]]:
    """Both means and the printed ones in turn."""
    rows = []
    for number_, year in years.items():
        over_all, where_present = ratios(year)
        rows.append([f"{number_}, all topics", *(f"{v:.3f}" for v in over_all)])
        rows.append(["topics that have the label", *(f"{v:.3f}" for v in where_present)])
        rows.append(["printed", *(f"{v:.2f}" for v in TABLE_1[number_][1])])
    return rows


def agreeing_ratios(years: Years) -> tuple[int, int]:
    """Printed cells that either mean gives."""
    agreeing = [
        [int((np.abs(mean - TABLE_1[number_][1]) <= 0.005 + 1e-9).sum()) for mean in ratios(year)]
        for number_, year in years.items()
    ]
    over_all, where_present = (sum(column) for column in zip(*agreeing, strict=True))
    return over_all, where_present


def ratios_in_words(years: Years) -> str:
    """Which mean is the printed one."""
    cells = len(LABELS) * len(years)
    over_all, where_present = agreeing_ratios(years)
    sums = [sum(row) for _, row in TABLE_1.values()]
    rare = int(years[2011].of_labels("topics")[LABELS.index(3)])
    return says(
        where_present == cells,
        f"The printed rows sum to {min(sums):.2f} to {max(sums):.2f}. They are means over the topics *in which the "
        f"label occurs*: taken so, all {cells} cells agree to the printed digit, against {over_all} with every topic "
        f"in the mean. The 0.10 of label 3 in 2011 is right in this sense: the label occurs in {word(rare)} topics "
        "only.",
        f"{where_present} of {cells} printed cells agree with means over the topics in which the label occurs, "
        f"{over_all} with means over all topics.",
    )


def result_rows(years: Years) -> list[list[str]]:
    """Judged results a topic."""
    rows = []
    for number_, year in years.items():
        ours = year.description.judged_length
        rows.append(
            [
                str(number_),
                str(len(year.names)),
                " / ".join(number(v, 1) for v in (ours.mean, ours.sd, ours.min)),
                str(TABLE_3[number_][2]),
                " / ".join(number(v, 1) for v in TABLE_4[number_]),
                str(TABLE_1[number_][0]),
            ]
        )
    return rows
