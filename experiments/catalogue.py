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
    web_track.EXPERIMENT,
    forbidden.EXPERIMENT,
    truncation.EXPERIMENT,
    bounds.EXPERIMENT,
    properties.EXPERIMENT,
    submissions.EXPERIMENT,
    risk.EXPERIMENT,
    cutoffs.EXPERIMENT,
    rank_and_filter.EXPERIMENT,
    text.EXPERIMENT,
    labelling.EXPERIMENT,
    top_k.EXPERIMENT,
    labelling_study.EXPERIMENT,
    learned_rankers.EXPERIMENT,
    boosted_trees.EXPERIMENT,
    papers.EXPERIMENT,
    prompt.EXPERIMENT,
]
