"""A filter before a prompt: which passages reach it, through the service: ``python -m experiments.prompt``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("prompt", "before-a-prompt.md", needs=("semeval2015_task3_cqa",), fold=False)
