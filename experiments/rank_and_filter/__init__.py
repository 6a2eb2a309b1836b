"""Rankers that filter, beside rankers with a threshold: ``python -m experiments.rank_and_filter``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment(
    "rank_and_filter",
    "rank-and-filter.md",
    needs=(
        "semeval2015_task3_cqa",
        "letor4_mq2008",
        "letor4_mq2007_agg",
        "mslr_web30k_fold1_5k",
        "semeval2016_task3_cqa",
        "percqa",
    ),
    long=True,
    fold=False,
)
