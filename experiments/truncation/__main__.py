"""Write the page and its figures: ``python -m experiments.truncation``."""

from experiments import truncation
from experiments.publish import publish

publish(truncation)
