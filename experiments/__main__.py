"""Run every experiment: ``python -m experiments``."""

from experiments import forbidden, truncation, web_track
from experiments.publish import publish

for experiment in (web_track, forbidden, truncation):
    publish(experiment)
