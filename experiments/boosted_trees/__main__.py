"""Write the page: ``python -m experiments.boosted_trees``."""

from experiments import boosted_trees
from experiments.publish import publish

publish(boosted_trees)
