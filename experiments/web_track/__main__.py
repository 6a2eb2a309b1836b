"""Write the page and its figures: ``python -m experiments.web_track``."""

from experiments import web_track
from experiments.publish import publish

publish(web_track)
