"""A hunt for files that a reader crashes on, hangs on or misreads: ``python -m tests.hunt --cases 100000 --seed 0``."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
import time
from pathlib import Path

from tests.hunt.parent import ROOT, Found, hunt, keep_failures, repeat
from tests.hunt.subjects import PEERS, RANKSIFT
from tests.hunt.table import page, write_between_marks

PAGE = ROOT / "docs" / "robustness.md"


def main() -> int:
    """Hunt, and say what was found; 1 where RankSift failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.hunt", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000, help="how many (default: 2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, action="append", help="repeat this case; may be given again")
    parser.add_argument("--subjects", default=RANKSIFT, help="with commas between: ranksift, trec_eval, pytrec_eval, …")
    parser.add_argument(
        "--trec-eval",
        default=shutil.which("trec_eval") or "",
        metavar="PATH",
        help="its program (default: its readers in pytrec_eval)",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (default: 1)")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds after which a case hangs (default: 60)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "hunt", help="where failures go (build/hunt)")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    subjects = [*(RANKSIFT, *PEERS)] if given.subjects == "all" else given.subjects.split(",")
    numbers = given.only or range(given.cases)
    started = time.monotonic()
    told = [0]

    def progress(found: Found) -> None:
        done = sum(found.counts.values())
        if done >= told[0] + 2000:
            told[0] = done
            print(f"{done} read, {len(found.failures)} failures, {time.monotonic() - started:.0f} s", file=sys.stderr)

    found = hunt(
        subjects,
        numbers,
        seed=given.seed,
        workers=given.workers,
        patience=given.patience,
        trec_eval=given.trec_eval,
        progress=progress,
    )
    command = f"python -m tests.hunt --cases {given.cases} --seed {given.seed}"
    command += f" --subjects {shlex.quote(given.subjects)}" if given.subjects != RANKSIFT else ""
    command += f" --trec-eval {shlex.quote(given.trec_eval)}" if given.trec_eval and "trec_eval" in subjects else ""
    text = page(found, command, given.cases)
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    keep_failures(found, given.seed, given.out)
    counts = [{"subject": s, "format": f, "outcome": o, "cases": n} for (s, f, o), n in sorted(found.counts.items())]
    report = {"command": command, "seconds": round(time.monotonic() - started), "counts": counts}
    report["failures"] = [{**failure, "repeat": repeat(failure, given.seed)} for failure in found.failures]
    (given.out / "found.json").write_text(json.dumps(report, indent=1) + "\n")
    print(text)
    own = [failure for failure in found.failures if failure["subject"] not in PEERS]
    for failure in own if given.only is None else found.failures:
        print(f"{failure['outcome']} ({failure['format']}): {failure['detail']}\n    {repeat(failure, given.seed)}")
    print(f"{report['seconds']} s; files of the failures and all counts: {given.out}", file=sys.stderr)
    if given.write:
        write_between_marks(PAGE, text)
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())
