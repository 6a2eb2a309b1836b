"""Spam filtering on the TREC Web Track, 2010-2014: ``python -m experiments.web_track``."""

from experiments.web_track.page import NEEDS as NEEDS
from experiments.web_track.page import files as files
