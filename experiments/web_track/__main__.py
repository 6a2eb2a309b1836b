"""Measure, and write the page and its figures: ``python -m experiments.web_track``."""

from experiments.experiment import publish
from experiments.web_track import EXPERIMENT

publish(EXPERIMENT)
