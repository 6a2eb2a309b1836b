"""Measure, and write the page and its figures: ``python -m experiments.risk``."""

from experiments.experiment import publish
from experiments.risk import EXPERIMENT

publish(EXPERIMENT)
