"""Measure, and write the page: ``python -m experiments.labelling_study``."""

from experiments.experiment import publish
from experiments.labelling_study import EXPERIMENT

publish(EXPERIMENT)
