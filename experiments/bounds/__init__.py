"""Measures between a random and a perfect ranking, on MQ2007: ``python -m experiments.bounds``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "bounds", "upper-and-lower-bounds.md", needs=("letor4_listnet_predictions", "letor4_mq2007_agg")
)
