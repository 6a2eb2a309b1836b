"""Spam filtering on the TREC Web Track, 2010-2014: ``python -m experiments.web_track``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("web_track", "web-track.md", needs=("trec_web_qrels", "trec_web_runs"))
