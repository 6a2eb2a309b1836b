"""Write the page and its figures: ``python -m experiments.risk``."""

from experiments import risk
from experiments.publish import publish

publish(risk)
