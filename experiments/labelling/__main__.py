"""Write the page and its figure: ``python -m experiments.labelling``."""

from experiments import labelling
from experiments.publish import publish

publish(labelling)
