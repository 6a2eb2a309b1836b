"""The page: every printed table of the five papers, and what became of it."""

from __future__ import annotations

from pathlib import Path

from experiments.markdown import page, table
from experiments.papers import liu, niu
from experiments.papers.karmaker import Karmaker
from experiments.papers.verdict import VERDICTS, Printed, total, verdicts

NEEDS: tuple[str, ...] = ("letor4_listnet_predictions", "letor4_mq2007_agg")


def files(data: Path) -> dict[str, str]:
    """The page."""
    karmaker = Karmaker.of(data)
    papers = {
        "Liu et al. 2016: quit while ahead": (liu.tables(), liu.section()),
        "Karmaker and Feng 2022: between random and perfect": (karmaker.tables(), karmaker.section()),
        "Niu et al. 2012: top-k learning to rank": (
            niu.tables(),
            niu.section(karmaker.measured.collection.qrels.pool.size),
        ),
    }
    parts = [f"## {name}\n\n{verdicts(rows)}\n\n{section}" for name, (rows, section) in papers.items()]
    return {"papers.md": page(OPENING, in_short({name: rows for name, (rows, _) in papers.items()}), *parts)}


OPENING = """
# What the papers print, and what follows

RankSift computes what five papers define. This page goes through the tables that they print, number by number.
A number is

- **reproduced** where it follows to the printed digits from public data, from a definition, or from other tables of the
  same paper;
- **explained** where another rule than the written one gives it, or values that it cannot be told from, and that rule
  is named;
- **refuted** where it cannot be right beside data, the written formula or other numbers of the same paper: one of them
  is wrong;
- **out of reach** where the data, the systems or the people are not at hand. Then the page says whether something like
  it was done elsewhere, on other data.

It is written by

```
python -m experiments.papers        # make experiments runs it too
```

from the printed numbers, and from public data that is not part of the repository (`RANKSIFT_DATA` names the folder).
"""


def in_short(papers: dict[str, list[Printed]]) -> str:
    """All papers in one table."""
    rows = [Printed(str(len(tables)), name, "", *total(tables)) for name, tables in papers.items()]
    every = Printed("", "all", "", *total(rows))
    cells = [[row.what, row.table, str(row.numbers), *(map(str, row.counts))] for row in [*rows, every]]
    return f"""
{table(["paper", "rows below", "numbers", *VERDICTS], cells)}
"""
