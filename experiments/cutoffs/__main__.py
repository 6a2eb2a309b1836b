"""Measure, and write the page and its figures: ``python -m experiments.cutoffs``."""

from experiments.cutoffs import EXPERIMENT
from experiments.experiment import publish

publish(EXPERIMENT)
