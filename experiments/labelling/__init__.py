"""What labelling strategies cost and find, simulated: ``python -m experiments.labelling``."""

from experiments.experiment import Experiment

EXPERIMENT = Experiment("labelling", "labelling.md", fold=False)
