"""Run every experiment: ``python -m experiments``; ``python -m experiments --pages`` only writes the pages again."""

import sys

from experiments import publish as old
from experiments.catalogue import EXPERIMENTS
from experiments.experiment import publish, write

if __name__ == "__main__":
    wrong = False
    for experiment in EXPERIMENTS:
        if not hasattr(experiment, "made_of"):
            old.publish(experiment)
        elif "--pages" in sys.argv[1:]:
            wrong |= bool(write(experiment))
        else:
            publish(experiment)
    raise SystemExit(wrong)
