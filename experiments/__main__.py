"""Run every experiment: ``python -m experiments``."""

from experiments import bounds, cutoffs, forbidden, risk, submissions, truncation, web_track
from experiments.publish import publish

for experiment in (web_track, forbidden, truncation, bounds, submissions, risk, cutoffs):
    publish(experiment)
