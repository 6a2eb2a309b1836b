"""Does risk control keep its promise, and at what price: ``python -m experiments.risk``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "risk", "risk-control.md", needs=("trec_web_qrels", "trec_web_runs", "wikiqa", "semeval2015_task3_cqa")
)
