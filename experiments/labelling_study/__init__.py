"""The fifth paper's user study with simulated assessors on MQ2008: ``python -m experiments.labelling_study``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("labelling_study", "labelling-study.md", needs=("letor4_mq2008",), fold=False)
