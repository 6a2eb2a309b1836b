"""Measure, and write the page and its figure: ``python -m experiments.labelling``."""

from experiments.experiment import publish
from experiments.labelling import EXPERIMENT

publish(EXPERIMENT)
