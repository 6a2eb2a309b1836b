"""Do the same systems come out in the same order on other queries, and on another collection?"""

from __future__ import annotations

from experiments.bounds import printed
from experiments.bounds.letor import SETTINGS, methods
from experiments.bounds.queries import Trials
from experiments.bounds.readings import PRINTED, READINGS, Floats, Measured, Reading, averaged, over_k
from experiments.bounds.trials import SETS, trials
from experiments.markdown import between, number, paragraph, says, table
from ranksift import study

#: Queries of each kind in both collections: MQ2008 is too small for 500 and 500.
SIZE = 250

#: For each reading and each set or group: the swap rate of the measure, V1 and V2.
Rates = dict[Reading, dict[str, list[float]]]


def across_sets(drawn: Trials) -> Rates:
    """Between uninformative and ideal queries: of all systems, and of the models."""
    found: Rates = {}
    for reading, trial in drawn.items():
        found[reading] = {}
        for group, runs in (("systems", None), ("models", list(trial.measured.collection.models))):
            rate = study.consistency(trial.on("uninformative", runs), trial.on("ideal", runs), over_k=True).swap_rate
            found[reading][group] = [rate[measure] for measure in reading.measures]
    return found


def across_collections(one: Measured, two: Measured) -> Rates:
    """Between two collections, on each set: of the methods that are in both."""
    groups = methods(list(one.collection.models))
    first, second = (trials(measured, measured.scores.queries, SIZE) for measured in (one, two))
    found: Rates = {}
    for reading in READINGS:
        found[reading] = {}
        for kind in SETS:
            left, right = (averaged(trial[reading].on(kind), groups) for trial in (first, second))
            rate = study.consistency(left, right, over_k=True).swap_rate
            found[reading][kind] = [rate[measure] for measure in reading.measures]
    return found


def v2_swaps_fewer(rates: Rates) -> bool:
    """Whether V2's two orders are more alike than those of its measure, by every reading."""
    return all(of["systems"][2] < of["systems"][0] for of in rates.values())


def turned_round(one: Measured, two: Measured) -> bool:
    """Whether RankLib's lower learning rate is the worse one in the first collection, and the better in the second."""

    def higher_less_lower(measured: Measured) -> Floats:
        ndcg = over_k(averaged(measured.scores, SETTINGS), "nDCG")
        return ndcg[::2] - ndcg[1::2]

    return bool((higher_less_lower(one) > 0).all() and (higher_less_lower(two) < 0).all())


def consistent(drawn: Trials, one: Measured, two: Measured) -> str:
    """Section: swap rates."""
    sets, collections = across_sets(drawn), across_collections(one, two)
    count = len(methods(list(one.collection.models)))
    return f"""
## Consistency

The swap rate is the share of pairs of systems in opposite orders. Between uninformative and ideal queries:

{table(["reading", "measure", "all systems", "models", "paper"], _rows_of_sets(sets), words=2)}

{_sets_in_words(sets)}

The paper compares MQ2007 with MSLR-WEB30K. We have the same kinds of models on MQ2008: the RankLib models by setting,
each the mean of its five, and the two models of that study's authors, {count} methods in all. (The LTR4L models have
other settings under the same numbers and do not correspond.) With {SIZE} uninformative and {SIZE} ideal queries of each
collection:

{table(["reading", "measure", *SETS, *(f"paper: {kind}" for kind in SETS)], _rows_of_collections(collections), words=2)}

{_collections_in_words(collections, count, turned_round(one, two))}
"""


def _three(value: float) -> str:
    return number(value, 3)


def _rows_of_sets(rates: Rates) -> list[list[str]]:
    return [
        [
            reading.name,
            reading.called(i),
            *(_three(of[group][i]) for group in ("systems", "models")),
            _three(printed.ACROSS_SETS[reading.tables][i]) if reading in PRINTED else "",
        ]
        for reading, of in rates.items()
        for i in range(3)
    ]


def _rows_of_collections(rates: Rates) -> list[list[str]]:
    return [
        [
            reading.name,
            reading.called(i),
            *(_three(of[kind][i]) for kind in SETS),
            *printed.beside(reading, printed.ACROSS_COLLECTIONS, i, _three),
        ]
        for reading, of in rates.items()
        for i in range(3)
    ]


def _sets_in_words(rates: Rates) -> str:
    return paragraph(
        says(
            v2_swaps_fewer(rates),
            "V2 swaps fewer pairs than its measure by every reading. The paper finds that for MAP, and no difference "
            "for nDCG.",
        ),
        says(all(of["systems"][1] > of["systems"][0] for of in rates.values()), "V1 swaps more."),
        "The two sets are opposite ends of one order of queries, so that a rate near a half says that they have little "
        "in common rather than that a measure is bad.",
    )


def _collections_in_words(rates: Rates, count: int, turned: bool) -> str:
    every = [rate for of in rates.values() for rate in of["all"]]
    change = [of[kind][2] - of[kind][0] for of in rates.values() for kind in SETS]
    number_of_pairs = count * (count - 1) // 2
    return paragraph(
        says(
            min(every) > 0.3 and turned,
            f"On all queries the two collections agree on hardly more than half of the pairs ({between(every)} are "
            "swapped), whatever the measure: RankLib's lower learning rate is the worse one on MQ2007 and the better "
            "one on MQ2008. That is a fact about the models, and no measure can turn it into agreement.",
        ),
        f"From a measure to its V2 the rate changes by {between(change, 3, sign=True)}, where one pair of the "
        f"{number_of_pairs} is {_three(1 / number_of_pairs)}.",
    )
