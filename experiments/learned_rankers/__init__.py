"""Eight learning methods between a random and a perfect ranking: ``python -m experiments.learned_rankers``."""

from experiments import learning
from experiments.experiment import Experiment

EXPERIMENT = Experiment("learned_rankers", "rankers.md", needs=learning.NEEDS, long=True)
