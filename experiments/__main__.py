"""Run every experiment: ``python -m experiments``."""

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
from experiments.publish import publish

for experiment in (
    web_track,
    forbidden,
    truncation,
    bounds,
    properties,
    submissions,
    risk,
    cutoffs,
    rank_and_filter,
    text,
    labelling,
    top_k,
    labelling_study,
    learned_rankers,
    boosted_trees,
    papers,
    prompt,
):
    publish(experiment)
