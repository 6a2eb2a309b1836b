"""Lists that quit while ahead, on WikiQA: ``python -m experiments.truncation``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("truncation", "quit-while-ahead.md", needs=("wikiqa",))
