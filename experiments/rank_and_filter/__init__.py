"""Rankers that filter, beside rankers with a threshold: ``python -m experiments.rank_and_filter``."""

from experiments.rank_and_filter.page import NEEDS as NEEDS
from experiments.rank_and_filter.page import files as files
