"""Rules that drop documents by their scores, on three collections: ``python -m experiments.cutoffs``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "cutoffs", "cutoffs.md", needs=("semeval2015_task3_cqa", "wikiqa", "trec_web_qrels", "trec_web_runs")
)
