"""Carmel and others (2022): forbidden documents, and learning to rank and filter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, combinations_with_replacement

import numpy as np

from experiments.cutoffs import printed as qa
from experiments.cutoffs.loss_table import TUNED, beaten_baselines
from experiments.cutoffs.losses import measured
from experiments.markdown import number, paragraph, percent, says, table, word
from experiments.papers.systems import Systems
from experiments.papers.verdict import Printed
from experiments.web_track.filtering import Years
from experiments.web_track.labels import shares
from experiments.web_track.printed import MEAN_POOL, TABLE_3, TABLE_4, TABLE_5
from ranksift.collection.gains import Gains
from ranksift.collection.pool import Pool
from ranksift.collection.ragged import offsets_of
from ranksift.measures.cumulative import ideal, ideal_sublist, worst, worst_sublist

#: What a forbidden answer, a satisfying and a fully satisfying one gain: by section 5.2, and the label itself.
WRITTEN, BY_LABEL = {-1: -10.0, 1: 1.0, 2: 1.0}, {-1: -10.0, 1: 1.0, 2: 2.0}
K = 3
#: Cells of Table 7 that are so by definition: (row, column, value).
BY_DEFINITION = (
    ("filter-all", 1, 0.0), ("filter-all", 3, 0.0), ("filter-all", 4, 100.0), ("filter-all", 5, 100.0),
    ("rank-only (ordinal)", 4, 0.0), ("rank-only (ordinal)", 5, 0.0),
)  # fmt: skip
TRAINED = ("BCE", "MSE", "ordinal", "ordinal-weighted", "LambdaRank", "LambdaRank+BCE")
BASELINES = ("filter-all", "rank-only (ordinal)", "filter-only (BCE)")
TABLES_7: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "product reviews": qa.TABLE_7_REVIEWS,
    "community answers": qa.TABLE_7,
}
WEB_TRACK, CUTOFFS = "web-track.md#the-labels-beside-the-printed-statistics", "cutoffs.md#six-losses-each-tuned-alike"
UNBOUNDED = "web-track.md#where-ndcg_min-leaves-0-1-and-why"


def empty_lists(gains: Mapping[float, float], measure: str) -> dict[tuple[float, ...], float]:
    """Values at 3 of the empty list: of every question, by the labels of its answers.

    Bounds at 3 take the three best and the three worst answers, so that questions with up to six are all there are.

    >>> values = empty_lists({-1: -10.0, 1: 1.0}, "nDCG_min")
    >>> len(values), min(values.values()) >= 0
    (27, True)
    """
    pools = [labels for size in range(1, 2 * K + 1) for labels in combinations_with_replacement(sorted(gains), size)]
    pool = Pool.of(offsets_of(np.array([len(labels) for labels in pools])), np.concatenate(pools))
    best, least = (ideal, worst) if measure == "nDCG_min" else (ideal_sublist, worst_sublist)
    high, low = best(pool, Gains.of(gains), K), least(pool, Gains.of(gains), K)
    value = np.divide(-low, high - low, out=np.zeros(len(pools)), where=high > low)
    return dict(zip(pools, value.tolist(), strict=True))


def label_shares(years: Years) -> tuple[int, int, int]:
    """Shares of Table 3 that come out to the printed digit, those rounded to one decimal, and the others."""
    same = rounded = other = 0
    for of, year in years.items():
        for ours, theirs in zip(shares(year), TABLE_3[of][3], strict=True):
            if abs(ours - theirs) <= 0.005 + 1e-9:
                same += 1
            elif abs(round(ours, 1) - theirs) < 1e-9:
                rounded += 1
            else:
                other += 1
    return same, rounded, other


def defined() -> int:
    """Cells of Table 7 that must be what they are."""
    return sum(rows[row][column] == value for rows in TABLES_7.values() for row, column, value in BY_DEFINITION)


def tables(years: Years, systems: Systems) -> list[Printed]:
    """Every table of the paper that has numbers."""
    same, rounded, other = label_shares(years)
    counted = sum(
        (len(year.topics) == TABLE_3[of][0]) + (len(year.qrels) == TABLE_3[of][1]) for of, year in years.items()
    )
    runs = sum(systems[of] == TABLE_3[of][2] for of in years)
    cells = sum(len(row) for rows in TABLES_7.values() for row in rows.values())
    sums = sum(len(row) for row in (*TABLE_5.values(), *qa.TABLE_5.values()))
    # The nDCG_min of filter-all on answers is below what the written gains give in any question.
    impossible = int(qa.TABLE_7["filter-all"][2] < min(empty_lists(WRITTEN, "nDCG_min").values()))
    return [
        Printed("1", "votes and spam in product reviews", "the reviews are not public", out_of_reach=8),
        Printed(
            "2",
            "answers of a community question",
            "the data was published but is not available here; `datasets.carmel_cqa` reads it",
            out_of_reach=len(qa.TABLE_2),
        ),
        Printed(
            "3",
            "topics, judgments, runs and labels of the track",
            f"[from the judgments]({WEB_TRACK}): {rounded} shares were rounded to one decimal, {other} are wrong in "
            f"their last digits; of the counts of runs {word(runs)} are those of the [score tables](submissions.md)",
            reproduced=same + counted + runs,
            explained=rounded,
            refuted=other + 2 * len(years) - counted,
            out_of_reach=len(years) - runs,
        ),
        Printed(
            "4",
            "judged results of a run",
            f"the submissions are not available; [other runs]({WEB_TRACK})",
            out_of_reach=sum(map(len, TABLE_4.values())),
        ),
        Printed(
            "5",
            "queries in which nDCG_min is unbounded",
            f"neither rankers nor submissions are available; [other runs]({UNBOUNDED}); the printed shares [are "
            "possible]"
            "(#unbounded-queries)",
            out_of_reach=sums,
        ),
        Printed(
            "6",
            "nDCG_f of filtering all and nothing, single documents",
            "the data is not available; the sums are 1 [as they must be](#queries-with-a-single-document); "
            "[other questions](cutoffs.md#questions-with-a-single-answer)",
            out_of_reach=2 * len(qa.TABLE_6),
        ),
        Printed(
            "7",
            "nine rankers that filter, by six measures",
            f"the data is not available; {defined()} cells are so by definition; [the gains are not the written ones]"
            f"(#the-gains-of-table-7); [the same losses, tuned, on another forum]({CUTOFFS})",
            reproduced=defined(),
            refuted=impossible,
            out_of_reach=cells - defined() - impossible,
        ),
    ]


def section(years: Years) -> str:
    """The part of the page about this paper, below its table of tables."""
    return f"""
Where a formula of the paper has two readings, [Readings](../readings.md) has both.

### Unbounded queries

{_unbounded(years)}

### Queries with a single document

{_single()}

### The gains of Table 7

Section 5.2 says ls(F) = −10 and ls(l) = 1 for all other labels. A list without answers then has an nDCG_min@3 of at
least 0 in every question, whatever its answers are:

{_gains_table()}

{_gains_in_words()}

### What the text says of its tables

{_claims(years)}
"""


# -- words and tables ----------------------------------------------------------------------------------


def _unbounded(years: Years) -> str:
    rows, possible = [], True
    for of, (_, over, under) in TABLE_5.items():
        year = years[of]
        over_at_most = 100 * float((year.pool_size - year.forbidden < 300).mean())
        under_at_most = 100 * float((year.pool_size - year.relevant < 300).mean())
        possible &= over <= over_at_most and under <= under_at_most
        cells = (over, over_at_most, under, under_at_most)
        rows.append([str(of), *(number(value, 1) for value in cells)])
    every = [*TABLE_5.values(), *qa.TABLE_5.values()]
    added = all(abs(all_ - over - under) < 1e-9 for all_, over, under in every)
    head = ["%", "over, printed", "over, topics that allow it", "under, printed", "under, topics that allow it"]
    in_words = paragraph(
        says(
            possible,
            "No printed share is larger than the judgments allow: nDCG_min@300 can be above 1 only in topics with "
            "fewer than 300 documents that are not forbidden, and below 0 only in those with fewer than 300 that are "
            "not relevant.",
        ),
        says(added, f"In all {word(len(every))} columns over and under add up to the share of unbounded queries."),
    )
    return f"{in_words}\n\n{table(head, rows)}"


def _single() -> str:
    sums = [sum(row) for row in qa.TABLE_6.values()]
    forbidden = qa.TABLE_6["community answers"][0]
    multiple = (qa.ALL_FORBIDDEN - qa.TABLE_2[0] * forbidden) / (100 - qa.TABLE_2[0])
    return paragraph(
        says(
            all(abs(total - 1) < 1e-9 for total in sums),
            "nDCG_f of one document is 1 for the right decision and 0 for the wrong one (Proposition 3.4), so that "
            "filtering all and filtering nothing add up to 1, as they do in print.",
        ),
        "For reviews this says more. A single review of gain 0 scores 0 whether it is kept or dropped, so that a sum "
        f"of 1.000 leaves room for none; yet {number(qa.TABLE_1[0][0], 0)} % of the reviews have no helpful vote. So "
        "these did not have gain 0 here. With the gain 1 of section 5.2 the sum is 1, but see the next heading.",
        f"In community answers {percent(forbidden)} of the single answers are forbidden. With {qa.TABLE_2[0]:g} % of "
        f"questions that have one answer, and {qa.ALL_FORBIDDEN} % that have forbidden ones only, this leaves "
        f"{percent(multiple)} of the questions with several answers: the three figures fit together.",
    )


def _gains_table() -> str:
    rows = []
    for words, gains in (("ls(l) = 1, as written", WRITTEN), ("ls(l) = l", BY_LABEL)):
        values = [list(empty_lists(gains, m).values()) for m in ("nDCG_min", "nDCG_f")]
        rows.append([words, *(f"{number(min(v), 2)} to {number(max(v), 2)}" for v in values)])
    quality, _, scaled = qa.TABLE_7["filter-all"][:3]
    rows.append(["filter-all in Table 7, a mean", number(scaled), number(quality)])
    return table(["the empty list at 3", "nDCG_min", "nDCG_f"], rows)


def _gains_in_words() -> str:
    scaled, found = qa.TABLE_7["filter-all"][2], empty_lists(BY_LABEL, "nDCG_min")
    lowest = min(found, key=lambda labels: found[labels])
    return says(
        min(empty_lists(WRITTEN, "nDCG_min").values()) >= 0 > scaled > found[lowest],
        f"So the printed {number(scaled)} cannot have come from the written gains. With the label itself as gain it "
        f"can: without any forbidden answer, labels {' and '.join(f'{label:g}' for label in (1, 2))} make "
        f"{number(found[1, 2], 2)}. That is what RankSift takes for this paper, `gains={{-1: -10}}`.",
    )


def _claims(years: Years) -> str:
    recent = np.concatenate([year.pool_size for year in years.values() if year.year > 2010])
    every = np.concatenate([year.pool_size for year in years.values()])
    spam = sum(share * of / 100 for share, of in zip(*qa.TABLE_1, strict=True))
    single = qa.QUESTIONS * qa.TABLE_2[0] / 100
    better = {name: _not_above_baselines(rows) for name, rows in TABLES_7.items()}
    reviews, answers = qa.TABLE_7_REVIEWS, qa.TABLE_7
    swapped = {name: _swapped(rows) for name, rows in TABLES_7.items()}
    fewest = min(TRAINED, key=lambda method: answers[method][4])
    most = 100 * qa.FORBIDDEN / 100 * qa.ANSWERS / (K * qa.QUESTIONS)
    safe = min(int(year.safe_k.min()) for year in years.values())
    rows = [
        [
            f"“{MEAN_POOL} over the years” judgments of a topic",
            "2011–2014",
            f"{recent.mean():.1f}; with 2010 {every.mean():.1f}",
        ],
        [
            f"{qa.SPAM} % of the reviews are spam",
            "yes" if abs(spam - qa.SPAM) < 1 else "**no**",
            f"{number(spam, 1)} % by Table 1",
        ],
        [
            f"{qa.SINGLE}K questions have one answer",
            "yes" if round(single) == qa.SINGLE else "**no**",
            f"{number(single, 1)}K by Table 2",
        ],
        [
            "no unbounded query up to k = 50 on the track",
            "possible" if safe < 50 else "yes",
            f"certain by the judgments up to k = {safe}; [seen in other runs]({UNBOUNDED})",
        ],
        [
            "all trained rankers but LambdaRank are above all baselines by nDCG_f",
            "yes" if all(set(names) <= {"LambdaRank"} for names in better.values()) else "**no**",
            "; ".join(f"{name}: not {', '.join(names)}" for name, names in better.items() if names)
            + f"; [tuned on features]({CUTOFFS}): not {', '.join(_not_above_elsewhere()) or 'none'}",
        ],
        [
            "in reviews rank-only is above filter-all by nDCG_min, and below it by nDCG_f",
            "yes"
            if reviews[BASELINES[1]][2] > reviews[BASELINES[0]][2]
            and reviews[BASELINES[1]][0] < reviews[BASELINES[0]][0]
            else "**no**",
            f"{reviews[BASELINES[1]][2]} and {reviews[BASELINES[0]][2]}; {reviews[BASELINES[1]][0]} and "
            f"{reviews[BASELINES[0]][0]}",
        ],
        [
            "the two measures order the trained rankers differently",
            "yes" if any(swapped.values()) else "**no**",
            "; ".join(f"{name}: {count} of 15 pairs" for name, count in swapped.items()),
        ],
        [
            "ordinal hides the fewest good answers of the trained rankers (bold in Table 7)",
            "yes" if fewest == "ordinal" else "**no**",
            f"{fewest} hides {answers[fewest][4]} %, ordinal {answers['ordinal'][4]} %",
        ],
        [
            "F-docs@3 is a share of what is shown, not of 3 places a query",
            "yes" if answers[BASELINES[1]][3] > most else "open",
            f"rank-only has {answers[BASELINES[1]][3]} % in answers; of 3 places a question forbidden answers can take "
            f"{number(most, 1)} %",
        ],
    ]
    return table(["claim", "holds", "by the tables"], rows, words=3)


def _not_above_baselines(rows: Mapping[str, tuple[float, ...]]) -> list[str]:
    highest = max(rows[name][0] for name in BASELINES)
    return [name for name in TRAINED if rows[name][0] <= highest]


def _not_above_elsewhere() -> list[str]:
    """Losses that on SemEval-2015 are not significantly above all baselines, of what is kept of that study."""
    found = beaten_baselines(measured(), TUNED)
    return [name for name in TRAINED if len(found[name]) < len(BASELINES)]


def _swapped(rows: Mapping[str, tuple[float, ...]]) -> int:
    return sum((rows[a][0] - rows[b][0]) * (rows[a][2] - rows[b][2]) < 0 for a, b in combinations(TRAINED, 2))
