"""Write the page: ``python -m experiments.papers``."""

from experiments import papers
from experiments.publish import publish

publish(papers)
