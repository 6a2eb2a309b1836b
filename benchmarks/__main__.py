"""``python -m benchmarks``: everything, as Markdown, on standard output and in out/bench/results.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from benchmarks import (
    compare,
    cutoffs,
    evaluation,
    labelling,
    learning,
    many_machines,
    serving,
    streaming,
    study,
    tuning,
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="RankSift beside its peers")
    parser.add_argument("--quick", action="store_true", help="small sizes and few repeats: does it run at all?")
    parts = {
        "files": evaluation.files_to_numbers,
        "awkward": evaluation.awkward_files,
        "commands": evaluation.whole_commands,
        "runs": evaluation.several_runs,
        "compare": compare.report,
        "study": study.report,
        "cutoffs": cutoffs.report,
        "learning": learning.report,
        "memory": learning.many_documents,
        "tuning": tuning.report,
        "labelling": labelling.report,
        "streaming": lambda quick: streaming.report(quick, options.folder, options.sizes, options.jobs),
        "ray": lambda quick: many_machines.report(quick, options.folder, options.sizes, options.repeats),
        "serving": serving.report,
    }
    parser.add_argument("--only", default=",".join(parts), help=f"some parts, with commas between: {', '.join(parts)}")
    parser.add_argument("--sizes", default="1M,10M", help="of streaming and ray: rows of the runs")
    parser.add_argument("--repeats", type=int, default=3, help="of ray: how often each is measured")
    parser.add_argument("--jobs", default="", help="of streaming: some of its commands, with ; between them")
    parser.add_argument(
        "--folder", type=Path, default=evaluation.FOLDER, help="of streaming and ray: where its files go"
    )
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = [name for name in wanted if name not in parts]
    if unknown:
        parser.error(f"--only {unknown[0]!r} is unknown; use some of {', '.join(parts)}")
    head = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; every table is one run."
    out = [head, ""]
    print(head, flush=True)
    for name, part in parts.items():
        if name in wanted:
            text = part(options.quick)
            print("\n" + text, flush=True)
            out.append(text)
    evaluation.FOLDER.mkdir(parents=True, exist_ok=True)
    (evaluation.FOLDER / "results.md").write_text("\n".join(out))
    sys.exit(0)


if __name__ == "__main__":
    main()
