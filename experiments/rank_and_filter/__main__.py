"""Write the page and its figure: ``python -m experiments.rank_and_filter``."""

from experiments import rank_and_filter
from experiments.publish import publish

publish(rank_and_filter)
