"""Write the page: ``python -m experiments.properties``."""

from experiments import properties
from experiments.publish import publish

publish(properties)
