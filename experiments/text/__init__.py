"""Rankers of texts that filter: losses, what is told of the list, and what stands on top, on three forums."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "text",
    "text.md",
    needs=("semeval2016_task3_cqa", "semeval2015_task3_cqa", "percqa"),
    long=True,
    fold=False,
)
