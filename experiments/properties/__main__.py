"""Search, and write the page: ``python -m experiments.properties``."""

from experiments.experiment import publish
from experiments.properties import EXPERIMENT

publish(EXPERIMENT)
