"""Stability and reliability on all, uninformative and ideal queries."""

from __future__ import annotations

from typing import Any

from experiments.bounds.queries import Trials
from experiments.bounds.readings import DCG_EXACT, MSP_EXACT, MSP_PAPER, Reading, at, part
from experiments.bounds.trials import SEED, SETS
from ranksift import study

K = 10
SIZES = (25, 50, 100, 250)
PHI = 0.95
SHOWN = (DCG_EXACT, MSP_PAPER, MSP_EXACT)


def soundness(whole: Trials) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """On each set, at k = 10: of the measure itself, V1 and V2."""
    return {reading.name: {kind: _of(whole, reading, kind) for kind in SETS} for reading in SHOWN}


def _of(whole: Trials, reading: Reading, kind: str) -> list[dict[str, Any]]:
    scores = part(whole[reading].on(kind), measures=at(reading.measures, [K]))
    # Without fuzziness: V2's scale is longer than that of its measure, and one threshold would not be the same.
    stability = study.stability(scores, samples=200, fuzziness=0.0, seed=SEED, sizes=SIZES)
    reliability = study.reliability(scores, seed=SEED)
    return [
        {
            "errors": dict(stability.error_rate[measure]),
            "phi": reliability.phi[measure],
            "interval": reliability.phi_interval[measure],
            "rho2": reliability.rho2[measure],
            "needed": reliability.topics_needed(PHI)[measure],
        }
        for measure in at(reading.measures, [K])
    ]
