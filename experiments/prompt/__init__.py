"""A filter before a prompt: which passages reach it, through the service: ``python -m experiments.prompt``."""

from experiments.prompt.page import NEEDS as NEEDS
from experiments.prompt.page import files as files
