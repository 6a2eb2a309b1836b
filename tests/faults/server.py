"""Runs commands, each in a process of its own that is forked when everything is imported: a fault takes milliseconds.

It is started by :mod:`tests.faults.trials`, which writes a line of JSON for each command and reads one back.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.faults.shim import Shim

#: What commands import when they need it.
IMPORTED = (
    "lightgbm", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg", "matplotlib.figure",
    "matplotlib.font_manager", "optuna", "optuna.storages.journal", "polars", "ranksift.learning.methods",
    "ranksift.report.study", "ranksift.learning.text.training",
    "safetensors.numpy", "safetensors.torch", "scipy.optimize", "scipy.stats", "typer.rich_utils",
)  # fmt: skip


def main() -> None:
    """Answer until nobody asks any more."""
    from ranksift.cli.main import application

    application()
    for name in IMPORTED:
        import_module(name)
    for line in sys.stdin:
        print(json.dumps(_done(json.loads(line))), flush=True)


def _done(job: dict[str, Any]) -> dict[str, Any]:
    """Run a command, and wait for its end."""
    place = Path(job["place"])
    process = os.fork()
    if not process:
        _run(job, place)
    _, status = os.waitpid(process, 0)
    steps = place / "steps"
    return {
        "code": os.waitstatus_to_exitcode(status),
        "err": (place / "err").read_text("utf-8"),
        "steps": json.loads(steps.read_text()) if steps.exists() else [],
    }


def _run(job: dict[str, Any], place: Path) -> None:
    """What the forked process does."""
    from ranksift.cli import options
    from ranksift.cli.main import run

    code = 99
    if job["long"]:
        options._LONG = 0  # small runs are treated as those of 100 MB are
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        for number, path in ((1, job["stdout"] or place / "out"), (2, place / "err")):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        (place / "steps").unlink(missing_ok=True)
        os.chdir(job["folder"])
        shim = Shim(job["folder"], job["fault"], job["at"])
        shim.install()
        code = run(job["arguments"])
        shim.at = -1
        (place / "steps").write_text(json.dumps(shim.steps))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
