"""Write the page and its figure: ``python -m experiments.learned_rankers``."""

from experiments import learned_rankers
from experiments.publish import publish

publish(learned_rankers)
