"""The page: every printed table of the five papers, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.markdown import bullets, page, table, word
from experiments.papers import carmel, gienapp, liu, niu
from experiments.papers.karmaker import Karmaker, conflicts, pads, swaps, taus
from experiments.papers.systems import official
from experiments.papers.verdict import VERDICTS, Printed, total, verdicts
from experiments.web_track.years import YEARS, Year

NEEDS: tuple[str, ...] = (
    "letor4_listnet_predictions",
    "letor4_mq2007_agg",
    "trec_web_pertopic_scores",
    "trec_web_qrels",
    "trec_web_runs",
)


def files(data: Path) -> dict[str, str]:
    """The page."""
    karmaker = Karmaker.of(data)
    years = {year: Year(data, year) for year in YEARS}
    scores = {year: official(data, year) for year in YEARS}
    systems = {year: len(values) for year, values in scores.items()}
    papers = {
        "Carmel et al. 2022: forbidden documents": (carmel.tables(years, systems), carmel.section(years)),
        "Liu et al. 2016: quit while ahead": (liu.tables(), liu.section()),
        "Karmaker and Feng 2022: between random and perfect": (karmaker.tables(), karmaker.section()),
        "Gienapp et al. 2020: negative judgments": (gienapp.tables(years, systems), gienapp.section(scores)),
        "Niu et al. 2012: top-k learning to rank": (
            niu.tables(),
            niu.section(karmaker.measured.collection.qrels.pool.size),
        ),
    }
    parts = [f"## {name}\n\n{verdicts(rows)}\n\n{section}" for name, (rows, section) in papers.items()]
    return {"papers.md": page(OPENING, in_short({name: rows for name, (rows, _) in papers.items()}), *parts, fold=True)}


OPENING = """
# What the papers print, and what follows

This page goes through the tables of the five papers whose measures RankSift computes, number by number. A number is

- **reproduced** if it follows to the printed digits from public data, from a definition, or from other tables of the
  same paper;
- **explained** if a rule other than the written one gives it, or gives values as close to it as samples or similar
  systems allow, and that rule is named;
- **refuted** if it contradicts data, the written formula or other numbers of the same paper, so that one of them is
  wrong;
- **out of reach** if the data, the systems or the people are not available. Then the page says whether something
  similar was done elsewhere, on other data.

This page is written by

```
python -m experiments.papers        # make experiments runs it too
```

from the printed numbers, and from public data that is not part of the repository (`RANKSIFT_DATA` names the folder).
"""


def in_short(papers: Mapping[str, Sequence[Printed]]) -> str:
    """The findings, and all papers in one table."""
    rows = [Printed("", name, "", *total(tables)) for name, tables in papers.items()]
    every = Printed("", "all", "", *total(rows))
    cells = [
        [
            f"[{row.what}](#{_anchor(row.what)})" if row is not every else row.what,
            str(row.numbers),
            *map(str, row.counts),
        ]
        for row in [*rows, every]
    ]
    checked = every.numbers - every.out_of_reach
    impossible = [case for case in conflicts() if case[-1] == "impossible"]
    recomputed = [*taus(), *pads(), *swaps()]
    agreeing = sum(found.agrees for found in recomputed)
    findings = bullets(
        f"**{checked} of {every.numbers:,} numbers can be checked**; the others need systems, data or people "
        f"that are not available. {every.reproduced} are reproduced, {every.explained} explained, "
        f"{every.refuted} refuted.",
        "**Liu et al.**: all numbers of their example table are right.",
        f"**Karmaker and Feng**: {word(len(impossible))} counts of conflicts [contradict](#conflicts) their own "
        f"counts of significant pairs. Of {len(recomputed)} numbers that follow from their printed scores {agreeing} "
        "do ([PAD](#percentage-differences), [swap rates](#swap-rates)). Their MAP@30 is [more than a perfect ranking "
        "gets](#more-than-perfect) by their formula, and their expected score of a random ranking is [too "
        "small](#what-a-random-ranking-gets).",
        "**Gienapp et al.**: the printed [reliability](#reliability) is not that of their formula: what their program "
        "computes grows with the mean score, and is near 1 for random numbers. Table 1 has means over the topics that "
        "have the label, and one column of Table 2a another k.",
        "**Carmel et al.**: Table 7 cannot have been computed with the [gains that the text names]"
        "(#the-gains-of-table-7). What follows from public judgments is right except for last digits.",
        "**Niu et al.**: minutes are [not the product](#seconds-minutes-and-judgments) of seconds and judgments, and "
        "κ-ERR as printed [could not exceed 1/n](#1n-or-1rank).",
    )
    return f"""
## In short

{findings}

{table(["paper", "numbers", *VERDICTS], cells)}
"""


def _anchor(heading: str) -> str:
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading, flags=re.ASCII).strip().lower())
