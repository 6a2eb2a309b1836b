"""All methods, fitted and compared, in a quarter of an hour: ``python -m experiments.boosted_trees.measure``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.boosted_trees import defaults, seconds, settings
from experiments.boosted_trees.fits import BEST, MEASURE, MEASURES, How, Outcome, outcome
from experiments.boosted_trees.measured import keep
from experiments.boosted_trees.methods import BAGGED, CONTEXT, OURS


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page; seconds differ from machine to machine."""
    return {
        "comparison": comparison(data),
        "seconds": seconds.measured(data),
        "defaults": defaults.measured(data),
        "settings": settings.measured(data),
    }


def comparison(data: Path) -> dict[str, Any]:
    """Every method in every way."""
    return compared(outcome(data))


def compared(found: Outcome) -> dict[str, Any]:
    """What the page shows of methods that are fitted."""
    own = found.collection
    validation = [len(fold.validation.query_ids) for fold in own.folds if fold.validation]
    return {
        "queries": len(own.whole.query_ids),
        "features": len(own.whole.feature_names),
        "folds": len(own.folds),
        "seeds": found.seeds,
        "validation queries": [min(validation), max(validation)],
        "methods": {name: {how: row(found, name, how) for how in found.ways(name)} for name in found.found},
        "chosen": {name: chosen(found, name) for name in found.methods(how=BEST)},
        "p of tuning": found.tuned_or_not(),
        "ahead": {
            ours: {how: {m: ahead(found, ours, m, how) for m in measures} for how in found.ways(ours)}
            for ours, measures in {OURS: MEASURES, BAGGED: [MEASURE], CONTEXT: [MEASURE]}.items()
        },
    }


def row(found: Outcome, name: str, how: How) -> dict[str, Any]:
    """A method in one way: measures by seed and by fold, the number of trees, and how often it is as it was given."""
    trees = found.trees(name, how=how)
    return {
        **{measure: found.values(name, measure, how=how) for measure in MEASURES},
        "folds": found.of_folds(name, how=how),
        "validation": found.promised(name, how=how),
        "trees": [np.median(trees), trees.min(), trees.max()],
        "as given": sum(getattr(fold, how) is fold.given for seed in found.found[name] for fold in seed),
    }


def chosen(found: Outcome, name: str) -> dict[str, list[float]]:
    """The middle half of each parameter of the best trials."""
    params = [fold.params for seed in found.found[name] for fold in seed]
    return {
        parameter: np.quantile([float(of[parameter]) for of in params], [0.25, 0.75], method="nearest").tolist()
        for parameter in params[0]
    }


def ahead(found: Outcome, ours: str, measure: str, how: How) -> Mapping[str, Mapping[str, float]]:
    """How far one of ours is ahead of each other method."""
    return {other: apart._asdict() for other, apart in found.ahead(ours, measure, how=how).items()}


if __name__ == "__main__":
    keep("comparison", comparison)
