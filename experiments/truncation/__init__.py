"""Lists that quit while ahead, on WikiQA: ``python -m experiments.truncation``."""

from experiments.truncation.page import NEEDS as NEEDS
from experiments.truncation.page import files as files
