"""Do the normalised measures put systems into another order?"""

from __future__ import annotations

from experiments.bounds.trials import Trial


def tau(trial: Trial, kind: str, version: int) -> float:
    """Kendall's τ between the orders by the measure and by V1 or V2."""
    reading = trial.reading
    return float(trial.agreement[kind].tau[reading.base, reading.measures[version]])
