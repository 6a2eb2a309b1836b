"""Fit everything and keep what it comes to: ``python -m experiments.rank_and_filter.trials [SOURCE …]``."""

from __future__ import annotations

import sys

from experiments.experiment import data_folder
from experiments.rank_and_filter import EXPERIMENT
from experiments.rank_and_filter.measure import PARTS, trials
from experiments.rank_and_filter.settings import SEEDS


def keep(wanted: list[str]) -> None:
    """Put the settings of some sources of data in the place of those that are there; of none: everything."""
    data = data_folder()
    for source in wanted or SEEDS:
        found = trials(data, [source])
        EXPERIMENT.keep({"settings": {**EXPERIMENT.kept["settings"], **found}})
        print(", ".join(found), flush=True)
    for name, part in PARTS.items():
        if not wanted:
            EXPERIMENT.keep({name: part(data)})
            print(name, flush=True)


if __name__ == "__main__":
    keep(sys.argv[1:])
