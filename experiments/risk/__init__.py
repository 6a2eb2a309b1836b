"""Does risk control keep its promise, and at what price: ``python -m experiments.risk``."""

from experiments.risk.page import NEEDS as NEEDS
from experiments.risk.page import files as files
