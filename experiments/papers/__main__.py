"""Measure, and write the page: ``python -m experiments.papers``."""

from experiments.experiment import publish
from experiments.papers import EXPERIMENT

publish(EXPERIMENT)
