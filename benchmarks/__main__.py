"""``python -m benchmarks``: everything, as Markdown, on standard output and in out/bench/results.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from benchmarks import compare, cutoffs, evaluation, labelling, learning, serving, study


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
        "labelling": labelling.report,
        "serving": serving.report,
    }
    parser.add_argument("--only", default=",".join(parts), help=f"some parts, with commas between: {', '.join(parts)}")
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
