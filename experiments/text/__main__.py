"""Write the page and its figures from the results that are kept: ``python -m experiments.text``."""

from experiments.experiment import publish
from experiments.text import EXPERIMENT

publish(EXPERIMENT)
