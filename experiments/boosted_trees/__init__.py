"""LambdaMART beside LightGBM, XGBoost and CatBoost, tuned alike: ``python -m experiments.boosted_trees``."""

from experiments.boosted_trees.page import NEEDS as NEEDS
from experiments.boosted_trees.page import files as files
