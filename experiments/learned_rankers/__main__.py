"""Write the page from what is kept: ``python -m experiments.learned_rankers``."""

from experiments.experiment import publish
from experiments.learned_rankers import EXPERIMENT

publish(EXPERIMENT)
