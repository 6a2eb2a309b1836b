"""Write the page and its figures: ``python -m experiments.bounds``."""

from experiments import bounds
from experiments.publish import publish

publish(bounds)
