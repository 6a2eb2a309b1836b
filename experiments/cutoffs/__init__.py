"""Rules that drop documents by their scores, on three collections: ``python -m experiments.cutoffs``."""

from experiments.cutoffs.page import NEEDS as NEEDS
from experiments.cutoffs.page import files as files
