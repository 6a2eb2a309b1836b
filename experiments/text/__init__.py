"""Rankers of texts that filter: losses, what is told of the list, and what stands on top, on three forums."""

from experiments.text.page import NEEDS as NEEDS
from experiments.text.page import files as files
