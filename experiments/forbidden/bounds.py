"""What leaves [0, 1]: Gienapp et al.'s Table 2a for all years, Carmel et al.'s Table 5 for two."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.forbidden.printed import DEPTHS, TABLE_2A
from experiments.forbidden.studies import Study
from experiments.markdown import between, number, paragraph, percent, says, table
from experiments.web_track.printed import TABLE_5
from experiments.web_track.years import GAINS, Floats, Year
from ranksift import study

#: Equal within rounding.
SAME = 1e-12
#: The k at which the printed shares of Table 2a come out.
FITTING = 10

Years = Mapping[int, Year]


def lowest(year: Year, k: int) -> Floats:
    """The lowest nDCG_org@k that an order of each topic's pool can have, with linear gains."""
    return study.boundedness(year.qrels, None, [f"nDCG_org@{k}"]).lowest[f"nDCG_org@{k}"]


def at_most_minus_one(year: Year, k: int) -> float:
    """The share of topics that can fall to −1."""
    return float((lowest(year, k) <= -1 + SAME).mean())


def agreeing(years: Years, k: int) -> list[int]:
    """Years whose share is the printed one, to the percent."""
    return [of for of, year in years.items() if round(100 * at_most_minus_one(year, k)) == TABLE_2A[of][1]]


def bounds(years: Years, deep: Mapping[int, Study]) -> str:
    """Section: both tables."""
    return f"""
## Which measures leave [0, 1]

### By the judgments alone: Gienapp et al.'s Table 2a

The share of topics whose worst order of the whole pool has an nDCG_org@k below 0, and as low as −1. The gain is the
label. No run is needed, so all five years can be compared.

{attainable_table(years)}

{attainable_in_words(years)}

### By the runs: Carmel et al.'s Table 5

The share of lists above 1 / below 0, with the label −2 at −10, averaged over the runs.

{seen_table(deep)}

{seen_in_words(deep)}
"""


def attainable_table(years: Years) -> str:
    """Computed and printed shares."""
    head = [
        "year", "topics", "k", "< 0", "< 0, printed", "< −1", "≤ −1", "≤ −1, printed", f"≤ −1 at k = {FITTING}",
    ]  # fmt: skip
    rows = []
    for of, year in years.items():
        k, low = DEPTHS[of], lowest(year, DEPTHS[of])
        rows.append(
            [
                str(of),
                str(len(year.topics)),
                str(k),
                percent(float((low < -SAME).mean()), 0),
                f"{TABLE_2A[of][0]} %",
                percent(float((low < -1 - SAME).mean()), 0),
                percent(at_most_minus_one(year, k), 0),
                f"{TABLE_2A[of][1]} %",
                percent(at_most_minus_one(year, FITTING), 0),
            ]
        )
    return table(head, rows)


def attainable_in_words(years: Years) -> str:
    """What agrees, and at which k."""
    below = {of: float((lowest(year, DEPTHS[of]) < -SAME).mean()) for of, year in years.items()}
    first = all(round(100 * share) == TABLE_2A[of][0] for of, share in below.items())
    spam = all(np.isclose(share, (years[of].forbidden > 0).mean()) for of, share in below.items())
    as_stated = [
        of for of, year in years.items() if round(100 * at_most_minus_one(year, DEPTHS[of])) == TABLE_2A[of][1]
    ]
    fits = {k: len(agreeing(years, k)) for k in range(1, 31)}
    best = [k for k, count in fits.items() if count == max(fits.values())]
    off = [of for of in years if of not in agreeing(years, FITTING)]
    exactly = {of: int((np.abs(lowest(year, FITTING) + 1) <= SAME).sum()) for of, year in years.items()}
    dear = [
        study.boundedness(year.qrels, None, [f"nDCG_org@{DEPTHS[of]}"], gains=GAINS).below_minus_one[
            f"nDCG_org@{DEPTHS[of]}"
        ]
        for of, year in years.items()
    ]
    return paragraph(
        says(
            first and spam,
            "The shares below 0 agree in all five years. They are the shares of topics with a forbidden document: one "
            "is enough.",
            "The shares below 0 do not all agree.",
        ),
        f"The shares at −1 agree at the depths that the text names in {len(as_stated)} of {len(years)} years.",
        says(
            best == [FITTING] and len(off) == 1,
            f"At k = {FITTING} they agree in {fits[FITTING]}, and in {off[0]} they are one topic off "
            f"({round(len(years[off[0]].topics) * at_most_minus_one(years[off[0]], FITTING))} of "
            f"{len(years[off[0]].topics)}); no other k from 1 to 30 does as well. So the printed column looks like "
            f"k = {FITTING}, not 20 and 15, with the linear gains and the logarithmic discount that are taken here.",
        ),
        f"Whether −1 itself counts matters: {exactly[2010]} topics of 2010 and {exactly[2011]} of 2011 have exactly −1 "
        f"at k = {FITTING}, where {FITTING} documents of label 2 stand against {FITTING} of label −2.",
        f"At a gain of −10 instead of −2, {between([100 * s for s in dear], 0)} % of the topics of a year could fall "
        "below −1.",
    )


def seen_table(deep: Mapping[int, Study]) -> str:
    """Shares of lists outside, and what the paper prints."""
    head = ["year", "runs", "nDCG_min@300", "printed", "nDCG_min@500", "nDCG_org@500", "nDCG_f@500", "ideal < 0"]
    rows = []
    for of, s in deep.items():
        found = s.boundedness
        negative = int((s.year.bounds(500)["I"] < 0).sum())
        rows.append(
            [
                str(of),
                str(len(s.year.runs)),
                outside(*at_300(deep)[of]),
                outside(TABLE_5[of][1] / 100, TABLE_5[of][2] / 100),
                *(outside(found.over[m], found.under[m]) for m in ("nDCG_min@500", "nDCG_org@500", "nDCG_f@500")),
                str(negative),
            ]
        )
    return table(head, rows)


def at_300(deep: Mapping[int, Study]) -> dict[int, tuple[float, float]]:
    """Shares of lists above and below by nDCG_min@300."""
    shares = {}
    for of, s in deep.items():
        found = s.boundedness_of(["nDCG_min@300"])
        shares[of] = found.over["nDCG_min@300"], found.under["nDCG_min@300"]
    return shares


def outside(over: float, under: float) -> str:
    """Two shares in one cell."""
    return f"{number(100 * over, 1)} / {number(100 * under, 1)} %"


def unbounded_up_to_50(year: Year) -> float:
    """The share of lists outside by nDCG_min@50."""
    return float(year.evaluate(["UBQ@50"]).aggregate().mean())


def seen_in_words(deep: Mapping[int, Study]) -> str:
    """What the table says, and where more is shown."""
    none = all(unbounded_up_to_50(s.year) == 0 for s in deep.values())
    same_side = all((over > under) == (TABLE_5[of][1] > TABLE_5[of][2]) for of, (over, under) in at_300(deep).items())
    bounded = all(s.boundedness.over["nDCG_f@500"] == s.boundedness.under["nDCG_f@500"] == 0 for s in deep.values())
    return paragraph(
        says(bounded, "nDCG_f never leaves [0, 1]."),
        says(none, "Up to k = 50 nDCG_min does not either, as the paper says."),
        says(
            same_side,
            "At 300 over prevails in 2012 and under in 2013, as printed; other runs, other shares.",
            "At 300 over and under do not prevail in the same years as in the paper.",
        ),
        "The last column counts topics in which even the best order of the whole pool has a negative DCG@500: nDCG_org "
        "divides by it, and the worse list gets the higher score.",
        "[All years, and the shares by k](web-track.md#where-ndcg_min-leaves-0-1-and-why), are on another page.",
    )
