"""Eight learning methods between a random and a perfect ranking: ``python -m experiments.learned_rankers``."""

from experiments.learned_rankers.page import NEEDS as NEEDS
from experiments.learned_rankers.page import files as files
