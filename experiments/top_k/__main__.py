"""Write the page and its figure from what is kept: ``python -m experiments.top_k``."""

from experiments.experiment import publish
from experiments.top_k import EXPERIMENT

publish(EXPERIMENT)
