"""What the papers print, and what follows: ``python -m experiments.papers``."""

from experiments.papers.page import NEEDS as NEEDS
from experiments.papers.page import files as files
