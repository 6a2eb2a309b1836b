"""Cuts, stacks and tests on what networks said: ``python -m experiments.text.trials FOLDER`` keeps what they come to.

``FOLDER`` is what ``python -m experiments.text.fits FOLDER`` has written. No GPU is needed.
"""

import sys
from pathlib import Path

from experiments.experiment import data_folder
from experiments.text import EXPERIMENT
from experiments.text.measure import measure

if __name__ == "__main__":
    EXPERIMENT.keep(measure(data_folder(), Path(sys.argv[1])))
