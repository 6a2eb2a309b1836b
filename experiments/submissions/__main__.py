"""Measure, and write the page and its figures: ``python -m experiments.submissions``."""

from experiments.experiment import publish
from experiments.submissions import EXPERIMENT

publish(EXPERIMENT)
