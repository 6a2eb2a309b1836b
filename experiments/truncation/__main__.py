"""Measure, and write the page and its figures: ``python -m experiments.truncation``."""

from experiments.experiment import publish
from experiments.truncation import EXPERIMENT

publish(EXPERIMENT)
