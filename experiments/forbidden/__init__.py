"""The studies of measures with forbidden documents, repeated: ``python -m experiments.forbidden``."""

from experiments.forbidden.page import NEEDS as NEEDS
from experiments.forbidden.page import files as files
