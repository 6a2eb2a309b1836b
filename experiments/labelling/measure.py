"""Every strategy on every kind of queries and assessors."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from experiments.labelling.trials import (
    LIGHTER,
    MODELS,
    NOISES,
    NOISY,
    NOISY_QUERIES,
    ON_LIGHTER,
    QUERIES,
    SHOWN,
    STRATEGIES,
    TAUS,
    WITH_PRIOR,
    K,
    N,
    Trial,
    every,
    pairs_of_the_heap,
)
from ranksift.labelling.floor import floor, worst_case_floor


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figure; it needs no data."""
    plain = {name: Trial(name) for name in (*STRATEGIES, "grades")}
    prior = {tau: {name: Trial(name, prior_tau=tau) for name in WITH_PRIOR} for tau in TAUS}
    lighter = {words: {name: Trial(name, **given) for name in ON_LIGHTER} for words, given in LIGHTER.items()}
    noisy = {
        (model, name, shown, noise): Trial(name, noise=noise, model=model, shown=shown, queries=NOISY_QUERIES)
        for model, name, shown, noise in product(MODELS, NOISY, SHOWN, NOISES)
    }
    trials = [
        *plain.values(),
        *(trial for kind in (prior, lighter) for of in kind.values() for trial in of.values()),
        *noisy.values(),
    ]
    found = every(trials)
    return {
        "queries": {"n": N, "k": K, "count": QUERIES, "noisy": NOISY_QUERIES},
        "floor": floor(N, K),
        "worst case": worst_case_floor(N, K),
        "pairs of the heap": pairs_of_the_heap(),
        "plain": {name: found[trial] for name, trial in plain.items()},
        "prior": {
            "none" if tau is None else f"{tau:g}": {name: found[trial] for name, trial in of.items()}
            for tau, of in prior.items()
        },
        "lighter": {words: {name: found[trial] for name, trial in of.items()} for words, of in lighter.items()},
        "noisy": {
            model: {
                name: {
                    shown or "nobody": {f"{noise:g}": found[noisy[model, name, shown, noise]] for noise in NOISES}
                    for shown in SHOWN
                }
                for name in NOISY
            }
            for model in MODELS
        },
    }
