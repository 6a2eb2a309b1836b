"""Write the page from the results that are kept: ``python -m experiments.boosted_trees``."""

from experiments.boosted_trees import EXPERIMENT
from experiments.experiment import publish

publish(EXPERIMENT)
