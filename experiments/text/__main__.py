"""Write the page and its figures: ``python -m experiments.text``."""

from experiments import text
from experiments.publish import publish

publish(text)
