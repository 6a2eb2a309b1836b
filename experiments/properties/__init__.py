"""Which formal properties every measure has: ``python -m experiments.properties``."""

from experiments.properties.page import NEEDS as NEEDS
from experiments.properties.page import files as files
