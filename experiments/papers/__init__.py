"""What the papers print, and what follows: ``python -m experiments.papers``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "papers",
    "papers.md",
    needs=(
        "letor4_listnet_predictions",
        "letor4_mq2007_agg",
        "trec_web_pertopic_scores",
        "trec_web_qrels",
        "trec_web_runs",
    ),
)
