"""Learning from an ordered top k, on MQ2008 and MQ2007: ``python -m experiments.top_k``."""

from experiments import learning
from experiments.experiment import Experiment

EXPERIMENT = Experiment("top_k", "top-k-learning.md", needs=learning.NEEDS, long=True)
