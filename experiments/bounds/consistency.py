"""Do the same systems come out in the same order on other queries, and on another collection?"""

from __future__ import annotations

from experiments.bounds.letor import SETTINGS, methods
from experiments.bounds.queries import Trials
from experiments.bounds.readings import READINGS, Floats, Measured, averaged, over_k
from experiments.bounds.trials import SETS, trials
from ranksift import study

#: Queries of each kind in both collections: MQ2008 is too small for 500 and 500.
SIZE = 250

#: For each reading and each set or group: the swap rate of the measure, V1 and V2.
Rates = dict[str, dict[str, list[float]]]


def across_sets(drawn: Trials) -> Rates:
    """Between uninformative and ideal queries: of all systems, and of the models."""
    found: Rates = {}
    for reading, trial in drawn.items():
        found[reading.name] = {}
        for group, runs in (("systems", None), ("models", list(trial.measured.collection.models))):
            rate = study.consistency(trial.on("uninformative", runs), trial.on("ideal", runs), over_k=True).swap_rate
            found[reading.name][group] = [rate[measure] for measure in reading.measures]
    return found


def across_collections(one: Measured, two: Measured) -> Rates:
    """Between two collections, on each set: of the methods that are in both."""
    groups = methods(list(one.collection.models))
    first, second = (trials(measured, measured.scores.queries, SIZE) for measured in (one, two))
    found: Rates = {}
    for reading in READINGS:
        found[reading.name] = {}
        for kind in SETS:
            left, right = (averaged(trial[reading].on(kind), groups) for trial in (first, second))
            rate = study.consistency(left, right, over_k=True).swap_rate
            found[reading.name][kind] = [rate[measure] for measure in reading.measures]
    return found


def by_learning_rate(measured: Measured) -> Floats:
    """What RankLib's settings gain in nDCG by the higher one of two learning rates."""
    ndcg = over_k(averaged(measured.scores, SETTINGS), "nDCG")
    return ndcg[::2] - ndcg[1::2]
