"""Run every experiment: ``python -m experiments``."""

from experiments import bounds, forbidden, submissions, truncation, web_track
from experiments.publish import publish

for experiment in (web_track, forbidden, truncation, bounds, submissions):
    publish(experiment)
