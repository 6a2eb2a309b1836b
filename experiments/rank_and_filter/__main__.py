"""Write the page and its figures from the results that are kept: ``python -m experiments.rank_and_filter``."""

from experiments.experiment import publish
from experiments.rank_and_filter import EXPERIMENT

publish(EXPERIMENT)
