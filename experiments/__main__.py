"""Run every experiment: ``python -m experiments``."""

from experiments import bounds, cutoffs, forbidden, learned_rankers, risk, submissions, top_k, truncation, web_track
from experiments.publish import publish

for experiment in (web_track, forbidden, truncation, bounds, submissions, risk, cutoffs, top_k, learned_rankers):
    publish(experiment)
