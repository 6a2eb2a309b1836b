"""Run every experiment: ``python -m experiments``."""

from experiments import web_track
from experiments.publish import publish

for experiment in (web_track,):
    publish(experiment)
