"""Measure, and write the page: ``python -m experiments.prompt``."""

from experiments.experiment import publish
from experiments.prompt import EXPERIMENT

publish(EXPERIMENT)
