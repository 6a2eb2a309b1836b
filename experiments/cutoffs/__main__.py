"""Write the page and its figures: ``python -m experiments.cutoffs``."""

from experiments import cutoffs
from experiments.publish import publish

publish(cutoffs)
