"""A training in a process of its own, which may be told to die: python -m tests.learning.text.trainer --help."""

import argparse
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("tokenizers", reason="needs the extra text: tokenizers")

from ranksift.learning.text import checkpoint, scoring, training
from ranksift.learning.text.training import Training, fit
from tests.learning.text.tiny import drawn_lists, network_for

PLAN = {"loss": "lambdarank_bce", "epochs": 3, "batch_size": 4, "learning_rate": 3e-3, "patience": 3, "seed": 5}


def trained(folder, path=None, plan=None, calm=False):
    """Outputs of a trained network, and what is known of the training; a checkpoint is written after each step."""
    torch.set_num_threads(1)
    plan = PLAN if plan is None else plan
    lists, validation = drawn_lists(folder, queries=24), drawn_lists(folder, queries=8, seed=1)
    network = network_for(
        folder, lists, plan["loss"], seed=2, pooling="mean", list_layers=1, dropout=0.0 if calm else 0.1
    )
    fitted = fit(network, lists, Training(**plan), validation=validation, checkpoint=path, checkpoint_seconds=0)
    return scoring.outputs(network, validation.tokens, validation.offsets), fitted


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(moment: str, number: int) -> None:
    """Kill this process at the so manieth step, or while it writes the so manieth checkpoint."""
    count = 0

    def counted(act):
        def called(*args, **options):
            nonlocal count
            count += 1
            return act(count == number, *args, **options)

        return called

    if moment == "step":
        usual = training._Loop._step

        @counted
        def step(now, *args):
            if now:
                die()
            return usual(*args)

        training._Loop._step = step
        return
    usual_writing = checkpoint.writing

    @contextmanager
    def writing(now, path):
        with usual_writing(path) as file:
            yield HalfWritten(file) if now and moment == "half" else file
            file.flush()
            if now:
                die()

    checkpoint.writing = counted(writing)


class HalfWritten:
    """A file that takes half of what it is given, and then the process is gone."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        die()


def threads():
    """The names of this process's threads, those of libraries among them."""
    return [place.read_text().strip() for place in Path("/proc/self/task").glob("*/comm")]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--die", nargs=2, metavar=("MOMENT", "NUMBER"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--calm", action="store_true", help="without dropout")
    options = parser.parse_args()
    if options.die:
        die_at(options.die[0], int(options.die[1]))
    outputs, _ = trained(options.folder, options.checkpoint, calm=options.calm)
    if options.out and os.environ.get("RANK", "0") == "0":
        np.save(options.out, outputs)
    print(*threads())


if __name__ == "__main__":
    main()
