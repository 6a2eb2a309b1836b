"""LambdaMART beside LightGBM, XGBoost and CatBoost, tuned alike: ``python -m experiments.boosted_trees``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("boosted_trees", "boosted-trees.md", needs=("letor4_mq2008", "letor4_mq2007_agg"), long=True)
