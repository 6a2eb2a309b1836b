"""What each part of `make test` took.

python tests/timed.py NAME COMMAND...   run a part, keep what it took, and end as it does
python tests/timed.py --table           print what was kept
python tests/timed.py --forget          begin anew
"""

import os
import subprocess
import sys
import time
from pathlib import Path

KEPT = Path("build") / "times.txt"


def main(name: str, *command: str) -> int:
    if name == "--forget":
        KEPT.unlink(missing_ok=True)
    elif name == "--table":
        print(f"{'':<20}{'CPU s':>8}{'clock s':>8}", KEPT.read_text(), sep="\n", end="")
    else:
        began = time.monotonic()
        code = subprocess.call(command)
        used = os.times()
        KEPT.parent.mkdir(exist_ok=True)
        with KEPT.open("a", encoding="utf-8") as kept:
            cpu, clock = used.children_user + used.children_system, time.monotonic() - began
            print(f"{name:<20}{cpu:>8.1f}{clock:>8.1f}", file=kept)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
