"""The page: the paper's Tables 1, 2, 3 and 5 from simulated assessors, and what the printed ones imply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.labelling_study import printed
from experiments.labelling_study.documents import by_query, documents
from experiments.labelling_study.fits import Labels, Trained, found_of_the_top, kappa_ndcg_of, trained
from experiments.labelling_study.study import DRAWS, SEED, UP_TO_GRADE, Measured, Study, again, perception, study
from experiments.markdown import between, bullets, number, page, paragraph, percent, probability, says, table, word
from experiments.top_k import tables
from experiments.top_k.fits import TESTED, Learned
from experiments.top_k.methods import FAMILIES
from ranksift.collection.ragged import Floats
from ranksift.labelling.agreement import PREFERENCE_NAMES, Agreement, Difference, Estimate
from ranksift.labelling.study import Perception

NEEDS: tuple[str, ...] = ("letor4_mq2008",)
ALPHA = 0.05
#: Beside the paper's heap.
OTHERS = ("heap+memory", "tournament")
#: Of indifference, from hardly any tie to hardly anything else.
BOUNDS = (0.0, 0.07, 0.15, 0.3, 0.6, 1.0)
#: What the heap asks on average without ties and errors, of 50 documents for the top 10.
WITHOUT_TIES = 151.2


def files(data: Path) -> dict[str, str]:
    """The page."""
    examples, values = documents(data)
    utilities = by_query(examples, values)
    found = study(utilities)
    draws = [again(utilities, seed) for seed in range(SEED + 1, SEED + 1 + DRAWS)]
    others = {name: again(utilities, SEED, name) for name in OTHERS}
    ties = {bound: again(utilities, SEED, indifference=bound) for bound in BOUNDS}
    labels: dict[str, Labels] = {
        tool: {q: dict(own) for q, own in one.labels.items()} for tool, one in found.labels.items()
    }
    other: dict[str, Labels] = {
        tool: {q: dict(own) for q, own in one.labels.items()} for tool, one in found.second.items()
    }
    learned = trained(examples, utilities, labels["pairs"], labels["grades"])
    second = trained(examples, utilities, other["pairs"], other["grades"])
    text = page(
        OPENING,
        in_short(found, draws, others, learned, second),
        set_up(perception(utilities), found),
        cost(found.measured, draws, others, ties),
        agreement(found.measured, draws),
        printed_numbers(found.measured),
        labels_themselves(labels, utilities, learned.truth),
        methods(learned, second),
        limits(),
    )
    return {"labelling-study.md": text}


OPENING = """
# A user study with simulated assessors

Niu and others (2012, section 4.1) have five people label 50 queries × 50 documents with two tools: T1 asks which of two
documents is better until the ordered top 10 is known, T2 asks for one of five grades. They compare what that costs
(Table 1) and how far people agree (Tables 2 and 3), and train ten methods on both kinds of labels (Table 5). This page
repeats the design with RankSift's labelling project, and says what of it is simulated. It is written by

```
python -m experiments.labelling_study        # make experiments runs it too
```

**What is simulated, and what is not.** The people are simulated: a program that sees a hidden utility of each document
through errors whose size is [stated below](#the-set-up), and takes the times that the paper prints, on average. So
times per judgment and the level of agreement are put in; they are not findings. Nor is that T1 fares better than T2 a
finding on people. The documents are real (MQ2008 with its 46 features and its labels), and so is the tool: every answer
goes into the log of a project, and all tables are computed from that log as `ranksift label agreement` does.
"""


def in_short(
    found: Study, draws: Sequence[Measured], others: dict[str, Measured], learned: Trained, second: Trained
) -> str:
    """The findings, before the tables."""
    own, heap = found.measured, found.measured.cost["pairs"]
    fitting = printed.fitting()
    every = printed.counts(printed.EVERY_PAIR)
    above = [family.focused for family in FAMILIES if is_above_both(learned.top_k, family.focused)]
    findings = bullets(
        paragraph(
            f"**The heap asks {_value(heap.per_query, 1)} judgments per query here**, the paper prints "
            f"{printed.TABLE_1['pairs'][2]}, and without ties it is {WITHOUT_TIES}.",
            "A tie leaves the heap as it is, so that ties make it cheaper:",
            f"{percent(_ties(own.pairs))} of the pairs that two assessors judged are ties to the first of them.",
            f"Of all answers {percent(own.repeats.asked / heap.judgments)} are to a question that the same assessor "
            "had already answered.",
            f"The tournament, RankSift's default, asks {_mean(others['tournament'])}.",
        ),
        paragraph(
            "**Two assessors agree more often about pairs than about what grades imply**, with the same eyes and the "
            f"same carelessness: {percent(own.pairs.overall.value)} against {percent(own.inferred.overall.value)} (in "
            f"print 74.5 % and 54.7 %), without ties {percent(own.pairs.untied.value)} against "
            f"{percent(own.inferred.untied.value)} (89.7 % and 83.1 %).",
            f"In {DRAWS} further draws of all errors the difference is "
            f"{_points_between([d.all_pairs.difference.value for d in draws])} percentage points.",
            "The sizes of the errors were set so that the levels resemble the printed ones.",
        ),
        paragraph(
            "**The printed χ² are not those of all inferred pairs.** With all "
            f"{printed.EVERY_PAIR:,} pairs that grades imply, χ² = {printed.CHI_SQUARES[0]} needs about "
            f"{every.pairs:,.0f} pairs judged twice with T1, and then the one without ties would be "
            f"{number(every.untied, 1)}, not {printed.CHI_SQUARES[1]}. Both come out with about "
            f"{_round(fitting.pairs)} pairs of T1 and {_round(fitting.inferred)} of T2.",
        ),
        paragraph(
            "**By the truth**, which only a simulation has, training on the top 10 instead of grades is "
            f"{_tested(learned)} (κ-NDCG@10, paired t tests over 50 queries, Holm's correction); with the labels of "
            f"the second assignment it is {_tested(second)}.",
        ),
        paragraph(
            "**Table 5 is too small to decide much.**",
            f"On the top-10 labels {' and '.join(above)} {'are' if len(above) > 1 else 'is'} above both parents by "
            "κ-NDCG@10"
            if above
            else "On the top-10 labels no Focused method is above both of its parents by κ-NDCG@10",
            f"; of {2 * 2 * len(FAMILIES)} differences to a parent {_significant(learned.top_k)} significant (Holm's "
            "correction).",
        ).replace(" ;", ";"),
    )
    return f"""
**In short**

{findings}
"""


def set_up(seen: Perception, found: Study) -> str:
    """Section: what was put in."""
    rows = [
        ["queries × documents", "50 × 50, of MQ2008's queries with 50 documents or more and one that is relevant"],
        ["hidden utility", "label (0, 1, 2) + the probability in LETOR's files, which is below 1"],
        [
            "assessors, assignment",
            "five; the paper's rotation twice, so that every query is judged by two with each tool",
        ],
        [
            "T1",
            "the paper's heap (Algorithm 1), k = 10; both assessors of a query begin with the same documents",
        ],
        [
            "T2",
            "five grades; "
            + ", ".join(percent(share, 0) for share in UP_TO_GRADE)
            + " of documents lie below the bounds",
        ],
        ["own view of a document", f"deviation {seen.taste:g}, the same in all judgments of an assessor"],
        [
            "slip in a judgment",
            f"deviation {seen.slip_of_pairs:g} of a difference; {seen.slip_of_grades:.3f} of one document",
        ],
        ["tie", f"where two documents look no more than {seen.indifference:g} apart"],
        ["severity", f"bounds of each assessor's grades are moved, with deviation {seen.severity:g}"],
        ["times", "log-normal with the printed means; assessors differ by 20 %"],
        ["judgments", f"{found.judgments:,}, each sent to the JSON API of a project, as a client does"],
        ["seed", f"{SEED}; for what chance does, seeds {SEED + 1} to {SEED + DRAWS}"],
    ]
    return f"""
## The set-up

{table(["what", "how"], rows, words=2)}

Two slips of single documents make one of their difference, so that both tools are used with the same care. The same
question always gets the same answer from the same assessor, so that the pairs that the heap asks again add nothing.
"""


def cost(own: Measured, draws: Sequence[Measured], others: dict[str, Measured], ties: dict[float, Measured]) -> str:
    """Section: Table 1."""
    share = float(printed.shares(printed.TABLE_2, *printed.PAIRS)[1])
    rows = []
    for tool, name in (("pairs", "top-k labeling (heap)"), ("grades", "five grades")):
        one, (seconds, minutes, judgments) = own.cost[tool], printed.TABLE_1[tool]
        rows.append(
            [
                name,
                _value(one.seconds, 2),
                number(one.median_seconds.value, 2),
                number(seconds, 2),
                _value(one.minutes, 2),
                number(minutes, 2),
                _value(one.per_query, 1),
                number(judgments, 2),
            ]
        )
    for name, measured in others.items():
        one = measured.cost["pairs"]
        cells = [
            number(one.seconds.value, 2),
            number(one.median_seconds.value, 2),
            "",
            number(one.minutes.value, 2),
            "",
        ]
        rows.append([name, *cells, number(one.per_query.value, 1), ""])
    head = ["", "s per judgment", "median", "paper", "min per query", "paper", "judgments per query", "paper"]
    return f"""
## Table 1: cost

{table(head, rows)}

In brackets: 95 % intervals of a bootstrap over finished tasks. Seconds are put in (the paces of five assessors are
drawn around the printed means), and minutes follow from them and from the number of judgments, which is the one thing
that is found out here. In {DRAWS} further draws the heap asks
{between([d.cost["pairs"].per_query.value for d in draws], 1)} judgments per query. By the printed numbers 142.76
judgments of 5.51 s take 13.11 minutes, printed 13.13, and 50 of 13.87 s take 11.56, printed 11.78. The last rows are
other strategies with the same eyes; without ties and errors the paper's heap asks {WITHOUT_TIES}.

What ties do to the heap, with the same errors and other bounds of indifference:

{table(["a tie is up to", "ties among judged pairs", "agreement", "without ties", "judgments per query"], _tied(ties))}

The paper's tables imply [{percent(share)} of ties](#what-the-printed-tables-imply) among the pairs that two assessors
judged with T1, and Table 1 {printed.TABLE_1["pairs"][2]} judgments per query. {_together(ties, share)}
"""


def agreement(own: Measured, draws: Sequence[Measured]) -> str:
    """Section: Tables 2 and 3."""
    parts = []
    for name, one, theirs in (
        ("Table 2: pairs", own.pairs, printed.TABLE_2),
        ("Table 3: inferred from grades", own.inferred, printed.TABLE_3),
    ):
        rows = [
            [row, *(number(x) for x in mine), *(number(float(x)) for x in paper), str(int(total))]
            for row, mine, paper, total in zip(
                PREFERENCE_NAMES, one.matrix().tolist(), theirs, one.counts.sum(axis=1), strict=True
            )
        ]
        head = [name, *PREFERENCE_NAMES, *(f"paper {c}" for c in PREFERENCE_NAMES), "pairs"]
        parts.append(
            table([cell.replace("~", "\\~") for cell in head], [[c.replace("~", "\\~") for c in r] for r in rows])
        )
    kinds = {
        "pairs": own.pairs,
        "pairs and what follows": own.following,
        "inferred": own.inferred,
        "grades": own.grades,
    }
    rows = []
    for name, one in kinds.items():
        estimates = (one.overall, one.untied, one.kappa, one.fleiss, one.alpha_ordinal)
        rows.append([name, f"{one.units:,}", *(_value(x, 3) for x in estimates)])
    head = ["about", "units", "agreement", "without ties", "Cohen's κ", "Fleiss' κ", "α, ordinal"]
    spread = [
        [
            name,
            *(between([100 * getattr(d, kind).overall.value for d in draws], 1) for kind in ("pairs", "inferred")),
            *(between([100 * getattr(d, kind).untied.value for d in draws], 1) for kind in ("pairs", "inferred")),
        ]
        for name in (f"{DRAWS} draws, %",)
    ]
    spread.append(["this study, %", *(number(100 * x, 1) for x in _levels(own))])
    spread.append(["paper, %", "74.5", "54.7", "89.7", "83.1"])
    return f"""
## Tables 2 and 3: agreement

Rows are what the assessor of the first assignment says, columns what that of the second says; A is the document that
the first one had on the left, or graded first.

{parts[0]}

{parts[1]}

{table(["", "pairs", "inferred", "pairs without ties", "inferred without ties"], spread)}

{table(head, rows)}

Pairs less inferred preferences: {_difference(own.all_pairs)} for all pairs and {_difference(own.untied)} without ties.
χ² takes pairs as independent, which those of one query are not; the intervals come from drawing queries.

The matrices of the paper are less even than these: in print an assessor who calls a pair a tie is joined by the
other in 82 % of cases, here in {percent(_diagonal(own.pairs), 0)}.
"""


def printed_numbers(own: Measured) -> str:
    """Section: what can be reproduced from the printed tables alone."""
    rows = []
    for name, matrix, (overall, untied) in (
        ("T1", printed.TABLE_2, printed.PAIRS),
        ("T2", printed.TABLE_3, printed.GRADES),
    ):
        share = printed.shares(matrix, overall, untied)
        cells = [percent(float(x)) for x in share]
        rows.append([name, percent(overall), percent(untied), *cells, percent(printed.untied_share(matrix, share))])
    head = [
        "",
        "agreement",
        "without ties",
        *(f"says {c}".replace("~", "\\~") for c in PREFERENCE_NAMES),
        "both prefer",
    ]
    counts = []
    for found in (printed.counts(printed.EVERY_PAIR), printed.counts(10_000.0), printed.fitting()):
        counts.append(
            [f"{found.inferred:,.0f}", f"{found.pairs:,.0f}", str(printed.CHI_SQUARES[0]), number(found.untied, 1)]
        )
    return f"""
## What the printed tables imply

The printed rows, the agreement of all pairs and that without ties settle how often the first assessors said each of the
three:

{table(head, rows)}

All shares lie between 0 and 1, so that the printed figures fit together, with counts that are read by direction: rows
for the first assessor, columns for the second. The counts behind them are not printed, and without them χ² cannot be
computed. But it can be asked which counts lead to the printed χ² of {printed.CHI_SQUARES[0]} and
{printed.CHI_SQUARES[1]} (one degree of freedom). They are taken as they are without continuity correction; with one,
slightly larger counts would do, so that the printed values cannot say which it was:

{table(["pairs of T2", "pairs of T1 that follow", "χ² of all", "χ² without ties"], counts)}

So if all {printed.EVERY_PAIR:,} inferred pairs had been counted the second value could not be {printed.CHI_SQUARES[1]}.
About as many pairs of T2 as of T1 must have been counted. Here {own.pairs.units:,} pairs were judged by two assessors
with T1, about {own.pairs.units / 50:.0f} per query.
"""


def labels_themselves(labels: dict[str, Labels], utilities: Labels, truth: Labels) -> str:
    """Section: labels against the truth."""
    rows = []
    for tool, name in (("pairs", "top 10 by the heap"), ("grades", "five grades")):
        rows.append(
            [
                name,
                percent(float(found_of_the_top(labels[tool], utilities).mean())),
                number(kappa_ndcg_of(labels[tool], truth), 3),
            ]
        )
    return f"""
## The labels against the truth

{table(["labels of the first assignment", "of the true top 10", "κ-NDCG@10 as a ranking"], rows)}

Grades do not order documents of one grade: among those that share the grade at the edge of the top ten each counts in
part, and as a ranking they go by their ids.
"""


def methods(learned: Trained, second: Trained) -> str:
    """Section: Table 5."""
    rows = []
    for method in learned.graded.found:
        cells = []
        for measure in TESTED:
            for scores in learned.by_truth:
                cells.append(number(float(scores.values[scores.row(method), :, scores.column(measure)].mean()), 3))
            cells.append(_less(learned, method, measure))
        rows.append([method, *cells, _less(second, method, TESTED[0])])
    head = ["trained on", "grades: κ-N@10", "top 10", "difference", "grades: κ-ERR", "top 10", "difference"]
    head.append("other assessors: κ-N@10")
    return f"""
## Table 5: ten methods trained on both

In five folds of ten queries: three parts to learn from, one to tune on, one to be judged on, with the settings of
[Learning from an ordered top 10](top-k-learning.md). As in the paper each half has measures and labels of its own: NDCG
by the grades, κ-NDCG by the top-10 labels. So the two halves cannot be compared with each other.

{tables.results(learned.graded.told())}

{tables.in_print("graded TD2003")}

{tables.results(learned.top_k.told())}

{tables.in_print("top-k TD2003")}

A letter stands for a method that is significantly worse (paired t tests of all 45 pairs, Holm's correction). The
comparisons that the paper's claim is about, on the top-10 labels:

{tables.differences([learned.top_k.told()])}

### By the truth

The same rankings judged by the true order, so that what was learned from can be compared; ± is half of a 95 % interval.
The last column is the difference when the labels are those of the second assignment:

{table(head, rows)}
"""


def limits() -> str:
    """Section: what cannot be said."""
    return """
## What cannot be said

- How people judge. Errors here are normal and independent, nobody gets tired, and no side is favoured.
- That pairs are quicker: the times are the paper's.
- What a text is worth: nobody reads one. The paper's documents, TREC-2003's, were not at hand.
- Fifty queries are few: a difference in κ-NDCG@10 has an interval about 0.1 wide, and it depends on whose labels are
  learned from.
- The utility comes from labels and sampling probabilities of MQ2008, on which the features have been tried for years.
"""


# -- words and numbers -------------------------------------------------------------------------------------------------


def is_above_both(one: Learned, focused: str) -> bool:
    """Whether a Focused method's mean is above those of both parents."""
    return all(d.value > 0 for d in one.differences(TESTED[0]) if d.focused == focused)


def _significant(one: Learned) -> str:
    count = sum(d.p <= ALPHA for measure in TESTED for d in one.differences(measure))
    return f"{word(count) if count else 'none'} {'are' if count > 1 else 'is'}"


def _tested(learned: Trained) -> str:
    better, worse = (learned.significant(TESTED[0], sign) for sign in (1, -1))
    if not better and not worse:
        return "neither significantly better nor significantly worse for any of the ten methods"
    parts = [("better", better), ("worse", worse)]
    return " and ".join(f"significantly {which} for {', '.join(names) or 'none'}" for which, names in parts)


def _less(learned: Trained, method: str, measure: str) -> str:
    found = learned.difference(method, measure)
    return f"{number(found.value, 3, sign=True)} ± {number(found.half, 3)}"


def _value(estimate: Estimate, digits: int) -> str:
    if np.isnan(estimate.value):
        return ""
    value = number(estimate.value, digits)
    if np.isnan(estimate.low):
        return value
    return f"{value} ({number(estimate.low, digits)} to {number(estimate.high, digits)})"


def _mean(measured: Measured) -> str:
    return number(measured.cost["pairs"].per_query.value, 1)


def _ties(one: Agreement) -> float:
    return float(one.counts[1].sum() / one.counts.sum())


def _tied(ties: dict[float, Measured]) -> list[list[str]]:
    return [
        [
            f"{bound:g}",
            percent(_ties(one.pairs)),
            percent(one.pairs.overall.value),
            percent(one.pairs.untied.value),
            _mean(one),
        ]
        for bound, one in ties.items()
    ]


def _together(ties: dict[float, Measured], share: float) -> str:
    """Whether as many ties and as many judgments as are printed go together here."""
    nearest = min(ties.values(), key=lambda one: abs(_ties(one.pairs) - share))
    asked = nearest.cost["pairs"].per_query
    return says(
        asked.value < printed.TABLE_1["pairs"][2] - 20,
        f"Here {percent(_ties(nearest.pairs))} of ties go with {number(asked.value, 1)} judgments: the two printed "
        "figures do not go together, unless ties were broken while the heap was built, or the documents were unlike "
        "these.",
        f"Here {percent(_ties(nearest.pairs))} of ties go with {number(asked.value, 1)} judgments.",
    )


def _diagonal(one: Agreement) -> float:
    return float(one.matrix()[1, 1])


def _levels(own: Measured) -> Floats:
    found = (own.pairs.overall, own.inferred.overall, own.pairs.untied, own.inferred.untied)
    return np.array([estimate.value for estimate in found])


def _points_between(values: Sequence[float]) -> str:
    return between([100 * value for value in values], 1, sign=True)


def _difference(found: Difference) -> str:
    value, low, high = (number(100 * x, 1, sign=True) for x in found.difference)
    chi = number(found.chi_square, 1)
    p = probability(found.p)
    return f"{value} percentage points ({low} to {high}), χ² = {chi}, p {p if p.startswith('<') else '= ' + p}"


def _round(value: float) -> str:
    return f"{round(value, -2):,.0f}"
