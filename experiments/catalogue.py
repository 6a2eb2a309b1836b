"""Every experiment, in the order in which they are made."""

from __future__ import annotations

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
from experiments.experiment import Experiment

EXPERIMENTS: list[Experiment] = [
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
