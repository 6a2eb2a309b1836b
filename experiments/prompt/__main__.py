"""Write the page: ``python -m experiments.prompt``."""

from experiments import prompt
from experiments.publish import publish

publish(prompt)
