"""Write the page and its figure: ``python -m experiments.top_k``."""

from experiments import top_k
from experiments.publish import publish

publish(top_k)
