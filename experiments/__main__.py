"""Run every experiment: ``python -m experiments``; ``python -m experiments --pages`` only writes the pages again."""

import sys

from experiments.catalogue import EXPERIMENTS
from experiments.experiment import measure, write

wrong = []
for experiment in EXPERIMENTS:
    if "--pages" not in sys.argv[1:] and not experiment.long and not measure(experiment):
        continue
    wrong += write(experiment)
raise SystemExit(bool(wrong))
