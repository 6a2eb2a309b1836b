"""Uninformative and ideal queries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.bounds.readings import DCG_EXACT, Measured, Reading
from experiments.bounds.trials import DRAWN, SETS, SIZE, Trial
from experiments.markdown import number, paragraph, percent, says, table

Trials = Mapping[Reading, Trial]


def without_relevant(measured: Measured) -> set[str]:
    """Queries that have no relevant document."""
    pool = measured.collection.qrels.pool_of(measured.scores.queries)
    none = pool.count(lambda label: label > 0) == 0
    return {query for query, empty in zip(measured.scores.queries, none.tolist(), strict=True) if empty}


def query_types(drawn: Trials, whole: Trials) -> str:
    """Section: the sets, by every reading."""
    empty = without_relevant(whole[DCG_EXACT].measured)
    rows = []
    for trials in (drawn, whole):
        for reading, trial in trials.items():
            types = trial.types
            for kind in SETS[1:]:
                at = [types.queries.index(query) for query in types.sets[kind]]
                rows.append(
                    [
                        f"{len(types.queries):,}",
                        reading.name,
                        kind,
                        *(number(float(v[at].mean()), 3) for v in (types.real, types.expected, types.difference)),
                        percent(float(np.mean([q in empty for q in types.sets[kind]])), 0),
                        *((str(len(types.hard)), str(len(types.easy))) if kind == "uninformative" else ("", "")),
                    ]
                )
    head = ["queries", "reading", "set", "real", "random", "difference", "nothing relevant", "hard", "easy"]
    return f"""
## Uninformative and ideal queries

![Real against expected scores of every query, for nDCG and MSP](upper-and-lower-bounds-queries.svg)

A query's real score is the mean over all systems and k, its expected one the reading's lower bound. As in the paper,
{DRAWN:,} queries were drawn (seed 0); the {SIZE} with the smallest difference are uninformative, the other {SIZE}
ideal. The same was done on the whole of MQ2007, where {SIZE} at each end leave a middle out. Hard are those
uninformative queries in which both scores are at most 0.25, easy those in which both are at least 0.75.

{table(head, rows, words=3)}

{_in_words(drawn, whole, empty)}
"""


def _in_words(drawn: Trials, whole: Trials, empty: set[str]) -> str:
    below = float((whole[DCG_EXACT].types.difference < -1e-12).mean())
    share = float(np.mean([query in empty for query in drawn[DCG_EXACT].types.uninformative]))
    return paragraph(
        f"In {percent(below, 0)} of all queries our systems do worse than random by nDCG.",
        says(
            share > 0.1,
            f"{percent(share, 0)} of the uninformative set by nDCG are queries without any relevant document, in which "
            "every system scores 0 by every measure. They are uninformative in every comparison, and make all "
            "differences on that set smaller.",
        ),
        says(
            bool(whole[DCG_EXACT].types.notes),
            "On the whole collection the border of that set runs through such queries; the first ones in the file are "
            "in it.",
        ),
    )
