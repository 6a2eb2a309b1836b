"""Every experiment, in the order in which they are made."""

from __future__ import annotations

from typing import Any

from experiments import (
    boosted_trees,
    bounds,
    cutoffs,
    forbidden,
    labelling,
    labelling_study,
    learned_rankers,
    papers,
    prompt,
    properties,
    rank_and_filter,
    risk,
    submissions,
    text,
    top_k,
    truncation,
    web_track,
)

#: The result of `experiments.experiment.Experiment`, or a package of the kind before it.
EXPERIMENTS: list[Any] = [
    web_track,
    forbidden,
    truncation.EXPERIMENT,
    bounds,
    properties,
    submissions,
    risk,
    cutoffs,
    rank_and_filter.EXPERIMENT,
    text.EXPERIMENT,
    labelling,
    top_k,
    labelling_study,
    learned_rankers,
    boosted_trees,
    papers,
    prompt,
]
