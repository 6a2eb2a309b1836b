"""Kills and full disks at every write of every command: ``python -m tests.faults``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.faults.commands import COMMANDS, Command
from tests.faults.table import BEGIN, page
from tests.faults.trials import ROOT, Found, machine, mounted, try_faults, try_sizes
from tests.hunt.table import write_between_marks

PAGE = ROOT / "docs" / "robustness.md"


def main() -> int:
    """Try, and say what came of it; 1 where anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", action="append", metavar="COMMAND", help="of the table; may be given again")
    parser.add_argument("--most", type=int, help="so many faults per command, drawn by --seed (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    chosen = [command for command in COMMANDS if not given.only or command.name in given.only]
    found, started = Found(), time.monotonic()

    def told(command: Command) -> None:
        so_far = f"{found.total(command=command.name)} faults, {len(found.wrong)} wrong so far"
        print(f"{command.name}: {so_far}, {time.monotonic() - started:.0f} s", file=sys.stderr)

    with machine() as on:
        for command in chosen:
            try_faults(on, command, most=given.most, seed=given.seed, found=found)
            told(command)
        with mounted(on.folder) as disk:
            if disk is None:
                print("NOT TRIED: small disks, as this user may not mount any", file=sys.stderr)
            for command in chosen if disk is not None else ():
                try_sizes(on, command, disk, step=command.weight, found=found)
                told(command)
    words = [f"--most {given.most} --seed {given.seed}"] * (given.most is not None)
    text = page(found, " ".join(["python -m tests.faults", *words]))
    print(text)
    for name, fault, at, what in found.wrong:
        print(f"{name}, {fault} at {at}: {what}")
    if given.write:
        write_between_marks(PAGE, text, BEGIN)
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
