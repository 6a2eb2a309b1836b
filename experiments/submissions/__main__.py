"""Write the page and its figures: ``python -m experiments.submissions``."""

from experiments import submissions
from experiments.publish import publish

publish(submissions)
