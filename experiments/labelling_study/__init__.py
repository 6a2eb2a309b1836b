"""The fifth paper's user study with simulated assessors on MQ2008: ``python -m experiments.labelling_study``."""

from experiments.labelling_study.page import NEEDS as NEEDS
from experiments.labelling_study.page import files as files
