"""Commands in processes that may be told to die: python -m tests.learning.text.commands FOLDER, jobs as JSON on stdin.

A process that has imported everything is forked for each job, so that a job takes a moment.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

pytest.importorskip("tokenizers", reason="needs the extra text: tokenizers")

import ranksift.cli.main
import ranksift.cli.train
import ranksift.learning.methods
from ranksift.learning.text import training
from tests.learning.text.trainer import die_at


def with_a_checkpoint_at_each_step() -> None:
    usual = ranksift.cli.train.training_folder

    def folder(*args):
        made = usual(*args)
        return None if made is None else replace(made, seconds=0.0)

    ranksift.cli.train.training_folder = folder


def counting_steps(path: Path) -> None:
    """Write a byte for each step: it counts those of a process that is killed, too."""
    usual = training._Loop._step

    def step(*args):
        with path.open("ab") as file:
            file.write(b".")
        return usual(*args)

    training._Loop._step = step


def done(job, place: Path) -> dict:
    steps = place / "steps"
    steps.write_bytes(b"")
    process = os.fork()
    if not process:
        code = 99
        try:
            for number in (1, 2):
                os.dup2(os.open(place / f"said-{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            torch.set_num_threads(1)
            with_a_checkpoint_at_each_step()
            counting_steps(steps)
            if job["die"]:
                die_at(*job["die"])
            code = ranksift.cli.main.run(job["arguments"])
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    err = (place / "said-2").read_text()
    return {"code": os.waitstatus_to_exitcode(status), "err": err, "steps": len(steps.read_bytes())}


def main() -> None:
    place = Path(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps(done(json.loads(line), place)), flush=True)


if __name__ == "__main__":
    main()
