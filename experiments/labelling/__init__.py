"""What labelling strategies cost and find, simulated: ``python -m experiments.labelling``."""

from experiments.labelling.page import NEEDS as NEEDS
from experiments.labelling.page import files as files
