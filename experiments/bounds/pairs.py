"""Do the normalised measures tell more systems apart, and do they contradict the measures that they come from?"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.bounds.trials import Trial


def significant(trial: Trial, kind: str, version: int, *, paired: bool = True, runs: Sequence[str] = ()) -> float:
    """Share of significant pairs over all k; version 0 is the measure itself."""
    measure = trial.reading.measures[version]
    if not paired:
        return trial.unpaired[kind].share(measure)
    found = trial.discrimination(kind, runs)
    return found.significant[measure] / found.tested[measure]


def conflicts(trial: Trial, kind: str, version: int, *, paired: bool = True) -> float:
    """Share of pairs on which the measure and V1 or V2 disagree."""
    base, measure = trial.reading.base, trial.reading.measures[version]
    if not paired:
        return trial.unpaired[kind].conflicts(base, measure)
    found = trial.discrimination(kind)
    return found.conflicts(base, measure) / found.tested[base]
