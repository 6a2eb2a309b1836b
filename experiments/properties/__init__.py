"""Which formal properties every measure has: ``python -m experiments.properties``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("properties", "properties.md")
