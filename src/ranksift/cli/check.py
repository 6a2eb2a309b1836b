"""``ranksift check``: a release gate for pipelines; exit code 1 when it fails.

``--format json`` has the keys of :meth:`ranksift.evaluation.check.CheckResult.to_dict`, after ``ranksift`` (the
version).
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import markdown, show, write, write_json

#: The exit code of a check that failed.
FAILED = 1


def check(
    qrels: options.QrelsFile,
    run: options.RunFile,
    require: Annotated[
        list[str],
        typer.Option(
            "--require",
            "-r",
            metavar="LIMITS",
            help='The limits that must hold, such as "Fdocs@3<=0.02 nDCG_f@10>=0.8"; may be repeated.',
        ),
    ] = options.NONE,
    not_worse_than: Annotated[
        str | None,
        typer.Option(
            "--not-worse-than", metavar="BASELINE", help="Fail if the run is significantly worse than this one."
        ),
    ] = None,
    measures: Annotated[
        list[str],
        typer.Option("--measure", "-m", metavar="NAMES", help="Further measures to compare with the baseline."),
    ] = options.NONE,
    test: options.Test = "t",
    alpha: options.Alpha = 0.05,
    gains: options.GainsText = "linear",
    unjudged: options.UnjudgedChoice = "zero",
    unjudged_label: options.UnjudgedLabel = None,
    queries: options.QueriesChoice = "qrels",
    on_duplicate: options.DuplicateChoice = "error",
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Pass even if there is nothing to check.")] = False,
    form: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="The output format.")
    ] = "table",
    out: options.OutFile = None,
) -> None:
    """Check a run: exit with code 1 if it misses a requirement or is worse than a baseline.

    ranksift check qrels.txt new.run --require "Fdocs@3<=0.02 nDCG_f@10>=0.8" --not-worse-than old.run
    """
    from ranksift.evaluation.check import check as library
    from ranksift.evaluation.requirements import parse_requirements

    limited = [each.measure for each in parse_requirements(require)]  # a typing error is reported before files are read
    judgments, runs = options.read(qrels, [run] if not_worse_than is None else [run, not_worse_than], on_duplicate)
    wanted = [*limited, *(options.chosen(measures) if measures or not require else [])]
    judgments = options.without_unjudged(judgments, unjudged_label, gains, wanted)
    result = library(
        judgments,
        runs[0],
        require,
        not_worse_than=None if not_worse_than is None else runs[1],
        measures=measures or options.DEFAULT_MEASURES if not_worse_than and not require else measures,
        alpha=alpha,
        test=test,
        gains=gains,
        unjudged=unjudged,
        queries=queries,
        allow_empty=allow_empty,
    )
    if form == "json":
        write_json(result.to_dict(), out)
    elif form == "markdown":
        write(markdown(result.parts()), out)
    else:
        show(*result.parts(), out=out)
    if not result.passed:
        raise typer.Exit(FAILED)
