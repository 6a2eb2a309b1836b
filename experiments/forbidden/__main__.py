"""Write the page and its figures: ``python -m experiments.forbidden``."""

from experiments import forbidden
from experiments.publish import publish

publish(forbidden)
