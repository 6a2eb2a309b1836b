"""Niu and others (2012): labelling a top 10, and learning from it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from experiments.labelling_study import printed as study
from experiments.markdown import number, percent, says, table
from experiments.papers.verdict import Printed
from experiments.top_k import printed as top_k
from experiments.top_k.printed import TABLES
from experiments.web_track.years import Ints

#: Each Focused method and its parents, the listwise one first.
PARENTS = {
    "FocusedSVM": ("SVM-MAP", "RankSVM"),
    "FocusedBoost": ("AdaRank", "RankBoost"),
    "FocusedNet": ("ListNet", "RankNet"),
}
#: By the text: gains of FocusedBoost on the top 10 of MQ2007 over AdaRank and RankBoost, by κ-NDCG@10 and by κ-ERR, in
#: percent.
GAINS = {(9, 0): 7.08, (9, 1): 0.87, (10, 0): 9.76, (10, 1): 0.91}
DOCUMENTS = 50
LABELLING = "labelling-study.md#what-the-printed-tables-imply"


def minutes(tool: str) -> tuple[float, float]:
    """Minutes per query: seconds times judgments of Table 1, and as printed.

    >>> [round(m, 2) for m in minutes("grades")]
    [11.56, 11.78]
    """
    seconds, printed, judgments = study.TABLE_1[tool]
    return seconds * judgments / 60, printed


def above_both(scores: Mapping[str, tuple[float, ...]]) -> tuple[int, int]:
    """Printed cells of Focused methods above both parents, and all of them."""
    found = [
        value > max(scores[parent][i] for parent in parents)
        for method, parents in PARENTS.items()
        for i, value in enumerate(scores[method])
    ]
    return sum(found), len(found)


def gain(place: int, parent: int) -> float:
    """Of FocusedBoost over a parent on the top 10 of MQ2007, in percent, from Table 4."""
    scores = top_k.TOP_K_MQ2007
    return 100 * (scores["FocusedBoost"][place] / scores[PARENTS["FocusedBoost"][parent]][place] - 1)


def best_are_focused(scores: Mapping[str, tuple[float, ...]]) -> tuple[int, int]:
    """Columns whose highest value is a Focused method's, and all columns."""
    columns = list(zip(*scores.values(), strict=True))
    names = list(scores)
    return sum(names[int(np.argmax(column))] in PARENTS for column in columns), len(columns)


def rows_add_up() -> bool:
    """Whether the rows of Tables 2 and 3 are probabilities, up to the rounding of three numbers."""
    return all(bool((np.abs(of.sum(axis=1) - 1) <= 0.00015 + 1e-9).all()) for of in (study.TABLE_2, study.TABLE_3))


def tables() -> list[Printed]:
    """Every table of the paper that has numbers."""
    cells, methods = sum(map(len, top_k.GRADED_MQ2007.values())), len(top_k.GRADED_MQ2007)
    too_high = "; ERR and κ-ERR are [above 1/n](#1n-or-1rank)"
    return [
        Printed(
            "1",
            "seconds, minutes and judgments of two ways to label",
            "people's times; [minutes are not seconds times judgments](#seconds-minutes-and-judgments), and the "
            f"{study.TABLE_1['pairs'][2]} judgments are [fewer than the heap asks without ties]"
            "(labelling-study.md#table-1-cost)",
            reproduced=1,
            refuted=1,
            out_of_reach=4,
        ),
        Printed(
            "2 and 3",
            "agreement of two assessors",
            "the judgments are not public; "
            + says(rows_add_up(), "all rows add up to 1; ")
            + f"the tables [fit the printed levels]({LABELLING}), but the two χ² do not come from all inferred pairs",
            out_of_reach=study.TABLE_2.size + study.TABLE_3.size,
        ),
        Printed(
            "4",
            "ten methods on MQ2007, graded and top 10",
            "MQ2007-list and the settings are not available; [ten methods on another truth](top-k-learning.md)"
            + too_high,
            refuted=2 * methods,
            out_of_reach=2 * cells - 2 * methods,
        ),
        Printed(
            "5",
            "ten methods on TD2003, graded and top 10",
            "the labels of the user study are not public; [ten methods on a simulated one](labelling-study.md)"
            + too_high,
            refuted=2 * methods,
            out_of_reach=2 * cells - 2 * methods,
        ),
    ]


def section(mq2007: Ints) -> str:
    """The part of the page about this paper, below its table of tables, given the sizes of the pools of MQ2007."""
    return f"""
### Seconds, minutes and judgments

{_minutes_table()}

Neither product is the printed one. {_minutes_in_words()}

### 1/n or 1/rank

The paper has ERR and κ-ERR (Eq. 3) as sums of 1/n times the chance that a reader stops at a rank, n being the
documents of the query. These chances add up to 1 at most, so that a mean over queries is at most that of 1/n:

{_err_table(mq2007)}

All {4 * len(top_k.GRADED_MQ2007)} printed values are higher. With 1/rank, as ERR is usually defined, they are possible;
`ERR` and `kERR` are so.

### What the text says of its tables

{_claims()}
"""


def _minutes_table() -> str:
    rows = []
    for tool, name in (("pairs", "top 10, by pairs"), ("grades", "five grades")):
        computed, printed = minutes(tool)
        seconds, _, judgments = study.TABLE_1[tool]
        rows.append([name, f"{seconds}", f"{judgments:g}", number(computed, 2), f"{printed}"])
    return table(["", "seconds per judgment", "judgments", "minutes by these", "minutes, printed"], rows)


def _minutes_in_words() -> str:
    needed = [60 * printed / judgments for _, printed, judgments in study.TABLE_1.values()]
    return (
        f"The printed minutes would take {number(needed[0], 3)} and {number(needed[1], 3)} seconds per judgment. By "
        "pairs the number of judgments differs from query to query, so that a mean of products need not be the product "
        f"of means; the paper does not say how it averaged. By grades every query has {DOCUMENTS} judgments and every "
        "assessor as many queries, so that all means of means are the product: one of the two numbers is wrong, or the "
        "minutes hold time that no judgment took."
    )


def _err_table(mq2007: Ints) -> str:
    highest = {"MQ2007": float((1 / mq2007).mean()), "TD2003": 1 / DOCUMENTS}
    rows = []
    for name, scores in TABLES.items():
        values = [row[-1] for row in scores.values()]
        rows.append([name, number(highest[name.split()[-1]], 3), f"{min(values):.4f} to {max(values):.4f}"])
    return table(["", "mean of 1/n", "printed"], rows)


def _claims() -> str:
    gains_hold = all(abs(gain(*place) - value) <= 0.005 + 1e-9 for place, value in GAINS.items())
    top, graded = (
        {name: above_both(TABLES[name]) for name in names}
        for names in (("top-k MQ2007", "top-k TD2003"), ("graded MQ2007", "graded TD2003"))
    )
    listmle = top_k.TOP_K_MQ2007["Top-k ListMLE"]
    net_above = sum(a > b for a, b in zip(top_k.TOP_K_MQ2007["FocusedNet"], listmle, strict=True))
    best = [best_are_focused(TABLES[name]) for name in top]
    overall = [study.shares(t, *p) for t, p in ((study.TABLE_2, study.PAIRS), (study.TABLE_3, study.GRADES))]
    rows = [
        [
            f"FocusedBoost gains {', '.join(f'{v} %' for v in GAINS.values())} over AdaRank and RankBoost by κ-NDCG@10 "
            "and κ-ERR",
            _verdict(gains_hold),
            ", ".join(f"{number(gain(*place), 2)} %" for place in GAINS),
        ],
        [
            "Focused methods are above their parents on top-10 labels",
            _verdict(all(one == of for one, of in top.values())),
            "; ".join(f"{name.removeprefix('top-k ')}: {one} of {of} cells" for name, (one, of) in top.items())
            + "; no test is printed ([ours](top-k-learning.md))",
        ],
        [
            "and comparable with them on grades",
            "yes",
            "; ".join(
                f"{name.removeprefix('graded ')}: above both in {one} of {of}" for name, (one, of) in graded.items()
            ),
        ],
        [
            "“the best performance is almost reached” by a Focused method on top-10 labels",
            _verdict(sum(one for one, _ in best) > 0.75 * sum(of for _, of in best)),
            f"in {sum(one for one, _ in best)} of {sum(of for _, of in best)} columns",
        ],
        [
            "FocusedNet is above top-k ListMLE on the top 10 of MQ2007 by all measures",
            _verdict(net_above == len(listmle)),
            f"in {net_above} of {len(listmle)} columns",
        ],
        [
            f"agreement of {percent(study.PAIRS[0])} and {percent(study.GRADES[0])}, without ties "
            f"{percent(study.PAIRS[1])} and {percent(study.GRADES[1])}",
            "possible",
            "if the first assessor says A>B, A\\~B, A<B in "
            + " and in ".join(" / ".join(percent(float(x), 0) for x in share) for share in overall),
        ],
    ]
    return table(["claim", "holds", "by the tables"], rows, words=3)


def _verdict(holds: bool) -> str:
    return "yes" if holds else "**no**"
