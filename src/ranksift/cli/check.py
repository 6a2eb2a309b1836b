"""``ranksift check``: a release gate for pipelines; exit code 1 when it fails.

``--format json`` has the keys of :meth:`ranksift.evaluation.check.CheckResult.to_dict`, after ``ranksift`` (the
version).
"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import markdown, show, write, write_json
from ranksift.errors import InputError

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
            help='The limits that must hold, as "Fdocs@3<=0.02 nDCG_f@10>=0.8"; may be repeated.',
        ),
    ] = options.NONE,
    not_worse_than: Annotated[
        str | None,
        typer.Option(
            "--not-worse-than", metavar="BASELINE", help="Fail where the run is significantly worse than this one."
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
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Pass also where there is nothing to check.")
    ] = False,
    form: Annotated[
        Literal["table", "markdown", "json"], typer.Option("--format", "-f", help="How the output is written.")
    ] = "table",
    out: options.OutFile = None,
) -> None:
    """Check a run: exit code 1 when a requirement is missed, or it is worse than a baseline.

    ranksift check qrels.txt new.run --require "Fdocs@3<=0.02 nDCG_f@10>=0.8" --not-worse-than old.run
    """
    from ranksift.evaluation.check import check as library
    from ranksift.evaluation.requirements import parse_requirements

    limited = [each.measure for each in parse_requirements(require)]  # a typing error is told before files are read
    judgments, runs = options.read(qrels, [run] if not_worse_than is None else [run, not_worse_than], on_duplicate)
    wanted = [*limited, *(options.chosen(measures) if measures or not require else [])]
    judgments = options.without_unjudged(judgments, unjudged_label, gains, wanted)
    try:
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
    except InputError as error:  # a remedy names options here, not parameters
        said = str(error).replace("allow_empty=True", "--allow-empty").replace("gains={0: -1}", '--gains="0=-1"')
        raise InputError(said) from None
    if form == "json":
        write_json(result.to_dict(), out)
    elif form == "markdown":
        write(markdown(result.parts()), out)
    else:
        show(*result.parts(), out=out)
    if not result.passed:
        raise typer.Exit(FAILED)
