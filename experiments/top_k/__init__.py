"""Learning from an ordered top k, on MQ2008 and MQ2007: ``python -m experiments.top_k``."""

from experiments.top_k.page import NEEDS as NEEDS
from experiments.top_k.page import files as files
