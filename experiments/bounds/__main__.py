"""Measure, and write the page and its figures: ``python -m experiments.bounds``."""

from experiments.bounds import EXPERIMENT
from experiments.experiment import publish

publish(EXPERIMENT)
