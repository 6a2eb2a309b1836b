"""Measures between a random and a perfect ranking, on MQ2007: ``python -m experiments.bounds``."""

from experiments.bounds.page import NEEDS as NEEDS
from experiments.bounds.page import files as files
