"""The page: what was asked, what came out, and where the numbers are from."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.bounds import figures, printed
from experiments.bounds.chance import chance, means, random_rankings
from experiments.bounds.consistency import across_sets, consistent, v2_swaps_fewer
from experiments.bounds.counts import counts
from experiments.bounds.differences import growth, percentage_differences
from experiments.bounds.letor import SETTINGS, mq2007, mq2008
from experiments.bounds.orders import change_more_on_uninformative, orders
from experiments.bounds.origins import in_range, listnet_rows, nearest_setting, origins, perfect_msp
from experiments.bounds.pairs import conflict_more_on_uninformative, fits_unpaired, gains, pairs, points
from experiments.bounds.queries import Trials, query_types
from experiments.bounds.readings import DCG_EXACT, MSP_EXACT, PRINTED, WRITTEN, Measured, values_of
from experiments.bounds.stable import Found, sound, soundness
from experiments.bounds.trials import SETS, drawn_queries, trials
from experiments.markdown import between, bullets, number, page, paragraph, says, table
from ranksift.errors import RankSiftWarning
from ranksift.evaluation.scores import Scores

NEEDS: tuple[str, ...] = ("letor4_listnet_predictions", "letor4_mq2007_agg")


def files(data: Path) -> dict[str, str]:
    """The page and its figures."""
    with warnings.catch_warnings():
        # About ties at the border of a set, and about PAD of negative averages: the page says so itself.
        warnings.simplefilter("ignore", RankSiftWarning)
        return _files(data)


def _files(data: Path) -> dict[str, str]:
    measured, other = Measured.of(mq2007(data)), Measured.of(mq2008(data))
    random = random_rankings(measured.collection)
    queries = measured.scores.queries
    drawn, whole = trials(measured, drawn_queries(queries)), trials(measured, queries)
    found = soundness(whole)
    text = page(
        OPENING,
        in_short(measured, random, drawn, whole, found),
        the_systems(measured),
        origins(measured),
        chance(measured, random),
        query_types(drawn, whole),
        orders(drawn, whole),
        pairs(measured, drawn, whole),
        percentage_differences(drawn),
        consistent(drawn, measured, other),
        sound(found),
        LIMITS,
        figure="upper-and-lower-bounds-printed.svg",
        fold=True,
    )
    return {
        "upper-and-lower-bounds.md": text,
        "upper-and-lower-bounds-printed.svg": figures.learners(measured),
        "upper-and-lower-bounds-expected.svg": figures.expected(measured),
        "upper-and-lower-bounds-queries.svg": figures.real_and_expected(whole),
    }


OPENING = """
# Measures between a random and a perfect ranking

This page repeats a study of measures that place a score between a random and a perfect ranking. nDCG and average
precision say how near a ranking comes to the perfect one. Karmaker and Feng (2022) also ask how far it is from a
random one: some queries are easy, and even a random ranking scores high on them. Their measures put each query's
score between the expected score of a random ranking and that of a perfect one, in two versions, V1 and V2 (`DCG_ul1`,
`DCG_ul2`, `MSP_ul1`, `MSP_ul2` in RankSift).

They report that these measures tell more systems apart, and
that they order systems differently on queries in which rankers hardly beat a random order. Their study is repeated
here on one of their two collections, MQ2007, with other systems. This page is written by

```
python -m experiments.bounds        # make experiments runs it too
```

from public data that is not part of the repository ([its sources](#how-this-was-made-and-what-cannot-be-said));
`RANKSIFT_DATA` names the folder. The setting is the preset `bounds-2022`: k = 5, 10, 15, 20, 30, gains 2^l − 1 of
labels l, t-tests at p ≤ 0.05.
"""


def in_short(measured: Measured, random: Scores, drawn: Trials, whole: Trials, found: Found) -> str:
    """The findings, before the tables."""
    both, tests = (drawn, whole), counts(measured)
    paired = {kind: gains(both, kind, paired=True) for kind in SETS}
    unpaired = {kind: gains(both, kind, paired=False) for kind in SETS}
    grown, v2 = growth(drawn), means(random, DCG_EXACT.v2) + means(random, MSP_EXACT.v2)
    needed = [found[reading, "all", version].needed or 0 for reading in (DCG_EXACT, MSP_EXACT) for version in (0, 2)]
    findings = bullets(
        paragraph("**Text and tables of the paper do not agree.**", *_printed_in_short(measured)),
        says(
            max(v2) < 0,
            f"**A V2 of 0 is better than random.** Random rankings get {between(v2)} on average, also with the exact "
            "lower bound: the scale is steeper below the bound than above it.",
        ),
        says(
            change_more_on_uninformative(drawn) and conflict_more_on_uninformative(drawn),
            "**Orders and tests change, and more so on uninformative queries than on ideal ones.** The paper "
            "says so too, and it holds in every reading: Kendall's τ is lower there, and conflicts of "
            "significance are more "
            "frequent.",
        ),
        paragraph(
            "**More systems are told apart only where tests are not paired.**",
            says(fits_unpaired(tests), "The paper's counts of significant pairs fit unpaired t-tests."),
            says(
                min(min(gain) for gain in unpaired.values()) > 0 and max(paired["all"]) < 0,
                f"With these V2 finds more significant pairs here too ({points(unpaired['all'])} on all queries, "
                f"{points(unpaired['uninformative'])} on uninformative ones). With paired tests, which systems that "
                f"answer the same queries call for, it finds fewer on all queries ({points(paired['all'])}), and on "
                f"uninformative ones the change is {points(paired['uninformative'])}.",
            ),
        ),
        says(
            min(grown) > 1.2,
            "**Percentage differences are not evidence.** They rise with V1 and V2, but also when a constant is "
            "subtracted from every score, which changes no comparison (they become {between(grown, 1)} times as "
            "large).",
        ),
        says(
            v2_swaps_fewer(across_sets(drawn)),
            "**V2 orders systems more similarly on both kinds of queries** than its measure does, in every reading.",
        ),
        "**The normalisation makes scores more dependable.** For a reliability Φ of 0.95 nDCG@10 needs "
        f"{needed[0]:,} queries and its V2 {needed[1]:,}, MSP@10 {needed[2]:,} and {needed[3]:,}. The order of systems "
        "is not more reliable than before.",
    )
    return f"""
**In short**

{findings}
"""


def _printed_in_short(measured: Measured) -> Iterator[str]:
    rows = listnet_rows(measured.scores, nearest_setting(measured))
    perfect, maps = perfect_msp(measured, 30), printed.learners(printed.MAP)[:, -1]
    (found, cells), (written, all_written) = in_range(rows, PRINTED), in_range(rows, WRITTEN)
    yield says(
        bool((maps > perfect).all()),
        f"The printed MAP@30 ({between(maps)}) is more than a perfect ranking can get by the paper's formula "
        f"({number(perfect, 3)}).",
    )
    yield says(
        found == cells and written == 0,
        f"With two other formulas, SP / min(k, R) for MAP and 2^E[l] − 1 for the mean gain, all {cells} printed values "
        f"of ListNet's MAP, V1 and V2 lie where real ListNet models do; with the written ones none of {all_written}.",
    )


def the_systems(measured: Measured) -> str:
    """Section: who is compared."""
    collection, scores = measured.collection, measured.scores
    own = [name for name in collection.models if name.startswith("LETOR")]
    ltr4l = [name for name in collection.models if name.startswith("ltr4l")]
    groups = {
        **SETTINGS,
        "ListNet of the study's authors": own,
        "LTR4L's ListNet": ltr4l,
        "input rankings of MQ2007-agg": list(collection.rankings),
    }
    lengths = {name: np.array([len(collection.runs[run]) for run in runs]) for name, runs in groups.items()}
    rows = []
    for name, runs in groups.items():
        at = [scores.row(run) for run in runs]
        cells = []
        for measure in ("nDCG@10", "DCG_ul2@10", "MSP@10", "MSP_ul2@10"):
            cells.append(between(values_of(scores, measure)[at].mean(axis=1).tolist()))
        rows.append([name, str(len(runs)), number(lengths[name].mean() / len(scores.queries), 1), *cells])
    head = ["systems", "number", "documents a query", "nDCG@10", "DCG_ul2@10", "MSP@10", "MSP_ul2@10"]
    labels = len(collection.qrels)
    return f"""
## The systems

The paper trains eight learners. We have {len(scores.runs)} systems on MQ2007 ({len(scores.queries):,} queries,
{labels:,} documents, labels 0 to 2):

{table(head, rows)}

The {len(collection.models)} models are ListNets from a reproducibility study, each the five models of its five folds,
so that every query is a test query. RankLib's 40 models are eight settings with five models each; the study meant the
five to be trained for five measures, but its script (`code/RankLib analysis/script_maker.py`) passes none of them on,
so that they differ by their random start. {len(collection.idle)} models of LTR4L were left out because in at least one
fold they give all documents of most queries the same score. The {len(collection.rankings)} input rankings do not
contain every document; missing documents are not in their lists. The paper's expected values are those of a ranking
of all documents, so that short lists score low by V1 and V2. """


LIMITS = """
## How this was made, and what cannot be said

| what | how |
|---|---|
| command | `python -m experiments.bounds`, about a minute on two cores |
| labels and input rankings | LETOR 4.0 MQ2007-agg, from `AlexZabashta/AggregationMethods`, data/letor |
| models' scores | `francelabs/ListNetReproducibilityStudy`, MQ2007 and MQ2008, FoldN/new_predictions |
| documents | named by their line, the test files of folds 1 to 5 one after the other; ties go to the later line |
| preset | `ranksift.study.presets.preset("bounds-2022")` |
| query sets | `study.expected_scores`, `study.query_types`, signed difference, 500 and 500 (with MQ2008: 250 and 250) |
| seed | 0: the 1,000 queries, the random rankings, the samples of stability and reliability |

- The systems are not the paper's. Two thirds are variants of ListNet, close to each other; the rest are whole retrieval
  systems of which some are much worse. Shares of significant pairs are therefore not to be compared with the paper's
  one by one, only how they change from a measure to V1 and V2.
- The paper's random 1,000 queries are not known; ours are another sample. MSLR-WEB30K, its other collection, was not
available in full.
- That the tables follow other formulas and another test than the text is inferred from the printed numbers. The
paper's code was not available.
- Whether the smallest difference between real and expected is signed or absolute the paper does not say; it is signed
here. - The tests are not corrected for their number, as in the paper. Some of the significant pairs are due to chance.
"""
