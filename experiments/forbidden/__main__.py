"""Measure, and write the page and its figures: ``python -m experiments.forbidden``."""

from experiments.experiment import publish
from experiments.forbidden import EXPERIMENT

publish(EXPERIMENT)
